from promptc.sources.retrieval.retrieve import Answer, FoundChunk, KnownAnswer, Retrieved, Score, judge_index
from tests.retrieval_drawing import make_chunk

LONG = "word " * 600


def found(*names, score=500_000):
    chunks = [make_chunk("two words" if name != "Long" else LONG, file="rules/a.md", heading=(name,)) for name in names]
    return Retrieved(tuple(FoundChunk(chunk, "rules", Score(0, 0, score, score)) for chunk in chunks))


ANSWERS = {
    "first": found("Right", "Other"),
    "second": found("Other", "right"),
    "after the cap": found("Long", "Long", "Right"),
    "weak": found("Right", score=100_000),
    "lost": found("Other"),
    "junk": Retrieved(),
    "found junk": found("Other"),
}


def judge(*queries):
    known = [KnownAnswer(one, () if "junk" in one else (Answer("a.md", "Right"), Answer("b.md", "Else"))) for one in queries]
    return judge_index(known, ANSWERS.__getitem__, floor=250_000, top=6, cap=1000)


def test_recall_rank_and_cap():
    verdict = judge("first", "second", "after the cap", "lost")
    assert [verdict.recall(depth) for depth in (1, 2, 6)] == [250, 500, 750]
    assert verdict.mean_reciprocal_rank == (1000 + 500 + 333) // 4
    assert verdict.recall_in_cap == 500
    assert [one.rank for one in verdict.judged] == [1, 2, 3, 0]


def test_what_is_flagged():
    verdict = judge("weak", "first", "junk", "found junk")
    assert [one.is_flagged for one in verdict.judged] == [True, False, True, False]
    assert len(verdict.answered) == 2


def test_an_answer_is_in_a_chunk_by_the_end_of_its_path_and_any_heading_it_covers():
    chunk = make_chunk("text", file="srd/5.1/Rules/combat.md", heading=("Combat", "Two-Weapon Fighting"))
    assert Answer("combat.md", "Two weapon fighting").is_in(chunk)
    assert Answer("Rules/combat.md", "Two-Weapon Fighting").is_in(chunk)
    assert not Answer("bat.md", "Two-Weapon Fighting").is_in(chunk)
    assert not Answer("combat.md", "Combat").is_in(chunk)


def test_nothing_asked_is_nothing_found():
    assert judge().recall(6) == judge().mean_reciprocal_rank == 0
