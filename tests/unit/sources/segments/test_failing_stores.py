"""Stores that are missing, damaged, locked, hostile or out of reach: a finding, exit code 4, the file as it was."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from promptc.diag.findings import DiskError, PromptcError
from promptc.diag.frozen import replace
from promptc.model.sources import Segment
from promptc.sources import database, segment_store, server
from promptc.sources.address import read_address
from promptc.sources.segment_store import SegmentStore
from tests.postgres import run_server, url_of

ROWS = tuple(Segment(f"s{number:04}", "core", f"r{number % 7}", "text " * 200) for number in range(300))


@pytest.fixture
def file(tmp_path):
    """A good SQLite store."""
    path = tmp_path / "segments.db"
    SegmentStore(read_address(f"sqlite:{path}")).write(ROWS)
    return path


def _read(path):
    return SegmentStore(read_address(f"sqlite:{path}")).read([("core", ["r1"])])


def _refuse(call):
    with pytest.raises(DiskError) as raised:
        call()
    assert raised.value.exit_code == 4 and raised.value.__cause__ is None
    (found,) = raised.value.diagnostics
    return found


def _state(path):
    return path.read_bytes(), path.stat().st_mtime_ns, sorted(one.name for one in path.parent.iterdir())


@pytest.mark.parametrize(("column", "value"), [("name", b"prompt\xff"), ("sql", b"CREATE TABLE prompt_segments (id \xffTEXT")])
def test_damage_that_is_told_in_bytes_of_the_file(file, column, value):
    with closing(sqlite3.connect(file)) as opened, opened:
        opened.execute("PRAGMA writable_schema = ON")
        opened.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE (' WHERE name = 'prompt_segments'")
        opened.execute(f"UPDATE sqlite_master SET {column} = CAST(? AS TEXT) WHERE name = 'prompt_segments'", (value,))
    before = _state(file)
    store = SegmentStore(read_address(f"sqlite:{file}"))
    for call in (lambda: _read(file), store.load_all, store.check, lambda: store.write(ROWS[:1])):
        assert _refuse(call).code == "PC0161"
    assert _state(file) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"this is not a database.\n", "is not a SQLite database"),
        (b"SQLite format 3\0\x10\0\x01\x01\0", "is damaged"),
        (b"SQLite format 3\0" + b"\xff" * 4096, "is damaged"),
        (b"\0" * 4096, "is not a SQLite database"),
        (b"PK\x03\x04" + b"\0" * 2000, "is not a SQLite database"),
    ],
)
def test_no_database(content, words, tmp_path):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    before = _state(path)
    for call in (lambda: _read(path), lambda: SegmentStore(read_address(f"sqlite:{path}")).write(ROWS)):
        found = _refuse(call)
        assert found.code == "PC0161" and words in found.message
    assert _state(path) == before


def test_an_empty_file_is_no_store_yet(tmp_path):
    (tmp_path / "x.db").touch()
    assert _refuse(lambda: _read(tmp_path / "x.db")).code == "PC0160"
    assert SegmentStore(read_address(f"sqlite:{tmp_path / 'x.db'}")).write(ROWS).added == len(ROWS)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_file_that_was_cut_off(share, file):
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    before = _state(file)
    assert _refuse(lambda: SegmentStore(read_address(f"sqlite:{file}")).load_all()).code == "PC0161"
    assert _state(file) == before


def test_any_overwritten_page_gives_rows_or_a_finding(file):
    content = file.read_bytes()
    for start in range(0, len(content), 4096):
        file.write_bytes(content[:start] + b"\xa5" * 512 + content[start + 512 :])
        assert _find_codes(file) <= {"PC0161", "PC0164", "PC0168"}


def _find_codes(path):
    try:
        _read(path)
        SegmentStore(read_address(f"sqlite:{path}")).load_all()
    except DiskError as error:
        return {one.code for one in error.diagnostics}
    return set()


def test_check_finds_a_damaged_page_that_no_render_reads(file):
    content = file.read_bytes()
    file.write_bytes(content[:-4096] + b"\xa5" * 4096)
    assert _refuse(SegmentStore(read_address(f"sqlite:{file}")).check).code == "PC0161"


def test_nothing_there_is_not_made(tmp_path):
    assert _refuse(lambda: _read(tmp_path / "no.db")).code == "PC0160"
    assert _refuse(lambda: _read(tmp_path / "no" / "no.db")).code == "PC0160"
    assert not list(tmp_path.iterdir())


def test_a_folder_and_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert _refuse(lambda: _read(tmp_path)).code == "PC0161"
    assert _refuse(lambda: _read(tmp_path / "pipe")).code == "PC0161"


def test_a_failed_import_leaves_no_store(tmp_path):
    store = SegmentStore(read_address(f"sqlite:{tmp_path / 'new.db'}"))
    assert _refuse(lambda: store.write([Segment("x", None, None, "no scope")])).code == "PC0164"
    assert _refuse(store.load_all).code == "PC0160" and [one.stat().st_size for one in tmp_path.iterdir()] == [0]
    assert _refuse(lambda: SegmentStore(read_address(f"sqlite:{tmp_path}/no/new.db")).write(ROWS)).code == "PC0168"


def test_a_locked_file(file, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert _refuse(lambda: _read(file)).code == "PC0162"
        assert _refuse(lambda: SegmentStore(read_address(f"sqlite:{file}")).write(ROWS)).code == "PC0162"
    assert _read(file).rows


def test_a_render_does_not_wait_for_a_writer_that_has_not_committed(file):
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM prompt_segments")
        assert len(_read(file).rows) == len([one for one in ROWS if one.ref_id == "r1"])


_VIEWS = {
    "without end": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n < 0",
    "of many rows": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
}


@pytest.mark.parametrize(("name", "code"), [("without end", "PC0168"), ("of many rows", "PC0168")])
def test_a_view_is_stopped(name, code, tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_TURNS_READ", 100_000)
    path = tmp_path / "view.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute(
            f"CREATE VIEW prompt_segments AS SELECT n AS id, 'core' AS scope, NULL AS ref_id, 'x' AS content, '{{}}' AS metadata, "
            f"1 AS active, NULL AS locale, NULL AS version FROM ({_VIEWS[name]})"
        )
    assert _refuse(lambda: SegmentStore(read_address(f"sqlite:{path}")).read([("core", None)])).code == code


def _make_view(path, content, rows):
    with closing(sqlite3.connect(path)) as made:
        made.execute(
            f"CREATE VIEW prompt_segments AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows}) "
            f"SELECT n AS id, 'core' AS scope, NULL AS ref_id, {content} AS content, '{{}}' AS metadata, "
            "1 AS active, NULL AS locale, NULL AS version FROM c"
        )


@pytest.mark.dear
@pytest.mark.parametrize(
    ("content", "rows", "said"),
    [
        ("hex(zeroblob(1000000))", 40, "64000000 bytes"),
        ("replace(hex(zeroblob(100000)), '00', char(128512))", 200, "64000000 bytes"),
        ("(SELECT group_concat(n) FROM c)", 2_000_000, "was stopped"),
    ],
)
def test_a_view_is_bounded_in_bytes(content, rows, said, tmp_path):
    _make_view(tmp_path / "view.db", content, rows)
    found = _refuse(lambda: SegmentStore(read_address(f"sqlite:{tmp_path / 'view.db'}")).read([("core", None)]))
    assert found.code in ("PC0168", "PC0161") and (said in found.message or "4000000" in found.message), found


def test_a_refusal_names_the_limit_of_what_was_read(tmp_path, monkeypatch):
    _make_view(tmp_path / "view.db", "'x'", 30)
    store = SegmentStore(read_address(f"sqlite:{tmp_path / 'view.db'}"))
    monkeypatch.setattr(segment_store, "_SCOPE", replace(segment_store._SCOPE, rows=10))
    monkeypatch.setattr(segment_store, "_STORED", replace(segment_store._STORED, rows=20))
    found = _refuse(lambda: store.read([("core", None)]))
    assert "(10 rows of a scope)" in found.message and "`ref`" in found.help
    found = _refuse(store.load_all)
    assert "(20 rows)" in found.message and "`ref`" not in found.help


_ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (f"SELECT count(*) FROM ({_ENDLESS} SELECT n FROM c)", "seconds of the processor, to write"),
        (f"INSERT INTO other {_ENDLESS} SELECT zeroblob(1000000) FROM c", "a trigger of the file writes far more"),
        ("INSERT INTO other SELECT zeroblob(20000000)", "16000000 bytes"),
    ],
)
def test_a_trigger_is_bounded_when_segments_are_written(made, said, tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_SECONDS_WRITTEN", 1 if "seconds" in said else 30)
    path = tmp_path / "made.db"
    store = SegmentStore(read_address(f"sqlite:{path}"))
    store.write([])
    with closing(sqlite3.connect(path)) as opened:
        opened.executescript(f"CREATE TABLE other (x); CREATE TRIGGER evil AFTER INSERT ON prompt_segments BEGIN {made}; END")
    before = path.read_bytes()
    found = _refuse(lambda: store.write([Segment("a", "core", None, "x", {}, True, None, None, 0)]))
    assert said in found.message and "nothing was changed" in found.help
    with closing(sqlite3.connect(path)) as opened:
        assert opened.execute("SELECT count(*) FROM prompt_segments").fetchall() == [(0,)]
    assert path.read_bytes() == before


def test_a_file_may_grow_by_what_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_ROOM", 100_000)
    store = SegmentStore(read_address(f"sqlite:{tmp_path / 'made.db'}"))
    many = [Segment(f"{n:0200}", "s" * 200, "r" * 200, "x" * (n % 7), {"k": "v" * n}, True, None, None, 0) for n in range(900)]
    assert store.write(many).added == len(many) and store.write([replace(one, content="y") for one in many]).changed == len(many)


def test_a_view_without_end_is_not_pruned(tmp_path, monkeypatch):
    _make_view(tmp_path / "view.db", "'x'", 30)
    with closing(sqlite3.connect(tmp_path / "view.db")) as opened:
        opened.executescript("CREATE TABLE promptc_schemas (name, version); INSERT INTO promptc_schemas VALUES ('prompt_segments', 2)")
    monkeypatch.setattr(segment_store, "_STORED", replace(segment_store._STORED, rows=20))
    store = SegmentStore(read_address(f"sqlite:{tmp_path / 'view.db'}"))
    assert "(20 rows)" in _refuse(lambda: store.write([], prune=True)).message


_LONG_STEPS = ["randomblob(3000000 + n % 9)", "hex(zeroblob(n % 9 + 900000))", "replace(hex(zeroblob(900000)), '00', n % 9)"]


@pytest.mark.parametrize("making", _LONG_STEPS)
def test_a_view_of_few_and_long_steps_is_stopped(making, tmp_path, monkeypatch):
    """A hundred thousand of them are far fewer steps than a view may take, and hours."""
    monkeypatch.setattr(database, "SECONDS", 0.3)
    _make_view(tmp_path / "view.db", f"(SELECT sum(length({making})) FROM c)", 100_000)
    begun = time.process_time()
    found = _refuse(lambda: SegmentStore(read_address(f"sqlite:{tmp_path / 'view.db'}")).read([("core", None)]))
    assert found.code == "PC0168" and "was stopped" in found.message
    assert time.process_time() - begun < 60


def test_a_value_of_a_gigabyte_is_refused(tmp_path):
    path = tmp_path / "view.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute(
            "CREATE VIEW prompt_segments AS SELECT 'a' AS id, 'core' AS scope, NULL AS ref_id, hex(zeroblob(400000000)) AS content, "
            "'{}' AS metadata, 1 AS active, NULL AS locale, NULL AS version"
        )
    assert _refuse(lambda: SegmentStore(read_address(f"sqlite:{path}")).load_all()).code == "PC0161"


def test_values_of_any_kind_are_segments_or_malformed(tmp_path):
    path = tmp_path / "any.db"
    values = (None, 1, 1.5, "", "x", "1", b"\xff\xfe", b"x", "\0", "é" * 300, 2**62, "{}", "de", "1.0.0")
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE prompt_segments (id, scope, ref_id, content, metadata, active, locale, version, priority)")
        good = ["i", "core", None, "x", "{}", 1, None, None, 0]
        for column in range(9):
            for value in values:
                row = [*good[:column], value, *good[column + 1 :]]
                made.execute("INSERT INTO prompt_segments VALUES (?,?,?,?,?,?,?,?,?)", row)
        made.execute("INSERT INTO prompt_segments VALUES ('b', 'core', NULL, CAST(x'ff' AS TEXT), '{}', 1, NULL, NULL, 0)")
    stored = SegmentStore(read_address(f"sqlite:{path}")).load_all()
    assert len(stored.segments) + len(stored.malformed) == 9 * len(values) + 1
    assert {one.why for one in stored.malformed} >= {
        "`content` is not UTF-8 text",
        "`content` holds U+0000",
        "`id` is not a string",
        "`metadata` is not JSON",
    }
    assert all(one.content.encode() and type(one.active) is bool and type(one.priority) is int for one in stored.segments if one.content)


def test_a_path_of_any_characters(tmp_path):
    path = tmp_path / "a?mode=memory#%41 é;.db"
    store = SegmentStore(read_address(f"sqlite:{path}"))
    store.write(ROWS[:1])
    assert path.is_file() and len(store.load_all().segments) == 1
    assert sorted(one.name for one in tmp_path.iterdir()) == [path.name]


def test_threads_share_a_store(file):
    store, wrong = SegmentStore(read_address(f"sqlite:{file}")), []
    wanted = store.read([("core", ["r1", "r2"])])

    def work():
        wrong.extend(1 for _ in range(10) if store.read([("core", ["r1", "r2"])]) != wanted)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert not wrong


# --- servers ---


def test_a_server_that_is_not_there():
    found = _refuse(SegmentStore(read_address("postgresql://me:hunter2@/prompts?host=/no/such/folder")).load_all)
    assert found.code == "PC0163" and "hunter2" not in f"{found}{found.help}"
    assert "postgresql://me@/prompts" in found.message


def test_a_database_and_a_user_that_are_not_there(postgres_socket):
    for url, code in ((url_of(postgres_socket, "nowhere"), "PC0160"), (url_of(postgres_socket, user="nobody:hunter2"), "PC0168")):
        found = _refuse(SegmentStore(read_address(url)).load_all)
        assert found.code == code and "hunter2" not in f"{found}{found.help}"


def test_a_locked_table(postgres, monkeypatch):
    import psycopg

    store = SegmentStore(read_address(postgres))
    store.write(ROWS)
    monkeypatch.setattr(server, "_PATIENCE", 0.05)
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE prompt_segments IN ACCESS EXCLUSIVE MODE")
        assert _refuse(store.load_all).code == "PC0162"
        assert _refuse(lambda: SegmentStore(read_address(postgres)).write(ROWS[:1], prune=True)).code == "PC0162"
    assert len(store.load_all().segments) == len(ROWS)
    store.close()


def test_no_permission(postgres):
    import psycopg

    SegmentStore(read_address(postgres)).write(ROWS[:1])
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS guest")
        admin.execute("CREATE ROLE guest LOGIN")
    store = SegmentStore(read_address(postgres.replace("promptc@", "guest@")))
    assert _refuse(store.load_all).code == "PC0168"
    store.close()


def test_a_lost_server_and_one_that_is_back(postgres):
    """What is in the pool is tried before it is used; a server that ends in between is a finding."""
    import psycopg

    store = SegmentStore(read_address(postgres))
    store.write(ROWS)
    assert store.load_all().segments
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'promptc'"
        )
    assert store.load_all().segments
    store.close()


@pytest.mark.usefixtures("postgres_socket")
def test_a_server_that_ends():
    with run_server() as socket:
        store = SegmentStore(read_address(url_of(socket)))
        store.write(ROWS)
        assert store.load_all().segments
    assert _refuse(store.load_all).code == "PC0163"
    store.close()


def test_json_columns_are_read_as_text(postgres):
    import psycopg

    with psycopg.connect(postgres) as made:
        made.execute("""CREATE TABLE prompt_segments
            (id uuid DEFAULT gen_random_uuid(), scope text, ref_id int,
            content text, metadata jsonb, active bool, locale text, version text)""")
        made.execute(
            "INSERT INTO prompt_segments (scope, ref_id, content, metadata, active) VALUES ('npc', 7, 'x', '{\"b\": 1.50, \"a\": 2}', true)"
        )
    store = SegmentStore(read_address(postgres))
    (row,) = store.read([("npc", None)]).rows
    assert (row.ref_id, list(row.metadata.items()), len(row.id)) == ("7", [("a", 2), ("b", 1.5)], 36)
    store.close()


# --- addresses ---


@pytest.mark.parametrize(
    ("url", "kind", "target", "shown"),
    [
        ("sqlite:a/b.db", "sqlite", "a/b.db", "sqlite:a/b.db"),
        ("sqlite:///a.db", "sqlite", "a.db", "sqlite:a.db"),
        ("sqlite:////tmp/a.db", "sqlite", "/tmp/a.db", "sqlite:/tmp/a.db"),
        ("SQLite:/tmp/a.db", "sqlite", "/tmp/a.db", "sqlite:/tmp/a.db"),
        ("postgres://u:p@h:1/d", "postgresql", "postgresql+psycopg://u:p@h:1/d", "postgresql://u@h:1/d"),
        ("postgresql://h/d?password=secret", "postgresql", "postgresql+psycopg://h/d?password=secret", "postgresql://h/d"),
    ],
)
def test_an_address(url, kind, target, shown):
    address = read_address(url)
    assert (address.kind, address.target, address.shown) == (kind, target, shown)
    assert "secret" not in repr(address) and ":p@" not in repr(address)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "segments.db",
        "sqlite:",
        "sqlite://",
        "sqlite://x.db",
        "sqlite::memory:",
        "mysql://u:secret@h/d",
        "postgresql:secret",
        "postgresql://u:secret@h:port/d",
        "C:\\x",
        "sqlite:\udc80",
    ],
)
def test_no_address(url):
    with pytest.raises(PromptcError) as raised:
        read_address(url)
    assert [one.code for one in raised.value.diagnostics] == ["PC0167"]
    assert "secret" not in str(raised.value) and raised.value.__cause__ is None


@pytest.mark.parametrize("name", ["", "a b", 'a"b', "a;b", "a.b", "ä", "x" * 49, "1a"])
def test_no_name_of_a_table(name):
    with pytest.raises(PromptcError) as raised:
        SegmentStore(read_address("sqlite:x.db"), name)
    assert raised.value.diagnostics[0].code == "PC0167"


def test_a_render_without_stores_imports_no_database():
    wanted = "[one for one in ('sqlalchemy', 'sqlite3', 'psycopg') if one in sys.modules]"
    state = "open('fixtures/sentinel/calm/state.json', 'rb').read()"
    code = f"import sys, promptc; pack = promptc.load('packs/sentinel'); pack.render(pack.load_state({state})); print({wanted})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": "compiler", "PROMPTC_CACHE": ""}
    )
    assert done.stdout == "[]\n"


def test_a_file_needs_no_library_of_servers(file):
    code = f"""
import sys
from promptc.sources.address import read_address
from promptc.sources.segment_store import SegmentStore
store = SegmentStore(read_address("sqlite:{file}"))
store.write(store.read([("core", None)]).rows)
print([one for one in ("sqlalchemy", "psycopg") if one in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": "compiler"})
    assert done.stdout == "[]\n"
