"""Retrieval: the best chunks of indexes for one query or several, with scores that can be explained (`Retriever.ask`, or `retrieve`
without memory); and how well an index answers queries whose answers are known (`judge_index`).

    words   = min(1, BM25 / (1/2 × most + 5/4 × rarest + strange × unseen))
    vectors = max(0, (cosine - background) / (1 - background))
    fused   = (w × words + v × vectors) / (w + v)        w, v: the index's weights; words alone where there is no vector

Each depends on the query, the chunk and the index only, never on what else was found: a score can be compared between queries, and a
floor means the same for each. All are whole millionths, worked out in whole numbers. Of several queries each is scored, and a chunk's best
score counts. `cosine` is the mean of the greatest two of those of the chunk's text, which counts twice, and of the lines that are asked for
it: one line alone is near by accident, and a line more lowers nothing.

A query is idle in an index, and finds nothing there, if this is less than the index's `lead`:

    ahead   = (w × words + v × (ours - theirs) / (1 - background)) / (w + v)

`words` is the best such score among the chunks that the query may see, `ours` the mean of its greatest cosines with texts and lines of
theirs, `theirs` that of its greatest with idle lines (those that no chunk answers). As many on either side: a fifth of what the smaller
side has, from one to ten. Of several queries the first says what is wanted, and the others help to find it: where it is idle, they are not
asked.

`most` is what those words of the query could add that any chunk has: a common one next to nothing. `rarest` is what a word could add that
one chunk has; it keeps a query of which one common word is known from scoring high. `strange` is from 0 to 3: of the words that no chunk
has, those of at most three letters tell nothing (`is_telling`), and no more than three of the others count, each as `unseen`. So filler
does not sink a long query, and what is of another world stays low.
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
from promptc.sources.retrieval.local import IndexedItem, LoadedIndex, digest_entries, index_entries
from promptc.sources.retrieval.scoring import Term, has_words, is_telling, list_terms, multiply
from promptc.text.characters import convert_form, normalize

_ANSWERS = 256
_VECTORS = 4096
_LISTS = 16
BACKGROUND_UNIT = 10_000
_ONE = SCALE * SCALE
_PREVIEW = 120
_STRANGE = 3
_NEAREST = 10
"""Vectors on either side, and chunks by words, by which a query is found idle."""

_PARTS = 5
"""Of so many vectors on the smaller side one is looked at: of few lines ten would be all, near or not."""

_CLOSEST = 2
"""Vectors of a chunk whose mean says how near it is; that of its text counts so many times."""

NO_LEAD = -2 * MICRO
"""A lead that every query has: no two cosines differ by more."""

Why = Literal["floor", "candidates", "top"]
"""Why a chunk that was scored is not among the found: under the floor, not among the best of its index, not among the best of all."""

_Judged = Literal["accepted", "where", "shows"]
"""What the filters say of a row: that it may be scored, or which of them refuses it."""

MOST_REFUSED = 12
_Value = TypeVar("_Value")

SHARE = 1000
"""Shares are counted in thousandths, cut off."""


@frozen
class ChunkFilter:
    """What a chunk must be like. `accepts` is given the chunk as an item (`describe_chunk`); `key` stands for all that decides what it
    says, so that answers can be kept. With an empty key nothing is kept.
    """

    accepts: Callable[[Mapping[str, Any]], bool] = field(compare=False)
    key: str = ""


@frozen
class Boost:
    """What is added to a chunk's score, in millionths, where the condition holds."""

    add: int
    where: ChunkFilter


