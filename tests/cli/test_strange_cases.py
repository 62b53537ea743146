"""A stranger's repository: whatever a case says, nothing outside it is read or written, nobody is asked, and no secret is told."""

import os
import string
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptc.golden.cases.case import CaseError
from promptc.golden.cases.confine import choose_fence, choose_root, confine
from promptc.golden.cases.discover import load_case
from promptc.golden.running.environment import prepare_case as make_given
from promptc.golden.running.resources import SuiteResources
from tests.size import count_examples

_SECRET = "sk-this-is-the-key-of-the-caller"
_PACK = """\
promptc: 1
name: strange
version: 1.0.0
tokenizer: cl100k_base
budget: 500
sections:
  - {id: a, text: "hello {{ state.name }}"}
operations:
  prune:
    edits:
      - {keep: /entries, last: 1, archive: entries}
"""
_SEGMENTS = "segments:\n- {id: core/a, scope: core, content: hi}\n"
_TITLE = "title: a case\n"


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository; beside it lies what is not its business."""
    root = tmp_path / "strange"
    (root / ".git").mkdir(parents=True)
    (root / "cases" / "a").mkdir(parents=True)
    (root / "pack.yaml").write_text(_PACK, encoding="utf-8")
    (root / "cases" / "a" / "state.json").write_text('{"name": "Ilse", "entries": [1, 2]}', encoding="utf-8")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text(f'{{"name": "{_SECRET}", "entries": []}}', encoding="utf-8")
    (outside / "pack.yaml").write_text(_PACK.replace("hello", _SECRET), encoding="utf-8")
    (outside / "queries.tsv").write_text(f"{_SECRET}\tx\n", encoding="utf-8")
    (root / "away").symlink_to(outside)
    (root / "cases" / "a" / "away.json").symlink_to(outside / "secret.json")
    monkeypatch.setenv("CALLERS_KEY", _SECRET)
    monkeypatch.setenv("PGPASSWORD", _SECRET)
    monkeypatch.setenv("PROMPTC_SERVER_URL", f"postgresql://me:{_SECRET}@server.invalid/none")
    monkeypatch.chdir(root)
    return root


def _snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}


def _attack(strange: Path, run, text: str, code: str) -> None:
    """The case is refused with that code (none: it may run); nothing is written but beside it, and no secret is told."""
    case = strange / "cases" / "a"
    (case / "case.yaml").write_text(_TITLE + text + "\n", encoding="utf-8")
    before = _snapshot(strange.parent)
    for arguments in (["test", "--no-cache"], ["test", "--ci", "--no-cache"], ["test", "--ci", "--format", "json"]):
        done = run(*arguments)
        assert not code or (done.code == 1 and code in done.out), (text, done.out, done.err)
        assert done.code in (0, 1) and _SECRET not in done.out + done.err
    after = _snapshot(strange.parent)
    pending = {path: content for path, content in after.items() if path not in before}
    assert {path: content for path, content in after.items() if path not in pending} == before
    assert all(path.endswith(".new") and not code and _SECRET.encode() not in content for path, content in pending.items())


_OUTSIDE = (
    "../../../outside/secret.json",
    "./../../../outside/secret.json",
    "../a/../../../outside/secret.json",
    "../../cases/a/../../../outside/secret.json",
    "../../away/secret.json",
    "away.json",
    "../../../../../../../../../../etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "C:/secret.json",
    "..\\\\..\\\\..\\\\outside\\\\secret.json",
)


# contract 14.2
@pytest.mark.sampled
@pytest.mark.parametrize("path", _OUTSIDE)
@pytest.mark.parametrize(
    "text",
    [
        'state: "PATH"\ngolden: [text]',
        'state: {base: "PATH"}\ngolden: [text]',
        'states: [state.json, "PATH"]\ngolden: [text]',
        'states: [{base: "PATH"}, {set: {/name: b}}]\ngolden: [text]',
        'apply: {operation: prune, state: "PATH"}\ngolden: [state]',
        'apply: {operation: prune, state: state.json, answers: {digest: "PATH"}}\ngolden: [state]',
        'recall: {index: rules, queries: "PATH"}\nexpect: {recall: 1}',
        'state: state.json\ngiven: {stores: {main: "PATH"}}',
        'state: state.json\ngiven: {stores: {main: {from: "PATH", sql: [x]}}}',
        'state: state.json\ngiven: {large: {"PATH": 9}}',
        'state: state.json\ngiven: {database: {"PATH": "CREATE TABLE a (b)"}}',
        'state: state.json\ngiven: {link: {"PATH": state.json}}',
        'state: new.json\ngiven: {link: {new.json: "PATH"}}\ngolden: [text]',
        'run: [render, ., "PATH"]\ngolden: [text]',
        'run: [render, "PATH", cases/a/state.json]\ngolden: [text]',
        'run: [check, "PATH"]\ngolden: [diagnostics]',
        'run: [diff, "PATH", cases/a/state.json]\ngolden: [text]',
        'run: [render, ., cases/a/state.json, --store, "main=sqlite:PATH"]\ngolden: [text]',
        'run: [segments, list, "--url=sqlite:PATH"]\ngolden: [text]',
        'run: [apply, ., prune, "PATH"]\ngolden: [text]',
        'run: [apply, ., prune, cases/a/state.json, "-oPATH"]\ngolden: [text]',
        'run: [apply, ., prune, cases/a/state.json, "--output=PATH"]\ngolden: [text]',
        'run: [apply, ., prune, cases/a/state.json, --archive, "PATH"]\ngolden: [text]',
        'run: [apply, ., prune, cases/a/state.json, --answer, "digest=PATH"]\ngolden: [text]',
        'state: state.json\npack: "PATH"\ngolden: [text]',
    ],
)
def test_a_path_that_leads_out_is_refused(strange: Path, run, text: str, path: str) -> None:
    if "run:" in text or "pack:" in text:
        path = path.replace("../../../outside", "../outside").replace("../../away", "away").replace("away.json", "cases/a/away.json")
    is_copy = any(one in text for one in ("apply, .", "segments, list", "link: {new"))
    is_elsewhere = is_copy and ("away" in path or "\\" in path or ":" in path)  # links out of the tree are not in the copy
    _attack(strange, run, text.replace("PATH", path), "" if is_elsewhere else "PC0750")


# contract 14.1
@pytest.mark.parametrize(
    "line",
    [
        '[test, ., -j, "1"]',
        "[test]",
        "[accept, --all]",
        "[reject, --all]",
        "[review]",
        "[pending]",
        "[prune]",
        "[init, new]",
        "[completion, bash]",
        "[render, ., cases/a/state.json, -o, x.txt]",
        "[render, ., cases/a/state.json, -ox.txt]",
        "[render, ., cases/a/state.json, --output, x.txt]",
        "[render, ., cases/a/state.json, --output=x.txt]",
        "[render, -o, x.txt, --, ., cases/a/state.json]",
        "[render, --quiet, -o, x.txt, ., cases/a/state.json]",
        "[--quiet, render, ., cases/a/state.json, --report, x.json]",
        "[map, ., -o, x.md]",
        "[render, ., '-']",
        "[render, '-', cases/a/state.json]",
        "[render, ., cases/a/state.json, --store, 'main=postgresql://evil@server.invalid/db']",
        "[render, ., cases/a/state.json, --store, 'main=POSTGRES://evil@server.invalid/db']",
        "[segments, list, --url, 'postgresql://evil@server.invalid/db']",
        "[segments, import, cases, --url, 'postgresql://evil@server.invalid/db']",
        "[apply, ., prune, cases/a/state.json, --endpoint, 'http://server.invalid/v1', --model, m, --key-env, CALLERS_KEY]",
        "[apply, ., prune, cases/a/state.json, --key-env, CALLERS_KEY]",
        "[--diagnostics, json, apply, ., prune, cases/a/state.json]",
        "[--version]",
        "[--version, render, ., cases/a/state.json]",
        "[--help]",
        "[-h]",
        "[render, --help]",
        "[render, ., cases/a/state.json, -h]",
        "[index, --help]",
        "[index, query, -h]",
        "[segments, --color, never, -h]",
        "[--color, never, render, ., cases/a/state.json]",
        "[--quiet, check, .]",
        "['--', render, ., cases/a/state.json]",
        "['', render]",
        "['@file']",
        "[Render, ., cases/a/state.json]",
        "[rend, ., cases/a/state.json]",
        "[none, ., cases/a/state.json]",
        "[dune]",
        "[test, --nothing]",
        "[init]",
    ],
)
def test_a_command_that_does_more_than_look_is_refused(strange: Path, run, line: str) -> None:
    for claim in ("golden: [text]", "expect: {exit: 0}", "expect: {exit: 2}", "golden: [diagnostics]\nexpect: {exit: 1, errors: [PC0751]}"):
        _attack(strange, run, f"run: {line}\n{claim}", "PC0751")


@pytest.mark.parametrize(
    "line",
    ["[render, ., cases/a/state.json, --color, always, --quiet]", "[render, --diagnostics=json, ., cases/a/state.json, --traceback]"],
)
def test_how_a_command_is_told_may_be_said_behind_it(strange: Path, run, line: str) -> None:
    (strange / "cases" / "a" / "golden.txt").write_text("hello Ilse\n", encoding="utf-8")
    (strange / "cases" / "a" / "case.yaml").write_text(f"{_TITLE}run: {line}\ngolden: [text]\n", encoding="utf-8")
    assert run("test", "--no-cache").out == "1 passed\n"


@pytest.mark.parametrize(
    "line", ["[render, ., cases/a/state.json, --outp, x.txt]", "[map, ., --outp=x.md]", "[render, ., cases/a/state.json, --rep=x]"]
)
def test_an_option_cut_short_is_none(strange: Path, run, line: str) -> None:
    _attack(strange, run, f"run: {line}\nexpect: {{exit: 0}}", "PC0924")


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("PATH", "x", "PC0901"),
        ("CALLERS_KEY", "x", "PC0901"),
        ("DATABASE_URL", "x", "PC0901"),
        ("PROMPTC_CACHE", "cases", "PC0752"),
        ("PROMPTC_CACHE", "", "PC0752"),
        ("PROMPTC_STORE_URL", "postgresql://evil@server.invalid/db", "PC0752"),
        ("PROMPTC_STORE_URL", "host=server.invalid dbname=x", "PC0752"),
        ("PROMPTC_STORE_URL", "sqlite:../outside/x.db", "PC0752"),
        ("PROMPTC_STORE_URL", "sqlite:///etc/x.db", "PC0752"),
    ],
)
def test_a_variable_names_no_server(strange: Path, run, name: str, value: str, code: str) -> None:
    _attack(strange, run, f"state: state.json\ngiven: {{environment: {{{name}: '{value}'}}}}\ngolden: [text]", code)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "wanted",
    [
        "{built: {'../../../*.json': x}}",
        "{built: {'': x}}",
        "{link: {loop: loop}, large: {loop/a: 10}}",
        "{link: {p: q, q: p}, database: {p/a.db: 'CREATE TABLE a (b)'}}",
        "{link: {p: q, q: p, p/r: state.json}}",
        "{large: {a: 90000000, b: 90000000, c: 90000000}}",
        "{database: {a.db: \"VACUUM INTO '../../../outside/x.db'\"}}",
        "{database: {a.db: \"ATTACH '../../../outside/x.db' AS x\"}}",
        "{database: {a.db: \"PRAGMA temp_store_directory = '/tmp'\"}}",
        '{database: {a.db: "CREATE TABLE a AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"}}',
        '{database: {a.db: "CREATE TABLE a AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) AS x FROM c"}}',
        '{database: {a.db: "CREATE TABLE a AS SELECT randomblob(900000000)"}}',
        "{database: {a.db: \"SELECT load_extension('x')\"}}",
    ],
)
def test_what_is_made_is_made_in_the_copy(strange: Path, run, wanted: str) -> None:
    _attack(strange, run, f"state: state.json\ngiven: {wanted}\ngolden: [text]", "PC0")


def test_a_store_by_a_name_that_climbs_is_made_in_its_own_folder(strange: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = strange.parent / "t" / "u"
    below.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(below))
    (strange / "cases" / "a" / "s.yaml").write_text(_SEGMENTS, encoding="utf-8")
    names = ("../made", "../../made", str(strange.parent / "made"))
    stores = ", ".join(f"'{name}': {{from: s.yaml, sql: ['UPDATE prompt_segments SET active = 0']}}" for name in names)
    (strange / "cases" / "a" / "case.yaml").write_text(f"{_TITLE}state: state.json\ngiven: {{stores: {{{stores}}}}}\n", encoding="utf-8")
    with SuiteResources() as resources, make_given(load_case(str(strange / "cases" / "a")), resources) as there:
        assert set(there.stores) == set(names)
        assert not list(strange.parent.rglob("made.db"))


def test_a_link_in_the_tree_does_not_lead_out_of_the_copy(strange: Path, run) -> None:
    """What an operation writes, or reads, would go through it: plainly, by a folder, and by a link that leads to another link."""
    case, outside = strange / "cases" / "a", strange.parent / "outside"
    (case / "plain").symlink_to(outside / "made")
    (case / "folder").symlink_to(outside)
    (case / "x" / "y").mkdir(parents=True)
    (case / "x" / "y" / "top").symlink_to("../../../..")
    (case / "chained").symlink_to("x/y/top/../outside/secret.json")
    (case / "kept").symlink_to("state.json")
    (case / "case.yaml").write_text(_TITLE + "run: [apply, ., prune, cases/a/state.json]\ngolden: [text]\n", encoding="utf-8")
    with SuiteResources() as resources, make_given(load_case(str(case)), resources) as there:
        copied = Path(there.root, "cases", "a")
        links = sorted(path.name for path in copied.rglob("*") if path.is_symlink())
        assert links == ["kept", "top"] and all(path.resolve().is_relative_to(there.root) for path in copied.rglob("*"))
    run("test", "--no-cache", "--ci")
    assert not (outside / "made").exists()


def test_a_command_sees_no_variable_of_the_callers(strange: Path, run) -> None:
    """A pack names the variable of its store: a command of a case does not find it, nor does it change what the caller has."""
    stores = "stores: {main: {url_env: PROMPTC_SERVER_URL}}\n"
    (strange / "pack.yaml").write_text(_PACK + stores, encoding="utf-8")
    (strange / "cases" / "a" / "case.yaml").write_text(
        _TITLE + "run: [segments, list, --pack, .]\nexpect: {exit: 4}\ngolden: [diagnostics]\n", encoding="utf-8"
    )
    before = dict(os.environ)
    done = run("test", "--no-cache")
    told = done.out + done.err + "".join(path.read_text(encoding="utf-8") for path in strange.rglob("*.new"))
    assert "server.invalid" not in told and _SECRET not in told
    assert dict(os.environ) == before


def test_a_case_that_is_a_link_is_not_read(strange: Path, run) -> None:
    (strange / "cases" / "a" / "case.yaml").symlink_to(strange.parent / "outside" / "secret.json")
    done = run("test", "--no-cache")
    assert done.code == 1 and "PC0750" in done.out and _SECRET not in done.out + done.err


# contract 14.1
def test_looking_commands_and_operations_on_a_copy_are_run(strange: Path, run) -> None:
    lines = [
        "[render, ., cases/a/state.json]",
        "[render, ., --, cases/a/state.json]",
        "[explain, ., cases/a/state.json, --why, a]",
        "[eval, ., cases/a/state.json, state.name]",
        "[map, .]",
        "[schema, case]",
        "[rule, PC0750]",
        "[apply, ., --list]",
        "[apply, ., prune, cases/a/state.json, -o, made.json]",
        "[apply, ., prune, cases/a/state.json]",
    ]
    state = strange / "cases" / "a" / "state.json"
    for line in lines:
        (state.parent / "case.yaml").write_text(f"{_TITLE}run: {line}\nexpect: {{exit: 0}}\n", encoding="utf-8")
        done = run("test", "--no-cache", "--ci")
        assert (line, done.code, done.out) == (line, 0, "1 passed\n")
    assert state.read_text(encoding="utf-8") == '{"name": "Ilse", "entries": [1, 2]}' and not (strange / "made.json").exists()


_PARTS = st.one_of(
    st.sampled_from(["..", "..", ".", "", "cases", "a", "away", "in", "~", "state.json", "...", ".. ", "C:", "out", "deep"]),
    st.text(string.printable, max_size=4),
)


@settings(max_examples=count_examples(500), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(_PARTS, max_size=8))
def test_what_is_admitted_lies_inside(strange: Path, parts: list[str]) -> None:
    folder = strange / "cases" / "a"
    if not (folder / "in").is_symlink():
        (folder / "in").symlink_to("..")
        (folder / "out").symlink_to("../../..")
        (folder / "x" / "y" / "z").mkdir(parents=True)
        (folder / "deep").symlink_to("x/y/z")
    path = "/".join(parts)
    try:
        found = confine(path, str(folder), str(strange))
    except CaseError:
        return
    assert Path(os.path.realpath(f"{folder}/{path}")).is_relative_to(strange)
    assert Path(os.path.realpath(found)).is_relative_to(strange)


def test_a_path_is_judged_as_it_is_written_and_as_it_is_followed(strange: Path) -> None:
    """`..` behind a link: of the two readings one stays inside, and whoever opens the file may take the other."""
    folder = strange / "cases" / "a"
    (folder / "x" / "y" / "z").mkdir(parents=True)
    (folder / "deep").symlink_to("x/y/z")
    (folder / "top").symlink_to("../..")
    for path in ("deep/../../../../secret.json", "top/../outside/secret.json"):
        with pytest.raises(CaseError, match="PC0750"):
            confine(path, str(folder), str(strange))


def test_the_fence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = tmp_path / "home" / "loads" / "strange" / "cases" / "a"
    case.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert choose_fence(str(case)) == str(case)
    assert choose_fence(str(case), str(tmp_path / "home" / "loads")) == str(tmp_path / "home" / "loads")
    (tmp_path / "home" / ".git").mkdir()
    (tmp_path / "home" / "packs").mkdir()
    choose_root.cache_clear()
    assert choose_fence(str(case)) == str(case)
    (case.parent.parent / "pack.yaml").write_text("")
    for cached in (choose_root,):
        cached.cache_clear()
    (case.parent.parent / ".git").write_text("gitdir: elsewhere")
    assert choose_fence(str(case), str(tmp_path)) == str(case.parent.parent)


def test_a_repository_that_is_the_home_folder_is_said_to_be_one(strange: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container: what else lies in a home folder is not the case's. Whoever names the folder lets its cases read it."""
    (strange / "pack.yaml").unlink()
    (strange / "cases" / "base").mkdir()
    (strange / "cases" / "a" / "state.json").rename(strange / "cases" / "base" / "state.json")
    (strange / "cases" / "a" / "pack.yaml").write_text(_PACK, encoding="utf-8")
    (strange / "cases" / "a" / "golden.txt").write_text("hello Ilse\n", encoding="utf-8")
    (strange / "cases" / "a" / "case.yaml").write_text(f"{_TITLE}state: ../base/state.json\ngolden: [text]\n", encoding="utf-8")
    assert run("test", "cases/a", "--no-cache").out == "1 passed\n"
    monkeypatch.setenv("HOME", str(strange))
    refused = run("test", "cases/a", "--no-cache")
    assert refused.code == 1 and "PC0750 `../base/state.json` leads out of what the case may read" in refused.out
    assert "the repository is your home folder (`HOME`), or holds it" in refused.out and "`promptc test .`" in refused.out
    for asked in (["."], ["cases"], []):
        assert run("test", *asked, "--no-cache").out == "1 passed\n"
    monkeypatch.setenv("HOME", str(strange.parent))
    assert run("test", "cases/a", "--no-cache").out == "1 passed\n"
    (strange / "cases" / "a" / "case.yaml").write_text(f"{_TITLE}state: ../../../x.json\ngolden: [text]\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(strange.parent / "elsewhere"))
    assert "leads out of the repository" in run("test", "cases/a", "--no-cache").out
