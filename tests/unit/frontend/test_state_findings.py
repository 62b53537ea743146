"""A state's schema is checked before it judges, and says of a state what is wrong and where."""

import hashlib
import json
import marshal
import pickle
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import pytest

from promptc.diag.findings import PromptcError, Span
from promptc.frontend.json import load_json
from promptc.frontend.schema.check import Verdicts
from promptc.frontend.schema.faults import STATE_WORDS, SchemaFault, describe_state
from promptc.frontend.state import load_state, load_state_schema
from promptc.model.state import LazyDigest

SPAN = Span("pack.yaml", 6, 18)


def load(schema):
    raw = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    return load_state_schema(raw, "state.schema.json", SPAN)


def refused(schema):
    with pytest.raises(PromptcError) as caught:
        load(schema)
    return [(found.code, found.span.column) for found in caught.value.diagnostics]


def check(schema, state):
    raw = state if isinstance(state, bytes) else json.dumps(state).encode()
    return load(schema).check(load_json(raw, "state.json"))


def messages(schema, state):
    return [found.message for found in check(schema, state)]


@pytest.mark.parametrize(
    ("schema", "code", "column"),
    [
        (b"3", "PC0310", 1),
        (b'{"type": "obj"}', "PC0310", 2),
        (b'{"type": []}', "PC0310", 2),
        (b'{"required": true}', "PC0310", 2),
        (b'{"required": ["a", "a"]}', "PC0310", 2),
        (b'{"items": [{}]}', "PC0310", 2),
        (b'{"allOf": []}', "PC0310", 2),
        (b'{"allOf": [{}, 3]}', "PC0310", 16),
        (b'{"properties": {"a": {"minLength": -1}}}', "PC0310", 23),
        (b'{"properties": {"a": "text"}}', "PC0310", 17),
        (b'{"properties": []}', "PC0310", 2),
        (b'{"multipleOf": 0}', "PC0310", 2),
        (b'{"enum": "a"}', "PC0310", 2),
        (b'{"dependentRequired": {"a": "b"}}', "PC0310", 2),
        (b'{"$ref": "http://127.1/s.json"}', "PC0312", 2),
        (b'{"$ref": "file:/etc/hostname"}', "PC0312", 2),
        (b'{"$ref": "other.json#/a"}', "PC0312", 2),
        (b'{"$ref": "#/$defs/b", "$defs": {"a": {}}}', "PC0312", 2),
        (b'{"$ref": "#/properties", "properties": {}}', "PC0312", 2),
        (b'{"$ref": "#"}', "PC0313", 1),
        (b'{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}', "PC0313", 12),
        (b'{"properties": {"a": {"$ref": "#", "default": {}}}}', "PC0313", 1),
        (b'{"pattern": "^(?=a)"}', "PC0314", 2),
        (b'{"patternProperties": {"(": {}}}', "PC0314", 24),
        (b'{"$schema": "http://json-schema.org/draft-07/schema#"}', "PC0316", 2),
        (b'{"$defs": {"a": {"$id": "x"}}}', "PC0316", 18),
        (b'{"patternProperties": {"a": {}}, "unevaluatedProperties": false}', "PC0316", 34),
        (b'{"type": 1, "type": 2}', "PC0106", 13),
        (b'{"type": ', "PC0130", 10),
    ],
)
def test_a_wrong_schema_is_refused_at_its_own_place(schema, code, column):
    assert refused(schema) == [(code, column)]


@pytest.mark.parametrize(
    ("schema", "help"),
    [
        (b'{"type": "objekt"}', "did you mean `object`?"),
        (b'{"type": ["null", "Int"]}', "did you mean `integer`?"),
        (b'{"type": "qqq"}', ""),
        (b'{"type": 3}', ""),
    ],
)
def test_a_misspelt_kind_has_the_near_one(schema, help):
    with pytest.raises(PromptcError) as caught:
        load(schema)
    assert [found.help for found in caught.value.diagnostics] == [help]


