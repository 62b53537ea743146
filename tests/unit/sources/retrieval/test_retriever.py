from threading import Thread

from promptc.model.sources import Matching, Weights
from promptc.sources.retrieval.encoder import MissingEncoder
from promptc.sources.retrieval.local import IndexedItem
from promptc.sources.retrieval.retrieve import Boost, ChunkFilter, ChunkQuery, RecentValues, Retriever
from tests.retrieval_drawing import WordEncoder, make_chunk, make_index

CHUNKS = [make_chunk("goblin cave"), make_chunk("long rest", 1)]
HYBRID = Matching(Weights(1, 1), "words")


def make_retriever():
    encoder = WordEncoder()
    return Retriever(lambda name: encoder), encoder


def test_an_answer_is_given_again_without_asking():
    retriever, encoder = make_retriever()
    index = make_index(CHUNKS, weights=(1, 1))
    first = retriever.ask([index], ChunkQuery(("goblin  cave",)))
    assert retriever.ask([index], ChunkQuery(("goblin cave ",))) is first
    assert encoder.encoded == ["goblin cave"]


def test_all_that_decides_an_answer_is_in_its_key():
    retriever, _ = make_retriever()
    index = make_index(CHUNKS)
    always = ChunkFilter(lambda item: True, "always")
    requests = [
        ChunkQuery(("goblin",)),
        ChunkQuery(("goblin",), version="1"),
        ChunkQuery(("goblin",), floor=1),
        ChunkQuery(("goblin",), top=1),
        ChunkQuery(("goblin",), where=always),
        ChunkQuery(("goblin",), where=ChunkFilter(lambda item: False, "never")),
        ChunkQuery(("goblin",), boosts=(Boost(1, always),)),
        ChunkQuery(("goblin",), boosts=(Boost(2, always),)),
        ChunkQuery(("rest",)),
    ]
    answers = [retriever.ask([index], one) for one in requests]
    assert len({id(one) for one in answers}) == len(requests)
    assert [len(one.found) for one in answers] == [1, 0, 1, 1, 1, 0, 1, 1, 1]


def test_another_index_is_another_question():
    retriever, _ = make_retriever()
    one, other = make_index(CHUNKS), make_index(CHUNKS, name="other")
    assert retriever.ask([one], ChunkQuery(("goblin",))) != retriever.ask([other], ChunkQuery(("goblin",)))


def test_a_condition_without_a_key_is_asked_every_time():
    retriever, _ = make_retriever()
    index, mode = make_index(CHUNKS), ["no"]
    where = ChunkFilter(lambda item: mode[0] == "yes")
    assert retriever.ask([index], ChunkQuery(("goblin",), where=where)).found == ()
    mode[0] = "yes"
    assert retriever.ask([index], ChunkQuery(("goblin",), where=where)).found


def test_without_the_encoder_words_alone_answer_and_it_is_said():
    retriever = Retriever(lambda name: MissingEncoder("the package is not installed"))
    found = retriever.ask([make_index(CHUNKS, weights=(1, 1))], ChunkQuery(("goblin",)))
    assert found.notes == ("the package is not installed",)
    assert [one.score.vectors for one in found.found] == [0] and found.found[0].score.fused == found.found[0].score.words


def test_a_list_is_indexed_once_and_new_texts_alone_are_encoded():
    retriever, encoder = make_retriever()
    entries = [IndexedItem("a", "goblin cave"), IndexedItem("b", "long rest", {"mode": "dm"})]
    first = retriever.open_entries("memory", HYBRID, entries, len)
    assert retriever.open_entries("memory", HYBRID, list(entries), len) is first
    second = retriever.open_entries("memory", HYBRID, [*entries, IndexedItem("c", "dragon")], len)
    assert second.fingerprint != first.fingerprint
    assert encoder.encoded == ["goblin cave", "long rest", "dragon"]
    (found,) = retriever.ask([second], ChunkQuery(("rest",), floor=0, top=1)).found
    assert (found.chunk.id, found.chunk.tokens, found.describe()["mode"], found.chunk.file) == ("b", 9, "dm", "")


def test_a_list_by_words_alone_needs_no_encoder():
    retriever = Retriever(lambda name: 1 / 0)
    index = retriever.open_entries("memory", Matching(), [IndexedItem("a", "goblin")], len)
    assert retriever.ask([index], ChunkQuery(("goblin",))).found[0].index == "memory"


def test_an_empty_list_answers_nothing():
    retriever, _ = make_retriever()
    assert retriever.ask([retriever.open_entries("memory", HYBRID, [], len)], ChunkQuery(("goblin",))).is_sparse


def test_what_is_kept_is_bounded_and_the_longest_unused_goes_first():
    kept = RecentValues(2)
    for key in ("a", "b"):
        kept.keep(key, key)
    assert kept.find("a") == "a"
    kept.keep("c", "c")
    assert (kept.find("a"), kept.find("b"), kept.find("c")) == ("a", None, "c")


def test_what_is_large_uses_the_room_of_many():
    kept = RecentValues(2)
    for key, characters in (("a", 0), ("b", 150_000), ("c", 10**9)):
        kept.keep(key, key, characters)
        assert kept.find(key) == key
    assert (kept.find("a"), kept.find("b")) == (None, None)
    kept.keep("d", "d")
    kept.keep("e", "e")
    assert (kept.find("c"), kept.find("d"), kept.find("e")) == (None, "d", "e")


def test_what_a_state_asks_for_is_not_kept_without_end():
    """A state may list 100 000 ids that were shown, and ask in a text of many megabytes. Both are in the key of an answer."""
    retriever, _ = make_retriever()
    index = make_index(CHUNKS, weights=(1, 1))
    for turn in range(40):
        shown = tuple(f"{turn}-{number}" for number in range(20_000))
        retriever.ask([index], ChunkQuery((f"goblin {turn} {'x' * 300_000}",), shown=shown))
    kept = [request for _, request in retriever._answers._values]
    assert sum(len(one.shown) for one in kept) <= 200_000
    assert sum(len(one.queries[0]) for one in kept) <= 4_000_000


def test_several_threads_may_ask():
    retriever, _ = make_retriever()
    index = make_index(CHUNKS, weights=(1, 1))
    answers = []
    threads = [Thread(target=lambda: answers.append(retriever.ask([index], ChunkQuery(("goblin",))))) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(answers) == 8 and all(one == answers[0] for one in answers)
