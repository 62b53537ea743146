import pytest

from promptc.text.counters import counter as meter_module
from promptc.text.counters.counter import CharacterCounter, Meter

PROSE = "The gate opens for one night, then closes. Nobody knows why.\n\n- one\n  - two\n"


class Counted:
    """A counter that tells what it was asked to measure."""

    def __init__(self, counter):
        self._counter = counter
        self.asked = []

    def __getattr__(self, name):
        return getattr(self._counter, name)

    def measure(self, text):
        self.asked.append(text)
        return self._counter.measure(text)


@pytest.fixture
def counted(exact):
    return Counted(exact)


def test_a_text_is_measured_once(counted):
    meter = Meter(counted)
    assert meter.count(PROSE) == meter.count(PROSE) == counted._counter.measure(PROSE)
    assert counted.asked == [PROSE]


def test_a_text_of_no_more_bytes_than_it_may_have_tokens_is_not_counted(counted):
    meter = Meter(counted)
    assert meter.fits(PROSE, len(PROSE)) and not meter.fits("é" * 30, 29)
    assert counted.asked == ["é" * 30]
    assert not meter.fits(PROSE, 5) and meter.fits(PROSE, len(PROSE) - 1)
    assert counted.asked == ["é" * 30, PROSE]


@pytest.mark.parametrize("text", [PROSE * 100, PROSE.replace("\n", " ") * 100, "a" * 5000, "好。" * 3000, "\n" * 5000, PROSE * 60 + " \n"])
def test_a_long_text_counts_as_the_sum_of_its_pieces(text, counted):
    assert Meter(counted).count(text) == counted._counter.measure(text)


def test_a_changed_line_costs_a_line(counted):
    meter = Meter(counted)
    lines = [f"Line {number} of a long transcript.\n" for number in range(300)]
    meter.count("".join(lines))
    counted.asked.clear()
    lines[150] = "Another line.\n"
    meter.count("".join(lines))
    assert counted.asked == ["Another line.\n"]


def test_a_changed_word_costs_a_few_sentences(counted):
    meter = Meter(counted)
    words = [f"word{number} and, perhaps, another one;" for number in range(300)]
    meter.count(" ".join(words))
    counted.asked.clear()
    words[150] = "other"
    meter.count(" ".join(words))
    assert sum(map(len, counted.asked)) < 400


def test_forgetting_changes_no_count(counted, monkeypatch):
    monkeypatch.setattr(meter_module, "_ENTRIES", 4)
    meter = Meter(counted)
    texts = [f"text {number}" for number in range(20)]
    expected = [counted._counter.measure(text) for text in texts]
    assert [meter.count(text) for text in texts * 2] == expected * 2
    assert len(meter._counts) <= 4
    assert len(meter._older) <= 4


def test_memory_is_bounded_in_characters(counted, monkeypatch):
    monkeypatch.setattr(meter_module, "_CHARACTERS", 100)
    meter = Meter(counted)
    for number in range(50):
        meter.count(f"{number} " + "x" * 40)
    assert sum(map(len, meter._counts)) <= 150


def test_units_become_tokens(exact):
    assert Meter(exact).tokens(7) == 7
    assert [Meter(CharacterCounter()).tokens(units) for units in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_characters_need_no_memory():
    meter = Meter(CharacterCounter())
    assert meter.count(PROSE) == len(PROSE)
    assert not meter._counts