def test_a_schema_that_doubles_itself_is_refused_fast():
    doubling = {f"d{place}": {"allOf": [{"$ref": f"#/$defs/d{place + 1}"}] * 2} for place in range(30)}
    assert [code for code, _ in refused({"$ref": "#/$defs/d0", "$defs": {**doubling, "d30": {}}})] == ["PC0313"]


def test_all_findings_of_a_schema_come_at_once():
    assert refused(b'{"type": "obj", "minLength": "3", "pattern": "("}') == [("PC0310", 2), ("PC0310", 17), ("PC0314", 35)]


def test_what_is_doubtful_in_a_schema_is_a_warning():
    schema = load({"requird": ["a"], "x-mine": 1, "nullable": True, "properties": {"a": {"type": "string", "default": 3}}})
    found = [(warning.code, warning.level, warning.help) for warning in schema.warnings]
    assert found == [
        ("PC0311", "warn", 'in 2020-12 a type may be a list: `["string", "null"]`'),
        ("PC0311", "warn", "did you mean `required`?"),
        ("PC0317", "warn", "write a default that its schema allows"),
    ]


def test_references_inside_the_file_are_followed():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:x",
        "properties": {"a": {"$ref": "#/$defs/a~1b%20c"}, "b": {"$ref": "#anchor"}, "c": {"$ref": "#"}, "d": {"$dynamicRef": "#anchor"}},
        "$defs": {"a/b c": {"type": "string"}, "x": {"$anchor": "anchor", "type": "integer"}},
    }
    assert messages(schema, {"a": "x", "b": 1, "c": {"b": 2}, "d": 3}) == []
    assert messages(schema, {"a": 1, "b": "x", "c": {"b": "x"}, "d": "x"}) == [
        "`/a` must be a string, not 1",
        "`/b` must be a whole number, not `x`",
        "`/c/b` must be a whole number, not `x`",
        "`/d` must be a whole number, not `x`",
    ]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, True, "`/a` must be a whole number, not true"),
        ({"type": "integer"}, 1.5, "`/a` must be a whole number, not 1.5"),
        ({"type": ["object", "null"]}, [1], "`/a` must be an object or null, not a list"),
        ({"enum": ["scene", "action"]}, "sceen", "`/a` must be `scene` or `action`, not `sceen`"),
        ({"const": 1}, 999, "`/a` must be 1, not 999"),
        ({"pattern": "^[a-z]+$"}, "A", "`/a` must match the pattern `^[a-z]+$`, not `A`"),
        ({"minLength": 2}, "x", "`/a` must have at least 2 characters, and has 1"),
        ({"maxItems": 1}, [1, 2], "`/a` must have at most 1 element, and has 2"),
        ({"minProperties": 1}, {}, "`/a` must have at least 1 key, and has 0"),
        ({"minimum": 3}, 2, "`/a` must be at least 3, not 2"),
        ({"exclusiveMaximum": 3}, 3, "`/a` must be less than 3, not 3"),
        ({"multipleOf": 0.1}, 0.25, "`/a` must be a multiple of 0.1, not 0.25"),
        ({"uniqueItems": True}, [1, 1.0], "`/a` has two equal elements"),
        ({"contains": {"type": "string"}}, [1], "`/a` must have at least 1 element of the kind its schema names"),
        ({"required": ["b"]}, {}, "`/a` is missing the key `b`"),
        ({"dependentRequired": {"b": ["c"]}}, {"b": 1}, "`/a` has the key `b`, but is missing `c`, which it needs"),
        ({"properties": {"name": {}}, "additionalProperties": False}, {"nmae": 1}, "`/a` has the unknown key `nmae`"),
        ({"unevaluatedProperties": False}, {"x": 1}, "`/a` has keys that its schema does not declare"),
        ({"propertyNames": {"maxLength": 1}}, {"long": 1}, "the key `long` must have at most 1 character, and has 4"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 3, "`/a` must be a string or null, not 3"),
        ({"anyOf": [{"const": 1}, {"minimum": 5}]}, 3, "`/a` must be at least 5, not 3"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 3, "`/a` fits more than one of the forms of which it may fit one"),
        ({"not": {"type": "null"}}, None, "`/a` is what its schema rules out"),
        ({"if": {"minimum": 2}, "then": {"maximum": 3}}, 4, "`/a` must be at most 3, not 4, since its schema's `if` holds"),
        ({"items": {"type": "string"}}, ["x", 1], "`/a/1` must be a string, not 1"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "`/a/1` is not allowed here"),
        ({"items": {"type": "object", "required": ["k"]}}, [{"k": 1}, {}], "`/a/1` is missing the key `k`"),
        (False, 1, "`/a` is not allowed here"),
    ],
)
def test_what_is_wrong_is_said_in_terms_of_what_is_due(schema, value, message):
    assert messages({"properties": {"a": schema}}, {"a": value}) == [message]


