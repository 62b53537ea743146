"""The pass that queries sources outside the state: stores of segments and retrieval indexes (contract.md §4).

It is called section by section during the selection, because what a section requests may depend on the strain tier and on what earlier
sections selected. It reads only through `Sources`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from promptc.diag.findings import Diagnostic, PromptcError, count_noun, fail, join_names, shorten, show_value
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Protocol
from promptc.model.section import MICRO, Retrieve, Section, Segments, show_score, spell_key
from promptc.model.sources import CorpusIndex, Segment, StateIndex, Store
from promptc.model.stages import Bound, Gathered, SourceDigest
from promptc.passes.bind import evaluate_key
from promptc.passes.items.read import HIDDEN, Shows, read_shown
from promptc.sources.retrieval.local import IndexAtHand, IndexedItem
from promptc.sources.retrieval.retrieve import Boost, ChunkFilter, ChunkQuery, FoundChunk, Retrieved
from promptc.sources.retrieval.scoring import has_words
from promptc.sources.segments import Malformed, Rows, count_forms
from promptc.template.compile import Expression
from promptc.template.runtime.run import read_run
from promptc.text.characters import is_blank
from promptc.text.json import find_whole, render_canonical_json, render_digest

_ROW = 100
"""The steps charged for judging one row."""

_READ = 500
"""The steps charged for one question to a store."""

_NAME = 5
"""The steps charged for a reference or a locale of one element."""

_QUERY, _LETTER, _ENCODED = 1_000, 4, 5_000
"""The steps charged for a query of an index, for each of its characters, and for its vector."""

_FORM = 150
"""The bytes charged for one form of a preferred locale."""

_NAMED = 5
_REF = 10 * _NAMED
"""The steps charged for comparing one name with those that are reported."""

_NEAR = 3
Wish = tuple[str, tuple[str, ...] | None]
"""A scope, and the references that its segments must be about; None for the whole scope."""

Open = Callable[[str | None], Sequence[IndexAtHand]]
Ask = Callable[[Sequence[IndexAtHand], ChunkQuery], Retrieved]

_SAY = (
    "give `query` a string, as `query: state.input` does. Where there may be none, leave the section out with `when`, "
    "or accept no result with `sparse_below: 0`"
)
_ASK = "ask in words that the chunks hold; `promptc index query` shows what is found"
_LIST = "write an expression that returns a list, such as `state.log`"
_LOCALE = "write an expression that returns a language tag, such as `state.language`"
_IDLE = (
    "if no chunk answers the query, write `sparse_below: 0`. If one does, add the query and its answer to the file that the index names "
    "under `asked`, or lower `lead`"
)

_WHYS: Mapping[str, Callable[[Retrieve, int], str]] = {
    "floor": lambda source, floor: f"is under the floor of {show_score(floor)}",
    "candidates": lambda source, floor: f"is not among the best {source.candidates} of its index",
    "top": lambda source, floor: f"is not among the best {source.top}",
}

_HELPS = {
    "floor": "lower `floor` to {score}, or ask in fewer words: each word of the query that is not in this chunk lowers its score",
    "candidates": "raise `candidates`",
    "top": "raise `top`, or lower `sparse_below`",
}


class Sources(Protocol):
    """The sources outside the state. Every method raises `DiskError` for what cannot be read."""

    def read_segments(self, store: Store, wanted: Sequence[Wish], locales: Sequence[str], version: str | None) -> Rows:
        """Return the segments for each wish, chosen and in order."""
        ...

    def list_refs(self, store: Store, scope: str) -> tuple[str, ...] | None:
        """Return every reference of a scope, sorted by code point, or None if there are too many."""
        ...

    def open_corpus(self, index: CorpusIndex, version: str | None) -> Sequence[IndexAtHand]:
        """Return the index on disk, in those of its parts that may contain chunks of the version (None: of all versions)."""
        ...

    def open_entries(self, index: StateIndex, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> IndexAtHand:
        """Return the index of a list, which has no versions."""
        ...

    def ask(self, indexes: Sequence[IndexAtHand], request: ChunkQuery) -> Retrieved:
        """Return the best chunks of all indexes together."""
        ...


class Gatherer:
    """Queries the sources of one render, each question once."""

    def __init__(self, bound: Bound, sources: Sources) -> None:
        self._bound = bound
        self._sources = sources
        self._stores = {store.name: store for store in bound.pack.stores}
        self._rows: dict[tuple[str, tuple[Wish, ...], Preference], Rows] = {}

    def gather(self, section: Section, bound: Bound, names: Mapping[str, Any]) -> Gathered:
        """Return what the section's source returns under these names; `bound` has the cases in force, which a strain tier may change.

        Raises `PromptcError`, or `DiskError` if a source cannot be read.
        """
        source, shows = section.source, bound.find_shows()
        freeze = section.items.freeze if section.items is not None else None
        shown = read_shown(freeze, names, section.id) if freeze is not None else ()
        if isinstance(source, Segments):
            store = self._stores[source.store]
            asked = ask_segments(section.id, source, store, names)
            whole = _ask(section.id, replace(source, ref=None), store, names) if shown else None
            gathered = gather_segments(section.id, source, store, asked, read=self._read, list_refs=self._list_refs, shows=shows)
            return _hold_segments(gathered, source, store, whole, shown, self._read, shows) if whole is not None else gathered
        assert isinstance(source, Retrieve)
        stamp, visible = f"{bound.state.digest} {bound.pack.digest}", bound.pack.visible
        filter = _make_condition(visible, bound.names, stamp) if visible is not None else None
        open = partial(self._open, source, bound)
        return gather_chunks(section.id, source, names, stamp, open=open, ask=self._sources.ask, shows=filter, shown=shown)

    def _open(self, source: Retrieve, bound: Bound, version: str | None) -> Sequence[IndexAtHand]:
        known = {index.name: index for index in bound.pack.indexes}
        return [opened for name in source.indexes for opened in self._open_index(known[name], bound, version)]

    def _open_index(self, index: CorpusIndex | StateIndex, bound: Bound, version: str | None) -> Sequence[IndexAtHand]:
        if isinstance(index, CorpusIndex):
            return self._sources.open_corpus(index, version)
        meter = bound.meter
        entries, hidden = list_entries(index, bound.names, bound.find_shows())
        return [replace(self._sources.open_entries(index, entries, lambda text: meter.tokens(meter.count(text))), hidden=hidden)]

    def _list_refs(self, store: Store, scope: str) -> Sequence[str] | None:
        refs = self._sources.list_refs(store, scope)
        self._bound.run.pay(_REF * len(refs or ()), store.span, f"looking for names in the store `{store.name}`", 0)
        return refs

    def _read(self, store: Store, wishes: Sequence[Wish], preference: Preference) -> Rows:
        key = (store.name, tuple(wishes), preference)
        if key not in self._rows:
            forms = count_forms(preference.locales)
            self._bound.run.pay(_READ + forms, store.span, f"reading the store `{store.name}`", _FORM * forms)
            self._rows[key] = rows = self._sources.read_segments(store, wishes, preference.locales, preference.version)
            texts = sum(len(one.content) for one in rows.rows)
            self._bound.run.pay(_ROW * len(rows.rows) + texts, store.span, f"reading the store `{store.name}`", 4 * texts)
        return self._rows[key]


@frozen
class Preference:
    """The locales and the version that are preferred of a segment."""

    locales: tuple[str, ...]
    version: str | None


Read = Callable[[Store, Sequence[Wish], Preference], Rows]
ListRefs = Callable[[Store, str], Sequence[str] | None]


@frozen(eq=False)
class _Answer:
    """The rows that a store returned for all wishes of one preference."""

    preference: Preference
    parts: Mapping[Wish, Sequence[Segment]]
    rows: Rows


def gather_segments(
    section: str, source: Segments, store: Store, asked: Sequence[SegmentQuery], *, read: Read, list_refs: ListRefs, shows: Shows | None
) -> Gathered:
    """Return the requested rows that the pack shows, in the order of `each`, then of the store.

    `read` is called once for every preference, `list_refs` only if a reference has no row and that matters. A hidden row counts as a row.

    Raises `PromptcError` (PC0557) for a reference without a row if `missing` is `error`.
    """
    wishes: dict[Preference, dict[Wish, None]] = {}
    for one in asked:
        wishes.setdefault(one.preference, {})[one.wish] = None
    answers = {preference: _answer(store, preference, tuple(some), read) for preference, some in wishes.items()}
    values: list[dict[str, Any]] = []
    elements: list[Any] = []
    hidden = refused = 0
    for one in asked:
        for row in answers[one.preference].parts[one.wish]:
            item = describe_segment(row)
            if shows is not None and not shows(item):
                hidden += 1
            elif source.where is None or source.where.evaluate({**one.names, "item": item}):
                values.append(item)
                elements.append(one.names["each"] if source.each is not None else None)
            else:
                refused += 1
    found = list(answers.values())
    missing = list(dict.fromkeys(ref for one in asked for ref in one.list_missing(answers[one.preference].parts[one.wish])))
    warnings = _warn_segments(section, source, store, found)
    if missing and source.missing != "ignore":
        known = list_refs(store, source.scope) or ()
        near = [_make_near(ref, known) for ref in missing[:_NAMED]]
        told = _list_told(source, store, [name for one in near for name in one.names], found, read, shows) if shows is not None else None
        warnings.append(_report_missing(section, source, store, missing, [one if told is None else one.leave(told) for one in near]))
    if any(one.level == "error" for one in warnings):
        raise PromptcError(warnings)
    return Gathered(
        values=tuple(values),
        elements=tuple(elements) if source.each is not None else (),
        left_out=_count_left_out(found, hidden, refused),
        account={**_describe_segment(source, values, found), "missing": missing},
        digests=tuple(SourceDigest("store", store.name, _digest(answer.rows)) for answer in found),
        warnings=tuple(warnings),
    )


def _hold_segments(
    gathered: Gathered, source: Segments, store: Store, whole: SegmentQuery, shown: Sequence[str], read: Read, shows: Shows | None
) -> Gathered:
    """Append the rows of the scope that were shown before and are not requested now. `segments.where` and `visible` apply to them too."""
    asked = {value["id"] for value in gathered.values}
    missing = frozenset(shown) - asked
    if not missing:
        return gathered
    rows = read(store, (whole.wish,), whole.preference).rows
    items = [describe_segment(row) for row in rows if row.id in missing]
    held = [item for item in items if shows is None or shows(item)]
    if source.where is not None:
        held = [item for item in held if source.where.evaluate({**whole.names, "item": item})]
    told = render_canonical_json(held)
    digest = SourceDigest("store", store.name, render_digest(told.encode("utf-8", "surrogatepass")))
    return replace(gathered, values=(*gathered.values, *held), held=len(held), digests=(*gathered.digests, digest))


def describe_segment(row: Segment) -> dict[str, Any]:
    """Return the item that a template sees."""
    return {
        "id": row.id,
        "scope": row.scope,
        "ref_id": row.ref_id,
        "content": row.content,
        "metadata": row.metadata,
        "locale": row.locale,
        "version": row.version,
    }


def _answer(store: Store, preference: Preference, wishes: tuple[Wish, ...], read: Read) -> _Answer:
    rows = read(store, wishes, preference)
    return _Answer(preference, dict(zip(wishes, rows.parts, strict=True)), rows)


def _count_left_out(answers: Sequence[_Answer], hidden: int, refused: int) -> dict[str, int]:
    counts = {
        "inactive": max((one.rows.inactive for one in answers), default=0),
        "malformed": len(_list_malformed(answers)),
        "other_variant": sum(one.rows.passed_over for one in answers),
        "other_locale": sum(len(one.rows.foreign) for one in answers),
        HIDDEN: hidden,
        "source": refused,
    }
    return {stage: count for stage, count in counts.items() if count}


def _list_malformed(answers: Sequence[_Answer]) -> list[Malformed]:
    return list(dict.fromkeys(one for answer in answers for one in answer.rows.malformed))


def _describe_segment(source: Segments, values: Sequence[dict[str, Any]], answers: Sequence[_Answer]) -> dict[str, Any]:
    return {
        "kind": "segments",
        "store": source.store,
        "scope": source.scope,
        "asked": [
            {"refs": _list_refs(one.parts), "locales": list(one.preference.locales), "version": one.preference.version} for one in answers
        ],
        "ids": [value["id"] for value in values],
        "malformed": [{"id": one.id, "why": one.why} for one in _list_malformed(answers)],
    }


def _list_refs(wishes: Iterable[Wish]) -> list[str] | None:
    """Return all requested references, or None for the whole scope."""
    refs: dict[str, None] = {}
    for _, some in wishes:
        if some is None:
            return None
        refs.update(dict.fromkeys(some))
    return list(refs)


def _digest(rows: Rows) -> str:
    """Return the digest of the rows that were read; it does not depend on the database that stores them."""
    text = render_canonical_json([describe_segment(row) for row in rows.rows])
    return render_digest(text.encode("utf-8", "surrogatepass"))


def _warn_segments(section: str, source: Segments, store: Store, answers: Sequence[_Answer]) -> list[Diagnostic]:
    malformed = _list_malformed(answers)
    if not malformed:
        return []
    named = ". ".join(f"`{one.id}`: {one.why}" for one in malformed[:_NAMED])
    more = f". And {len(malformed) - _NAMED} more" if len(malformed) > _NAMED else ""
    rows = count_noun(len(malformed), "malformed row")
    message = f"`{section}` leaves out {rows} of the store `{store.name}`, scope `{source.scope}`: {named}{more}"
    return [Diagnostic("PC0553", message, source.span, "correct them; `promptc segments check` lists all", "warn")]


@frozen
class _Near:
    """A reference without a segment, and the names reported with it: names near it, or all names of a small scope.

    `is_known` says that there are rows about the reference.
    """

    ref: str
    names: tuple[str, ...]
    is_near: bool
    is_known: bool

    def leave(self, told: Collection[str]) -> _Near:
        """Return a copy with only those of its names that are in `told`."""
        return replace(self, names=tuple(name for name in self.names if name in told))

    def explain(self) -> str:
        """Return the sentence about the reference for a message; empty if there is nothing to report."""
        name = f"`{shorten(self.ref)}`"
        if self.is_known:
            return f". The segments of {name} are inactive, or in no locale that the pack asks for"
        if not self.names:
            return ""
        return f". {f'Similar to {name}:' if self.is_near else 'The scope has'} {join_names(self.names)}"


def _make_near(ref: str, known: Sequence[str]) -> _Near:
    from promptc.text.diff import list_near  # a render that finds everything does not pay for this import

    near = tuple(list_near(ref, known, _NEAR))
    few = tuple(known) if not near and len(known) <= _NEAR else ()
    return _Near(ref, near or few, bool(near), ref in known)


def _list_told(
    source: Segments, store: Store, names: Sequence[str], answers: Sequence[_Answer], read: Read, shows: Shows
) -> frozenset[str]:
    """Return those of the names that have a row that the pack shows: hidden names must not appear in a message."""
    rows = [row for one in answers if names for row in read(store, ((source.scope, tuple(dict.fromkeys(names))),), one.preference).rows]
    return frozenset(row.ref_id for row in rows if row.ref_id is not None and shows(describe_segment(row)))


def _report_missing(section: str, source: Segments, store: Store, missing: Sequence[str], near: Sequence[_Near]) -> Diagnostic:
    """Return the finding for missing references; `near` describes the first of them."""
    assert source.ref is not None
    shown = join_names(shorten(one.ref) for one in near)
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    told = "".join(dict.fromkeys(one.explain() for one in near))
    message = f"`{section}` asks the store `{store.name}`, scope `{source.scope}`, for ids that no segment has: {shown}{more}{told}"
    help = "correct the id, or import its segments; if an id may have no segments, write `missing: ignore`"
    return Diagnostic("PC0557", message, source.ref.span, help, "error" if source.missing == "error" else "warn")


@frozen(eq=False)
class SegmentQuery:
    """The query for one element of `each`, or the only query without `each`. `names` are those that `where` sees."""

    names: Mapping[str, Any]
    wish: Wish
    preference: Preference

    def list_missing(self, found: Sequence[Segment]) -> list[str]:
        """Return the references that none of these segments is about."""
        about = {one.ref_id for one in found}
        return [ref for ref in self.wish[1] or () if ref not in about]


def ask_segments(section: str, source: Segments, store: Store, names: Mapping[str, Any]) -> list[SegmentQuery]:
    """Return the queries in order; an empty `ref` makes no query.

    Raises `PromptcError`: PC0550 if `each` is not a list, PC0551 if `ref` is neither text nor a list of texts, PC0552 for a `locale` or
    `version` of another type.
    """
    asked = [_ask(section, source, store, inner) for inner in _iter_names(section, source, names)]
    return [one for one in asked if one is not None]


def _iter_names(section: str, source: Segments, names: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if source.each is None:
        yield names
        return
    elements = source.each.evaluate(names)
    if elements is not None and not isinstance(elements, list | tuple):
        raise fail("PC0550", f"`segments.each` of `{section}` must be a list, not {show_value(elements)}", source.each.span, help=_LIST)
    for element in elements or ():
        yield {**names, "each": element}


def _ask(section: str, source: Segments, store: Store, names: Mapping[str, Any]) -> SegmentQuery | None:
    refs = _read_refs(section, source.ref, names) if source.ref is not None else None
    if refs is not None and not refs:
        return None
    locale, version = source.locale or store.locale, source.version or store.version
    locales = _read_locales(section, locale, names) if locale is not None else ()
    read_run(names).pay(_NAME * (len(refs or ()) + len(locales)), source.span, f"the queries of `{section}`")
    wanted = _read_version(f"the `version` of `{section}`", version, names) if version is not None else None
    return SegmentQuery(names, (source.scope, refs), Preference(locales, wanted))


def _read_refs(section: str, ref: Expression, names: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every reference once. A whole number stands for its digits, because ids in a state may be either. An empty text is ignored."""
    value = ref.evaluate(names)
    given = [one if isinstance(one, str) else find_whole(one) for one in _list(value)]
    if None in given:
        what = f"`segments.ref` of `{section}` must be a string or a list of strings, not {show_value(value)}"
        raise fail(
            "PC0551",
            what,
            ref.span,
            help="give the ids as strings, such as `state.npcs | map(attribute='id')`; leave `ref` out to ask for the whole scope",
        )
    return tuple(dict.fromkeys(str(one) for one in given if one != ""))


