"""SQLite stores with a write-ahead log: read to the last commit, with nothing written beside them."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing

import pytest

from promptc.diag.findings import DiskError
from promptc.model.sources import Segment
from promptc.sources import database
from promptc.sources.address import read_address
from promptc.sources.segment_store import SegmentStore

ROWS = tuple(Segment(f"s{number:03}", "core", None, f"text {number}") for number in range(300))


def _store(path):
    return SegmentStore(read_address(f"sqlite:{path}"))


def _read(path):
    (found,) = _store(path).read([("core", None)]).parts
    return [one.id for one in found]


def _state(folder):
    """The time of the folder is another when anything in it was made or removed, even for a moment."""
    files = {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in folder.iterdir()}
    return folder.stat().st_mtime_ns, files


def _refuse(call):
    with pytest.raises(DiskError) as raised:
        call()
    (found,) = raised.value.diagnostics
    return found


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def path(tmp_path):
    """A store with a log, closed."""
    path = tmp_path / "pack" / "segments.db"
    path.parent.mkdir()
    _store(path).write(ROWS[:100])
    with closing(sqlite3.connect(path)) as made:
        made.execute("PRAGMA journal_mode = WAL")
    return path


def _leave_log(path):
    """As a program leaves it that was killed: the rest of the rows in the log alone."""
    folder = path.parent.parent / "other"
    shutil.copytree(path.parent, folder)
    with closing(sqlite3.connect(folder / path.name)) as other:
        other.execute("PRAGMA wal_autocheckpoint = 0")
        other.executemany(
            "INSERT INTO prompt_segments (id, scope, content, metadata, active) VALUES (?, 'core', ?, '{}', 1)",
            [(one.id, one.content) for one in ROWS[100:]],
        )
        other.commit()
        for ending in ("", "-wal"):
            shutil.copyfile(f"{folder / path.name}{ending}", f"{path}{ending}")


@pytest.mark.parametrize("mode", [0o755, 0o555])
@pytest.mark.parametrize("log", ["none", "empty", "left"])
def test_nothing_is_written_beside_it(log, mode, path, temporary):
    if log == "empty":
        open(f"{path}-wal", "wb").close()  # noqa: PTH123
    elif log == "left":
        _leave_log(path)
    path.parent.chmod(mode)
    before = _state(path.parent)
    assert _read(path) == [one.id for one in (ROWS if log == "left" else ROWS[:100])]
    assert len(_store(path).load_all().segments) == len(_read(path))
    _store(path).check()
    assert _state(path.parent) == before and not list(temporary.iterdir())
    path.parent.chmod(0o755)


def test_a_log_beside_a_file_that_says_it_has_none(path, temporary):
    """A stranger's header does not decide: SQLite opens a log that is there."""
    _leave_log(path)
    raw = bytearray(path.read_bytes())
    raw[18:20] = b"\1\1"
    path.write_bytes(raw)
    before = _state(path.parent)
    _read(path)
    assert _state(path.parent) == before and not list(temporary.iterdir())


@pytest.mark.parametrize("content", [b"\0" * 40, b"\x37\x7f\x06\x82" + b"\xff" * 5000, b"x"])
@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_what_a_stranger_left_beside_it(ending, content, path, temporary):
    with open(f"{path}{ending}", "wb") as file:  # noqa: PTH123
        file.write(content)
    before = _state(path.parent)
    try:
        assert len(_read(path)) == 100
    except DiskError as refused:
        assert refused.diagnostics[0].code in ("PC0161", "PC0168")  # noqa: PT017
    assert _state(path.parent) == before and not list(temporary.iterdir())


def test_a_hot_journal_is_refused_and_left(tmp_path):
    path = tmp_path / "segments.db"
    _store(path).write(ROWS)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA cache_size = 1")
        other.execute("BEGIN")
        other.execute("UPDATE prompt_segments SET content = content || 'x'")
        (tmp_path / "pack").mkdir()
        for ending in ("", "-journal"):
            shutil.copyfile(f"{path}{ending}", f"{tmp_path / 'pack' / path.name}{ending}")
    before = _state(tmp_path / "pack")
    try:
        _read(tmp_path / "pack" / path.name)
    except DiskError as refused:
        assert refused.diagnostics[0].code == "PC0168"  # noqa: PT017
    assert _state(tmp_path / "pack") == before


def test_a_log_that_another_program_writes_is_read_to_its_last_commit(path, temporary):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE prompt_segments SET active = 0 WHERE id = 's000'")
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM prompt_segments")
        assert _read(path) == [one.id for one in ROWS[1:100]]
        other.execute("ROLLBACK")
    assert not list(temporary.iterdir())


def test_an_import_into_it_while_it_is_read(path, temporary):
    """Each reading sees one moment: all rows of an import or none, or says that it was disturbed."""
    line = (
        "import sys; from tests.unit.sources.segments.test_logged_stores import ROWS, _store\n"
        "for turn in range(12): _store(sys.argv[1]).write(ROWS[: 300 if turn % 2 else 100], prune=True)"
    )
    writer = subprocess.Popen([sys.executable, "-c", line, path])
    seen, disturbed = set(), 0
    while writer.poll() is None:
        try:
            seen.add(len(_read(path)))
        except DiskError as refused:
            assert refused.diagnostics[0].code == "PC0162", refused.diagnostics  # noqa: PT017
            disturbed += 1
    assert writer.returncode == 0 and seen <= {100, 300} and seen
    assert len(_read(path)) == 300 and not list(temporary.iterdir())


def _read_around_a_write(path):
    """How many rows are read before and after another program removes them all."""
    with _store(path).hold() as held:
        before = len(held.read([("core", None)], (), None).rows)
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("DELETE FROM prompt_segments")
        return before, len(held.read([("core", None)], (), None).rows)


def test_what_is_held_is_of_one_moment(path, temporary):
    assert _read_around_a_write(path) == (100, 100)
    assert not _read(path) and not list(temporary.iterdir())


def test_a_large_file_that_changes_while_it_is_read(path, temporary, monkeypatch):
    monkeypatch.setattr(database, "MOST_COPIED_AT_REST", path.stat().st_size - 1)
    assert _refuse(lambda: _read_around_a_write(path)).code == "PC0162"
    before = _state(path.parent)
    assert not _read(path) and _state(path.parent) == before and not list(temporary.iterdir())


def test_a_file_that_is_never_at_rest(path, temporary, monkeypatch):
    _leave_log(path)
    monkeypatch.setattr(database, "_PAUSE", 0)
    read_file = database.read_file

    def disturb(name, limit):
        os.utime(path, ns=(0, os.stat(path).st_mtime_ns + 1))  # noqa: PTH116
        return read_file(name, limit)

    monkeypatch.setattr(database, "read_file", disturb)
    assert _refuse(lambda: _read(path)).code == "PC0162" and not list(temporary.iterdir())


def test_what_is_too_large_to_copy(path, temporary):
    _leave_log(path)
    os.truncate(f"{path}-wal", database.MOST_COPIED)
    found = _refuse(lambda: _read(path))
    assert found.code == "PC0168" and "256,000,000 bytes" in found.message and "wal_checkpoint" in found.help
    assert not list(temporary.iterdir())


def test_a_link_that_the_user_passed(path, temporary, tmp_path):
    """SQLite follows it, and so the log is beside what it leads to."""
    _leave_log(path)
    (tmp_path / "link.db").symlink_to(path)
    before = _state(path.parent)
    assert len(_read(tmp_path / "link.db")) == 300
    assert _state(path.parent) == before and not list(temporary.iterdir())
