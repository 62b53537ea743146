"""`promptc segments`: import, export, list, check."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

PACK = """promptc: 1
name: small
version: 1.0.0
tokenizer: chars/4
budget: 100
stores:
  main: {url: "sqlite:segments.db", url_env: PROMPTC_TEST_SEGMENTS}
sections: [{id: rules, text: a}]
"""
CORE = """# Every game has these.
segments:
  - id: core.voice
    scope: core
    version: 1.10.0
    content: |
      You are the narrator.
      Keep to the present tense.
  - {id: core.old, scope: core, active: false, content: Gone.}
"""
MIRA = """---
scope: npc
ref_id: mira
metadata: {key: intro, tier: 0}
locale: de-CH
version: 1.0.0
priority: 2
---
Mira hütet die Lampen.
"""
WRONG = """segments:
  - {id: ok, scope: core, content: A}
  - {id: x, scop: core, content: A}
  - {id: y, scope: core, content: A, version: 1.0}
"""
LONG = """segments:
  - id: an/identifier/that/is/rather/long/for/a/table
    scope: a-scope-of-its-own
    ref_id: 世界世界世界世界
    locale: zh-Hant-TW
    version: 10.20.30-rc.1
    content: 世界
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A pack with a folder of segments, where the command is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROMPTC_TEST_SEGMENTS", raising=False)
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "segments" / "npc").mkdir(parents=True)
    (tmp_path / "segments" / "core.yaml").write_text(CORE, encoding="utf-8")
    (tmp_path / "segments" / "npc" / "mira.de.md").write_bytes(MIRA.encode().replace(b"\n", b"\r\n"))
    (tmp_path / "segments" / "README.txt").write_text("Not a segment.")
    return tmp_path


def _files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_import_then_again(folder, run):
    done = run("segments", "import", "segments")
    assert (done.code, done.out) == (0, "")
    assert done.err == "3 segments in sqlite:segments.db: 3 added, 0 changed, 0 the same\n"
    before = (folder / "segments.db").read_bytes(), (folder / "segments.db").stat().st_mtime_ns
    assert run("segments", "import", "segments").err.endswith("0 added, 0 changed, 3 the same\n")
    assert before == ((folder / "segments.db").read_bytes(), (folder / "segments.db").stat().st_mtime_ns)
    assert run("segments", "import", "segments", "--quiet").err == ""


def test_the_table_is_the_golden(folder, run, golden):
    (folder / "segments" / "long.yaml").write_text(LONG, encoding="utf-8")
    run("segments", "import", "segments")
    done = run("segments", "list")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    golden("segments_list.txt", done.out)
    assert run("segments", "list", "--scope", "none").out == "0 segments\n"


def test_the_list_as_json(folder, run):
    run("segments", "import", "segments")
    found = json.loads(run("segments", "list", "--scope", "npc", "--json").out)
    assert found == {
        "segments": [
            {
                "id": "npc/mira.de",
                "scope": "npc",
                "ref_id": "mira",
                "content": "Mira hütet die Lampen.",
                "metadata": {"key": "intro", "tier": 0},
                "active": True,
                "locale": "de-CH",
                "version": "1.0.0",
                "priority": 2,
            }
        ],
        "malformed": [],
    }


def test_the_export_is_the_golden(folder, run, golden):
    run("segments", "import", "segments")
    done = run("segments", "export")
    assert (done.code, done.err) == (0, "")
    golden("segments_export.txt", done.out)


def test_export_and_import_come_round(folder, run):
    run("segments", "import", "segments")
    assert run("segments", "export", "-o", "out").err == "3 segments written to out\n"
    assert sorted(_files(folder / "out")) == ["core.old.md", "core.voice.md", "npc/mira.de.md"]
    assert _files(folder / "out")["npc/mira.de.md"].decode().endswith("---\nMira hütet die Lampen.\n")
    assert run("segments", "import", "out", "--prune").err.endswith("0 added, 0 changed, 3 the same, 0 removed\n")
    run("segments", "import", "out", "--url", "sqlite:other.db")
    run("segments", "export", "-o", "again", "--url", "sqlite:other.db")
    assert _files(folder / "again") == _files(folder / "out")
    assert run("segments", "export", "-o", "one.yaml").code == 0
    assert (folder / "one.yaml").read_text(encoding="utf-8") == run("segments", "export").out
    assert run("segments", "import", "one.yaml", "--url", "sqlite:third.db").err.startswith("3 segments in sqlite:third.db: 3 added")


