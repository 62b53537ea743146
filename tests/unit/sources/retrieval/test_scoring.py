"""Words and terms of a query, and what they weigh."""

from math import log

import pytest

from promptc.sources.retrieval.scoring import (
    HEADING,
    UNIT,
    Term,
    compute_idf,
    iter_counted,
    list_terms,
    list_words,
    read_synonyms,
    weigh_words,
)
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


SYNONYMS = read_synonyms([("CR", ["challenge rating"]), ("hit points", ["HP", "health"]), ("hit", ["strike"]), ("...", ["nothing"])])


def test_each_word_once_and_in_order():
    assert list_terms("Goblins fight goblin", {}) == (Term((("goblin",),)), Term((("fight",),)))


def test_synonyms_stand_beside_the_word():
    assert list_terms("cr 5", SYNONYMS) == (Term((("cr",), ("challenge", "rating"))), Term((("5",),)))


def test_the_longest_synonym_holds():
    assert list_terms("hit points", SYNONYMS) == (Term((("hit", "point"), ("hp",), ("health",))),)
    assert list_terms("hit hard", SYNONYMS)[0] == Term((("hit",), ("strike",)))


def test_a_synonym_is_read_one_way_and_without_words_not_at_all():
    assert list_terms("health", SYNONYMS) == (Term((("health",),)),)
    assert () not in SYNONYMS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Goblins & Ogres!", ["goblin", "ogre"]),
        ("the parties' abilities", ["the", "party", "ability"]),
        ("Straße café", ["strasse", "café"]),
        ("armor class bonus", ["armor", "class", "bonus"]),
        ("two-weapon fighting", ["two", "weapon", "fighting"]),
        ("2d6+3", ["2d6", "3"]),
        ("回復の呪文", ["回復", "復の", "の呪", "呪文"]),
        ("級 a", ["級", "a"]),
        ("... — !", []),
        ("a" * 100, ["a" * 64]),
    ],
)
def test_find_words(text, words):
    assert list_words(text) == words
