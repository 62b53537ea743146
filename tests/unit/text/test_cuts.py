import pytest

from promptc.text.cutting import iter_kept, list_boundaries
from tests.cuts import iter_cuts

TEXT = "One two.  Three? Four\n- five\n\nSix."


def _ends(text):
    return [*range(3, len(text), 3), len(text)]


def _kept(text, at, side="end", marker="", ends=_ends, finest=None):
    return [
        (kept.boundary, kept.join(text, marker))
        for kept in iter_cuts(text, list_boundaries([at] if isinstance(at, str) else at, finest), side=side, token_ends=lambda: ends(text))
    ]


# contract 5.47
def test_boundaries_are_tried_in_the_order_of_a_list():
    assert _kept(TEXT, ["line", "sentence"]) == [
        ("line", "One two.  Three? Four\n- five"),
        ("line", "One two.  Three? Four"),
        ("sentence", "One two.  Three?"),
        ("sentence", "One two."),
        ("word", "One"),
    ]
    assert list_boundaries(["sentence", "paragraph"]) == ("sentence", "paragraph", "line", "word", "token")
    assert list_boundaries(["word", "sentence"]) == ("word", "sentence", "token")


# contract 5.48
def test_nothing_is_cut_finer_than_the_finest():
    assert _kept(TEXT, "paragraph", finest="line") == [
        ("paragraph", "One two.  Three? Four\n- five"),
        ("sentence", "One two.  Three?"),
        ("sentence", "One two."),
    ]
    assert _kept(TEXT, ["line", "sentence"], "start", finest="sentence") == [("line", "- five\n\nSix."), ("line", "Six.")]
    assert _kept("One two three", "line", finest="line") == []


# contract 5.14 and 5.15
def test_cuts_go_from_the_longest_to_one_token():
    assert _kept(TEXT, "paragraph") == [
        ("paragraph", "One two.  Three? Four\n- five"),
        ("sentence", "One two.  Three?"),
        ("sentence", "One two."),
        ("word", "One"),
    ]


def test_the_start_is_cut_the_other_way_round():
    assert _kept(TEXT, "sentence", "start") == [
        ("sentence", "Three? Four\n- five\n\nSix."),
        ("sentence", "Four\n- five\n\nSix."),
        ("line", "- five\n\nSix."),
        ("line", "Six."),
        ("token", "."),
    ]


# contract 5.17
def test_the_middle_goes_outward_and_the_tail_keeps_its_distance():
    assert _kept("a b c d e f", "word", "middle", "…") == [
        ("word", "a b c… e f"),
        ("word", "a b… e f"),
        ("word", "a b… f"),
        ("word", "a… f"),
        ("word", "a…"),
    ]
    assert _kept("a b c", "word", "middle") == [("word", "a c"), ("word", "a")]


def test_the_middle_ends_inside_the_first_unit():
    assert _kept("aa bb. cc dd. ee", "sentence", "middle") == [("sentence", "aa bb. ee"), ("sentence", "aa bb."), ("word", "aa")]


# contract 5.15
def test_a_text_without_the_boundary_is_cut_at_the_next_finer():
    assert _kept("abcdefg", "paragraph") == [("token", "abcdef"), ("token", "abc")]
    assert _kept("abcdefg", "sentence", "start") == [("token", "defg"), ("token", "g")]
    assert _kept("abcdefg", "line", "middle") == [("token", "abcg"), ("token", "abc")]


def test_what_cannot_be_cut_has_no_cuts():
    assert _kept("", "word") == _kept(" \n ", "word") == _kept(" ab\n", "word") == []


def test_white_space_around_a_text_is_no_cut():
    assert _kept("  a b \n\n", "word") == [("word", "  a")]
    assert _kept("  a b \n\n", "word", "start") == [("word", "b \n\n")]


# contract 3.28
@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("He ran. She sat.", ["He ran."]),
        ("Wait… what?! No.", ["Wait… what?!", "Wait…"]),
        ('He said "stop." Then (he left.) Gone.', ['He said "stop." Then (he left.)', 'He said "stop."']),
        ("Rolled 3. Then J. Smith of the U.S. army. Went.", ["Rolled 3. Then J. Smith of the U.S. army."]),
        ("Level 5! Go. On", ["Level 5! Go.", "Level 5!"]),
        ("v1.2.3 is out. See a.b now", ["v1.2.3 is out."]),
        ("你好。世界！「再见。」走", ["你好。世界！「再见。」", "你好。世界！", "你好。"]),
        ("**Bold.** Next", ["**Bold.**"]),
        (". a", ["."]),
        ("a...\nb", ["a..."]),
        ("École. Été. É. X", ["École. Été.", "École."]),
    ],
)
def test_sentences(text, ends):
    assert [kept for boundary, kept in _kept(text, "sentence") if boundary == "sentence"] == ends


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_and_paragraphs_end_with_any_line_end(line_end):
    text = f"a{line_end}b{line_end} {line_end}c"
    assert _kept(text, "paragraph")[0] == ("paragraph", f"a{line_end}b")
    assert _kept(text, "line") == [("line", f"a{line_end}b"), ("line", "a")]


def test_tokens_of_white_space_give_no_cut_twice():
    text = "a  \n  bc"
    assert _kept(text, "token", ends=lambda text: [1, 2, 3, 4, 6, 7, 8]) == [("token", "a  \n  b"), ("token", "a")]
    assert _kept(text, "token", "start", ends=lambda text: [1, 2, 3, 4, 6, 7, 8]) == [("token", "bc"), ("token", "c")]


def test_tokens_are_asked_for_only_when_needed():
    def refuse():
        raise AssertionError

    kept = iter_kept("a b c", list_boundaries(["word"]), token_ends=refuse)
    assert next(kept).stop == 3


def test_a_million_spaces_between_tokens_are_passed_in_one_go():
    text = "a" + " " * 1_000_000 + "b"
    assert len(_kept(text, "token", ends=lambda text: [1, *range(100, 1_000_000, 100), 1_000_001, 1_000_002])) == 1
