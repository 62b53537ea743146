"""Retrieval: whole numbers give one answer everywhere, an answer holds to its laws, and a corpus gives one index however it is read."""

from array import array
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptc.diag.findings import Span
from promptc.diag.frozen import replace
from promptc.frontend.corpus import read_corpus
from promptc.model.section import MICRO
from promptc.model.sources import ChunkPlan, CorpusIndex, Matching
from promptc.sources import kept as reading
from promptc.sources.retrieval import scoring
from promptc.sources.retrieval.building import build_index
from promptc.sources.retrieval.encoder import SCALE
from promptc.sources.retrieval.index import render_files
from promptc.sources.retrieval.local import LocalStore, _NumpyStore
from promptc.sources.retrieval.retrieve import Boost, ChunkFilter, ChunkQuery, Query, retrieve
from promptc.sources.retrieval.scoring import weigh_words
from tests.retrieval_drawing import WordEncoder, make_chunk, make_index
from tests.size import count_examples

WORDS = st.sampled_from(["goblin", "cave", "rest", "dragon", "é", "字字", "of", "the"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
VERSIONS = st.sampled_from(["", "1", "2", "10"])
CHUNKS = st.lists(st.tuples(TEXTS, st.sampled_from(["a.md", "é.md", "z.md"]), VERSIONS), max_size=25)
FEW = settings(max_examples=count_examples(60), deadline=None)


def make_chunks(drawn):
    return [make_chunk(text, place, file=file, version=version) for place, (text, file, version) in enumerate(drawn)]


def make_query(text):
    return Query(text, {"words": WordEncoder().encode(text)})


def make_stores(chunks):
    ordered = sorted(chunks, key=lambda one: (one.version, one.file.encode(), one.ordinal))
    encoder, words = WordEncoder(), weigh_words(ordered)
    vectors = array("h", [number for one in ordered for number in encoder.encode(one.text)])
    plain = LocalStore(ordered, words, vectors, encoder.size)
    return plain, _NumpyStore(np, ordered, words, vectors, encoder.size)


@FEW
@given(CHUNKS, st.lists(WORDS, max_size=5, unique=True), st.one_of(st.none(), VERSIONS))
def test_both_stores_propose_the_same(drawn, words, version):
    plain, fast = make_stores(make_chunks(drawn))
    assert list(plain.iter_by_words(words, version)) == list(fast.iter_by_words(words, version))
    vector = WordEncoder().encode(" ".join(words))
    assert list(plain.iter_by_vector(vector, version)) == list(fast.iter_by_vector(vector, version))


@FEW
@given(CHUNKS, st.lists(TEXTS, max_size=3), st.integers(1, 10), st.integers(0, MICRO), st.one_of(st.none(), VERSIONS))
def test_with_numpy_and_without_the_answer_is_the_same(drawn, texts, window, floor, version):
    chunks = make_chunks(drawn)
    index, (plain, fast) = make_index(chunks, weights=(6, 4)), make_stores(chunks)
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
        assert scoring.multiply(kept, one) == [sum(a * b for a, b in zip(one, other, strict=True)) for other in kept]


@FEW
@given(CHUNKS, TEXTS, st.integers(0, MICRO), st.integers(1, 8), st.sampled_from([(1, 0), (6, 4), (0, 1)]))
def test_an_answer_holds_to_its_laws(drawn, text, floor, top, weights):
    index = make_index(make_chunks(drawn), weights=weights)
    boost = Boost(50_000, ChunkFilter(lambda item: item["version"] == "1", "1"))
    query = [make_query(text)]
    found = retrieve([index], query, ChunkQuery((), floor=floor, top=top, boosts=(boost,)))
    totals = [one.score.total for one in found.found]
    assert totals == sorted(totals, reverse=True) and len(totals) <= top
    assert found.is_sparse == (not found.found)
    for one in found.found:
        score = one.score
        assert max(floor, 1) <= score.fused <= MICRO and 0 <= score.words <= MICRO and 0 <= score.vectors <= MICRO
        assert score.total - score.fused == (50_000 if one.chunk.version == "1" else 0)
    more = retrieve([index], query, ChunkQuery((), floor=floor, top=top + 1, boosts=(boost,)))
    assert more.found[:top] == found.found, "a longer list begins with the shorter one"


@FEW
@given(CHUNKS.flatmap(lambda drawn: st.tuples(st.just(drawn), st.permutations(range(len(drawn))))), TEXTS)
def test_the_order_in_which_chunks_are_met_does_not_matter(drawn, text):
    chunks = make_chunks(drawn[0])
    query = [make_query(text)]
    one, other = make_index(chunks, weights=(6, 4)), make_index([chunks[place] for place in drawn[1]], weights=(6, 4))
    assert retrieve([one], query, ChunkQuery((), floor=0)) == retrieve([other], query, ChunkQuery((), floor=0))


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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpus")


NAMES = st.sampled_from(["a", "b", "é", "Z", "# odd, +1"])
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


def write(folder, files, line_end, marked):
    for old in sorted(folder.rglob("*.md")):
        old.unlink()
    for (version, name), texts in files.items():
        path = folder / version / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        text = line_end.join(["---", "mode: dm", "---", "# Heading", *(f"## {text}{line_end}{line_end}{text}" for text in texts), ""])
        path.write_bytes((b"\xef\xbb\xbf" if marked else b"") + text.encode())


def render(index):
    built = build_index(index, read_corpus(index), count=lambda text: len(text.split()), counter="c", encoder=WordEncoder())
    return render_files(built)
