"""What the items of a store or an index are (language.md §4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from promptc.diag.frozen import replace
from promptc.model.section import Retrieve, Segments
from promptc.model.sources import CorpusIndex
from promptc.template.types.algebra import join_types
from promptc.template.types.types import (
    NONE_TYPE,
    NUMBER_TYPE,
    TEXT_TYPE,
    UNKNOWN_TYPE,
    WHOLE,
    ListType,
    MappingType,
    Type,
    UndefinedType,
    list_members,
    make_mapping,
    text_of,
)

_METADATA = MappingType((), lambda name: UNKNOWN_TYPE, lambda: UNKNOWN_TYPE, False)
_RANKED = ("index", "score")
_CHUNK: dict[str, Type] = {
    **dict.fromkeys(("id", "text", "file", "preview"), TEXT_TYPE),
    "heading": ListType(TEXT_TYPE),
    "length": WHOLE,
    **dict.fromkeys(("version", "domain", "mode", "date"), UNKNOWN_TYPE),
}
_BRACED = re.compile(r"\{(\w+)\}")
CHUNK = "a chunk"
"""The holder of a gap in the metadata of an index over files."""


def find_source_kind(source: Segments | Retrieve, own: Sequence[CorpusIndex | Type], *, asked: bool) -> Type:
    """The kind of an item; with `asked` of what the source's own `where` and `boost` see, which is not scored yet.

    `own`: of each index asked, the index over files, or the kind of the elements of the list in the state that it is made of.
    """
    if isinstance(source, Segments):
        return _find_row(source)
    ranked: dict[str, Type] = {"index": text_of(*source.indexes), "score": NUMBER_TYPE} if source.indexes and not asked else {}
    return join_types(*(_find_chunk(one, ranked) for one in own)) if own else _find_chunk(UNKNOWN_TYPE, ranked)


def _find_row(source: Segments) -> Type:
    maybe = join_types(TEXT_TYPE, NONE_TYPE)
    return make_mapping(
        {
            "id": TEXT_TYPE,
            "scope": text_of(source.scope),
            "ref_id": TEXT_TYPE if source.ref is not None else maybe,
            "content": TEXT_TYPE,
            "metadata": _METADATA,
            "locale": maybe,
            "version": maybe,
        }
    )


def _find_chunk(own: CorpusIndex | Type, ranked: dict[str, Type]) -> Type:
    """The compiler's own keys, and its metadata. `index` and `score` are not there before it is ranked, whatever its metadata has."""
    said = _list_said(own) if isinstance(own, CorpusIndex) else ()
    known = {**dict.fromkeys(said, UNKNOWN_TYPE), **_CHUNK, **ranked}
    names = tuple(known)

    def find(name: str) -> Type:
        if name in _RANKED and name not in known:
            return UndefinedType("closed", name, names, "a mapping")
        if name in known:
            return known[name]
        if isinstance(own, CorpusIndex):
            return join_types(UNKNOWN_TYPE, UndefinedType("undeclared", name, names, CHUNK))
        return _find_in_elements(own, name, names)

    return MappingType(names, find, lambda: UNKNOWN_TYPE, False)


def _list_said(index: CorpusIndex) -> tuple[str, ...]:
    """The metadata that every file of an index has: by `defaults`, and by the names in the pattern of its files."""
    return (*index.defaults, *_BRACED.findall(index.pattern))


def _find_in_elements(element: Type, name: str, names: tuple[str, ...]) -> Type:
    """A part of what a list in the state holds: all of an element but the compiler's own keys is metadata of its chunk."""
    members = list_members(element)
    if not members or not all(isinstance(one, MappingType) for one in members):
        return UNKNOWN_TYPE
    parts = [part for one in members if isinstance(one, MappingType) for part in list_members(one.find(name))]
    return join_types(*(replace(part, known=(*names, *part.known)) if isinstance(part, UndefinedType) else part for part in parts))
