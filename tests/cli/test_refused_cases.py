"""Cases whose render is refused: what refused it stands first, once for all that it refused, and the cause names the file."""

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import ROOT

REFUSAL = "pack.yaml:12:13: PC0192 the index `help` in `data/prompt_index/help` is out of date: "
CHANGED = f"{REFUSAL}`pages/battery.md` changed"
CAUSE = "cause: pages/battery.md:3:1 nothing → A full charge takes four hours."


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A pack with an index, five cases and their goldens, committed."""
    shutil.copytree(ROOT / "starters/rag", tmp_path / "desk")
    monkeypatch.chdir(tmp_path / "desk")
    commit(tmp_path / "desk")
    return tmp_path / "desk"


def commit(folder):
    for line in ("init -q", "add --all", "-c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x"):
        subprocess.run(["git", *line.split()], check=True, cwd=folder)


def edit(desk):
    page = desk / "pages/battery.md"
    page.write_text(page.read_text(encoding="utf-8").replace("\n\n", "\n\nA full charge takes four hours.\n\n", 1), encoding="utf-8")


def test_a_stale_index_is_told_first_and_its_cause_names_the_page(desk, run):
    edit(desk)
    done = run("test", "--ci")
    lines = done.out.splitlines()
    assert done.code == 1 and lines[0].startswith("FAILED cases/first") and lines[1] == f"  {CHANGED}"
    assert done.out.count("PC0192 the index") == done.out.count("  cause:") == 1 and CAUSE in done.out
    assert "the render said" not in done.out and "    2 | title" not in done.out
    (claim,) = (line for line in lines if "PC0924" in line)
    assert claim.strip().startswith("cases/first/case.yaml:2:8: PC0924 the render was refused") and lines.index(claim) > 1
    at = lines.index("  4 more cases with the same cause:")
    assert [line.strip() for line in lines[at + 1 : at + 5]] == [f"cases/{name}" for name in ("recall", "request", "tight", "unknown")]


@pytest.mark.parametrize("way", ["a new page", "a page that is gone", "committed without its index"])
def test_whatever_became_of_the_pages_is_the_cause(desk, run, way):
    page = desk / "pages/battery.md"
    if way == "a new page":
        (desk / "pages/lights.md").write_text("# Lights\n\nThe front light has a switch.\n", encoding="utf-8")
    elif way == "a page that is gone":
        page.unlink()
    else:
        edit(desk)
        commit(desk)
    out = run("test", "--ci", "-k", "first").out
    assert REFUSAL in out and f"  cause: pages/{'lights' if way == 'a new page' else 'battery'}.md" in out


def test_without_git_what_refused_it_is_enough(desk, run):
    shutil.rmtree(desk / ".git")
    edit(desk)
    done = run("test", "--ci")
    assert done.code == 1 and done.out.count("PC0192 the index") == 1 and CHANGED in done.out
    assert "  cause:" not in done.out and "  4 more cases with the same cause:" in done.out


def test_reports_for_programs_tell_what_refused_it(desk, run):
    edit(desk)
    said = [CHANGED.partition("PC0192 ")[2], f"5 cases fail, {CAUSE}"]
    reports = [word for kind in ("github", "sarif", "junit", "json") for word in ("--report", f"{kind}={kind}.txt")]
    concise = run("test", "--ci", "--format", "concise", *reports).out.splitlines()
    github, sarif, junit, plain = (Path(f"{kind}.txt").read_text(encoding="utf-8") for kind in ("github", "sarif", "junit", "json"))
    names = [f"    cases/{name}" for name in ("first", "recall", "request", "tight", "unknown")]
    assert concise == [f"FAILED cases/first  {CHANGED}", f"    {said[1]}", *names, "0 passed, 5 failed"]
    assert github.startswith(f"::error file=pack.yaml,line=12,col=13,title=promptc PC0192::{said[0]}%0A{said[1]}%0A")
    assert github.count("::error") == 1 and github.rstrip().endswith("help: run `promptc index build pack.yaml help`")
    (result,) = json.loads(sarif)["runs"][0]["results"]
    assert result["ruleId"] == "PC0192" and result["message"]["text"].startswith("\n".join(said))
    (failure, *_) = ET.fromstring(junit).iter("failure")
    assert failure.get("type") == "PC0192"
    assert failure.get("message") == f"{said[0]}; `cases/first` fails, {CAUSE}"
    told = json.loads(plain)
    assert [one["code"] for one in told["cases"][0]["findings"]] == ["PC0192", "PC0924"]
    assert told["causes"][0]["cause"] == [CAUSE.removeprefix("cause: ")] and len(told["causes"][0]["cases"]) == 5


def test_a_case_without_goldens_never_blames_one(desk, run):
    """Nothing that is known explains it: its claim was never true."""
    case = desk / "cases/recall/case.yaml"
    case.write_text(case.read_text(encoding="utf-8").replace("recall: 100", "recall: 90"), encoding="utf-8")
    commit(desk)
    (desk / ".gitattributes").write_text("*.md text\n", encoding="utf-8")
    out = run("test", "--ci", "-k", "recall").out
    assert "the golden itself was edited" not in out and "no edit of its files since the last commit" in out
