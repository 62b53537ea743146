"""The schemas say what every property is for, with an example that is valid."""

import json

import jsonschema
import pytest
import yaml

from tests.contract.sources import ROOT, list_tracked

SCHEMAS = sorted((ROOT / "schemas").glob("*.schema.json"))


def _iter_properties(schema, pointer=""):
    """Every (pointer, subschema) that stands under `properties` or `patternProperties`."""
    if isinstance(schema, dict):
        for word in ("properties", "patternProperties"):
            if isinstance(schema.get(word), dict) and not pointer.endswith(("/properties", "/examples", "/default")):
                for name, inner in schema[word].items():
                    yield f"{pointer}/{word}/{name}", inner
        for key, inner in schema.items():
            if key not in ("examples", "default", "const", "enum"):
                yield from _iter_properties(inner, f"{pointer}/{key}")
    elif isinstance(schema, list):
        for index, inner in enumerate(schema):
            yield from _iter_properties(inner, f"{pointer}/{index}")


@pytest.fixture(params=SCHEMAS, ids=lambda path: path.name)
def schema(request):
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_the_schemas_are_there():
    assert {"case.schema.json", "pack.schema.json", "report.schema.json"} <= {path.name for path in SCHEMAS}


def test_a_schema_is_valid_and_named(schema):
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] and schema["description"]
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_property_has_a_description_and_examples(schema):
    bare = [
        pointer
        for pointer, inner in _iter_properties(schema)
        if inner is not False and not (inner.get("description") and inner.get("examples"))
    ]
    assert not bare, "\n".join(bare)


def test_every_example_is_valid(schema):
    wrong = []
    for pointer, inner in _iter_properties(schema):
        validator = jsonschema.Draft202012Validator({**inner, "$defs": schema.get("$defs", {})} if isinstance(inner, dict) else inner)
        for example in inner.get("examples", ()) if isinstance(inner, dict) else ():
            wrong += [f"{pointer}: {example!r}: {error.message}" for error in validator.iter_errors(example)]
    assert not wrong, "\n".join(wrong)


# contract 14.1 and 14.3
@pytest.mark.dear
def test_every_case_is_valid():
    schema = json.loads((ROOT / "schemas" / "case.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    cases = [name for name in list_tracked() if name.startswith(("fixtures/", "tests/fixtures/")) and name.endswith("/case.yaml")]
    wrong = []
    for name in cases:
        case = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
        wrong += [f"{name}: {error.json_path}: {error.message}" for error in validator.iter_errors(case)]
    assert not wrong, "\n".join(wrong[:20])
