"""Verdicts on cases: `judge_case` judges one folder, `judge_loaded` a case that was read, and `run_suite` many, in several processes, the
verdicts in order.

A case is run, held against what it expects and against its goldens, and what differs is written beside them (`note_case` gives what is
noted there, too). `find_idle` tells of a case that would hold nothing, `break_unread` of goldens in a folder without a case, and
`list_obsolete` of goldens that no case asks for.
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
from promptc.diag.findings import Diagnostic, Level, PromptcError
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
    compare_goldens,
    describe_difference,
    describe_figures,
    find_figures,
    render_goldens,
)
from promptc.workers import run_workers

Mode = Literal["write", "compare", "try"]
"""`write`: pending goldens are written beside the old ones, and taken away where all is well. `compare`: nothing is written, and a pending
golden that lies about is a finding; so it is in CI. `try`: the packs are not what their files say, so nothing is written, and what lies
about is left alone."""

_PRUNE = "run `promptc prune` to remove what no case asks for"

_CLAIMED_EMPTY = frozenset(("order", "warnings", "errors", "flags", "fallback"))
"""Claims that what is there is nothing."""

_IDLE = "the case holds nothing: no `golden` is compared, and `expect` claims nothing"
_HOLD = "write `golden: [text]` to compare what comes out, or `expect: {exit: 0}` if it is enough to run"

_CHUNK = 25
"""Folders that a process is given at a time."""

_FEW = 8
"""Folders that are judged sooner than a process is started: so many at most are judged in this one."""

_PAUSE = 50_000_000
"""Nanoseconds between two looks whether what comes of the cases is still wanted."""

_DIFFERS = ("PC0920", "PC0921")
"""Findings that are no more than a golden that differs, or is missing."""


def judge_case(place: CaseFolder, resources: SuiteResources, shell: Shell, mode: Mode) -> Verdict:
    """The verdict on the case in a folder. Whatever is wrong with the case is in the verdict: nothing is raised for it."""
    begun = perf_counter_ns()
    try:
        case = load_case(place.folder, place.top)
    except PromptcError as error:
        return _break_place(place, error.diagnostics)
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


def _refuse_skipped(verdict: Verdict) -> Verdict:
    """The verdict where no case may be skipped: a case that cannot be run is broken."""
    if verdict.status != "skipped":
        return verdict
    return replace(verdict, status="broken", findings=tuple(replace(one, level="error") for one in verdict.findings))


def _describe_known(place: CaseFolder, pack: str) -> Verdict:
    """The verdict on a case that is known to have passed, and whose file was not read again."""
    return _tell_of(place, "passed", CASE, pack=pack, is_known=True)


def _tell_of(place: CaseFolder, status: Status, name: str = "", **more: Any) -> Verdict:
    """A verdict on a folder, or on the file of that name in it."""
    root = choose_root(place.folder)
    file = show_path(os.path.join(place.folder, name) if name else place.folder, root)
    return Verdict(name_case(place.folder, root), status, root, place.folder, file, **more)


def _break_place(place: CaseFolder, findings: Sequence[Diagnostic]) -> Verdict:
    """The verdict on a case whose file cannot be read, or is not of its form."""
    return _tell_of(place, "broken", CASE, findings=tuple(findings))


def _break_folder(place: CaseFolder) -> Verdict:
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


@frozen(eq=False)
class Suite:
    """How cases are judged. `cache` is where packs and passes are kept, None to run everything afresh.

    `touched`, where it is not None, are files: only cases that are made of one of them are run. With `is_whole` the run is
    unfiltered, and goldens that no case asks for are told. With `only_changed` cases that are known to have passed are left out.
    `with_passed` gives the verdicts of those that passed, too. Without `may_skip` a case that would be skipped is broken. `tries` are what
    is tried of each pack; cases that run a command are left out then, since they load their packs by themselves.
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
    """The outcome of some cases: the verdicts to tell, in order; how many passed, and how many of those were known to; how many were left
    out as unchanged; how many folders were gone through; of which packs that were asked for there was a case. `passes` are to be kept."""

    verdicts: tuple[Verdict, ...]
    passed: int = 0
    known: int = 0
    unchanged: int = 0
    places: int = 0
    packs: frozenset[str] = frozenset()
    passes: Mapping[str, Mapping[str, Pass]] = field(default_factory=dict)


def run_suite(places: Sequence[CaseFolder], suite: Suite, *, jobs: int) -> Iterator[JudgedCases]:
    """Judges the cases, and gives what came of them in order, some at a time. The same whatever `jobs` is. What passed is remembered when
    all is done. Raises `DiskError` (PC0903) where a process was killed.
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
    """What is worth saying of `tries`. Raises what is wrong with them for a pack of the cases: once, and not by every case.

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
    """In a worker: what its cases share is kept until it ends, packs beyond that."""
    import gc

    gc.set_threshold(20_000, 20, 100)  # what a case leaves goes by itself; the collector would look at the packs again and again
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
        """Raises `InterruptedError` where nobody waits for what comes of the work any more. Looks now and then only: it takes as long as a
        case may.
        """
        now = perf_counter_ns()
        if now - self._looked >= _PAUSE:
            self._looked = now
            if not self._is_wanted():
                raise InterruptedError("nobody waits for what comes of these cases")

    def _judge_place(self, place: CaseFolder, passes: dict[str, dict[str, Pass]]) -> Iterator[Verdict | None]:
        """The verdicts of a folder; None for a case that is left out as unchanged, nothing for one that is not meant."""
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
                yield None if self._suite.only_changed else _describe_known(place, known.pack)
                yield from self._list_obsolete(place, known.goldens)
            return
        begun = perf_counter_ns()
        watch = InputWatch(place.folder)
        try:
            case = load_case(place.folder, place.top)
        except PromptcError as error:
            self._met.update(place.packs)
            yield _break_place(place, error.diagnostics)
            return
        if self._is_meant(place, root, case.pack):
            yield self._judge(case, place, passes, begun, watch)
            if find_idle(case) is None:
                yield from self._list_obsolete(place, [name for _, _, name in case.list_goldens()])

    def _judge_unread(self, place: CaseFolder) -> list[Verdict]:
        """The verdicts on goldens without a case, told wherever they are met: to be without one is no way to pass."""
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
        """Also of a case whose goldens alone are not what comes out: accepted, they are, and it need not be run again to know that."""
        if verdict.status != "passed" and any(one.code not in _DIFFERS for one in verdict.findings):
            return None
        return note_pass(case, self._resources, verdict.made)

    def _find_pass(self, place: CaseFolder, root: str) -> Pass | None:
        """A pass that still holds. Where a pending golden lies about, the case is run: the golden has to be taken away, or told of."""
        cache = self._suite.cache
        if cache is None or self._suite.touched is not None or any(map(is_pending, place.goldens)):
            return None
        if root not in self._known:
            self._known[root] = Passes(cache, root)
        return self._known[root].find(place.folder, self._resources)

    def _list_obsolete(self, place: CaseFolder, asked: Sequence[str]) -> list[Verdict]:
        return list_obsolete(place, asked, self._suite.mode) if self._suite.is_whole else []
