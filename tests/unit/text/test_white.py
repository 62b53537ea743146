"""White space is one set, and nothing that a pattern's `\\S` finds counts as blank."""

import re
import sys

import regex

from promptc.frontend.schema.pattern import Pattern
from promptc.text.characters import WHITE, WHITE_CLASS, is_blank, join_words, normalize

ALL = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
ECMA = {*"\t\v\f \u00a0\ufeff\n\r\u2028\u2029", *regex.findall(r"\p{Zs}", ALL)}


def test_it_is_all_three_definitions_together_and_no_more() -> None:
    unicode = set(regex.findall(r"\p{White_Space}", ALL))
    python = {one for one in ALL if one.isspace()}
    assert set(WHITE) == unicode | python | ECMA and [*WHITE] == sorted(WHITE)


def test_patterns_cuts_and_filters_know_the_same() -> None:
    solid, white = Pattern(r"\S"), Pattern(r"^[\s]$")
    for one in [*ALL[:0x3100], "\ufeff", "\uffa0", "\U000e0020"]:
        is_white = one in WHITE
        assert solid.matches(one) is not is_white and is_blank(one) is is_white, hex(ord(one))
        assert not is_white or (white.matches(one) and join_words(f"{one}a{one}b{one}") == "a b" and not normalize(one))
    assert {*re.findall(f"[{WHITE_CLASS}]", ALL)} == set(WHITE)