def _read_locales(section: str, locale: Expression, names: Mapping[str, Any]) -> tuple[str, ...]:
    value = locale.evaluate(names)
    given = [one for one in _list(value) if one is not None]
    if not all(isinstance(one, str) for one in given):
        raise fail(
            "PC0552",
            f"the `locale` of `{section}` must be a string or a list of strings, not {show_value(value)}",
            locale.span,
            help=_LOCALE,
        )
    return tuple(dict.fromkeys(str(one) for one in given if one))


def _read_version(what: str, version: Expression, names: Mapping[str, Any], code: str = "PC0552") -> str | None:
    value = version.evaluate(names)
    if value is not None and not isinstance(value, str):
        help = "give one version, such as `version: state.version`, or none for all of them"
        raise fail(code, f"{what} must be a string or null, not {show_value(value)}", version.span, help=help)
    return value or None


def _list(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)


def gather_chunks(
    section: str,
    source: Retrieve,
    names: Mapping[str, Any],
    stamp: str,
    *,
    open: Open,
    ask: Ask,
    shows: ChunkFilter | None,
    shown: Sequence[str] = (),
) -> Gathered:
    """Return the best chunks of those the pack shows, best first, followed by those of `shown`, by id, that were not found.

    `open` returns the indexes for a version; it is not called for a query without words, unless something is `shown`. `stamp` changes with
    every state and pack.

    Raises `PromptcError`: PC0554 for a query and PC0555 for a version that is not text.
    """
    queries = tuple(_iter_queries(section, source, names))
    wanted = source.version
    version = _read_version(f"`retrieve.version` of `{section}`", wanted, names, "PC0555") if wanted is not None else None
    is_asked = any(map(has_words, queries))
    indexes = open(version) if is_asked or shown else ()
    prices = (_QUERY * len(queries) + _LETTER * sum(map(len, queries)) + (_ENCODED * len(queries) if one.encoder else 0) for one in indexes)
    read_run(names).pay(sum(prices), source.span, f"the queries of `{section}`")
    request = replace(_make_request(source, queries, version, names, stamp), shows=shows, shown=tuple(shown))
    found = ask(indexes, request) if indexes else Retrieved(is_sparse=source.sparse_below > 0)
    chosen, floor = len(found.found), found.under_floor
    hidden = found.hidden + sum(index.hidden for index in indexes)
    left_out = {HIDDEN: hidden, "candidates": found.beyond, "floor": floor, "top": found.considered - found.beyond - floor - chosen}
    return Gathered(
        values=tuple(one.describe() for one in (*found.found, *found.held)),
        held=len(found.held),
        left_out={stage: count for stage, count in left_out.items() if count},
        account=_describe_retrieval(indexes, version, found),
        digests=tuple(SourceDigest("index", index.name, index.fingerprint) for index in indexes),
        is_sparse=found.is_sparse,
        unwanted=found.unwanted,
        refused=tuple({**_describe_chunk(one, found.queries), "why": why} for one, why in found.refused),
        warnings=(
            *(Diagnostic("PC0197", f"`{section}` retrieves by words alone: {note}", source.span, level="warn") for note in found.notes),
            *_warn_few(section, source, queries, found, indexes if is_asked else ()),
        ),
    )


