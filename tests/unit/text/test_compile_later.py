"""A pattern that is compiled later does what one compiled at once does."""

import re

import pytest

from promptc.text.characters import compile_later


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
