"""Many cases, judged: in several processes, the verdicts in order; those that passed are only counted.

`run_suite` judges folders of cases. It stands on `run_workers`, which does any list of works in processes of its own.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from multiprocessing.connection import Connection, wait
from time import perf_counter_ns

from promptc.cache import Cache
from promptc.diag.findings import Diagnostic, DiskError, PromptcError
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any, Generic, TypeVar
from promptc.golden.cases.case import Case, is_pending
from promptc.golden.cases.confine import choose_pack, choose_root
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
from promptc.model.pack import MANIFEST

_CHUNK = 25
_FEW = 8

_PAUSE = 50_000_000
"""Nanoseconds between two looks whether what comes of the cases is still wanted."""

_DIFFERS = ("PC0920", "PC0921")
"""Findings that are no more than a golden that differs, or is missing."""

_Start = Callable[[Callable[[], bool]], AbstractContextManager[Callable[[Any], Any]]]

_PATIENCE = 10
"""Seconds that a process may take, when nothing more is wanted of it, to end its work and put its things away."""

_AHEAD = 8
"""Results that may wait for an earlier one, for each process: so that memory does not grow where one piece of work is slow."""

_Work = TypeVar("_Work")
_Done = TypeVar("_Done")


@frozen(eq=False)
class Suite:
    """How cases are judged. `cache` is where packs and passes are kept, None to run everything afresh.

    `touched`, where it is not None, are files: only cases that are made of one of them are run. With `is_whole` the run is
    unfiltered, and goldens that no case asks for are told. With `only_changed` cases that are known to have passed are left out.
    `with_passed` gives the verdicts of those that passed, too. Without `may_skip` a case that would be skipped is broken.
    """

    shell: Shell
    mode: Mode
    cache: Cache | None = None
    touched: Touched | None = None
    is_whole: bool = True
    only_changed: bool = False
    with_passed: bool = False
    may_skip: bool = True


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
        for judged in run_workers(chunks, partial(_start, suite), jobs=jobs if len(places) > _FEW else 1):
            for root, passes in judged.passes.items():
                new.setdefault(root, {}).update(passes)
            yield judged
    finally:
        if suite.cache is not None:
            for root, passes in new.items():
                Passes(suite.cache, root).keep(passes)


@contextlib.contextmanager
def _start(suite: Suite, is_wanted: Callable[[], bool]) -> Iterator[Callable[[Sequence[CaseFolder]], JudgedCases]]:
    """In a worker: what its cases share is kept until it ends, packs beyond that."""
    import gc

    gc.set_threshold(20_000, 20, 100)  # what a case leaves goes by itself; the collector would look at the packs again and again
    with SuiteResources(suite.cache) as resources:
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
            self._look_up()
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

    def _look_up(self) -> None:
        """Ends the work where nobody waits for it any more. Asked for now and then only: it takes as long as a case may."""
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
        found = os.path.realpath(os.path.join(root, pack)).removesuffix(f"{os.sep}{MANIFEST}")
        self._met.add(found)
        return found in place.packs

    def _judge(self, case: Case, place: CaseFolder, passes: dict[str, dict[str, Pass]], begun: int, watch: InputWatch) -> Verdict | None:
        suite = self._suite
        if suite.touched is not None and not is_touched(case, self._resources, suite.touched):
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


def run_workers(
    works: Sequence[_Work], start: Callable[[Callable[[], bool]], AbstractContextManager[Callable[[_Work], _Done]]], *, jobs: int
) -> Iterator[_Done]:
    """What each work comes to, in order. `start` is called in each of `jobs` processes, and gives what does one work after the other, to be
    closed when there is none left; with a single job it is called here. It is given `is_wanted`, for long work to ask now and then: where
    that gives False, nobody waits for what comes of it.

    What goes wrong in a process is a `RuntimeError` here, with its traceback as a note; `DiskError` (PC0903) where one was killed. However
    it ends, no process is left, and nothing half written: each may end the work it is doing, for ten seconds at
    most.
    """
    if jobs == 1 or len(works) < 2:
        with start(lambda: True) as serve:
            yield from map(serve, works)
        return
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    workers: list[_Worker[_Work]] = []
    try:
        with _holding_interrupts():
            for _ in range(min(jobs, len(works))):
                workers.append(_Worker(context, start, workers))
        yield from _distribute(works, workers)
    finally:
        for worker in workers:
            worker.dismiss()
        for worker in workers:
            worker.end()


class _Worker(Generic[_Work]):
    """One process, and the number of the work it is doing."""

    def __init__(self, context: Any, start: _Start, earlier: Sequence[_Worker[Any]]) -> None:
        own, theirs = context.Pipe()
        self.pipe: Connection = own
        self.number = -1
        not_its = [own, *(worker.pipe for worker in earlier)]
        self._process = context.Process(target=_serve, args=(theirs, not_its, start), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, number: int, work: _Work) -> None:
        self.number = number
        self.pipe.send(work)

    def take(self) -> Any:
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            raise _explain_end(self._process.exitcode) from None

    def dismiss(self) -> None:
        """Nothing more is wanted of the process: it sees so when it has done the work it is doing, and puts its things away."""
        self.pipe.close()

    def end(self) -> None:
        self._process.join(_PATIENCE)
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection, not_its: Sequence[Connection], start: _Start) -> None:
    """In the process: until nobody gives work any more, or wants what came of it. An interrupt is for the parent to act upon.

    While it works nothing is sent to it: a pipe with something to read is one that was closed. The parent's ends are closed here, as a pipe
    that a process holds both ends of never ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in not_its:
        other.close()
    with start(lambda: not pipe.poll()) as serve, contextlib.suppress(EOFError, OSError):
        while True:
            work = pipe.recv()
            pipe.send(_try(serve, work))


def _try(serve: Callable[[Any], Any], work: Any) -> Any:
    """What the work comes to. Whatever goes wrong is taken to the process that can report it; it is not dealt with here."""
    try:
        return serve(work)
    except BaseException as error:  # noqa: BLE001
        return _Failed(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


class _Failed:
    """What went wrong in a process, as text: an exception itself need not pickle."""

    def __init__(self, message: str, trace: str) -> None:
        self.message = message
        self.trace = trace


def _explain_end(code: int | None) -> DiskError:
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return DiskError(
        [Diagnostic("PC0903", f"a process that ran cases was ended from outside ({how})", help="fewer at a time need less memory: `-j 1`")]
    )


@contextlib.contextmanager
def _holding_interrupts() -> Iterator[None]:
    """An interrupt comes when this is over. A process that is started meanwhile never sees one, not even before it can say so."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _distribute(works: Sequence[_Work], workers: Sequence[_Worker[_Work]]) -> Iterator[Any]:
    waiting: dict[int, Any] = {}
    given = shown = 0
    while shown < len(works):
        for worker in workers:
            if worker.number < 0 and given < len(works) and given - shown < _AHEAD * len(workers):
                worker.give(given, works[given])
                given += 1
        busy = {worker.pipe: worker for worker in workers if worker.number >= 0}
        for pipe in wait(list(busy)):
            worker = busy[pipe]  # type: ignore[index]
            waiting[worker.number] = worker.take()
            worker.number = -1
        while shown in waiting:
            found = waiting.pop(shown)
            shown += 1
            if isinstance(found, _Failed):
                raise _explain_failure(found)
            yield found


def _explain_failure(failed: _Failed) -> RuntimeError:
    error = RuntimeError(failed.message)
    error.add_note(failed.trace)
    return error
