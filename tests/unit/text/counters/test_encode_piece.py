from random import Random

import pytest

from promptc.text.counters import bpe
from promptc.text.counters.bpe import NONE, VOCABULARIES, PieceEncoder, merge, open_table, vocabulary_path

ALPHABETS = {
    "letters": "abcdefghijklmnopqrstuvwxyz",
    "cased": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "marks": "!#$%&()*+,-./:;<=>?@[]^_`{|}~",
    "han": "".join(map(chr, range(0x4E00, 0x9FA5))),
    "emoji": "".join(map(chr, range(0x1F300, 0x1F640))),
    "mixed": "abcdeабвгде世界你好的是ก่ี",
    "two": "ab",
}


@pytest.fixture(params=VOCABULARIES)
def table(request):
    return open_table(request.param, vocabulary_path(request.param))


@pytest.fixture
def merged(monkeypatch):
    """The lengths of what is merged by the definition."""
    lengths = []

    def count(table, piece):
        lengths.append(len(piece))
        return merge(table, piece)

    monkeypatch.setattr(bpe, "merge", count)
    return lengths


def draw(alphabet, size, seed=0):
    rng = Random(seed)
    text = "".join(rng.choice(alphabet) for _ in range(size))
    return text.encode()[:size].decode(errors="ignore").encode()


def find_falling_path(table, alphabet):
    """The longest row of letters in which each two neighbours are a token of a lower rank than the two before: how it is parted depends on
    where it ends."""
    pairs = sorted((table[(a + b).encode()], a, b) for a in alphabet for b in alphabet)
    paths = {letter: letter for letter in alphabet}
    for key, first, second in pairs:
        if key != NONE:
            paths[first] = max(paths[first], first + paths[second], key=len)
    return max(paths.values(), key=len)


def draw_falling(table, size):
    path, rng = find_falling_path(table, ALPHABETS["cased"]), Random(0)
    text = "".join(path[rng.randrange(len(path) // 8) :] for _ in range(size // 20))
    return text[:size].encode()


@pytest.mark.parametrize("size", [65, 130, 400, 1500])
@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_windows_give_what_the_definition_gives(alphabet, size, table):
    encoder = PieceEncoder(table)
    for seed in range(4):
        piece = draw(alphabet, size, seed)
        assert encoder.encode(piece) == merge(table, piece)


def test_windows_that_end_where_it_matters_are_made_larger(table):
    piece = draw_falling(table, 3000)
    assert PieceEncoder(table).encode(piece) == merge(table, piece)


def test_a_piece_that_is_a_token_is_one(table):
    encoder = PieceEncoder(table)
    for size in (1, 2, 16, 64, 128):
        assert encoder.encode(b" " * size) == [b" " * size] if table[b" " * size] != NONE else True
    assert b"".join(encoder.encode(b"\xff\xfe" * 100)) == b"\xff\xfe" * 100


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_few_bytes_are_looked_at_twice(alphabet, table, merged):
    piece = draw(alphabet, 30_000)
    PieceEncoder(table).encode(piece)
    assert sum(merged) < 1.8 * len(piece)
    assert max(merged) <= 512


def test_the_hardest_text_is_linear_too(table, merged):
    looked_at = {}
    for size in (20_000, 40_000):
        merged.clear()
        PieceEncoder(table).encode(draw_falling(table, size))
        looked_at[size] = sum(length * length for length in merged)
    assert looked_at[40_000] < 2.3 * looked_at[20_000]
    assert max(merged) <= 1024


@pytest.mark.parametrize("piece", [b" ", b"a", b"\n", b"ab", "\N{GRINNING FACE}".encode(), b"=-", b"abcdefghijklmnop"], ids=repr)
def test_what_repeats_itself_is_merged_once(piece, table, merged):
    PieceEncoder(table).encode(piece * (100_000 // len(piece)))
    assert sum(merged) < 20_000


def test_windows_are_remembered_up_to_a_bound(table, monkeypatch):
    monkeypatch.setattr(bpe, "_ENTRIES", 8)
    encoder = PieceEncoder(table)
    piece = draw(ALPHABETS["letters"], 5000)
    assert encoder.encode(piece) == encoder.encode(piece)
    assert len(encoder._windows) <= 8
