from dataclasses import dataclass

import pytest

from promptc.diag.frozen import replace
from promptc.model.section import MICRO
from promptc.sources.retrieval.retrieve import Boost, ChunkFilter, ChunkQuery, Query, describe_chunk, retrieve
from tests.retrieval_drawing import WordEncoder, make_chunk, make_index

CHUNKS = [
    make_chunk("goblin ambush in the forest", heading=("Monsters", "Goblin"), version="1", mode="dm"),
    make_chunk("goblin stat block and tactics", 1, heading=("Monsters", "Goblin"), version="2", mode="story"),
    make_chunk("long rest restores hit points", 2, heading=("Resting",), version="2", mode="dm"),
    make_chunk("dragon breath weapon", 3, heading=("Monsters", "Dragon"), version="2", mode="dm"),
]
HYBRID = {"weights": (6, 4)}


def ask(texts, request=None, **index):
    one = make_index(index.pop("chunks", CHUNKS), **index)
    asked = [texts] if isinstance(texts, str) else texts
    queries = [Query(text, {"words": WordEncoder().encode(text)} if one.encoder else {}) for text in asked]
    return retrieve([one], queries, request or ChunkQuery((), floor=0))


def places(found):
    return [one.chunk.ordinal for one in found.found]


@pytest.mark.parametrize("index", [{}, HYBRID])
def test_the_best_stands_first_and_scores_are_shares(index):
    found = ask("goblin tactics", **index)
    assert places(found)[0] == 1
    assert all(0 <= one.score.words <= MICRO and 0 <= one.score.vectors <= MICRO for one in found.found)
    assert not found.is_sparse


@pytest.mark.parametrize("text", ["", " ", "...", "!?"])
@pytest.mark.parametrize("index", [{}, HYBRID])
def test_a_query_without_words_retrieves_nothing(text, index):
    found = ask(text, **index)
    assert (found.found, found.is_sparse, found.considered) == ((), True, 0)


def test_a_score_depends_on_the_query_the_chunk_and_the_index_only():
    """Not on what else was found: a smaller window or another filter leaves it as it is."""
    wide = {one.chunk.id: one.score for one in ask("goblin hit points", **HYBRID).found}
    narrow = ask("goblin hit points", ChunkQuery((), floor=0, window=1, candidates=2, version="2"), **HYBRID)
    assert narrow.found and all(wide[one.chunk.id] == one.score for one in narrow.found)


def test_fused_is_the_weighted_mean_cut_off():
    for one in ask("goblin tactics", **HYBRID).found:
        assert one.score.fused == (6 * one.score.words + 4 * one.score.vectors) // 10
    for one in ask("goblin tactics").found:
        assert (one.score.fused, one.score.vectors) == (one.score.words, 0)


# contract 4.32
def test_a_version_and_a_condition_refuse_before_anything_is_scored():
    assert places(ask("goblin", ChunkQuery((), floor=0, version="1"))) == [0]
    assert ask("goblin", ChunkQuery((), floor=0, version="3")).considered == 0
    in_story = ChunkQuery((), floor=0, where=ChunkFilter(lambda item: item["mode"] == "story", "story"))
    assert places(ask("goblin", in_story, **HYBRID)) == [1]


def test_the_window_is_filled_by_what_the_condition_accepts():
    many = [make_chunk("goblin", place, mode="no") for place in range(60)] + [make_chunk("goblin cave with bats", 60, mode="yes")]
    found = ask("goblin", ChunkQuery((), floor=0, window=1, where=ChunkFilter(lambda item: item["mode"] == "yes", "y")), chunks=many)
    assert places(found) == [60]


# contract 4.31
def test_the_floor_is_tested_before_boosts():
    boost = Boost(900_000, ChunkFilter(lambda item: True, "all"))
    plain = ask("goblin unheard of", ChunkQuery((), floor=0))
    floor = plain.found[0].score.fused + 1
    found = ask("goblin unheard of", ChunkQuery((), floor=floor, boosts=(boost,)))
    assert found.found == () and found.is_sparse and found.under_floor == len(plain.found)
    assert ask("goblin unheard of", ChunkQuery((), floor=floor - 1, boosts=(boost,))).found[0].score.total == floor - 1 + 900_000


