"""The quick verdict on a value is jsonschema's, and its faults are found exactly where there are any."""

import json
import re
from unittest.mock import patch

import jsonschema
from hypothesis import assume, given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError, Span
from promptc.frontend.json import load_json
from promptc.frontend.schema import check as write_check
from promptc.frontend.schema.check import Verdicts, compile_schema
from promptc.frontend.schema.faults import iter_faults
from promptc.frontend.schema.lint import iter_schemas, lint_schema
from promptc.frontend.schema.runtime import EndlessDefaultError, run_code
from promptc.frontend.state import load_state_schema
from promptc.text.pattern import Pattern, PatternError

PLENTY = 10**6
NAMES = st.sampled_from(["a", "b", "ab", "c"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 4)
    | st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.5, 10**20, 1e20, 2**61 - 1, 10**300, 1e-300])
    | st.sampled_from(["", "a", "ab", "abc", "é", "😀", "a😀", "1", "true", "null", '"'])
    | st.sampled_from(["2026-02-28", "2026-02-31", "18:30:60Z", "23:59:60Z", "2026-02-28T18:30:00.5+01:00", "2026-02-31T18:30:00Z"])
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12)
TYPES = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])
COUNTS = st.integers(0, 3)
REFERENCES = st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/$defs/a/properties/a", "#/items"])


def keywords(inner, *, unevaluated):
    """A schema of some keywords, each with something it may hold."""
    schemas = st.lists(inner, min_size=1, max_size=3)
    by_name = st.dictionaries(NAMES, inner, max_size=3)
    words = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, max_size=4),
        "const": VALUES,
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), st.integers(-2, 3)),
        "multipleOf": st.integers(1, 3),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), COUNTS),
        **dict.fromkeys(("minContains", "maxContains"), COUNTS),
        "pattern": st.sampled_from(["a", "^a", "b$", "^(a|b)*$", "[^a]", "^.{2}$"]),
        "format": st.sampled_from(["date-time", "date", "time", "email"]),
        "uniqueItems": st.booleans(),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), schemas),
        **dict.fromkeys(("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"), inner),
        **dict.fromkeys(("properties", "dependentSchemas"), by_name),
        "patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), inner, max_size=2),
        "$ref": REFERENCES,
        "default": VALUES,
    }
    if unevaluated:
        words |= dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), inner)
        del words["patternProperties"]
    return st.lists(st.sampled_from(sorted(words)), max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({word: words[word] for word in chosen})
    )


def draw_schemas(*, unevaluated):
    parts = st.recursive(st.booleans() | st.just({}), lambda inner: keywords(inner, unevaluated=unevaluated), max_leaves=10)
    return st.builds(
        lambda root, definitions: {**root, "$defs": definitions},
        parts.filter(lambda schema: isinstance(schema, dict)),
        st.fixed_dictionaries({"a": parts, "b": parts}),
    )


ANY_SCHEMA = draw_schemas(unevaluated=True) | draw_schemas(unevaluated=False)


def attempt(schema):
    """The loaded schema and no findings, or None and the findings."""
    try:
        return load_state_schema(json.dumps(schema).encode(), "schema.json", Span("pack.yaml", 1, 1)), ()
    except PromptcError as error:
        return None, error.diagnostics


def compile_check(verdicts):
    """The check of the root, from the bytes that are kept."""
    try:
        code, _ = compile_schema(verdicts)
    except EndlessDefaultError:
        assume(False)
    return run_code(code)[0]


def load(schema):
    """Only what the compiler takes: references that lead somewhere, and no circles."""
    assume(not any(finding.level == "error" for _, finding in lint_schema(schema)))
    return Verdicts(schema)


@given(ANY_SCHEMA, VALUES)
def test_the_verdict_is_that_of_jsonschema(schema, value):
    """Of functions compiled ahead, as a render runs them, and of those made when they are called."""
    verdicts = load(schema)
    expected = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert verdicts.make_check(verdicts.root)(value, [PLENTY]) == expected
    assert compile_check(verdicts)(value, [PLENTY]) == expected