def test_an_export_does_not_mix_with_other_files(folder, run):
    run("segments", "import", "segments")
    before = _files(folder)
    done = run("segments", "export", "-o", "segments")
    assert done.code == 4 and "PC0176" in done.err and _files(folder) == before
    assert run("segments", "export", "-o", "segments", "--force").code == 0
    after = _files(folder)
    assert {name: after[name] for name in before if name != "segments/npc/mira.de.md"}.items() <= before.items()
    (folder / "empty").mkdir()
    assert run("segments", "export", "-o", "empty").code == 0 and _files(folder / "empty")
    assert run("segments", "export", "-o", "no/such/out").code == 4
    assert not [name for name in (one.name for one in folder.iterdir()) if name.startswith(".promptc")]


@pytest.mark.parametrize("link", ["npc", "core.old.md"])
def test_an_export_does_not_follow_a_link_in_the_folder(folder, run, link):
    run("segments", "import", "segments")
    outside = folder / "outside"
    outside.mkdir()
    (outside / "core.old.md").write_text("mine", encoding="utf-8")
    (folder / "out").mkdir()
    (folder / "out" / link).symlink_to(outside if link == "npc" else outside / link)
    done = run("segments", "export", "-o", "out", "--force")
    assert done.code == 4 and "PC0725" in done.err and f"out/{link}`: it is a symbolic link" in done.err
    assert _files(outside) == {"core.old.md": b"mine"} and os.listdir(folder / "out") == [link]  # noqa: PTH208


def test_prune_removes_what_is_gone(folder, run):
    run("segments", "import", "segments")
    (folder / "segments" / "core.yaml").unlink()
    assert run("segments", "import", "segments").err.endswith("1 the same\n")
    assert run("segments", "import", "segments", "--prune").err == (
        "1 segment in sqlite:segments.db: 0 added, 0 changed, 1 the same, 2 removed\n"
    )
    assert [one["id"] for one in json.loads(run("segments", "list", "--json").out)["segments"]] == ["npc/mira.de"]


def test_nothing_is_imported_unless_all_is_right(folder, run):
    (folder / "segments" / "wrong.yaml").write_text(WRONG)
    (folder / "segments" / "wrong.md").write_text("---\nscope: core\nlocale: de_CH\n---\nx")
    done = run("segments", "import", "segments")
    assert (done.code, done.out) == (3, "") and not (folder / "segments.db").exists()
    places = [line.partition(": ")[0] for line in done.err.splitlines() if line.startswith("segments/")]
    assert places == ["segments/wrong.md:3:9", "segments/wrong.yaml:3:13", "segments/wrong.yaml:4:47"]
    for code in ("PC0201", "PC0205", "PC0203"):
        assert code in done.err


def test_a_pipe_is_not_waited_for(folder, run):
    os.mkfifo(folder / "segments" / "pipe.md")
    done = run("segments", "import", "segments")
    assert (done.code, done.out) == (4, "") and "PC0724" in done.err and "segments/pipe.md: it is not a regular file" in done.err


def test_check_names_what_is_wrong(folder, run, golden):
    run("segments", "import", "segments")
    assert (run("segments", "check").code, run("segments", "check").out) == (0, "3 segments, nothing found\n")
    with closing(sqlite3.connect("segments.db")) as other, other:
        insert = (
            "INSERT INTO prompt_segments (id, scope, ref_id, content, metadata, locale, version) VALUES (?, 'npc', 'mira', 'x', ?, ?, ?)"
        )
        other.executemany(
            insert, [("list", "[]", None, None), ("no\nline", "{}", "de_CH", None), ("twin", '{"key": "intro"}', "DE-ch", "1.0.0")]
        )
    done = run("segments", "check")
    assert (done.code, done.err) == (1, "")
    golden("segments_check.txt", done.out)
    found = json.loads(run("segments", "check", "--format", "json").out)
    assert [(one["code"], one["level"]) for one in found] == [("PC0172", "warn"), ("PC0172", "warn"), ("PC0173", "error")]
    done = run("segments", "export")
    assert done.code == 1 and done.err.count("PC0172") == 2 and "core.voice" in done.out
    assert run("segments", "list").out.endswith("4 segments, 1 inactive, 2 malformed (`promptc segments check` names them)\n")


