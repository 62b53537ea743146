import re

import pytest
from tiktoken import Encoding

from promptc.diag.findings import PromptcError
from promptc.text.counters import splitting
from promptc.text.counters.splitting import (
    LETTER,
    LONG_S,
    LOWER,
    MARK,
    NUMBER,
    OTHER,
    UPPER,
    WHITE,
    encode_classes,
    read_class,
)


@pytest.fixture(scope="module")
def classes():
    """The class of every character but the halves of others."""
    return {one: read_class(one) for one in map(chr, range(0x110000)) if not 0xD800 <= ord(one) < 0xE000}


def test_a_text_in_ascii_stands_for_itself():
    text = "".join(map(chr, range(128)))
    assert encode_classes(text) is text


@pytest.mark.parametrize(
    ("characters", "stand_in"),
    [
        ("ÀǅΩ\U00010400", UPPER),
        ("ßπ\U0001d41a", LOWER),
        ("ªʰ中한ا\U00020000", LETTER),
        ("\u0301\u0903\u20dd", MARK),
        ("²Ⅷ٣\U0001d7ce", NUMBER),
        ("\x85\xa0\u1680\u2009\u2028\u3000", WHITE),
        ("\x80—€。\u200b\ufeff\ue000\uffff\U0001f600\U0010ffff", OTHER),
        ("ſ", LONG_S),
    ],
)
def test_what_stands_for_a_character(characters, stand_in):
    assert encode_classes(f"a {characters}.") == f"a {stand_in * len(characters)}."


def test_ascii_has_classes_too():
    assert "".join(map(read_class, "aA1 .\x1c\x85")) == f"{LOWER}{UPPER}{NUMBER}{WHITE}{OTHER}{OTHER}{WHITE}"


def test_stand_ins_are_apart_from_ascii_and_of_one_byte():
    assert re.fullmatch(r"[\x80-\xff]{8}", f"{splitting.STAND_INS}{LONG_S}")
    assert len({*splitting.STAND_INS, LONG_S}) == 8


@pytest.mark.parametrize("content", [None, b"", b"\0" * 12764])
def test_missing_or_damaged_classes_are_an_error(content, tmp_path, monkeypatch):
    if content is not None:
        (tmp_path / "unicode.classes").write_bytes(content)
    monkeypatch.setattr(splitting, "FILE", str(tmp_path / "unicode.classes"))
    with pytest.raises(PromptcError, match="PC0181"):
        splitting._Classes().read(0x4E00)


@pytest.mark.dear
@pytest.mark.parametrize("pattern", [r"\p{L}", r"\p{M}", r"\p{N}", r"\s", r"\p{Ll}", r"[\p{Lu}\p{Lt}]"])
def test_the_classes_are_those_of_the_tokenizers_own_engine(pattern, classes):
    members = {r"\p{L}": UPPER + LOWER + LETTER, r"\p{M}": MARK, r"\p{N}": NUMBER, r"\s": WHITE, r"\p{Ll}": LOWER}.get(pattern, UPPER)
    ranks = {bytes((byte,)): byte for byte in range(256)}
    engine = Encoding("one", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    assert bytes(engine.encode_ordinary("".join(classes))).decode() == "".join(one for one, found in classes.items() if found in members)
