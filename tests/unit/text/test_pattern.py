"""Patterns mean what ECMA-262 says, and no text takes them long."""

import random
import re

import pytest

from promptc.text.pattern import LONGEST, Pattern, PatternError, PatternFinder, PatternLimitError


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("", ["", "x"], []),
        ("a", ["a", "xay"], ["", "b"]),
        ("^a", ["ab"], ["ba", ""]),
        ("a$", ["ba"], ["ab", "a\n"]),
        ("^$", [""], ["a"]),
        ("^a|b$", ["ax", "xb"], ["xa", "bx"]),
        ("^(ab)*$", ["", "abab"], ["aba"]),
        ("^a+?b?$", ["a", "aab"], ["", "b"]),
        ("^a{2}$", ["aa"], ["a", "aaa"]),
        ("^a{2,}$", ["aa", "aaaa"], ["a"]),
        ("^a{0,2}$", ["", "a", "aa"], ["aaa"]),
        ("^[a-c]+$", ["abc"], ["d", ""]),
        ("^[^a-c]$", ["d", "é", "\U0001f600"], ["a", ""]),
        ("^[]a]$", [], ["a", "]"]),
        (r"^[\]a-]+$", ["]", "a-"], ["b"]),
        (r"^[\d.]+$", ["1.2"], ["a"]),
        (r"^\d+$", ["12"], ["١", "a"]),
        (r"^\w+$", ["aZ_9"], ["é", "-"]),
        (r"^\s$", [" ", "\t", "\u00a0", "\u2028", "\ufeff"], ["", "x"]),
        (r"^\S\D\W$", ["ab-"], [" b-", "a1-", "abc"]),
        ("^.$", ["a", "\U0001f600"], ["\n", "\r", "\u2028", "ab"]),
        (r"^\u0041\x42\t\.$", ["AB\t."], ["AB\tx"]),
        (r"^\u{1F600}$", ["\U0001f600"], [""]),
        (r"^(?:a|bc)(?<name>d)$", ["ad", "bcd"], ["a", "bd"]),
        ("^{x}$", ["{x}"], ["x"]),
        ("^hinge:", ["hinge:3"], ["a hinge:3"]),
    ],
)
def test_a_pattern_occurs_or_does_not(pattern, inside, outside):
    read = Pattern(pattern)
    assert [text for text in inside if not read.matches(text)] == []
    assert [text for text in outside if read.matches(text)] == []


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "without its `)`"),
        ("a)", "without its `(`"),
        ("[a", "ends too early"),
        ("a\\", "ends too early"),
        ("*a", "nothing before it"),
        ("a**", "two quantifiers"),
        ("^*", "cannot be repeated"),
        ("a{3,2}", "wrong way round"),
        ("[z-a]", "a range"),
        (r"[\d-z]", "a range"),
        ("(?=a)", "look-around"),
        ("(?<!a)", "look-around"),
        (r"(a)\1", r"`\1` is not read"),
        (r"\bword", r"`\b` is not read"),
        (r"\p{L}", r"`\p` is not read"),
        (r"\u12", "hexadecimal"),
        (r"\u{110000}", "hexadecimal"),
        ("a{100000}", "more than"),
        ("a{" + "9" * 5_000 + "}", "more than 20 digits"),
        ("a{0," + "9" * 5_000 + "}", "more than 20 digits"),
        ("a" * 4_000_000, "more than 10000 characters"),
        ("(((a{20}){20}){20})", "more than"),
        ("(" * 60 + "a" + ")" * 60, "50 deep"),
    ],
)
def test_what_is_not_read_is_named(pattern, reason):
    with pytest.raises(PatternError) as caught:
        Pattern(pattern)
    assert reason in str(caught.value)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a*)*b", "(.*a){50}c", "^(a?){50}a{50}$", "(a|aa)+$"])
def test_hostile_patterns_take_linear_time(pattern):
    assert Pattern(pattern).matches("a" * 20_000 + "!") is False


def test_an_automaton_that_grows_without_end_is_stopped():
    text = "".join(random.Random(1).choices("ab", k=20_000))
    with pytest.raises(PatternLimitError):
        Pattern("(a|b)*a(a|b){60}c").matches(text)


def _draw_wide():
    """A pattern with many live places, and a text that leads through many states of it by many characters."""
    letters = [chr(0x400 + 2 * number) for number in range(600)]
    alive = "|".join(["\x01\x01"] * 440)
    pattern = f"(?:{alive})|(?:[^\x01])*a(?:[^\x01]){{10}}(?:\x01[{''.join(letters)}])"
    return pattern, "".join(random.Random(1).choices([*letters, *(["a"] * 300)], k=20_000))


def test_many_characters_and_many_states_are_not_multiplied_by_many_places():
    pattern, text = _draw_wide()
    with pytest.raises(PatternLimitError):
        Pattern(pattern).matches(text)
    paid: list[int] = []
    assert not PatternFinder(pattern).list_occurrences(text[:2_000], paid.append)
    assert sum(paid) > 500_000 and max(paid) < 300_000


def test_earlier_texts_leave_no_less_room():
    pattern = Pattern("(a|b)*a(a|b){11}c")
    drawn = random.Random(3)
    for _ in range(3):
        assert not pattern.matches("".join(drawn.choices("ab", k=6_000)))


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("[A-Z]{2}[0-9]{6}", "AB123456 xCD1234567", ["AB123456", "CD123456"]),
        ("a.*b|a", "aaaa b a", ["aaaa b", "a"]),
        ("^x|y$", "xxyy", ["x", "y"]),
        ("a*", "baac", ["aa"]),
        ("ab|abc", "abcab", ["abc", "ab"]),
        ("a+", "a" * 300, ["a" * LONGEST, "a" * (300 - LONGEST)]),
    ],
)
def test_where_a_pattern_occurs(pattern, text, found):
    assert [text[start:end] for start, end in PatternFinder(pattern).list_occurrences(text, lambda read: None)] == found


def test_occurrences_are_those_that_re_finds_from_each_place():
    """The oracle tries every end from every place, the longest first."""
    drawn = random.Random(7)
    for _ in range(300):
        parts = [drawn.choice(("a", "b", "[ab]", "ab", "a|b", "(a|ab)", "(b{1,2})")) + drawn.choice(("", "*", "+", "?")) for _ in range(3)]
        pattern = "".join(f"(?:{part})" for part in parts)
        text = "".join(drawn.choice("abc") for _ in range(12))
        expected, at = [], 0
        while at < len(text):
            ends = (end for end in range(len(text), at, -1) if re.fullmatch(pattern, text[at:end]))
            end = next(ends, at)
            if end > at:
                expected.append((at, end))
            at = max(end, at + 1)
        assert PatternFinder(pattern).list_occurrences(text, lambda read: None) == expected, (pattern, text)


def test_finding_looks_at_a_bounded_part():
    paid: list[int] = []
    assert not PatternFinder("a.*b").list_occurrences("a" * 20_000, paid.append)
    assert sum(paid) <= (LONGEST + 1) * 20_000 and max(paid) < 10_000
