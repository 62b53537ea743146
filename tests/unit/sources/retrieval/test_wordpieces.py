"""Held to the library that the model was trained with."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from promptc.sources.retrieval.encoder import VOCABULARY, list_pieces, load_vocabulary
from tests.size import count_examples

PIECES = load_vocabulary(VOCABULARY.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def library():
    tokenizer = Tokenizer(models.WordPiece(PIECES, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def compare(library, text):
    start, end = PIECES["[CLS]"], PIECES["[SEP]"]
    assert list_pieces(text, PIECES, 10**9) == [start, *library.encode(text).ids, end]


@pytest.mark.parametrize(
    "text", ["Fireball: 8d6 (DC 15)!", "Éclair's naïve Ångström", "字と漢字 mixed", "a\u200bb\tc\x00d", "x" * 101, "", " "]
)
def test_as_the_library(text, library):
    compare(library, text)


def test_every_letter_and_mark_of_unicode_13(library):
    """Later ones are unassigned to the library, and known to newer Pythons."""
    kinds = {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Pd", "Ps", "Pe", "Pc", "Zs", "Sm", "Sc"}
    known = [code for code in range(0x3000) if unicodedata.category(chr(code)) in kinds]
    different = [code for code in known if list_pieces(f"a{chr(code)}b", PIECES, 99)[1:-1] != library.encode(f"a{chr(code)}b").ids]
    assert not [hex(code) for code in different if code < 0x0800]


@settings(max_examples=count_examples(200), deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=0x7FF, exclude_categories=("Cs", "Cn", "Co")), max_size=60))
def test_drawn_texts(library, text):
    compare(library, text)


def test_it_stops_at_the_limit():
    pieces = list_pieces("one two three four five", PIECES, 5)
    assert len(pieces) == 5 and (pieces[0], pieces[-1]) == (PIECES["[CLS]"], PIECES["[SEP]"])
