"""One signature for all that may be called: what the table says, the functions take, the page shows, `check` finds and a run refuses."""

import inspect
import re
from pathlib import Path

import pytest

from promptc.template import allow
from promptc.template import signatures as table
from promptc.template.lower.module import load_expression
from promptc.template.runtime.filters.table import load_filter
from promptc.template.signatures import ANY, Parameter, Signature
from promptc.template.types.infer import infer_types, read_code, weigh_bytes
from promptc.template.types.walk import Scope
from tests.unit.template.run import INLINE, find_errors, render
from tests.unit.template.signatures_run import judge, judge_all, judge_template, run

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "templates.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^```signatures\n(.*?)^```$", PAGE, re.M | re.S)[0]
SUITABLE = {
    **dict.fromkeys("dictsort items xmlattr".split(), "{'a': 1}"),
    **dict.fromkeys("abs round filesizeformat".split(), "2.5"),
    **dict.fromkeys("batch slice sum sort min max unique join map select reject selectattr rejectattr".split(), "[1, 2]"),
    "groupby": "[[1], [2]]",
    **dict.fromkeys("minutes_since hours_since days_since timestamp".split(), "'2026-11-22'"),
}
"""A value that suits the filter; for all others a text."""
WRONG = ("'x'", "2.5", "none", "[1]", "{'a': 1}", "-7", "''", "'sentences'", "99999")
"""Constants, one of which at least is wrong for every parameter that does not take any value."""
LAZY = frozenset("batch slice unique reverse items keys values".split())
OF_VALUES = frozenset({"PC0411", "PC0414"})
"""What a run says of the values, which no signature knows: a part that is not there, a text that is not found."""
APPLYING = frozenset("map select reject selectattr rejectattr format".split())


def _write_filter(name: str, args: str) -> str:
    return _use(f"{SUITABLE.get(name, repr('a b'))} | {name}({args})", name)


def _use(text: str, name: str) -> str:
    """All of what a call gives is made."""
    return f"{text} | list | string" if name in LAZY else f"{text} | string"


def _iter_callables():
    for name, signature in table.FILTERS.items():
        if name not in APPLYING:
            yield f"filter-{name}", signature, lambda args, name=name: _write_filter(name, args)
    for name, signature in table.TESTS.items():
        if name.isidentifier():
            yield f"test-{name}", signature, lambda args, name=name: f"4 is {name}({args})"
    for name, signature in table.FUNCTIONS.items():
        yield f"function-{name}", signature, lambda args, name=name: f"{name}({args}) is defined"
    for kind, holder in ((str, "'abc'"), (dict, "{'a': 1}"), (list, "[1, 2]")):
        for name, signature in table.METHODS[kind].items():
            yield f"{kind.__name__}-{name}", signature, lambda args, name=name, holder=holder: _use(f"{holder}.{name}({args})", name)


CALLABLES = [pytest.param(signature, write, id=id) for id, signature, write in _iter_callables()]
RIGHT = {
    "linecount": "2", "slices": "2", "attribute": "0", "words": "'a'", "seed": "'a'", "old": "'a'", "new": "'b'", "now": "'2026-11-22'",
    "other": "4", "num": "2", "seq": "[4]", "start": "1", "width": "3", "sought": "'a'", "sep": "'a'", "prefix": "'a'", "suffix": "'a'",
    "parts": "['a']", "texts": "'a'", "key": "'a'", "value": "1",
}  # fmt: skip
"""A right constant for each parameter that must be given."""


def _write_right(signature: Signature) -> list[str]:
    sizes = ["'word'", "chars=5"] if signature.name == "`truncate_at`" else []
    return [RIGHT[one.name] for one in signature.parameters if not one.shown] + sizes + ["1"] * signature.least


def _holds_same(text: str) -> None:
    """`check` says what a run fails with, word for word."""
    said, failed = judge(text), run(text)
    assert failed is not None, f"{text} works"
    assert failed in said, (text, said, failed)


def test_the_table_has_all_that_is_allowed_and_nothing_else():
    assert set(table.FILTERS) == allow.FILTERS
    assert set(table.TESTS) == allow.TESTS
    assert set(table.FUNCTIONS) == allow.GLOBALS
    assert set(table.METHODS[str]) == allow.TEXT_METHODS
    assert set(table.METHODS[dict]) == allow.MAPPING_METHODS
    assert set(table.METHODS[list]) == set(table.METHODS[tuple]) == allow.LIST_METHODS
    assert set(table.LOOP_METHODS) == allow.LOOP_METHODS | allow.CYCLER_METHODS


