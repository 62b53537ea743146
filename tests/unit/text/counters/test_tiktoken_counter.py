import pytest

from promptc.text.counters.tiktoken_counter import TiktokenCounter

# Counts by the tokenizers' makers; tests/property holds them against tiktoken on drawn texts.
KNOWN = {
    "": (0, 0),
    "hello world": (2, 2),
    "<|endoftext|>": (7, 7),
    "antidisestablishmentarianism": (6, 6),
    "\n\n\n\n": (1, 1),
    "お誕生日おめでとう": (9, 8),
}


@pytest.mark.parametrize(("text", "counts"), KNOWN.items())
def test_known_counts(text, counts, exact):
    assert exact.measure(text) == counts[exact.name == "o200k_base"]


def test_a_million_white_characters_are_counted(exact):
    """tiktoken's own engine gives up on them."""
    run = "\t" * 1_100_000
    assert exact.measure(run) > 10_000
    assert exact.measure(f"a\n{run}x") in range(exact.measure(run) + 2, exact.measure(run) + 6)


@pytest.mark.parametrize(
    "text",
    [
        " " * 150_000 + "x",
        "a\n" + " " * 150_000 + "x",
        " " * 150_000 + "\nx",
        "a" + "\t" * 150_001,
        "a\n\n" + "\t" * 150_001,
        " \n" + " \t" * 60_000 + "1" + " " * 100_001 + ".\n",
        ("x" + " " * 100_001) * 2,
        ("x" + "\xa0" * 100_001) * 2 + "\r\n",
    ],
    ids=range(8),
)
def test_long_white_runs_are_parted_as_the_tokenizer_parts_them(text, exact):
    """These runs are short enough for the tokenizer itself."""
    assert isinstance(exact, TiktokenCounter)
    assert exact._encode(text) == exact._encoding.encode_ordinary(text)


def test_places_are_those_of_tokens(exact):
    text = "hello wörld\r\n😀\U0001f9ff"
    starts = exact.iter_starts(text)
    assert len(starts) == exact.measure(text)
    assert starts[:2] == [0, 5]
    ends = exact.token_ends(text)
    assert ends[0] == 5
    assert ends[-1] == len(text)
    assert 12 not in ends, "inside CR LF"
    assert exact.iter_starts("") == []
    assert exact.token_ends("") == []


def test_a_role_costs_its_name(exact):
    assert exact.role_tokens("assistant") == 1
