"""A state whose elements were archived and put back has the bytes it had."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptc
from promptc.operations.archive import read_archive, write_archive
from promptc.operations.edits import format_state, make_diff
from promptc.operations.restore import make_restoration
from promptc.operations.run import run_operation

_PACK = """\
promptc: 1
name: log
version: 1.0.0
tokenizer: chars/4
budget: 2000
state: {schema: state.schema.json}
sections: [{id: main, role: user, text: hello}]
operations: {tidy: {title: Prune, args: {keep: 2}, edits: [{keep: /log, last: args.keep, archive: log}]}}
"""
_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]))
_PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-(10**15), 10**15), st.floats(-1e9, 1e9), _TEXTS)
_VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text("abcé", max_size=3), inner, max_size=4)),
    max_leaves=8,
)
_LOGS = st.lists(_VALUES, min_size=1, max_size=8, unique_by=json.dumps)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("log")
    (made / "pack.yaml").write_text(_PACK, encoding="utf-8")
    (made / "state.schema.json").write_text('{"type": "object", "properties": {"log": {"type": "array"}}}', encoding="utf-8")
    return made


@given(log=_LOGS, keep=st.integers(1, 4), indent=st.sampled_from([None, 2]))
def test_a_prune_that_is_restored_leaves_the_bytes_as_they_were(folder: Path, log: list[Any], keep: int, indent: int | None) -> None:
    pack = promptc.load(folder / "pack.yaml")
    state = {"title": "x", "log": log, "an": {"z": 1, "a": 2}}
    raw = format_state(state, json.dumps(state, indent=indent).encode())
    change = make_diff(pack, run_operation(pack, raw, "tidy", {"keep": keep}), raw, file="state.json")
    written = [write_archive(folder / "kept", one, like=None, wait=1).path for one in change.archived]
    back, _ = make_restoration(pack, change.data, [read_archive(path) for path in written], name="state.json")
    assert back.data == raw