def _iter_queries(section: str, source: Retrieve, names: Mapping[str, Any]) -> Iterator[str]:
    for query in source.queries:
        for value in _list(query.evaluate(names)):
            if value is not None and not isinstance(value, str):
                message = f"`retrieve.query` of `{section}` must be a string, a list of strings or null, not {show_value(value)}"
                help = "give a string, such as `query: state.input`; make one of a number with `| string`, of a mapping with its parts"
                raise fail("PC0554", message, query.span, help=help)
            yield value or ""


def _make_request(source: Retrieve, queries: tuple[str, ...], version: str | None, names: Mapping[str, Any], stamp: str) -> ChunkQuery:
    return ChunkQuery(
        queries=queries,
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
    """Return a filter whose key is everything it reads except the chunk: its result depends on nothing else."""
    read = [[list(path), *_read_value(names, path, stamp)] for path in sorted(expression.reads) if path[0] != "item"]

    def accepts(item: Mapping[str, Any]) -> bool:
        return bool(expression.evaluate({**names, "item": item}))

    told = render_canonical_json([expression.text, read])
    return ChunkFilter(accepts, render_digest(told.encode("utf-8", "surrogatepass")))


def _read_value(names: Mapping[str, Any], path: Sequence[str], stamp: str) -> tuple[int, Any]:
    """Return how many keys of the path exist, and the value at their end: the stamp instead of the whole state.

    The number tells a missing key from one whose value equals the value above it: both `{}` and `{"a": {}}` lead `a` to `{}`.
    """
    at: Any = names
    found = 0
    for key in path:
        if not isinstance(at, Mapping) or key not in at:
            break
        at = at[key]
        found += 1
    return found, stamp if at is names or at is names["state"] else at


def _describe_retrieval(indexes: Sequence[IndexAtHand], version: str | None, found: Retrieved) -> dict[str, Any]:
    return {
        "kind": "retrieve",
        "indexes": [{"name": index.name, "fingerprint": index.fingerprint} for index in indexes],
        "queries": list(found.queries),
        "version": version,
        "considered": found.considered,
        "under_floor": found.under_floor,
        "sparse": found.is_sparse,
        "notes": list(found.notes),
        "chunks": [_describe_chunk(one, found.queries) for one in found.found],
        **({"idle": [{"index": name, "line": line} for name, line in found.idle]} if found.idle else {}),
    }


def _describe_chunk(found: FoundChunk, queries: Sequence[str]) -> dict[str, Any]:
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
        **({"neighbours": score.neighbours / MICRO} if score.neighbours else {}),
        "boost": (score.total - score.fused - score.neighbours) / MICRO,
        "query": queries.index(found.query),
        **({"asked": found.asked} if found.asked else {}),
    }


