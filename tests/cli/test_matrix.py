"""`promptc matrix` beyond its goldens: its figures are those of `explain`, whatever is compared; revisions; and names that are hostile."""

import csv
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from tests.cli.conftest import PACK, ROOT, STATE


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    """A pack with three cases: two that render, and a command."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "packs/tavern").mkdir(parents=True)
    (tmp_path / "packs/tavern/pack.yaml").write_text(PACK, encoding="utf-8")
    make_case(tmp_path, "calm", "state: ../state.json")
    make_case(tmp_path, "talk", "states: [../state.json, {set: {/seen: [fog]}}]")
    make_case(tmp_path, "map", 'run: ["map", "packs/tavern"]')
    (tmp_path / "fixtures/tavern/state.json").write_text(json.dumps(STATE), encoding="utf-8")
    return tmp_path


def make_case(there, name, body):
    folder = there / "fixtures/tavern" / name
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(f"title: a case\n{body}\nexpect: {{exit: 0}}\n", encoding="utf-8")


def load(run, *asked):
    done = run("matrix", "packs/tavern", "--format", "json", *asked)
    assert done.code == 0
    return json.loads(done.out)


def commit(there):
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a@b.c commit -q -m first"):
        subprocess.run(["git", *line.split()], check=True, cwd=there)


def test_a_row_a_case_and_a_turn_sorted_by_name(run):
    found = load(run)
    assert [(row["case"], row["turn"], row["old"]) for row in found["rows"]] == [
        ("tavern/calm", 0, None),
        ("tavern/talk", 1, None),
        ("tavern/talk", 2, None),
    ]
    assert found["left_out"] == 1 and found["against"] == ""


@pytest.mark.parametrize("tries", [(), ("sections.seen.budget=12",), ("sections.seen=null",)])
def test_figures_are_those_of_explain(run, tries):
    asked = [part for one in tries for part in ("--try", one)]
    new = load(run, *asked)["rows"][0]["new"]
    report = json.loads(run("explain", "packs/tavern", "fixtures/tavern/state.json", "--json", *asked).out)
    assert new["tokens"] == report["tokens"] and new["strain"] is None
    assert set(new["sections"]) == {one["id"] for one in report["sections"]}
    for name, held in new["sections"].items():
        lines = run("explain", "packs/tavern", "fixtures/tavern/state.json", *asked).out.splitlines()
        row = next(line.split() for line in lines if line.startswith(f"{name} "))
        assert str(held["tokens"]) in row[1:3]
    assert sum(one["cut"] for one in new["sections"].values()) == len({item for cut in report["cuts"] for item in cut["items"]})


def test_what_is_tried_stands_beside_the_file_and_totals_are_sums(run):
    found = load(run, "--try", "sections.seen.budget=12")
    plain = load(run)
    assert found["against"] == "the file" and found["tried"] == ["sections.seen.budget=12"]
    assert [row["old"] for row in found["rows"]] == [row["new"] for row in plain["rows"]]
    rows = list(csv.DictReader(io.StringIO(run("matrix", "packs/tavern", "--try", "sections.seen.budget=12", "--format", "csv").out)))
    for section in ("", "place", "seen"):
        own = [row for row in rows if row["section"] == section]
        for name in ("tokens", "cut", "old_tokens", "old_cut"):
            assert int(own[-1][name]) == sum(int(row[name]) for row in own[:-1])


def test_changed_leaves_out_what_is_the_same(run):
    found = load(run, "--try", "sections.seen.budget=12", "--changed")
    assert [row["case"] for row in found["rows"]] == ["tavern/calm", "tavern/talk"] and found["sections"] == ["seen"]
    assert [row["turn"] for row in found["rows"]] == [0, 1]
    same = run("matrix", "packs/tavern", "--try", "sections.seen.budget=40", "--changed")
    assert same.code == 0 and "no case differs" in same.out


def test_a_revision_is_read_from_git_wherever_the_work_is_done(run, there, monkeypatch):
    commit(there)
    manifest = there / "packs/tavern/pack.yaml"
    manifest.write_text(PACK.replace("budget: 40\n", "budget: 12\n"), encoding="utf-8")
    found = load(run, "--rev", "HEAD")
    tried = load(run, "--try", "sections.seen.budget=40")
    assert found["against"] == "HEAD:packs/tavern"
    assert [(row["new"], row["old"]) for row in found["rows"]] == [(row["old"], row["new"]) for row in tried["rows"]]
    both = load(run, "--rev", "HEAD", "--try", "sections.seen.budget=40")
    assert all(row["new"] == row["old"] for row in both["rows"])
    monkeypatch.chdir(there / "packs")
    assert json.loads(run("matrix", "tavern", "--rev", "HEAD", "--format", "json").out)["rows"] == found["rows"]


@pytest.mark.parametrize(
    ("asked", "code", "says"),
    [
        (["--rev", "nowhere"], 4, "PC0742"),
        (["--rev", "HEAD", "--against", "packs/tavern"], 2, "give one of the two"),
        (["--changed"], 2, "there is nothing to compare with"),
        (["--against", "packs/none"], 4, "PC0154"),
        (["--try", "sections.sene.budget=1"], 2, "did you mean `seen`?"),
        (["--try", "sections.seen.budget=x"], 3, "--try sections.seen.budget:1:1"),
        (["-k", "nothing"], 2, "PC0907"),
        (["fixtures/none"], 2, "PC0907"),
    ],
)
def test_what_cannot_be_compared(run, there, asked, code, says):
    commit(there)
    done = run("matrix", "packs/tavern", *asked)
    assert (done.code, done.out) == (code, "") and says in done.err


def test_a_pack_that_the_revision_does_not_have(run, there):
    commit(there)
    shutil.copytree(there / "packs/tavern", there / "packs/inn")
    done = run("matrix", "packs/inn", "fixtures", "--rev", "HEAD")
    assert done.code == 4 and "`HEAD` has no `packs/inn`" in done.err


def test_a_pack_renders_the_cases_of_another(run, there):
    shutil.copytree(there / "packs/tavern", there / "packs/inn")
    path = there / "packs/inn/pack.yaml"
    path.write_text(PACK.replace("You stand in", "At last you are in"), encoding="utf-8")
    found = json.loads(run("matrix", "packs/inn", "packs/tavern", "--against", "packs/tavern", "--format", "json").out)
    assert [row["new"]["tokens"] - row["old"]["tokens"] for row in found["rows"]] == [2, 2, 2]
    assert run("matrix", "packs/inn").code == 2


def test_a_session_that_ends_earlier_on_one_side(run):
    done = run("matrix", "packs/tavern", "-k", "talk", "--try", "budget=9")
    assert done.code == 0 and "PC0532" in done.out
    rows = load(run, "-k", "talk", "--try", "budget=9")["rows"]
    assert [(row["turn"], row["new"] and row["new"]["refused"], row["old"]["refused"]) for row in rows] == [
        (1, "PC0532", ""),
        (2, None, ""),
    ]
    rows = load(run, "-k", "talk", "--try", "sections.place.when=state.seen == ['fog']", "--try", "sections.place.budget=1")["rows"]
    assert [row["new"]["refused"] for row in rows] == ["", "PC0530"] and [row["old"]["refused"] for row in rows] == ["", ""]


def test_no_turn_of_a_session_is_left_out_without_a_word(run, there):
    path = there / "packs/tavern/pack.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("budget: 400", "budget: 9"), encoding="utf-8")
    assert [row["new"] and row["new"]["refused"] for row in load(run, "-k", "talk")["rows"]] == ["PC0532", None]
    done = run("matrix", "packs/tavern", "-k", "talk")
    assert "1 row after the turn at which a session ended is not in the total" in done.out
    for format in ("markdown", "html", "csv"):
        assert run("matrix", "packs/tavern", "-k", "talk", "--format", format).code == 0


def test_a_case_that_cannot_be_read_is_told_and_left_out(run, there):
    make_case(there, "odd", "stat: ../state.json")
    done = run("matrix", "packs/tavern", "--format", "json")
    assert done.code == 0 and "PC0901" in done.err and json.loads(done.out)["left_out"] == 2


class _Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


NAMES = ["<img src=x onerror=alert(1)>", "=cmd()", "a|b`c*d*", "@everyone", "x\u202ey", "{title}", "a\\|@b`"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_text_and_nothing_else(run, there, name):
    make_case(there, name, "state: ../state.json")
    asked = ("matrix", "packs/tavern", "fixtures", "--try", f"sections.seen.note='{name}'")
    page = _Page(run(*asked, "--format", "html").out)
    assert page.tags <= set("html head meta title style body h1 p code div table thead tbody tfoot tr th td small".split())
    assert not [one for one in page.attributes if one.startswith(("on", "src", "href"))]
    shown = f"tavern/{name}".replace("\u202e", "\\u202e")
    assert shown in page.text
    text = run(*asked, "--format", "markdown").out
    rows = [line for line in text.splitlines() if line.startswith(("| `", "| <code>"))]
    assert len(rows) == 4 and all(re.sub(r"\\.", "", line).count("|") == 5 for line in rows)
    assert all(re.sub(r"\\.", "", line).count("`") in (0, 2) for line in rows)
    cells = [row["case"] for row in csv.DictReader(io.StringIO(run(*asked, "--format", "csv").out))]
    assert shown in cells
    assert not any(sign in shown for sign in "\x1b\u202e" for shown in (run(*asked).out, text, page.text, *cells))


def test_a_cell_that_is_a_formula_is_told_as_text():
    from promptc.cli.views.drawing import render_csv

    assert render_csv(("case", "step"), [("=cmd()", -3), ("+1", None), ("@x", 4), ("-x", 5)]) == (
        "case,step\n'=cmd(),-3\n'+1,\n'@x,4\n'-x,5\n"
    )
    assert render_csv(("＠x", "\x1b"), [(" =1+1", "＝1+1"), ("\u3000－1", "\t=1"), ("a=1", "\n=1")]) == (
        "'＠x,\\x1b\n' =1+1,'＝1+1\n'\u3000－1,'    =1\na=1,'\\n=1\n"
    )


@pytest.mark.dear
def test_it_is_as_wide_as_asked(run, monkeypatch):
    monkeypatch.chdir(ROOT)
    for width in (50, 80, 200):
        asked = ("matrix", "packs/helpdesk", "-k", "tight or many_turns", "--try", "sections.conversation.budget=1200", "--quiet")
        lines = run(*asked, "--width", str(width)).out.splitlines()
        assert max(map(len, lines)) <= width
        assert sum(line.startswith("total") for line in lines) == sum(line.startswith("case ") for line in lines)


def test_numbers_stand_under_numbers_in_html(run):
    """The tavern has no strain, so no column holds words but the first."""
    assert "class=t" not in run("matrix", "packs/tavern", "--format", "html").out
