"""docs/reference/mistakes.md: what promptc says to the mistakes of a first day, and how much it helps."""

import shutil
from difflib import ndiff
from pathlib import Path

import pytest
import yaml

from tests.contract.sources import ROOT

BASE = Path(__file__).parent / "mistakes"
PAGE = ROOT / "docs" / "reference" / "mistakes.md"
MISTAKES = yaml.safe_load((BASE / "mistakes.yaml").read_text(encoding="utf-8"))
COMMANDS = {"check": ("check", "pack.yaml"), "render": ("render", "pack.yaml", "state.json")}
HEAD = """\
# Mistakes, and what promptc says

These are {count} mistakes that people make with their first pack. Each is one change to a small pack that works.
Below each change is the message that `promptc` prints.

A reader who saw only the message and the file graded each message:

| grade | means | messages |
| --- | --- | --- |
| A | It says what is wrong and what to write. | {A} |
| B | It says what is wrong. You must find out what to write. | {B} |
| C | It does not help, or it misleads you. | {C} |

The pack, its template and its state are in `tests/cli/mistakes`. `make accept` writes this page.
"""


@pytest.fixture
def shown(run, tmp_path, monkeypatch):
    """Makes a mistake, and gives the lines that it changes and what is said to them."""

    def make(mistake):
        shutil.copytree(BASE, tmp_path, dirs_exist_ok=True)
        monkeypatch.chdir(tmp_path)
        path = tmp_path / mistake.get("file", "pack.yaml")
        before = path.read_text(encoding="utf-8")
        after = mistake.get("whole", before)
        for one in (mistake, mistake.get("also", {})):
            if "was" in one:
                assert after.count(one["was"]) == 1, one
                after = after.replace(one["was"], one["now"])
        path.write_text(after, encoding="utf-8")
        done = run(*COMMANDS[mistake.get("run", "check")])
        changed = [line for line in ndiff(before.splitlines(), after.splitlines()) if line[0] in "-+"]
        return ([f"+ {line}" for line in after.splitlines()] if "whole" in mistake else changed), (done.err + done.out).rstrip("\n")

    return make


def test_the_pack_without_a_mistake_is_clean(shown):
    _, told = shown({"was": "budget: 300", "now": "budget: 301"})
    assert told == "nothing found; 1 more note with --verbose"


def test_the_page_shows_what_is_said(shown, accepting):
    grades = [one.get("grade", "") for one in MISTAKES]
    parts = [HEAD.format(count=len(MISTAKES), **{grade: grades.count(grade) for grade in "ABC"})]
    for one in MISTAKES:
        title = f"## {one['name'][0].upper()}{one['name'][1:]}"
        file = one.get("file", "pack.yaml")
        changed, told = shown(one)
        block = "\n".join(f"{line[0]}{line[2:]}" for line in changed)
        parts.append(f"{title}\n\nIn `{file}`:\n\n```diff\n{block}\n```\n\n```text\n{told}\n```\n\nGrade: {one.get('grade', 'none yet')}\n")
    page = "\n".join(parts)
    if accepting:
        PAGE.write_text(page, encoding="utf-8", newline="\n")
    assert page == PAGE.read_text(encoding="utf-8"), "run `make accept` and read the difference"


def test_most_messages_help():
    assert len(MISTAKES) >= 45
    assert sum(one.get("grade") in ("A", "B") for one in MISTAKES) * 45 >= 41 * len(MISTAKES)