@pytest.mark.parametrize("name", sorted(allow.FILTERS - APPLYING))
def test_a_filter_takes_what_its_signature_says(name):
    own = list(inspect.signature(load_filter(name)).parameters.values())[2:]
    said = table.FILTERS[name].parameters
    assert [one.name for one in own] == [one.name for one in said]
    assert [one.default is one.empty for one in own] == [not one.shown for one in said]
    assert [one.kind is one.KEYWORD_ONLY for one in own] == [one.how == "name" for one in said]


@pytest.mark.parametrize(("signature", "write"), CALLABLES)
def test_the_page_shows_it(signature, write):
    call = signature.show()
    assert f" {call}" in SHOWN, f"docs/reference/templates.md, the block of signatures: add `{call}`, or correct what stands there"


@pytest.mark.parametrize(("signature", "write"), CALLABLES)
def test_a_right_call_is_left_alone(signature, write):
    text = write(", ".join(_write_right(signature)))
    advice = f"`{text}` should be right. If the filter does not take that value, enter one that it takes in `SUITABLE`"
    assert (judge(text), run(text)) == ([], None), advice


@pytest.mark.parametrize(("signature", "write"), CALLABLES)
def test_one_argument_too_many(signature, write):
    if not signature.places:
        by_place = [one for one in signature.parameters if one.how != "name"]
        _holds_same(write(", ".join(["1"] * (len(by_place) + 1))))


@pytest.mark.parametrize(("signature", "write"), CALLABLES)
def test_an_unknown_name(signature, write):
    if not signature.names:
        _holds_same(write(", ".join([*_write_right(signature), "nonesuch=1"])))


@pytest.mark.parametrize(("signature", "write"), CALLABLES)
def test_an_argument_too_few(signature, write):
    for place, parameter in enumerate(signature.parameters):
        if not parameter.shown:
            _holds_same(write(", ".join(_write_right(signature)[:place])))
    if signature.least:
        _holds_same(write(""))


TYPED = [
    pytest.param(signature, parameter, write, id=f"{id}-{parameter.name}")
    for id, signature, write in _iter_callables()
    for parameter in signature.parameters
    if parameter.sort is not ANY
]


@pytest.mark.parametrize(("signature", "parameter", "write"), TYPED)
def test_a_wrong_constant(signature: Signature, parameter: Parameter, write):
    """Each constant is refused by both or by none, and one at least by both."""
    refused = 0
    for constant in WRONG:
        text = write(_write_with(signature, parameter, constant))
        said, failed = judge(text), run(text)
        if failed is not None and not said:
            assert failed[0] in OF_VALUES or "kind" in judge_all(text), text
        else:
            assert said == ([failed] if failed is not None else []), text
        refused += bool(said)
    assert refused


def _write_with(signature: Signature, parameter: Parameter, constant: str) -> str:
    """The call with one of its parameters given so, all that must be there before it."""
    rest = [one for one in signature.parameters if not one.shown and one is not parameter]
    if parameter.how == "name" or (parameter.how == "both" and parameter.shown):
        return ", ".join([*(RIGHT[one.name] for one in rest), f"{parameter.name}={constant}"])
    before = signature.parameters[: signature.parameters.index(parameter)]
    return ", ".join([*(RIGHT.get(one.name, one.shown) if one.name != "fill" else "' '" for one in before), constant])