def test_what_was_scored_and_not_chosen_is_told_with_its_reason():
    many = [make_chunk("goblin" + " cave" * place, place) for place in range(20)]
    found = ask("goblin cave", ChunkQuery((), floor=0, candidates=4, top=3, sparse_below=1), chunks=many)
    assert [why for _, why in found.refused] == ["top", *["candidates"] * 11], "twelve, the best first"
    assert (found.considered, found.beyond) == (20, 16)
    assert len({one.chunk.ordinal for one in (*found.found, *(one for one, _ in found.refused))}) == 15
    scores = [one.score.total for one, _ in found.refused]
    assert scores == sorted(scores, reverse=True)
    under = ask("goblin cave", ChunkQuery((), floor=found.found[0].score.fused + 1, candidates=4), chunks=many)
    assert [why for _, why in under.refused[:4]] == ["floor"] * 4
    assert under.refused[0][0] == found.found[0]
    wanted = ChunkQuery((), floor=0, where=ChunkFilter(lambda item: item["id"] == many[0].id, "one"))
    assert ask("goblin cave", wanted, chunks=many).unwanted == 19


def test_boosts_change_the_order_and_add_up():
    boosts = tuple(Boost(add, ChunkFilter(lambda item: item["version"] == "1", "1")) for add in (300_000, 400_000))
    found = ask("goblin tactics", ChunkQuery((), floor=0, boosts=boosts))
    assert places(found)[0] == 0
    assert found.found[0].score.total == found.found[0].score.fused + 700_000


PAGES = [
    make_chunk("goblin cave with a bridge", 0, file="a.md", mode="story"),
    make_chunk("goblin cave and goblin king", 1, file="a.md", mode="dm"),
    make_chunk("goblin", 2, file="a.md", mode="story"),
    make_chunk("nothing of the kind", 3, file="a.md", mode="story"),
    make_chunk("nothing of the kind either", 4, file="a.md", mode="story"),
    make_chunk("goblin cave with a ladder", 0, file="b.md", mode="story"),
]


# contract 4.31
@pytest.mark.parametrize("weights", [(1, 0), (6, 4)])
@pytest.mark.parametrize("window", [1, 50])
def test_a_share_of_the_best_neighbour_in_the_file_is_added_after_the_floor(weights, window):
    """Up to two places away, whatever was proposed; a chunk alone in its file counts as its own neighbour."""
    plain = {one.chunk.id: one.score for one in ask("goblin cave king", chunks=PAGES, weights=weights).found}
    fused = {id: score.fused for id, score in plain.items()}
    nearest = {"a.md/0": "a.md/1", "a.md/1": "a.md/0", "a.md/2": "a.md/1", "b.md/0": "b.md/0"}
    request = ChunkQuery((), floor=1, window=window)
    found = ask("goblin cave king", request, chunks=PAGES, weights=weights, neighbours=400_000).found
    assert found
    for one in found:
        if one.chunk.id in nearest:
            assert one.score.fused == fused[one.chunk.id]
            assert one.score.neighbours == 400_000 * fused[nearest[one.chunk.id]] // MICRO
        assert one.score.total == one.score.fused + one.score.neighbours
    assert {score.neighbours for score in plain.values()} == {0}
    high = ChunkQuery((), floor=max(fused.values()) + 1)
    assert ask("goblin cave king", high, chunks=PAGES, weights=weights, neighbours=MICRO).found == ()


# contract 4.31, 4.32
def test_a_neighbour_that_is_refused_adds_nothing():
    story = ChunkQuery((), floor=0, where=ChunkFilter(lambda item: item["mode"] == "story", "story"))
    found = {one.chunk.id: one.score for one in ask("goblin cave king", story, chunks=PAGES, neighbours=MICRO).found}
    assert "a.md/1" not in found
    assert found["a.md/2"].neighbours == found["a.md/0"].fused, "not that of the king, who is for the game master"


# contract 4.31
def test_ties_are_broken_by_version_file_and_place():
    same = [
        make_chunk("same text", 1, file="b.md", version="1"),
        make_chunk("same text", 0, file="b.md", version="1"),
        make_chunk("same text", 0, file="é.md", version="1"),
        make_chunk("same text", 0, file="z.md", version="1"),
        make_chunk("same text", 0, file="a.md", version="2"),
    ]
    found = ask("same", chunks=same)
    assert [one.chunk.id for one in found.found] == ["b.md/0", "b.md/1", "z.md/0", "é.md/0", "a.md/0"]


