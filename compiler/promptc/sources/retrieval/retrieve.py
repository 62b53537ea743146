"""Retrieval of the best chunks of indexes for one query or several, with scores that can be explained.

`Retriever.ask` retrieves with a cache, `retrieve` without one. `judge_index` measures how well an index answers queries with known answers.
The scores are:

    words   = min(1, BM25 / (1/2 × most + 5/4 × rarest + strange × unseen))
    vectors = max(0, (cosine - background) / (1 - background))
    fused   = (w × words + v × vectors) / (w + v)        w, v: the index's weights; words alone if there is no vector

To the fused score of a chunk that reaches the floor, the index's `neighbours` adds this share of the fused score of its best neighbour: an
accepted chunk of the same file, at most two places away. A chunk without a neighbour counts as its own.

Each score depends only on the query, the chunk and the index, never on what else was found. Scores can therefore be compared between
queries, and a floor means the same for each query. All are whole millionths, computed in whole numbers. Each of several queries is scored,
and a chunk's best score counts. `cosine` is the mean of the two greatest cosines among those of the chunk's text, which counts twice, and
of its asked lines. One line alone may be near by accident, and an additional line lowers nothing.

A query is idle in an index, and finds nothing there, if `ahead` is less than the index's `lead`:

    ahead   = (w × words + v × (ours - theirs + leaning) / (1 - background)) / (w + v)

Here `words` is the best such score among the chunks that the query may see. `ours` is the mean of the query's greatest cosines with the
texts and asked lines of these chunks, `theirs` the mean of its greatest with idle lines (those that no chunk answers). Both means are of
equally many cosines: a fifth of what the smaller side has, from one to ten. `leaning` says how far the query lies on the side of all asked
lines: its cosine with the direction that the build has learned (`building.learn_direction`), less the middle of both sides. Of several
queries, the first says what is wanted, and the others help to find it: if the first is idle, the others are not used.

`most` is what those words of the query could add that any chunk has; a common word adds next to nothing. `rarest` is what a word could add
that only one chunk has; it keeps a query with a single known, common word from scoring high. `strange` is from 0 to 3: the number of the
query's words that no chunk has, each weighted by `unseen`. Words of at most three letters do not count (`is_telling`), and at most three of
the others do. Filler words therefore do not sink a long query, and a query about something else entirely scores low.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any, Generic, Literal, TypeVar
from promptc.model.section import MICRO
from promptc.model.sources import Chunk, Matching
from promptc.sources.retrieval.encoder import SCALE, MissingEncoder, Vector, VectorEncoder, load_encoder
from promptc.sources.retrieval.local import BACKGROUND_UNIT, IndexedItem, LoadedIndex, digest_entries, index_entries
from promptc.sources.retrieval.scoring import Term, has_words, is_telling, list_terms, multiply
from promptc.text.characters import convert_form, normalize

_ANSWERS = 256
_VECTORS = 4096
_LISTS = 16
_LARGE = 100_000
"""The characters of a kept value from which it uses the room of one more."""

_OF_ID = 100
"""What an id takes besides its characters."""

_OF_VECTOR = 10
"""A text whose vector is kept counts this many times: many vectors are kept, and nearly all are of short texts."""

_OF_LIST = 10
"""A list may have this many times as many characters: few lists are kept, and to index one again takes long."""

_ONE = SCALE * SCALE
_PREVIEW = 120
_STRANGE = 3
_NEAREST = 10
"""The most vectors on either side, and chunks by words, that decide whether a query is idle."""

_PARTS = 5
"""One vector is used for each `_PARTS` vectors on the smaller side: ten of a few lines would be all of them, near or not."""

_CLOSEST = 2
"""The number of a chunk's vectors whose mean is its nearness; the vector of its text counts as many times."""

_AROUND = 2
"""How many places away in its file a chunk's neighbours are."""

NO_LEAD = -2 * MICRO
"""A lead that stands for none: no query is idle."""

Why = Literal["floor", "candidates", "top"]
"""Why a scored chunk was not chosen: below the floor, not among the best of its index, or not among the best of all."""

_Judged = Literal["accepted", "where", "shows"]
"""The verdict of the filters on a row: accepted, or the filter that refuses it."""

