"""What a state lacks because of an `if` is told with what that asks."""

import json

import pytest

from promptc.diag.findings import PromptcError
from promptc.frontend.state import load_state, load_state_schema

DONE = {"properties": {"status": {"const": "DONE"}}, "required": ["status"]}
LATE = {"properties": {"status": {"enum": ["LATE", 2, None]}}, "required": ["status", "owner"]}


def _find(schema, state):
    loaded = load_state_schema(json.dumps(schema).encode(), "state.schema.json", None)
    with pytest.raises(PromptcError) as met:
        load_state(json.dumps(state).encode(), loaded, "state.json")
    return [(one.code, one.message) for one in met.value.diagnostics]


@pytest.mark.parametrize(
    ("schema", "state", "found"),
    [
        (
            {"if": DONE, "then": {"required": ["at"]}},
            {"status": "DONE"},
            ("PC0303", "the state lacks the key `at`, since `status` is `DONE`"),
        ),
        (
            {"if": DONE, "then": {"properties": {"at": {"minLength": 1}}}},
            {"status": "DONE", "at": ""},
            ("PC0302", "`/at` must have at least 1 character, and has 0, since `status` is `DONE`"),
        ),
        (
            {"if": DONE, "else": {"required": ["due"]}},
            {"status": "OPEN"},
            ("PC0303", "the state lacks the key `due`, since it is not so that `status` is `DONE`"),
        ),
        (
            {"if": LATE, "then": {"required": ["why"]}},
            {"status": 2, "owner": "Joan"},
            ("PC0303", "the state lacks the key `why`, since `status` is `LATE`, 2 or null and `owner` is there"),
        ),
        (
            {"if": {"minProperties": 1}, "then": {"required": ["why"]}},
            {"status": 2},
            ("PC0303", "the state lacks the key `why`, since its schema's `if` holds"),
        ),
        (
            {"if": {"minProperties": 1}, "then": {"if": DONE, "then": {"required": ["at"]}}},
            {"status": "DONE"},
            ("PC0303", "the state lacks the key `at`, since `status` is `DONE`"),
        ),
        ({"required": ["at"]}, {}, ("PC0303", "the state lacks the key `at`")),
    ],
)
def test_the_condition_is_told(schema, state, found):
    assert _find({"type": "object", **schema}, state) == [found]


@pytest.mark.parametrize("state", [{"status": "OPEN"}, {"status": "DONE", "at": "dusk"}, {}])
def test_a_state_that_meets_its_condition(state):
    schema = {"type": "object", "if": DONE, "then": {"required": ["at"]}}
    load_state(json.dumps(state).encode(), load_state_schema(json.dumps(schema).encode(), "state.schema.json", None), "state.json")