# contract 4.31
def test_several_indexes_give_one_list():
    first, second = make_index(CHUNKS[:2], name="b"), make_index(CHUNKS[:2], name="a")
    found = retrieve([first, second], [Query("goblin tactics", {})], ChunkQuery((), floor=0, top=3))
    assert [one.index for one in found.found] == ["a", "b", "a"], "equal scores stand by the index's name"
    assert found.found[0].score == found.found[1].score and found.found[1].score.total > found.found[2].score.total
    assert found.fingerprints == (first.fingerprint, second.fingerprint)


# contract 4.31
def test_candidates_top_and_sparse_below():
    many = [make_chunk(f"goblin {'x ' * place}", place) for place in range(30)]
    assert len(ask("goblin", ChunkQuery((), floor=0, candidates=9, top=20), chunks=many).found) == 9
    assert ask("goblin", ChunkQuery((), floor=0, top=2, sparse_below=3), chunks=many).is_sparse


def test_a_synonym_finds_what_the_word_does_not():
    assert ask("nap", synonyms={"nap": ("long rest",)}).found[0].chunk.ordinal == 2
    assert ask("nap").found == ()


COOLANT = [
    make_chunk(f"{one} of the reactor", place, file="r.md")
    for place, one in enumerate(
        ["purge the coolant loop", "how I do the shift rota", "the crew do the rest", "vent the steam", "galley rules"]
    )
]


def test_filler_hardly_matters_and_words_that_no_chunk_has_not_at_all():
    """A word that every chunk has tells next to nothing; `now` and `may` stand in none."""
    first, second = (
        ask(text, chunks=COOLANT).found[0] for text in ("purge coolant loop", "may we now purge the coolant loop of the reactor")
    )
    assert first.chunk == second.chunk and abs(second.score.words - first.score.words) < first.score.words // 20


def test_one_common_word_that_is_known_is_no_answer():
    """Of a query of which nothing else is known: far from 1, however often the chunk has it."""
    chunks = [make_chunk(f"table {'table ' * (place == 0)}number {place}", place) for place in range(8)] + [make_chunk("x", 8)] * 8
    common, rare = (ask(text, chunks=chunks).found[0].score.words for text in ("the table", "the table number 7"))
    assert 0 < common < MICRO // 4 < rare < MICRO
    assert ask("table of css flexbox offsets", chunks=chunks).found[0].score.words < common // 3


# contract 13.14
def test_of_several_queries_the_first_that_gave_the_best_score_is_named():
    found = ask(["dragon", "goblin tactics", "tactics goblin", "goblin"], **HYBRID)
    assert {one.chunk.ordinal: one.query for one in found.found[:2]} == {1: "goblin tactics", 3: "dragon"}
    assert found.queries == ("dragon", "goblin tactics", "tactics goblin", "goblin")


def test_what_where_refuses_is_counted_once_for_all_queries():
    wanted = ChunkQuery((), floor=0, where=ChunkFilter(lambda item: False, "none"))
    assert ask(["goblin", "goblin ambush", "goblin tactics"], wanted).unwanted == 2


def test_a_synonym_never_lowers_a_score():
    plain = ask("goblin", ChunkQuery((), floor=0)).found[0].score.words
    assert ask("goblin", ChunkQuery((), floor=0), synonyms={"goblin": ("unheard of",)}).found[0].score.words == plain


# contract 4.34
def test_an_item_has_every_key_and_ours_win():
    item = describe_chunk(make_chunk("# A\ntext of it", heading=("A", "B"), mode="dm", id="mine", version=None))
    assert item["heading"] == ["A", "B"] and item["id"] == "a.md/0" and item["preview"] == "# A text of it"
    assert (item["mode"], item["version"], item["domain"], item["date"]) == ("dm", None, None, None)


@dataclass
class Shuffled:
    """A store that proposes too much, in another order."""

    inner: object

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def iter_by_words(self, words, version):
        return reversed(list(self.inner.iter_by_words(words, version)))


def test_a_store_proposes_and_never_decides():
    index = make_index(CHUNKS, weights=(6, 4))
    query = [Query("goblin tactics", {"words": WordEncoder().encode("goblin tactics")})]
    other = replace(index, store=Shuffled(index.store))
    assert retrieve([other], query, ChunkQuery((), floor=0)) == retrieve([index], query, ChunkQuery((), floor=0))
