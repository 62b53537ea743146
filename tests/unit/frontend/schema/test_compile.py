"""The check and the fill that are written from a schema, where Python's own ideas of values differ from JSON's."""

import sys
import threading

import jsonschema
import pytest

from promptc.frontend.schema import check as module
from promptc.frontend.schema.check import Verdicts, compile_schema, make_functions
from promptc.frontend.schema.runtime import Check, EndlessDefaultError, FuelError, is_multiple, run_code, spell


def check(schema, value, fuel=1000):
    """By the code that is kept, and by functions made when they are called; jsonschema agrees."""
    code, _ = compile_schema(Verdicts(schema))
    kept, made = run_code(code)[0], make_functions(Verdicts(schema))[0]
    verdict = kept(value, [fuel])
    assert verdict is made(value, [fuel]) is jsonschema.Draft202012Validator(schema).is_valid(value)
    return verdict


MANY = {f"k{place}": {"type": "integer"} for place in range(100)}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"type": "integer"}, [1, 1.0, -0.0, 10**300], [True, 1.5, "1", None]),
        ({"type": "number"}, [1, 1.5], [True, "1"]),
        ({"type": "boolean"}, [True, False], [0, 1]),
        ({"type": ["integer", "null"]}, [None, 2.0], [False, 2.5]),
        ({"enum": [1]}, [1, 1.0], [True, "1", [1]]),
        ({"enum": [0, "x", None]}, [0, -0.0, "x", None], [False, "0", "", {}]),
        ({"enum": [True]}, [True], [1, 1.0, "true"]),
        ({"enum": []}, [], [None, [], ""]),
        ({"enum": [*range(40), "a"]}, [7, 7.0, "a"], [True, 40, "7"]),
        ({"enum": [[1, {"a": 1.0}], {"b": []}]}, [[1.0, {"a": 1}], {"b": []}], [[True, {"a": 1}], {"b": {}}, [], '{"b":[]}']),
        ({"const": {"a": [False]}}, [{"a": [False]}], [{"a": [0]}, {}]),
        ({"const": 10**20}, [10**20, 1e20], [10**20 + 1]),
        ({"uniqueItems": True}, [[1, True, "1", [1], [True]], [{"a": 1}, {"a": 2}]], [[1, 1.0], [{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]]),
        ({"maxLength": 1}, ["😀", ""], ["e\u0301", "ab"]),
        ({"minLength": 2}, ["e\u0301", 3], ["😀"]),
        ({"minimum": 10**300}, [10**300, 1e308, "x", True], [10**300 - 1]),
        ({"properties": MANY, "additionalProperties": False}, [{}, {"k7": 1, "k99": 2.0}], [{"k7": "x"}, {"k100": 1}]),
        ({"properties": MANY, "additionalProperties": {"type": "string"}}, [{"k7": 1, "x": "y"}], [{"x": 1}]),
        ({"properties": MANY, "patternProperties": {"^k": {"minimum": 1}}}, [{"k7": 1, "x": 0}], [{"k7": 0}, {"k200": 0}]),
        ({"prefixItems": [{"type": "integer"}] * 40, "items": False}, [[], [1] * 40], [[1] * 41, [1] * 39 + ["x"]]),
        ({"required": sorted(MANY)}, [dict.fromkeys(MANY), []], [{}, dict.fromkeys(list(MANY)[:99])]),
        ({"oneOf": [{"minimum": place} for place in range(1500)]}, [0], [1, "x"]),
        ({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}, [[], [1, 2], {}], [[1, 1.0]]),
        ({"if": {"type": "object"}, "then": {"required": ["a"]}, "else": {"type": "string"}}, [{"a": 1}, "x"], [{}, 1]),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"b": 1}, {"a": 1, "b": 1}, "a"], [{"a": 1}]),
        ({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, [{"a": 1}, {}, [1]], [{"b": 1}]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"patternProperties": {"^x": {}}}}, "unevaluatedProperties": False}, [{"xy": 1}], [{"y": 1}]),
        (
            {"anyOf": [{"properties": {"a": {"const": 1}}}, True], "unevaluatedProperties": {"type": "null"}},
            [{"a": 1}, {"b": None}],
            [{"a": 2}],
        ),
        ({"dependentSchemas": {"a": {"properties": {"b": {}}}}, "unevaluatedProperties": {"const": 0}}, [{"a": 0, "b": 1}], [{"b": 1}]),
        (
            {"if": {"required": ["a"], "properties": {"a": {}}}, "else": {"additionalProperties": True}, "unevaluatedProperties": False},
            [{"a": 1}, {"b": 1}],
            [{"a": 1, "b": 1}],
        ),
        ({"allOf": [{"unevaluatedProperties": {"type": "null"}}], "unevaluatedProperties": False}, [{"a": None}], [{"a": 1}]),
        ({"prefixItems": [{}], "contains": {"const": 1}, "minContains": 0, "unevaluatedItems": False}, [[0, 1], [2], "x"], [[0, 1, 2]]),
        (
            {"oneOf": [{"prefixItems": [{"const": 1}, {}]}, {"items": {"const": 2}}], "unevaluatedItems": False},
            [[1, 5], [2, 2]],
            [[1, 5, 6]],
        ),
        ({"items": {"$ref": "#"}, "type": "array"}, [[], [[[]], []]], [[1], [[[{}]]]]),
    ],
)
def test_verdicts(schema, valid, invalid):
    assert all(check(schema, value) for value in valid)
    assert not any(check(schema, value) for value in invalid)


