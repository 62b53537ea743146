"""Whatever fails while a state is rewritten: it is the old one or the new one, and nothing of it is lost."""

import contextlib
import errno
import json
import os
from pathlib import Path

import pytest

from promptc.diag.findings import DiskError
from promptc.files.atomic import name_beside, replace_file
from promptc.operations.archive import list_archives, read_archive
from promptc.operations.edits import make_diff
from promptc.operations.restore import note_path
from promptc.operations.run import run_operation
from promptc.operations.state_file import archive_folder, rewrite_state
from tests.packs import load_pack

ROOT = Path(__file__).resolve().parents[3]
CALLS = ("open", "write", "fsync", "close", "replace", "rename", "unlink", "fchmod", "stat", "lstat", "fstat", "ftruncate", "mkdir")
PACK = "tests/cli/logbook"
STATE = (ROOT / "tests" / "cli" / "logbook" / "state.json").read_bytes()


def _prune(path: Path):
    def make(raw, there):
        return make_diff(load_pack(PACK), run_operation(load_pack(PACK), raw, "prune"), raw, file=there.name)

    return rewrite_state(str(path), make, folder=None, wait=1, purpose="prune")


def _numbers(path: Path):
    """Of the state, and of all that is archived."""
    archived = [element["n"] for file in list_archives(archive_folder(path)) for element in read_archive(file).elements]
    return [entry["n"] for entry in json.loads(path.read_bytes())["entries"]], archived


class _Faults:
    """Lets the call of that number fail, of all that touch the disk."""

    def __init__(self, monkeypatch, number, fault):
        self.seen, self.name = 0, ""
        for name in CALLS:
            monkeypatch.setattr(os, name, self._wrap(getattr(os, name), name, number, fault))

    def _wrap(self, call, name, number, fault):
        def wrapped(*arguments, **named):
            self.seen += 1
            if self.seen != number:
                return call(*arguments, **named)
            self.name = name
            if name == "close":  # it is closed all the same, as the kernel does
                call(*arguments, **named)
            raise fault

        return wrapped  # fmt: skip


FAULTS = [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()]


# contract 9.22
@pytest.mark.parametrize("fault", FAULTS, ids=["full", "broken", "interrupt"])
def test_every_call_that_fails_leaves_the_old_state_or_the_new_one(fault, tmp_path):
    number, outcomes = 0, {"old": 0, "new": 0}
    while True:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "state.json"
        path.write_bytes(STATE)
        with pytest.MonkeyPatch.context() as patched:
            faults = _Faults(patched, number, fault)
            with contextlib.suppress(DiskError, *([KeyboardInterrupt] if isinstance(fault, KeyboardInterrupt) else [])):
                _prune(path)
        kept, archived = _numbers(path)
        assert kept in (list(range(10)), [7, 8, 9]), faults.name
        assert len(kept) == 10 or archived == list(range(7)), faults.name
        assert kept != list(range(10)) or path.read_bytes() == STATE
        outcomes["old" if len(kept) == 10 else "new"] += 1
        _prune(path)
        assert _numbers(path) == ([7, 8, 9], list(range(7))), "once more finishes it, and archives nothing twice"
        assert not [one for one in folder.rglob("*") if ".promptc-" in one.name], f"left behind after {faults.name}"
        if faults.seen < number:
            break
    assert number > 20 and outcomes["old"] > 10 and outcomes["new"] > 1


# contract 9.22
def test_a_state_that_another_writes_meanwhile_is_not_overwritten(tmp_path):
    """By something that takes no lock, such as an editor."""
    path = tmp_path / "state.json"
    path.write_bytes(STATE)

    def make(raw, there):
        change = make_diff(load_pack(PACK), run_operation(load_pack(PACK), raw, "prune"), raw, file=there.name)
        path.write_bytes(b'{"entries": []}')
        return change

    with pytest.raises(DiskError, match="PC0821"):
        rewrite_state(str(path), make, folder=None, wait=1, purpose="prune")
    assert path.read_bytes() == b'{"entries": []}'


def test_mode_and_link_stay(tmp_path):
    path, link = tmp_path / "state.json", tmp_path / "link.json"
    path.write_bytes(STATE)
    path.chmod(0o640)
    link.symlink_to(path)
    _prune(link)
    assert link.is_symlink() and len(json.loads(path.read_bytes())["entries"]) == 3
    (archive,) = list_archives(archive_folder(path))
    assert [one.stat().st_mode & 0o777 for one in (path, archive)] == [0o640, 0o640], "an archive is as private as its state"


def test_what_a_killed_run_left_is_removed(tmp_path):
    path = tmp_path / "state.json"
    path.write_bytes(STATE)
    for name in (path, note_path(path)):
        Path(name_beside(name)).write_bytes(b"half")
    _prune(path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["state.json", "state.json.archive", "state.json.lock", "state.json.note"]


def test_an_archive_that_is_there_is_left_and_a_damaged_one_stops(tmp_path):
    path = tmp_path / "state.json"
    path.write_bytes(STATE)
    (first,) = _prune(path).archives
    path.write_bytes(STATE)
    (second,) = _prune(path).archives
    assert (first.is_new, second.is_new, first.path) == (True, False, second.path)
    path.write_bytes(STATE)
    first.path.write_bytes(first.path.read_bytes()[:-1] + b" ")
    with pytest.raises(DiskError, match="PC0825"):
        _prune(path)
    assert path.read_bytes() == STATE


def test_a_written_file_is_whole_before_it_has_its_name(tmp_path, monkeypatch):
    """Written, then on the disk, then renamed, then the folder on the disk."""
    calls, write, fsync, rename = [], os.write, os.fsync, os.replace
    monkeypatch.setattr(os, "write", lambda opened, data: calls.append("write") or write(opened, data[:7]))
    monkeypatch.setattr(os, "fsync", lambda opened: calls.append("fsync") or fsync(opened))
    monkeypatch.setattr(os, "replace", lambda *names: calls.append("rename") or rename(*names))
    monkeypatch.setattr(os, "rename", lambda *names: calls.append("rename") or rename(*names))
    replace_file(tmp_path / "a", b"0123456789")
    assert calls == ["write", "write", "fsync", "rename", "fsync"]
    assert (tmp_path / "a").read_bytes() == b"0123456789"
