"""A state is read, checked and filled in; a valid one needs few modules."""

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
from promptc.frontend.state import load_state, load_state_schema
from promptc.model.state import LazyDigest

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = (ROOT / "packs/sentinel/state.schema.json").read_bytes()
STATE = (ROOT / "fixtures/sentinel/base/table.json").read_bytes()
DEAR = (
    "jsonschema", "referencing", "yaml", "jinja2", "typing", "dataclasses", "inspect", "pathlib", "urllib.parse",
    "ipaddress", "fractions", "decimal", "difflib", "hashlib", "json", "promptc.diag.codes",
    "promptc.frontend.shape", "promptc.frontend.schema.pattern",
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
    made = []
    digest = LazyDigest(render=lambda: made.append(1) or b"{}")
    assert digest.find() == digest.find() == LazyDigest(digest.find()).find()
    assert made == [1]
    assert digest._render is None


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
