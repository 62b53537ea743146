"""Work distributed over processes: `run_workers` yields the results in order, reports failures, and leaves no process behind."""

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
"""Seconds that a dismissed process gets to end its work and clean up."""

_AHEAD = 8
"""Results for each process that may wait for an earlier one. The limit keeps memory small if one piece of work is slow."""

_Start = Callable[[Callable[[], bool]], AbstractContextManager[Callable[[Any], Any]]]
_Work = TypeVar("_Work")
_Done = TypeVar("_Done")


def run_workers(
    works: Iterable[_Work], start: Callable[[Callable[[], bool]], AbstractContextManager[Callable[[_Work], _Done]]], *, jobs: int
) -> Generator[_Done]:
    """Yield the result of each work, in order.

    `start` is called in each of `jobs` processes. Its context manager returns the function that does one work after another, and is left
    when no work remains. With a single job, or inside such a process, `start` is called in this process. Its argument, `is_wanted`, is for
    long work to call now and then: if it returns False, nobody waits for the result. A work is drawn from `works` when a process is free
    for it, the first one when all processes run.

    An exception in a process becomes a `RuntimeError` here, with the traceback as a note, and a killed process a `DiskError` (PC0903).
    However the run ends, no process remains, and nothing is half written: each process may finish its current work, within `_PATIENCE`
    seconds.
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
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker(Generic[_Work]):
    """One process, and the number of the work it is doing (-1: none)."""

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
        """Tell the process that nothing more is wanted. It notices after its current work, and then cleans up."""
        self.pipe.close()

    def end(self) -> None:
        self._process.join(_PATIENCE)
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection, not_its: Sequence[Connection], start: _Start) -> None:
    """Do work in the child process until the parent closes its pipe. An interrupt is left to the parent.

    The parent sends nothing while the process works, so a readable pipe is a closed one. The parent's ends of pipes are closed here, since
    a pipe never ends for a process that holds both of its ends.
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
    """Return the result of the work. Any exception is returned to the parent, which reports it, and not handled here."""
    try:
        return serve(work)
    except BaseException as error:  # noqa: BLE001
        return _Failed(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


class _Failed:
    """An exception in a process, as text, since the exception itself may not pickle."""

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
    """Delay interrupts until the end of the block. A process started in the block never sees one, not even before it can ignore them."""
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
