"""A small run of `python -m benchmarks crashes`: killed at any instant, and in a crowd, nothing is torn, lost or stuck."""

import pytest

from benchmarks.crashes import BAD, crash, crash_at_calls, crash_restore, crowd, list_works
from tests.size import SMALL_PARTS, take_part

WORKS = {f"{work.pack.name} {work.name}": work for work in list_works()}


def _check(figures):
    assert not {name: figures[name] for name in BAD if figures[name]}


@pytest.mark.parametrize("name", WORKS)
def test_killed_at_any_instant(name):
    figures = crash(WORKS[name], 6, seed=1)
    _check(figures)
    assert figures["old"] + figures["new"] == 6


# contract 9.22
@pytest.mark.dear
def test_killed_before_each_call():
    figures = crash_at_calls(WORKS["logbook prune"], take_part(range(10_000), SMALL_PARTS))
    _check(figures)
    assert figures["finished"] == 1
    assert figures["old"] > 10
    assert figures["new"] > 5


def test_a_restore_killed_at_any_instant():
    _check(crash_restore(WORKS["logbook prune"], 10, seed=3))


@pytest.mark.parametrize("name", ["count", "turn"])
def test_a_crowd_loses_no_update(name):
    figures, _, _ = crowd(name, 4, 8)
    _check(figures)
    assert figures["done"] == 32
