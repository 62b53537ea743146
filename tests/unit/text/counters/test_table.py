"""The shipped tables: what is in them, and that they are what the tool makes."""

import base64
import zlib
from pathlib import Path

import pytest

from promptc.text.counters import bpe as table_module
from promptc.text.counters.bpe import NONE, VOCABULARIES, merge, open_table, view_words, vocabulary_path
from promptc.text.counters.splitting import FILE
from tests.cases.case import ROOT
from tools.make_vocabularies import build_classes, build_table, load_ranks


@pytest.fixture(params=VOCABULARIES, scope="module")
def name(request):
    return request.param


@pytest.fixture(scope="module")
def tokens(name):
    lines = (ROOT / "tools" / "ranks" / f"{name}.tiktoken").read_bytes().splitlines()
    return [base64.b64decode(line.split()[0]) for line in lines]


@pytest.fixture
def table(name):
    return open_table(name, vocabulary_path(name))


def test_the_tool_makes_the_shipped_table(name):
    shipped = Path(vocabulary_path(name)).read_bytes()
    assert build_table(load_ranks(name)) == shipped
    assert (len(shipped), zlib.adler32(shipped)) == (VOCABULARIES[name].size, VOCABULARIES[name].check)


def test_the_tool_makes_the_shipped_classes():
    assert build_classes() == Path(FILE).read_bytes()


def test_every_token_is_found_in_the_order_of_ranks(tokens, table):
    keys = [table[token] for token in tokens]
    assert keys == sorted(set(keys))
    assert keys[-1] < NONE


def test_what_is_no_token_is_not_found(tokens, table):
    known = set(tokens)
    others = {token[:-1] + bytes((token[-1] ^ 1,)) for token in tokens[::7]} | {token + b"x" for token in tokens[::7]} | {b"", b"\0" * 300}
    assert all(table[other] == NONE for other in others - known)


def test_a_token_is_its_own_encoding(tokens, table, draws):
    for token in tokens[:: len(tokens) // draws(len(tokens))]:
        assert merge(table, token) == [token]


def test_pairs_are_remembered_up_to_a_bound(table, tokens, monkeypatch):
    known = [table[token] for token in tokens[:500]]
    monkeypatch.setattr(table_module, "_TABLE_ENTRIES", 100)
    table.clear()
    assert [table[token] for token in [*tokens[:500], *tokens[:500]]] == [*known, *known]
    assert 1 < len(table) <= 100


@pytest.mark.parametrize("content", [b"\1\2\3\4\5\0\0\x80", memoryview(b"\1\2\3\4\5\0\0\x80")])
def test_the_low_byte_is_first(content):
    assert list(view_words(content)) == [0x04030201, 0x80000005]


def test_a_machine_with_the_other_order_swaps(monkeypatch):
    """Here it swaps what was right, and so gives what such a machine would see without it."""
    monkeypatch.setattr("sys.byteorder", "big")
    assert list(view_words(b"\1\2\3\4\5\0\0\x80")) == [0x01020304, 0x05000080]
