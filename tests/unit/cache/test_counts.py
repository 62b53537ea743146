"""Counts are found by content, for one vocabulary, and the ones not needed for longest go first. So are words, which change no count."""

import pytest

from promptc import cache as store
from promptc.cache import Cache, KeptCounts, KeptWords
from promptc.text.counters.bpe import vocabulary_path
from promptc.text.counters.exact import TableCounter


@pytest.fixture
def cache(tmp_path):
    return Cache(str(tmp_path / "cache"))


def _keep(cache, vocabulary="sha256:a", **noted):
    kept = KeptCounts(cache, vocabulary)
    for text, units in noted.items():
        assert kept.find(text) is None
        kept.note(text, units)
    kept.keep()


def test_a_count_is_found_by_the_next(cache):
    _keep(cache, one=1, two=2)
    kept = KeptCounts(cache, "sha256:a")
    assert (kept.find("one"), kept.find("two"), kept.find("On"), kept.find("")) == (1, 2, None, None)


def test_another_vocabulary_knows_nothing_of_it(cache):
    _keep(cache, one=1)
    assert KeptCounts(cache, "sha256:b").find("one") is None


def test_any_text_has_a_place(cache):
    kept = KeptCounts(cache, "v")
    for text in ("\ud800", "\0", "é", "x" * 100_000):
        kept.note(text, len(text))
    kept.keep()
    again = KeptCounts(cache, "v")
    assert [again.find(text) for text in ("\ud800", "\0", "é", "x" * 100_000)] == [1, 1, 1, 100_000]


def test_nothing_is_written_when_nothing_is_new(cache, monkeypatch):
    _keep(cache, one=1)
    monkeypatch.setattr(cache, "keep", pytest.fail)
    kept = KeptCounts(cache, "sha256:a")
    assert kept.find("one") == 1
    kept.keep()


def test_what_was_not_needed_goes_first(cache, monkeypatch):
    monkeypatch.setattr(store, "MAX_COUNTS", 3)
    _keep(cache, one=1, two=2, three=3)
    kept = KeptCounts(cache, "sha256:a")
    assert kept.find("one") == 1
    kept.note("four", 4)
    kept.keep()
    again = KeptCounts(cache, "sha256:a")
    assert [again.find(text) for text in ("one", "two", "three", "four")] == [1, None, 3, 4]


TEXT = "The lamps on this stair belong to a dead man's account, naïve Quillfeather 12345; 数え切れない.\n"


def _make_counter(name="cl100k_base"):
    """One of its own: `load_table_counter` gives the same to all."""
    return TableCounter(name, vocabulary_path(name))


def _count(cache, text, name="cl100k_base"):
    counter = _make_counter(name)
    kept = KeptWords(cache, counter)
    found = counter.measure(text)
    kept.keep()
    return found


def test_words_are_recalled_and_count_the_same(cache, monkeypatch):
    first = _count(cache, TEXT)
    assert first == _make_counter().measure(TEXT)
    monkeypatch.setattr("promptc.text.counters.bpe.PieceEncoder.encode", lambda *_: pytest.fail("encoded again"))
    assert _count(cache, TEXT) == _count(cache, TEXT * 3) // 3 == first


def test_each_vocabulary_has_its_own(cache):
    assert _count(cache, TEXT) == _make_counter().measure(TEXT)
    assert _count(cache, TEXT, "o200k_base") == _make_counter("o200k_base").measure(TEXT)


def test_nothing_is_read_before_something_is_counted(cache, monkeypatch):
    _count(cache, TEXT)
    monkeypatch.setattr(cache, "load", pytest.fail)
    counter = _make_counter()
    kept = KeptWords(cache, counter)
    kept.keep()
    assert counter.words == {}


def test_nothing_is_written_when_no_word_is_new(cache, monkeypatch):
    _count(cache, TEXT)
    monkeypatch.setattr(cache, "keep", pytest.fail)
    _count(cache, TEXT)


def test_the_newest_are_kept(cache, monkeypatch):
    monkeypatch.setattr(store, "MAX_WORDS", 3)
    _count(cache, "one two three four five")
    counter = _make_counter()
    KeptWords(cache, counter)
    counter.measure("one")
    assert set(counter.words) == {" three", " four", " five", "one"}
