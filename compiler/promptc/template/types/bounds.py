"""Upper bounds on printed text: of a value (`measure`), and of a stretch of a template (`Amount`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from promptc.template.types.algebra import add_bounds, find_most, join_members, part_type
from promptc.template.types.types import BlankType, BoolType, ListType, MappingType, NoneType, NumberType, TextType, Type, list_members

MAX_TOKEN = 512
"""Bytes of the longest token in any of the vocabularies."""

_FLOAT = 25
_TRUE_FALSE = len("False")
_NONE = len("None")
_DEEPEST = 12


def measure(kind: Type) -> TextType:
    """Return the type of the text that a value of this type prints as. If it has no bound, `at` says where the bound is missing."""
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
    """Return the text of a number.

    Whole numbers of a state may be written, and print, as 1.0. Other numbers print as 25 characters at most.
    """
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
        value = _quote(_measure(part_type(kind, name), depth + 1))
        at = at or (value.at if value.size is None else "")
        sizes.append(add_bounds(value.size, 10 * len(name.encode("utf-8", "surrogatepass")) + 6))
    size = add_bounds(*sizes)
    return TextType(size, size, None, at)


def _quote(inner: TextType) -> TextType:
    """Return a text as it appears in a printed list: quoted, with at most ten bytes for a character."""
    size = None if inner.size is None else 4 * inner.size + 2
    return TextType(size, size, None, inner.at)


def _times(inner: TextType, count: int, each: int) -> TextType:
    size = None if inner.size is None else count * (inner.size + each) + 3
    return TextType(size, size, None, inner.at)


@dataclass(frozen=True, slots=True)
class Amount:
    """Upper bounds on printed text: tokens in any surroundings, bytes of UTF-8, and characters.

    `loose` counts the bytes that are not constant text with counted tokens. None means no bound; `at` is then the place in the schema that
    sets none (a JSON pointer after `#`), or empty.
    """

    tokens: int | None = 0
    size: int | None = 0
    characters: int | None = 0
    loose: int | None = 0
    at: str = ""

    def plus(self, *others: Amount) -> Amount:
        """Return the amount of this and the others, printed one after the other."""
        found = (self, *others)
        at = next((one.at for one in found if one.size is None), "")
        tokens, size = add_bounds(*(one.tokens for one in found)), add_bounds(*(one.size for one in found))
        characters, loose = add_bounds(*(one.characters for one in found)), add_bounds(*(one.loose for one in found))
        return Amount(tokens, size, characters, loose, at)

    def times(self, count: int | None, at: str = "") -> Amount:
        """Return the amount printed `count` times (None: no bound). `at` is the place that leaves `count` without a bound."""
        if self.size == 0 or count == 0:
            return Amount()
        if count is None or self.size is None or self.tokens is None or self.characters is None or self.loose is None:
            return Amount(None, None, None, None, self.at if self.size is None else at)
        return Amount(self.tokens * count, self.size * count, self.characters * count, self.loose * count)


UNBOUNDED = Amount(None, None, None, None)


def choose_largest(amounts: Iterable[Amount]) -> Amount:
    """Return the bounds for printing any one of the amounts."""
    found = list(amounts)
    if not found:
        return Amount()
    at = next((one.at for one in found if one.size is None), "")
    tokens, size = find_most(*(one.tokens for one in found)), find_most(*(one.size for one in found))
    characters, loose = find_most(*(one.characters for one in found)), find_most(*(one.loose for one in found))
    return Amount(tokens, size, characters, loose, at)


def amount_of(shown: TextType) -> Amount:
    """Return the amount of a printed text that is not constant. A token has at least one byte, so bytes bound its tokens."""
    return Amount(shown.size, shown.size, shown.characters if shown.characters is not None else shown.size, shown.size, shown.at)


def text_of_amount(made: Amount) -> TextType:
    """Return the type of the text that a stretch of a template prints."""
    return TextType(made.characters, made.size, None, made.at)
