"""Cases that need an extra: run where it is installed, skipped and counted where it is not, and never made a golden of."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from promptc.golden.cases.case import Case
from promptc.golden.running.environment import EXTRAS, list_lacking, without_extras
from tests.cases.case import ROOT, load_cases
from tests.cli.conftest import START, environment
from tests.cli.test_test import GOLDEN, change_pack, make_case, there  # noqa: F401
from tests.size import read_size

BARE = f"""\
import sys
from promptc.golden.running.environment import EXTRAS
sys.modules.update(dict.fromkeys(name for packages in EXTRAS.values() for name in packages))
{START}
"""
"""promptc where no extra is installed."""

SKIPPED = "2 passed, 1 skipped (retrieval: pip install 'promptc-compiler[retrieval]')\n"


@pytest.fixture
def needy(there):  # noqa: F811
    """A case that requires an extra, without a golden."""
    return make_case(there, "needy", "requires: [retrieval]\n")


def test_it_is_run_where_the_extra_is_installed(needy, run):
    assert run("test").out.endswith("2 passed, 1 new\n")
    assert (needy / "golden.txt.new").read_text(encoding="utf-8") == GOLDEN


# contract 14.5 and 14.15
def test_it_is_skipped_where_it_is_not_and_nothing_is_offered(needy, run):
    with without_extras(["retrieval"]):
        done = run("test")
    assert (done.code, done.out) == (0, SKIPPED) and "review" not in done.err
    assert [path.name for path in needy.iterdir()] == ["case.yaml"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_case_that_would_fail_is_skipped_too(there, needy, run, jobs):  # noqa: F811
    """Its golden was made with the extra."""
    (needy / "golden.txt").write_text("other", encoding="utf-8")
    for at in range(12):
        make_case(there, f"more_{at}", "requires: [retrieval]\n", golden="other")
    with without_extras(["retrieval"]):
        done = run("test", "--ci", "-j", jobs)
    assert done.code == 0 and done.out.startswith("2 passed, 13 skipped (")
    assert run("test", "--ci", "-j", jobs).code == 1


def test_the_table_of_a_run_tells_why_cases_were_skipped(there, needy, run):  # noqa: F811
    make_case(there, "both", "requires: [retrieval, hf]\n", golden="other")
    change_pack(there, "You stand in", "You are in")
    with without_extras(["retrieval", "hf"]):
        table = run("test", "--ci").out.partition("\npassed ")[2].splitlines()
    assert [" ".join(line.split()) for line in table] == [
        "0",
        "failed 2",
        "goldens that differ 2 2 text",
        "skipped 2",
        "for want of hf 1",
        "for want of retrieval 2",
        "",
        "0 passed, 2 failed, 2 skipped (1 hf, 2 retrieval: pip install 'promptc-compiler[hf,retrieval]')",
    ]


# contract 14.15
def test_with_no_skip_it_is_broken(needy, run):
    with without_extras(["retrieval"]):
        done = run("test", "--no-skip")
    assert done.code == 1 and done.out.endswith("2 passed, 1 broken\n")
    assert "BROKEN tavern/needy" in done.out and "fixtures/tavern/needy/case.yaml:3:12: PC0754" in done.out
    assert "pip install 'promptc-compiler[retrieval]'" in done.out
    assert [path.name for path in needy.iterdir()] == ["case.yaml"]


def test_what_is_lacking_is_counted_by_extra_and_installed_at_once(there, needy, run):  # noqa: F811
    make_case(there, "both", "requires: [retrieval, hf]\n", golden=GOLDEN)
    with without_extras(["retrieval", "hf"]):
        done = run("test")
    assert done.out == "2 passed, 2 skipped (1 hf, 2 retrieval: pip install 'promptc-compiler[hf,retrieval]')\n"
    with without_extras(["hf"]):
        assert run("test", "tavern/both").out == "0 passed, 1 skipped (hf: pip install 'promptc-compiler[hf]')\n"


def test_a_golden_that_was_left_pending_is_told_all_the_same(needy, run):
    (needy / "golden.txt.new").write_text("old", encoding="utf-8")
    with without_extras(["retrieval"]):
        done = run("test", "--ci")
    assert done.code == 1 and "PC0923" in done.out


def test_every_report_tells_that_it_was_skipped_and_why(there, needy, run, tmp_path):  # noqa: F811
    why = "the case is skipped: it requires the extra `retrieval`, which is not installed here"
    kinds = ("json", "junit", "sarif", "github", "markdown")
    with without_extras(["retrieval"]):
        done = run("test", "--format", "concise", *(f"--report={kind}={kind}.out" for kind in kinds))
    assert done.code == 0
    assert done.out == f"SKIPPED tavern/needy  fixtures/tavern/needy/case.yaml:3:12: PC0754 {why}\n{SKIPPED}"
    told = {kind: (there / f"{kind}.out").read_text(encoding="utf-8") for kind in kinds}
    whole = json.loads(told["json"])
    (found,) = [one for one in whole["cases"] if one["status"] == "skipped"]
    assert whole["counts"]["skipped"] == 1 and found["findings"][0]["message"] == why and found["lacking"] == ["retrieval"]
    suites = ET.fromstring(told["junit"])
    assert suites.get("skipped") == "1" and suites.get("failures") == "0"
    assert suites.find(".//skipped").get("message") == f"{why}: run `pip install 'promptc-compiler[retrieval]'`"
    (result,) = json.loads(told["sarif"])["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("PC0754", "note")
    assert told["github"].startswith("::notice file=fixtures/tavern/needy/case.yaml,line=3,")
    assert "all 2 prompts are what they were" in told["markdown"]
    assert "1 skipped (`retrieval: pip install 'promptc-compiler[retrieval]'`)" in told["markdown"]


_INDEX = "indexes: {notes: {from: state.seen, text: '{{ item }}', vectors: {encoder: minilm-int8}}}\nsections:\n"
_FOUND = "  - {id: found, items: {from: {retrieve: {index: notes, query: state.place}}, text: '{{ item.text }}'}}\n"


@pytest.mark.parametrize("more", ["", "golden: [text]\n"])
def test_a_failure_for_want_of_an_extra_says_how_to_require_it(there, run, more):  # noqa: F811
    change_pack(there, "sections:\n", _INDEX)
    manifest = there / "packs/tavern/pack.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8") + _FOUND, encoding="utf-8")
    case = there / "fixtures/tavern/calm/case.yaml"
    case.write_text(f"title: calm\nstate: ../state.json\nexpect: {{warnings: []}}\n{more}", encoding="utf-8")
    with without_extras(["retrieval"]):
        done = run("test", "tavern/calm")
    hint = "fixtures/tavern/calm/case.yaml:1:8: PC0754 note: the case was run without the extra `retrieval`, which is not installed here"
    assert (
        done.code == 1
        and hint in done.out
        and "write `requires: [retrieval]` to skip it; or run `pip install 'promptc-compiler[retrieval]'`" in done.out
    )
    case.write_text(case.read_text(encoding="utf-8") + "given: {missing: [retrieval]}\n", encoding="utf-8")
    with without_extras(["retrieval"]):
        assert "PC0754" not in run("test", "tavern/calm").out
    assert "PC0754" not in run("test", "tavern/calm").out


def test_a_case_that_passes_without_an_extra_is_not_told_of_it(there, run):  # noqa: F811
    with without_extras(["retrieval", "hf"]):
        assert run("test").out == "2 passed\n"
        change_pack(there, "You stand in", "You are in")
        assert "PC0754" not in run("test").out


# contract 14.5
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("requires: [retreival]\n", "did you mean `retrieval`?"),
        ("requires: [psycopg]\n", "postgres"),
        ("requires: retrieval\n", "PC0901"),
        ("requires: []\n", "PC0901"),
        ("requires: [llm, hf]\ngiven: {missing: [hf]}\n", "3:17: PC0901 the case requires `hf`, and `given: {missing: [hf]}` hides it"),
    ],
)
def test_what_cannot_be_required(there, run, more, told):  # noqa: F811
    make_case(there, "odd", more, golden=GOLDEN)
    done = run("test", "tavern/odd")
    assert done.code == 1 and "PC0901" in done.out and told in done.out


@pytest.mark.parametrize("name", EXTRAS)
def test_an_extra_is_there_with_all_its_packages(name):
    assert list_lacking(EXTRAS) == ()
    with without_extras([name]):
        assert list_lacking([name]) == list_lacking(EXTRAS) == (name,)
        assert list_lacking([one for one in EXTRAS if one != name]) == ()


def test_an_edit_fails_it_as_any_other(there, needy, run):  # noqa: F811
    run("test")
    run("accept", "--all")
    change_pack(there, "You stand in", "You are in")
    assert run("test").out.endswith("0 passed, 3 failed\n")


@pytest.mark.dear
def test_every_case_of_this_repository_passes_without_the_extras_it_does_not_require():
    """So a newcomer, who has none, sees no failure. A commit runs the cases whose pack has an index or a tokenizer's file."""
    cases = [one for one in load_cases() if Path(one.folder).is_relative_to(ROOT / "fixtures")]
    chosen = [one for one in cases if _has_use_of_extras(one)] if read_size() == "commit" else cases
    needy = [one.name for one in chosen if one.requires]
    assert len(needy) > 30 and len(chosen) > len(needy) + 30
    names = [one.name for one in chosen] if len(chosen) < len(cases) else []
    asked = [sys.executable, "-c", BARE, "test", "--ci", "--no-cache", "-j", "1", "--format", "json", *names]
    done = subprocess.run(asked, capture_output=True, cwd=ROOT, env=environment(), check=False)
    verdicts = {one["name"]: one["status"] for one in json.loads(done.stdout)["cases"]}
    assert {one.name for one in chosen} <= verdicts.keys()
    assert {name: how for name, how in verdicts.items() if how != "passed"} == dict.fromkeys(needy, "skipped")
    assert done.returncode == 0, done.stderr.decode()


def _has_use_of_extras(case: Case) -> bool:
    pack = Path(case.root, case.pack)
    manifests = [pack] if pack.is_file() else sorted(pack.glob("*.yaml"))
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in (*manifests, Path(case.folder, "case.yaml")))
    return any(re.search(r"indexes:|hf:|tiktoken:|requires:", text) for text in texts)
