"""The normal forms are Unicode's own, whatever stands on one letter."""

import unicodedata
from random import Random

import pytest

from promptc.text.characters import convert_form

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
