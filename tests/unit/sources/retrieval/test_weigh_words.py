from math import log

import pytest

from promptc.sources.retrieval.scoring import HEADING, UNIT, compute_idf, iter_counted, weigh_words
from tests.retrieval_drawing import make_chunk

CHUNKS = [
    make_chunk("goblin goblin cave", heading=("Monsters", "Goblin")),
    make_chunk("a cave of bats and rats", 1),
    make_chunk("rest and food", 2),
]


def impact_by_formula(word, row):
    """BM25 as the papers write it, in floats."""
    words = [list(iter_counted(one)) for one in CHUNKS]
    having = sum(word in one for one in words)
    mean = sum(map(len, words)) / len(words)
    times = words[row].count(word)
    idf = log((len(words) + 1) / (having + 0.5))
    return idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(words[row]) / mean))


@pytest.mark.parametrize(("word", "row"), [("goblin", 0), ("cave", 0), ("cave", 1), ("and", 1), ("and", 2), ("food", 2)])
def test_impacts_are_bm25_in_whole_numbers(word, row):
    table = weigh_words(CHUNKS)
    number = table.numbers[word]
    rows = list(table.rows[table.ends[number] : table.ends[number + 1]])
    impact = table.impacts[table.ends[number] + rows.index(row)]
    assert rows == sorted(rows)
    assert abs(impact - UNIT * impact_by_formula(word, row)) <= 0.5000001


def test_a_word_of_the_heading_counts_twice():
    assert list(iter_counted(CHUNKS[0])).count("goblin") == 2 + HEADING


def test_no_impact_reaches_the_ideal():
    table = weigh_words(CHUNKS)
    for number, ideal in enumerate(table.ideals):
        assert all(0 < table.impacts[place] < ideal for place in range(table.ends[number], table.ends[number + 1]))
    assert table.unseen > max(table.ideals)


def test_words_stand_in_order_and_an_empty_index_has_none():
    table = weigh_words(CHUNKS)
    assert list(table.numbers) == sorted(table.numbers)
    assert list(table.numbers.values()) == list(range(len(table.numbers)))
    assert not weigh_words([]).numbers


def test_idf_is_the_logarithm_rounded():
    assert compute_idf(1000, 10) == round(log(1001 / 10.5) * 1e9)
    assert compute_idf(10, 10) > 0, "a word that every chunk has still counts"