def test_what_two_rows_share_is_named_and_nothing_is_lost(folder, run):
    run("segments", "import", "segments")
    with closing(sqlite3.connect("segments.db")) as other, other:
        for table in ("twin", "loose"):
            other.execute(f"CREATE TABLE {table} AS SELECT * FROM prompt_segments WHERE id = 'npc/mira.de'")
        other.execute("UPDATE twin SET id = 'twin'")
        other.execute("INSERT INTO prompt_segments SELECT * FROM twin")
        other.execute("INSERT INTO loose SELECT * FROM loose")
        other.execute("UPDATE loose SET version = '2.0.0' WHERE rowid = 2")
    done = run("segments", "export", "-o", "twins.yaml")
    assert done.code == 1 and "PC0173" in done.err and "4 segments written" in done.err
    assert "PC0173" in run("segments", "import", "twins.yaml", "--url", "sqlite:other.db").err  # the export said so before
    done = run("segments", "check", "--table", "loose")
    assert done.code == 1 and "PC0171" in done.out
    done = run("segments", "export", "--table", "loose", "-o", "out")
    assert (done.code, "PC0171" in done.err) == (3, True) and not (folder / "out").exists()
    done = run("segments", "export", "--table", "loose")
    assert (done.code, "PC0171" in done.err) == (1, True) and done.out.count("- id: npc/mira.de") == 2


# contract 4.30
def test_the_variable_goes_before_the_manifest_and_the_option_before_both(folder, run, monkeypatch):
    monkeypatch.setenv("PROMPTC_TEST_SEGMENTS", "sqlite:from-variable.db")
    run("segments", "import", "segments")
    assert Path("from-variable.db").is_file() and not Path("segments.db").exists()
    run("segments", "import", "segments", "--url", "sqlite:from-option.db")
    run("segments", "import", "segments", "--store", "main", "--url", "sqlite:option-and-store.db", "--table", "other")
    assert Path("from-option.db").is_file() and Path("option-and-store.db").is_file()
    assert run("segments", "list", "--url", "sqlite:option-and-store.db").code == 4
    assert run("segments", "list", "--url", "sqlite:option-and-store.db", "--table", "other").code == 0


# contract 4.30
@pytest.mark.parametrize("url", ["sqlite:../outside.db", "sqlite:/etc/x.db", "sqlite:a/../x.db", "sqlite:link.db"])
def test_a_manifest_names_no_database_outside_its_pack(url, folder, run):
    (folder / "link.db").symlink_to(folder / "elsewhere.db")
    (folder / "pack.yaml").write_text(PACK.replace("sqlite:segments.db", url))
    done = run("segments", "import", "segments")
    assert done.code == 3 and ("PC0150" in done.err or "PC0152" in done.err)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "--store", "mian"], "PC0707"),
        (["list", "--pack", "nowhere"], "PC0154"),
        (["lisst"], "PC0720"),
        (["import"], "PC0720"),
        (["import", "segments", "--table", "a b"], "PC0167"),
        (["import", "nowhere"], "PC0724"),
        (["import", "pack.yaml"], "PC0201"),
    ],
)
def test_what_cannot_be_done(arguments, words, folder, run):
    done = run("segments", *arguments)
    assert done.code in (2, 3, 4) and words in done.err and done.out == ""


def test_several_stores_or_none(folder, run):
    (folder / "pack.yaml").write_text(PACK.replace("  main:", "  other: {url: 'sqlite:other.db'}\n  main:"))
    done = run("segments", "list")
    assert done.code == 2 and "--store" in done.err
    (folder / "pack.yaml").unlink()
    assert run("segments", "list").code == 2


def test_a_password_is_never_printed(folder, run, postgres_socket):
    """Neither one in the manifest, on the command line or in the variable, whatever goes wrong."""
    urls = [f"postgresql://nobody:hunter2@/{name}?host={postgres_socket}" for name in ("postgres", "nowhere")]
    urls += ["postgresql://me:hunter2@/x?host=/nowhere", "postgresql://me:hunter2@h:port/x", "mysql://me:hunter2@h/x", "me:hunter2@h"]
    for url in urls:
        done = run("segments", "list", "--url", url)
        (folder / "pack.yaml").write_text(PACK.replace("sqlite:segments.db", url))
        for one in (
            done,
            run("segments", "list"),
            run("segments", "list", "--diagnostics", "json"),
            run("segments", "list", "--traceback"),
        ):
            assert one.code in (3, 4) and "hunter2" not in one.out + one.err


def test_both_databases_print_the_same(folder, run, postgres):
    printed = []
    for url in ("sqlite:a.db", postgres):
        assert run("segments", "import", "segments", "--url", url).code == 0
        printed.append([run("segments", *rest, "--url", url).out for rest in (["list"], ["list", "--json"], ["export"], ["check"])])
    assert printed[0] == printed[1]
