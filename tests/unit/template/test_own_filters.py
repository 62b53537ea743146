"""The filters beyond Jinja's: what each returns, and that times and cuts come out as a plain account of them says."""

from itertools import pairwise
from math import floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptc.template.runtime.filters.values import _count_since as count_since
from promptc.template.runtime.objects import Fault
from promptc.template.runtime.run import Run, read_flag
from promptc.text.moment import is_date_time
from tests.size import count_examples
from tests.unit.template.run import WordCounter, evaluate, find_expression_errors, render

TIMES = ["2026-11-22T20:00:00+02:00", "2026-11-22T18:30:00Z", "2026-11-22T18:30:00.25Z", "2026-11-22T18:30:00.500Z"]
NAMES = {
    "state": {
        "now": "2026-11-22T18:30:00Z",
        "then": "2026-11-22T17:59:01Z",
        "text": "The old lamp-lighter, Mara, waits.",
        "times": TIMES[::-1],
        "rows": [{"at": at, "day": "2026-11-22"} for at in TIMES[::-1]],
        "xs": ["a", "b", "c", "d", "e"],
        "map": {"b": [1, 2.5, None], "a": "ü"},
    }
}

VALUES = [
    ("state.then | minutes_since(state.now)", 30),
    ("state.then | hours_since(state.now)", 0),
    ("state.now | minutes_since(state.then)", -31),
    ("'2026-11-20' | days_since(state.now)", 2),
    ("'1970-01-01T00:00:00Z' | timestamp", 0),
    ("'1970-01-01' | timestamp", 0),
    ("'1970-01-01T01:00:00.000001+01:00' | timestamp", 1),
    ("'1970-01-01T00:00:00.0000019Z' | timestamp", 1),
    ("'1969-12-31T23:59:59.999Z' | timestamp", -1000),
    ("'9999-12-31T23:59:59.999999Z' | timestamp", 253402300799999999),
    ("'2026-11-22T18:30:00Z' | timestamp < '2026-11-22T18:30:00.500Z' | timestamp < '2026-11-22t17:30:01-01:00' | timestamp", True),
    ("state.times | sort(times=true)", TIMES),
    ("state.times | sort(true, times=true)", TIMES[::-1]),
    ("state.rows | sort(attribute='at', times=true) | map(attribute='at') | list", TIMES),
    ("state.rows | sort(attribute='day,at', times=true) | map(attribute='at') | list", TIMES),
    ("state.times | sort == state.times | sort(times=true)", False),
    ("'a \\n\\t b  ' | one_line", "a b"),
    ("5 | one_line", "5"),
    ("[0.1, 0.2, 0.3] | sum", 0.6000000000000001),  # a later Python's own sum gives 0.6
    ("state.map | json", '{"a":"ü","b":[1,2.5,null]}'),
    ("state.xs | map('upper') | json", '["A","B","C","D","E"]'),
    ("(1, 2) | json", "[1,2]"),
    ("'text' | json", '"text"'),
    ("state.text | mentions('LAMP')", True),
    ("state.text | mentions('lamp lighter mara')", True),
    ("state.text | mentions('lam')", False),
    ("state.text | mentions(['door', 'Mara'])", True),
    ("state.text | mentions([])", False),
    ("state.text | mentions('')", False),
    ("state.text | mentions(['', '!'])", False),
    ("'Take 5 coins' | mentions(5)", True),
    ("['x'] | pick(1)", "x"),
    ("state.xs | pick('seed') == state.xs | pick('seed')", True),
    ("state.xs | map('upper') | pick('seed') == state.xs | pick('seed') | upper", True),
    ("'Ünïted  FOO' | normalize == 'ünïted foo' | normalize", True),
]


# contract 3.11 and 3.27
@pytest.mark.parametrize(("text", "value"), VALUES)
def test_gives(text, value):
    assert evaluate(text, NAMES) == value


