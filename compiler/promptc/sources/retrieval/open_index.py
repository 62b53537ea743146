"""From an index on disk to one that can be asked, if it is what the pack and its files say now."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from promptc.diag.findings import Diagnostic, DiskError
from promptc.model.sources import CorpusIndex, Document, Matching
from promptc.sources.retrieval.built_index import BuiltIndex, digest_config, digest_corpus
from promptc.sources.retrieval.encoder import KNOWN
from promptc.sources.retrieval.find_terms import read_synonyms
from promptc.sources.retrieval.loaded_index import LoadedIndex
from promptc.sources.retrieval.local_store import make_store
from promptc.sources.retrieval.read_index import IndexPlace
from promptc.text.json import render_canonical_json, render_digest

_UNBUILT = "the index `{}` has no vectors: it was built without the extra `[retrieval]`"


def check_index(index: CorpusIndex, built: BuiltIndex, documents: Sequence[Document], counter: str, place: IndexPlace) -> None:
    """Raises `DiskError` (PC0192) where the index is not of these documents, or of other settings or another model than the pack's."""
    why = _find_difference(index, built, documents, counter)
    if why:
        message = f"the index `{index.name}` in `{place.folder}` is stale: {why}"
        raise DiskError([Diagnostic("PC0192", message, place.span, f"run `{place.command}`")])


def open_index(name: str, matching: Matching, built: BuiltIndex) -> LoadedIndex:
    """The index as queries meet it."""
    words, vectors = built.words, built.vectors
    weights = matching.weights
    asked = bool(weights.vectors and matching.encoder)
    ours = vectors if asked else None
    told = [built.fingerprint, [weights.words, weights.vectors], matching.encoder, matching.synonyms]
    return LoadedIndex(
        name,
        render_digest(render_canonical_json(told).encode("utf-8", "surrogatepass")),
        make_store(built.chunks, words, vectors.values if vectors is not None else array("h"), vectors.size if vectors is not None else 0),
        {word: words.ideals[number] for word, number in words.numbers.items()},
        words.unseen,
        read_synonyms(matching.synonyms),
        (weights.words, weights.vectors),
        ours.encoder if ours is not None else "",
        ours.background if ours is not None else 0,
        _UNBUILT.format(name) if asked and ours is None else "",
    )


def _find_difference(index: CorpusIndex, built: BuiltIndex, documents: Sequence[Document], counter: str) -> str:
    encoder, vectors = index.matching.encoder, built.vectors
    if built.config != digest_config(index, counter):
        return "the pack's settings of chunks, or its tokenizer, are not those it was built with"
    if vectors is not None and encoder and (vectors.encoder, vectors.digest) != (encoder, KNOWN.get(encoder)):
        return f"its vectors were made by `{vectors.encoder}` ({vectors.digest[:19]}…), not by what `{encoder}` is now"
    return "" if built.corpus == digest_corpus(documents) else _describe_changes(built, documents)


def _describe_changes(built: BuiltIndex, documents: Sequence[Document]) -> str:
    before, now = dict(built.documents), {one.file: one.digest for one in documents}
    new, gone = sorted(now.keys() - before.keys()), sorted(before.keys() - now.keys())
    changed = sorted(file for file in now.keys() & before.keys() if now[file] != before[file])
    told = [(changed, "changed"), (new, "new"), (gone, "gone")]
    return ", ".join(f"`{files[0]}`{f' and {len(files) - 1} more' if files[1:] else ''} {word}" for files, word in told if files)