@pytest.mark.parametrize(
    ("text", "told", "help"),
    [
        (
            "'a' | truncate_at('sentences', chars=50)",
            "PC0424 `boundary` of `truncate_at` cannot be `sentences`",
            "did you mean `sentence`?",
        ),
        ("'a' | truncate_at('word')", "PC0424 `truncate_at` needs one size, a whole number", "give `chars=800` or `tokens=200`"),
        ("[1] | pick", "PC0424 `pick` needs `seed`", "write `pick(seed)`"),
        ("1 | round(1, 'up')", "PC0424 `method` of `round` cannot be `up`", "choose one of `common`, `ceil`, `floor`"),
        ("1 | round(1, methd='up')", "PC0424 `round` has no parameter `methd`", "did you mean `method`?"),
        ("1 | round(1, precision=2)", "PC0424 `round` is given `precision` twice", "write `round(precision=0, method='common')`"),
        ("1 | round(1.5)", "PC0424 `precision` of `round` must be a whole number from -100 to 100, not 1.5", None),
        ("'a' | center(5000)", "PC0430 5000 is wider than 2000 characters", None),
        ("'a' | center(none)", "PC0424 `width` of `center` must be a whole number, not none", None),
        ("'a' | wordwrap(0)", "PC0424 `width` of `wordwrap` must be a whole number above 0, not 0", None),
        ("'a' | truncate(2)", "PC0424 `truncate` to 2 characters has no room for its end", None),
        ("['a'] | map('truncate', 9, endd='') | list", "PC0424 `truncate` has no parameter `endd`", "did you mean `end`?"),
        ("['a'] | map('map', 'replace', 'a') | map('list') | list", "PC0424 `replace` needs `new`", None),
        ("['a'] | map(attribute='a', fill=1) | list", "PC0424 `map` has no parameter `fill`", None),
        ("['a'] | map | list", "PC0424 `map` needs a filter or an attribute", None),
        ("[1] | select('divisibleby') | list", "PC0424 `is divisibleby` needs `num`", None),
        ("[1] | selectattr | list", "PC0424 `selectattr` needs `attribute`", None),
        ("[[1]] | selectattr(0, 'odd', 3) | list", "PC0424 `is odd` takes no argument, and was given 1", None),
        ("4 is divisibleby 0", "PC0415 this expression divides by zero", None),
        ("range(1, 5, 0)", "PC0424 `step` of `range` must not be 0", None),
        ("range(200000)", "PC0430 `range` is longer than 100000", None),
        ("range(10 ** 30)", None, None),
        ("'2026-11-22' | days_since('yesterday')", "PC0422 `yesterday` is not an ISO 8601 time", None),
        ("'a' | urlize(extra_schemes=['x'])", "PC0424 `x` cannot begin an address", None),
        ("'%s' | format(1, a=2)", "PC0424 `format` takes values by place or by name, not both", None),
        ("'a'.split('')", "PC0424 a string cannot be split by an empty string", None),
        ("'a'.center(3, '--')", "PC0424 what fills a string is one character, not 2", None),
        ("'a'.center(width=3)", "PC0424 `.center()` takes `width` by its place, not by its name", None),
        ("'-'.join([1, 2])", "PC0424 `.join()` joins strings, not a number", None),
        ("cycler()", "PC0424 `cycler` needs at least one value", None),
    ],
)
def test_what_is_said(text, told, help):
    if told is None:
        assert judge(text) == [] and run(text) is not None
        return
    _holds_same(text)
    code, message, hint = run(text)
    assert f"{code} {message}" == told
    assert help is None or hint == help


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{% macro m(a, b=1) %}{{ a }}{% endmacro %}{{ m(1, 2, 3) }}", "`m` takes at most 2 arguments, and was given 3"),
        ("{% macro m(a, b=1) %}{{ a }}{% endmacro %}{{ m(1, c=3) }}", "`m` has no parameter `c`"),
        ("{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=3) }}", "`m` is given `a` twice"),
        (
            "{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}",
            "`m` does not use the text of a `{% call %}`: it never says `caller()`",
        ),
        ("{% macro m() %}{{ caller(1) }}{% endmacro %}{% call m() %}y{% endcall %}", "`caller` takes no argument, and was given 1"),
        ("{% for i in [1] %}{{ loop.cycle() }}{% endfor %}", "`loop.cycle` needs at least one value"),
        ("{% set c = cycler(1) %}{{ c.next(2) }}", "`.next()` takes no argument, and was given 1"),
        ("{% filter center(width='x') %}a{% endfilter %}", "`width` of `center` must be a whole number, not a string"),
        ("{% set n = 'x' %}{{ 'a' | center(n) }}", "`width` of `center` must be a whole number, not a string"),
        ("{% macro m(n) %}{{ 'a' | center(n) }}{% endmacro %}{{ m('x') }}", "`width` of `center` must be a whole number, not a string"),
    ],
)
def test_in_a_template(text, told):
    (found,) = find_errors(text)
    assert (found.code, found.message) == ("PC0424", told)
    assert ("PC0424", found.message, found.help) in judge_template(text)


@pytest.mark.parametrize(
    "text",
    [
        "{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, c=3) }}",
        "{% macro m(a) %}{{ a | default('-') }}{% endmacro %}{{ m() }}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}y{% endcall %}",
        "{% if false %}{{ 'a' | center('x') }}{% endif %}",
        "{{ [1, 2] | slice(1) | list }}{{ 'a b' | wordwrap(1) }}{{ 'A. B.' | sentences_about(['B'], 1) }}",
        "{% set n = 3 %}{{ 'a' | center(n) }}{{ 'a' | center(*[5]) }}{{ 'a' | center(**{'width': 5}) }}",
        "{% for i in [1] %}{{ loop.cycle(1) }}{{ loop.changed(i) }}{% endfor %}{% set c = cycler(1) %}{{ c.next() }}",
    ],
)
def test_what_works_is_left_alone(text):
    assert render(text) is not None
    assert judge_template(text) == []


def test_an_argument_is_found_at_its_place():
    place = infer_types(read_code(load_expression("1 | round(1, 'up')", INLINE)), Scope({}), weigh_bytes).problems[0].position
    assert place == len("1 | round(1, ") + 1
