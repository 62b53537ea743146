"""How long a value is when it is printed, at most."""

from promptc.template.kinds.parts import find_part
from promptc.template.kinds.unite import add_bounds, find_most, join_members
from promptc.template.types.types import BlankType, BoolType, ListType, MappingType, NoneType, NumberType, TextType, Type, list_members

_FLOAT = 25
_TRUE_FALSE = len("False")
_NONE = len("None")
_DEEPEST = 12


def measure(kind: Type) -> TextType:
    """The text that printing a value of this kind gives. Bounds are None where there are none, and `at` then says where."""
    return _measure(kind, 0)


def _measure(kind: Type, depth: int) -> TextType:
    found = [_measure_one(member, depth) for member in list_members(kind)]
    if not found:
        return TextType(0, 0)
    if len(found) == 1:
        return found[0]
    open_at = next((one.at for one in found if one.size is None), "")
    return TextType(find_most(*(one.characters for one in found)), find_most(*(one.size for one in found)), None, open_at)


def _measure_one(kind: Type, depth: int) -> TextType:
    if isinstance(kind, TextType):
        return kind
    if isinstance(kind, NumberType):
        return _measure_number(kind)
    if isinstance(kind, BoolType | NoneType | BlankType):
        length = {BoolType: _TRUE_FALSE, NoneType: _NONE, BlankType: 0}[type(kind)]
        return TextType(length, length)
    if depth < _DEEPEST and isinstance(kind, ListType):
        return _measure_list(kind, depth)
    if depth < _DEEPEST and isinstance(kind, MappingType):
        return _measure_mapping(kind, depth)
    return TextType(at=getattr(kind, "at", ""))


def _measure_number(kind: NumberType) -> TextType:
    """Whole numbers of a state may be written as 1.0 and print so; other numbers take at most 25 characters."""
    if kind.least is None or kind.most is None:
        return TextType(at=kind.at)
    length = max(len(str(int(kind.least))), len(str(int(kind.most)))) + len("-.0")
    length = length if kind.whole else max(length, _FLOAT)
    return TextType(length, length)


def _measure_list(kind: ListType, depth: int) -> TextType:
    if kind.most is None:
        return TextType(at=kind.at)
    return _times(_quote(_measure(join_members(kind), depth + 1)), kind.most, 3)


def _measure_mapping(kind: MappingType, depth: int) -> TextType:
    if not kind.closed:
        return TextType(at=kind.at)
    sizes: list[int | None] = [2]
    at = ""
    for name in kind.names:
        value = _quote(_measure(find_part(kind, name), depth + 1))
        at = at or (value.at if value.size is None else "")
        sizes.append(add_bounds(value.size, 10 * len(name.encode("utf-8", "surrogatepass")) + 6))
    size = add_bounds(*sizes)
    return TextType(size, size, None, at)


def _quote(inner: TextType) -> TextType:
    """A text inside a printed list: quoted, with at most ten bytes for a character."""
    size = None if inner.size is None else 4 * inner.size + 2
    return TextType(size, size, None, inner.at)


def _times(inner: TextType, count: int, each: int) -> TextType:
    size = None if inner.size is None else count * (inner.size + each) + 3
    return TextType(size, size, None, inner.at)
