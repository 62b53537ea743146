"""What a schema declares and a state leaves out reads as its default, else none."""

import pytest

from promptc.frontend.schema.check import Verdicts, compile_schema, make_functions
from promptc.frontend.schema.runtime import EndlessDefaultError, FuelError, run_code


def fill(schema, value, fuel=1000):
    """Both ways to the functions fill the same."""
    code, (_, ahead) = compile_schema(Verdicts(schema))
    _, needed = make_functions(Verdicts(schema))
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
