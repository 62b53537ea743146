"""The verdict on a case."""

import os
from collections.abc import Sequence
from time import perf_counter_ns

from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Literal
from promptc.golden.cases.case import INPUTS, PENDING, Case
from promptc.golden.describe_figures import describe_figures, find_figures
from promptc.golden.describe_inputs import describe_inputs, render_inputs
from promptc.golden.find_cases import CASE, CaseFolder, is_pending
from promptc.golden.find_home import find_root, name_case, show_path
from promptc.golden.judging.compare import compare_goldens, describe_difference, render_goldens
from promptc.golden.judging.expect import check_expect, find_idle
from promptc.golden.lack import find_lacking, find_told, render_install
from promptc.golden.load_case import load_case
from promptc.golden.outcome import Ran
from promptc.golden.run_case import run_case
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.shell import Shell
from promptc.golden.verdict import Figures, Status, Verdict
from promptc.golden.write_pending import drop_pending, write_pending

Mode = Literal["write", "compare"]
"""`write`: pending goldens are written beside the old ones, and taken away where all is well. `compare`: nothing is written, and a pending
golden that lies about is a finding; so it is in CI."""


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


_PRUNE = "`promptc prune` removes what no case asks for"
