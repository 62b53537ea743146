"""Every filter of Jinja that templates may use gives what Jinja's gives: the same value, or both fail, or a deviation of the list."""

import inspect
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jinja2.filters import FILTERS

from promptc.template.allow import FILTERS as FILTER_NAMES
from promptc.template.runtime.filters.table import call_filter, load_filter
from promptc.template.runtime.run import Run
from tests.size import count_examples
from tests.unit.template.runtime.deviations import Call, explain
from tests.unit.template.runtime.drawing import ANY, LISTS, MAPPINGS, NUMBERS, PEOPLE, SCALARS, TEXTS, UNDEFINED, mostly
from tests.unit.template.runtime.jinja_side import ask_jinja, ask_ours, build_jinja

SHARED = sorted(FILTER_NAMES & set(FILTERS))
OWN_PARAMETERS = {"sort": [("times", False)]}
"""What filters of Jinja take here after all that they take there."""
EXAMPLES_PER_FILTER = 80

_PATHS = st.one_of(
    st.sampled_from(["name", "age"]),
    st.sampled_from(["at.town", "at", "tags.0", "0", 0, 1, "a", "zz", "a.b", "", "grouper", None]),
)
_PATH_LISTS = st.one_of(_PATHS, st.sampled_from(["age,name", "name,age", "at.town,age", ","]))
_COUNTS = st.one_of(st.integers(1, 8), st.integers(-2, 8))
_ODD = st.sampled_from(["x", "2", 2.0, 2.5, True, None, [], -1, 0])
_FLAGS = st.one_of(st.booleans(), st.sampled_from([0, 1]))
_PATTERNS = st.sampled_from(["%s", "[%5s]", "%-8.2fx", "%05d", "%r", "%x", "%+.3e", "%%%s", "%a", "%(a)s", "%.1s", "%g", "% d"])
_FILL = st.one_of(st.none(), SCALARS)
_TESTS = st.one_of(
    st.sampled_from([("odd",), ("string",), ("number",), ("defined",), ("none",), ("lower",)]),
    st.tuples(st.sampled_from(["eq", "ne", "lt", ">=", "in", "divisibleby", "equalto"]), SCALARS),
    st.just(()),
)
_MAPPED = st.one_of(
    st.sampled_from([("upper",), ("length",), ("string",), ("first",), ("abs",), ("int",), ("list",), ("join",), ("default", "x", True)]),
    st.tuples(st.just("replace"), TEXTS, TEXTS),
    st.tuples(st.just("truncate"), st.integers(0, 9)),
    st.just(()),
)
_ARGUMENTS: dict[str, Any] = {
    "attribute": _PATHS,
    "sort.attribute": _PATH_LISTS,
    "linecount": _COUNTS,
    "slices": _COUNTS,
    "fill_with": _FILL,
    "center.width": st.integers(-3, 20),
    "width": st.one_of(st.integers(-3, 20), st.sampled_from(["> ", ""])),
    "wordwrap.width": st.integers(0, 12),
    "wrapstring": st.one_of(st.none(), st.sampled_from(["\n", "|", ""])),
    "default_value": ANY,
    "default": SCALARS,
    "boolean": _FLAGS,
    "by": st.sampled_from(["key", "value"]),
    "binary": _FLAGS,
    "base": st.sampled_from([10, 16, 2, 8, 0, 36, 99]),
    "d": SCALARS,
    "length": st.integers(3, 20),
    "end": st.sampled_from(["...", "", "…"]),
    "leeway": st.one_of(st.none(), st.integers(0, 6)),
    "chars": st.one_of(st.none(), TEXTS),
    "precision": st.integers(-3, 4),
    "method": st.sampled_from(["common", "ceil", "floor"]),
    "start": st.one_of(NUMBERS, st.sampled_from([[], "", [1], ()])),
    "old": SCALARS,
    "new": SCALARS,
    "count": st.one_of(st.none(), st.integers(-2, 4)),
    "indent": st.one_of(st.none(), st.integers(-1, 3), st.sampled_from(["> ", ""])),
    "trim_url_limit": st.one_of(st.none(), st.integers(0, 12)),
    "target": st.sampled_from([None, "_blank", '"']),
    "rel": st.sampled_from([None, "a b", "nofollow noopener", ""]),
    "extra_schemes": st.sampled_from([None, [], ["tel:"], ["x"], ["git://", "tel:"]]),
    "reverse": _FLAGS,
    "case_sensitive": _FLAGS,
}
_DIGITS = st.sampled_from(["3.7", " 12 ", "-0x1f", "1_000", "1e3", "x", "", "ff"])
_VALUES: dict[str, Any] = {
    **dict.fromkeys("dictsort items xmlattr".split(), MAPPINGS),
    **dict.fromkeys("urlencode tojson pprint".split(), st.one_of(MAPPINGS, TEXTS, LISTS)),
    **dict.fromkeys("map selectattr rejectattr groupby".split(), st.one_of(PEOPLE, PEOPLE, LISTS)),
    **dict.fromkeys("abs round filesizeformat".split(), NUMBERS),
    **dict.fromkeys("float int".split(), st.one_of(NUMBERS, _DIGITS)),
    **dict.fromkeys("batch first join last list reject reverse select slice unique".split(), LISTS),
    **dict.fromkeys("max min sort".split(), st.one_of(st.lists(NUMBERS, max_size=6), st.lists(TEXTS, max_size=6), PEOPLE, LISTS)),
    "sum": st.one_of(st.lists(NUMBERS, max_size=6), PEOPLE, LISTS),
}


