"""Processes: results in order, failures and deaths told, nothing left behind."""

import contextlib
import multiprocessing
import os
import signal
import time
from functools import partial

import pytest

from promptc.diag.findings import DiskError
from promptc.workers import run_workers


@pytest.fixture(autouse=True)
def is_patient(monkeypatch):
    """However busy the machine is, no process is ended before it has done its work."""
    monkeypatch.setattr("promptc.workers._PATIENCE", 600)


@contextlib.contextmanager
def start_doubling(_):
    yield lambda number: 2 * number


@contextlib.contextmanager
def start_uneven(_):
    def work(number):
        time.sleep(0.05 if number % 7 == 0 else 0)
        return number

    yield work


@contextlib.contextmanager
def start_failing(_):
    def work(number):
        if number == 5:
            raise ValueError("five is right out")
        return number

    yield work


@contextlib.contextmanager
def start_dying(_):
    def work(number):
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    yield work


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_are_in_order(jobs):
    assert list(run_workers(range(100), start_doubling, jobs=jobs)) == [2 * number for number in range(100)]
    assert list(run_workers(range(40), start_uneven, jobs=jobs)) == list(range(40))
    assert not multiprocessing.active_children()


def test_every_process_puts_its_things_away(tmp_path):
    @contextlib.contextmanager
    def start(_):
        yield lambda number: number
        (tmp_path / str(os.getpid())).write_text("away", encoding="utf-8")

    list(run_workers(range(30), start, jobs=3))
    assert len(list(tmp_path.iterdir())) == 3


def test_no_work_is_no_result():
    assert list(run_workers([], start_doubling, jobs=4)) == []


def test_a_failure_comes_here_with_its_trace():
    with pytest.raises(RuntimeError, match="ValueError: five is right out") as failed:
        list(run_workers(range(50), start_failing, jobs=2))
    assert "in work" in failed.value.__notes__[0]
    assert not multiprocessing.active_children()


def test_a_process_that_was_killed_is_told():
    with pytest.raises(DiskError) as killed:
        list(run_workers(range(50), start_dying, jobs=2))
    assert "signal 9" in str(killed.value) and killed.value.diagnostics[0].code == "PC0903"
    assert not multiprocessing.active_children()


def test_who_stops_reading_leaves_no_process():
    results = run_workers(range(1000), start_doubling, jobs=2)
    assert next(results) == 0
    results.close()
    assert not multiprocessing.active_children()


@contextlib.contextmanager
def start_writing(folder, _):
    """Each work is two files, the second of them a while later; beside, one for the process."""

    def work(number):
        (folder / f"{number}.begun").touch()
        time.sleep(0.05)
        (folder / f"{number}.ended").touch()
        return number

    yield work
    (folder / f"{os.getpid()}.away").touch()


def test_who_stops_reading_leaves_no_work_half_done(tmp_path):
    results = run_workers(range(1000), partial(start_writing, tmp_path), jobs=3)
    next(results)
    results.close()
    begun, ended = ({path.stem for path in tmp_path.glob(f"*.{what}")} for what in ("begun", "ended"))
    assert begun == ended and 0 < len(begun) < 1000
    assert len(list(tmp_path.glob("*.away"))) == 3


def test_long_work_sees_that_it_is_not_wanted_any_more(tmp_path):
    @contextlib.contextmanager
    def start(is_wanted):
        def work(number):
            while number and is_wanted():
                time.sleep(0.01)
            (tmp_path / f"{number}.{is_wanted()}").touch()

        yield work

    results = run_workers(range(10), start, jobs=2)
    next(results)
    results.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.True", "1.False"]


def test_a_process_that_does_not_end_is_ended(monkeypatch):
    @contextlib.contextmanager
    def start(_):
        yield lambda number: time.sleep(3600 if number else 0)

    monkeypatch.setattr("promptc.workers._PATIENCE", 0.1)
    results = run_workers(range(10), start, jobs=2)
    next(results)
    results.close()
    assert not multiprocessing.active_children()


def test_an_interrupt_is_not_for_the_processes():
    """Not from the first moment on: it is this one that it reaches, once, when all of them are started."""

    @contextlib.contextmanager
    def start(_):
        yield lambda number: signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    assert list(run_workers(range(20), start, jobs=2)) == [True] * 20
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