WRONG = [
    ("'yesterday' | days_since(state.now)", "PC0422"),
    ("5 | days_since(state.now)", "PC0422"),
    ("state.now | days_since(none)", "PC0422"),
    ("'yesterday' | timestamp", "PC0422"),
    ("'' | timestamp", "PC0422"),
    ("none | timestamp", "PC0422"),
    ("1 | timestamp", "PC0422"),
    ("'2026-02-31' | timestamp", "PC0422"),
    ("'9999-12-31T23:59:61Z' | timestamp", "PC0422"),
    ("zz | timestamp", "PC0410"),
    ("['2026-11-22', 'x'] | sort(times=true)", "PC0422"),
    ("['x'] | sort(times=true)", "PC0422"),
    ("[{}] | sort(attribute='at', times=true)", "PC0411"),
    ("['2026-11-22'] | sort(times='yes')", "PC0424"),
    ("[] | pick('a')", "PC0424"),
    ("5 | pick('a')", "PC0414"),
    ("zz | json", "PC0410"),
    ("[range] | json", "PC0413"),
    ("state.text | mentions", "PC0424"),
]


@pytest.mark.parametrize(("text", "code"), WRONG)
def test_refuses(text, code):
    assert [found.code for found in find_expression_errors(text, NAMES)] == [code]


def test_pick_takes_every_element_for_some_seed():
    drawn = render("{% for seed in range(200) %}{{ state.xs | pick(seed) }}{% endfor %}", NAMES)
    assert {letter: drawn.count(letter) for letter in "abcde"} == {"a": 39, "b": 47, "c": 48, "d": 32, "e": 34}


def test_filters_may_be_named_to_map():
    assert evaluate("['2026-11-20', '2026-11-22'] | map('days_since', state.now)", NAMES) == [2, 0]
    assert evaluate("['A  B', 'c'] | map('one_line') | join('|')", NAMES) == "A B|c"


@pytest.mark.parametrize("value", ["x", "", 0.0, None, [], {}, 1 << 31])
def test_a_flag_is_no_value_that_a_later_python_alone_takes(value):
    with pytest.raises((TypeError, OverflowError)):
        read_flag(value)
    assert [read_flag(one) for one in (True, False, 0, 1, -2)] == [True, False, False, True, True]


WORDS = "the a key gate Mara lamp bell Öl ınn water".split()
sentences = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=6)


def choose(said: list[str], texts: list[str], most: int) -> str:
    """As the reference page tells it, word by word."""
    known = [set(text.casefold().split()) for text in texts]

    def weigh(sentence: str) -> int:
        met = [word for word in dict.fromkeys(sentence.casefold().split()) if any(word in text for text in known)]
        return sum(floor(len(known) / sum(1 for text in known if word in text)) for word in met)

    best: list[int] = []
    while len(best) < min(most, len(said)):
        left = [place for place in range(len(said)) if place not in best]
        best.append(next(place for place in left if weigh(said[place]) == max(weigh(said[other]) for other in left)))
    shared = [place for place in sorted(best) if weigh(said[place])]
    return " ".join(said[place] + "." for place in shared or [0])


@settings(max_examples=count_examples(400), deadline=None)
@given(said=sentences, texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), max_size=5), most=st.integers(1, 7))
def test_it_chooses_as_the_page_tells(said, texts, most):
    names = {"state": {"text": ". ".join(said) + ".", "texts": texts, "most": most}}
    assert evaluate("state.text | sentences_about(state.texts, state.most)", names) == choose(said, texts, most)


def test_a_text_stands_for_a_list_of_one():
    names = {"state": {"text": "It rained. Mara had the key.\nNobody slept."}}
    assert evaluate("state.text | sentences_about('MARA!')", names) == "Mara had the key."
    assert evaluate("state.text | sentences_about(['key', 'slept'], 2)", names) == "Mara had the key.\nNobody slept."
    assert evaluate("state.text | sentences_about(['rained', 'slept'], 2)", names) == "It rained. Nobody slept."


def test_where_nothing_is_shared_the_first_stands():
    names = {"state": {"text": "  It rained. Mara had the key. ", "blank": " \n", "none": []}}
    assert evaluate("state.text | sentences_about(state.none, 3)", names) == "It rained."
    assert evaluate("state.text | sentences_about('door', 3)", names) == "It rained."
    assert evaluate("state.blank | sentences_about('door')", names) == ""


def test_sentences_that_no_space_parts():
    names = {"state": {"text": "雨だ。門。鍵。"}}
    assert evaluate("state.text | sentences_about(['雨だ', '門'], 2)", names) == "雨だ。門。"
    assert evaluate("state.text | sentences_about(['雨だ', '鍵'], 2)", names) == "雨だ。 鍵。"


