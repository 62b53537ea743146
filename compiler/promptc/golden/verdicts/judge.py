"""Verdicts on cases: `judge_case` judges one folder, `judge_loaded` a loaded case, and `run_suite` many in several processes, in order.

A case is run, its claims and goldens are checked, and differences are written next to the goldens, with a note (`note_case` returns such a
note). `find_idle` detects a case that checks nothing, `break_place` tells of a case that cannot be read, `break_unread` of goldens in a
folder without a case, and `list_obsolete` of goldens that no case declares.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns

from promptc.cache import Cache
from promptc.compare import is_messages, is_text, read_json
from promptc.diag.findings import Diagnostic, Level, PromptcError, show_reason
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.files.reading import read_file
from promptc.frontend.manifest import load_manifest, try_values
from promptc.golden.cases.case import INPUTS, MAX_PLAIN_BYTES, PENDING, Case, CaseOutcome, CaseRun, Figures, is_pending, name_golden
from promptc.golden.cases.confine import choose_pack, choose_root, locate_pack, name_case, show_path
from promptc.golden.cases.discover import CASE, CaseFolder, load_case
from promptc.golden.inputs import InputWatch, Pass, Passes, Touched, describe_inputs, is_touched, note_pass, render_inputs
from promptc.golden.running.environment import list_lacking, list_told, render_install
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.golden.running.run import Shell, run_case
from promptc.golden.verdicts.expect import check_expect, find_refusal, read_message
from promptc.golden.verdicts.pending import drop_pending, write_pending
from promptc.golden.verdicts.verdict import (
    GoldenDifference,
    Status,
    Verdict,
    check_goldens,
    compare_goldens,
    describe_differences,
    describe_figures,
    find_figures,
    render_goldens,
)
from promptc.workers import run_workers

Mode = Literal["write", "compare", "try"]
"""What happens to pending goldens.

