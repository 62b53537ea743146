"""What the items of a store or an index are (language.md §4)."""

from __future__ import annotations

from promptc.model.source import Retrieve, Segments
from promptc.template.kinds.kind import NOTHING, NUMBER, TEXT, UNKNOWN, WHOLE, Gap, Kind, List, Mapping, make_mapping, text_of
from promptc.template.kinds.unite import unite

_METADATA = Mapping((), lambda name: UNKNOWN, lambda: UNKNOWN, False)
_RANKED = ("index", "score")
_CHUNK: dict[str, Kind] = {
    **dict.fromkeys(("id", "text", "file", "preview"), TEXT),
    "heading": List(TEXT),
    "length": WHOLE,
    **dict.fromkeys(("version", "domain", "mode", "date"), UNKNOWN),
}


def find_source_kind(source: Segments | Retrieve, *, asked: bool) -> Kind:
    """The kind of an item; with `asked` of what the source's own `where` and `boost` see, which is not scored yet."""
    if isinstance(source, Segments):
        return _find_row(source)
    return _find_chunk({} if asked else {"index": text_of(*source.indexes), "score": NUMBER} if source.indexes else {})


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


def _find_chunk(ranked: dict[str, Kind]) -> Kind:
    """Its metadata may have any other name."""
    known = {**_CHUNK, **ranked}

    def find(name: str) -> Kind:
        if name in _RANKED and name not in known:
            return Gap("closed", name, tuple(known), "a mapping")
        return known.get(name, UNKNOWN)

    return Mapping(tuple(known), find, lambda: UNKNOWN, False)
