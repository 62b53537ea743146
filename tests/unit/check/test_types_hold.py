"""The kind that `check` finds for an expression holds every value that the expression gives."""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

import promptc
from promptc.check.texts import Scopes, UsedText
from promptc.diag.findings import PromptcError, Span
from promptc.template.lower.module import load_expression
from promptc.template.place import Place
from promptc.template.runtime.run import RUN
from promptc.template.signatures import FILTERS, METHODS
from promptc.template.types import types as kinds
from promptc.template.types.algebra import join_members

_PERSON = {"type": "object", "additionalProperties": False, "required": ["a", "c"], "properties": {
    "a": {"type": "string"}, "c": {"type": "integer"}}}  # fmt: skip
_PARTS: dict[str, Any] = {
    "text": {"type": "string"},
    "whole": {"type": "integer", "minimum": -9, "maximum": 9},
    "part": {"type": "number"},
    "truth": {"type": "boolean"},
    "nothing": {"type": "null"},
    "time": {"type": "string", "format": "date-time"},
    "word": {"enum": ["x", "yes"]},
    "mixed": {"type": ["string", "integer", "null"]},
    "texts": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
    "wholes": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    "people": {"type": "array", "items": _PERSON, "minItems": 1},
    "person": _PERSON,
}
_TIME = "2026-01-02T03:04:05Z"
_GIVEN: tuple[tuple[Any, ...], ...] = (
    ("5", 3, 1.5, True, None, _TIME, "x", "k", ["b", "a b"], [2, 1, 2], [{"a": "x", "c": 1}, {"a": "y", "c": 1}], {"a": "q", "c": 2}),
    ("", 0, 2.0, False, None, _TIME, "yes", None, ["1"], [0], [{"a": "", "c": 0}], {"a": "", "c": 0}),
    ("Hello. Yes", -7, -0.5, True, None, _TIME, "yes", 4, ["z", "z"], [5, -1], [{"a": "k", "c": 9}], {"a": "1", "c": -2}),
)
_STATES = [dict(zip(_PARTS, values, strict=True)) for values in _GIVEN]
_VALUES = (*(f"state.{name}" for name in _PARTS), "'ab'", "none", "[1, 'a']", "[]")
_ARGUMENTS = ("", "(2)", "('a')", "(attribute='c')", "('a', true)", "(none)", "('int')")
_BEHIND = (" | list", " | list | first", " | first", " | sum")
_PARTED = (
    "{0}[0]",
    "{0}[-1]",
    "{0}[:1]",
    "{0}[::-1]",
    "{0}.a",
    "-{0}",
    "not {0}",
    "[{0}][0]",
    "({0}, 1)",
    "{0}[state.whole]",
    "{0} is string",
)
_PAIRED = (
    *("{0} + {1}", "{0} * {1}", "{0} / {1}", "{0} // {1}", "{0} % {1}", "{0} ** {1}", "{0} ~ {1}", "{0} and {1}", "{0} or {1}"),
    *("{0} == {1}", "{0} < {1}", "{0} in {1}", "{0} | default({1}, true)", "{0} if {0} is string else {1}", "{0} if {0} else {1}"),
)


def _iter_filtered(value: str) -> Iterator[str]:
    for name, argument in product(FILTERS, _ARGUMENTS):
        yield f"{value} | {name}{argument}"
        if name in ("map", "select", "reject", "unique", "reverse", "items", "batch", "groupby"):
            yield from (f"{value} | {name}{argument}{behind}" for behind in _BEHIND)


def _iter_expressions(value: str) -> Iterator[str]:
    yield value
    yield from _iter_filtered(value)
    for methods in METHODS.values():
        yield from (f"{value}.{name}{argument}" for name in methods for argument in ("()", "('a')", "(1)", "('a', 'b')"))
    yield from (form.format(value) for form in _PARTED)
    yield from (form.format(value, other) for form in _PAIRED for other in _VALUES)


def _holds(value: Any, kind: kinds.Type) -> bool:
    return any(_is_of(value, member) for member in kinds.list_members(kind))


def _is_of(value: Any, kind: kinds.Type) -> bool:
    match kind:
        case kinds.UnknownType():
            return True
        case kinds.NoneType():
            return value is None
        case kinds.BoolType():
            return isinstance(value, bool) and kind.value in (None, value)
        case kinds.TextType():
            return isinstance(value, str) and len(value) <= (kind.characters if kind.characters is not None else len(value)) and (
                kind.values is None or value in kind.values
            )  # fmt: skip
        case kinds.NumberType():
            return type(value) in (int, float) and _is_between(value, kind)
        case kinds.ListType():
            return isinstance(value, list | tuple) and _is_listed(value, kind)
        case kinds.MappingType():
            return isinstance(value, dict) and all(_holds(part, kind.find(name)) for name, part in value.items())
    return not isinstance(value, str | int | float | list | dict | None)


def _is_between(value: float, kind: kinds.NumberType) -> bool:
    bounds = (kind.least is None or value >= kind.least) and (kind.most is None or value <= kind.most)
    return bounds and (kind.values is None or value in kind.values)


def _is_listed(value: Any, kind: kinds.ListType) -> bool:
    parts = [kind.first[place] if place < len(kind.first) else kind.element for place in range(len(value))]
    most = kind.most if kind.most is not None else len(value)
    fits = len(value) <= most and (kind.loose or len(value) >= kind.least) and all(map(_holds, value, parts))
    return fits and all(_holds(one, join_members(kind)) for one in value)


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> promptc.Pack:
    folder = tmp_path_factory.mktemp("pack")
    schema = {"type": "object", "additionalProperties": False, "required": [*_PARTS], "properties": _PARTS}
    (folder / "state.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    head = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 1000\nstate: {schema: state.schema.json}\n"
    (folder / "pack.yaml").write_text(f"{head}sections: [{{id: main, text: x}}]\n", encoding="utf-8")
    return promptc.load(folder)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("value", _VALUES)
def test_a_kind_holds_all_that_is_given(pack: promptc.Pack, value: str) -> None:
    scopes, place, met = Scopes(pack.model), Place(Span("x", 1, 1, ""), inline=True, source=""), 0
    for text in _iter_expressions(value):
        try:
            expression = load_expression(text, place)
        except PromptcError:
            continue
        found = scopes.infer(UsedText("a test", expression, {"state": None}))
        if found.problems:
            continue
        for state in _STATES:
            try:
                given = expression.evaluate({"state": state, RUN: pack.model.open_account()})
            except PromptcError:
                continue
            met += 1
            assert _holds(given, found.kind or kinds.UNKNOWN_TYPE), (text, given, found.kind)
    assert met > 100