- `write`: they are written next to the old ones, and removed if all is well.
- `compare`: nothing is written, and a pending golden left behind is a finding. This is the mode in CI.
- `try`: the packs differ from their files, so nothing is written, and pending goldens are ignored.
"""

_PRUNE = "run `promptc prune` to remove what no case asks for"

_CLAIMED_EMPTY = frozenset(("order", "warnings", "errors", "flags", "fallback"))
"""Claims whose empty value is a claim, too: that there is nothing."""

_IDLE = "the case holds nothing: no `golden` is compared, and `expect` claims nothing"
_HOLD = "write `golden: [text]` to compare what comes out, or `expect: {exit: 0}` if it is enough to run"

_CHUNK = 25
"""Folders that a process gets at a time."""

_FEW = 8
"""The most folders that are judged in this process, since starting another one would take longer."""

_PAUSE = 50_000_000
"""Nanoseconds between two checks whether the verdicts are still wanted."""

_DIFFERS = ("PC0920", "PC0921")
"""Findings that say only that a golden differs, or is missing."""


def judge_case(place: CaseFolder, resources: SuiteResources, shell: Shell, mode: Mode) -> Verdict:
    """Return the verdict on the case in a folder. Anything wrong with the case is in the verdict; nothing is raised for it."""
    begun = perf_counter_ns()
    try:
        case = load_case(place.folder, place.top)
    except PromptcError as error:
        return break_place(place, error.diagnostics)
    return judge_loaded(case, place, resources, shell, mode, begun)


def judge_loaded(case: Case, place: CaseFolder, resources: SuiteResources, shell: Shell, mode: Mode, begun: int) -> Verdict:
    """Return the verdict on a loaded case. `begun` is the time of loading, from `perf_counter_ns`.

    A case that requires an extra which is not installed is not run, and no pending goldens are written.
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
            check_goldens(case, ran)
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
        verdict = _tell(case, "broken", findings=(Diagnostic("PC0903", f"the case cannot be run: {show_reason(wrong)}", case.node.span),))
    return replace(verdict, microseconds=(perf_counter_ns() - begun) // 1000)


def find_idle(case: Case) -> Diagnostic | None:
    """Return a finding (PC0901) for a case that would pass whatever the outcome. A check claims that nothing is found."""
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
    """Return the verdict with a finding for each pending golden that was left behind, for runs that write nothing.

    The pending note is not a golden: there is nothing to accept.
    """
    left = [name for name in place.goldens if is_pending(name) and name != f"{INPUTS}{PENDING}"]
    if not left:
        return verdict
    found = tuple(_describe_pending(f"{verdict.file.rpartition('/')[0]}/{name}".lstrip("/")) for name in left)
    status: Status = "failed" if verdict.status in ("passed", "new", "skipped") else verdict.status
    return replace(verdict, status=status, findings=(*verdict.findings, *found))


def _describe_pending(path: str) -> Diagnostic:
    return Diagnostic("PC0923", f"`{path}` is pending: nobody has accepted or rejected it", help="run `promptc review`")


def _judge(case: Case, ran: CaseRun, shell: Shell, broken: Sequence[Diagnostic]) -> Verdict:
    """Return the verdict, from broken claims and from the goldens. Goldens are not compared if the run ended with an unexpected error."""
    is_refused = any(turn.exit for turn in ran.turns) and ran.turns[-1].exit != case.exit
    made = {} if is_refused else render_goldens(case, ran, shell.render_diagnostics)
    differences = compare_goldens(case, made) if made else []
    findings = (*broken, *describe_differences(case, differences))
    differs = bool(broken) or any(one.old is not None for one in differences)
    status: Status = "failed" if differs else "new" if differences else "passed"
    found = tuple(one for turn in ran.turns for one in turn.found) if broken else ()
    refusal = find_refusal(case, ran) if broken else None
    return _tell(case, status, findings=findings, differences=tuple(differences), found=found, refusal=refusal, made=made)


def _explain(case: Case, ran: CaseRun, verdict: Verdict) -> Verdict:
    """Return the verdict with the figures of the last turn, before and after."""
    turn = len(ran.turns) if case.kind == "session" else 0
    before = find_figures(case.folder, turn) or _count_golden(case, ran.turns[-1], turn)
    return replace(verdict, before=before, after=_read_figures(ran))


def _count_golden(case: Case, last: CaseOutcome, turn: int) -> Figures | None:
    """Return the figures of the prompt in a golden, counted as this render counts.

    Returns None if the golden does not suffice: it is a request body, or unknown tools or a response schema are counted with it.
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
    """Return the verdict with a note (PC0754) if the run asked to install an extra that the case neither requires nor hides on purpose."""
    told = list_told(f"{one.message} {one.help}" for turn in ran.turns for one in turn.found)
    lacking = [one for one in list_lacking(told) if one not in case.given.get("missing", ())]
    if not lacking:
        return verdict
    message = f"the case was run without {_name_extras(lacking)}, which is not installed here"
    help = f"if it needs that, write `requires: [{', '.join((*case.requires, *lacking))}]` to skip it; or run `{render_install(lacking)}`"
    note = Diagnostic("PC0754", message, case.node.value["title"].span, help, "note")
    return replace(verdict, findings=(*verdict.findings, note))


def _pend(case: Case, place: CaseFolder, verdict: Verdict, wanted: Sequence[GoldenDifference], resources: SuiteResources) -> Verdict:
    """Write pending goldens for the `wanted` differences, and remove all other pending ones.

    Nothing is wanted of a case that breaks its own claims: it could not be accepted.
    """
    kept = {f"{one.path.rpartition('/')[2]}{PENDING}" for one in wanted} | ({f"{INPUTS}{PENDING}"} if wanted else set())
    drop_pending(place.folder, [name for name in place.goldens if is_pending(name) and name not in kept])
    if not wanted:
        return verdict
    pended = write_pending(case, wanted, _note_inputs(case, verdict.after, resources, verdict.before))
    findings = (*verdict.findings, *pended.findings)
    return replace(verdict, differences=pended.differences, findings=findings, is_unwritten=bool(pended.findings))


def note_case(case: Case, resources: SuiteResources, shell: Shell) -> bytes:
    """Return the note that `promptc accept` would write next to the goldens. Runs the case, for the figures of its last turn."""
    ran = run_case(case, resources, shell)
    with work_in(case.root):
        return _note_inputs(case, _read_figures(ran), resources)


def _note_inputs(case: Case, figures: Figures | None, resources: SuiteResources, before: Figures | None = None) -> bytes:
    try:
        pack = resources.load_pack(case.root, case.pack) if case.kind != "run" else None
    except PromptcError:
        pack = None
    return render_inputs(describe_inputs(case, pack), figures, before)


def _refuse_skipped(verdict: Verdict) -> Verdict:
    """Return the verdict for runs in which no case may be skipped: a skipped case is broken."""
    if verdict.status != "skipped":
        return verdict
    return replace(verdict, status="broken", findings=tuple(replace(one, level="error") for one in verdict.findings))


def _tell_of(place: CaseFolder, status: Status, name: str = "", **more: Any) -> Verdict:
    """Return a verdict on a folder, or on the file of that name in it."""
    root = choose_root(place.folder)
    file = show_path(os.path.join(place.folder, name) if name else place.folder, root)
    return Verdict(name_case(place.folder, root), status, root, place.folder, file, **more)


def break_place(place: CaseFolder, findings: Sequence[Diagnostic]) -> Verdict:
    """Return the verdict on a case whose file cannot be read, or has another form."""
    return _tell_of(place, "broken", CASE, findings=tuple(findings))


def _break_folder(place: CaseFolder) -> Verdict:
    """Return the verdict on a folder that could not be listed."""
    told = _tell_of(place, "broken")
    message = f"cannot look into the folder `{told.file}`: {place.wrong}"
    return replace(told, findings=(Diagnostic("PC0903", message, help="whether there are cases in it is not known"),))


def break_unread(place: CaseFolder) -> Verdict | None:
    """Return the verdict on a folder without a case that has goldens, which guard nothing, or a file that was meant as the case.

    Returns None if all goldens in it are pending, as after checking out another branch.
    """
    kept = [name for name in place.goldens if not is_pending(name) and name != INPUTS]
    if not kept and (place.goldens or not place.misnamed):
        return None
    told = _tell_of(place, "broken")
    help = f"`{place.misnamed}` is not read: call it `{CASE}`" if place.misnamed else f"write its `{CASE}`; {_PRUNE}"
    message = f"`{told.file}` has goldens and no `{CASE}`: nobody reads {', '.join(f'`{name}`' for name in kept)}"
    if not kept:
        message = f"`{told.file}` has a `{place.misnamed}` and no `{CASE}`: nobody reads it"
    return replace(told, findings=(Diagnostic("PC0922", message, None, help, "error"),))


def list_obsolete(place: CaseFolder, asked: Sequence[str], mode: Mode) -> list[Verdict]:
    """Return a verdict for every golden in the folder that is not in `asked`. `golden.inputs.json` counts as one if `asked` is empty."""
    known = {*asked, *([INPUTS] if asked else [])}
    level: Level = "error" if mode == "compare" else "warn"
    obsolete = (_tell_of(place, "obsolete", name) for name in place.goldens if name.removesuffix(PENDING) not in known)
    return [
        replace(one, findings=(Diagnostic("PC0922", f"no case asks for the golden `{one.file}`", None, _PRUNE, level),)) for one in obsolete
    ]


@frozen(eq=False)
class Suite:
    """How cases are judged.

    - `cache`: where packs and passes are kept; None runs everything afresh.
    - `touched`: if given, only cases that depend on one of these files are run.
    - `is_whole`: the run is not filtered, and goldens that no case declares are reported.
    - `only_changed`: leave out cases that are known to have passed.
    - `with_passed`: return the verdicts of passed cases, too.
    - `may_skip`: if false, a case that would be skipped is broken.
    - `tries`: edits to try on each pack. Cases that run a command are left out then, since they load their packs themselves.
    """

    shell: Shell
    mode: Mode
    cache: Cache | None = None
    touched: Touched | None = None
    is_whole: bool = True
    only_changed: bool = False
    with_passed: bool = False
    may_skip: bool = True
    tries: tuple[tuple[str, str], ...] = ()


@frozen(eq=False)
class JudgedCases:
    """The outcome of some cases.

    `verdicts` are those to report, in order. `passed` counts the passed cases, and `known` those of them that were known to pass.
    `unchanged` counts those left out as unchanged, `places` the folders that were visited. `packs` are the requested packs that had a case.
    `passes` are to be kept.
    """

    verdicts: tuple[Verdict, ...]
    passed: int = 0
    known: int = 0
    unchanged: int = 0
    places: int = 0
    packs: frozenset[str] = frozenset()
    passes: Mapping[str, Mapping[str, Pass]] = field(default_factory=dict)


def run_suite(places: Sequence[CaseFolder], suite: Suite, *, jobs: int) -> Iterator[JudgedCases]:
    """Judge the cases, and yield the outcomes in order, some at a time. The result does not depend on `jobs`.

    Passed cases are remembered at the end. Raises `DiskError` (PC0903) if a process was killed.
    """
    chunks = [places[start : start + _CHUNK] for start in range(0, len(places), _CHUNK)]
    new: dict[str, dict[str, Pass]] = {}
    try:
        for judged in run_workers(chunks, partial(_start, suite), jobs=min(jobs, len(chunks)) if len(places) > _FEW else 1):
            for root, passes in judged.passes.items():
                new.setdefault(root, {}).update(passes)
            yield judged
    finally:
        if suite.cache is not None:
            for root, passes in new.items():
                Passes(suite.cache, root).keep(passes)


def check_tries(places: Sequence[CaseFolder], tries: Sequence[tuple[str, str]]) -> list[Diagnostic]:
    """Return notes on `tries`. Raises their errors for a pack of the cases once, and not for every case.

    Packs that cannot be read are left to the cases.
    """
    said: list[Diagnostic] = []
    seen: set[str] = set()
    for place in places if tries else ():
        try:
            case = load_case(place.folder, place.top) if place.is_case else None
        except PromptcError:
            continue
        path = locate_pack(case.pack, case.root) if case is not None else ""
        if case is None or path in seen or case.kind == "run" or (place.packs and not place.is_any and path not in place.packs):
            continue
        seen.add(path)
        try:
            manifest = load_manifest(Path(path))
        except PromptcError:
            continue
        try:
            said += try_values(manifest, tries).notes
        except PromptcError as wrong:
            raise type(wrong)(replace(one, message=f"{one.message} (the pack `{case.pack}`)") for one in wrong.diagnostics) from wrong
    return said


@contextlib.contextmanager
def _start(suite: Suite, is_wanted: Callable[[], bool]) -> Iterator[Callable[[Sequence[CaseFolder]], JudgedCases]]:
    """Set up a worker. What its cases share is kept until it ends, and packs in the cache beyond that."""
    import gc

    gc.set_threshold(20_000, 20, 100)  # reference counting frees the objects of a case; the collector would scan the packs again and again
    with SuiteResources(suite.cache, suite.tries) as resources:
        yield _Run(suite, resources, is_wanted).judge


class _Run:
    def __init__(self, suite: Suite, resources: SuiteResources, is_wanted: Callable[[], bool]) -> None:
        self._suite = suite
        self._resources = resources
        self._is_wanted = is_wanted
        self._looked = perf_counter_ns()
        self._known: dict[str, Passes] = {}
        self._met: set[str] = set()

    def judge(self, places: Sequence[CaseFolder]) -> JudgedCases:
        verdicts: list[Verdict] = []
        passes: dict[str, dict[str, Pass]] = {}
        passed = known = unchanged = 0
        for place in places:
            self._stop_if_unwanted()
            for verdict in self._judge_place(place, passes):
                if verdict is None:
                    unchanged += 1
                elif verdict.status == "passed":
                    passed += 1
                    known += verdict.is_known
                if verdict is not None and (verdict.status != "passed" or self._suite.with_passed):
                    verdicts.append(replace(verdict, made={}) if verdict.made else verdict)
        met, self._met = frozenset(self._met), set()
        return JudgedCases(tuple(verdicts), passed, known, unchanged, len(places), met, passes)

    def _stop_if_unwanted(self) -> None:
        """Raise `InterruptedError` if nobody waits for the results any more.

        Checks only now and then, since a check takes as long as a case may.
        """
        now = perf_counter_ns()
        if now - self._looked >= _PAUSE:
            self._looked = now
            if not self._is_wanted():
                raise InterruptedError("nobody waits for what comes of these cases")

    def _judge_place(self, place: CaseFolder, passes: dict[str, dict[str, Pass]]) -> Iterator[Verdict | None]:
        """Yield the verdicts of a folder: None for a case that is left out as unchanged, nothing for a case that was not requested."""
        if place.wrong:
            yield _break_folder(place)
            return
        if not place.is_case:
            yield from self._judge_unread(place)
            return
        root = choose_root(place.folder)
        known = self._find_pass(place, root)
        if known is not None:
            if self._is_meant(place, root, known.pack):
                yield None if self._suite.only_changed else _tell_of(place, "passed", CASE, pack=known.pack, is_known=True)
                yield from self._list_obsolete(place, known.goldens)
            return
        begun = perf_counter_ns()
        watch = InputWatch(place.folder)
        try:
            case = load_case(place.folder, place.top)
        except PromptcError as error:
            self._met.update(place.packs)
            yield break_place(place, error.diagnostics)
            return
        if self._is_meant(place, root, case.pack):
            yield self._judge(case, place, passes, begun, watch)
            if find_idle(case) is None:
                yield from self._list_obsolete(place, [name for _, _, name in case.list_goldens()])

    def _judge_unread(self, place: CaseFolder) -> list[Verdict]:
        """Return the verdicts on goldens without a case. They are reported in every run: a golden must not pass for lack of a case."""
        root = choose_root(place.folder)
        if not self._is_meant(place, root, choose_pack(place.folder, root)):
            return []
        unread = break_unread(place)
        return [unread] if unread is not None else self._list_obsolete(place, ())

    def _is_meant(self, place: CaseFolder, root: str, pack: str) -> bool:
        if not place.packs:
            return True
        found = locate_pack(pack, root)
        self._met.add(found)
        return place.is_any or found in place.packs

    def _judge(self, case: Case, place: CaseFolder, passes: dict[str, dict[str, Pass]], begun: int, watch: InputWatch) -> Verdict | None:
        suite = self._suite
        if suite.touched is not None and not is_touched(case, self._resources, suite.touched):
            return None
        if suite.tries and case.kind == "run":
            return None
        if suite.cache is not None:
            watch.begin(case)
        judged = judge_loaded(case, place, self._resources, suite.shell, suite.mode, begun)
        verdict = judged if suite.may_skip else _refuse_skipped(judged)
        passed = self._note_pass(case, verdict) if suite.cache is not None else None
        if passed is not None and watch.is_still():
            passes.setdefault(case.root, {})[case.folder] = passed
        return verdict

    def _note_pass(self, case: Case, verdict: Verdict) -> Pass | None:
        """Return the pass of a case, or None.

        A case whose only failure is its goldens counts: once they are accepted, it passes, and need not be run again to know that.
        """
        if verdict.status != "passed" and any(one.code not in _DIFFERS for one in verdict.findings):
            return None
        return note_pass(case, self._resources, verdict.made)

    def _find_pass(self, place: CaseFolder, root: str) -> Pass | None:
        """Return a pass that still holds, or None. A case with pending goldens is always run: they have to be removed or reported."""
        cache = self._suite.cache
        if cache is None or self._suite.touched is not None or any(map(is_pending, place.goldens)):
            return None
        if root not in self._known:
            self._known[root] = Passes(cache, root)
        return self._known[root].find(place.folder, self._resources)

    def _list_obsolete(self, place: CaseFolder, asked: Sequence[str]) -> list[Verdict]:
        return list_obsolete(place, asked, self._suite.mode) if self._suite.is_whole else []
