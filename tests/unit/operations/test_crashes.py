"""A small run of `python -m benchmarks crashes`: killed at any instant, and in a crowd, nothing is torn, lost or stuck."""

import pytest

from benchmarks.crashes import BAD, crash, crash_restore, crowd, list_works

WORKS = {f"{work.pack.name} {work.name}": work for work in list_works()}


def _check(figures):
    assert not {name: figures[name] for name in BAD if figures[name]}


@pytest.mark.parametrize("name", WORKS)
def test_killed_at_any_instant(name):
    figures = crash(WORKS[name], 6, seed=1)
    _check(figures)
    assert figures["old"] + figures["new"] == 6


def test_instants_fall_before_and_after_the_rename():
    figures = crash(WORKS["logbook prune"], 24, seed=2)
    _check(figures)
    assert figures["old"] and figures["new"] and figures["killed"]


def test_a_restore_killed_at_any_instant():
    _check(crash_restore(WORKS["logbook prune"], 10, seed=3))


@pytest.mark.parametrize("name", ["count", "turn"])
def test_a_crowd_loses_no_update(name):
    figures, _, _ = crowd(name, 4, 8)
    _check(figures)
    assert figures["done"] == 32
