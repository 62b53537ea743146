"""What stands in for `typing` can be written wherever the compiler writes it; named tuples are tuples."""

import pickle
from collections.abc import Callable

import pytest

from promptc.diag import typed
from promptc.diag.typed import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, cast
from tests.contract.sources import PACKAGE


class Place(NamedTuple):
    """A place."""

    line: int
    column: int = 1

    @property
    def next(self):
        return self._replace(line=self.line + 1)


def test_annotations_can_be_evaluated():
    kind = TypeVar("kind")
    for alias in (dict[str, Any], Callable[[Any], Any] | None, Any | None, None | Any, Literal["a", "b"] | None, list[kind], str | Any):
        assert alias is not None
    assert cast(int, "x") == "x"


def test_a_protocol_is_a_plain_base():
    class Sized(Protocol[Any]):
        def size(self): ...

    class Box(Sized, Generic[Any]):
        def size(self):
            return 1

    assert Box().size() == 1


def test_a_named_tuple_is_a_tuple():
    place = Place(3, 4)
    assert place == (3, 4) and place.line == 3 and tuple(place) == (3, 4) and isinstance(place, tuple)
    assert Place(3) == Place(line=3, column=1) == Place(3, column=1) and hash(place) == hash((3, 4)) and Place(1, 9) < Place(2, 0)
    assert place.next == (4, 4) and repr(place) == "Place(line=3, column=4)" and not hasattr(place, "__dict__")
    assert Place._fields == Place.__match_args__ == ("line", "column") and Place.__doc__ == "A place."
    again = pickle.loads(pickle.dumps(place))
    assert again == place and again.__class__ is Place
    line, column = place
    assert (line, column) == (3, 4)


@pytest.mark.parametrize(("args", "given"), [((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"line": 1})])
def test_wrong_places_are_refused(args, given):
    with pytest.raises(TypeError, match="Place"):
        Place(*args, **given)


def test_wrong_names_are_not_replaced():
    with pytest.raises((TypeError, ValueError), match="z"):
        Place(1)._replace(z=1)


def test_the_stub_names_what_there_is():
    stub = (PACKAGE / "diag" / "typed.pyi").read_text(encoding="utf-8")
    named = {line.split(" as ")[1] for line in stub.splitlines() if line}
    assert named == {name for name in vars(typed) if not name.startswith(("_", "@")) and name != "namedtuple"}
