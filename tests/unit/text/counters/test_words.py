import pytest

from promptc.text.counters.bpe import view_words


@pytest.mark.parametrize("content", [b"\1\2\3\4\5\0\0\x80", memoryview(b"\1\2\3\4\5\0\0\x80")])
def test_the_low_byte_is_first(content):
    assert list(view_words(content)) == [0x04030201, 0x80000005]


def test_a_machine_with_the_other_order_swaps(monkeypatch):
    """Here it swaps what was right, and so gives what such a machine would see without it."""
    monkeypatch.setattr("sys.byteorder", "big")
    assert list(view_words(b"\1\2\3\4\5\0\0\x80")) == [0x01020304, 0x05000080]