def test_names_and_texts_of_any_kind_are_only_texts():
    """Nothing of a schema becomes code."""
    odd = ["'", '"', "\\", "\n", "{v}", "{{", "') or True or ('", "\u2028", "#", "__class__"]
    schema = {"properties": {key: {"enum": [key]} for key in odd}, "required": odd, "additionalProperties": False}
    assert check(schema, {key: key for key in odd})
    assert not check(schema, {**{key: key for key in odd}, "'": "x"})


@pytest.mark.parametrize("word", ["anyOf", "allOf", "oneOf", "not", "if", "items", "properties"])
def test_schemas_may_stand_ninety_deep(word):
    schema, value = {"type": "string"}, "x"
    for _ in range(90):
        schema = {word: {"a": schema} if word == "properties" else [schema] if word.endswith("Of") else schema}
        value = [value] if word == "items" else {"a": value} if word == "properties" else value
    assert check(schema, value)


def test_a_reference_takes_fuel():
    schema = {"items": {"$ref": "#"}}
    _, (valid, _, _) = compile_schema(Verdicts(schema))
    assert valid([[], []], [3])
    with pytest.raises(FuelError):
        valid([[], []], [2])


def test_no_pattern_of_what_is_evaluated_takes_more_than_linear_time():
    schema = {"allOf": [{"patternProperties": {"^(a+)+$": {}}}], "unevaluatedProperties": False}
    _, (valid, _, _) = compile_schema(Verdicts(schema))
    assert valid({"a" * 5000: 1}, [2000])
    assert not valid({"a" * 5000 + "b": 1}, [2000])


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"allOf": [{"pattern": f"^[^z]*$|z{number}"} for number in range(300)]}, "b" * 10_000),
        ({"patternProperties": {f"^z{number}": {"type": "null"} for number in range(300)}}, {f"k{number}": 1 for number in range(1_000)}),
        ({"items": {"anyOf": [{"const": number, "minimum": number} for number in range(2_000)]}}, [1_999] * 1_000),
        ({"additionalProperties": {"oneOf": [{"const": number} for number in range(2_000)]}}, {str(number): 1 for number in range(1_000)}),
        ({"items": {"properties": {"a": {"allOf": [{"minimum": -number} for number in range(2_000)]}}}}, [{"a": 1}] * 1_000),
        ({"allOf": [{"contains": {"minimum": number, "const": 999}} for number in range(500)]}, list(range(1_000))),
        ({"allOf": [{"items": {"minimum": -number}} for number in range(500)]}, list(range(1_000))),
    ],
)
def test_what_is_tried_on_every_member_takes_fuel(schema, value):
    """A schema and a state may each be long, and their product may not."""
    _, (valid, _, _) = compile_schema(Verdicts(schema))
    with pytest.raises(FuelError):
        valid(value, [10_000])
    assert valid(value, [10_000_000])


def test_a_keyword_is_judged_alone():
    """But for those that mean nothing without others."""
    schema = {"type": "string", "minLength": 3, "contains": {"const": 1}, "minContains": 2, "unevaluatedItems": False}
    verdicts = Verdicts(schema)
    asked = {word: verdicts.make_check(schema, word) for word in schema}
    assert [asked[word]("ab", [10]) for word in ("type", "minLength", "contains")] == [True, False, True]
    assert [asked["contains"](value, [10]) for value in ([1], [1, 1], [1, 2, 1])] == [False, True, True]
    assert [asked["unevaluatedItems"](value, [10]) for value in ([1], [1, 2])] == [True, False]


def test_of_a_large_schema_no_code_is_kept(monkeypatch):
    monkeypatch.setattr(module, "_MOST_SCHEMAS", 10)
    code, (valid, fill, _) = compile_schema(Verdicts({"properties": {**MANY, "d": {"default": 1}}}))
    assert code == b""
    assert valid({"k1": 1}, [10]) and not valid({"k1": "x"}, [10])
    assert fill({}, [1000])["d"] == 1


