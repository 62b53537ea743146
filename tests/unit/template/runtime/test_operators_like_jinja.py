"""Arithmetic, comparisons, `in`, printing, methods and functions give what Jinja's give."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptc.template.runtime import values
from promptc.template.runtime.callables import FUNCTIONS, Cycler, Joiner, Namespace
from promptc.template.runtime.methods import METHODS, call_method
from promptc.template.runtime.values import compare, show
from tests.size import count_examples
from tests.unit.template.runtime.deviations import Call, explain
from tests.unit.template.runtime.drawing import ANY, INTEGERS, LISTS, MAPPINGS, NUMBERS, RANGES, SCALARS, TEXTS, mostly
from tests.unit.template.runtime.jinja_side import ask_jinja, ask_ours

EXAMPLES = settings(max_examples=count_examples(80), derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
SIGNS = {
    "+": values.add,
    "-": values.subtract,
    "*": values.multiply,
    "/": values.divide,
    "//": values.floor_divide,
    "%": values.modulo,
    "**": values.power,
}
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "lteq", ">": "gt", ">=": "gteq", "in": "in", "not in": "notin"}
_SMALL = st.one_of(st.integers(-9, 9), st.booleans(), st.sampled_from([0.5, 2.0, -1.5]))
_PAIRS = st.one_of(
    st.tuples(NUMBERS, NUMBERS),
    st.tuples(NUMBERS, _SMALL),
    st.tuples(TEXTS, TEXTS),
    st.tuples(TEXTS, _SMALL),
    st.tuples(LISTS, LISTS),
    st.tuples(LISTS, _SMALL),
    st.tuples(MAPPINGS, MAPPINGS),
    st.tuples(SCALARS, st.one_of(LISTS, RANGES, MAPPINGS, TEXTS)),
)


def _check(expression, call, ours):
    jinja = ask_jinja(expression, dict(zip("vwxyz", call.values, strict=False)))
    assert explain(call, jinja, ours), f"{expression} {call}\njinja: {jinja}\nours:  {ours}"


@pytest.mark.parametrize("sign", SIGNS)
@EXAMPLES
@given(st.data())
def test_arithmetic(sign, data):
    pair = data.draw(st.tuples(NUMBERS, _SMALL) if sign == "**" else mostly(_PAIRS, st.tuples(ANY, ANY)))
    _check(f"v {sign} w", Call(sign, pair, {}), ask_ours(SIGNS[sign], pair))


@pytest.mark.parametrize(("sign", "function"), [("-", values.negate), ("+", values.positive)])
@EXAMPLES
@given(mostly(NUMBERS, ANY))
def test_signs(sign, function, value):
    _check(f"{sign}v", Call(sign, (value,), {}), ask_ours(function, [value]))


@pytest.mark.parametrize("sign", COMPARISONS)
@EXAMPLES
@given(mostly(_PAIRS, st.tuples(ANY, ANY)))
def test_comparisons(sign, pair):
    _check(f"v {sign} w", Call(sign, pair, {}), ask_ours(lambda run, left, right: compare(run, COMPARISONS[sign], left, right), pair))


@EXAMPLES
@given(ANY)
def test_printing(value):
    _check("v ~ ''", Call("~", (value,), {}), ask_ours(show, [value]))


_BOUNDS = st.one_of(st.just(()), st.tuples(st.integers(-3, 9)), st.tuples(st.integers(-3, 5), st.integers(-3, 9)))
_SOUGHT = st.tuples(TEXTS, _BOUNDS).map(lambda drawn: (drawn[0], *drawn[1]))
_SEPARATORS = st.one_of(st.just(()), st.tuples(st.one_of(TEXTS, st.none())), st.tuples(TEXTS, st.integers(-2, 3)))
_KEYWORDS: dict[str, dict[str, Any]] = {
    "split": {"maxsplit": 1, "sep": "b"},
    "rsplit": {"maxsplit": 1},
    "splitlines": {"keepends": True},
    "expandtabs": {"tabsize": 3},
}
_ARGUMENTS = {
    **dict.fromkeys("find index rfind rindex count startswith endswith".split(), _SOUGHT),
    **dict.fromkeys("partition rpartition removeprefix removesuffix".split(), st.tuples(TEXTS)),
    **dict.fromkeys("strip lstrip rstrip".split(), st.one_of(st.just(()), st.tuples(st.one_of(TEXTS, st.none())))),
    **dict.fromkeys(
        "center ljust rjust".split(), st.one_of(st.tuples(st.integers(-2, 9)), st.tuples(st.integers(-2, 9), st.sampled_from("*ä")))
    ),
    "zfill": st.tuples(st.integers(-2, 9)),
    "expandtabs": st.one_of(st.just(()), st.tuples(st.integers(-2, 9))),
    "join": st.tuples(st.one_of(st.lists(TEXTS, max_size=4), TEXTS, LISTS)),
    "replace": st.one_of(st.tuples(TEXTS, TEXTS), st.tuples(TEXTS, TEXTS, st.integers(-2, 4))),
    **dict.fromkeys("split rsplit".split(), _SEPARATORS),
    "splitlines": st.one_of(st.just(()), st.tuples(st.booleans())),
}


@pytest.mark.parametrize("name", sorted(METHODS[str]))
@EXAMPLES
@given(st.data())
def test_methods_of_text(name, data):
    args = data.draw(mostly(_ARGUMENTS.get(name, st.just(())), st.lists(ANY, max_size=3).map(tuple)))
    call = Call(name, (data.draw(TEXTS), *args), {})
    _check_method(call)


def _check_method(call):
    letters = ", ".join("wxyz"[: len(call.values) - 1])
    ours = ask_ours(lambda run, value, *args: call_method(run, value, call.name, args, {}), call.values)
    _check(f"v.{call.name}({letters})", call, ours)


@pytest.mark.parametrize("name", _KEYWORDS)
def test_methods_take_keywords_where_python_does(name):
    keywords = _KEYWORDS[name]
    ours = ask_ours(lambda run, value: call_method(run, value, name, (), keywords), ["a b\nabc\td"])
    given = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
    assert ours == ask_jinja(f"v.{name}({given})", {"v": "a b\nabc\td"})


@pytest.mark.parametrize("name", sorted(METHODS[dict]))
@EXAMPLES
@given(st.data())
def test_methods_of_mappings(name, data):
    holder = data.draw(MAPPINGS)
    key = st.one_of(st.sampled_from([*holder, "zz"]), SCALARS)
    args = data.draw(st.one_of(st.tuples(key), st.tuples(key, ANY)) if name == "get" else mostly(st.just(()), st.tuples(ANY)))
    _check_method(Call(name, (holder, *args), {}))


@pytest.mark.parametrize("name", sorted(METHODS[list]))
@EXAMPLES
@given(st.data())
def test_methods_of_lists(name, data):
    holder = data.draw(st.one_of(LISTS, LISTS.map(tuple)))
    sought = data.draw(st.one_of(st.sampled_from([*holder, "zz"]), ANY))
    bounds = data.draw(_BOUNDS) if name == "index" else ()
    _check_method(Call(name, (holder, sought, *bounds), {}))


@EXAMPLES
@given(mostly(st.lists(st.integers(-9, 9), min_size=1, max_size=3), st.lists(ANY, max_size=4)))
def test_range(bounds):
    _check(f"range({', '.join('vwxyz'[: len(bounds)])})", Call("range", tuple(bounds), {}), ask_ours(FUNCTIONS["range"], bounds))


@EXAMPLES
@given(mostly(st.one_of(MAPPINGS, st.lists(st.tuples(st.one_of(TEXTS, INTEGERS), SCALARS), max_size=4)), ANY), ANY)
def test_dict(source, value):
    ours = ask_ours(lambda run, v, w: FUNCTIONS["dict"](run, v, key=w), [source, value])
    _check("dict(v, key=w)", Call("dict", (source, value), {}), ours)


def test_cycler_goes_round():
    cycler = FUNCTIONS["cycler"](None, "a", "b")
    assert isinstance(cycler, Cycler)
    assert [cycler.next(), cycler.current, cycler.next(), cycler.next()] == ["a", "b", "b", "a"]
    cycler.reset()
    assert cycler.current == "a"


def test_joiner_is_empty_once():
    joiner = FUNCTIONS["joiner"](None, "; ")
    assert isinstance(joiner, Joiner)
    assert [joiner(), joiner(), joiner()] == ["", "; ", "; "]


def test_namespace_copies_what_it_is_given():
    from promptc.template.runtime.run import Run

    source = {"a": 1}
    namespace = FUNCTIONS["namespace"](Run(None), source, b=2)
    assert isinstance(namespace, Namespace)
    namespace.values["a"] = 3
    assert (namespace.read("a"), namespace.read("b"), source) == (3, 2, {"a": 1})
