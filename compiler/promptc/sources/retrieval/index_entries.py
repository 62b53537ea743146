"""An index over a list in the state: made when it is asked for, never written."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.model.sources import Chunk, Matching
from promptc.sources.retrieval.built_index import BuiltIndex, Vectors
from promptc.sources.retrieval.encoder import BACKGROUNDS, KNOWN, Vector
from promptc.sources.retrieval.loaded_index import LoadedIndex
from promptc.sources.retrieval.open_index import open_index
from promptc.sources.retrieval.weigh_words import weigh_words
from promptc.text.json import render_canonical_json, render_digest


@frozen
class IndexedItem:
    """An item of the list: its id, its text, and what else is known of it (the item itself, where it is a mapping)."""

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


def index_entries(
    name: str,
    matching: Matching,
    entries: Sequence[IndexedItem],
    *,
    count: Callable[[str], int],
    encode: Callable[[str], Vector] | None,
) -> LoadedIndex:
    """The index of `entries`, one chunk each, in their order. `count` gives tokens; `encode` gives the vector of a text, or is None where
    there are to be none.
    """
    fingerprint = digest_entries(name, entries)
    made = [Chunk(one.id, "", place, (), (), one.text, count(one.text), one.metadata) for place, one in enumerate(entries)]
    chunks = tuple(sorted(made, key=lambda chunk: (chunk.version, chunk.ordinal)))
    vectors = _encode(chunks, matching.encoder, encode) if encode is not None else None
    return open_index(name, matching, BuiltIndex(name, "", "", (), chunks, weigh_words(chunks), vectors, fingerprint))


def digest_entries(name: str, entries: Sequence[IndexedItem]) -> str:
    """What stands for the list: equal lists have equal digests."""
    told = [name, *([one.id, one.text, one.metadata] for one in entries)]
    return render_digest(render_canonical_json(told).encode("utf-8", "surrogatepass"))


def _encode(chunks: Sequence[Chunk], encoder: str, encode: Callable[[str], Vector]) -> Vectors:
    """A list has no headings to measure what lies behind every text: a number of the encoder's own stands for it."""
    values = array("h")
    for chunk in chunks:
        values.extend(encode(chunk.text))
    return Vectors(encoder, KNOWN.get(encoder, ""), len(values) // max(len(chunks), 1), BACKGROUNDS.get(encoder, 0), values)