def test_of_several_alternatives_the_nearest_is_spoken_of():
    text = {"type": "object", "required": ["type", "text"], "properties": {"type": {"const": "text"}, "text": {"type": "string"}}}
    tool = {"type": "object", "required": ["type", "name", "id"], "properties": {"type": {"const": "tool"}}}
    assert messages({"properties": {"a": {"anyOf": [text, tool]}}}, {"a": {"type": "text", "text": 3}}) == [
        "`/a/text` must be a string, not 3"
    ]


def test_a_finding_has_the_place_of_its_value():
    state = b'{\n  "turn": 1,\n  "palyer": {"name": 3}\n}\n'
    schema = {"properties": {"player": {}, "turn": {"type": "string"}}, "additionalProperties": False}
    found = check(schema, state)
    assert [(one.code, one.span.line, one.span.column, one.help) for one in found] == [
        ("PC0302", 2, 11, 'write it in quotes: `"1"`'),
        ("PC0304", 3, 3, "did you mean `player`?"),
    ]


def test_at_most_fifty_findings_and_how_many_more():
    schema = {"properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    found = check(schema, {"a": list(range(70))})
    assert len(found) == 51
    assert (found[-1].code, found[-1].level, found[-1].message) == ("PC0305", "note", "20 more findings in this state are not shown")
    assert check(schema, {"a": list(range(5000))})[-1].message == "at least 1000 more findings in this state are not shown"
    assert len(check(schema, {"a": list(range(50))})) == 50


# contract 3.9
def test_formats_other_than_of_time_are_annotations():
    assert check({"properties": {"a": {"format": "email"}}}, {"a": "no address"}) == []
    assert [one.code for one in check({"properties": {"a": {"format": "date"}}}, {"a": "no date"})] == ["PC0302"]


def test_multiples_are_those_of_the_decimals():
    assert check({"properties": {"a": {"items": {"multipleOf": 0.1}}}}, {"a": [0.3, 0.7, 1.1, 10**300]}) == []


def test_a_message_shows_a_part_of_a_long_schema():
    for schema in (
        {"enum": list(range(100_000))},
        {"pattern": "^(?:b|" + "c" * 900 + ")" + "d" * 50},
        {"title": "a" * 100_000, "type": "array"},
    ):
        (found,) = check({"properties": {"a": schema}}, {"a": "x"})
        assert len(found.message) < 1_500
    (found,) = check({"enum": list(range(103))}, {})
    assert found.message.endswith("97, 98, 99 or one of 3 others, not an object without keys")


def test_alternatives_that_double_with_every_level_are_stopped():
    node = {"anyOf": [{"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": [key]} for key in ("x", "y")]}
    deep = ('{"a":' * 90 + "1" + "}" * 90).encode()
    assert [found.code for found in check({"$ref": "#/$defs/n", "$defs": {"n": node}}, deep)] == ["PC0315"]


def test_nothing_is_fetched(monkeypatch):
    import socket

    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert refused({"properties": {"a": {"$ref": "http://localhost/x"}}}) == [("PC0312", 23)]
    assert messages({"$id": "http://localhost/x", "$ref": "#/$defs/a", "$defs": {"a": {"required": ["b"]}}}, {}) == [
        "the state is missing the key `b`"
    ]


def test_one_wrong_block_among_many_is_found():
    schema = {
        "properties": {"t": {"items": {"$ref": "#/$defs/b"}}},
        "$defs": {"b": {"required": ["id"], "properties": {"id": {"type": "integer"}}}},
    }
    blocks = [{"id": place} for place in range(20_000)]
    blocks[777] = {"id": "x"}
    (found,) = check(schema, {"t": blocks})
    assert found.message == "`/t/777/id` must be a whole number, not `x`"


def test_names_of_any_length_are_shortened():
    schema = {"additionalProperties": {"additionalProperties": False}}
    (found,) = check(schema, {"k" * 5000: {"x" * 5000: 1}})
    assert len(found.message) < 400


def test_what_is_valid_needs_no_jsonschema():
    """Start-up: a valid pack and state are told without importing it."""
    script = (
        "import sys; from pathlib import Path; from promptc.diag.findings import Span; from promptc.frontend.json import load_json; "
        "from promptc.frontend.state import load_state_schema; from promptc.frontend.shape import check_pack_shape; "
        "from promptc.frontend.yaml import load_yaml; "
        "from tests.unit.frontend.manifests import WHOLE; assert not check_pack_shape(load_yaml(WHOLE.encode(), 'p', Path())); "
        """schema = load_state_schema(b'{"properties": {"a": {"default": 1}}}', 's', Span('p', 1, 1)); """
        "state = load_json(b'{}', 'state'); assert not schema.check(state) and schema.fill(state.value) == {'a': 1}; "
        "assert not {'jsonschema', 'referencing'} & set(sys.modules)"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=root, env={"PYTHONPATH": f"{root / 'compiler'}"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# --- A state is read, checked and filled in; a valid one needs few modules ---
ROOT = Path(__file__).resolve().parents[3]
SCHEMA = (ROOT / "packs/sentinel/state.schema.json").read_bytes()
STATE = (ROOT / "fixtures/sentinel/base/table.json").read_bytes()
DEAR = (
    "jsonschema", "referencing", "yaml", "jinja2", "typing", "dataclasses", "inspect", "pathlib", "urllib.parse",
    "ipaddress", "fractions", "decimal", "difflib", "hashlib", "json", "promptc.diag.codes",
    "promptc.frontend.shape", "promptc.text.pattern",
)  # fmt: skip
"""What is for finding out what is wrong, or costs a start more than it is worth."""
_LOAD = """
import marshal, sys
before = set(sys.modules)
from promptc.frontend.state import load_state
from promptc.frontend.state import StateSchema
code = open(sys.argv[1], "rb").read()
state = load_state(open(sys.argv[2], "rb").read(), StateSchema(None, (), code), "state.json")
print(state.digest, *sorted(set(sys.modules) - before))
"""


def load_schema(raw=SCHEMA):
    return load_state_schema(raw, "state.schema.json", Span("pack.yaml", 1, 1))


def test_a_valid_state_needs_only_the_code_made_of_its_schema(tmp_path):
    """What a render from a warm cache does: no schema, no parser of schemas, no positions, no diagnostics."""
    schema = load_schema()
    (tmp_path / "code").write_bytes(schema.code)
    (tmp_path / "state.json").write_bytes(STATE)
    command = [sys.executable, "-S", "-c", _LOAD, str(tmp_path / "code"), str(tmp_path / "state.json")]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT / "compiler")}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    digest, *modules = done.stdout.split()
    assert digest == load_state(STATE, schema, "state.json").digest
    assert "promptc.frontend.schema.runtime" in modules
    assert not [name for name in DEAR if name in modules]


def test_the_code_of_a_schema_is_all_that_is_kept():
    schema = load_schema()
    again = type(schema)(*marshal.loads(marshal.dumps((schema.schema, (), schema.code))))
    state = load_state(STATE, schema, "state.json")
    assert load_state(STATE, again, "state.json").value == state.value
    wrong = json.dumps({**json.loads(STATE), "input": 3}).encode()
    with pytest.raises(PromptcError) as caught:
        load_state(wrong, again, "state.json")
    assert [found.message for found in caught.value.diagnostics] == ["`/input` must be a string, not 3"]


def test_the_same_schema_gives_the_same_code():
    assert load_schema().code == load_schema().code


def test_a_schema_may_be_pickled():
    schema = load_schema()
    again = pickle.loads(pickle.dumps(schema))
    assert (again.schema, again.warnings, again.code) == (schema.schema, schema.warnings, schema.code)
    assert load_state(STATE, again, "state.json").value == load_state(STATE, schema, "state.json").value


@pytest.mark.parametrize("changes", [(), (("/pressure", "0.5"),)])
def test_a_state_may_be_pickled(changes):
    state = load_state(b'{"b": [1.0, -0.0], "a": "x"}', None, "state.json", changes)
    again = pickle.loads(pickle.dumps(state))
    assert (again.value, again.digest, again.name) == (state.value, state.digest, state.name)
    canonical = json.dumps({"b": [1, 0], "a": "x", **({"pressure": 0.5} if changes else {})}, sort_keys=True, separators=(",", ":"))
    assert state.digest == f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def test_what_a_digest_is_taken_of_is_let_go():
    digest = LazyDigest(value={})
    assert digest.find() == digest.find() == LazyDigest(digest.find()).find() == f"sha256:{hashlib.sha256(b'{}').hexdigest()}"
    assert digest._value is None


def test_what_defaults_add_is_bounded(monkeypatch):
    monkeypatch.setattr("promptc.frontend.state.MAX_FILLED", 5)
    schema = load_schema(b'{"properties": {"a": {"items": {"properties": {"x": {}, "y": {}}}}}}')
    assert load_state(b'{"a": [{}, {}]}', schema, "state.json").value == {"a": [{"x": None, "y": None}] * 2}
    with pytest.raises(PromptcError) as caught:
        load_state(b'{"a": [{}, {}, {}]}', schema, "state.json")
    assert [found.code for found in caught.value.diagnostics] == ["PC0315"]


@pytest.mark.parametrize(
    "given",
    [
        {}, {"b": 1, "a": {"z": [], "B": None}}, {"é": "\u2028", "\uffff": 1, "😀": 2}, {10: 1, 9: 2}, {1: 1}, {None: 1},
        {"a": {True: 1.0, 2: -0.0}},
        {"a": (1, (2,))}, {"a": ":", ":": "\\u0000"}, {"a": 10**308}, {"a": "7" * 400}, {"a": 1e308},
        {1: 1, "1": 2}, {"a": float("nan")}, {"a": 10**309}, {"a": "\ud800"}, {"a": "x\0"}, {"\0": 1}, [1], {"input": 3},
    ],
)  # fmt: skip
def test_plain_data_is_read_as_its_json_text(given):
    """However it is read: valid data has a shorter way."""
    schema = load_schema(b'{"properties": {"input": {"type": "string", "default": ""}}}')

    def attempt(state):
        try:
            loaded = load_state(state, schema, "state.json")
        except PromptcError as error:
            return error.diagnostics
        return repr(loaded.value), loaded.digest, loaded.name

    assert attempt(given) == attempt(json.dumps(given).encode())


@pytest.mark.parametrize("given", [{"a": {1}}, {"a": b""}, {(1, 2): 1}, {"a": MappingProxyType({})}, MappingProxyType({})])
def test_what_is_no_json_is_refused(given):
    with pytest.raises(PromptcError) as caught:
        load_state(given, None, "state.json")
    assert [found.code for found in caught.value.diagnostics] == ["PC0391"]


# --- What a state lacks because of an `if` is told with what that asks ---
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
            ("PC0303", "the state is missing the key `at`, since `status` is `DONE`"),
        ),
        (
            {"if": DONE, "then": {"properties": {"at": {"minLength": 1}}}},
            {"status": "DONE", "at": ""},
            ("PC0302", "`/at` must have at least 1 character, and has 0, since `status` is `DONE`"),
        ),
        (
            {"if": DONE, "else": {"required": ["due"]}},
            {"status": "OPEN"},
            ("PC0303", "the state is missing the key `due`, since this does not hold: `status` is `DONE`"),
        ),
        (
            {"if": LATE, "then": {"required": ["why"]}},
            {"status": 2, "owner": "Joan"},
            ("PC0303", "the state is missing the key `why`, since `status` is `LATE`, 2 or null and `owner` is there"),
        ),
        (
            {"if": {"minProperties": 1}, "then": {"required": ["why"]}},
            {"status": 2},
            ("PC0303", "the state is missing the key `why`, since its schema's `if` holds"),
        ),
        (
            {"if": {"minProperties": 1}, "then": {"if": DONE, "then": {"required": ["at"]}}},
            {"status": "DONE"},
            ("PC0303", "the state is missing the key `at`, since `status` is `DONE`"),
        ),
        ({"required": ["at"]}, {}, ("PC0303", "the state is missing the key `at`")),
    ],
)
def test_the_condition_is_told(schema, state, found):
    assert _find({"type": "object", **schema}, state) == [found]


