"""Counts are found by content, for one vocabulary, and the ones not needed for longest go first."""

import pytest

from promptc import cache as store
from promptc.cache import Cache, KeptCounts


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