def _warn_few(
    section: str, source: Retrieve, queries: Sequence[str], found: Retrieved, indexes: Sequence[IndexAtHand]
) -> Iterator[Diagnostic]:
    """Yield a warning if fewer chunks than `sparse_below` were found, whatever the reason: a pack that declares 0 expects nothing."""
    if not found.is_sparse:
        return
    if not indexes:
        told = [query for query in queries if not is_blank(query)]
        is_one, shown = len(queries) <= 1, ", ".join(map(show_value, told[:_NAMED]))
        empty = "its query is empty" if is_one else "all its queries are empty"
        why = f"there is no word in its {'query' if is_one else 'queries'} {shown}" if told else empty
        yield Diagnostic("PC0592", f"`{section}` retrieves nothing: {why}", source.queries[0].span, _SAY, "warn")
        return
    got, asked = count_noun(len(found.found), "chunk") if found.found else "nothing", "the query" if len(found.queries) == 1 else "a query"
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(index.name for index in indexes))
    unwanted = f"; `where` refused {found.unwanted}" if found.unwanted else ""
    if found.idle:
        idle = ", ".join(f"in `{name}`, near its line {show_value(line)}" for name, line in found.idle)
        message = f"`{section}` retrieves {got}: {show_value(found.queries[0])} is idle {idle}"
        yield Diagnostic("PC0592", message, source.span, _IDLE, "warn")
        return
    if not found.refused:
        message = f"`{section}` retrieves {got}: no {'other ' if found.found else ''}chunk of {names} is near {asked}{unwanted}"
        yield Diagnostic("PC0592", message, source.span, _ASK, "warn")
        return
    best, why = found.refused[0]
    floor = source.floor if source.floor is not None else next(index.floor for index in indexes if index.name == best.index)
    made = f"words {show_score(best.score.words)}, vectors {show_score(best.score.vectors)}"
    named = f"`{best.chunk.id}`" + (f" of {best.chunk.file}" if best.chunk.file else "")
    best_of = "the best of the others" if found.found else "the best"
    others = f"{best_of}, {named} with {show_score(best.score.total)} ({made}), {_WHYS[why](source, floor)}"
    message = f"`{section}` retrieves {got} of {count_noun(found.considered, 'scored chunk')}: {others}{unwanted}"
    yield Diagnostic("PC0592", message, source.span, _HELPS[why].format(score=show_score(best.score.fused)), "warn")