MOST_REFUSED = 12
_Value = TypeVar("_Value")

SHARE = 1000
"""The denominator of shares, which are thousandths, rounded down."""


@frozen
class ChunkFilter:
    """A condition on chunks. `accepts` receives the chunk as an item (`describe_chunk`).

    `key` identifies everything that decides the result of `accepts`, so that answers can be cached. With an empty key nothing is cached.
    """

    accepts: Callable[[Mapping[str, Any]], bool] = field(compare=False)
    key: str = ""


@frozen
class Boost:
    """An amount in millionths that is added to a chunk's score if the condition is true."""

    add: int
    where: ChunkFilter


@frozen
class ChunkQuery:
    """Queries with their filters and numbers (contract.md §4, Retrieval).

    `floor` is in millionths; None means that of each index. A `version` of None accepts every version. `shows` is applied before `where`;
    chunks that it refuses are counted separately, and nothing else is said about them. `lead` is in millionths; None means that of each
    index, and `NO_LEAD` queries even if idle. `shown` are ids of chunks that are wanted whatever their score, if the version and the
    filters accept them.
    """

    queries: tuple[str, ...]
    version: str | None = None
    where: ChunkFilter | None = None
    boosts: tuple[Boost, ...] = ()
    window: int = 50
    candidates: int = 12
    floor: int | None = None
    top: int = 6
    sparse_below: int = 1
    shows: ChunkFilter | None = None
    lead: int | None = None
    shown: tuple[str, ...] = ()


@frozen
class Score:
    """The parts of a chunk's score, all in millionths.

    `words` and `vectors` are from 0 to MICRO, `fused` is their weighted mean, and `total` is `fused` plus `neighbours` plus boosts.
    """

    words: int
    vectors: int
    fused: int
    total: int
    neighbours: int = 0


@frozen
class FoundChunk:
    """A chunk that was found, with its index, its score, and the first query that gave this score.

    `asked` is the asked line of the chunk whose vector was nearest; empty if the vector of its text was nearest, or if no vector counts.
    """

    chunk: Chunk
    index: str
    score: Score
    query: str = ""
    asked: str = ""

    def describe(self) -> dict[str, Any]:
        """Return the item that a template sees."""
        return {**describe_chunk(self.chunk), "index": self.index, "score": self.score.total / MICRO}


@frozen
class Retrieved:
    """An answer: the best chunks, best first, and how they were found.

    `considered` counts the chunks that were scored, `beyond` those not among the best `candidates` of their index, and `under_floor` those
    of the best that were below the floor. `queries` are the queries used, in normal form, without duplicates and without those that have no
    words. `fingerprints` are those of the indexes used. `notes` say why vectors were requested but not used. `refused` are the best
    `MOST_REFUSED` chunks that were scored but not chosen, best first. `unwanted` counts the chunks that `where` refused, `hidden` those
    that `shows` refused. `idle` says where the first query was idle: each such index, with the nearest idle line. `held` are the chunks of
    `shown` that are not among the found, with a score of 0.
    """

    found: tuple[FoundChunk, ...] = ()
    is_sparse: bool = True
    considered: int = 0
    under_floor: int = 0
    fingerprints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: tuple[tuple[FoundChunk, Why], ...] = ()
    unwanted: int = 0
    hidden: int = 0
    beyond: int = 0
    queries: tuple[str, ...] = ()
    idle: tuple[tuple[str, str], ...] = ()
    held: tuple[FoundChunk, ...] = ()


def describe_chunk(chunk: Chunk) -> dict[str, Any]:
    """Return a chunk as an item: its metadata, `id`, `text`, `heading` (a list), `file`, `length` in tokens, and `preview`.

    `version`, `domain`, `mode` and `date` are None if the metadata does not have them. `preview` is the first 120 characters on one line.
    """
    return {
        "version": None,
        "domain": None,
        "mode": None,
        "date": None,
        **chunk.metadata,
        "id": chunk.id,
        "text": chunk.text,
        "heading": list(chunk.heading),
        "file": chunk.file,
        "length": chunk.tokens,
        "preview": " ".join(chunk.text[: 4 * _PREVIEW].split())[:_PREVIEW],
    }