@pytest.mark.parametrize("name", SHARED)
@settings(max_examples=count_examples(EXAMPLES_PER_FILTER), derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_gives_what_jinja_gives(name, data):
    call = data.draw(_calls(name))
    (value, *args) = call.values
    names = {"v": value, **{f"a{place}": arg for place, arg in enumerate(args)}, **{f"k_{key}": arg for key, arg in call.keywords.items()}}
    given_args = [*(f"a{place}" for place in range(len(args))), *(f"{key}=k_{key}" for key in call.keywords)]
    expression = f"v | {name}({', '.join(given_args)})"

    def _call(run: Run, value: Any, *args: Any, **named: Any) -> Any:
        return call_filter(run, load_filter(name), name, value, *args, **named)

    jinja, ours = ask_jinja(expression, names), ask_ours(_call, call.values, call.keywords)
    assert explain(call, jinja, ours), f"{expression} {call}\njinja: {jinja}\nours:  {ours}"


@st.composite
def _calls(draw, name):
    value = draw(mostly(_VALUES.get(name, TEXTS), ANY))
    if name in ("select", "reject"):
        return Call(name, (value, *draw(_TESTS)), {})
    if name in ("selectattr", "rejectattr"):
        return Call(name, (value, *draw(st.one_of(st.just(()), st.tuples(_PATHS)))[:1], *draw(_TESTS)), {})
    if name == "map":
        keywords = draw(st.sampled_from([{}, {"attribute": 1}, {"attribute": 1, "default": 1}]))
        return Call(name, (value, *(() if keywords else draw(_MAPPED))), {key: draw(_argument(name, key)) for key in keywords})
    if name == "format":
        if draw(st.booleans()):
            return Call(name, (draw(_PATTERNS), draw(SCALARS)), {})
        return Call(name, (value, *draw(st.lists(SCALARS, max_size=3))), draw(st.dictionaries(st.sampled_from(["a", "b"]), SCALARS)))
    parameters = list_parameters(FILTERS[name])
    place = draw(st.integers(0, len(parameters)))
    keys = draw(st.lists(st.sampled_from(parameters[place:]), unique=True)) if parameters[place:] else []
    return Call(
        name, (value, *(draw(_argument(name, key)) for key in parameters[:place])), {key: draw(_argument(name, key)) for key in keys}
    )


def _argument(name: str, key: str) -> Any:
    known = _ARGUMENTS.get(f"{name}.{key}", _ARGUMENTS.get(key, _FLAGS))
    return mostly(known, st.one_of(_ODD, UNDEFINED))


def list_parameters(filter: Any) -> list[str]:
    """What a filter of Jinja takes after the value."""
    return [parameter.name for parameter in _find_parameters(filter)]


def _find_parameters(filter: Any) -> list[inspect.Parameter]:
    own = inspect.unwrap(filter)
    return list(inspect.signature(own).parameters.values())[2 if hasattr(own, "jinja_pass_arg") else 1 :]


@pytest.mark.parametrize("name", SHARED)
def test_takes_what_jinja_takes(name):
    """The same parameters in the same order, with the same defaults, and after them those of our own."""
    theirs = _find_parameters(FILTERS[name])
    ours = list(inspect.signature(load_filter(name)).parameters.values())[2:]
    assert [(each.name, each.default) for each in ours] == [(each.name, each.default) for each in theirs] + OWN_PARAMETERS.get(name, [])


def test_every_filter_has_a_counterpart_or_is_ours():
    assert set(build_jinja().filters) - FILTER_NAMES == {"attr", "random"}