@given(
    ANY_SCHEMA,
    VALUES,
    st.sampled_from([("_FEW", 0), ("_FEW", 1), ("_DEEPEST", 0), ("_DEEPEST", 1), ("_LONGEST_INLINE", 0)]),
)
def test_where_functions_are_parted_changes_no_verdict(schema, value, limit):
    """What is asked for one by one in a small schema is looked up in a large one, and what stands deep is called."""
    verdicts = load(schema)
    expected = jsonschema.Draft202012Validator(schema).is_valid(value)
    with patch.object(write_check, *limit), patch.object(write_check, "_FEW_PLAIN", 1):
        assert compile_check(verdicts)(value, [PLENTY]) == expected


@given(ANY_SCHEMA)
def test_any_schema_says_of_any_of_its_own_values(schema):
    """An enum holds its values, and a default is judged: values that are likely to fit, unlike drawn ones."""
    verdicts = load(schema)
    check = compile_check(verdicts)
    inside = [inner for _, inner in iter_schemas(schema) if isinstance(inner, dict)]
    for value in (value for inner in inside for value in (*inner.get("enum", ()), inner.get("const"), inner.get("default"))):
        assert check(value, [PLENTY]) == jsonschema.Draft202012Validator(schema).is_valid(value)


@given(ANY_SCHEMA, VALUES)
def test_there_are_faults_where_jsonschema_finds_some(schema, value):
    verdicts = load(schema)
    faults = list(iter_faults(verdicts, verdicts.root, value, [PLENTY]))
    assert bool(faults) != jsonschema.Draft202012Validator(schema).is_valid(value)


@given(ANY_SCHEMA, VALUES)
def test_findings_have_places_in_the_state(schema, value):
    load(schema)
    document = load_json(json.dumps(value, indent=1).encode(), "state.json")
    found = load_state_schema(json.dumps(schema).encode(), "schema.json", Span("pack.yaml", 1, 1)).check(document)
    lines = document.source.text.split("\n")
    assert all(1 <= one.span.line <= len(lines) and 1 <= one.span.column <= len(lines[one.span.line - 1]) + 1 for one in found)
    assert bool(found) != jsonschema.Draft202012Validator(schema).is_valid(value)


WORDS = (
    "type enum minimum minLength uniqueItems required dependentRequired allOf not items properties $defs a multipleOf title examples "
    "$vocabulary $comment prefixItems deprecated"
).split()
ODD = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3), max_leaves=12
)


@given(ODD | draw_schemas(unevaluated=True))
def test_a_schema_without_findings_is_one(schema):
    if not any(finding.level == "error" for _, finding in lint_schema(schema)):
        jsonschema.Draft202012Validator.check_schema(schema)


@given(ODD)
def test_any_json_is_a_schema_or_has_findings_with_places(schema):
    _, found = attempt(schema)
    assert all(one.span is not None and one.span.file == "schema.json" for one in found)


@given(draw_schemas(unevaluated=False), st.dictionaries(NAMES, VALUES, max_size=3))
def test_filling_adds_and_never_changes(schema, value):
    load(schema)
    loaded, found = attempt(schema)
    assert [one.code for one in found] == ([] if loaded is not None else ["PC0313"])
    if loaded is not None:
        filled = loaded.fill(value)
        assert _holds(filled, value)
        assert loaded.fill(filled) == filled


def _holds(filled, value):
    if isinstance(value, dict):
        return isinstance(filled, dict) and all(key in filled and _holds(filled[key], inner) for key, inner in value.items())
    if isinstance(value, list):
        return isinstance(filled, list) and len(filled) == len(value) and all(map(_holds, filled, value))
    return type(filled) is type(value) and filled == value


ATOMS = st.sampled_from(["a", "b", "1", ".", "[ab]", "[^a]", r"\d", r"\w", r"\S", "(a|b)", "(?:ab|a)", "(a*)", "(a|)", "^", "$"])
COUNTED = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "{0,}", "*?"])
PIECES = st.builds(str.__add__, ATOMS, COUNTED)
PATTERNS = st.lists(st.lists(PIECES, max_size=5).map("".join), min_size=1, max_size=3).map("|".join)


@given(PATTERNS, st.lists(st.text("ab1 -", max_size=8), max_size=5))
def test_a_pattern_means_what_it_means_to_re(pattern, texts):
    try:
        read = Pattern(pattern)
    except PatternError:
        assume(False)
    expected = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    assert [read.matches(text) for text in texts] == [expected.search(text) is not None for text in texts]
