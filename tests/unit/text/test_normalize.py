import pytest

from promptc.text.characters import normalize


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  The Gate\topens.\n", "the gate opens"),
        ("Don't", "dont"),
        ("Don’t STOP—now!", "dont stop now"),
        ("well-known", "well known"),
        ("ＡＢＣ ﬁne Straße", "abc fine strasse"),
        ("C++ costs $5", "c++ costs $5"),
        ("`code` **bold**", "code bold"),
        ("zero\u200bwidth soft\u00adhyphen", "zerowidth softhyphen"),
        ("cafe\u0301", "café"),
        ("世界。你好！", "世界 你好"),
        ("nul\x00l", "null"),
        ("...", ""),
        ("", ""),
    ],
)
def test_normalize(text, normal):
    assert normalize(text) == normal
    assert normalize(normal) == normal
