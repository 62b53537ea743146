"""Frozen values behave as frozen dataclasses with slots do."""

import copy
import pickle
import subprocess
import sys

import pytest

from promptc.diag.frozen import as_plain, field, frozen, replace
from tests.contract.sources import ROOT


@frozen
class Point:
    """A point."""

    x: int
    y: int = 0
    tags: dict[str, int] = field(default_factory=dict, compare=False)

    def move(self, by):
        """Another point."""
        return replace(self, x=self.x + by)


@frozen
class Named(Point):
    name: str = ""


@frozen(eq=False)
class Lone:
    held: object


@frozen
class Hidden:
    shown: int
    secret: str = field(default="s", repr=False)


@frozen
class Empty:
    pass


@frozen
class Odd:
    value: int

    def __eq__(self, other):
        return other.__class__ is Odd and self.value % 2 == other.value % 2

    def __hash__(self):
        return self.value % 2


@pytest.mark.parametrize("default", [[], {}, set()], ids=repr)
def test_a_default_that_could_be_changed_is_refused(default):
    with pytest.raises(TypeError, match=r"Shared.held would be one \w+ for all: use field\(default_factory=...\)"):
        frozen(type("Shared", (), {"__annotations__": {"held": object}, "held": default}))


def test_values_are_given_by_place_by_name_and_by_default():
    assert (Point(1).x, Point(1).y, Point(1, 2).y, Point(x=3, y=4).x) == (1, 0, 2, 3)
    assert Point(1).tags == {} and Point(1).tags is not Point(1).tags


@pytest.mark.parametrize(
    ("args", "given", "message"),
    [
        ((), {}, "needs a value for 'x'"),
        ((1, 2, {}, 4), {}, "takes 3 values, but 4 were given"),
        ((1,), {"z": 1}, "has no field 'z'"),
        ((1,), {"x": 1}, "was given 'x' twice"),
    ],
)
def test_wrong_values_are_refused(args, given, message):
    with pytest.raises(TypeError, match=message):
        Point(*args, **given)


def test_nothing_can_be_set_or_deleted():
    point = Point(1)
    with pytest.raises(AttributeError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(AttributeError, match="cannot assign"):
        point.other = 2
    with pytest.raises(AttributeError, match="cannot delete field 'x'"):
        del point.x
    assert not hasattr(point, "__dict__")


def test_equality_goes_by_class_and_compared_fields():
    assert Point(1, 2, {"a": 1}) == Point(1, 2) and hash(Point(1, 2, {"a": 1})) == hash(Point(1, 2))
    assert Point(1, 2) != Point(2, 2) and Point(1) != Named(1) and Point(1) != (1, 0, {})
    assert len({Point(1), Point(1), Point(2)}) == 2


def test_a_class_without_equality_goes_by_identity():
    one = Lone([])
    assert one == one and one != Lone([]) and len({one, Lone([])}) == 2


def test_own_equality_stays():
    assert Odd(1) == Odd(3) and hash(Odd(1)) == hash(Odd(3)) and Odd(1) != Odd(2)


def test_fields_of_a_base_come_first():
    assert Named.__match_args__ == ("x", "y", "tags", "name")
    assert Named(1, 2, {}, "n") == Named(x=1, y=2, name="n") and isinstance(Named(1), Point)
    assert Named.__slots__ == ("name",) and Named(1, name="n").move(2) == Named(3, name="n")


def test_a_value_shows_its_fields():
    assert repr(Point(1)) == "Point(x=1, y=0, tags={})"
    assert repr(Hidden(1)) == "Hidden(shown=1)" and repr(Empty()) == "Empty()"
    assert Point.__doc__ == "A point." and Point.__qualname__ == "Point" and Point.__module__ == __name__


def test_replace_gives_another_value_of_the_same_class():
    assert replace(Named(1, name="n"), y=5) == Named(1, 5, name="n")
    with pytest.raises(TypeError, match="has no field 'z'"):
        replace(Point(1), z=1)


def test_a_value_can_be_had_as_plain_data():
    held = Lone([Point(1, 2), {"at": (Named(3, name="n"),)}, "text"])
    assert as_plain(held) == {
        "held": [{"x": 1, "y": 2, "tags": {}}, {"at": [{"x": 3, "y": 0, "tags": {}, "name": "n"}]}, "text"],
    }


def test_places_match():
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


@pytest.mark.parametrize("value", [Point(1, 2, {"a": 1}), Named(1, 2, {}, "n"), Hidden(1, "t"), Empty(), Odd(3)], ids=repr)
def test_a_value_survives_pickling_and_copying(value):
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value and repr(again) == repr(value) and again.__class__ is value.__class__


def test_the_modules_import_none_that_cost():
    code = (
        "import sys; before = set(sys.modules); import promptc.diag.frozen, promptc.diag.typed; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "compiler")})
    free = {"collections", "itertools", "keyword", "operator", "reprlib"}  # which `functools` and `re` import in any case
    assert not [name for name in done.stdout.split() if not name.startswith(("promptc", "_")) and name not in free], (
        done.stdout + done.stderr
    )


def test_a_class_of_which_many_are_made_refuses_what_it_refused():
    """In the same words, though its `__init__` is another by then; what is given twice is Python's own to refuse."""
    shared = Point.__init__
    for x in range(300):
        assert Point(x).tags is not Point(x).tags
    assert Point.__init__ is not shared and Named.__init__ is not Point.__init__
    for message, arguments, named in [
        ("needs a value for 'x'", (), {}),
        ("takes 3 values, but 4 were given", (1, 2, {}, 4), {}),
        ("has no field 'z'", (1,), {"z": 2}),
        ("'x'", (1,), {"x": 2}),
    ]:
        with pytest.raises(TypeError, match=message):
            Point(*arguments, **named)
    assert Named(1, name="n").name == "n" and Point(1, y=2) == Point(1, 2)
