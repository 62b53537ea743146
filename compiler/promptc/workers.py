"""A list of works, done in processes: `run_workers` gives what they come to in order, tells of failures, and leaves no process behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection, wait

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.typed import Any, Generic, TypeVar

_PATIENCE = 10
"""Seconds that a process may take, when nothing more is wanted of it, to end its work and put its things away."""

_AHEAD = 8
"""Results that may wait for an earlier one, for each process: so that memory does not grow where one piece of work is slow."""

_Start = Callable[[Callable[[], bool]], AbstractContextManager[Callable[[Any], Any]]]
_Work = TypeVar("_Work")
_Done = TypeVar("_Done")


def run_workers(
    works: Iterable[_Work], start: Callable[[Callable[[], bool]], AbstractContextManager[Callable[[_Work], _Done]]], *, jobs: int
) -> Generator[_Done]:
    """What each work comes to, in order. `start` is called in each of `jobs` processes, and gives what does one work after the other, to be
    closed when there is none left; with a single job, or inside such a process, it is called here. It is given `is_wanted`, for long work
    to ask now and then: where that gives False, nobody waits for what comes of it. A work is taken when a process is there to do it, the
    first when all of them are.

    What goes wrong in a process is a `RuntimeError` here, with its traceback as a note; `DiskError` (PC0903) where one was killed. However
    it ends, no process is left, and nothing half written: each may end the work it is doing, for as long as `_PATIENCE` at most.
    """
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    if jobs == 1 or context.current_process().daemon:
        with start(lambda: True) as serve:
            yield from map(serve, works)
        return
    workers: list[_Worker[_Work]] = []
    try:
        with _holding_interrupts():
            for _ in range(jobs):
                workers.append(_Worker(context, start, workers))
        yield from _distribute(works, workers)
    finally:
        for worker in workers:
            worker.dismiss()
        for worker in workers:
            worker.end()


def count_processors() -> int:
    """Counts those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
        [Diagnostic("PC0903", f"a process of promptc was ended from outside ({how})", help="fewer at a time need less memory: `-j 1`")]
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


def _distribute(works: Iterable[_Work], workers: Sequence[_Worker[_Work]]) -> Iterator[Any]:
    waiting: dict[int, Any] = {}
    left = enumerate(works)
    given = shown = 0
    is_more = True
    while is_more or shown < given:
        for worker in workers:
            if is_more and worker.number < 0 and given - shown < _AHEAD * len(workers):
                number, work = next(left, (-1, None))
                is_more = number >= 0
                if is_more:
                    worker.give(number, work)  # type: ignore[arg-type]
                    given += 1
        busy = {worker.pipe: worker for worker in workers if worker.number >= 0}
        for pipe in wait(list(busy)) if busy else ():
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
