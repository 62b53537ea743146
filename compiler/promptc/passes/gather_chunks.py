"""What indexes retrieve, as the items of a section (language.md §4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, count_noun, fail
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.section import MICRO, Retrieve, show_score
from promptc.model.stages import Gathered, SourceDigest
from promptc.sources.retrieval.local import LoadedIndex
from promptc.sources.retrieval.retrieve import Boost, ChunkFilter, ChunkQuery, FoundChunk, Retrieved
from promptc.sources.retrieval.scoring import has_words
from promptc.template.compile import Expression
from promptc.text.json import render_canonical_json, render_digest
from promptc.text.white import is_blank

Open = Callable[[str | None], Sequence[LoadedIndex]]
Ask = Callable[[Sequence[LoadedIndex], ChunkQuery], Retrieved]


def gather_chunks(section: str, source: Retrieve, names: Mapping[str, Any], stamp: str, *, open: Open, ask: Ask) -> Gathered:
    """The best chunks, best first. `open` gives the indexes for a version, which a query without words does not need; `stamp` changes with
    every state and pack.

    Raises `PromptcError`: PC0554 for a query and PC0555 for a version of another kind than text.
    """
    query = _find_text(source.query, names, "PC0554", f"`retrieve.query` of `{section}`")
    version = _find_text(source.version, names, "PC0555", f"`retrieve.version` of `{section}`") or None
    indexes = open(version) if has_words(query) else ()
    found = ask(indexes, _make_request(source, query, version, names, stamp)) if indexes else Retrieved(is_sparse=source.sparse_below > 0)
    chosen, floor = len(found.found), found.under_floor
    left_out = {"floor": floor, "top": found.considered - floor - chosen}
    return Gathered(
        values=tuple(one.describe() for one in found.found),
        left_out={stage: count for stage, count in left_out.items() if count},
        account=_describe(indexes, query, version, found),
        digests=tuple(SourceDigest("index", index.name, index.fingerprint) for index in indexes),
        is_sparse=found.is_sparse,
        unwanted=found.unwanted,
        refused=tuple({**_describe_chunk(one), "why": why} for one, why in found.refused),
        warnings=(*(_warn(section, source, note) for note in found.notes), *_warn_few(section, source, query, found, indexes)),
    )


def _find_text(expression: Expression | None, names: Mapping[str, Any], code: str, what: str) -> str:
    value = expression.evaluate(names) if expression is not None else None
    if value is not None and not isinstance(value, str):
        raise fail(code, f"{what} must be text or null, not {show_value(value)}", expression.span if expression is not None else None)
    return value or ""


def _make_request(source: Retrieve, query: str, version: str | None, names: Mapping[str, Any], stamp: str) -> ChunkQuery:
    return ChunkQuery(
        query=query,
        version=version,
        where=_make_condition(source.where, names, stamp) if source.where is not None else None,
        boosts=tuple(Boost(one.add, _make_condition(one.where, names, stamp)) for one in source.boosts),
        window=source.window,
        candidates=source.candidates,
        floor=source.floor,
        top=source.top,
        sparse_below=source.sparse_below,
    )


def _make_condition(expression: Expression, names: Mapping[str, Any], stamp: str) -> ChunkFilter:
    """With all that it reads but the chunk as its key: what it says depends on nothing else."""
    read = [[list(path), _find_value(names, path, stamp)] for path in sorted(expression.reads) if path[0] != "item"]

    def accepts(item: Mapping[str, Any]) -> bool:
        return bool(expression.evaluate({**names, "item": item}))

    told = render_canonical_json([expression.text, read])
    return ChunkFilter(accepts, render_digest(told.encode("utf-8", "surrogatepass")))


def _find_value(names: Mapping[str, Any], path: Sequence[str], stamp: str) -> Any:
    """What stands at the path, or as much of the way to it as there is; the stamp for all of the state."""
    at: Any = names
    for key in path:
        if not isinstance(at, Mapping) or key not in at:
            break
        at = at[key]
    return stamp if at is names or at is names["state"] else at


def _describe(indexes: Sequence[LoadedIndex], query: str, version: str | None, found: Retrieved) -> dict[str, Any]:
    return {
        "kind": "retrieve",
        "indexes": [{"name": index.name, "fingerprint": index.fingerprint} for index in indexes],
        "query": query,
        "version": version,
        "considered": found.considered,
        "under_floor": found.under_floor,
        "sparse": found.is_sparse,
        "notes": list(found.notes),
        "chunks": [_describe_chunk(one) for one in found.found],
    }


def _describe_chunk(found: FoundChunk) -> dict[str, Any]:
    chunk, score = found.chunk, found.score
    return {
        "id": chunk.id,
        "index": found.index,
        "file": chunk.file,
        "version": chunk.version or None,
        "tokens": chunk.tokens,
        "score": score.total / MICRO,
        "words": score.words / MICRO,
        "vectors": score.vectors / MICRO,
        "boost": (score.total - score.fused) / MICRO,
    }


def _warn(section: str, source: Retrieve, note: str) -> Diagnostic:
    return Diagnostic("PC0197", f"`{section}` retrieves by words alone: {note}", source.span, level="warn")


def _warn_few(section: str, source: Retrieve, query: str, found: Retrieved, indexes: Sequence[LoadedIndex]) -> Iterator[Diagnostic]:
    """Where less than `sparse_below` was found, whatever the reason: a pack that says 0 expects nothing."""
    if not found.is_sparse:
        return
    if not indexes:
        why = "its query is empty" if is_blank(query) else f"there is no word in its query {show_value(query)}"
        yield Diagnostic("PC0592", f"`{section}` retrieves nothing: {why}", source.query.span, _SAY, "warn")
        return
    got = count_noun(len(found.found), "chunk") if found.found else "nothing"
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(index.name for index in indexes))
    unwanted = f"; `where` refused {found.unwanted}" if found.unwanted else ""
    if not found.refused:
        message = f"`{section}` retrieves {got}: no {'other ' if found.found else ''}chunk of {names} is near the query{unwanted}"
        yield Diagnostic("PC0592", message, source.span, _ASK, "warn")
        return
    best, why = found.refused[0]
    made = f"words {show_score(best.score.words)}, vectors {show_score(best.score.vectors)}"
    named = f"`{best.chunk.id}`" + (f" of {best.chunk.file}" if best.chunk.file else "")
    others = f"the best of the others, {named} with {show_score(best.score.total)} ({made}), {_WHYS[why](source)}"
    message = f"`{section}` retrieves {got} of {count_noun(found.considered, 'scored chunk')}: {others}{unwanted}"
    yield Diagnostic("PC0592", message, source.span, _HELPS[why].format(score=show_score(best.score.fused)), "warn")


_SAY = (
    "ask for something, as `query: state.input` does; `when` leaves the section out where there is nothing to ask, "
    "and `sparse_below: 0` says that nothing is a good answer"
)
_ASK = "ask in words that the chunks hold; `promptc index query` shows what is found"
_WHYS: Mapping[str, Callable[[Retrieve], str]] = {
    "floor": lambda source: f"is under the floor of {show_score(source.floor)}",
    "candidates": lambda source: f"is not among the best {source.candidates} of its index",
    "top": lambda source: f"is not among the best {source.top}",
}
_HELPS = {
    "floor": "lower `floor` to {score}, or ask in fewer words: each word of the query that a chunk lacks lowers its score for words",
    "candidates": "raise `candidates`",
    "top": "raise `top`, or lower `sparse_below`",
}
