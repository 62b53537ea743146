"""`schemas/pack.schema.json` takes the whole language, explains every key, and is what its tool makes."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from promptc.files.paths import name_shipped
from promptc.frontend.schema.lint import iter_schemas, lint_schema
from promptc.frontend.shape import check_pack_shape
from promptc.frontend.yaml import load_yaml
from tests.unit.frontend.manifests import EXTENDING, LEAST, WHOLE

SCHEMA = json.loads(name_shipped("schemas", "pack.schema.json").read_text(encoding="utf-8"))
ROOT = Path(__file__).resolve().parents[3]


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert lint_schema(SCHEMA) == []


def test_every_key_is_described_with_examples_that_are_valid():
    for pointer, schema in iter_schemas(SCHEMA):
        for name, inner in schema.get("properties", {}).items() if isinstance(schema, dict) else ():
            assert inner.get("description", "").endswith("."), f"{pointer}/properties/{name}"
            assert inner.get("examples"), f"{pointer}/properties/{name}"
            validator = jsonschema.Draft202012Validator({**inner, "$defs": SCHEMA["$defs"]})
            assert [example for example in inner["examples"] if not validator.is_valid(example)] == [], f"{pointer}/properties/{name}"
            if "default" in inner:
                assert validator.is_valid(inner["default"]), f"{pointer}/properties/{name}"


def test_every_mapping_is_closed_or_says_what_its_values_are():
    for pointer, schema in iter_schemas(SCHEMA):
        if isinstance(schema, dict) and schema.get("type") == "object" and pointer not in ("/if", *FREE):
            assert "additionalProperties" in schema, pointer


FREE = ("/$defs/index/properties/defaults", "/$defs/operation/properties/args", *(
    f"/$defs/{name}_part/properties/{key}/anyOf/0" for name, key in (("index", "defaults"), ("operation", "args"))
))  # fmt: skip


def test_every_definition_is_used():
    text = json.dumps(SCHEMA)
    assert [name for name in SCHEMA["$defs"] if f'"#/$defs/{name}"' not in text] == []


def test_what_is_made_is_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_pack_schema.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("manifest", [LEAST, WHOLE, EXTENDING], ids=["least", "whole", "extending"])
def test_the_language_is_taken(manifest):
    node = load_yaml(manifest.encode(), "pack.yaml", Path())
    assert check_pack_shape(node) == []
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(node.plain())


def test_the_whole_manifest_uses_every_key():
    used = set()
    _collect(load_yaml(WHOLE.encode(), "x", Path()).plain(), used)
    known = {name for _, schema in iter_schemas(SCHEMA) if isinstance(schema, dict) for name in schema.get("properties", {})}
    assert known - used == {"extends"}


def _collect(value, used):
    if isinstance(value, dict):
        used.update(value)
        for inner in value.values():
            _collect(inner, used)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, used)
