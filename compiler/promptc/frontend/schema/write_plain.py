"""The keywords that look at a value and not into it, as Python expressions: `type`, `enum`, `const`, and those of numbers and texts."""

from collections.abc import Callable, Iterator, Mapping

from promptc.diag.typed import Any
from promptc.frontend.schema.rules import spell

Constant = Callable[[str], str]
"""Keeps a value, written in Python, for the functions to find, and gives its name."""

_TYPES = {
    "array": "{}.__class__ is list",
    "boolean": "({0} is True or {0} is False)",
    "integer": "({0}.__class__ is int or {0}.__class__ is float and {0}.is_integer())",
    "null": "{} is None",
    "number": "({0}.__class__ is int or {0}.__class__ is float)",
    "object": "{}.__class__ is dict",
    "string": "{}.__class__ is str",
}
_BOUNDS = (("minimum", ">="), ("maximum", "<="), ("exclusiveMinimum", ">"), ("exclusiveMaximum", "<"))
_FEW = 16
_FORMATS = ("date-time", "date", "time")
"""Those of `text/moment.py`, which is read when a text is first asked about."""


def iter_plain(schema: Mapping[str, Any], v: str, constant: Constant) -> Iterator[str]:
    """Expressions on the variable `v`, all of which hold of a valid value."""
    if "type" in schema:
        yield join_or([_TYPES[name].format(v) for name in list_types(schema)])
    if "enum" in schema:
        yield _write_choice(schema["enum"], v)
    if "const" in schema:
        yield _write_choice([schema["const"]], v)
    yield from _guard(_iter_number(schema, v), schema, ("integer", "number"), v)
    yield from _guard(_iter_text(schema, v, constant), schema, ("string",), v)


def list_types(schema: Mapping[str, Any]) -> list[str]:
    """The types a schema allows, each once; none where it names none."""
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def write_size(value: str, schema: Mapping[str, Any], least: str, most: str) -> Iterator[str]:
    """That the length of a value is within two bounds, where there are any."""
    if schema.get(least, 0) > 0:
        yield f"len({value}) >= {schema[least]!r}"
    if most in schema:
        yield f"len({value}) <= {schema[most]!r}"


def _guard(tests: Iterator[str], schema: Mapping[str, Any], types: tuple[str, ...], v: str) -> Iterator[str]:
    """Tests that concern values of some types only, passed by all others."""
    test = join_and([*tests])
    allowed = list_types(schema)
    if test == "True" or (allowed and not any(name in types for name in allowed)):
        return
    if not allowed or any(name not in types for name in allowed):
        test = f"not {_TYPES[types[-1]].format(v)} or {test}" if types[-1] == "number" else f"{v}.__class__ is not str or {test}"
    yield f"({test})"


def _iter_number(schema: Mapping[str, Any], v: str) -> Iterator[str]:
    for word, sign in _BOUNDS:
        if word in schema:
            yield f"{v} {sign} {schema[word]!r}"
    if "multipleOf" in schema:
        yield f"is_multiple({v}, {schema['multipleOf']!r})"


def _iter_text(schema: Mapping[str, Any], v: str, constant: Constant) -> Iterator[str]:
    yield from write_size(v, schema, "minLength", "maxLength")
    if "pattern" in schema:
        matcher = constant(f"find_matcher({schema['pattern']!r})")
        yield f"{matcher}({v})"
    if schema.get("format") in _FORMATS:
        known = constant(f"find_format({schema['format']!r})")
        yield f"{known}({v})"


def _write_choice(values: list[Any], v: str) -> str:
    """That a value is one of a list. The hashes of numbers can be made to collide, so many of them are compared as texts."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    spelt = [spell(value) for value in values if isinstance(value, (list, dict))]
    tests = [f"{v} is {value}" for value in (None, True, False) if any(value is each for each in values)]
    if texts:
        tests.append(f"{v}.__class__ is str and {_write_membership(v, texts)}")
    if len(numbers) > _FEW:
        spelt += map(spell, numbers)
    elif numbers:
        tests.append(f"{_TYPES['number'].format(v)} and {v} in ({', '.join(map(repr, numbers))},)")
    if spelt:
        tests.append(f"{v}.__class__ is not str and {_write_membership(f'spell({v})', spelt)}")
    return join_or(tests)


def _write_membership(value: str, texts: list[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    return f"{value} == {distinct[0]!r}" if len(distinct) == 1 else f"{value} in {{{', '.join(map(repr, distinct))}}}"


def join_and(tests: list[str]) -> str:
    """That all tests hold."""
    kept = [test for test in tests if test != "True"]
    if "False" in kept:
        return "False"
    return " and ".join(f"({test})" if len(kept) > 1 and " or " in test else test for test in kept) or "True"


def join_or(tests: list[str]) -> str:
    """That a test holds."""
    kept = [test for test in tests if test != "False"]
    if "True" in kept:
        return "True"
    return f"({' or '.join(kept)})" if len(kept) > 1 else "".join(kept) or "False"
