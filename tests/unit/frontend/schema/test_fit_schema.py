"""What is sent of a schema: for Anthropic what its own SDK would leave as it is, for others without what they refuse; the rest is told."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from promptc.frontend.output import load_provider
from promptc.frontend.schema.fit import fit_schema
from tests.size import count_examples

ANTHROPIC = load_provider("anthropic").schema
GEMINI = load_provider("gemini").schema
OLLAMA = load_provider("ollama").schema


def _leave_to_anthropic(schema: Any) -> Any:
    """What its SDK makes of a schema. Imported here, since it takes long and few processes need it."""
    from anthropic import transform_schema

    return transform_schema(schema)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


# contract 8.14
@pytest.mark.parametrize(
    ("schema", "sent", "left_out"),
    [
        ({"type": "string", "minLength": 1, "maxLength": 9}, {"type": "string"}, ["/minLength", "/maxLength"]),
        ({"type": "string", "format": "date", "pattern": "x"}, {"type": "string", "format": "date"}, ["/pattern"]),
        ({"type": "string", "format": "iri"}, {"type": "string"}, ["/format"]),
        ({"type": "integer", "minimum": 0, "maximum": 9, "multipleOf": 3}, {"type": "integer"}, ["/minimum", "/maximum", "/multipleOf"]),
        ({"type": "array", "minItems": 1, "maxItems": 2}, {"type": "array", "minItems": 1}, ["/maxItems"]),
        ({"type": "array", "minItems": 2, "items": {}}, {"type": "array"}, ["/minItems"]),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, {"type": "array"}, ["/prefixItems", "/items"]),
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, []),
        ({"type": "string", "enum": ["a", 1]}, {"enum": ["a"]}, []),
        ({"enum": [True, 1, None], "const": 1}, {"const": 1}, []),
        ({"type": "array", "enum": [["a"]]}, {"type": "array"}, ["/enum"]),
        ({"type": "string", "default": "x", "examples": ["y"], "title": "T"}, {"type": "string", "title": "T"}, ["/default", "/examples"]),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, ["/oneOf"]),
        ({"allOf": [{"type": "string", "maxLength": 3}]}, {"type": "string"}, ["/allOf/0/maxLength"]),
    ],
)
def test_what_anthropic_is_sent(schema, sent, left_out):
    fitted = fit_schema(schema, ANTHROPIC)
    assert (fitted.schema, list(fitted.left_out), fitted.why) == (sent, left_out, "")


def test_objects_are_closed_and_what_else_they_may_hold_is_told():
    closed = {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False}
    for more in ({}, {"additionalProperties": True}, {"additionalProperties": False}):
        assert fit_schema({**_object(a={"type": "null"}), **more}, ANTHROPIC).schema == closed
        assert fit_schema({**_object(a={"type": "null"}), **more}, ANTHROPIC).left_out == ()
    told = {"additionalProperties": {"type": "string"}, "patternProperties": {"^x": True}, "minProperties": 1}
    fitted = fit_schema({**_object(a={"type": "null"}), **told}, ANTHROPIC)
    assert fitted.schema == closed and fitted.left_out == ("/additionalProperties", "/patternProperties", "/minProperties")


def test_references_stand_under_defs_wherever_they_lead():
    schema = {
        **_object(a={"$ref": "#/definitions/n ame"}, b={"$ref": "#/properties/a"}, c={"$ref": "#anchor", "maxLength": 2}),
        "definitions": {"n ame": {"type": "string", "$anchor": "anchor", "pattern": "x"}, "unused": {"minimum": 1}},
    }
    fitted = fit_schema(schema, ANTHROPIC)
    assert fitted.schema is not None and list(fitted.schema["$defs"]) == ["n_ame", "a"]
    assert fitted.schema["$defs"] == {"n_ame": {"type": "string"}, "a": {"$ref": "#/$defs/n_ame"}}
    assert fitted.left_out == ("/properties/c/maxLength", "/definitions/n ame/pattern")
    assert _leave_to_anthropic(fitted.schema) == fitted.schema


def test_definitions_of_one_name_stay_apart():
    schema = {
        **_object(a={"$ref": "#/$defs/x"}, b={"$ref": "#/definitions/x"}),
        "$defs": {"x": {"const": 1}},
        "definitions": {"x": {"const": 2}},
    }
    assert fit_schema(schema, ANTHROPIC).schema["$defs"] == {"x": {"const": 1}, "x_2": {"const": 2}}


_ITSELF = {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "array", "items": {"$ref": "#/$defs/x"}}}}
_CHAIN = {"$ref": "#/$defs/0", "$defs": {**{str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(3000)}, "3000": {"type": "null"}}}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({}, "it has no `type`"),
        (_object(a={}), "at `/properties/a` it has no `type`"),
        (_object(a=True), "at `/properties/a` any value is allowed there"),
        (_object(a=False), "at `/properties/a` no value is allowed there"),
        (_object(a={"type": "string", "enum": [1]}), "at `/properties/a` no value is allowed there"),
        ({**_object(), "required": ["b"]}, "it requires `b` and does not declare it"),
        (_object(a={"$ref": "#"}), "it refers to itself"),
        (_ITSELF, "at `/$defs/x` it refers to itself"),
        ({"allOf": [{"type": "object"}, {"type": "object"}]}, "it has an `allOf`"),
        (_CHAIN, "more than 50 schemas are nested there"),
    ],
)
def test_what_cannot_be_said_is_not_sent_and_told(schema, why):
    fitted = fit_schema(schema, ANTHROPIC)
    assert fitted.schema is None and why in fitted.why


def test_gemini_is_sent_the_keywords_it_documents():
    schema = {**_object(a={"const": "x"}, b={"$ref": "#/$defs/n", "title": "B"}, c={"type": "string", "maxLength": 3}), "allOf": [{}]}
    schema |= {"$defs": {"n": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9}}}
    fitted = fit_schema(schema, GEMINI)
    assert fitted.schema == {
        **_object(a={"enum": ["x"]}, b={"$ref": "#/$defs/n"}, c={"type": "string"}),
        "$defs": {"n": {"type": "integer", "minimum": 1}},
    }
    assert fitted.left_out == ("/properties/b/title", "/properties/c/maxLength", "/allOf", "/$defs/n/exclusiveMaximum")


@pytest.mark.parametrize(
    ("target", "rest"),
    [
        ("#/definitions/z", {"definitions": {"z": {"type": "string"}}}),
        ("#name", {"definitions": {"z": {"$anchor": "name", "type": "string"}}}),
        ("#/allOf/0", {"allOf": [{"type": "object"}]}),
        ("#/patternProperties/%5Ex", {"patternProperties": {"^x": {"type": "string"}}}),
    ],
)
def test_no_reference_leads_to_what_is_left_out(target, rest):
    sent = fit_schema({"type": "object", "properties": {"a": {"$ref": target}}, **rest}, GEMINI)
    assert sent.schema is None
    assert sent.why == f"at `/properties/a` `$ref` leads to `{target}`, in a keyword that is left out: write that under `$defs`"


def test_servers_of_llama_cpp_are_sent_all_but_patterns():
    schema = _object(pattern={"type": "string", "pattern": "x", "maxLength": 3}, b={"anyOf": [{"pattern": "y"}]})
    for name in ("ollama", "openai-compatible"):
        fitted = fit_schema(schema, load_provider(name).schema)
        assert fitted.schema == _object(pattern={"type": "string", "maxLength": 3}, b={"anyOf": [{}]})
        assert fitted.left_out == ("/properties/pattern/pattern", "/properties/b/anyOf/0/pattern")


def test_openai_takes_a_schema_whole():
    schema = {"$schema": "x", **_object(a={"pattern": "x", "default": 3})}
    for name in ("openai", "openai-responses"):
        assert fit_schema(schema, load_provider(name).schema).schema == schema


_NAMES = st.sampled_from(("a", "b", "type", "x/y"))
_PLAIN = st.sampled_from(("x", "", 0, 1, 2.5, True, None))
_KEYWORDS = {
    "type": st.sampled_from(("string", "integer", "number", "boolean", "null", "array", "object", ["string", "null"], ["array", "object"])),
    "title": st.just("T"),
    "default": _PLAIN,
    "enum": st.lists(_PLAIN, min_size=1, max_size=3),
    "const": _PLAIN,
    "minLength": st.integers(0, 2),
    "maxLength": st.integers(0, 2),
    "minimum": st.integers(0, 2),
    "minItems": st.integers(0, 3),
    "maxItems": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "format": st.sampled_from(("date", "iri")),
    "minProperties": st.integers(0, 2),
    "required": st.lists(_NAMES, max_size=2, unique=True),
    "$ref": st.sampled_from(("#/$defs/a", "#/$defs/b")),
}


def _inner(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    more = {
        "properties": st.dictionaries(_NAMES, inner, max_size=3),
        "items": inner,
        "additionalProperties": inner,
        "not": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=2),
        "allOf": st.lists(inner, min_size=1, max_size=2),
    }
    chosen = st.sets(st.sampled_from(sorted({*_KEYWORDS, *more})), max_size=3)
    return st.booleans() | st.tuples(_KEYWORDS["type"], st.booleans(), chosen).flatmap(lambda drawn: _draw(drawn, {**_KEYWORDS, **more}))


def _draw(drawn: Any, known: Any) -> st.SearchStrategy[Any]:
    type, has_type, chosen = drawn
    fixed = {name: known[name] for name in sorted(chosen)}
    return st.fixed_dictionaries({**fixed, "type": st.just(type)} if has_type else fixed)


_SCHEMAS = st.recursive(st.just({"type": "string"}) | st.just({"type": "integer"}), _inner, max_leaves=6)
_ROOTS = st.tuples(_SCHEMAS, _SCHEMAS, _SCHEMAS).map(
    lambda drawn: {**(drawn[0] if isinstance(drawn[0], dict) else {"type": "object"}), "$defs": {"a": drawn[1], "b": drawn[2]}}
)
_VALUES = st.recursive(_PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=5)


@given(_ROOTS)
def test_the_sdk_of_anthropic_would_move_nothing(schema):
    fitted = fit_schema(schema, ANTHROPIC)
    if fitted.schema is not None:
        assert _leave_to_anthropic(json.loads(json.dumps(fitted.schema))) == fitted.schema


_BARE = {name: known for name, known in _KEYWORDS.items() if name not in ("$ref", "type", "title", "default")}


def _typed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas that can mostly be said to Anthropic: with a type, and at most one other keyword."""
    shapes = (
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(_NAMES, inner, max_size=2)}),
        st.fixed_dictionaries({"type": _KEYWORDS["type"]}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
    )
    more = st.just({}) | st.sampled_from(sorted(_BARE)).flatmap(lambda name: st.fixed_dictionaries({name: _BARE[name]}))
    return st.tuples(st.one_of(shapes), more).map(lambda drawn: {**drawn[1], **drawn[0]})


_SAYABLE = _typed(st.recursive(st.sampled_from(({"type": "string"}, {"type": "integer"}, {"type": "null"})), _typed, max_leaves=3))
_POOL = (
    "",
    "x",
    "xyz",
    0,
    1,
    2.5,
    9,
    True,
    None,
    [],
    [1],
    ["x", "x"],
    ["x", 1, None, 2.5],
    {},
    {"a": 1},
    {"a": "x", "b": 1},
    {"type": None},
)


@settings(max_examples=count_examples(300))
@given(_SAYABLE | _ROOTS, st.lists(_VALUES, max_size=3), st.sampled_from((ANTHROPIC, GEMINI, OLLAMA)))
def test_where_nothing_is_left_out_an_answer_to_what_is_sent_is_an_answer(schema, values, rules):
    fitted = fit_schema(schema, rules)
    if fitted.schema is None or fitted.left_out:
        return
    whole, sent = Draft202012Validator(schema), Draft202012Validator(fitted.schema)
    for value in (*values, *_POOL):
        assert whole.is_valid(value) or not sent.is_valid(value)