class Retriever:
    """Retrieval with caches, which change the time taken but never an answer. A pack has one; several threads may use it."""

    def __init__(self, load_encoder: Callable[[str], VectorEncoder | MissingEncoder] = load_encoder) -> None:
        self._load_encoder = load_encoder
        self._encoders: dict[str, VectorEncoder | MissingEncoder] = {}
        self._lock = allocate_lock()
        self._vectors: RecentValues[Vector] = RecentValues(_VECTORS)
        self._answers: RecentValues[Retrieved] = RecentValues(_ANSWERS)
        self._lists: RecentValues[LoadedIndex] = RecentValues(_LISTS)

    def ask(self, indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Retrieved:
        """Retrieve as `retrieve` does. A query is used in its normal form: NFC, white space collapsed.

        If the packages of an encoder are not installed, its indexes answer by words alone, and `notes` say so.
        """
        normal = (" ".join(convert_form("NFC", query).split()) for query in request.queries)
        request = replace(request, queries=tuple(dict.fromkeys(query for query in normal if has_words(query))))
        key = _find_key(indexes, request)
        found = self._answers.find(key) if key is not None else None
        if found is None:
            found = self._ask(indexes, request)
            if key is not None:
                self._answers.keep(key, found, _count_characters(request, found))
        return found

    def open_entries(self, name: str, matching: Matching, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> LoadedIndex:
        """Return the index of a list in the state (`index_entries`).

        Equal lists share an index, and texts encoded before are not encoded again.
        """
        key = name, matching, digest_entries(name, entries)
        found = self._lists.find(key)
        if found is None:
            found = self._index(name, matching, entries, count)
            self._lists.keep(key, found, sum(len(entry.text) for entry in entries) // _OF_LIST)
        return found

    def load_encoder(self, name: str) -> VectorEncoder | MissingEncoder:
        """Return the encoder with this name, loaded once."""
        with self._lock:
            if name not in self._encoders:
                self._encoders[name] = self._load_encoder(name)
            return self._encoders[name]

    def _index(self, name: str, matching: Matching, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> LoadedIndex:
        encoder = self.load_encoder(matching.encoder) if matching.encoder and matching.weights.vectors else None
        if isinstance(encoder, MissingEncoder):
            return replace(index_entries(name, matching, entries, count=count, encode=None), note=encoder.reason)
        encode = partial(self._encode_with, encoder) if encoder is not None else None
        return index_entries(name, matching, entries, count=count, encode=encode)

    def _ask(self, indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Retrieved:
        notes = [index.note for index in indexes if index.note]
        encoders: dict[str, VectorEncoder] = {}
        for name in dict.fromkeys(index.encoder for index in indexes if index.encoder and request.queries):
            found = self.load_encoder(name)
            if isinstance(found, MissingEncoder):
                notes.append(found.reason)
            else:
                encoders[name] = found
        queries = [Query(text, {name: self._encode_with(one, text) for name, one in encoders.items()}) for text in request.queries]
        return replace(retrieve(indexes, queries, request), notes=tuple(dict.fromkeys(notes)))

    def _encode_with(self, encoder: VectorEncoder, text: str) -> Vector:
        found = self._vectors.find((encoder.id, text))
        if found is None:
            found = encoder.encode(text)
            self._vectors.keep((encoder.id, text), found, len(text) * _OF_VECTOR)
        return found


def _find_key(indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Hashable | None:
    """Return a key of everything that decides the answer; None if a condition does not say what decides it."""
    conditions = [request.shows, request.where, *(boost.where for boost in request.boosts)]
    if any(one is not None and not one.key for one in conditions):
        return None
    return tuple(index.fingerprint for index in indexes), request


def _count_characters(request: ChunkQuery, found: Retrieved) -> int:
    """Return about how many characters it takes to keep an answer and its key."""
    asked = sum(map(len, request.queries)) + sum(len(id) + _OF_ID for id in request.shown)
    chunks = (*found.found, *found.held, *(one for one, _ in found.refused))
    return asked + sum(len(one.chunk.text) for one in chunks)


class RecentValues(Generic[_Value]):
    """The most recently used values by key, at most `most` of them. A large value uses the room of several. The last one stays."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._used = 0
        self._values: OrderedDict[Hashable, tuple[_Value, int]] = OrderedDict()
        self._lock = allocate_lock()

    def find(self, key: Hashable) -> _Value | None:
        """Return the value of `key` and mark it as used now; None if there is no such value."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep(self, key: Hashable, value: _Value, characters: int = 0) -> None:
        """Store a value of about so many characters; if there is no room, evict the least recently used ones."""
        room = 1 + characters // _LARGE
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = value, room
            self._used += room - before
            while self._used > self._most and len(self._values) > 1:
                _, (_, left) = self._values.popitem(last=False)
                self._used -= left


@frozen
class Query:
    """A query in the form for comparison: its text, and its vector by the id of each encoder."""

    text: str
    vectors: dict[str, Vector]


def retrieve(indexes: Sequence[LoadedIndex], queries: Sequence[Query], request: ChunkQuery) -> Retrieved:
    """Return the best `request.top` chunks of all indexes together. A query without words retrieves nothing.

    In each index, every query scores a window of each list, and the best of a chunk's scores counts. The best `candidates` remain, those
    below the floor are dropped, and what neighbours and boosts add is added. Chunks that `version` and `where` refuse are not scored. The
    order is by score, score by words, then index, version, file (as UTF-8) and place. The `queries` of `request` are ignored.
    """
    found: list[FoundChunk] = []
    refused: list[tuple[FoundChunk, Why]] = []
    idle: list[tuple[str, str]] = []
    considered = beyond = under = unwanted = hidden = 0
    held: dict[str, FoundChunk] = {}
    for index in indexes:
        held = {**{one.chunk.id: one for one in _list_shown(index, request)}, **held}
        scored, without, unseen, line = _score(index, queries, request)
        idle += [(index.name, line)] if line is not None else []
        ranked = sorted(scored, key=_rank)
        best = ranked[: request.candidates]
        floor = max(index.floor if request.floor is None else request.floor, 1)
        kept = [one for one in best if one.score.fused >= floor]
        considered, under, unwanted = considered + len(scored), under + len(best) - len(kept), unwanted + without
        beyond, hidden = beyond + len(ranked) - len(best), hidden + unseen
        found += [_boost(one, request) for one in _add_neighbours(index, queries, request, kept, scored)]
        refused += [(one, "floor") for one in best if one.score.fused < floor]
        refused += [(one, "candidates") for one in ranked[request.candidates :][:MOST_REFUSED]]
    found.sort(key=_rank)
    refused += [(one, "top") for one in found[request.top :]]
    refused.sort(key=lambda one: _rank(one[0]))
    chosen = tuple(found[: request.top])
    fingerprints = tuple(index.fingerprint for index in indexes)
    is_sparse = len(chosen) < request.sparse_below
    asked, told = tuple(query.text for query in queries), tuple(refused[:MOST_REFUSED])
    return Retrieved(
        *(chosen, is_sparse, considered, under, fingerprints),
        beyond=beyond,
        refused=told,
        unwanted=unwanted,
        hidden=hidden,
        queries=asked,
        idle=tuple(idle),
        held=tuple(held[id] for id in request.shown if id in held and all(one.chunk.id != id for one in chosen)),
    )


def _list_shown(index: LoadedIndex, request: ChunkQuery) -> list[FoundChunk]:
    """Return the chunks of `shown` that the index has and the filters accept."""
    rows = index.store.list_rows(request.shown, request.version if index.has_versions else None) if request.shown else ()
    chunks = [one for one in index.store.read_chunks(rows) if _judge_item(describe_chunk(one), request) == "accepted"]
    return [FoundChunk(one, index.name, Score(0, 0, 0, 0)) for one in chunks]


def _boost(found: FoundChunk, request: ChunkQuery) -> FoundChunk:
    item = describe_chunk(found.chunk) if request.boosts else {}
    added = sum(boost.add for boost in request.boosts if boost.where.accepts(item))
    return replace(found, score=replace(found.score, total=found.score.total + added))


def _add_neighbours(
    index: LoadedIndex, queries: Sequence[Query], request: ChunkQuery, kept: Sequence[FoundChunk], scored: Sequence[FoundChunk]
) -> Sequence[FoundChunk]:
    """Return `kept` with the share of each chunk's best neighbour in its total. A chunk without a neighbour counts as its own.

    Neighbours are accepted chunks of the same file, at most `_AROUND` places away. Those not in `scored` are scored here.
    """
    if not index.neighbours or not kept:
        return kept
    store, version = index.store, request.version if index.has_versions else None
    rows = store.list_rows([one.chunk.id for one in kept], version)
    around = sorted({near for row in rows for near in range(max(row - _AROUND, 0), min(row + _AROUND + 1, store.count))})
    chunks = dict(zip(around, store.read_chunks(around), strict=True))
    best = {one.chunk.id: one.score.fused for one in scored}
    new = [row for row, one in chunks.items() if one.id not in best and _judge_item(describe_chunk(one), request) == "accepted"]
    for query in queries:
        if terms := list_terms(query.text, index.synonyms):
            for row, score, _ in _score_rows(index, terms, query.vectors.get(index.encoder), new):
                best[chunks[row].id] = max(best.get(chunks[row].id, 0), score.fused)
    added = dict[str, int]()
    for row in rows:
        own = chunks[row]
        beside = (chunks[near] for near in range(row - _AROUND, row + _AROUND + 1) if near in chunks and near != row)
        others = [best[one.id] for one in beside if one.id in best and (one.version, one.file) == (own.version, own.file)]
        added[own.id] = index.neighbours * max(others, default=best[own.id]) // MICRO
    return [
        replace(one, score=replace(one.score, total=one.score.total + added[one.chunk.id], neighbours=added[one.chunk.id])) for one in kept
    ]


def _rank(found: FoundChunk) -> tuple[int, int, str, str, bytes, int]:
    chunk = found.chunk
    return -found.score.total, -found.score.words, found.index, chunk.version, chunk.file.encode(), chunk.ordinal


def _score(index: LoadedIndex, queries: Sequence[Query], request: ChunkQuery) -> tuple[list[FoundChunk], int, int, str | None]:
    """Return the scored chunks, each with its best score, how many `where` and `shows` refused, and no line.

    If the first query is idle, return no chunks and the nearest idle line.
    """
    accepted: dict[int, _Judged] = {}
    best: dict[int, tuple[Score, str, int]] = {}
    for place, query in enumerate(queries):
        terms, vector = list_terms(query.text, index.synonyms), query.vectors.get(index.encoder)
        if not terms:
            continue
        rows, by_words, near = _propose(index, terms, vector, request, accepted)
        line = _find_idle(index, terms, vector, by_words, near, request) if vector is not None and not place else None
        if line is not None:
            return [], 0, 0, line
        for row, score, at in _score_rows(index, terms, vector, rows):
            if row not in best or score.fused > best[row][0].fused:
                best[row] = score, query.text, at
    rows = sorted(best)
    found = [_tell_found(index, chunk, *best[row]) for row, chunk in zip(rows, index.store.read_chunks(rows), strict=True)]
    judged = list(accepted.values())
    return found, judged.count("where"), judged.count("shows"), None


def _tell_found(index: LoadedIndex, chunk: Chunk, score: Score, query: str, at: int) -> FoundChunk:
    return FoundChunk(chunk, index.name, score, query, chunk.asked[at - 1] if at else "")


def _find_idle(
    index: LoadedIndex, terms: Sequence[Term], vector: Vector, by_words: Sequence[int], near: Sequence[int], request: ChunkQuery
) -> str | None:
    """Return the nearest idle line if the query is idle, else None. Of equally near lines the first counts.

    `by_words` and `near` are the first rows of each list.
    """
    lead = index.lead if request.lead is None else request.lead
    if not index.idle_vectors or not near or lead == NO_LEAD:
        return None
    *of_idle, product = multiply(index.idle_vectors, vector)
    products = [one for some in index.store.read_products(vector, near) for one in some]
    count = min(_NEAREST, max(1, min(len(products), len(of_idle)) // _PARTS))
    ours, theirs = (sum(sorted(some)[-count:]) for some in (products, of_idle))
    words = max(_score_words(index, terms, by_words), default=0)
    gap = ours - theirs + count * (product - index.middle)
    ahead = MICRO * gap * BACKGROUND_UNIT // (count * _ONE * (BACKGROUND_UNIT - index.background))
    return index.idle[of_idle.index(max(of_idle))] if _fuse(words, ahead, index.weights) < lead else None


def _score_rows(index: LoadedIndex, terms: Sequence[Term], vector: Vector | None, rows: Sequence[int]) -> Iterator[tuple[int, Score, int]]:
    """Yield each row, its score, and the index of its nearest vector: 0 is its text, or means that none counts; its asked lines follow."""
    by_words = _score_words(index, terms, rows)
    if vector is None:
        yield from ((row, Score(words, 0, words, words), 0) for row, words in zip(rows, by_words, strict=True))
        return
    for row, words, products in zip(rows, by_words, index.store.read_products(vector, rows), strict=True):
        closest = sorted([products[0]] * (_CLOSEST - 1) + list(products))[-_CLOSEST:]
        near = _score_product(sum(closest) // _CLOSEST, index.background)
        fused = _fuse(words, near, index.weights)
        yield row, Score(words, near, fused, fused), products.index(closest[-1])


def _propose(
    index: LoadedIndex, terms: Sequence[Term], vector: Vector | None, request: ChunkQuery, accepted: dict[int, _Judged]
) -> tuple[list[int], list[int], list[int]]:
    """Return the first rows of each list that the filters accept, without duplicates, and the rows that decide whether the query is idle.

    The latter are the first by words, and the nearest by vector. `accepted` caches the verdict of the filters on each row.
    """
    words = sorted({word for term in terms for phrase in term.phrases for word in phrase})
    version, window = request.version if index.has_versions else None, request.window
    wanted = max(window, _NEAREST) if index.idle else window
    rows, near = _take(index, index.store.iter_by_words(words, version), wanted, request, accepted), list[int]()
    if vector is not None:
        near = _take(index, index.store.iter_by_vector(vector, version), wanted, request, accepted)
    return sorted({*rows[:window], *near[:window]}), rows[:_NEAREST], near[:_NEAREST]


def _take(index: LoadedIndex, rows: Iterator[int], wanted: int, request: ChunkQuery, accepted: dict[int, _Judged]) -> list[int]:
    """Return the first `wanted` rows that the filters accept. Rows are filtered in batches, each row only once."""
    is_free = request.where is None and request.shows is None
    taken: list[int] = []
    while len(taken) < wanted and (batch := list(islice(rows, wanted))):
        if not is_free:
            new = [row for row in batch if row not in accepted]
            accepted.update(zip(new, (_judge_item(describe_chunk(chunk), request) for chunk in index.store.read_chunks(new)), strict=True))
        taken += [row for row in batch if is_free or accepted[row] == "accepted"]
    return taken[:wanted]


def _judge_item(item: Mapping[str, Any], request: ChunkQuery) -> _Judged:
    if request.shows is not None and not request.shows.accepts(item):
        return "shows"
    return "accepted" if request.where is None or request.where.accepts(item) else "where"


def _score_words(index: LoadedIndex, terms: Sequence[Term], rows: Sequence[int]) -> list[int]:
    words = sorted({word for term in terms for phrase in term.phrases for word in phrase if word in index.ideals})
    impacts = index.store.read_impacts(words, rows)
    strange = sum(1 for term in terms if _is_strange(index, term))
    most = sum(_ideal_of(index, term) for term in terms)
    whole = max(2 * most + 5 * index.rarest + 4 * min(strange, _STRANGE) * index.unseen, 1)
    return [min(MICRO, 4 * MICRO * sum(_match(term, own) for term in terms) // whole) for own in impacts]


def _is_strange(index: LoadedIndex, term: Term) -> bool:
    """Return whether no chunk has a word of the term, although the term is significant."""
    return any(map(is_telling, term.phrases[0])) and not any(word in index.ideals for phrase in term.phrases for word in phrase)


def _ideal_of(index: LoadedIndex, term: Term) -> int:
    """Return the most that the term can add, by its best phrase. A word that no chunk has adds nothing."""
    return max(sum(index.ideals.get(word, 0) for word in phrase) for phrase in term.phrases)


def _match(term: Term, impacts: Mapping[str, int]) -> int:
    """Return what the term adds to a chunk, by its best phrase."""
    return max(sum(impacts.get(word, 0) for word in phrase) for phrase in term.phrases)


def _score_product(product: int, background: int) -> int:
    return min(MICRO, max(0, MICRO * (product * BACKGROUND_UNIT - background * _ONE) // (_ONE * (BACKGROUND_UNIT - background))))


def _fuse(words: int, near: int, weights: tuple[int, int]) -> int:
    return (weights[0] * words + weights[1] * near) // (weights[0] + weights[1])


@frozen
class Answer:
    """A section that answers a query: the end of its file's path, and its heading."""

    file: str
    heading: str

    def is_of(self, file: str) -> bool:
        """Return whether this is a section of `file`."""
        return file == self.file or file.endswith(f"/{self.file}")

    def is_in(self, chunk: Chunk) -> bool:
        """Return whether the chunk contains the section's own text, or a part of it."""
        return self.is_of(chunk.file) and normalize(self.heading) in map(normalize, chunk.covers)


@frozen
class KnownAnswer:
    """A query and its answers, any of which is right. A query without answers should find nothing.

    `columns` are the other columns of its line, which is at `span`.
    """

    query: str
    answers: tuple[Answer, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)


@frozen
class JudgedQuery:
    """The result of a query with known answers.

    `rank` is the place of the first right answer (from 1; 0: none). `in_cap` says whether that answer is among those that fit into `cap`
    tokens, `best` is the best score in millionths, and `is_flagged` says whether a render would call the result sparse. `idle` is the
    nearest idle line, if the query is idle.
    """

    known: KnownAnswer
    rank: int
    in_cap: bool
    best: int
    is_flagged: bool
    idle: str | None = None


@frozen
class IndexVerdict:
    """The results of all queries. Recall, and the mean of 1/rank, are over those with answers, in thousandths."""

    judged: tuple[JudgedQuery, ...]

    @property
    def answered(self) -> tuple[JudgedQuery, ...]:
        """The queries that have an answer."""
        return tuple(one for one in self.judged if one.known.answers)

    def recall(self, depth: int) -> int:
        """Return the share of queries whose answer is among the first `depth`."""
        return self._share(sum(1 for one in self.answered if 0 < one.rank <= depth))

    @property
    def recall_in_cap(self) -> int:
        """The share of queries whose answer fits into the cap."""
        return self._share(sum(1 for one in self.answered if one.in_cap))

    @property
    def mean_reciprocal_rank(self) -> int:
        """The mean of 1/rank; 0 for a query whose answer was not found."""
        return sum(SHARE * SHARE // one.rank for one in self.answered if one.rank) // (SHARE * max(len(self.answered), 1))

    def reaches(self, least: int, depth: int) -> bool:
        """Return whether at least this share, in millionths, is found among the first `depth`, and fits into the cap. It is not rounded."""
        found = [sum(0 < one.rank <= depth for one in self.answered), sum(one.in_cap for one in self.answered)]
        return min(found) * MICRO >= least * max(len(self.answered), 1)

    def _share(self, count: int) -> int:
        return SHARE * count // max(len(self.answered), 1)


def judge_index(known: Sequence[KnownAnswer], ask: Callable[[str], Retrieved], *, floor: int, top: int, cap: int) -> IndexVerdict:
    """Run every query and return the verdict.

    `ask` must answer without the floor, best first, and as deep as recall is needed. `floor`, `top` and `cap` are those of a render: the
    best `top` chunks, as many as fit whole into `cap` tokens.
    """
    return IndexVerdict(tuple(_judge(one, ask(one.query), floor, top, cap) for one in known))


def _judge(known: KnownAnswer, retrieved: Retrieved, floor: int, top: int, cap: int) -> JudgedQuery:
    right = [any(answer.is_in(found.chunk) for answer in known.answers) for found in retrieved.found]
    rank = right.index(True) + 1 if True in right else 0
    held, tokens = 0, 0
    for found in retrieved.found[:top]:
        tokens += found.chunk.tokens
        if tokens > cap:
            break
        held += 1
    best = max((found.score.fused for found in retrieved.found), default=0)
    idle = retrieved.idle[0][1] if retrieved.idle else None
    return JudgedQuery(known, rank, 0 < rank <= held, best, best < floor or not retrieved.found, idle)