@pytest.mark.parametrize("state", [{"status": "OPEN"}, {"status": "DONE", "at": "dusk"}, {}])
def test_a_state_that_meets_its_condition(state):
    schema = {"type": "object", "if": DONE, "then": {"required": ["at"]}}
    load_state(json.dumps(state).encode(), load_state_schema(json.dumps(schema).encode(), "state.schema.json", None), "state.json")


@pytest.mark.parametrize(
    ("schema", "help"),
    [
        ('{"required": "a"}', 'write a list: `"required": ["a"]`'),
        ('{"properties": {"a": {"required": true}}}', "name the property in the `required` of the object around it"),
        ('{"properties": {"a": {"maxLength": "200"}}}', 'write it without quotes: `"maxLength": 200`'),
        ('{"properties": {"a": {"enum": "inn"}}}', 'write a list: `"enum": ["inn"]`'),
        ('{"properties": {"a": "string"}}', 'write `{"type": "string"}`'),
        ('{"properties": {"a": {"$ref": "#/$defs/a"}}}', "write the schema under `$defs` of this file"),
        ('{"properties": {"a": {"pattern": "[a-"}}}', "correct the pattern"),
        ('{"properties": {"a": {"pattern": "(?=a)"}}}', "write it without look-around"),
    ],
)
def test_what_to_write_in_a_schema(schema, help):
    with pytest.raises(PromptcError) as caught:
        load_state_schema(schema.encode(), "s.json", Span("pack.yaml", 1, 1))
    (found,) = caught.value.diagnostics
    assert found.help.startswith(help)