@frozen
class ChunkQuery:
    """Queries with their filters and numbers (contract.md §4, Retrieval). `floor` is in millionths, None: each index has its own. `version`
    None takes every version. `shows` is asked before `where`, and what it refuses is counted apart: nothing else is told of it. `lead` is
    in millionths, None: each index has its own; `NO_LEAD` asks whatever is idle. `shown` are ids of chunks that are wanted whatever they
    score, if the version and the filters let them pass.
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
    """Why a chunk stands where it does, all in millionths: `words` and `vectors` are from 0 to MICRO, `fused` is their weighted mean,
    `total` is that with what boosts add.
    """

    words: int
    vectors: int
    fused: int
    total: int


@frozen
class FoundChunk:
    """A chunk that was found, in which index, its score, and the query that gave it: of several that gave the same, the first. `asked` is
    the line asked for the chunk that was nearest of all its vectors; empty where its text was, or no vector counts.
    """

    chunk: Chunk
    index: str
    score: Score
    query: str = ""
    asked: str = ""

    def describe(self) -> dict[str, Any]:
        """The item a template sees."""
        return {**describe_chunk(self.chunk), "index": self.index, "score": self.score.total / MICRO}


@frozen
class Retrieved:
    """An answer: the best chunks, best first. `considered` counts the chunks that were scored, `beyond` those that were not among the best
    `candidates` of their index, `under_floor` those of the best that the floor left out. `queries` are those that were asked, in their
    normal form, each once and none without a word, `fingerprints` those of the indexes asked, `notes` tell why vectors were not used where
    they were asked for.
    `refused` are the best `MOST_REFUSED` of those that were scored and not chosen, best first, `unwanted` counts what `where` refused,
    `hidden` what `shows` did. `idle` tells where the first query was idle: each such index, with the idle line that was nearest. `held` are
    those of `shown` that are not among the found, with a score of 0.
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
    """A chunk as an item: its metadata (`version`, `domain`, `mode` and `date` are none where it has none), `id`, `text`, `heading` (a
    list), `file`, `length` in tokens and `preview`, its first 120 characters in one line.
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
    """One for a pack; several threads may use it. What it remembers changes the time taken, never an answer."""

    def __init__(self, load_encoder: Callable[[str], VectorEncoder | MissingEncoder] = load_encoder) -> None:
        self._load_encoder = load_encoder
        self._encoders: dict[str, VectorEncoder | MissingEncoder] = {}
        self._lock = allocate_lock()
        self._vectors: RecentValues[Vector] = RecentValues(_VECTORS)
        self._answers: RecentValues[Retrieved] = RecentValues(_ANSWERS)
        self._lists: RecentValues[LoadedIndex] = RecentValues(_LISTS)

    def ask(self, indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Retrieved:
        """As `retrieve`. A query counts in its normal form: NFC, white space collapsed. Where an encoder's packages are not installed,
        its indexes answer by words alone and `notes` say so.
        """
        normal = (" ".join(convert_form("NFC", query).split()) for query in request.queries)
        request = replace(request, queries=tuple(dict.fromkeys(query for query in normal if has_words(query))))
        key = _find_key(indexes, request)
        found = self._answers.find(key) if key is not None else None
        if found is None:
            found = self._ask(indexes, request)
            if key is not None:
                self._answers.keep(key, found)
        return found

    def open_entries(self, name: str, matching: Matching, entries: Sequence[IndexedItem], count: Callable[[str], int]) -> LoadedIndex:
        """The index of a list in the state (`index_entries`), made once for equal lists; texts that were encoded before are not again."""
        key = name, matching, digest_entries(name, entries)
        found = self._lists.find(key)
        if found is None:
            found = self._index(name, matching, entries, count)
            self._lists.keep(key, found)
        return found

    def load_encoder(self, name: str) -> VectorEncoder | MissingEncoder:
        """The encoder of that name, loaded once."""
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
            self._vectors.keep((encoder.id, text), found)
        return found


def _find_key(indexes: Sequence[LoadedIndex], request: ChunkQuery) -> Hashable | None:
    """Everything that decides the answer; None where a condition does not say what decides it."""
    conditions = [request.shows, request.where, *(boost.where for boost in request.boosts)]
    if any(one is not None and not one.key for one in conditions):
        return None
    return tuple(index.fingerprint for index in indexes), request


class RecentValues(Generic[_Value]):
    """The values that were used last, by key, at most `most` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()
        self._lock = allocate_lock()

    def find(self, key: Hashable) -> _Value | None:
        """The value kept under `key`, which counts as used now; or None."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: Hashable, value: _Value) -> None:
        """Keeps it, and forgets what was used longest ago where there is no room."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)


@frozen
class Query:
    """A query as it is compared: its text, and its vector by the id of each encoder that was asked."""

    text: str
    vectors: dict[str, Vector]


