"""A case, run: a render, a session of them, an operation, queries, a check or a command line."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

from promptc.api import Pack
from promptc.diag.findings import PromptcError, sort_diagnostics
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument
from promptc.golden.ask_index import ask_index
from promptc.golden.case_error import CaseError
from promptc.golden.cases.case import Case
from promptc.golden.cases.environment import CaseEnvironment
from promptc.golden.measure_reuse import measure_reuse
from promptc.golden.outcome import CaseOutcome, Ran
from promptc.golden.read_answers import read_answers
from promptc.golden.read_state import place_changes, read_state
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.shell import Shell
from promptc.pipeline import Outcome
from promptc.prompt import Prompt


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


_DOES_NOT_FIT = 3
_RUNS: dict[str, Callable[[Case, CaseEnvironment, Shell], Ran]] = {
    "render": _render,
    "session": _run_session,
    "apply": _apply,
    "recall": _recall,
    "check": _check,
    "run": _run_command,
}
