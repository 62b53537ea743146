import pytest

from promptc.text.counters.counter import Meter, TokenCounter
from promptc.text.cutting import PrefixMeter, iter_kept, list_boundaries

MARKERS = ["", " […]", "…", "\n[…]\n", "x", "/", "'s", "1"]
TEXTS = {
    "prose": "The gate opens. Nobody knows why; don't ask.\n\n  - one: 1,234\n/two\n\n" * 3,
    "letters": "x " + "abcdefgh" * 90 + " y",
    "capitals": "Aa" + "ABCDEFGH" * 90,
    "han": "世界你好" * 200 + "。",
    "thai": "ภาษาไทยที่ไม่มีวรรค" * 40,
    "digits": "no. " + "1234567890" * 70 + "x",
    "marks": "!" + "=-=*" * 180 + "\n/",
    "slashes": "!\n" + "/" * 700,
    "emoji": "😀🎉" * 300,
    "contractions": "a's" * 250,
    "white": "a" + " " * 700 + "b",
}


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_cut_is_counted_exactly(text, marker, counter):
    meter = Meter(counter)
    prefix = PrefixMeter(meter, text)
    for place in [*range(0, len(text), 41), *counter.token_ends(text)[::37], len(text)]:
        assert prefix.count_cut(place, len(text), marker) == counter.measure(text[:place] + marker)
        assert prefix.count_cut(0, place, marker) == counter.measure(marker + text[place:])
        assert prefix.count_cut(place // 2, place, marker) == counter.measure(text[: place // 2] + marker + text[place:])


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("behind", [" ", " \n\t", "\n", "=", "1"])
@pytest.mark.parametrize("before", ["世界你好", "abcde", "1234567"])
def test_a_cut_from_one_long_stretch_into_another_is_counted_exactly(before, behind, marker, counter):
    """Each side of the cut is far from the next place where counts add up."""
    text = before * (1_600 // len(before)) + behind * (1_600 // len(behind))
    prefix = PrefixMeter(Meter(counter), text)
    for start, stop in ((800, 1_700), (1_400, 1_750)):
        assert prefix.count_cut(start, stop, marker) == counter.measure(text[:start] + marker + text[stop:])


@pytest.mark.parametrize("text", ["", "a", "a b c\n" * 200])
def test_texts_of_any_length(text, counter):
    prefix = PrefixMeter(Meter(counter), text)
    assert prefix.count_cut(len(text), len(text)) == prefix.count_cut(0, 0) == counter.measure(text)
    assert prefix.count_cut(0, len(text), "x") == counter.measure("x")


class Whole:
    """A counter that tells how many characters it was asked to encode."""

    def __init__(self, counter):
        self._counter = counter
        self.characters = 0

    def __getattr__(self, name):
        return getattr(self._counter, name)

    def measure(self, text):
        self.characters += len(text)
        return self._counter.measure(text)

    def iter_starts(self, text):
        self.characters += len(text)
        return self._counter.iter_starts(text)


@pytest.mark.parametrize("unit", ["word ", "a", "世", "1", "=", "Wörter, und. "])
def test_thousands_of_cuts_cost_one_pass(unit, exact):
    counter = Whole(exact)
    text = unit * (40_000 // len(unit))
    prefix = PrefixMeter(Meter(counter), text)
    kept = list(iter_kept(text, list_boundaries(["sentence"]), token_ends=lambda: exact.token_ends(text)))[:1500]
    for cut in kept:
        prefix.count_cut(cut.stop, len(text), " […]")
    assert counter.characters < len(text) + len(kept) * 700


def test_a_counter_without_boundaries_counts_whole():
    class Words(TokenCounter):
        def __init__(self):
            super().__init__("words", "")

        def measure(self, text):
            return len(text.split())

    text = "one two three\n" * 300
    prefix = PrefixMeter(Meter(Words()), text)
    assert prefix.count_cut(7, len(text), " …") == 3
    assert prefix.count_cut(0, len(text) - 6) == 1
    assert prefix.count_cut(3, len(text) - 6, " x ") == 3