TEXT = "First one. Second two is longer.\nA new line here.\n\nA new paragraph, and more. The end"


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


MINUTES = [
    ("2026-11-22T18:00:00Z", "2026-11-22T18:30:00Z", 30),
    ("2026-11-22T18:00:00Z", "2026-11-22T18:30:59.999Z", 30),
    ("2026-11-22T18:00:00.001Z", "2026-11-22T18:30:00Z", 29),
    ("2026-11-22T18:00", "2026-11-22 18:30", 30),
    ("2026-11-22", "2026-11-23", 1440),
    ("2026-11-22T18:00:00+02:00", "2026-11-22T18:00:00Z", 120),
    ("2026-11-22T18:00:00-0530", "2026-11-22T18:00:00Z", -330),
    ("2026-11-22T18:00:00+01", "2026-11-22T18:00:00Z", 60),
    ("2026-11-22t18:00:00z", "2026-11-22T18:00:00,5Z", 0),
    ("2024-02-28", "2024-03-01", 2880),
    ("0001-01-01", "9999-12-31T23:59:59Z", 5258964959),
    ("0001-01-01T00:00:00+12:00", "0001-01-01", 720),
    ("2026-12-31T23:59:00Z", "2026-12-31T23:59:60Z", 1),
    ("2026-12-31T23:59:00Z", "2027-01-01T00:59:60+01:00", 1),
]


# contract 3.10
@pytest.mark.parametrize(("then", "now", "minutes"), MINUTES)
def test_counts_whole_minutes(then, now, minutes):
    assert count_since(Run(None), then, now, 60) == minutes


# contract 3.10
@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "now",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "2026-11-22T25:00",
        "2026-11-22T18:00:00+99:00",
        "٢٠٢٦-11-22",
        "2026-11-22Z ",
        "2026-11-22T12:00:60Z",
        "2026-12-31T23:59:60+01:00",
        "2026-11-22T18:00:00+01:75",
        "2026-11-22T18:60",
        5,
        None,
        [],
        True,
    ],
)
def test_refuses_what_is_no_time(wrong):
    with pytest.raises(Fault) as caught:
        count_since(Run(None), wrong, "2026-11-22", 60)
    assert caught.value.code == "PC0422"
    assert caught.value.help


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("2026-02-30", "the calendar has no such day"),
        ("2026-11-22T24:00", "a day has no such time"),
        ("2026-11-22T18:00+99", "an offset has 23 hours and 59 minutes at most"),
        ("2026-11-22T12:00:60Z", "a leap second is at 23:59:60 in UTC"),
    ],
)
def test_says_why_a_time_is_none(wrong, why):
    with pytest.raises(Fault, match=f"^`{wrong.replace('+', '.')}` is not an ISO 8601 time: {why}$"):
        count_since(Run(None), wrong, "2026-11-22", 60)


_NUMBERS = st.integers(0, 99).map("{:02d}".format)
_MOMENTS = st.builds(
    "{}-{}-{}{}{}:{}:{}{}{}".format,
    st.sampled_from(["0000", "0001", "2024", "2026", "9999"]),
    *(st.sampled_from(["00", "01", "12", "13"]) | _NUMBERS, st.sampled_from(["01", "28", "29", "30", "31"])),
    st.sampled_from("Tt"),
    *(st.sampled_from(["00", "23", "24"]) | _NUMBERS, st.sampled_from(["00", "59"]) | _NUMBERS, st.sampled_from(["00", "59", "60", "61"])),
    st.sampled_from(["", ".5", ".0123456789"]),
    st.sampled_from(["Z", "z", "+01:00", "-23:59", "+24:00", "+00:60", "-00:01"]),
)


# contract 3.10
@given(_MOMENTS)
def test_a_filter_reads_the_form_of_a_schema_with_the_same_meaning(text):
    """Of RFC 3339's form, both take the same texts."""
    run = Run(None)
    try:
        count_since(run, text, "2026-11-22", 60)
        is_read = True
    except Fault:
        is_read = False
    assert is_read == is_date_time(text)
    assert not is_date_time(text[:-1] if text[-1] in "Zz" else text[:-6])
