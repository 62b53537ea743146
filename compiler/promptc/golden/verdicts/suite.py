"""Many cases, judged by `run_suite`: in several processes, the verdicts in order. Cases that passed are only counted, but where the `Suite`
asks for their verdicts, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns

from promptc.cache import Cache
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.frozen import field, frozen, replace
from promptc.frontend.manifest import load_manifest, try_values
from promptc.golden.cases.case import Case, is_pending
from promptc.golden.cases.confine import choose_pack, choose_root, locate_pack
from promptc.golden.cases.discover import CaseFolder, load_case
from promptc.golden.inputs import InputWatch, Pass, Passes, Touched, is_touched, note_pass
from promptc.golden.running.resources import SuiteResources
from promptc.golden.running.run import Shell
from promptc.golden.verdicts.judge import (
    Mode,
    break_folder,
    break_place,
    break_unread,
    describe_known,
    find_idle,
    judge_loaded,
    list_obsolete,
    refuse_skipped,
)
from promptc.golden.verdicts.verdict import Verdict
from promptc.workers import run_workers

_CHUNK = 25
"""Folders that a process is given at a time."""

_FEW = 8
"""Folders that are judged sooner than a process is started: so many at most are judged in this one."""

_PAUSE = 50_000_000
"""Nanoseconds between two looks whether what comes of the cases is still wanted."""

_DIFFERS = ("PC0920", "PC0921")
"""Findings that are no more than a golden that differs, or is missing."""


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
            yield break_folder(place)
            return
        if not place.is_case:
            yield from self._judge_unread(place)
            return
        root = choose_root(place.folder)
        known = self._find_pass(place, root)
        if known is not None:
            if self._is_meant(place, root, known.pack):
                yield None if self._suite.only_changed else describe_known(place, known.pack)
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
        verdict = judged if suite.may_skip else refuse_skipped(judged)
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
