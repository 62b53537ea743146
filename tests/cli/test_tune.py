"""`promptc tune`: states of every kind, what is written at its place, the gate, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import KEEP, ROOT


@pytest.fixture
def keep(tmp_path, monkeypatch):
    """A pack that may be written to."""
    shutil.copytree(KEEP, tmp_path / "keep")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "keep" / "pack.yaml"


def test_values_are_told_before_they_are_written(run, keep):
    before = keep.read_bytes()
    done = run("tune", "keep", "--try", "sections.lore.budget=77")
    assert done.code == 0 and "→ 77" in done.out and "1 value would change in `keep/pack.yaml`: add `--write`" in done.err
    assert keep.read_bytes() == before


def test_only_the_values_are_written(run, keep):
    before = keep.read_text().splitlines()
    done = run("tune", "keep", "--try", "sections.lore.budget=77", "--try", "budget=999", "--write")
    assert done.code == 0 and "wrote 2 values to `keep/pack.yaml`" in done.err
    differing = [(one, other) for one, other in zip(before, keep.read_text().splitlines(), strict=True) if one != other]
    assert [other.strip().split(": ")[1].split()[0] for _, other in differing] == ["999", "77"]
    again = run("tune", "keep", "--try", "sections.lore.budget=77", "--write")
    assert (again.code, again.out) == (0, "") and "nothing to change" in again.err


def test_values_are_told_as_json(run, keep):
    done = run("tune", "keep", "--try", "sections.lore.budget=77", "--json")
    (told,) = json.loads(done.out)
    assert done.code == 0 and (told["path"], told["new"]) == ("sections.lore.budget", "77") and told["at"].startswith("keep/pack.yaml:")


@pytest.mark.parametrize(
    "asked",
    [
        ["--weight", "sections.nope=3"],
        ["--pin", "foo"],
        ["--total", "9"],
        ["--check", "0"],
        ["--budget", "9"],
        ["--model", "x"],
        ["--mood", "calm"],
        ["--patch", "x"],
        ["--format", "text"],
        ["--set", "/a=1"],
        ["--store", "a=sqlite:b"],
    ],
)
def test_values_that_are_written_at_once_take_no_option_about_prompts(run, keep, asked):
    before = keep.read_bytes()
    done = run("tune", "keep", "--try", "budget=999", "--write", *asked)
    name = "--variant" if asked[0] == "--mood" else asked[0]
    assert done.code == 2 and f"PC0720 `{name}` is about prompts" in done.err
    assert keep.read_bytes() == before


def test_a_value_that_the_pack_cannot_have_is_not_written(run, keep):
    before = keep.read_bytes()
    done = run("tune", "keep", "--try", "budget=0", "--write", "--diagnostics", "json")
    assert done.code == 3 and json.loads(done.err.splitlines()[0])["code"].startswith("PC02")
    assert keep.read_bytes() == before


LARDER = "fixtures/larder"


@pytest.fixture
def larder(tmp_path, monkeypatch):
    """A pack that may be written to, with a file of states and a file for each of them."""
    shutil.copytree(ROOT / LARDER, tmp_path / "larder")
    monkeypatch.chdir(tmp_path)
    for at, line in enumerate(Path("larder/states.jsonl").read_text().splitlines()):
        Path(f"{at}.json").write_text(line)
    return tmp_path / "larder" / "pack.yaml"


def _tune(run, *asked, code=0):
    done = run("tune", "larder", *asked, "--json")
    assert done.code == code, done.err
    return json.loads(done.out)


def test_states_are_files_lines_and_what_is_piped_in(run, larder):
    lines = Path("larder/states.jsonl").read_bytes()
    Path("wrapped.ndjson").write_bytes(b"".join(b'{"id": %d, "state": %s}\n\n' % one for one in enumerate(lines.splitlines())))
    told = _tune(run, "larder/states.jsonl")
    assert told["states"] == told["prompts"] == 12
    assert _tune(run, *(f"{at}.json" for at in range(12))) == told == _tune(run, "wrapped.ndjson")
    done = run("tune", "larder", "-", "--json", stdin=lines)
    assert json.loads(done.out) == told


def test_cases_are_states_and_every_turn_counts(run, monkeypatch):
    monkeypatch.chdir(ROOT)
    told = json.loads(run("tune", "packs/companion", "companion/evening", "companion/calendar", "--json").out)
    assert told["states"] == 2 < told["prompts"] and told["left_out"] == []


def test_what_is_suggested_is_written(run, larder):
    before = larder.read_text().splitlines()
    found = _tune(run, "larder/states.jsonl", "--weight", "sections.talk=5", "--write")["suggestion"]
    lines = {one for one, other in zip(before, larder.read_text().splitlines(), strict=True) if one != other}
    assert len(lines) == len(found["changes"]) == 3
    again = _tune(run, "larder/states.jsonl", "--weight", "sections.talk=5")
    assert again["suggestion"]["held"][0]["kept"] == found["held"][1]["kept"] > found["held"][0]["kept"]


def test_nothing_is_written_where_nothing_is_better(run, larder):
    before = larder.read_bytes()
    done = run("tune", "larder", "larder/states.jsonl", "--write")
    assert done.code == 0 and "nothing to write: no other budget keeps more" in done.err
    assert larder.read_bytes() == before


@pytest.mark.parametrize(("most", "code"), [("0", 1), ("13", 1), ("14", 0)])
def test_the_gate_is_a_share_of_what_is_kept(run, larder, most, code):
    done = run("tune", "larder", "larder/states.jsonl", "--weight", "sections.talk=5", "--check", most)
    assert done.code == code and ("PC0689" in done.err) == bool(code)
    assert "content kept    1,129      1,278  +13.2 %" in done.out


def test_tried_values_are_scored_by_all_states(run, larder):
    found = _tune(run, "larder/states.jsonl", "--try", "sections.stock.budget=80", "--write")
    assert found["is_tried"] and [one["states"] for one in found["suggestion"]["held"]] == [12, 12]
    assert "    budget: 80\n" in larder.read_text()


def test_a_list_is_told_as_the_file_sets_it(run, larder):
    asked = ("larder/states.jsonl", "--try", "truncate=[{evict: {section: orders}}, {evict: {section: talk}}]")
    (told,) = _tune(run, *asked)["suggestion"]["changes"]
    assert told["old"] == '[{"evict":{"section":"talk"}},{"evict":{"section":"orders"}}]'
    assert "not set" not in run("tune", "larder", *asked).out


def test_a_total_that_is_given_is_told_as_that_of_the_prompts(run, larder):
    assert "the prompts have 100 (*)" in run("tune", "larder", "larder/states.jsonl", "--budget", "100").out


def test_a_state_that_the_pack_refuses_is_left_out(run, larder):
    with Path("larder/states.jsonl").open("a") as file:
        file.write('{"stock": [], "orders": [], "guests": [], "talk": [], "larder": 1}\n')
    done = run("tune", "larder", "larder/states.jsonl")
    assert (
        done.code == 0 and "12 states, 12 prompts" in done.out and "1 state left out: the pack refuses larder/states.jsonl:13" in done.out
    )


def test_every_line_fits_its_width(run, larder):
    for width in ("80", "120"):
        done = run("tune", "larder", "larder/states.jsonl", "--total", "200", "--width", width)
        assert max(map(len, done.out.splitlines())) <= int(width)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (["--weight", "talk=2"], "PC0721"),
        (["--weight", "sections.talk=many"], "PC0721"),
        (["--weight", "sections.tlak=2"], "PC0718"),
        (["--pin", "sections.tlak"], "PC0718"),
        (["--check", "-1"], "PC0720"),
        (["--total", "0"], "PC0720"),
        (["--total", "160", "--budget", "100"], "PC0720"),
        (["--try", "sections.stock.bugdet=3"], "PC0201"),
    ],
)
def test_what_nobody_can_mean_is_refused(run, larder, asked, code):
    done = run("tune", "larder", "larder/states.jsonl", *asked)
    assert done.code in (2, 3) and code in done.err


@pytest.mark.parametrize("asked", [["--check", "5"], ["--write"]])
def test_one_state_is_too_few_to_judge_by(run, larder, asked):
    before = larder.read_bytes()
    assert "no budgets are suggested" in run("tune", "larder", "0.json").out
    done = run("tune", "larder", "0.json", "0.json", *asked)
    assert done.code == 2 and "PC0688" in done.err
    assert larder.read_bytes() == before


def test_states_must_be_named_or_found(run, keep):
    done = run("tune", "keep", "--write")
    assert done.code == 2 and "PC0907" in done.err


def test_prompts_of_several_totals_are_not_told_as_of_one(tmp_path, run):
    (tmp_path / "pack.yaml").write_text(
        "promptc: 1\nname: log\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 900\ntruncate: [log]\n"
        "sections: [{id: log, items: {from: 'range(40)', text: 'Entry {{ item }}.'}, overflow: [{evict: {}}]}]\n"
    )
    (tmp_path / "state.json").write_text("{}")
    for name, budget in (("wide", 900), ("tight", 60)):
        (tmp_path / "cases" / name).mkdir(parents=True)
        case = f"title: a total\nstate: ../../state.json\nwith: {{budget: {budget}}}\nexpect: {{exit: 0}}\n"
        (tmp_path / "cases" / name / "case.yaml").write_text(case)
    told = " ".join(run("tune", str(tmp_path)).out.split())
    assert "the prompts have 60 to 900, in the middle 900 (*), and here that of each row" in told
