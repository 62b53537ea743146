"""Characters: white space, normal forms, and patterns that are compiled when they are needed."""

import re
import sys
import unicodedata
from random import Random

import pytest
import regex

from promptc.text.characters import WHITE, WHITE_CLASS, compile_later, convert_form, is_blank, join_words, normalize
from promptc.text.pattern import Pattern

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = [letter for code in range(0x2_0000) if unicodedata.combining(letter := chr(code))] + ["\uff9e", "\uff9f", "\u0f73", "\u0344"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text", ["", "plain", "é e\u0301 ﬁ ﷺ 東", "e" + "\u0301\u0323" * 40, "か" + "\u0301\uff9e" * 40 + "x\u0323", "\u0323" * 99]
)
def test_the_form_is_that_of_unicode(form, text):
    assert convert_form(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_drawn_crowds_of_marks(form, draws):
    draw = Random(form)
    for _ in range(draws(4_000)):
        text = "".join(draw.choice(MARKS) if draw.random() < 0.98 else draw.choice("aé東か가\u200d。ﬁ👩") for _ in range(200))
        assert convert_form(form, text) == unicodedata.normalize(form, text)


def test_a_mark_is_seen_by_the_pattern():
    """What is made of marks alone in some form, of every code point, is no letter, digit or white space, but for two."""
    strange = []
    for code in (*range(0xD800), *range(0xE000, 0x11_0000)):
        whole = unicodedata.normalize("NFKD", chr(code))
        if all(map(unicodedata.combining, whole)) and (chr(code).isalnum() or chr(code).isspace()):
            strange.append(chr(code))
    assert strange == ["\uff9e", "\uff9f"]


def test_the_work_grows_with_the_text_alone(monkeypatch):
    """However many marks stand on one letter, what Python's own is given is in order, so it exchanges none."""
    seen = []
    normalize = unicodedata.normalize
    monkeypatch.setattr(unicodedata, "normalize", lambda form, text: (seen.append(text), normalize(form, text))[1])
    convert_form("NFC", "e" + "\u0301\u0323" * 1000)
    classes = [unicodedata.combining(mark) for mark in seen[-1][1:]]
    assert len(classes) == 2000 and classes == sorted(classes)


# --- White space is one set, and nothing that a pattern's `\S` finds counts as blank ---
ALL = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
ECMA = {*"\t\v\f \u00a0\ufeff\n\r\u2028\u2029", *regex.findall(r"\p{Zs}", ALL)}


# contract 3.8
def test_it_is_all_three_definitions_together_and_no_more() -> None:
    unicode = set(regex.findall(r"\p{White_Space}", ALL))
    python = {one for one in ALL if one.isspace()}
    assert set(WHITE) == unicode | python | ECMA and [*WHITE] == sorted(WHITE)


# contract 3.8
def test_patterns_cuts_and_filters_know_the_same() -> None:
    solid, white = Pattern(r"\S"), Pattern(r"^[\s]$")
    for one in [*ALL[:0x3100], "\ufeff", "\uffa0", "\U000e0020"]:
        is_white = one in WHITE
        assert solid.matches(one) is not is_white and is_blank(one) is is_white, hex(ord(one))
        assert not is_white or (white.matches(one) and join_words(f"{one}a{one}b{one}") == "a b" and not normalize(one))
    assert {*re.findall(f"[{WHITE_CLASS}]", ALL)} == set(WHITE)


# --- A pattern that is compiled later does what one compiled at once does ---
def test_it_matches_as_the_pattern_does():
    later, now = compile_later(r"(?P<a>b+)c"), re.compile(r"(?P<a>b+)c")
    for text in ("", "bbc bc", "c", "xbbbc"):
        assert [found.span("a") for found in later.finditer(text)] == [found.span("a") for found in now.finditer(text)]
        assert later.sub(r"<\1>", text) == now.sub(r"<\1>", text)
        assert (later.search(text) is None) == (now.search(text) is None)
    assert later.pattern == now.pattern


def test_nothing_is_compiled_before(monkeypatch):
    compiled = []
    compile_now = re.compile
    monkeypatch.setattr(re, "compile", lambda pattern: compiled.append(pattern) or compile_now(pattern))
    later = compile_later("a")
    assert not compiled
    assert later.match("a") and later.match("a") and compiled == ["a"]


def test_a_wrong_pattern_is_told():
    with pytest.raises(re.error):
        compile_later("(").match("")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  The Gate\topens.\n", "the gate opens"),
        ("Don't", "dont"),
        ("Don’t STOP—now!", "dont stop now"),
        ("well-known", "well known"),
        ("ＡＢＣ ﬁne Straße", "abc fine strasse"),
        ("C++ costs $5", "c++ costs $5"),
        ("`code` **bold**", "code bold"),
        ("zero\u200bwidth soft\u00adhyphen", "zerowidth softhyphen"),
        ("cafe\u0301", "café"),
        ("世界。你好！", "世界 你好"),
        ("nul\x00l", "null"),
        ("...", ""),
        ("", ""),
    ],
)
def test_normalize(text, normal):
    assert normalize(text) == normal
    assert normalize(normal) == normal
