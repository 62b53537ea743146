"""One run of a case, turn by turn, from its states to its outcome.

A `Shell` does for `run_case` what only the command line can do. An error of the pack or the state is an outcome; an error of the case
itself is raised.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, PromptcError, Span, UsageError, sort_diagnostics, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Protocol
from promptc.economy import account_turns, check_carried, iter_carried, list_flaps, measure_cost, read_request
from promptc.files.reading import decode_text
from promptc.frontend.json import JsonDocument
from promptc.frontend.state import set_values
from promptc.golden.cases.case import Case, CaseError, CaseOutcome, CaseRun, read_plain
from promptc.golden.cases.confine import confine, show_path
from promptc.golden.running.environment import CaseEnvironment
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.model.messages import CHAT
from promptc.model.sources import CorpusIndex
from promptc.model.state import Node
from promptc.pipeline import Outcome, Prompt, read_output
from promptc.text.json import render_json_line

_DOES_NOT_FIT = 3
_TOP = 6
_CAP = 1000
_LONGEST = 4_000_000
_TENTHS = 10
_LONGEST_ANSWER = 1_000_000
_SET = "--set "


class Shell(Protocol):
    """The command line, as a run needs it. It can be pickled, since workers receive it, too."""

    def render_diagnostics(self, found: Sequence[Diagnostic]) -> str:
        """Return findings as the command line prints them, without colours."""

    def run_command(self, case: Case, environment: CaseEnvironment) -> CaseOutcome:
        """Run the case's command line and return its exit code and findings, with its output as `text`.

        Raises `CaseError` for a command that a case must not call, and nothing that `run` would report.
        """

    def apply(self, pack: Pack, state: bytes, case: Case, answers: Mapping[str, str], name: str) -> CaseOutcome:
        """Run an operation on a state as it was written. `name` is its name in findings. Raises `PromptcError`."""

    def surround(self, case: Case, resources: SuiteResources) -> AbstractContextManager[CaseEnvironment]:
        """Set up the circumstances of a case: `given`."""


def run_case(case: Case, resources: SuiteResources, shell: Shell) -> CaseRun:
    """Run the case in its circumstances, with its root as the working folder. An error of its pack or state is an outcome.

    Raises `CaseError` if the case itself is at fault: a state that does not exist, a circumstance that cannot be set up. The resources must
    stay open as long as reports of the outcome are read.
    """
    with shell.surround(case, resources) as environment, work_in(environment.root):
        return _RUNS[case.kind](case, environment, shell)


def _render(case: Case, environment: CaseEnvironment, shell: Shell) -> CaseRun:
    return CaseRun((_end(case, lambda: _render_turn(case, environment, read_state(case, 0, environment))),))


def _run_session(case: Case, environment: CaseEnvironment, shell: Shell) -> CaseRun:
    """Render each turn. The first one that fails is the last."""
    outcomes: list[CaseOutcome] = []
    before: JsonDocument | None = None

    def render(turn: int) -> CaseOutcome:
        nonlocal before
        before = _carry(case, read_state(case, turn, environment, before), [one.compiled for one in outcomes if one.compiled is not None])
        return _render_turn(case, environment, before)

    for turn in range(len(case.states)):
        outcomes.append(_end(case, partial(render, turn), turn))
        if outcomes[-1].exit:
            break
    if case.carry and not outcomes[-1].exit:
        _check_carried(case, environment, [one.compiled for one in outcomes if one.compiled is not None])
    tiers = [(one.read_facts() or {}).get("strain") for one in outcomes]
    changes = sum(1 for one, after in pairwise(tiers) if one != after)
    return _measure_session(tuple(outcomes), changes)


def _apply(case: Case, environment: CaseEnvironment, shell: Shell) -> CaseRun:
    answers = _read_answers(case)

    def apply() -> CaseOutcome:
        document = read_state(case, 0, environment)
        pack = environment.resources.load_pack(environment.root, case.pack)
        raw = document.canonical if case.states[0].changes else document.source.text.encode()
        return shell.apply(pack, raw, case, answers, document.source.name)

    return CaseRun((_end(case, apply),))


def _recall(case: Case, environment: CaseEnvironment, shell: Shell) -> CaseRun:
    return CaseRun((_end(case, lambda: _ask_index(case, environment)),))


def _check(case: Case, environment: CaseEnvironment, shell: Shell) -> CaseRun:
    def check() -> CaseOutcome:
        pack: Pack = environment.resources.load_pack(environment.root, case.pack)
        found = pack.check(environment.stores if case.given else None)
        return CaseOutcome(0 if all(one.level == "note" for one in found) else 1, found)

    return CaseRun((_end(case, check),))


def _run_command(case: Case, environment: CaseEnvironment, shell: Shell) -> CaseRun:
    return CaseRun((_end(case, lambda: shell.run_command(case, environment)),))


_RUNS: dict[str, Callable[[Case, CaseEnvironment, Shell], CaseRun]] = {
    "render": _render,
    "session": _run_session,
    "apply": _apply,
    "recall": _recall,
    "check": _check,
    "run": _run_command,
}


def read_state(case: Case, turn: int, environment: CaseEnvironment, before: JsonDocument | None = None) -> JsonDocument:
    """Return the state of a turn (from 0) as JSON, with its changes and those of `with: {set}`. `before` is the state of the turn before.

    Findings on a changed value have their place in the `case.yaml`. Raises `PromptcError` for a file that is not JSON, and `CaseError` for
    a file that does not exist and for a change that leads nowhere (PC0904).
    """
    one = case.states[turn]
    if one.base is None:
        assert before is not None
        document = before
    else:
        folder = os.path.normpath(os.path.join(environment.root, os.path.relpath(case.folder, case.root)))
        path = confine(one.base, folder, environment.fence, _load_state_node(case, turn).span)
        shown = show_path(os.path.normpath(os.path.join(case.folder, one.base)), case.root)
        document = environment.resources.load_state(path, shown, _load_state_node(case, turn).span)
    changes = [*one.changes, *case.flags.get("set", {}).items()]
    if not changes:
        return document
    try:
        return set_values(document, [(pointer, render_json_line(value)) for pointer, value in changes])
    except UsageError as error:
        raise CaseError(_place_changes(error.diagnostics, case, turn)) from error


def _load_state_node(case: Case, turn: int) -> Node:
    """Return the place where the case names the state of a turn."""
    node: Node = case.node.value[case.kind] if case.kind in ("apply", "recall") else case.node
    if case.kind == "session":
        found: Node = node.value["states"].value[turn]
        return found
    return node.value["state"]  # type: ignore[no-any-return]


def _place_changes(found: Iterable[Diagnostic], case: Case, turn: int) -> list[Diagnostic]:
    """Return the findings, those on a changed value with its place in `case.yaml`."""
    return [_place(one, case, turn) for one in found]


def _place(found: Diagnostic, case: Case, turn: int) -> Diagnostic:
    message = found.message.replace(f"`{_SET}", "`set: ")
    if found.code == "PC0722":
        pointer = found.message.removeprefix(f"`{_SET}").partition("`")[0]
        return replace(found, code="PC0904", message=message, span=_find_change(case, turn, pointer) or found.span)
    if found.span is None or not found.span.file.startswith(_SET):
        return found
    span = _find_change(case, turn, found.span.file[len(_SET) :])
    at = f" (turn {turn + 1})" if case.kind == "session" else ""
    return replace(found, span=span or found.span, message=f"{message}{at}")


def _find_change(case: Case, turn: int, pointer: str) -> Span | None:
    if turn and pointer in case.carry:
        return _carried_span(case, pointer)
    return next((node.value[pointer].span for node in _iter_changes(case, turn) if pointer in node.value), None)


def _iter_changes(case: Case, turn: int) -> Iterable[Node]:
    """Yield the mappings of changes, the one that takes precedence first."""
    for holder in (case.node.get("with"), _load_state_node(case, turn)):
        changes = holder.get("set") if holder is not None else None
        if changes is not None:
            yield changes


def _measure_session(outcomes: tuple[CaseOutcome, ...], changes: int) -> CaseRun:
    """Return the run with the figures between the rendered turns. Turns are a minute apart."""
    requests = [read_request(one.compiled) for one in outcomes if one.compiled is not None]
    turns = account_turns(requests)
    reuse = tuple(one.share for one in turns[1:])
    flaps = tuple(f"{one.what} in turn {one.turn + 1}" for one in list_flaps(requests))
    return CaseRun(outcomes, reuse, changes, flaps, measure_cost(turns))


def _ask_index(case: Case, environment: CaseEnvironment) -> CaseOutcome:
    """Send the queries of a `recall` case to its index, and return the shares of queries in whole per cent.

    - `recall`: queries whose answer is in the prompt or, if no section queries the index, among its best six.
    - `recall_in_cap`: queries whose answer is among the best six of the index and within the cap.
    - `rejected`: queries without an answer for which nothing is in the prompt.

    Raises `PromptcError` for an index that does not exist or cannot be read, and for queries that cannot be read.
    """
    from promptc.frontend.corpus import open_corpus, read_queries
    from promptc.recall import RenderedRecall, list_asking
    from promptc.sources.retrieval.retrieve import ChunkQuery, Retriever, judge_index

    pack = environment.resources.load_pack(environment.root, case.pack)
    name, version = case.asked["index"], case.asked.get("version")
    indexes = {one.name: one for one in pack.model.indexes if isinstance(one, CorpusIndex)}
    if name not in indexes:
        raise UsageError([Diagnostic("PC0731", f"the pack has no index `{name}` over files", help=suggest(name, indexes))])
    path = os.path.normpath(os.path.join(case.folder, case.asked["queries"]))
    shown = show_path(path, case.root)
    known = read_queries(read_plain(path, shown, _LONGEST, case.node.value["recall"].value["queries"].span), shown)
    opened = open_corpus(indexes[name], pack.model.counting.counter.digest, version, os.environ)
    retriever = Retriever()

    def ask(query: str) -> Any:
        return retriever.ask(opened, ChunkQuery((query,), version=version, floor=0, top=_TOP, candidates=_TOP))

    judged = judge_index(known, ask, floor=indexes[name].matching.floor, top=_TOP, cap=case.asked.get("cap", _CAP))
    figures = {"recall": judged.recall(_TOP) // _TENTHS, "recall_in_cap": judged.recall_in_cap // _TENTHS}
    if "section" in case.asked or list_asking(pack.model, name):
        state = read_state(case, 0, environment) if case.states else None
        section, columns = case.asked.get("section", ""), case.asked.get("columns")
        rendered = RenderedRecall(pack, name, section, version, columns, state=state).judge(known, opened)
        figures |= {"recall": rendered.recall // _TENTHS, "rejected": rendered.rejected // _TENTHS}
    return CaseOutcome(0, figures=figures)


def _read_answers(case: Case) -> Mapping[str, str]:
    """Return the texts of the files of `apply: {answers}`, by name. Raises `PromptcError` (PC0902, PC0903) for one that cannot be read."""
    answers: dict[str, str] = {}
    for name, file in case.asked.get("answers", {}).items():
        path = os.path.normpath(os.path.join(case.folder, file))
        shown = show_path(path, case.root)
        span = case.node.value["apply"].value["answers"].value[name].span
        answers[name] = decode_text(read_plain(path, shown, _LONGEST_ANSWER, span), shown)
    return answers


def _carry(case: Case, document: JsonDocument, made: Sequence[Outcome]) -> JsonDocument:
    """Return the state of a turn with what the turns before it hand on, if the case carries anything."""
    if not case.carry or not made:
        return document
    return set_values(document, list(dict(change for one in made for change in iter_carried(one, case.carry)).items()))


def _check_carried(case: Case, environment: CaseEnvironment, made: Sequence[Outcome]) -> None:
    """Raise `CaseError` (PC0759) for a pointer under `carry` that no turn reads. If a turn is refused, there is no telling."""
    pack = environment.resources.load_pack(environment.root, case.pack)
    found = [
        replace(one, span=_carried_span(case, pointer))
        for pointer in case.carry
        for one in check_carried((pointer,), pack.model, made, word="carry")
    ]
    if found:
        raise CaseError(found)


def _carried_span(case: Case, pointer: str) -> Span:
    """Return the place where the case names a pointer under `carry`."""
    carried: Node = case.node.value["carry"]
    span: Span = carried.value[case.carry.index(pointer)].span if isinstance(carried.value, tuple) else carried.span
    return span


def compile_turns(case: Case, environment: CaseEnvironment, last: int, asked: Mapping[str, Any] | None = None) -> list[Outcome]:
    """Compile the turns of a render or a session, from the first to `last` (from 0). A turn that does not fit is the last one returned.

    `asked` are options of `Pack.compile`. They override those of the case, but variants and patches are added to those of the case. Raises
    `PromptcError` for an error of the pack, of a state or of the case.
    """
    made: list[Outcome] = []
    before: JsonDocument | None = None
    for turn in range(last + 1):
        before = _carry(case, read_state(case, turn, environment, before), made)
        made.append(_compile_turn(case, environment, before, asked or {}))
        if made[-1].emitted is None:
            break
    return made


def _compile_turn(case: Case, environment: CaseEnvironment, document: JsonDocument, asked: Mapping[str, Any]) -> Outcome:
    resources = environment.resources
    pack, memory = resources.load_pack(environment.root, case.pack), resources.load_memory(environment.root, case.pack)
    own = list_options(case, environment)
    both = {
        "variants": {**own["variants"], **asked.get("variants", {})},
        "patches": tuple(dict.fromkeys((*own["patches"], *asked.get("patches", ())))),
    }
    return pack.compile(resources.fill_state(pack, document), **{**own, "memory": memory, **asked, **both})


def list_options(case: Case, environment: CaseEnvironment) -> dict[str, Any]:
    """Return the options of `Pack.compile` that the case sets."""
    flags = case.flags
    return {
        "budget": flags.get("budget"),
        "model": flags.get("model"),
        "variants": {**flags.get("variant", {}), **({"mood": flags["mood"]} if "mood" in flags else {})},
        "patches": tuple(flags.get("patch", ())),
        "format": flags.get("format"),
        "stores": environment.stores,
    }


def _render_turn(case: Case, environment: CaseEnvironment, document: JsonDocument) -> CaseOutcome:
    compiled = _compile_turn(case, environment, document, {})
    if compiled.emitted is None:
        return CaseOutcome(
            _DOES_NOT_FIT, sort_diagnostics(compiled.errors), read_report=lambda: compiled.report, read_facts=lambda: compiled.facts
        )
    if case.given:
        _ = compiled.report  # build the report while the circumstances still exist
    return _describe(case, compiled)


def _describe(case: Case, compiled: Outcome) -> CaseOutcome:
    prompt = Prompt(compiled)
    if "only" in case.flags:
        text = prompt.read_sections(case.flags["only"])
        return CaseOutcome(
            0, prompt.warnings, text=text, read_report=lambda: compiled.report, read_facts=lambda: compiled.facts, compiled=compiled
        )
    output = read_output(prompt)
    made = prompt.build_payload(prompt.provider) if prompt.provider not in (None, CHAT) else None
    return CaseOutcome(
        0,
        (*prompt.warnings, *(made.warnings if made is not None else ())),
        text=output if isinstance(output, str) else None,
        messages=None if isinstance(output, str) else output,
        tokens=prompt.tokens,
        payload=made.body if made is not None else None,
        read_report=lambda: compiled.report,
        read_facts=lambda: compiled.facts,
        compiled=compiled,
    )


def _end(case: Case, run: Callable[[], CaseOutcome], turn: int = 0) -> CaseOutcome:
    """Return the outcome of the run, or an outcome with its errors."""
    try:
        return run()
    except CaseError:
        raise
    except PromptcError as error:
        report: Mapping[str, Any] | None = getattr(error, "report", None)
        return CaseOutcome(
            error.exit_code, tuple(_place_changes(error.diagnostics, case, turn)), read_report=lambda: report, read_facts=lambda: report
        )