def test_several_threads_write_each_function_once():
    """Of a large schema functions are written as states need them, with the constants that they need beside them."""
    parts = {f"k{at}": {"type": "string", "pattern": f"^[a-z]{{1,{at + 1}}}$", "enum": ["a", "b" * at]} for at in range(30)}
    schema = {"properties": {name: {"$ref": f"#/$defs/{name}"} for name in parts}, "$defs": parts}
    wrong: list[object] = []

    def ask(valid: Check, first: int) -> None:
        try:
            assert all(valid({f"k{(first + at) % 30}": "a"}, [1000]) for at in range(30))
        except Exception as error:  # noqa: BLE001
            wrong.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            valid, _, _ = make_functions(Verdicts(schema))
            threads = [threading.Thread(target=ask, args=(valid, first)) for first in range(0, 30, 5)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


def test_values_are_spelt_alike_where_they_are_equal():
    assert spell({"b": 1.0, "a": [True, None, "é"]}) == spell({"a": [True, None, "é"], "b": 1})
    assert len({spell(value) for value in (0, False, None, "", "0", [], {}, [0], 0.5, "null", "false")}) == 11


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [(0.3, 0.1, True), (0.35, 0.1, False), (10**300, 0.1, True), (1e300, 7, False), (6, 3, True), (-7, 3, False), (7.0, 3.5, True),
     (0, 5, True), (1e-300, 1e-301, True), (1, 1e-320, True), (2, 1.5, False), (-4.5, 1.5, True)],
)  # fmt: skip
def test_multiples(value, step, expected):
    assert is_multiple(value, step) is expected


# --- What a schema declares and a state leaves out reads as its default, else none ---
def fill(schema, value, fuel=1000):
    """Both ways to the functions fill the same."""
    code, (_, ahead, _) = compile_schema(Verdicts(schema))
    _, needed, _ = make_functions(Verdicts(schema))
    filled = ahead(value, [fuel])
    assert filled == needed(value, [fuel]) == run_code(code)[1](value, [fuel])
    return filled


@pytest.mark.parametrize(
    ("schema", "value", "filled"),
    [
        ({}, {"b": 1}, {"b": 1}),
        ({"properties": {"a": {"default": 1}, "b": {}}}, {}, {"a": 1, "b": None}),
        ({"properties": {"a": {"default": 1}}}, {"a": None}, {"a": None}),
        ({"properties": {"a": {"default": 1}}}, [1], [1]),
        ({"properties": {"a": {"properties": {"x": {"default": 1}}}}}, {}, {"a": None}),
        ({"properties": {"a": {"default": {}, "properties": {"x": {"default": 1}}}}}, {}, {"a": {"x": 1}}),
        ({"properties": {"a": {"items": {"properties": {"x": {}}}}}}, {"a": [{}, 3, {"x": 1}]}, {"a": [{"x": None}, 3, {"x": 1}]}),
        ({"prefixItems": [{"properties": {"x": {}}}], "items": {"properties": {"y": {}}}}, [{}, {}], [{"x": None}, {"y": None}]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {"default": 1}}}}}, {}, {"x": 1}),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"default": 5}}}, {}, {"a": 5}),
        ({"properties": {"a": {"$ref": "#/$defs/a", "default": 6}}, "$defs": {"a": {"default": 5}}}, {}, {"a": 6}),
        ({"properties": {"a": {"allOf": [{"type": "string"}, {"default": 7}]}}}, {}, {"a": 7}),
        ({"allOf": [{"properties": {"a": {"default": 1}}}, {"properties": {"a": {"default": 2}, "b": {}}}]}, {}, {"a": 1, "b": None}),
        ({"anyOf": [{"properties": {"a": {"default": 1}}}]}, {}, {}),
        ({"additionalProperties": {"properties": {"a": {}}}}, {"k": {}}, {"k": {}}),
        (
            {"properties": {"kids": {"items": {"$ref": "#"}}, "n": {"default": 1}}},
            {"kids": [{}]},
            {"kids": [{"kids": None, "n": 1}], "n": 1},
        ),
        ({"$ref": "#top", "$defs": {"t": {"$anchor": "top", "properties": {"a": {}}}}}, {}, {"a": None}),
    ],
)
def test_fill(schema, value, filled):
    assert fill(schema, value) == filled
    assert fill(schema, filled) == filled


def test_keys_stay_in_code_point_order():
    assert list(fill({"properties": {"b": {}, "d": {}, "A": {}}}, {"a": 1, "c": 2})) == ["A", "a", "b", "c", "d"]


def test_what_needs_nothing_stays_the_same_object():
    schema = {"properties": {"list": {"items": {"properties": {"x": {"default": 1}}}}, "other": {"type": "array", "items": {}}}}
    value = {"list": [{"x": 1}, {"x": 2}], "other": [{}]}
    assert fill(schema, value) is value
    filled = fill(schema, {"list": [{"x": 1}, {}], "other": value["other"]})
    assert filled["other"] is value["other"]


def test_a_default_that_holds_itself_is_refused():
    with pytest.raises(EndlessDefaultError):
        fill({"properties": {"a": {"$ref": "#", "default": {}}}}, {"a": {"a": {"a": {}}}})


def test_a_default_that_ends_is_not():
    assert fill({"properties": {"a": {"$ref": "#", "default": {"a": None}}}}, {}) == {"a": {"a": None}}


def test_keys_that_are_filled_in_are_counted():
    schema = {"properties": {"a": {"items": {"properties": {"x": {}, "y": {}}}}}}
    assert fill(schema, {"a": [{}, {}]}, fuel=4) == {"a": [{"x": None, "y": None}] * 2}
    with pytest.raises(FuelError):
        fill(schema, {"a": [{}, {}, {"x": 1}]}, fuel=4)
