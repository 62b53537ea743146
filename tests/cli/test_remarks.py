"""An edit of a pack that changes no prompt fails no case, whatever a report tells of the pack's files."""

import json
import shutil

import pytest

from tests.cli.conftest import ROOT
from tests.size import take_part


@pytest.fixture(params=["sentinel", "worldarchitect"])
def manifest(request, tmp_path, monkeypatch):
    """That of a copy of a pack with its cases."""
    for folder in ("packs", "fixtures"):
        shutil.copytree(ROOT / folder / request.param, tmp_path / folder / request.param)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "packs" / request.param / "pack.yaml"


@pytest.fixture
def judge(manifest, tmp_path, run):
    """Judges its cases; a commit a third of them."""
    cases = take_part(sorted(str(path.parent.relative_to(tmp_path)) for path in (tmp_path / "fixtures").rglob("case.yaml")))
    return lambda *options: run("test", "--ci", "--no-cache", "-j", "1", *options, *cases)


@pytest.mark.sampled
def test_a_remark_at_the_end_of_the_manifest_fails_no_case(manifest, judge):
    """It is another pack by its digest."""
    manifest.write_text(manifest.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    done = judge()
    assert done.code == 0 and " passed" in done.out and "failed" not in done.out, done.out


@pytest.mark.sampled
def test_a_remark_above_all_else_fails_only_findings_that_show_their_place(manifest, judge):
    manifest.write_text("# a remark\n\n" + manifest.read_text(encoding="utf-8"), encoding="utf-8")
    done = json.loads(judge("--format", "json").out)
    assert done["counts"]["passed"] and not done["counts"]["broken"]
    assert {one["kind"] for case in done["cases"] for one in case["differences"]} <= {"diagnostics"}
