"""A frozen class does what the frozen dataclass of the same fields does."""

import dataclasses
import pickle
import sys
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from promptc.diag.frozen import field, frozen, replace

NAMES = ("a", "b", "c", "d", "e")
FIELD = st.fixed_dictionaries(
    {"default": st.none() | st.integers(0, 3), "factory": st.booleans(), "repr": st.booleans(), "compare": st.booleans()}
)
VALUE = st.integers(0, 2) | st.sampled_from(["", "x", (1, 2)])


@st.composite
def classes(draw):
    """Two classes of the same shape, perhaps with a base: of ours and of `dataclasses`."""
    shapes = draw(st.lists(FIELD, max_size=len(NAMES)))
    first = draw(st.integers(0, len(shapes)))
    split, eq = draw(st.integers(0, len(shapes))), draw(st.booleans())
    lines = list(enumerate(shapes))
    return [
        _build(decorate, make, lines, first, split)
        for decorate, make in ((frozen(eq=eq), field), (dataclasses.dataclass(frozen=True, slots=True, eq=eq), dataclasses.field))
    ]


def _build(decorate, make, lines, first, split):
    """Fields before `first` have no default; those before `split` are the base's."""
    base = decorate(type("Base", (), _space(make, lines[:split], first)))
    return decorate(type("Kind", (base,), _space(make, lines[split:], first)))


def _space(make, lines, first):
    space = {"__annotations__": {NAMES[index]: object for index, _ in lines}, "__module__": __name__}
    for index, shape in lines:
        options = {"repr": shape["repr"], "compare": shape["compare"]}
        if index >= first:
            options |= {"default_factory": list} if shape["factory"] else {"default": shape["default"]}
        space[NAMES[index]] = make(**options)
    return space


def _try(act):
    try:
        return act()
    except (TypeError, AttributeError) as wrong:
        return type(wrong).__name__ if not isinstance(wrong, AttributeError) else "AttributeError"


@given(
    classes(),
    st.lists(st.tuples(st.lists(VALUE, max_size=6), st.dictionaries(st.sampled_from((*NAMES, "z")), VALUE)), min_size=2, max_size=3),
    st.sampled_from((1, 2, 10**9)),
)
def test_the_same_is_made_shown_compared_and_replaced(pair, givens, many):
    """Also once a class has an `__init__` of its own, which it gets after `many` values."""
    with patch.object(sys.modules["promptc.diag.frozen"], "_MANY", many):
        _compare(pair, givens)


def _compare(pair, givens):
    ours, theirs = ([_try(lambda kind=kind, given=given: kind(*given[0], **given[1])) for given in givens] for kind in pair)
    assert [isinstance(one, str) for one in ours] == [isinstance(one, str) for one in theirs]
    made = [(one, other) for one, other in zip(ours, theirs, strict=True) if not isinstance(one, str)]
    names = pair[1].__match_args__
    assert pair[0].__match_args__ == names and pair[0].__slots__ == pair[1].__slots__
    for one, other in made:
        assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
        assert repr(one) == repr(other)
        assert _try(lambda one=one: hash(one)) == _try(lambda other=other: hash(other)) or pair[0].__eq__ is object.__eq__
        for name in ("a", "z"):
            assert _show(_try(lambda one=one, name=name: replace(one, **{name: 7}))) == _show(
                _try(lambda other=other, name=name: dataclasses.replace(other, **{name: 7}))
            )
            assert _try(lambda one=one, name=name: setattr(one, name, 1)) == "AttributeError"
    for one, other in made:
        assert [one == third for third, _ in made] == [other == fourth for _, fourth in made]


def _show(made):
    return made if isinstance(made, str) else repr(made)


@frozen
class _Kept:
    first: object
    second: object = ()


@given(VALUE, VALUE)
def test_a_pickled_value_is_the_value(first, second):
    kept = _Kept(first, second)
    assert pickle.loads(pickle.dumps(kept)) == kept