def retrieve(indexes: Sequence[LoadedIndex], queries: Sequence[Query], request: ChunkQuery) -> Retrieved:
    """The best `request.top` chunks of all indexes together.

    Of each index: for each query a window of each list is scored, of a chunk's scores the best counts, the best `candidates` go on, those
    under the floor go, boosts are added. What `version` and `where` refuse is not scored. Order: score, score by words, then index,
    version, file (as UTF-8) and place. A query without a word in it retrieves nothing. The queries of `request` are not looked at.
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
        found += [_boost(one, request) for one in kept]
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
    """The chunks of `shown` that the index has and the filters accept."""
    rows = index.store.list_rows(request.shown, request.version if index.has_versions else None) if request.shown else ()
    chunks = [one for one in index.store.read_chunks(rows) if _judge_item(describe_chunk(one), request) == "accepted"]
    return [FoundChunk(one, index.name, Score(0, 0, 0, 0)) for one in chunks]


def _boost(found: FoundChunk, request: ChunkQuery) -> FoundChunk:
    item = describe_chunk(found.chunk) if request.boosts else {}
    added = sum(boost.add for boost in request.boosts if boost.where.accepts(item))
    return replace(found, score=replace(found.score, total=found.score.fused + added))


def _rank(found: FoundChunk) -> tuple[int, int, str, str, bytes, int]:
    chunk = found.chunk
    return -found.score.total, -found.score.words, found.index, chunk.version, chunk.file.encode(), chunk.ordinal


def _score(index: LoadedIndex, queries: Sequence[Query], request: ChunkQuery) -> tuple[list[FoundChunk], int, int, str | None]:
    """What is scored, each chunk with its best score, and how many `where` and `shows` refused. Where the first query is idle, nothing but
    the idle line that is nearest.
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
    """The nearest idle line, of several as near the first, if the query is idle; `by_words` and `near` are the first rows of each list."""
    lead = index.lead if request.lead is None else request.lead
    if not index.idle_vectors or not near or lead == NO_LEAD:
        return None
    of_idle = multiply(index.idle_vectors, vector)
    products = [product for some in index.store.read_products(vector, near) for product in some]
    count = min(_NEAREST, max(1, min(len(products), len(of_idle)) // _PARTS))
    ours, theirs = (sum(sorted(some)[-count:]) for some in (products, of_idle))
    words = max(_score_words(index, terms, by_words), default=0)
    ahead = MICRO * (ours - theirs) * BACKGROUND_UNIT // (count * _ONE * (BACKGROUND_UNIT - index.background))
    return index.idle[of_idle.index(max(of_idle))] if _fuse(words, ahead, index.weights) < lead else None


def _score_rows(index: LoadedIndex, terms: Sequence[Term], vector: Vector | None, rows: Sequence[int]) -> Iterator[tuple[int, Score, int]]:
    """Each row with its score, and which of its vectors was nearest: 0 is that of its text, or none counts; then come its asked lines."""
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
    """The first rows of each list that the filters accept, each row once; and those by which a query is found idle: the first by words,
    and the nearest by vector, in which the nearest vectors are. `accepted` keeps what the filters said of a row.
    """
    words = sorted({word for term in terms for phrase in term.phrases for word in phrase})
    version, window = request.version if index.has_versions else None, request.window
    wanted = max(window, _NEAREST) if index.idle else window
    rows, near = _take(index, index.store.iter_by_words(words, version), wanted, request, accepted), list[int]()
    if vector is not None:
        near = _take(index, index.store.iter_by_vector(vector, version), wanted, request, accepted)
    return sorted({*rows[:window], *near[:window]}), rows[:_NEAREST], near[:_NEAREST]


def _take(index: LoadedIndex, rows: Iterator[int], wanted: int, request: ChunkQuery, accepted: dict[int, _Judged]) -> list[int]:
    """The first `wanted` rows that the filters accept; they are asked of so many rows at a time, and of each row once."""
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
    """Whether no chunk has a word of it, though it tells something."""
    return any(map(is_telling, term.phrases[0])) and not any(word in index.ideals for phrase in term.phrases for word in phrase)


def _ideal_of(index: LoadedIndex, term: Term) -> int:
    """The most the term can add: its best phrase. A word that no chunk has adds nothing."""
    return max(sum(index.ideals.get(word, 0) for word in phrase) for phrase in term.phrases)


def _match(term: Term, impacts: Mapping[str, int]) -> int:
    """What the term adds to a chunk: its best phrase."""
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
        """Whether it is a section of that file."""
        return file == self.file or file.endswith(f"/{self.file}")

    def is_in(self, chunk: Chunk) -> bool:
        """Whether the chunk holds the section's own text, or a part of it."""
        return self.is_of(chunk.file) and normalize(self.heading) in map(normalize, chunk.covers)


@frozen
class KnownAnswer:
    """A query and what answers it: any of the answers. One without is to find nothing. `columns` are the further ones of its line, which
    stands at `span`.
    """

    query: str
    answers: tuple[Answer, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)


@frozen
class JudgedQuery:
    """What a query came to: the place of the first right answer (from 1; 0: none), whether it stood among those that `cap` tokens hold, the
    best score in millionths, whether a render would have called it sparse, and the idle line that was nearest, where it is idle.
    """

    known: KnownAnswer
    rank: int
    in_cap: bool
    best: int
    is_flagged: bool
    idle: str | None = None


@frozen
class IndexVerdict:
    """All queries together. Recall, and the mean of 1/rank, are over those with answers, in thousandths."""

    judged: tuple[JudgedQuery, ...]

    @property
    def answered(self) -> tuple[JudgedQuery, ...]:
        """Those that have an answer."""
        return tuple(one for one in self.judged if one.known.answers)

    def recall(self, depth: int) -> int:
        """The share whose answer is among the first `depth`."""
        return self._share(sum(1 for one in self.answered if 0 < one.rank <= depth))

    @property
    def recall_in_cap(self) -> int:
        """The share whose answer is among what the cap holds."""
        return self._share(sum(1 for one in self.answered if one.in_cap))

    @property
    def mean_reciprocal_rank(self) -> int:
        """The mean of 1/rank, nothing for what was not found."""
        return sum(SHARE * SHARE // one.rank for one in self.answered if one.rank) // (SHARE * max(len(self.answered), 1))

    def _share(self, count: int) -> int:
        return SHARE * count // max(len(self.answered), 1)


def judge_index(known: Sequence[KnownAnswer], ask: Callable[[str], Retrieved], *, floor: int, top: int, cap: int) -> IndexVerdict:
    """Asks every query. `ask` is to answer with the floor off, best first, as deep as recall is wanted; `floor`, `top` and `cap` are those
    of a render: the best `top`, as many as `cap` tokens hold whole.
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
