"""Circumstances are made in a copy, and nothing outside it changes."""

import contextlib
import importlib
import os
import sqlite3
from pathlib import Path

import pytest

from promptc.diag.findings import PromptcError
from promptc.golden.cases.case import CaseError
from promptc.golden.cases.discover import load_case
from promptc.golden.running.environment import prepare_case
from promptc.golden.running.resources import SuiteResources
from promptc.text.counters.bpe import check_vocabulary, vocabulary_path

TABLE = "CREATE TABLE kept (name TEXT); INSERT INTO kept VALUES ('one')"


@pytest.fixture
def make(tmp_path):
    """A repository with a case of that `given`, and what lies beside it."""

    def make_case(wanted: str):
        folder = tmp_path / "fixtures/tavern/calm"
        (folder / "notes").mkdir(parents=True)
        (tmp_path / "fixtures/tavern/other").mkdir()
        (tmp_path / "fixtures/tavern/other/case.yaml").write_text("title: other\ncheck: true\n")
        (tmp_path / "fixtures/tavern/state.json").write_text("{}")
        (tmp_path / "packs/tavern").mkdir(parents=True)
        (tmp_path / "packs/tavern/pack.yaml").write_text("promptc: 1\n")
        (folder / "notes/short.md").write_text("short")
        (folder / "away").symlink_to(tmp_path)
        (folder / "case.yaml").write_text(f"title: calm\nstate: ../state.json\ngiven: {wanted}\n")
        return load_case(str(folder))

    return make_case


def read_all(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# contract 14.4
def test_files_links_databases_and_variables(make, tmp_path, monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.delenv("PROMPTC_SEA_URL", raising=False)
    case = make(
        "{large: {notes/short.md: 9, long.md: 3000000}, link: {there.md: notes/short.md}, "
        f"database: {{kept.db: \"{TABLE}\"}}, environment: {{CI: '', PROMPTC_SEA_URL: 'sqlite:sea.db'}}}}"
    )
    before = read_all(tmp_path)
    with SuiteResources() as resources, prepare_case(case, resources) as environment:
        root = Path(environment.root)
        folder = root / "fixtures/tavern/calm"
        assert environment.root != case.root and environment.resources is not resources
        assert (folder / "there.md").read_text() == "short###\n"
        long = (folder / "long.md").read_text()
        assert len(long) == 3000000 and long.endswith("#\n")
        with contextlib.closing(sqlite3.connect(folder / "kept.db")) as opened:
            assert opened.execute("SELECT name FROM kept").fetchall() == [("one",)]
        assert (os.environ["CI"], os.environ["PROMPTC_SEA_URL"]) == ("", "sqlite:sea.db")
        assert sorted(path.name for path in folder.parent.iterdir()) == ["calm", "state.json"]
        assert (root / "packs/tavern/pack.yaml").is_file()
    assert os.environ["CI"] == "true" and "PROMPTC_SEA_URL" not in os.environ
    assert not root.exists()
    assert read_all(tmp_path) == before


# contract 14.4
@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("{large: {away/x.md: 9}}", "`away/x.md` cannot be made"),
        ("{large: {away: 9}}", "`away` cannot be made"),
        ("{large: {nowhere/x.md: 9}}", "`nowhere/x.md` cannot be made"),
        ("{link: {notes: x}}", "`notes` cannot be made"),
        ("{database: {a.db: 'CREATE'}}", "the SQL of `a.db` cannot be run"),
        ("{database: {a.db: \"ATTACH 'other.db' AS other\"}}", "not authorized"),
        ("{held: [state.json]}", "only promptc's own tests"),
        ("{missing: [llm, libyaml]}", "only promptc's own tests can set up `given: {missing: [libyaml]}`"),
    ],
)
def test_what_cannot_be_made(make, tmp_path, wanted, told):
    case = make(wanted)
    before = read_all(tmp_path)
    with pytest.raises(CaseError) as raised, SuiteResources() as resources, prepare_case(case, resources):
        pytest.fail("it was made")
    (found,) = raised.value.diagnostics
    assert found.code == "PC0905" and told in found.message and found.span.file == "fixtures/tavern/calm/case.yaml"
    assert read_all(tmp_path) == before


_MANY = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 10000000)"


@pytest.mark.dear
@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (f"CREATE TEMP TABLE t(a); INSERT INTO t {_MANY} SELECT randomblob(3000000) FROM c", "out of memory"),
        (f"CREATE TABLE t(a); INSERT INTO t {_MANY} SELECT sum(length(randomblob(3000000))) FROM c", "interrupted"),
    ],
)
def test_sql_that_works_without_end_is_stopped(make, monkeypatch, sql, told):
    monkeypatch.setattr("promptc.golden.running.environment.SECONDS", 2)
    with (
        pytest.raises(CaseError) as raised,
        SuiteResources() as resources,
        prepare_case(make(f"{{database: {{a.db: '{sql}'}}}}"), resources),
    ):
        pytest.fail("it was made")
    assert told in raised.value.diagnostics[0].message


# contract 14.4
@pytest.mark.parametrize("name", ["PATH", "GIT_EXTERNAL_DIFF", "EDITOR", "LD_PRELOAD", "ci", "OPENAI_API_KEY", "DATABASE_URL"])
def test_variables_that_start_programs_are_not_for_cases(make, name):
    with pytest.raises(Exception, match="PC0901"):
        make(f"{{environment: {{{name}: x}}}}")


# contract 14.4
@pytest.mark.parametrize(
    ("name", "module"),
    [("llm", "httpx"), ("retrieval", "onnxruntime"), ("hf", "tokenizers"), ("postgres", "psycopg"), ("tiktoken", "tiktoken")],
)
def test_what_is_missing_is_so_for_the_run_alone(make, name, module):
    case = make(f"{{missing: [{name}]}}")
    before = importlib.import_module(module)
    with SuiteResources() as resources, prepare_case(case, resources) as environment:
        with pytest.raises(ImportError):
            importlib.import_module(module)
        assert environment.resources is not resources and environment.root == case.root
    assert importlib.import_module(module) is before


def test_missing_vocabularies_are_so_for_the_run_alone(make):
    case = make("{missing: [vocabularies]}")
    table = vocabulary_path("cl100k_base")
    with SuiteResources() as resources, prepare_case(case, resources), pytest.raises(PromptcError, match="PC0181"):
        check_vocabulary("cl100k_base", vocabulary_path("cl100k_base"))
    assert vocabulary_path("cl100k_base") == table
    check_vocabulary("cl100k_base", table)
