"""Export, then import: what was stored comes back, from a folder and from one file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptc.diag.findings import PromptcError
from promptc.frontend.segments import load_segments, name_file, render_markdown, render_yaml
from promptc.text.json import render_canonical_json
from tests.property.segment_drawing import segments


def _exactly(many):
    """Equal texts for equal segments, and for those alone: 1 is not 1.0 nor true, -0.0 is not 0.0."""
    return sorted(repr((one, render_canonical_json(one.metadata))) for one in many)


def _without_twins(drawn):
    """An import refuses twins; only ids are unique in what is drawn."""
    return [
        *{
            json.dumps([one.scope, one.ref_id, repr(one.metadata.get("key")), (one.locale or "").lower(), one.version]): one
            for one in drawn
        }.values()
    ]


@pytest.mark.dear
@given(drawn=segments().map(_without_twins).filter(bool))
def test_a_folder_reads_back(drawn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("segments")
    for one in drawn:
        file = folder / name_file(one)
        file.parent.mkdir(exist_ok=True)
        assert not file.exists()
        file.write_bytes(render_markdown(one).encode())
    assert _exactly(load_segments(folder)) == _exactly(drawn)


@given(drawn=segments().map(_without_twins).filter(bool))
def test_one_file_reads_back(drawn, tmp_path_factory):
    file = tmp_path_factory.mktemp("segments") / "all.yaml"
    file.write_bytes(render_yaml(drawn).encode())
    assert _exactly(load_segments(file)) == _exactly(drawn)


@given(
    drawn=segments(), cuts=st.lists(st.integers(0, 2000), max_size=3), noise=st.binary(max_size=8), ending=st.sampled_from([".md", ".yaml"])
)
def test_any_bytes_are_segments_or_findings(drawn, cuts, noise, ending, tmp_path_factory):
    text = "".join(map(render_markdown, drawn)) if ending == ".md" else render_yaml(drawn)
    raw = text.encode()
    for cut in cuts:
        raw = raw[:cut] + noise + raw[cut + len(noise) :]
    file = tmp_path_factory.mktemp("segments") / f"any{ending}"
    file.write_bytes(raw)
    found = _find(file)
    assert all(one.span is not None or one.code == "PC0174" for one in found)


def _find(file):
    try:
        return () if load_segments(file) else None
    except PromptcError as error:
        return error.diagnostics
