from itertools import accumulate

import pytest

from promptc.diag.findings import PromptcError
from promptc.text.counters.bpe import vocabulary_path
from promptc.text.counters.exact import TableCounter, load_counter
from tests.cases.recount import load_encoding

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
    encoding = load_encoding(exact.name)
    tokens = encoding.encode_ordinary(text)
    assert exact.measure(text) == len(tokens)
    assert list(accumulate(map(len, encoding.decode_tokens_bytes(tokens)), initial=0))[:-1] == exact.iter_starts(text)


@pytest.mark.sampled
@pytest.mark.parametrize("last", ["", "x", " x", "\n", "\nx", "/"])
@pytest.mark.parametrize("character", [" ", "\t", "\n", "a", "=", "\N{GRINNING FACE}"])
def test_a_million_characters_are_counted(character, last, exact):
    """tiktoken's own engine gives up on some of them. A token has at most 128 bytes."""
    text = "a\n" + character * 1_000_000 + last
    count = exact.measure(text)
    assert len(text.encode()) // 128 < count < len(text.encode())
    assert abs(exact.measure("a\n" + character * 500_000 + last) * 2 - count) < 8


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


def test_words_are_remembered_up_to_a_bound(monkeypatch):
    monkeypatch.setattr("promptc.text.counters.exact._WORDS", 10)
    counter = TableCounter("cl100k_base", vocabulary_path("cl100k_base"))
    texts = [f"one word{number} and" for number in range(40)]
    assert [counter.measure(text) for text in texts] == [counter.measure(text) for text in texts]
    assert 1 < len(counter._words) <= 10


def test_a_long_word_is_not_remembered():
    counter = TableCounter("cl100k_base", vocabulary_path("cl100k_base"))
    assert counter.measure("ab" * 1000) == counter.measure("ab" * 1000)
    assert not counter._words


def test_a_long_text_is_split_as_a_short_one_is(exact):
    text = "Well, don't panic: 3 × 4 = 12 naïve cafés.\n" * 40
    assert exact.measure(text * 50) == exact.measure(text) * 50
    assert exact.iter_starts(text * 50)[: exact.measure(text)] == exact.iter_starts(text)


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-5", "o1", "o3", "gpt-4", "gpt-4-turbo", "gpt-3.5-turbo", "text-embedding-3-small"]
)
def test_a_model_in_place_of_a_tokenizer_is_told_which_counts_for_it(model):
    tiktoken = pytest.importorskip("tiktoken")
    with pytest.raises(PromptcError) as caught:
        load_counter(model, folder=".")
    assert f"`{tiktoken.encoding_name_for_model(model)}`" in caught.value.diagnostics[0].help
