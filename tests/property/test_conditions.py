"""A condition is said never to hold only where no valid value meets it: against every value of small schemas, by the real evaluator."""

import json
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from promptc.check.schema_types import SchemaTypes
from promptc.diag.findings import PromptcError, Span
from promptc.template.compile import Expression
from promptc.template.lower.module import load_expression
from promptc.template.place import Place
from promptc.template.types.conditions import find_clash, join_cases, list_cases
from promptc.template.types.infer import add_name, read_code
from promptc.template.types.walk import Scope

VALUES: tuple[Any, ...] = (None, True, False, -1, 0, 1, 2, 3, 2.5, 1.0, "", "a", "b", "abc", [], ["a"], ["a", "b"], {}, {"k": 1})
TESTS = ("none", "defined", "undefined", "string", "number", "boolean", "mapping", "odd", "true")
_CONSTANTS = st.sampled_from([None, True, False, -1, 0, 1, 2, 3, 2.5, "", "a", "b", "abc", "abcd"])
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


@st.composite
def _schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Of one value."""
    made: dict[str, Any] = {}
    if draw(st.booleans()):
        made["type"] = draw(st.one_of(_TYPES, st.lists(_TYPES, min_size=1, max_size=3, unique=True)))
    choice = draw(st.integers(0, 5))
    if choice == 0:
        made["enum"] = draw(st.lists(_CONSTANTS, min_size=1, max_size=4, unique_by=json.dumps))
    elif choice == 1:
        made["const"] = draw(_CONSTANTS)
    elif choice == 2:
        made[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = draw(st.integers(-1, 3))
        made[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = draw(st.integers(-1, 3))
    elif choice == 3:
        made.setdefault("type", draw(_TYPES))  # without one, keywords of lists say that it is a list
        made["maxLength"] = draw(st.integers(0, 3))
        made["maxItems"] = draw(st.integers(0, 2))
    elif choice == 4:
        return {draw(st.sampled_from(["anyOf", "oneOf"])): [draw(_schemas()), draw(_schemas())]}
    return made


_SUBJECTS = st.sampled_from(["item.x", "item['x']", "item.y", "item.x | length", "item.x | string", "named"])


@st.composite
def _conditions(draw: st.DrawFn, depth: int = 0) -> str:
    choice = draw(st.integers(0, 9 if depth < 3 else 6))
    subject = draw(_SUBJECTS)
    if choice <= 2:
        sign = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
        sides = [f"({subject})", _write(draw(_CONSTANTS))]
        return f" {sign} ".join(sides if draw(st.booleans()) else sides[::-1])
    if choice == 3:
        listed = ", ".join(map(_write, draw(st.lists(_CONSTANTS, min_size=1, max_size=3))))
        return f"({subject}) {draw(st.sampled_from(['in', 'not in']))} [{listed}]"
    if choice == 4:
        return f"({subject}) is {draw(st.sampled_from(TESTS))}"
    if choice == 5:
        return f"({subject}) {draw(st.sampled_from(['==', '<', '>=', 'in', 'not in']))} ({draw(_SUBJECTS)})"
    if choice == 6:
        return f"({subject})"
    if choice == 7:
        return f"not ({draw(_conditions(depth + 1))})"
    return f"({draw(_conditions(depth + 1))}) {'and' if choice == 8 else 'or'} ({draw(_conditions(depth + 1))})"


def _write(value: object) -> str:
    return {None: "none", True: "true", False: "false"}.get(value, repr(value)) if value is None or isinstance(value, bool) else repr(value)


def _load(text: str) -> Expression:
    return load_expression(text, Place(Span("t", 1, 1), inline=True))


def _is_met(expression: Expression, item: dict[str, Any], named: Expression) -> bool:
    """What stops the run lets nothing through."""
    try:
        return bool(expression.evaluate({"item": item, "named": named.evaluate({"item": item})}))
    except PromptcError:
        return False


def _list_valid(schema: Any) -> list[Any]:
    return [value for value in VALUES if jsonschema.Draft202012Validator(schema).is_valid(value)]


@given(_schemas(), _schemas(), _conditions(), _conditions(), _conditions())
def test_a_condition_that_some_value_meets_is_never_said_to_hold_for_none(x, y, text, other, alias):
    schema = {"type": "object", "properties": {"x": x, "y": y}, "required": ["x"], "additionalProperties": False}
    condition, second, named = _load(text), _load(other), _load(alias.replace("named", "item.x"))
    kinds = SchemaTypes(schema)
    scope = add_name(Scope({}), "item", kinds.make((schema,), ()))
    scope = add_name(scope, "named", _find_kind(named, scope), read_code(named))
    alone = find_clash(list_cases(read_code(condition), scope))
    both = find_clash(join_cases(list_cases(read_code(condition), scope), list_cases(read_code(second), scope)))
    for item in ({"x": one, "y": two} for one in _list_valid(x) for two in (*_list_valid(y), None)):
        met = _is_met(condition, item, named)
        assert not (met and alone is not None), (text, alone, item)
        assert not (met and both is not None and _is_met(second, item, named)), (text, other, both, item)


def _find_kind(named: Expression, scope: Scope) -> Any:
    from promptc.template.types.infer import infer_types, weigh_bytes
    from promptc.template.types.types import UNKNOWN_TYPE

    return infer_types(read_code(named), scope, weigh_bytes).kind or UNKNOWN_TYPE
