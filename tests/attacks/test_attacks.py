"""Every attack ends in a finding or in plain output, within 128 MB over the interpreter, at the same step under any hash seed.

How long each takes is printed by `python -m benchmarks attacks`; what is held here is counted. A commit tries a third of them, another one
every day; CI all.
"""

import json
import os
import subprocess
import sys
from functools import cache

import pytest

from tests.attacks.attacks import DEFINITIONS, EXPRESSIONS, GROWS, NESTS, PRINTS, REFUSED, SPENDS, STOPS
from tests.attacks.run_attacks import ATTACKS
from tests.contract.sources import ROOT
from tests.size import take_part

CHOSEN = tuple(take_part(sorted(ATTACKS)))
_FIFTH = CHOSEN[::5]


@cache
def _run_all(way: str, seed: int, names: tuple[str, ...]) -> dict[str, dict]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "compiler"), str(ROOT))), "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-m", "tests.attacks.run_attacks", way, *names]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return {found.pop("name"): found for found in map(json.loads, done.stdout.splitlines())}


@pytest.fixture(scope="module")
def outcomes():
    """What each attack comes to under one hash seed."""
    return _run_all("engine", 0, CHOSEN)


@pytest.fixture(scope="module")
def share(draws):
    """The attacks that are tried in further ways: all with `--prove`, else a fixed fifth."""
    return CHOSEN if draws(100) == 100 else _FIFTH


def _each(group):
    """A parameter for each attack of the group that this run tries."""
    return pytest.mark.parametrize("name", [name for name in group if name in CHOSEN])


def test_there_are_many():
    groups = (STOPS, SPENDS, NESTS, GROWS, REFUSED, PRINTS, EXPRESSIONS)
    assert sum(map(len, groups)) == len(ATTACKS) >= 200, "a name stands twice"


@pytest.mark.dear
@_each(ATTACKS)
def test_it_ends(outcomes, name):
    _check_end(outcomes[name])


def _check_end(found):
    assert found["outcome"] in ("found", "printed"), found
    assert "memory" not in found["message"], f"stopped by the memory and not by counting: {found}"
    if found["outcome"] == "found":
        assert found["place"] and found["place"][1] >= 1 and found["place"][2] >= 1, found
        assert found["help"] and len(found["message"]) < 400


@_each(STOPS)
def test_it_is_stopped_by_a_limit(outcomes, name):
    assert outcomes[name]["code"] == "PC0430", outcomes[name]
    assert outcomes[name]["place"][2] > 1, "a limit is told with the column that broke it"


@_each(NESTS)
def test_what_nests_is_stopped_or_harmless(outcomes, name):
    assert outcomes[name]["code"] in ("PC0417", "PC0414", "PC0430", ""), outcomes[name]


@_each(GROWS)
def test_a_number_is_stopped(outcomes, name):
    assert outcomes[name]["code"] == "PC0416", outcomes[name]


# contract 1.3
@_each([*REFUSED, *EXPRESSIONS])
def test_it_is_refused(outcomes, name):
    assert outcomes[name]["outcome"] == "found", outcomes[name]


@_each(PRINTS)
def test_it_prints(outcomes, name):
    assert (outcomes[name]["outcome"], outcomes[name].get("tail")) == ("printed", "ok"), outcomes[name]


@pytest.mark.dear
def test_the_steps_are_the_same_under_another_hash_seed(outcomes, share):
    again = _run_all("engine", 1, share)
    kept = ("outcome", "code", "message", "place", "steps")
    differing = [name for name in share if any(again[name].get(key) != outcomes[name].get(key) for key in kept)]
    assert not differing, [(again[name], outcomes[name]) for name in differing]


# contract 3.22
@pytest.mark.dear
@pytest.mark.parametrize("way", ["check", "render"])
def test_definitions_end_in_a_finding_or_are_paid_for(way):
    """What is wrong with a definition is told when the pack is loaded; what is honest costs steps."""
    for name, found in _run_all(way, 0, tuple(take_part(sorted(DEFINITIONS)))).items():
        code, _, _ = DEFINITIONS[name]
        says_what_to_write = code in ("PC0205", "PC0209")  # a message of the manifest's shape
        _check_end({**found, "help": found["help"] or says_what_to_write} if found["code"] else found)
        is_run = code in ("", "PC0430")
        assert found["code"] == ("" if way == "check" and is_run else code), found
        assert way == "check" or code or found["tail"] == "k\n", found
        assert found["seconds"] < 8, found


@pytest.mark.dear
@pytest.mark.parametrize("way", ["check", "render"])
def test_a_pack_with_it_ends(outcomes, share, way):
    """In `check` as in `render`; what is refused when it is loaded is refused by both."""
    for name, found in _run_all(way, 0, share).items():
        _check_end(found)
        if outcomes[name]["outcome"] == "found" and not outcomes[name]["steps"] and outcomes[name]["code"] < "PC0410":
            assert found["code"] == outcomes[name]["code"], name


def test_checking_runs_little(share):
    """Expressions that read nothing, all of them on one small account."""
    steps = {name: found["steps"] for name, found in _run_all("check", 0, share).items() if found.get("steps", 0) > 1_000_000}
    assert not steps
