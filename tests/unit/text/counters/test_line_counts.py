import re

import pytest

from promptc.text.counters import exact
from promptc.text.counters.exact import LineCounts


class Words:
    """Counts matches, and how many texts were split."""

    def __init__(self, pattern):
        self.find_all = re.compile(pattern).findall
        self.texts = []
        counts = LineCounts(self.split, lambda found: len(list(found)))
        self.count, self.measure, self.known = counts.count, counts.measure, counts._known

    def split(self, text):
        self.texts.append(text)
        return self.find_all(text)


@pytest.fixture
def words():
    return Words(r"[a-z]+|[^a-z\n]|\n")


def test_a_text_of_known_lines_is_not_split_again(words):
    assert words.count("one\ntwo\nthree\n") == 6
    assert words.texts == ["one\nt", "two\nt", "three\n"]
    words.texts.clear()
    assert words.count("two\none\ntwo\none\n") == 8
    assert words.texts == ["two\no", "one\n"]


def test_lines_that_begin_with_space_or_slash_belong_to_those_before(words):
    words.count("one\n two\n\n/three\n\u2028four\nfive")
    assert words.texts == ["one\n two\n\n/three\n\u2028four\nf", "five"]


def test_a_match_across_a_line_end_is_seen_and_counted():
    words = Words(r"\nb|.|\n")
    assert words.count("a\nb\na\n") == len(words.find_all("a\nb\na\n")) == 5


def test_of_a_line_that_was_counted_alone_only_the_end_is_split_again(words):
    assert words.measure("one two\n") == 4
    words.texts.clear()
    assert words.count("one two\nthree") == 5
    assert words.texts == ["\nt", "three"]


def test_a_match_that_goes_on_behind_a_line_that_was_counted_alone_is_seen():
    words = Words(r"\nb|.|\n")
    assert words.measure("a\n") == 2
    assert words.count("a\nb\na\n") == len(words.find_all("a\nb\na\n")) == 5


def test_a_long_text_that_was_counted_alone_is_not_remembered(words):
    words.measure("word " * 500 + "\n")
    assert not words.known._measured


def test_texts_with_long_lines_are_counted_in_one_go(words):
    text = f"first\n{'word ' * 500}\nnext"
    assert words.count(text) == len(words.find_all(text))
    words.texts.clear()
    words.count(text)
    assert words.texts == [text]


def test_an_empty_text_has_none(words):
    assert words.count("") == 0


def test_what_is_remembered_is_bounded(words, monkeypatch):
    monkeypatch.setattr(exact, "_MOST", 100)
    for number in range(50):
        assert words.count("a" * (number + 1) + "\nend") == 3
        words.measure("b" * (number + 1) + "\n")
    assert sum(map(len, (*words.known, *words.known._measured))) <= 100
