"""docs/guides/operations.md shows what happens: its files are written, its commands run in order and in one folder."""

import json
import re

import pytest

import promptc
from tests.cli.conftest import ROOT
from tests.cli.test_docs import _run

DOCUMENT = ROOT / "docs" / "guides" / "operations.md"
_FILE = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```console\n\$ promptc ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_outputs_shown_are_the_outputs(run, tmp_path, monkeypatch, accepting):
    monkeypatch.chdir(tmp_path)
    text = DOCUMENT.read_text(encoding="utf-8")
    for name, content in _FILE.findall(text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    made = _BLOCK.sub(lambda shown: f"```console\n$ promptc {shown[1]}\n{_run(shown[1], run)}```", text)
    if accepting:
        DOCUMENT.write_text(made, encoding="utf-8", newline="\n")
    assert made == DOCUMENT.read_text(encoding="utf-8"), "run `make accept` and read the difference"
    assert len(_FILE.findall(text)) >= 8 and len(_BLOCK.findall(text)) >= 7


def test_the_python_shown_runs(tmp_path, monkeypatch):
    text = DOCUMENT.read_text(encoding="utf-8")
    for name, content in _FILE.findall(text):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code = "".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    before = (tmp_path / "state.json").read_bytes()
    names = {"state": before, "my_model": lambda messages: (tmp_path / "answer.md").read_text()}
    exec(code, names)
    done = names["done"]
    assert names["due"] == ["tidy"] and done.said == "3 of 5 entries went to the archive." and not done.fallbacks
    assert json.loads((tmp_path / "state.json").read_text()) == done.value != json.loads(before)
    with pytest.raises(promptc.DiskError, match="PC0821"):
        exec(code, names)
    assert json.loads((tmp_path / "state.json").read_text()) == done.value
    assert len([*(tmp_path / "state.json.archive").glob("*.jsonl")]) == 1
