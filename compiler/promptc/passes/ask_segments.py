"""What a section asks of a store, worked out of the names it sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.findings import fail
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.section import Segments
from promptc.model.sources import Store
from promptc.passes.scope import find_whole
from promptc.template.compile import Expression

Wish = tuple[str, tuple[str, ...] | None]
"""A scope, and what its segments are to be about; None for all of it."""


@frozen
class Preference:
    """Which of a segment's locales and versions is wanted."""

    locales: tuple[str, ...]
    version: str | None


@frozen(eq=False)
class SegmentQuery:
    """What is asked for one element of `each`, or, without `each`, once. `names` are those `where` sees."""

    names: Mapping[str, Any]
    wish: Wish
    preference: Preference


def ask_segments(section: str, source: Segments, store: Store, names: Mapping[str, Any]) -> list[SegmentQuery]:
    """The wishes in order; none for a `ref` that is none.

    Raises `PromptcError`: PC0550 for an `each` that is no list, PC0551 for a `ref` that is neither text nor a list of texts, PC0552 for
    a `locale` or `version` of another kind than theirs.
    """
    asked = [_ask(section, source, store, inner) for inner in _iter_names(section, source, names)]
    return [one for one in asked if one is not None]


def _iter_names(section: str, source: Segments, names: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if source.each is None:
        yield names
        return
    elements = source.each.evaluate(names)
    if elements is not None and not isinstance(elements, list | tuple):
        raise fail("PC0550", f"`segments.each` of `{section}` must be a list, not {show_value(elements)}", source.each.span)
    for element in elements or ():
        yield {**names, "each": element}


def _ask(section: str, source: Segments, store: Store, names: Mapping[str, Any]) -> SegmentQuery | None:
    refs = _find_refs(section, source.ref, names) if source.ref is not None else None
    if refs is not None and not refs:
        return None
    locale, version = source.locale or store.locale, source.version or store.version
    locales = _find_locales(section, locale, names) if locale is not None else ()
    wanted = _find_version(section, version, names) if version is not None else None
    return SegmentQuery(names, (source.scope, refs), Preference(locales, wanted))


def _find_refs(section: str, ref: Expression, names: Mapping[str, Any]) -> tuple[str, ...]:
    """Every reference once; whole numbers stand for their digits, as ids in a state may be either."""
    value = ref.evaluate(names)
    given = [one if isinstance(one, str) else find_whole(one) for one in _list(value)]
    if None in given:
        what = f"`segments.ref` of `{section}` must be text or a list of texts, not {show_value(value)}"
        raise fail("PC0551", what, ref.span, help="null asks for nothing; leave `ref` out to ask for the whole scope")
    return tuple(dict.fromkeys(str(one) for one in given))


def _find_locales(section: str, locale: Expression, names: Mapping[str, Any]) -> tuple[str, ...]:
    value = locale.evaluate(names)
    given = [one for one in _list(value) if one is not None]
    if not all(isinstance(one, str) for one in given):
        raise fail("PC0552", f"the `locale` of `{section}` must be text or a list of texts, not {show_value(value)}", locale.span)
    return tuple(dict.fromkeys(str(one) for one in given if one))


def _find_version(section: str, version: Expression, names: Mapping[str, Any]) -> str | None:
    value = version.evaluate(names)
    if value is not None and not isinstance(value, str):
        raise fail("PC0552", f"the `version` of `{section}` must be text or null, not {show_value(value)}", version.span)
    return value or None


def _list(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)
