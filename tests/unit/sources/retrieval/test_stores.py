"""What every store must do, and that the answer is the same bytes whichever proposes: memory with numpy and without, and PostgreSQL.

A store of another engine is added to `STORES`: it passes all of this, or it says which rows it may leave out.
"""

import sys
from unittest.mock import patch

import numpy as np
import pytest

from promptc.diag.findings import DiskError
from promptc.diag.frozen import replace
from promptc.model.sources import Matching, Weights
from promptc.sources.address import read_address
from promptc.sources.database import Database
from promptc.sources.retrieval.local import BuiltIndex, LocalStore, _NumpyStore, open_index
from promptc.sources.retrieval.postgres import DatabaseStore, write_chunks
from promptc.sources.retrieval.retrieve import Boost, ChunkFilter, ChunkQuery, Query, retrieve
from promptc.sources.retrieval.scoring import weigh_words
from tests.retrieval_drawing import WordEncoder, array, encode_lines, make_chunk

STORES = ("memory", "numpy", "postgresql")
TEXTS = [
    "goblin ambush in the forest",
    "goblin stat block and tactics",
    "goblin goblin goblin",
    "long rest restores hit points",
    "dragon breath weapon 'quoted' \"twice\" \\ % :name",
    "字字字 と 漢字",
    "same text",
    "same text",
    "",
]
ASKED = ("who ambushes whom in the forest", "字字 rest")
IDLE = ("goblin tea", "brb", "same old text")
MANY = [f"filler {'goblin ' * (number % 7)}{number}" for number in range(250)]


def make_chunks():
    made = [
        make_chunk(
            text,
            place,
            file="é.md" if place % 2 else "z.md",
            heading=("H", f"S{place}"),
            version=str(place % 3 or ""),
            mode="dm",
            deep={"a": [1]},
            asked=ASKED[: place % 3] if place < 30 else (),
        )
        for place, text in enumerate([*TEXTS, *MANY])
    ]
    return sorted(made, key=lambda one: (one.version, one.file.encode(), one.ordinal))


CHUNKS = make_chunks()
ENCODER = WordEncoder()
VECTORS = encode_lines(CHUNKS, IDLE)
BUILT = BuiltIndex("rules", "", "", (), tuple(CHUNKS), weigh_words(CHUNKS), VECTORS, "sha256:one", IDLE)
INDEX = open_index("rules", Matching(Weights(6, 4), "words", (("nap", ("long rest",)),), lead=20_000), BUILT)


@pytest.fixture(params=STORES)
def store(request):
    if request.param == "memory":
        return LocalStore(CHUNKS, BUILT.words, VECTORS.values, VECTORS.size)
    if request.param == "numpy":
        return _NumpyStore(np, CHUNKS, BUILT.words, VECTORS.values, VECTORS.size)
    return request.getfixturevalue("database_store")


@pytest.fixture
def database(postgres):
    opened = Database(read_address(postgres))
    yield opened
    opened.close()


@pytest.fixture
def database_store(database):
    write_chunks(database, BUILT, "rules")
    return DatabaseStore(database, BUILT.fingerprint)


@pytest.mark.dear
def test_what_is_read_is_what_was_written(store):
    rows = [5, 0, 258, 3]
    assert store.count == len(CHUNKS) == 259
    assert list(store.read_chunks(rows)) == [CHUNKS[row] for row in rows]
    vector = ENCODER.encode("goblin rest")
    assert [list(one) for one in store.read_products(vector, rows)] == [_list_products(CHUNKS[row], vector) for row in rows]
    assert store.read_chunks([]) == [] and store.read_products(vector, []) == [] and store.read_impacts(["goblin"], []) == []


# contract 4.51
@pytest.mark.parametrize("version", [None, "", "1", "9"])
def test_rows_by_their_ids(store, version):
    wanted = [CHUNKS[row].id for row in (200, 3, 77)]
    expected: dict[str, int] = {}
    for row, chunk in enumerate(CHUNKS):
        if chunk.id in wanted and version in (None, chunk.version):
            expected.setdefault(chunk.id, row)
    assert list(store.list_rows([*wanted, "'; nothing", wanted[0]], version)) == sorted(expected.values())
    assert list(store.list_rows([], version)) == []
    assert len(expected) == 3 or version is not None


def _list_products(chunk, vector):
    texts = (chunk.text, *chunk.asked)
    return [sum(a * b for a, b in zip(ENCODER.encode(text), vector, strict=True)) for text in texts]


