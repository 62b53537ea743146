"""Where a section's items come from, if not from the state."""

from __future__ import annotations

from collections.abc import Iterator

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.template.load_expression import Expression

MICRO = 1_000_000
"""Scores are whole millionths: 250_000 is 0.25."""


def show_score(micro: int, places: int = 3) -> str:
    """A score in decimals, of one place to six, cut off towards nothing: shown as a floor, it lets the score itself pass."""
    whole, part = divmod(abs(micro), MICRO)
    return f"{'-' if micro < 0 else ''}{whole}.{part // 10 ** (6 - places):0{places}}"


def read_micro(score: float) -> int:
    """The millionths that a report tells as a score: exactly those it was made of."""
    return round(score * MICRO)


@frozen
class Segments:
    """Segments of a store: those of a scope, of some references (`ref` None: of all), once for every element of `each`."""

    span: Span
    store: str
    scope: str
    ref: Expression | None = None
    each: Expression | None = None
    where: Expression | None = None
    locale: Expression | None = None
    version: Expression | None = None


@frozen
class Boosting:
    """What is added to a chunk's score, in millionths, where something holds."""

    add: int
    where: Expression


@frozen
class Retrieve:
    """The best chunks of indexes for a query (language.md §4). `floor` is in millionths."""

    span: Span
    indexes: tuple[str, ...]
    query: Expression
    version: Expression | None = None
    where: Expression | None = None
    boosts: tuple[Boosting, ...] = ()
    window: int = 50
    candidates: int = 12
    floor: int = 250_000
    top: int = 6
    sparse_below: int = 1


def has_each(source: Expression | Segments | Retrieve) -> bool:
    """True where every item belongs to an element of `each`."""
    return isinstance(source, Segments) and source.each is not None


def iter_expressions(source: Expression | Segments | Retrieve) -> Iterator[tuple[str, Expression]]:
    """Every expression of a source, with the key it stands under."""
    if isinstance(source, Expression):
        yield "items.from", source
        return
    if isinstance(source, Segments):
        keys = {"each": source.each, "ref": source.ref, "locale": source.locale, "version": source.version, "where": source.where}
        yield from ((f"segments.{key}", one) for key, one in keys.items() if one is not None)
        return
    yield "retrieve.query", source.query
    keys = {"version": source.version, "where": source.where}
    yield from ((f"retrieve.{key}", one) for key, one in keys.items() if one is not None)
    yield from (("retrieve.boost", boost.where) for boost in source.boosts)
