"""An edit of a pack that changes no prompt fails no case, whatever a report tells of the pack's files."""

import json
import shutil

import pytest

from tests.cli.conftest import ROOT


@pytest.fixture(params=["sentinel", "worldarchitect"])
def manifest(request, tmp_path, monkeypatch):
    """That of a copy of a pack with its cases."""
    for folder in ("packs", "fixtures"):
        shutil.copytree(ROOT / folder / request.param, tmp_path / folder / request.param)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "packs" / request.param / "pack.yaml"


@pytest.mark.sampled
def test_a_remark_at_the_end_of_the_manifest_fails_no_case(manifest, run):
    """It is another pack by its digest."""
    manifest.write_text(manifest.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    done = run("test", "--ci", "--no-cache", "-j", "1")
    assert done.code == 0 and "failed" not in done.out, done.out


@pytest.mark.sampled
def test_a_remark_above_all_else_fails_only_findings_that_show_their_place(manifest, run):
    manifest.write_text("# a remark\n\n" + manifest.read_text(encoding="utf-8"), encoding="utf-8")
    done = json.loads(run("test", "--ci", "--no-cache", "-j", "1", "--format", "json").out)
    assert not done["counts"]["broken"]
    assert {one["kind"] for case in done["cases"] for one in case["differences"]} <= {"diagnostics"}
