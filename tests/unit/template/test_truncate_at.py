"""Cutting a text in a template."""

from itertools import pairwise

import pytest

from promptc.template.runtime.run import Run
from tests.unit.template.run import evaluate, render

TEXT = "First one. Second two is longer.\nA new line here.\n\nA new paragraph, and more. The end"


class WordCounter:
    """A token is a word or a run of white space between two."""

    unit = 1

    def measure(self, text):
        return len(text.split())

    def token_ends(self, text):
        return [end for end in range(1, len(text) + 1) if not text[end - 1].isspace() and (end == len(text) or text[end].isspace())]


class QuarterCounter(WordCounter):
    """Counts characters; four are a token."""

    unit = 4

    def measure(self, text):
        return len(text)

    def token_ends(self, text):
        return range(4, len(text) + 4, 4)


CUTS = [
    ("'paragraph', chars=60", "First one. Second two is longer.\nA new line here."),
    ("'line', chars=40", "First one. Second two is longer."),
    ("'sentence', chars=31", "First one."),
    ("'sentence', chars=32", "First one. Second two is longer."),
    ("'word', chars=20", "First one. Second"),
    ("'word', chars=2", "Fi"),
    ("'token', chars=3", "Fir"),
    ("'paragraph', chars=12", "First one."),
    ("'word', chars=0", ""),
    ("'word', chars=1000", TEXT),
    ("chars=9", "First"),
    ("'word', tokens=3", "First one. Second"),
    ("'sentence', tokens=3", "First one."),
    ("'paragraph', tokens=1", "First"),
    ("'word', tokens=0", ""),
    ("'word', tokens=1000", TEXT),
]


@pytest.mark.parametrize(("arguments", "kept"), CUTS)
def test_keeps_the_longest_beginning(arguments, kept):
    names = {"text": TEXT, "__run__": Run(WordCounter()) if "tokens" in arguments else None}
    assert evaluate(f"text | truncate_at({arguments})", names) == kept


@pytest.mark.parametrize("boundary", ["paragraph", "sentence", "line", "word", "token"])
@pytest.mark.parametrize("counter", [WordCounter(), QuarterCounter()])
def test_never_over_its_size_and_a_larger_size_keeps_more(boundary, counter):
    names = {"text": TEXT, "__run__": Run(counter)}
    kept = [evaluate(f"text | truncate_at('{boundary}', tokens={size})", names) for size in range(30)]
    assert all(-(-counter.measure(text) // counter.unit) <= size for size, text in enumerate(kept))
    assert all(longer.startswith(shorter) for shorter, longer in pairwise(kept))
    assert kept[-1] == TEXT


def test_tokens_are_counted_whole():
    assert evaluate("text | tokens", {"text": "abcde", "__run__": Run(QuarterCounter())}) == 2
    assert evaluate("text | tokens", {"text": "a b c", "__run__": Run(WordCounter())}) == 3


def test_the_counter_reaches_imported_files_and_macros():
    files = {"m.j2": "{% macro size(text) %}{{ text | tokens }}{% endmacro %}"}
    assert render("{% from 'm.j2' import size %}{{ size('a b') }}", {"__run__": Run(WordCounter())}, files) == "2"
