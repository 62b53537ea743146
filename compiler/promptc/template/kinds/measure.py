"""How long a value is when it is printed, at most."""

from promptc.template.kinds.kind import Blank, Kind, List, Mapping, Nothing, Number, Text, Truth, list_members
from promptc.template.kinds.parts import find_part
from promptc.template.kinds.unite import add_bounds, find_most, join

_FLOAT = 25
_TRUE_FALSE = len("False")
_NONE = len("None")
_DEEPEST = 12


def measure(kind: Kind) -> Text:
    """The text that printing a value of this kind gives. Bounds are None where there are none, and `at` then says where."""
    return _measure(kind, 0)


def _measure(kind: Kind, depth: int) -> Text:
    found = [_measure_one(member, depth) for member in list_members(kind)]
    if not found:
        return Text(0, 0)
    if len(found) == 1:
        return found[0]
    open_at = next((one.at for one in found if one.size is None), "")
    return Text(find_most(*(one.characters for one in found)), find_most(*(one.size for one in found)), None, open_at)


def _measure_one(kind: Kind, depth: int) -> Text:
    if isinstance(kind, Text):
        return kind
    if isinstance(kind, Number):
        return _measure_number(kind)
    if isinstance(kind, Truth | Nothing | Blank):
        length = {Truth: _TRUE_FALSE, Nothing: _NONE, Blank: 0}[type(kind)]
        return Text(length, length)
    if depth < _DEEPEST and isinstance(kind, List):
        return _measure_list(kind, depth)
    if depth < _DEEPEST and isinstance(kind, Mapping):
        return _measure_mapping(kind, depth)
    return Text(at=getattr(kind, "at", ""))


def _measure_number(kind: Number) -> Text:
    """Whole numbers of a state may be written as 1.0 and print so; other numbers take at most 25 characters."""
    if kind.least is None or kind.most is None:
        return Text(at=kind.at)
    length = max(len(str(int(kind.least))), len(str(int(kind.most)))) + len("-.0")
    length = length if kind.whole else max(length, _FLOAT)
    return Text(length, length)


def _measure_list(kind: List, depth: int) -> Text:
    if kind.most is None:
        return Text(at=kind.at)
    return _times(_quote(_measure(join(kind), depth + 1)), kind.most, 3)


def _measure_mapping(kind: Mapping, depth: int) -> Text:
    if not kind.closed:
        return Text(at=kind.at)
    sizes: list[int | None] = [2]
    at = ""
    for name in kind.names:
        value = _quote(_measure(find_part(kind, name), depth + 1))
        at = at or (value.at if value.size is None else "")
        sizes.append(add_bounds(value.size, 10 * len(name.encode("utf-8", "surrogatepass")) + 6))
    size = add_bounds(*sizes)
    return Text(size, size, None, at)


def _quote(inner: Text) -> Text:
    """A text inside a printed list: quoted, with at most ten bytes for a character."""
    size = None if inner.size is None else 4 * inner.size + 2
    return Text(size, size, None, inner.at)


def _times(inner: Text, count: int, each: int) -> Text:
    size = None if inner.size is None else count * (inner.size + each) + 3
    return Text(size, size, None, inner.at)
