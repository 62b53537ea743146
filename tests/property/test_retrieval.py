"""Retrieval: whole numbers give one answer everywhere, an answer holds to its laws, and a corpus gives one index however it is read."""

from array import array
from fractions import Fraction
from unicodedata import normalize
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptc.diag.findings import Span
from promptc.diag.frozen import replace
from promptc.frontend.corpus import read_corpus
from promptc.model.section import MICRO
from promptc.model.sources import ChunkPlan, CorpusIndex, Document, Matching
from promptc.sources import kept as reading
from promptc.sources.retrieval import scoring
from promptc.sources.retrieval.building import AskedLines, build_index, render_indexed
from promptc.sources.retrieval.encoder import SCALE
from promptc.sources.retrieval.index import render_files
from promptc.sources.retrieval.local import LocalStore, _NumpyStore
from promptc.sources.retrieval.retrieve import NO_LEAD, Answer, Boost, ChunkFilter, ChunkQuery, KnownAnswer, Query, retrieve
from promptc.sources.retrieval.scoring import weigh_words
from tests.retrieval_drawing import WordEncoder, encode_lines, make_chunk, make_index
from tests.size import count_examples

WORDS = st.sampled_from(["goblin", "cave", "rest", "dragon", "é", "字字", "of", "the"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
VERSIONS = st.sampled_from(["", "1", "2", "10"])
LINES = st.lists(TEXTS, max_size=3, unique=True)
CHUNKS = st.lists(st.tuples(TEXTS, st.sampled_from(["a.md", "é.md", "z.md"]), VERSIONS, LINES), max_size=25)
LEADS = st.one_of(st.just(0), st.integers(0, MICRO // 4))
FEW = settings(max_examples=count_examples(60), deadline=None)


def make_chunks(drawn):
    return [make_chunk(text, place, file=file, version=version, asked=asked) for place, (text, file, version, asked) in enumerate(drawn)]


def make_query(text):
    return Query(text, {"words": WordEncoder().encode(text)})


def make_stores(chunks):
    ordered = sorted(chunks, key=lambda one: (one.version, one.file.encode(), one.ordinal))
    words, vectors, size = weigh_words(ordered), encode_lines(ordered).values, WordEncoder.size
    return LocalStore(ordered, words, vectors, size), _NumpyStore(np, ordered, words, vectors, size)


@FEW
@given(CHUNKS, st.lists(WORDS, max_size=5, unique=True), st.one_of(st.none(), VERSIONS))
def test_both_stores_propose_the_same(drawn, words, version):
    plain, fast = make_stores(make_chunks(drawn))
    assert list(plain.iter_by_words(words, version)) == list(fast.iter_by_words(words, version))
    vector = WordEncoder().encode(" ".join(words))
    assert list(plain.iter_by_vector(vector, version)) == list(fast.iter_by_vector(vector, version))
    rows = range(len(drawn))
    assert plain.read_products(vector, rows) == fast.read_products(vector, rows)


@FEW
@given(CHUNKS, st.lists(TEXTS, max_size=3), st.integers(1, 10), st.integers(0, MICRO), st.one_of(st.none(), VERSIONS), LINES, LEADS)
def test_with_numpy_and_without_the_answer_is_the_same(drawn, texts, window, floor, version, idle, lead):
    chunks = make_chunks(drawn)
    index = make_index(chunks, weights=(6, 4), idle=idle, lead=lead, neighbours=MICRO // 2)
    plain, fast = make_stores(chunks)
    queries, request = list(map(make_query, texts)), ChunkQuery((), version=version, window=window, floor=floor)
    with patch.dict(scoring.sys.modules, {"numpy": None}):
        without = retrieve([replace(index, store=plain)], queries, request)
    assert retrieve([replace(index, store=fast)], queries, request) == without


@FEW
@given(st.lists(st.lists(st.integers(-180, 180), min_size=384, max_size=384), min_size=1, max_size=4))
def test_float32_is_exact(vectors):
    """Of vectors as long as a unit vector: the sum of the squares is at most SCALE², with what rounding adds."""
    kept = [one for one in vectors if sum(value * value for value in one) <= SCALE * SCALE * 1.02]
    for one in kept:
        values = array("h", [value for other in kept for value in other])
        assert scoring.multiply(values, one) == [sum(a * b for a, b in zip(one, other, strict=True)) for other in kept]


@FEW
@given(CHUNKS, TEXTS, st.integers(0, MICRO), st.integers(1, 8), st.sampled_from([(1, 0), (6, 4), (0, 1)]), st.integers(0, MICRO))
def test_an_answer_holds_to_its_laws(drawn, text, floor, top, weights, neighbours):
    index = make_index(make_chunks(drawn), weights=weights, neighbours=neighbours)
    boost = Boost(50_000, ChunkFilter(lambda item: item["version"] == "1", "1"))
    query = [make_query(text)]
    found = retrieve([index], query, ChunkQuery((), floor=floor, top=top, boosts=(boost,)))
    totals = [one.score.total for one in found.found]
    assert totals == sorted(totals, reverse=True) and len(totals) <= top
    assert found.is_sparse == (not found.found)
    for one in found.found:
        score = one.score
        assert max(floor, 1) <= score.fused <= MICRO and 0 <= score.words <= MICRO and 0 <= score.vectors <= MICRO
        assert 0 <= score.neighbours <= neighbours
        assert score.total - score.fused - score.neighbours == (50_000 if one.chunk.version == "1" else 0)
    more = retrieve([index], query, ChunkQuery((), floor=floor, top=top + 1, boosts=(boost,)))
    assert more.found[:top] == found.found, "a longer list begins with the shorter one"


@FEW
@given(CHUNKS.flatmap(lambda drawn: st.tuples(st.just(drawn), st.permutations(range(len(drawn))))), TEXTS)
def test_the_order_in_which_chunks_are_met_does_not_matter(drawn, text):
    chunks = make_chunks(drawn[0])
    query = [make_query(text)]
    one, other = make_index(chunks, weights=(6, 4)), make_index([chunks[place] for place in drawn[1]], weights=(6, 4))
    assert retrieve([one], query, ChunkQuery((), floor=0)) == retrieve([other], query, ChunkQuery((), floor=0))


# contract 4.33
@FEW
@given(CHUNKS, st.lists(TEXTS, max_size=4, unique=True), st.sampled_from([(1, 0), (6, 4), (0, 1)]), st.permutations(range(4)))
def test_of_several_queries_a_chunks_best_score_counts(drawn, texts, weights, order):
    """What several queries find is what each finds alone, put together; the order of the queries decides only which one is named."""
    index, all_of_it = make_index(make_chunks(drawn), weights=weights), ChunkQuery((), floor=0, candidates=100, top=100)
    best = {}
    for text in texts:
        for one in retrieve([index], [make_query(text)], all_of_it).found:
            if one.chunk.id not in best or one.score.fused > best[one.chunk.id].score.fused:
                best[one.chunk.id] = one
    together = retrieve([index], list(map(make_query, texts)), all_of_it)
    assert {one.chunk.id: one for one in together.found} == best and together.considered >= len(best)
    other = retrieve([index], [make_query(texts[place]) for place in order if place < len(texts)], all_of_it)
    assert {one.chunk.id: one.score.fused for one in other.found} == {id: one.score.fused for id, one in best.items()}


@FEW
@given(CHUNKS, TEXTS, st.integers(0, 5), st.lists(st.sampled_from(["do", "i", "my", "via"]), unique=True), st.randoms())
def test_of_words_that_no_chunk_has_short_ones_tell_nothing_and_three_others_are_enough(drawn, text, count, short, chance):
    """They only lower a score, and from the third long one on no score does."""

    def score(*words):
        shuffled = [*text.split(), *words]
        chance.shuffle(shuffled)
        asked = retrieve([index], [Query(" ".join(shuffled), {})], ChunkQuery((), floor=0, candidates=50, top=50))
        return {one.chunk.id: one.score.words for one in (*asked.found, *(one for one, _ in asked.refused))}

    index = make_index(make_chunks(drawn))
    plain, three = score(), score("zeppelin", "flux", "turbine")
    assert score(*short) == plain
    found = score(*short, *["zeppelin", "flux", "unheard", "teapot", "kettle"][:count])
    assert all(three[id] <= found.get(id, 0) <= plain[id] for id in three)
    assert found == (three if count >= 3 else score(*["teapot", "kettle"][:count]))


def multiply(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


# contract 4.35
@FEW
@given(CHUNKS, TEXTS, st.integers(1, 8))
def test_a_chunk_is_as_near_as_the_two_nearest_of_its_text_twice_and_its_lines(drawn, text, window):
    """Against every vector compared by itself: which chunks are proposed first, their score, and the line that is told."""
    chunks, query = make_chunks(drawn), make_query(text)
    vector = query.vectors["words"]
    found = retrieve([make_index(chunks, weights=(0, 1))], [query], ChunkQuery((), floor=0, top=100, candidates=100, window=window))
    nearest = {}
    for chunk in chunks:
        products = [(multiply(WordEncoder().encode(one), vector), -place) for place, one in enumerate((chunk.text, *chunk.asked))]
        nearest[chunk.id] = sorted([products[0], *products], reverse=True)[:2]
    given = {one.chunk.id: one for one in (*found.found, *(one for one, _ in found.refused))}
    for id, one in given.items():
        product, place = sum(product for product, _ in nearest[id]) // 2, nearest[id][0][1]
        room = SCALE * SCALE * 9_500
        assert one.score.vectors == min(MICRO, max(0, MICRO * (product * 10_000 - 500 * SCALE * SCALE) // room))
        assert one.asked == (one.chunk.asked[-place - 1] if place else "")
    order = sorted(chunks, key=lambda one: (-nearest[one.id][0][0], one.version, one.file.encode(), one.ordinal))
    scored = {id for id, best in nearest.items() if sum(product for product, _ in best) // 2 * 10_000 > 500 * SCALE * SCALE}
    assert not text or len(chunks) > 12 or {one.id for one in order[:window]} & scored <= {*given}


# contract 4.36 and 4.37
@FEW
@given(CHUNKS, st.lists(TEXTS, min_size=1, max_size=3), LINES, LEADS, st.integers(1, 4), st.one_of(st.none(), VERSIONS), st.booleans())
def test_a_query_is_idle_by_words_the_nearest_and_the_direction(drawn, texts, idle, lead, window, version, is_hidden):
    """Against fractions of all the vectors that the query may see, and the best score by words alone: what is hidden, refused or of another
    version has no part in it but in the direction.
    """
    chunks, queries = make_chunks(drawn), list(map(make_query, texts))
    filter = ChunkFilter(lambda item: item["file"] != "a.md", "a")
    named = {"shows": filter} if is_hidden else {"where": filter}
    request = ChunkQuery((), floor=0, version=version, window=window, **named)
    index = make_index(chunks, weights=(6, 4), idle=idle, lead=lead)
    found = retrieve([index], queries, request)
    vector = queries[0].vectors["words"]
    seen = [chunk for chunk in chunks if chunk.file != "a.md" and version in (None, chunk.version)]
    ours = sorted((multiply(WordEncoder().encode(one), vector) for chunk in seen for one in (chunk.text, *chunk.asked)), reverse=True)
    theirs = sorted((multiply(WordEncoder().encode(one), vector) for one in idle), reverse=True)
    is_idle = bool(texts[0] and ours and theirs)
    if is_idle:
        count = min(10, max(1, min(len(ours), len(theirs)) // 5))
        gap = Fraction(sum(ours[:count]) - sum(theirs[:count]), count)
        near = (gap + multiply(index.idle_vectors[-WordEncoder.size :], vector) - index.middle) / (SCALE * SCALE) / Fraction(9_500, 10_000)
        by_words = retrieve([make_index(chunks)], queries[:1], replace(request, window=100)).found
        words = Fraction(by_words[0].score.words if by_words else 0, MICRO)
        ahead = (6 * words + 4 * Fraction(MICRO * near // 1, MICRO)) / 10
        is_idle = MICRO * ahead // 1 < lead
    assert [name for name, _ in found.idle] == (["rules"] if is_idle else [])
    if is_idle:
        nearest = max(idle, key=lambda one: (multiply(WordEncoder().encode(one), vector), -idle.index(one)))
        assert found.idle == (("rules", nearest),) and not found.found and not found.refused and not found.considered
    else:
        free = retrieve([make_index(chunks, weights=(6, 4))], queries, request)
        assert (found.found, found.refused, found.considered) == (free.found, free.refused, free.considered), "the lines do nothing else"
    assert retrieve([index], queries, replace(request, lead=NO_LEAD)).idle == ()


@FEW
@given(CHUNKS, TEXTS, st.integers(0, 24), TEXTS)
def test_by_vectors_no_score_falls_when_a_line_is_asked_for_a_chunk(drawn, text, place, line):
    def score(chunks):
        index = make_index(chunks, weights=(0, 1))
        found = retrieve([index], [make_query(text)], ChunkQuery((), floor=0, top=100, candidates=100))
        return {one.chunk.id: one.score.fused for one in found.found}

    chunks = make_chunks(drawn)
    before = score(chunks)
    if chunks:
        chosen = chunks[place % len(chunks)]
        chunks[place % len(chunks)] = replace(chosen, asked=(*chosen.asked, line))
    after = score(chunks)
    assert all(after.get(id, 0) >= fused for id, fused in before.items())
    assert {id for id in after if after[id] != before.get(id, 0)} <= ({chosen.id} if chunks else set()), "no other's changes"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpus")


NAMES = st.sampled_from(["a", "f", "é", "Z", "# odd, +1"])  # `é` comes after `f` in NFC, and before it in NFD
FILES = st.dictionaries(st.tuples(st.sampled_from(["1.0", "2.0"]), NAMES), st.lists(TEXTS, max_size=4), min_size=1, max_size=6)


@settings(max_examples=count_examples(25), deadline=None)
@given(FILES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.randoms())
def test_one_corpus_is_one_index(folder, files, line_end, marked, chance):
    """Whatever the line ends, a byte order mark, the form of letters on disk, and the order in which folders are listed."""
    index = CorpusIndex("i", Span("pack.yaml", 1, 1), str(folder), "{version}/*.md", "data", ChunkPlan(3, 12), Matching(), {})
    write(folder, files, "\n", False)
    expected = render(index)
    write(folder, files, line_end, marked)
    assert render(index) == expected
    scandir = reading.os.scandir

    class Listing:
        def __init__(self, path):
            self.inner = scandir(path)

        def __enter__(self):
            entries = list(self.inner)
            chance.shuffle(entries)
            return entries

        def __exit__(self, *_):
            self.inner.close()

    with patch.object(reading.os, "scandir", Listing):
        assert render(index) == expected


ASKED = st.lists(st.tuples(TEXTS.filter(bool), st.booleans()), min_size=1, max_size=6, unique_by=lambda one: one[0])


@settings(max_examples=count_examples(25), deadline=None)
@given(FILES, ASKED, ASKED)
def test_an_index_is_the_same_from_nothing_and_from_an_earlier_one(folder, files, lines, earlier):
    """And what is not new is not encoded again."""
    index = CorpusIndex(
        "i", Span("pack.yaml", 1, 1), str(folder), "{version}/*.md", "data", ChunkPlan(3, 12), Matching(), {}, asked="a.tsv"
    )
    write(folder, files, "\n", False)
    documents = read_corpus(index)
    given = {"count": lambda text: len(text.split()), "counter": "c"}
    answers = [(chunk.file, name) for chunk in build_index(index, documents, **given).chunks for name in chunk.covers]

    def build(drawn, before=None):
        answered = [
            (line, tuple(Answer(*answers[place % len(answers)]) for _ in range(is_asked and bool(answers))))
            for place, (line, is_asked) in enumerate(drawn)
        ]
        known = tuple(KnownAnswer(line, told) for line, told in answered)
        file = Document("a.tsv", "", {}, repr(known))
        encoder = WordEncoder()
        built = build_index(index, documents, asked=AskedLines(file, known), encoder=encoder, earlier=before, **given)
        return built, encoder.encoded

    first, _ = build(earlier)
    (anew, whole), (again, new) = build(lines), build(lines, first)
    assert render_files(again) == render_files(anew)
    assert {line for chunk in anew.chunks for line in chunk.asked} | {*anew.idle} == {line for line, _ in lines}
    known = {text for chunk in first.chunks for text in (render_indexed(chunk.heading, chunk.text), *chunk.asked)} | {*first.idle}
    assert not known & {*new} and {*new} <= {*whole}


def write(folder, files, line_end, marked):
    for old in sorted(folder.rglob("*.md")):
        old.unlink()
    for (version, name), texts in files.items():
        path = folder / version / f"{normalize('NFD' if marked else 'NFC', name)}.md"
        path.parent.mkdir(exist_ok=True)
        text = line_end.join(["---", "mode: dm", "---", "# Heading", *(f"## {text}{line_end}{line_end}{text}" for text in texts), ""])
        path.write_bytes((b"\xef\xbb\xbf" if marked else b"") + text.encode())


def render(index):
    built = build_index(index, read_corpus(index), count=lambda text: len(text.split()), counter="c", encoder=WordEncoder())
    return render_files(built)
