"""The verdict on a case: run, held against what it expects and against its goldens, and what differs written beside them.

`judge_case` reads and judges one folder, `judge_loaded` a case that was read, unless `find_idle` tells that it would hold nothing.
`note_case` gives what is noted beside its goldens.
`refuse_skipped` is for runs that skip none. `describe_known` tells of a case that need not be run, `break_place`, `break_folder` and
`break_unread` of folders that cannot be judged, and `list_obsolete` of goldens that no case asks for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from time import perf_counter_ns

from promptc.compare import is_messages, is_text, read_json
from promptc.diag.findings import Diagnostic, Level, PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Literal
from promptc.files.reading import read_file
from promptc.golden.cases.case import INPUTS, MAX_PLAIN_BYTES, PENDING, Case, CaseOutcome, CaseRun, Figures, is_pending, name_golden
from promptc.golden.cases.confine import choose_root, name_case, show_path
from promptc.golden.cases.discover import CASE, CaseFolder, load_case
from promptc.golden.inputs import describe_inputs, render_inputs
from promptc.golden.running.environment import list_lacking, list_told, render_install
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.running.run import Shell, run_case
from promptc.golden.verdicts.expect import check_expect, find_refusal, read_message
from promptc.golden.verdicts.pending import drop_pending, write_pending
from promptc.golden.verdicts.verdict import (
    GoldenDifference,
    Status,
    Verdict,
    compare_goldens,
    describe_difference,
    describe_figures,
    find_figures,
    render_goldens,
)

Mode = Literal["write", "compare", "try"]
"""`write`: pending goldens are written beside the old ones, and taken away where all is well. `compare`: nothing is written, and a pending
golden that lies about is a finding; so it is in CI. `try`: the packs are not what their files say, so nothing is written, and what lies
about is left alone."""

_PRUNE = "run `promptc prune` to remove what no case asks for"

_CLAIMED_EMPTY = frozenset(("order", "warnings", "errors", "flags", "fallback"))
"""Claims that what is there is nothing."""

_IDLE = "the case holds nothing: no `golden` is compared, and `expect` claims nothing"
_HOLD = "write `golden: [text]` to compare what comes out, or `expect: {exit: 0}` if it is enough to run"


def judge_case(place: CaseFolder, resources: SuiteResources, shell: Shell, mode: Mode) -> Verdict:
    """The verdict on the case in a folder. Whatever is wrong with the case is in the verdict: nothing is raised for it."""
    begun = perf_counter_ns()
    try:
        case = load_case(place.folder, place.top)
    except PromptcError as error:
        return break_place(place, error.diagnostics)
    return judge_loaded(case, place, resources, shell, mode, begun)


def judge_loaded(case: Case, place: CaseFolder, resources: SuiteResources, shell: Shell, mode: Mode, begun: int) -> Verdict:
    """The verdict on a case that was read; `begun` is when that was, of `perf_counter_ns`. One that requires an extra which is not
    installed is not run, and nothing is offered of it.
    """
    idle = find_idle(case)
    if idle is not None:
        return _tell(case, "broken", findings=(idle,))
    lacking = list_lacking(case.requires)
    if lacking:
        skipped = _tell(case, "skipped", findings=(_describe_lacking(case, lacking),), lacking=lacking)
        return _tell_pending(place, skipped) if mode == "compare" else skipped
    try:
        ran = run_case(case, resources, shell)
        with work_in(case.root):
            broken = check_expect(case, ran)
            verdict = _judge(case, ran, shell, broken)
            if verdict.differences or verdict.status == "failed":
                verdict = _explain(case, ran, _hint_requires(case, ran, verdict))
            if mode == "write":
                verdict = _pend(case, place, verdict, () if broken else verdict.differences, resources)
            elif mode == "compare":
                verdict = _tell_pending(place, verdict)
    except PromptcError as error:
        verdict = _tell(case, "broken", findings=error.diagnostics)
    except OSError as wrong:
        verdict = _tell(case, "broken", findings=(_describe_disk(case, wrong),))
    return replace(verdict, microseconds=(perf_counter_ns() - begun) // 1000)


def find_idle(case: Case) -> Diagnostic | None:
    """A finding (PC0901) for a case that would pass whatever comes out. A check holds that nothing is found."""
    claims = [key for key, value in case.expect.items() if key in _CLAIMED_EMPTY or value not in ([], {})]
    return None if claims or case.golden or case.kind == "check" else Diagnostic("PC0901", _IDLE, case.node.span, _HOLD)


def _tell(case: Case, status: Status, **more: Any) -> Verdict:
    return Verdict(case.name, status, case.root, case.folder, case.file, title=case.title, pack=case.pack, **more)


def _describe_lacking(case: Case, lacking: Sequence[str]) -> Diagnostic:
    at = case.node.value["requires"].value[case.requires.index(lacking[0])].span
    message = f"the case is skipped: it requires {_name_extras(lacking)}, which is not installed here"
    return Diagnostic("PC0754", message, at, f"run `{render_install(lacking)}`", "note")


def _name_extras(lacking: Sequence[str]) -> str:
    return f"the {'extras' if len(lacking) > 1 else 'extra'} {' and '.join(f'`{one}`' for one in lacking)}"


def _tell_pending(place: CaseFolder, verdict: Verdict) -> Verdict:
    """Where nothing is written, one that was left behind is told. What is noted of inputs is no golden: there is nothing to accept."""
    left = [name for name in place.goldens if is_pending(name) and name != f"{INPUTS}{PENDING}"]
    if not left:
        return verdict
    found = tuple(_describe_pending(f"{verdict.file.rpartition('/')[0]}/{name}".lstrip("/")) for name in left)
    status: Status = "failed" if verdict.status in ("passed", "new", "skipped") else verdict.status
    return replace(verdict, status=status, findings=(*verdict.findings, *found))


def _describe_pending(path: str) -> Diagnostic:
    return Diagnostic("PC0923", f"`{path}` is pending: nobody has accepted or rejected it", help="run `promptc review`")


def _judge(case: Case, ran: CaseRun, shell: Shell, broken: Sequence[Diagnostic]) -> Verdict:
    """The verdict, from the claims that do not hold and from the goldens; these are not compared where the run ended otherwise."""
    is_refused = any(turn.exit for turn in ran.turns) and ran.turns[-1].exit != case.exit
    made = {} if is_refused else render_goldens(case, ran, shell.render_diagnostics)
    differences = compare_goldens(case, ran, made) if made else []
    findings = (*broken, *(describe_difference(case, one) for one in differences))
    differs = bool(broken) or any(one.old is not None for one in differences)
    status: Status = "failed" if differs else "new" if differences else "passed"
    found = tuple(one for turn in ran.turns for one in turn.found) if broken else ()
    refusal = find_refusal(case, ran) if broken else None
    return _tell(case, status, findings=findings, differences=tuple(differences), found=found, refusal=refusal, made=made)


def _explain(case: Case, ran: CaseRun, verdict: Verdict) -> Verdict:
    """With the figures of its last turn, before and after."""
    turn = len(ran.turns) if case.kind == "session" else 0
    before = find_figures(case.folder, turn) or _count_golden(case, ran.turns[-1], turn)
    return replace(verdict, before=before, after=_read_figures(ran))


def _count_golden(case: Case, last: CaseOutcome, turn: int) -> Figures | None:
    """What the prompt in a golden comes to as this render counts. None where the golden does not tell: it is a request body, or tools
    or a response are counted beside it, and nobody knows what they were.
    """
    kind = "text" if last.messages is None else "messages"
    layout = last.compiled.fitted.layout if last.compiled is not None else None
    if layout is None or last.payload is not None or (kind == "messages" and layout.offered):
        return None
    try:
        content = read_file(os.path.join(case.folder, name_golden(kind, turn)), MAX_PLAIN_BYTES)
        if kind == "text":
            return Figures(tokens=layout.meter.tokens(layout.meter.count(content.decode())))
    except (OSError, ValueError):
        return None
    messages = read_json(content)
    if not is_messages(messages) or not all(is_text(one.get("role")) and one.get("content") is not None for one in messages):
        return None
    units = sum(layout.count_message(one["role"]) + layout.meter.count(read_message(one)) for one in messages)
    return Figures(tokens=layout.meter.tokens(layout.fixed + units))


def _read_figures(ran: CaseRun) -> Figures | None:
    return describe_figures(ran.turns[-1].read_report(), min(ran.reuse, default=None))


def _hint_requires(case: Case, ran: CaseRun, verdict: Verdict) -> Verdict:
    """With a note (PC0754) where the run was told to install an extra, which the case neither requires nor goes without on purpose."""
    told = list_told(f"{one.message} {one.help}" for turn in ran.turns for one in turn.found)
    lacking = [one for one in list_lacking(told) if one not in case.given.get("missing", ())]
    if not lacking:
        return verdict
    message = f"the case was run without {_name_extras(lacking)}, which is not installed here"
    help = f"if it needs that, write `requires: [{', '.join((*case.requires, *lacking))}]` to skip it; or run `{render_install(lacking)}`"
    note = Diagnostic("PC0754", message, case.node.value["title"].span, help, "note")
    return replace(verdict, findings=(*verdict.findings, note))


def _pend(case: Case, place: CaseFolder, verdict: Verdict, wanted: Sequence[GoldenDifference], resources: SuiteResources) -> Verdict:
    """Writes what is wanted of what came out beside the goldens, and takes away what was pending besides. Nothing is wanted of a case that
    breaks its own claims: it could not be accepted.
    """
    kept = {f"{one.path.rpartition('/')[2]}{PENDING}" for one in wanted} | ({f"{INPUTS}{PENDING}"} if wanted else set())
    drop_pending(place.folder, [name for name in place.goldens if is_pending(name) and name not in kept])
    if not wanted:
        return verdict
    pended = write_pending(case, wanted, _note_inputs(case, verdict.after, resources, verdict.before))
    findings = (*verdict.findings, *pended.findings)
    return replace(verdict, differences=pended.differences, findings=findings, is_unwritten=bool(pended.findings))


def note_case(case: Case, resources: SuiteResources, shell: Shell) -> bytes:
    """What `promptc accept` would note beside the goldens of a case. The case is run: the note has the figures of its last turn."""
    ran = run_case(case, resources, shell)
    with work_in(case.root):
        return _note_inputs(case, _read_figures(ran), resources)


def _note_inputs(case: Case, figures: Figures | None, resources: SuiteResources, before: Figures | None = None) -> bytes:
    try:
        pack = resources.load_pack(case.root, case.pack) if case.kind != "run" else None
    except PromptcError:
        pack = None
    return render_inputs(describe_inputs(case, pack), figures, before)


def _describe_disk(case: Case, wrong: OSError) -> Diagnostic:
    """What was made for the case could not be made: a disk is full, a folder read-only."""
    return Diagnostic("PC0903", f"the case cannot be run: {wrong.strerror or wrong}", case.node.span)


def refuse_skipped(verdict: Verdict) -> Verdict:
    """The verdict where no case may be skipped: a case that cannot be run is broken."""
    if verdict.status != "skipped":
        return verdict
    return replace(verdict, status="broken", findings=tuple(replace(one, level="error") for one in verdict.findings))


def describe_known(place: CaseFolder, pack: str) -> Verdict:
    """The verdict on a case that is known to have passed, and whose file was not read again."""
    return _tell_of(place, "passed", CASE, pack=pack, is_known=True)


def _tell_of(place: CaseFolder, status: Status, name: str = "", **more: Any) -> Verdict:
    """A verdict on a folder, or on the file of that name in it."""
    root = choose_root(place.folder)
    file = show_path(os.path.join(place.folder, name) if name else place.folder, root)
    return Verdict(name_case(place.folder, root), status, root, place.folder, file, **more)


def break_place(place: CaseFolder, findings: Sequence[Diagnostic]) -> Verdict:
    """The verdict on a case whose file cannot be read, or is not of its form."""
    return _tell_of(place, "broken", CASE, findings=tuple(findings))


def break_folder(place: CaseFolder) -> Verdict:
    """The verdict on a folder that could not be looked into."""
    told = _tell_of(place, "broken")
    message = f"cannot look into the folder `{told.file}`: {place.wrong}"
    return replace(told, findings=(Diagnostic("PC0903", message, help="whether there are cases in it is not known"),))


def break_unread(place: CaseFolder) -> Verdict | None:
    """The verdict on a folder with goldens that is no case: they guard nothing. None where what lies there is pending at most, as where
    another branch is checked out.
    """
    kept = [name for name in place.goldens if not is_pending(name) and name != INPUTS]
    if not kept:
        return None
    told = _tell_of(place, "broken")
    help = f"`{place.misnamed}` is not read: call it `{CASE}`" if place.misnamed else f"write its `{CASE}`; {_PRUNE}"
    message = f"`{told.file}` has goldens and no `{CASE}`: nobody reads {', '.join(f'`{name}`' for name in kept)}"
    return replace(told, findings=(Diagnostic("PC0922", message, None, help, "error"),))


def list_obsolete(place: CaseFolder, asked: Sequence[str], mode: Mode) -> list[Verdict]:
    """A verdict for every golden in the folder that is not among the names asked for; `golden.inputs.json` goes with the others."""
    known = {*asked, *([INPUTS] if asked else [])}
    level: Level = "error" if mode == "compare" else "warn"
    obsolete = (_tell_of(place, "obsolete", name) for name in place.goldens if name.removesuffix(PENDING) not in known)
    return [
        replace(one, findings=(Diagnostic("PC0922", f"no case asks for the golden `{one.file}`", None, _PRUNE, level),)) for one in obsolete
    ]
