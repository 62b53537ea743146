"""What `promptc test` knows to have passed, and what a revision leaves out: never a case that would fail."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from promptc.cache import describe_maker
from promptc.golden.verdicts import judge
from tests.cli.conftest import ROOT
from tests.cli.test_test import GOLDEN, PACK, STATE, change_pack, make_case, there

__all__ = ("there",)
SEGMENTS = "segments:\n  - {id: rule/a, scope: rule, content: Be brief.}\n"
WITH_STORE = """\
promptc: 1
name: shop
version: 1.0.0
tokenizer: cl100k_base
budget: 400
stores:
  main: {url: "sqlite:no-such.db"}
sections:
  - id: rules
    items: {from: {segments: {scope: rule}}, text: "{{ item.content }}"}
"""
WITH_INDEX = """\
promptc: 1
name: book
version: 1.0.0
tokenizer: cl100k_base
budget: 400
indexes: {rules: {corpus: "pages/*.md", weights: {words: 1}}}
sections:
  - id: found
    items: {from: {retrieve: {index: rules, query: state.query, floor: 0.01}}, text: "{{ item.text }}"}
"""
PAGE = "# Lamp\n\nThe lamp burns oil.\n"
CHANGED = "0 passed, 3 left out as unchanged\n"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def operations(tmp_path, monkeypatch):
    """A repository with a pack whose operation asks, and a case that passes; its state and its answer lie in neither's folder."""
    folder = tmp_path / "asking"
    given = ROOT / "fixtures/ledger"
    (folder / "packs").mkdir(parents=True)
    shutil.copytree(given / "base", folder / "fixtures/ledger/base")
    shutil.copytree(given / "nothing_left", folder / "fixtures/ledger/asked")
    (folder / "fixtures/answers").mkdir()
    (folder / "fixtures/ledger/asked/answer.json").rename(folder / "fixtures/answers/day.json")
    (folder / "fixtures/ledger/base/state.json").rename(folder / "fixtures/state.json")
    case = folder / "fixtures/ledger/asked/case.yaml"
    text = case.read_text(encoding="utf-8").replace("answer.json", "../../answers/day.json").replace("../base/state", "../../state")
    case.write_text(text, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    monkeypatch.chdir(folder)
    return folder


def test_a_revision_counts_the_answers_to_an_operation(operations, run):
    case = operations / "fixtures/ledger/asked"
    assert run("test", "--ci", "--since", "HEAD", str(case)).out == "0 passed, 1 left out as unchanged\n"
    (operations / "fixtures/answers/day.json").write_text("{}", encoding="utf-8")
    done = run("test", "--ci", "--since", "HEAD", str(case))
    assert done.code == 1 and done.out.endswith("0 passed, 1 failed\n")


def test_a_revision_counts_queries_and_runs_every_command_line(there, run):
    make_case(there, "line")
    (there / "fixtures/tavern/line/case.yaml").write_text("title: a line\nrun: [render, nowhere]\nexpect: {exit: 2}\n", encoding="utf-8")
    (there / "fixtures/tavern/asked").mkdir()
    (there / "fixtures/tavern/asked/case.yaml").write_text("title: q\nrecall: {index: a, queries: ../known.tsv}\n", encoding="utf-8")
    (there / "fixtures/tavern/known.tsv").write_text("x\ty\n", encoding="utf-8")
    git(there, "init", "-q")
    git(there, "add", ".")
    git(there, "commit", "-qm", "first")
    assert run("test", "--ci", "--since", "HEAD").out == "1 passed, 3 left out as unchanged\n"
    (there / "fixtures/tavern/known.tsv").write_text("x\tz\n", encoding="utf-8")
    assert "tavern/asked" in run("test", "--ci", "--since", "HEAD").out


INDEXED = """\
promptc: 1
name: shelf
version: 1.0.0
tokenizer: o200k_base
budget: 200
indexes: {pages: {corpus: "pages/*.md"}}
sections:
  - {id: pages, items: {from: {retrieve: {index: pages, query: state.query, floor: 0}}, text: "{{ item.text }}"}}
"""


@pytest.fixture
def shelf(there, run):
    """A pack that is a file, with an index, and a case of it; under git, but for one state."""
    (there / "shelf/pages").mkdir(parents=True)
    (there / "shelf/small.yaml").write_text(INDEXED, encoding="utf-8")
    (there / "shelf/pages/lamp.md").write_text("# Lamp\n\nThe lamp burns oil.\n", encoding="utf-8")
    for name, state in (("found", "state.json"), ("hidden", "kept.json")):
        (there / f"fixtures/shelf/{name}").mkdir(parents=True)
        (there / f"fixtures/shelf/{state}").write_text('{"query": "lamp oil"}', encoding="utf-8")
        case = f"title: {name}\npack: shelf/small.yaml\nstate: ../{state}\nexpect: {{tokens: '> 3'}}\n"
        (there / f"fixtures/shelf/{name}/case.yaml").write_text(case, encoding="utf-8")
    (there / ".gitignore").write_text("kept.json\n", encoding="utf-8")
    assert run("index", "build", "shelf/small.yaml").code == 0
    git(there, "init", "-q")
    git(there, "add", ".")
    git(there, "commit", "-qm", "first")
    return there


def test_a_revision_counts_documents_and_indexes(shelf, run):
    asked = ("test", "--ci", "--no-cache", "--since", "HEAD", "fixtures/shelf/found")
    assert run(*asked).out == "0 passed, 1 left out as unchanged\n"
    (shelf / "shelf/pages/lamp.md").write_text("# Lamp\n\nThe lamp burns fat.\n", encoding="utf-8")
    assert run("index", "build", "shelf/small.yaml").code == 0
    assert run(*asked).out == "1 passed\n"


def test_a_file_that_git_ignores_differs_from_every_revision(shelf, run):
    assert run("test", "--ci", "--no-cache", "--since", "HEAD", "fixtures/shelf").out == "1 passed, 1 left out as unchanged\n"


def test_a_revision_runs_what_has_a_pack_that_cannot_be_read(shelf, run):
    asked = ("test", "--ci", "--no-cache", "--since", "HEAD", "fixtures/shelf/found")
    (shelf / "shelf/small.yaml").write_text("promptc: 1\nname: [\n", encoding="utf-8")
    git(shelf, "commit", "-qam", "broken")
    done = run(*asked)
    assert done.code == 1 and "left out" not in done.out


def test_a_revision_runs_what_reads_a_store_of_its_own(shop, there, run):
    git(there, "init", "-q")
    git(there, "add", ".")
    git(there, "commit", "-qm", "first")
    assert "left out" in run("test", "--ci", "--since", "HEAD", str(shop)).out
    (shop / "case.yaml").write_text("title: calm\nstate: state.json\nexpect: {exit: 4, errors: [PC0160]}\n", encoding="utf-8")
    git(there, "commit", "-qam", "second")
    assert run("test", "--ci", "--since", "HEAD", str(shop)).out == "1 passed\n"


def test_an_operation_is_remembered_with_its_answers_and_questions(operations, run):
    case = operations / "fixtures/ledger/asked"
    assert run("test", "--ci", str(case)).out == "1 passed\n"
    assert run("test", "--ci", str(case)).out == "1 passed (1 unchanged since)\n"
    question = operations / "fixtures/ledger/base/ask.yaml"
    before = question.read_text(encoding="utf-8")
    question.write_text(f"{before}\n# more\n", encoding="utf-8")
    assert run("test", "--ci", str(case)).out == "1 passed\n"
    (operations / "fixtures/answers/day.json").write_text("{}", encoding="utf-8")
    assert run("test", "--ci", str(case)).code == 1


@pytest.fixture
def shop(there):
    """A pack with a store, and a case that gives it one of a folder."""
    (there / "packs/shop").mkdir()
    (there / "packs/shop/pack.yaml").write_text(WITH_STORE, encoding="utf-8")
    case = there / "fixtures/shop/calm"
    (case.parent / "segments").mkdir(parents=True)
    case.mkdir()
    (case.parent / "segments/rules.yaml").write_text(SEGMENTS, encoding="utf-8")
    (case / "case.yaml").write_text(
        "title: calm\nstate: state.json\ngiven: {stores: {main: ../segments}}\ngolden: [text]\n", encoding="utf-8"
    )
    (case / "state.json").write_text("{}", encoding="utf-8")
    (case / "golden.txt").write_text("Be brief.\n", encoding="utf-8")
    return case


def test_a_store_of_files_is_remembered(there, shop, run):
    assert run("test").out == "3 passed\n"
    assert run("test", "--changed").out == CHANGED
    (shop.parent / "segments/more.md").write_text("---\nid: rule/b\nscope: rule\n---\nBe kind.\n", encoding="utf-8")
    done = run("test", "--changed")
    assert done.code == 1 and "Be kind." in done.out
    (shop.parent / "segments/more.md").unlink()
    assert run("test").out == "3 passed (2 unchanged since)\n"
    (shop.parent / "segments/rules.yaml").write_text(SEGMENTS.replace("brief", "quick"), encoding="utf-8")
    assert run("test", "--ci", "--changed").code == 1


def test_a_file_of_a_store_is_the_cause(there, shop, run):
    git(there, "init", "-q")
    git(there, "add", ".")
    git(there, "commit", "-qm", "first")
    (shop.parent / "segments/rules.yaml").write_text(SEGMENTS.replace("brief", "quick"), encoding="utf-8")
    assert "cause: fixtures/shop/segments/rules.yaml:" in run("test", "--ci", "--no-cache", "shop/calm").out


def test_a_store_that_is_not_given_is_not_remembered(there, shop, run):
    (shop / "case.yaml").write_text("title: calm\nstate: state.json\nexpect: {exit: 4}\n", encoding="utf-8")
    (shop / "golden.txt").unlink()
    assert run("test", "shop/calm").out == run("test", "shop/calm").out == "1 passed\n"


@pytest.fixture
def book(there, run):
    """A pack with an index, a case that asks it, and one that measures it."""
    pack, cases = there / "packs/book", there / "fixtures/book"
    (pack / "pages").mkdir(parents=True)
    (pack / "pack.yaml").write_text(WITH_INDEX, encoding="utf-8")
    (pack / "pages/lamp.md").write_text(PAGE, encoding="utf-8")
    for name in ("asked", "measured"):
        (cases / name).mkdir(parents=True)
    (cases / "asked/case.yaml").write_text("title: asked\nstate: state.json\ngolden: [text]\n", encoding="utf-8")
    (cases / "asked/state.json").write_text('{"query": "the lamp"}', encoding="utf-8")
    (cases / "asked/golden.txt").write_text("The lamp burns oil.\n", encoding="utf-8")
    measured = 'title: measured\nrecall: {index: rules, queries: ../queries.tsv}\nexpect: {recall: ">= 90"}\n'
    (cases / "measured/case.yaml").write_text(measured, encoding="utf-8")
    (cases / "queries.tsv").write_text("what does the lamp burn\tlamp.md#Lamp\n", encoding="utf-8")
    assert run("index", "build", "packs/book").code == 0
    return pack


def test_a_pack_with_an_index_is_remembered_as_long_as_that_is_what_it_was(book, run):
    assert run("test", "fixtures/book").out == "2 passed\n"
    assert run("test", "--changed", "fixtures/book").out == "0 passed, 2 left out as unchanged\n"
    (book / "pages/lamp.md").write_text(PAGE.replace("oil", "wax"), encoding="utf-8")
    stale = run("test", "--ci", "--changed", "fixtures/book")
    assert stale.code == 1 and stale.out.endswith("0 passed, 2 failed\n") and "PC0192" in stale.out
    assert run("index", "build", "packs/book").code == 0
    done = run("test", "--ci", "--changed", "fixtures/book")
    assert done.code == 1 and "wax" in done.out and done.out.endswith("1 passed, 1 failed\n")
    (book / "pages/lamp.md").write_text(PAGE, encoding="utf-8")
    assert run("index", "build", "packs/book").code == 0
    assert run("test", "fixtures/book").out == "2 passed\n"
    assert run("test", "--changed", "fixtures/book").out == "0 passed, 2 left out as unchanged\n"


@pytest.mark.parametrize("change", ["new page", "manifest", "words", "no words", "queries"])
def test_whatever_an_index_is_made_of_counts(book, run, change):
    assert run("test", "fixtures/book").out == "2 passed\n"
    if change == "new page":
        (book / "pages/rope.md").write_text("# Rope\n\nThe rope holds.\n", encoding="utf-8")
    elif change == "manifest":
        next(book.glob("data/**/manifest.json")).write_text("{}", encoding="utf-8")
    elif change == "words":
        next(book.glob("data/**/words.json")).write_text("{}", encoding="utf-8")
    elif change == "no words":
        next(book.glob("data/**/words.json")).unlink()
    else:
        (book.parents[1] / "fixtures/book/queries.tsv").write_text("what does the rope hold\trope.md#Rope\n", encoding="utf-8")
    assert run("test", "--ci", "--changed", "fixtures/book").out.endswith(
        "0 passed, 2 failed\n" if change != "queries" else "0 passed, 1 failed, 1 left out as unchanged\n"
    )


def test_a_case_may_not_measure_a_section_that_does_not_ask_its_index(book, there, run):
    manifest = WITH_INDEX.partition("  - id: found")[0] + "  - {id: rules, text: Be brief.}\n"
    (book / "pack.yaml").write_text(manifest, encoding="utf-8")
    case = there / "fixtures/book/measured/case.yaml"
    case.write_text(case.read_text(encoding="utf-8").replace("index: rules,", "index: rules, section: rules,"), encoding="utf-8")
    assert "PC0732 the section `rules` does not retrieve from the index `rules`" in run("test", "book/measured").out


def test_an_index_that_changes_while_its_cases_run_is_not_taken_as_known(book, run, monkeypatch):
    """What a run has seen and what it is noted under are of one moment, or the note is of the earlier one."""
    from promptc.frontend import corpus

    read = corpus.read_index

    def read_and_change(place):
        built = read(place)
        (book / "pages/lamp.md").write_text(PAGE.replace("oil", "wax"), encoding="utf-8")
        return built

    with monkeypatch.context() as patched:
        patched.setattr(corpus, "read_index", read_and_change)
        run("test", "fixtures/book/asked", "-j", "1")
    done = run("test", "--ci", "--changed", "fixtures/book/asked")
    assert done.code == 1 and "PC0192" in done.out


def test_a_golden_that_was_missing_is_remembered_once_it_is_accepted(there, run):
    make_case(there, "new")
    assert run("test").out.endswith("\n2 passed, 1 new\n") and run("accept", "--all").code == 0
    assert run("test").out == "3 passed (3 unchanged since)\n"


def test_a_pack_that_appears_nearer_is_the_case_s(there, run):
    assert run("test").out == "2 passed\n"
    (there / "fixtures/tavern/pack.yaml").write_text(PACK.replace("You stand", "You sit"), encoding="utf-8")
    done, plain = run("test", "--ci"), run("test", "--ci", "--no-cache")
    assert (done.code, done.out) == (1, plain.out) and "2 failed" in done.out


def test_a_golden_that_became_a_link_is_not_remembered(there, run):
    assert run("test").out == "2 passed\n"
    golden = there / "fixtures/tavern/calm/golden.txt"
    golden.rename(there / "fixtures/tavern/kept.txt")
    golden.symlink_to("../kept.txt")
    done = run("test")
    assert done.code == 1 and "PC0906" in done.out and done.out.endswith("1 passed (1 unchanged since), 1 broken\n")


@pytest.mark.parametrize("kind", ["folder", "pipe"])
@pytest.mark.parametrize("name", ["calm/golden.txt", "state.json", "calm/case.yaml", "calm/golden.inputs.json", "calm/golden.report.json"])
def test_what_is_no_file_breaks_its_cases_only(there, run, kind, name):
    make_case(there, "other", state="state.json", golden=GOLDEN)
    (there / "fixtures/tavern/other/state.json").write_text(json.dumps(STATE), encoding="utf-8")
    assert run("test").out == "3 passed\n"
    path = there / "fixtures/tavern" / name
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    if name.endswith(("golden.inputs.json", "report.json")):
        change_pack(there, "You stand", "You sit")
    done = run("test", "--ci")
    assert done.code == 1 and "tavern/calm" in done.out
    assert ("broken" in done.out) == (name in ("calm/golden.txt", "state.json", "calm/case.yaml"))
    assert "1 passed (1 unchanged since)" in done.out or "3 failed" in done.out or "2 passed" in done.out


@pytest.mark.parametrize("name", ["case.yaml", "golden.txt"])
def test_an_edit_while_it_runs_is_not_taken_as_passed(there, run, monkeypatch, name):
    judge_loaded = judge.judge_loaded
    path = there / "fixtures/tavern/calm" / name

    def judge_and_edit(*given):
        verdict = judge_loaded(*given)
        if verdict.name == "tavern/calm":
            path.write_text(path.read_text(encoding="utf-8").replace("calm", "storm").replace("gulls", "terns"), encoding="utf-8")
        return verdict

    monkeypatch.setattr(judge, "judge_loaded", judge_and_edit)
    assert run("test", "-j", "1").out == "2 passed\n"
    monkeypatch.setattr(judge, "judge_loaded", judge_loaded)
    assert run("test", "--ci").out.endswith("2 passed (1 unchanged since)\n" if name == "case.yaml" else "1 failed\n")


def test_another_package_or_file_of_promptc_is_noticed(there, run, tmp_path, monkeypatch):
    """Versions of what it computes with, and what is shipped that is no code."""
    assert run("test").out == "2 passed\n"
    assert run("test").out == "2 passed (2 unchanged since)\n"
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    (tmp_path / "site/jinja2-99.0.dist-info").mkdir(parents=True)
    (tmp_path / "site/unrelated-1.0.dist-info").mkdir()
    before = describe_maker()
    describe_maker.cache_clear()
    try:
        assert describe_maker() != before
        assert run("test").out == "2 passed\n"
        after = describe_maker()
        (tmp_path / "site/unrelated-2.0.dist-info").mkdir()
        describe_maker.cache_clear()
        assert describe_maker() == after
    finally:
        describe_maker.cache_clear()


def test_a_file_of_promptc_that_is_no_code_counts(tmp_path, monkeypatch):
    from promptc import cache as module

    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/providers.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(module, "_PACKAGE", str(tmp_path))
    before = describe_maker.__wrapped__()
    (tmp_path / "deep/providers.json").write_text("{ }", encoding="utf-8")
    assert describe_maker.__wrapped__() != before
