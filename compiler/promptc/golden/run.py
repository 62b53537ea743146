"""The verdict on a case."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from time import perf_counter_ns

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, PromptcError, UsageError, sort_diagnostics, suggest
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Literal, Protocol
from promptc.frontend.json import JsonDocument
from promptc.golden.case import INPUTS, PENDING, Case, CaseError, CaseOutcome, Ran, read_plain
from promptc.golden.confine import find_root, name_case, show_path
from promptc.golden.discover import CASE, CaseFolder, is_pending, load_case
from promptc.golden.environment import CaseEnvironment, find_lacking, find_told, place_changes, read_answers, read_state, render_install
from promptc.golden.inputs import describe_inputs, render_inputs
from promptc.golden.judge import check_expect, find_idle
from promptc.golden.pending import drop_pending, write_pending
from promptc.golden.resources import SuiteResources, work_in
from promptc.golden.verdict import (
    Figures,
    Status,
    Verdict,
    compare_goldens,
    describe_difference,
    describe_figures,
    find_figures,
    render_goldens,
)
from promptc.pipeline import Outcome
from promptc.prompt import Prompt
from promptc.text.meter import Meter

Mode = Literal["write", "compare"]
"""`write`: pending goldens are written beside the old ones, and taken away where all is well. `compare`: nothing is written, and a pending
golden that lies about is a finding; so it is in CI."""

_PRUNE = "`promptc prune` removes what no case asks for"
_DOES_NOT_FIT = 3
_TOP = 6
_CAP = 1000
_LONGEST = 4_000_000
_TENTHS = 10


def judge_case(place: CaseFolder, shelf: SuiteResources, shell: Shell, mode: Mode) -> Verdict:
    """The verdict on the case in a folder. Whatever is wrong with the case is in the verdict: nothing is raised for it."""
    begun = perf_counter_ns()
    try:
        case = load_case(place.folder, place.top)
    except PromptcError as error:
        return break_place(place, error.diagnostics)
    return judge_loaded(case, place, shelf, shell, mode, begun)


def judge_loaded(case: Case, place: CaseFolder, shelf: SuiteResources, shell: Shell, mode: Mode, begun: int) -> Verdict:
    """The same of a case that was read. `begun` is when that was, of `perf_counter_ns`. One that requires an extra which is not installed
    is not run, and nothing is offered of it.
    """
    idle = find_idle(case)
    if idle is not None:
        return _tell(case, "broken", findings=(idle,))
    lacking = find_lacking(case.requires)
    if lacking:
        skipped = _tell(case, "skipped", findings=(_describe_lacking(case, lacking),), lacking=lacking)
        return skipped if mode == "write" else _find_pending(place, skipped)
    try:
        ran = run_case(case, shelf, shell)
        with work_in(case.root):
            verdict = _judge(case, ran, shell)
            if verdict.differences or verdict.status == "failed":
                verdict = _explain(case, ran, _hint_requires(case, ran, verdict))
            verdict = _pend(case, place, verdict, shelf) if mode == "write" else _find_pending(place, verdict)
    except PromptcError as error:
        verdict = _tell(case, "broken", findings=error.diagnostics)
    except OSError as wrong:
        verdict = _tell(case, "broken", findings=(_describe_disk(case, wrong),))
    return replace(verdict, microseconds=(perf_counter_ns() - begun) // 1000)


def refuse_skipped(verdict: Verdict) -> Verdict:
    """The verdict where no case may be skipped: a case that cannot be run is broken."""
    if verdict.status != "skipped":
        return verdict
    return replace(verdict, status="broken", findings=tuple(replace(one, level="error") for one in verdict.findings))


def _describe_lacking(case: Case, lacking: Sequence[str]) -> Diagnostic:
    at = case.node.value["requires"].value[case.requires.index(lacking[0])].span
    message = f"the case is not run: it requires {_name_extras(lacking)}, not installed here"
    return Diagnostic("PC0754", message, at, render_install(lacking), "note")


def _describe_disk(case: Case, wrong: OSError) -> Diagnostic:
    """What was made for the case could not be made: a disk is full, a folder read-only."""
    return Diagnostic("PC0903", f"the case cannot be run: {wrong.strerror or wrong}", case.node.span)


def _tell(case: Case, status: Status, **more: Any) -> Verdict:
    return Verdict(case.name, status, case.root, case.folder, case.file, title=case.title, pack=case.pack, **more)


def describe_known(place: CaseFolder, root: str, pack: str) -> Verdict:
    """The verdict on a case that is known to have passed, and whose file was not read again."""
    file = show_path(os.path.join(place.folder, CASE), root)
    return Verdict(name_case(place.folder, root), "passed", root, place.folder, file, pack=pack, is_known=True)


def break_place(place: CaseFolder, findings: Sequence[Diagnostic]) -> Verdict:
    """The verdict on a case whose file cannot be read, or is not of its form."""
    root = find_root(place.folder)
    file = show_path(os.path.join(place.folder, CASE), root)
    return Verdict(name_case(place.folder, root), "broken", root, place.folder, file, findings=tuple(findings))


def break_folder(place: CaseFolder) -> Verdict:
    """The verdict on a folder that could not be looked into."""
    root = find_root(place.folder)
    shown = show_path(place.folder, root)
    found = Diagnostic("PC0903", f"cannot look into the folder `{shown}`: {place.wrong}", help="whether there are cases in it is not known")
    return Verdict(name_case(place.folder, root), "broken", root, place.folder, shown, findings=(found,))


def break_unread(place: CaseFolder) -> Verdict | None:
    """The verdict on a folder with goldens that is no case: they guard nothing. None where what lies there is pending at most, as where
    another branch is checked out.
    """
    kept = [name for name in place.goldens if not is_pending(name) and name != INPUTS]
    if not kept:
        return None
    root = find_root(place.folder)
    shown = show_path(place.folder, root)
    help = f"`{place.misnamed}` is not read: call it `{CASE}`" if place.misnamed else f"write its `{CASE}`; {_PRUNE}"
    message = f"`{shown}` has goldens and no `{CASE}`: nobody reads {', '.join(f'`{name}`' for name in kept)}"
    found = Diagnostic("PC0922", message, None, help, "error")
    return Verdict(name_case(place.folder, root), "broken", root, place.folder, shown, findings=(found,))


def _judge(case: Case, ran: Ran, shell: Shell) -> Verdict:
    broken = check_expect(case, ran)
    is_refused = any(turn.exit for turn in ran.turns) and ran.turns[-1].exit != case.exit
    made = {} if is_refused else render_goldens(case, ran, shell.render_diagnostics)
    differences = compare_goldens(case, ran, made) if made else []
    findings = (*broken, *(describe_difference(case, one) for one in differences))
    differs = bool(broken) or any(one.old is not None for one in differences)
    status: Status = "failed" if differs else "new" if differences else "passed"
    found = tuple(one for turn in ran.turns for one in turn.found) if broken else ()
    return _tell(case, status, findings=findings, differences=tuple(differences), found=found, made=made)


def _explain(case: Case, ran: Ran, verdict: Verdict) -> Verdict:
    """With the figures of its last turn, before and after."""
    turn = len(ran.turns) if case.kind == "session" else 0
    reuse = min(ran.reuse, default=None)
    before = find_figures(case, turn)
    return replace(verdict, before=before, after=describe_figures(ran.turns[-1].read_report(), reuse))


def _hint_requires(case: Case, ran: Ran, verdict: Verdict) -> Verdict:
    """With a note (PC0754) where the run was told to install an extra, which the case neither requires nor goes without on purpose."""
    told = find_told(f"{one.message} {one.help}" for turn in ran.turns for one in turn.found)
    lacking = [one for one in find_lacking(told) if one not in case.given.get("missing", ())]
    if not lacking:
        return verdict
    message = f"the case was run without {_name_extras(lacking)}, not installed here"
    help = f"if it needs that, say so: `requires: [{', '.join((*case.requires, *lacking))}]` skips it then; {render_install(lacking)}"
    note = Diagnostic("PC0754", message, case.node.value["title"].span, help, "note")
    return replace(verdict, findings=(*verdict.findings, note))


def _name_extras(lacking: Sequence[str]) -> str:
    return f"the {'extras' if len(lacking) > 1 else 'extra'} {' and '.join(f'`{one}`' for one in lacking)}"


def _pend(case: Case, place: CaseFolder, verdict: Verdict, shelf: SuiteResources) -> Verdict:
    """What came out, written beside the goldens. Nothing is offered of a case that breaks its own claims: it could not be accepted."""
    is_claimed = any(one.code == "PC0924" for one in verdict.findings)
    wanted = () if is_claimed else verdict.differences
    kept = {f"{one.path.rpartition('/')[2]}{PENDING}" for one in wanted} | ({f"{INPUTS}{PENDING}"} if wanted else set())
    drop_pending(place.folder, [name for name in place.goldens if is_pending(name) and name not in kept])
    if not wanted:
        return verdict
    pended = write_pending(case, wanted, _note_inputs(case, verdict.after, shelf))
    findings = (*verdict.findings, *pended.findings)
    return replace(verdict, differences=pended.differences, findings=findings, is_unwritten=bool(pended.findings))


def _note_inputs(case: Case, figures: Figures | None, shelf: SuiteResources) -> bytes:
    try:
        pack = shelf.load_pack(case.root, case.pack) if case.kind != "run" else None
    except PromptcError:
        pack = None
    return render_inputs(describe_inputs(case, pack), figures)


def _find_pending(place: CaseFolder, verdict: Verdict) -> Verdict:
    """Where nothing is written, one that was left behind is told. What is noted of inputs is no golden: there is nothing to accept."""
    left = [name for name in place.goldens if is_pending(name) and name != f"{INPUTS}{PENDING}"]
    if not left:
        return verdict
    found = tuple(_describe_pending(f"{verdict.file.rpartition('/')[0]}/{name}".lstrip("/")) for name in left)
    status: Status = "failed" if verdict.status in ("passed", "new", "skipped") else verdict.status
    return replace(verdict, status=status, findings=(*verdict.findings, *found))


def _describe_pending(path: str) -> Diagnostic:
    return Diagnostic("PC0923", f"`{path}` is pending: nobody has accepted or rejected it", help="`promptc review`")


def find_obsolete(place: CaseFolder, asked: Sequence[str], mode: Mode) -> list[Verdict]:
    """A verdict for every golden in the folder that is not among the names asked for; `golden.inputs.json` goes with the others."""
    known = {*asked, *([INPUTS] if asked else [])}
    root = find_root(place.folder)
    return [
        Verdict(
            name_case(place.folder, root),
            "obsolete",
            root,
            place.folder,
            path,
            findings=(
                Diagnostic("PC0922", f"no case asks for the golden `{path}`", None, _PRUNE, "error" if mode == "compare" else "warn"),
            ),
        )
        for name in place.goldens
        if name.removesuffix(PENDING) not in known
        for path in (show_path(os.path.join(place.folder, name), root),)
    ]


def run_case(case: Case, shelf: SuiteResources, shell: Shell) -> Ran:
    """What the case comes to, in its circumstances and its root as the working folder. What its pack or state is refused for is an outcome.

    Raises `CaseError` where the case itself is at fault: a state that is not there, a circumstance that cannot be made. The shelf must
    be open as long as reports of the outcome are read.
    """
    with shell.surround(case, shelf) as there, work_in(there.root):
        return _RUNS[case.kind](case, there, shell)


def _render(case: Case, there: CaseEnvironment, shell: Shell) -> Ran:
    return Ran((_end(case, lambda: _render_turn(case, there, read_state(case, 0, there))),))


def _run_session(case: Case, there: CaseEnvironment, shell: Shell) -> Ran:
    """Each turn is rendered; the first one that fails is the last."""
    outcomes: list[CaseOutcome] = []
    before: JsonDocument | None = None

    def render(turn: int) -> CaseOutcome:
        nonlocal before
        before = _carry(case, read_state(case, turn, there, before), outcomes)
        return _render_turn(case, there, before)

    for turn in range(len(case.states)):
        outcomes.append(_end(case, partial(render, turn), turn))
        if outcomes[-1].exit:
            break
    tiers = [(one.read_facts() or {}).get("strain") for one in outcomes]
    changes = sum(1 for one, after in pairwise(tiers) if one != after)
    return Ran(tuple(outcomes), measure_reuse([one.compiled for one in outcomes if one.compiled is not None]), changes)


def _carry(case: Case, document: JsonDocument, outcomes: list[CaseOutcome]) -> JsonDocument:
    """The state of a turn with the tier of the turn before it, where the case carries it."""
    if case.carry is None or not outcomes:
        return document
    import json

    from promptc.frontend.json_places import set_values

    facts = outcomes[-1].read_facts() or {}
    return set_values(document, [(case.carry, json.dumps(facts.get("strain")))])


def _render_turn(case: Case, there: CaseEnvironment, document: JsonDocument) -> CaseOutcome:
    pack = there.shelf.load_pack(there.root, case.pack)
    flags = case.flags
    axes = {**flags.get("variant", {}), **({"mood": flags["mood"]} if "mood" in flags else {})}
    compiled = pack.compile(
        there.shelf.fill_state(pack, document),
        budget=flags.get("budget"),
        variants=axes,
        patches=tuple(flags.get("patch", ())),
        format=flags.get("format"),
        stores=there.stores,
        memory=there.shelf.find_memory(there.root, case.pack),
    )
    if compiled.emitted is None:
        return CaseOutcome(
            _DOES_NOT_FIT, sort_diagnostics(compiled.errors), read_report=lambda: compiled.report, read_facts=lambda: compiled.facts
        )
    if case.given:
        _ = compiled.report  # as long as what it was given is there
    return _describe(case, compiled)


def _describe(case: Case, compiled: Outcome) -> CaseOutcome:
    prompt = Prompt(compiled)
    if "only" in case.flags:
        text = prompt.find_section(case.flags["only"])
        return CaseOutcome(
            0, prompt.warnings, text=text, read_report=lambda: compiled.report, read_facts=lambda: compiled.facts, compiled=compiled
        )
    is_text = prompt.format == "text"
    made = prompt.build_payload(prompt.provider, case.flags.get("model")) if prompt.provider is not None else None
    return CaseOutcome(
        0,
        (*prompt.warnings, *(made.warnings if made is not None else ())),
        text=prompt.text if is_text else None,
        messages=None if is_text else prompt.messages,
        tokens=prompt.tokens,
        payload=made.body if made is not None else None,
        read_report=lambda: compiled.report,
        read_facts=lambda: compiled.facts,
        compiled=compiled,
    )


def _apply(case: Case, there: CaseEnvironment, shell: Shell) -> Ran:
    answers = read_answers(case)

    def apply() -> CaseOutcome:
        document = read_state(case, 0, there)
        pack = there.shelf.load_pack(there.root, case.pack)
        raw = document.canonical if case.states[0].changes else document.source.text.encode()
        return shell.apply(pack, raw, case, answers, document.source.name)

    return Ran((_end(case, apply),))


def _recall(case: Case, there: CaseEnvironment, shell: Shell) -> Ran:
    return Ran((_end(case, lambda: ask_index(there.shelf.load_pack(there.root, case.pack), case)),))


def _check(case: Case, there: CaseEnvironment, shell: Shell) -> Ran:
    def check() -> CaseOutcome:
        pack: Pack = there.shelf.load_pack(there.root, case.pack)
        found = pack.check(there.stores if case.given else None)
        return CaseOutcome(0 if all(one.level == "note" for one in found) else 1, found)

    return Ran((_end(case, check),))


def _run_command(case: Case, there: CaseEnvironment, shell: Shell) -> Ran:
    return Ran((_end(case, lambda: shell.run_command(case, there)),))


def _end(case: Case, run: Callable[[], CaseOutcome], turn: int = 0) -> CaseOutcome:
    """What the run gave, or what it was refused for."""
    try:
        return run()
    except CaseError:
        raise
    except PromptcError as error:
        report: Mapping[str, Any] | None = getattr(error, "report", None)
        return CaseOutcome(
            error.exit_code, tuple(place_changes(error.diagnostics, case, turn)), read_report=lambda: report, read_facts=lambda: report
        )


class Shell(Protocol):
    """The command line gives one; it pickles, since workers are given it, too."""

    def render_diagnostics(self, found: Sequence[Diagnostic]) -> str:
        """Findings as the command line prints them, without colours."""

    def run_command(self, case: Case, there: CaseEnvironment) -> CaseOutcome:
        """The exit code of the case's command line and what it found; its output is `text`. Raises `CaseError` for one that a case may not
        call, nothing that `run` would report."""

    def apply(self, pack: Pack, state: bytes, case: Case, answers: Mapping[str, str], name: str) -> CaseOutcome:
        """An operation, run on a state as it was written, which findings call `name`. Raises `PromptcError`."""

    def surround(self, case: Case, shelf: SuiteResources) -> AbstractContextManager[CaseEnvironment]:
        """Makes the circumstances of a case: `given`."""


_RUNS: dict[str, Callable[[Case, CaseEnvironment, Shell], Ran]] = {
    "render": _render,
    "session": _run_session,
    "apply": _apply,
    "recall": _recall,
    "check": _check,
    "run": _run_command,
}


def measure_reuse(prompts: Sequence[Outcome]) -> tuple[int, ...]:
    """For each prompt from the second on: the share of its tokens, in whole per cent, cut off, that stand in the beginning it has in common
    with the prompt before it.

    In the text, or the messages one after the other in the order they are sent, role and content. Tokens of the later prompt that end
    within that beginning are counted, so the share is never overstated.
    """
    texts = [_join(one) for one in prompts]
    return tuple(_share(one.fitted.layout.meter, before, after) for one, before, after in zip(prompts[1:], texts, texts[1:], strict=False))


def _join(prompt: Outcome) -> str:
    emitted = prompt.emitted
    assert emitted is not None
    if prompt.fitted.layout.format == "text":
        return emitted.text
    from promptc.text.json import render_canonical_json

    return "\n".join(render_canonical_json(dict(message)) for message in emitted.messages)


def _share(meter: Meter, before: str, after: str) -> int:
    whole = meter.counter.measure(after)
    same = _count_same(before, after)
    if same == len(after):
        return 100
    ends = [end for end in meter.counter.token_ends(after) if end <= same]
    return 100 * meter.counter.measure(after[: ends[-1]]) // whole if ends else 0


def _count_same(before: str, after: str) -> int:
    """Characters of the beginning that both have; found by halves, so that most are compared at the speed of the machine."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def ask_index(pack: Pack, case: Case) -> CaseOutcome:
    """The shares of queries that find their answer, in whole per cent: `recall` among the best six, `recall_in_cap` within the cap.

    Raises `PromptcError` for an index that is not there or cannot be read, and for queries that cannot be.
    """
    from promptc.frontend.corpora import open_corpus
    from promptc.frontend.segments import read_queries
    from promptc.model.sources import CorpusIndex
    from promptc.sources.retrieval.retrieve import ChunkQuery, Retriever, judge_index

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
        return retriever.ask(opened, ChunkQuery(query, version=version, floor=0, top=_TOP, candidates=_TOP))

    judged = judge_index(known, ask, floor=ChunkQuery("").floor, top=_TOP, cap=case.asked.get("cap", _CAP))
    return CaseOutcome(0, figures={"recall": judged.recall(_TOP) // _TENTHS, "recall_in_cap": judged.recall_in_cap // _TENTHS})
