import json

import pytest

from promptc.workshop.page import Bench


@pytest.fixture
def make_bench(tmp_path):
    """A bench of a pack with one list of notes, and its state beside it."""

    def make(*, budget=200, notes=(), overflow="[{evict: {}}]", pinned=False, more=""):
        shortened = "    pinned: true\n" if pinned else f"    overflow: {overflow}\n"
        manifest = f"""\
promptc: 1
name: log
version: 1.0.0
budget: {{context: 1000, reserve: 100}}
tokenizer: o200k_base
state: {{schema: state.schema.json}}
sections:
  - id: notes
    budget: {budget}
    items: {{from: state.notes, text: "{{{{ item }}}}"}}
{shortened}{more}"""
        (tmp_path / "pack.yaml").write_text(manifest, encoding="utf-8")
        schema = {"type": "object", "properties": {"notes": {"type": "array", "items": {"type": "string"}}}, "required": ["notes"]}
        (tmp_path / "state.schema.json").write_text(json.dumps(schema), encoding="utf-8")
        (tmp_path / "state.json").write_text(json.dumps({"notes": list(notes)}), encoding="utf-8")
        return Bench(str(tmp_path / "pack.yaml"), (str(tmp_path / "state.json"),))

    return make
