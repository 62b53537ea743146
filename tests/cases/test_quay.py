"""What is asked of an index: each golden hangs on its line."""

import json
import shutil

import pytest

from promptc.api import Pack
from promptc.frontend.corpus import build_corpus
from promptc.golden.running.environment import list_lacking
from promptc.sources.retrieval.encoder import load_encoder
from tests.cases.case import FIXTURES

FOLDER = FIXTURES / "quay"
LINES = {"asked": "I put my shoulder to the door and shove until it breaks", "idle": "brb, somebody at the door"}


@pytest.mark.dear
@pytest.mark.skipif(bool(list_lacking(("retrieval",))), reason="needs the extra")
@pytest.mark.parametrize("case", LINES)
def test_a_golden_dies_when_its_line_is_taken_out(case, tmp_path):
    state = json.loads((FOLDER / case / "state.json").read_text(encoding="utf-8"))
    golden = (FOLDER / case / "golden.txt").read_text(encoding="utf-8")
    shutil.copytree(FOLDER / "base", tmp_path / "base")
    assert render(tmp_path / "base", state) == golden
    path = tmp_path / "base" / "asked.tsv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(LINES[case])), encoding="utf-8")
    without = render(tmp_path / "base", state)
    assert ("Planks give way" in golden) == (case == "asked") != ("Planks give way" in without)


def render(folder, state):
    pack = Pack.load(folder)
    (index,) = pack.model.indexes
    counter = pack.model.counting.counter
    encoder = load_encoder("minilm-int8")
    list(build_corpus(index, count=counter.measure, counter=counter.digest, load_encoder=lambda: encoder))
    return pack.render(state).text
