"""What the items of a store or an index are (language.md §4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from promptc.diag.frozen import replace
from promptc.model.index import CorpusIndex
from promptc.model.source import Retrieve, Segments
from promptc.template.kinds.kind import (  # fmt: skip
    NOTHING,
    NUMBER,
    TEXT,
    UNKNOWN,
    WHOLE,
    Gap,
    Kind,
    List,
    Mapping,
    list_members,
    make_mapping,
    text_of,
)
from promptc.template.kinds.unite import unite

_METADATA = Mapping((), lambda name: UNKNOWN, lambda: UNKNOWN, False)
_RANKED = ("index", "score")
_CHUNK: dict[str, Kind] = {
    **dict.fromkeys(("id", "text", "file", "preview"), TEXT),
    "heading": List(TEXT),
    "length": WHOLE,
    **dict.fromkeys(("version", "domain", "mode", "date"), UNKNOWN),
}
_BRACED = re.compile(r"\{(\w+)\}")
CHUNK = "a chunk"
"""The holder of a gap in the metadata of an index over files."""


def find_source_kind(source: Segments | Retrieve, own: Sequence[CorpusIndex | Kind], *, asked: bool) -> Kind:
    """The kind of an item; with `asked` of what the source's own `where` and `boost` see, which is not scored yet.

    `own`: of each index asked, the index over files, or the kind of the elements of the list in the state that it is made of.
    """
    if isinstance(source, Segments):
        return _find_row(source)
    ranked: dict[str, Kind] = {"index": text_of(*source.indexes), "score": NUMBER} if source.indexes and not asked else {}
    return unite(*(_find_chunk(one, ranked) for one in own)) if own else _find_chunk(UNKNOWN, ranked)


def _find_row(source: Segments) -> Kind:
    maybe = unite(TEXT, NOTHING)
    return make_mapping(
        {
            "id": TEXT,
            "scope": text_of(source.scope),
            "ref_id": TEXT if source.ref is not None else maybe,
            "content": TEXT,
            "metadata": _METADATA,
            "locale": maybe,
            "version": maybe,
        }
    )


def _find_chunk(own: CorpusIndex | Kind, ranked: dict[str, Kind]) -> Kind:
    """The compiler's own keys, and its metadata. `index` and `score` are not there before it is ranked, whatever its metadata has."""
    said = _list_said(own) if isinstance(own, CorpusIndex) else ()
    known = {**dict.fromkeys(said, UNKNOWN), **_CHUNK, **ranked}
    names = tuple(known)

    def find(name: str) -> Kind:
        if name in _RANKED and name not in known:
            return Gap("closed", name, names, "a mapping")
        if name in known:
            return known[name]
        if isinstance(own, CorpusIndex):
            return unite(UNKNOWN, Gap("undeclared", name, names, CHUNK))
        return _find_in_elements(own, name, names)

    return Mapping(names, find, lambda: UNKNOWN, False)


def _list_said(index: CorpusIndex) -> tuple[str, ...]:
    """The metadata that every file of an index has: by `defaults`, and by the names in the pattern of its files."""
    return (*index.defaults, *_BRACED.findall(index.pattern))


def _find_in_elements(element: Kind, name: str, names: tuple[str, ...]) -> Kind:
    """A part of what a list in the state holds: all of an element but the compiler's own keys is metadata of its chunk."""
    members = list_members(element)
    if not members or not all(isinstance(one, Mapping) for one in members):
        return UNKNOWN
    parts = [part for one in members if isinstance(one, Mapping) for part in list_members(one.find(name))]
    return unite(*(replace(part, known=(*names, *part.known)) if isinstance(part, Gap) else part for part in parts))