def list_entries(index: StateIndex, names: Mapping[str, Any], shows: Shows | None) -> tuple[list[IndexedItem], int]:
    """Return the entries in the list's order, and how many elements `shows` hides.

    Hidden elements and those without text are not entries, so they do not affect the scores of others. `names` are those of `let`. Raises
    `PromptcError` (PC0556) if the source is not a list.
    """
    source = index.source.evaluate(names)
    if source is not None and not isinstance(source, list | tuple):
        raise fail("PC0556", f"`from` of the index `{index.name}` must be a list, not {show_value(source)}", index.source.span, help=_LIST)
    shown = [(place, item) for place, item in enumerate(source or ()) if shows is None or shows(item)]
    entries = [_make_entry(index, place, {**names, "item": item}) for place, item in shown]
    return [entry for entry in entries if entry.text], len(source or ()) - len(shown)


def _make_entry(index: StateIndex, place: int, names: Mapping[str, Any]) -> IndexedItem:
    """Return the entry of an item. The keys of a mapping are its metadata."""
    id = evaluate_key(index.id, names, f"`id` of the index `{index.name}`") if index.id is not None else None
    item = names["item"]
    return IndexedItem(
        str(place) if id is None else spell_key(id), index.text.render(names).strip(), item if isinstance(item, Mapping) else {}
    )
