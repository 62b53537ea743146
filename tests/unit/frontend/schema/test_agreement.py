"""The checks of the project's own schemas say what jsonschema says, of its values, whole and spoilt; what is wrong has faults."""

import copy
import json
from collections.abc import Iterator
from random import Random

import jsonschema
import pytest
import yaml

from promptc.frontend.schema.check import Verdicts
from promptc.frontend.schema.faults import iter_faults
from tests.contract.sources import ROOT

PLENTY = 10**6
SPOILT = 25
ODD = (None, True, 0, -1, 1.5, "", "x", [], {}, [1], {"a": 1}, ["x", "x"])
PACKS = sorted((ROOT / "packs").glob("*/pack.yaml"))
STATES = [
    (pack.parent / "state.schema.json", state)
    for pack in PACKS
    for state in sorted((ROOT / "fixtures" / pack.parent.name).glob("*/*.json"))[:3]
]


def list_places(value, path=()) -> Iterator[tuple]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in members:
        yield (*path, step)
        yield from list_places(inner, (*path, step))


def spoil(value, random):
    """A copy with one place taken out, renamed, or set to something else."""
    value = copy.deepcopy(value)
    places = list(list_places(value))
    if not places:
        return {"extra": random.choice(ODD)}
    *path, last = random.choice(places)
    around = value
    for step in path:
        around = around[step]
    match random.randrange(3):
        case 0:
            del around[last]
        case 1 if isinstance(around, dict):
            around[f"{last}q"] = around.pop(last)
        case _:
            around[last] = random.choice(ODD)
    return value


def judge(schema, value):
    verdicts = Verdicts(schema)
    theirs = jsonschema.Draft202012Validator(schema)
    random = Random(1)
    for each in (value, *(spoil(value, random) for _ in range(SPOILT))):
        expected = theirs.is_valid(each)
        assert verdicts.make_check(schema)(each, [PLENTY]) is expected
        assert bool(list(iter_faults(verdicts, schema, each, [PLENTY]))) is not expected


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.parent.name)
def test_of_manifests(pack):
    judge(json.loads((ROOT / "schemas/pack.schema.json").read_bytes()), yaml.safe_load(pack.read_bytes()))


@pytest.mark.parametrize(("schema", "state"), STATES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_of_states(schema, state):
    judge(json.loads(schema.read_bytes()), json.loads(state.read_bytes()))