def test_a_required_name_that_the_schema_forbids_is_a_warning():
    schema = b'{"properties": {"input": {}}, "required": ["inputt"], "additionalProperties": false}'
    (found,) = load_state_schema(schema, "s.json", Span("pack.yaml", 1, 1)).warnings
    assert (found.code, found.level) == ("PC0289", "warn") and found.help.startswith("did you mean `input`?")


@pytest.mark.parametrize(
    ("schema", "value", "help"),
    [
        ("integer", '"3"', "write it without quotes: `3`"),
        ("boolean", '"true"', "write it without quotes: `true`"),
        ("integer", "3.5", "write a number without a fraction"),
        ("string", "5", 'write it in quotes: `"5"`'),
        ("string", "null", 'write a value, or allow null in the schema: `"type": ["string", "null"]`'),
        ("object", '""', ""),
    ],
)
def test_what_to_write_in_a_state(schema, value, help):
    loaded = load_state_schema(f'{{"properties": {{"a": {{"type": "{schema}"}}}}}}'.encode(), "s.json", Span("pack.yaml", 1, 1))
    (found,) = describe_state(Verdicts(loaded.schema), load_json(f'{{"a": {value}}}'.encode(), "state.json"), 10**6)
    assert found.code == "PC0302" and found.help.startswith(help) and bool(found.help) == bool(help)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"minLength": 5, "maxLength": 4}, "`minLength` is 5 and `maxLength` is 4: no string is both"),
        ({"minItems": 1, "maxItems": 0}, "`minItems` is 1 and `maxItems` is 0: no list is both"),
        ({"minimum": 0.5, "maximum": 0}, "`minimum` is 0.5 and `maximum` is 0: no number is both"),
        ({"minProperties": 3, "maxProperties": 2}, "`minProperties` is 3 and `maxProperties` is 2: no object is both"),
        ({"exclusiveMinimum": 2, "exclusiveMaximum": 2}, "`exclusiveMinimum` is 2 and `exclusiveMaximum` is 2: no number is both"),
        ({"minimum": 3, "exclusiveMaximum": 3}, "`minimum` is 3 and `exclusiveMaximum` is 3: no number is both"),
        ({"exclusiveMinimum": 3, "maximum": 3}, "`exclusiveMinimum` is 3 and `maximum` is 3: no number is both"),
        ({"enum": []}, "`enum` is empty, so no value is valid"),
        ({"type": "string", "enum": [1, None]}, "`type` allows no value of `enum`"),
        ({"type": ["integer", "null"], "enum": [1.5, "1", True]}, "`type` allows no value of `enum`"),
        ({"type": "string", "const": 3}, "`type` does not allow `const`, which is 3"),
        ({"enum": ["a", "b"], "const": "c"}, "`enum` does not contain `const`, which is `c`"),
        ({"required": ["a", "b"], "maxProperties": 1}, "`required` has 2 names and `maxProperties` is 1: no object is both"),
        (
            {"minItems": 3, "uniqueItems": True, "items": {"enum": ["a", "b", "b"]}},
            "`minItems` is 3, and `items` allows 2 different values: no list is both, as `uniqueItems` forbids repeats",
        ),
        ({"minimum": 3, "maximum": 3}, None),
        ({"minimum": 2, "exclusiveMaximum": 3}, None),
        ({"type": "string", "enum": ["a", None]}, None),
        ({"type": ["number", "boolean"], "enum": [True]}, None),
        ({"type": "integer", "const": 3.0}, None),
        ({"const": 1, "enum": [1.0]}, None),
        ({"required": ["a", "b"], "maxProperties": 2}, None),
        ({"minItems": 2, "uniqueItems": True, "items": {"enum": ["a", "b"]}}, None),
        ({"minItems": 3, "items": {"enum": ["a", "b"]}}, None),
        ({"minItems": 3, "uniqueItems": True, "prefixItems": [{}], "items": {"enum": ["a", "b"]}}, None),
        ({"minLength": 4, "maxLength": 4}, None),
        ({"minLength": 4, "maxItems": 3}, None),
        ({"minItems": 4}, None),
    ],
)
def test_limits_that_no_value_can_meet_are_a_warning(limits, message):
    raw = json.dumps({"type": "object", "properties": {"a": limits}}).encode()
    found = load_state_schema(raw, "s.json", SPAN).warnings
    assert [one.message for one in found] == ([message] if message else [])
    assert all((one.code, one.level) == ("PC0289", "warn") and one.help and one.span.line == 1 for one in found)


@pytest.mark.parametrize(
    ("keyword", "wanted", "value", "says"),
    [
        ("enum", [[1], [2]], [-1], "must be `[1]` or `[2]`, not `[-1]`"),
        ("enum", [{"a": 1}], {"a": 2}, 'must be `{"a": 1}`, not `{"a": 2}`'),
        ("const", [1, 2], [2, 1], "must be `[1, 2]`, not `[2, 1]`"),
        ("enum", ["a", None], [], "must be `a` or null, not an empty list"),
    ],
)
def test_a_list_beside_lists_is_shown_whole(keyword, wanted, value, says):
    assert (
        STATE_WORDS.describe(SchemaFault(keyword=keyword, wanted=wanted, value=value, schema={keyword: wanted}, path=(), branches=()))
        == says
    )