def test_impacts(store):
    rows = [row for row, one in enumerate(CHUNKS) if one.text in TEXTS]
    plain = LocalStore(CHUNKS, BUILT.words, VECTORS.values, VECTORS.size)
    words = ["goblin", "rest", "字字", "nothing"]
    assert store.read_impacts(words, rows) == plain.read_impacts(words, rows)
    assert any(store.read_impacts(words, rows)) and store.read_impacts([], rows) == [{} for _ in rows]


@pytest.mark.parametrize("version", [None, "", "1", "2", "9"])
@pytest.mark.parametrize("words", [["goblin"], ["goblin", "rest", "字字"], ["nothing"], [], ["%", "'", "filler"]])
def test_rows_by_words_best_first_then_by_row(words, version, store):
    def total(row):
        return sum(BUILT.words.impacts[at] for word in words for at in _places(word) if BUILT.words.rows[at] == row)

    rows = list(store.iter_by_words(words, version))
    wanted = [row for row, one in enumerate(CHUNKS) if total(row) and version in (None, one.version)]
    assert rows == sorted(wanted, key=lambda row: (-total(row), row))


def _places(word):
    number = BUILT.words.numbers.get(word)
    return range(BUILT.words.ends[number], BUILT.words.ends[number + 1]) if number is not None else ()


@pytest.mark.parametrize("version", [None, "1", "9"])
def test_rows_by_vector_nearest_first_then_by_row(version, store):
    vector = ENCODER.encode("goblin rest")
    products = [max(_list_products(one, vector)) for one in CHUNKS]
    assert any(one.asked and product > _list_products(one, vector)[0] for one, product in zip(CHUNKS, products, strict=True))
    wanted = [row for row, one in enumerate(CHUNKS) if version in (None, one.version)]
    assert list(store.iter_by_vector(vector, version)) == sorted(wanted, key=lambda row: (-products[row], row))


QUERIES = ("brb", "goblin tactics", "nap", "字字", "same text", "filler 7", "nothing known", "")
REQUESTS = (
    ChunkQuery((), floor=0, top=12),
    ChunkQuery((), version="1"),
    ChunkQuery((), floor=0, window=3, candidates=5),
    ChunkQuery((), floor=0, where=ChunkFilter(lambda item: item["file"] == "é.md", "é")),
    ChunkQuery((), floor=100_000, boosts=(Boost(50_000, ChunkFilter(lambda item: item["version"] == "2", "2")),)),
)


@pytest.mark.dear
def test_the_answer_is_the_same(store):
    plain = replace(INDEX, store=LocalStore(CHUNKS, BUILT.words, VECTORS.values, VECTORS.size))
    single = [Query(text, {"words": ENCODER.encode(text)}) for text in QUERIES]
    idle = 0
    for queries in (*([query] for query in single), single[:3], single[::-1]):
        for request in REQUESTS:
            with patch.dict(sys.modules, {"numpy": None}):
                expected = retrieve([plain], queries, request)
            assert repr(retrieve([replace(INDEX, store=store)], queries, request)) == repr(expected)
            idle += bool(expected.idle)
    assert 0 < idle < len(REQUESTS) * 9, "some are idle, and some are not"


def test_an_index_without_vectors(store, request):
    plain = BuiltIndex("plain", "", "", (), tuple(CHUNKS[:5]), weigh_words(CHUNKS[:5]), None, "sha256:plain")
    if isinstance(store, DatabaseStore):
        database = request.getfixturevalue("database")
        write_chunks(database, plain, "plain")
        store = DatabaseStore(database, plain.fingerprint)
    else:
        store = type(store)(*([np] if isinstance(store, _NumpyStore) else []), CHUNKS[:5], plain.words, array("h"), 0)
    assert store.count == 5 and list(store.iter_by_vector(ENCODER.encode("goblin"), None)) == []


def test_a_build_takes_the_place_of_the_one_before_it(database, database_store):
    write_chunks(
        database, replace(BUILT, chunks=BUILT.chunks[:2], words=weigh_words(CHUNKS[:2]), vectors=None, fingerprint="sha256:two"), "rules"
    )
    assert DatabaseStore(database, "sha256:two").count == 2 and DatabaseStore(database, "sha256:two").is_whole(2)
    assert not database_store.is_whole(len(CHUNKS))
    assert database_store.count == 0 and list(database_store.iter_by_words(["goblin"], None)) == []
    write_chunks(database, BUILT, "rules")
    write_chunks(database, BUILT, "rules")
    assert database_store.count == len(CHUNKS)


def test_a_server_that_is_not_there(tmp_path):
    gone = DatabaseStore(Database(read_address(f"postgresql://someone@/nothing?host={tmp_path}")), "sha256:one")
    with pytest.raises(DiskError):
        list(gone.iter_by_words(["goblin"], None))
