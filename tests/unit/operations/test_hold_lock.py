"""A lock keeps others out for as long as its holder lives, and no longer."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from promptc.diag.findings import DiskError
from promptc.files.lock import hold_lock
from promptc.operations.state_file import lock_state

HOLD = """
import sys, time
from pathlib import Path
from promptc.files.lock import hold_lock
with hold_lock(Path(sys.argv[1]), wait=5, purpose="checkpoint", shown="state.json"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of `tmp_path/state.json`."""
    path = tmp_path / "state.json.lock"
    held = subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE)
    assert held.stdout is not None and held.stdout.readline() == b"held\n"
    yield path, held
    held.kill()
    held.wait()
    held.stdout.close()


# contract 9.21
def test_another_waits_and_is_told_for_whom(holder):
    path, held = holder
    with pytest.raises(DiskError) as raised, hold_lock(path, wait=0.05, purpose="clear", shown="state.json"):
        pass
    (found,) = raised.value.diagnostics
    assert found.code == "PC0820"
    assert f"process {held.pid} (checkpoint)" in found.message and " is using `state.json`" in found.message


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_holder_that_dies_leaves_no_lock(how, holder):
    path, held = holder
    os.kill(held.pid, how)
    held.wait()
    with hold_lock(path, wait=0, purpose="clear", shown="state.json"):
        assert path.read_text() == f"process {os.getpid()} (clear)"


def test_threads_of_one_process_keep_each_other_out(tmp_path):
    inside, most = [], 0

    def work():
        nonlocal most
        for _ in range(20):
            with hold_lock(tmp_path / "lock", wait=30, purpose="x", shown="state.json"):
                inside.append(1)
                most = max(most, len(inside))
                time.sleep(0.0002)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_lock_file_that_is_removed_meanwhile_lets_no_second_one_in(tmp_path, monkeypatch):
    """Who had opened the old file goes on with the new one."""
    path = tmp_path / "lock"
    from promptc.files import lock as module

    tried, lock = [], module._lock

    def remove_once(opened):
        lock(opened)
        if not tried:
            tried.append(opened)
            path.unlink()

    monkeypatch.setattr(module, "_lock", remove_once)
    with hold_lock(path, wait=1, purpose="x", shown="state.json"):
        assert path.exists()
        monkeypatch.setattr(module, "_lock", lock)
        with pytest.raises(DiskError, match="PC0820"), hold_lock(path, wait=0, purpose="y", shown="state.json"):
            pass


def test_all_names_of_a_state_share_a_lock(tmp_path):
    (tmp_path / "there").mkdir()
    state, link = tmp_path / "there" / "state.json", tmp_path / "link.json"
    state.write_text("{}")
    link.symlink_to(state)
    with lock_state(str(link), wait=0, purpose="x") as path:
        assert path == state.resolve()
        with pytest.raises(DiskError, match="PC0820"), lock_state(str(state), wait=0, purpose="y"):
            pass
    assert not (tmp_path / "link.json.lock").exists()


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "lock").symlink_to(victim)
    with pytest.raises(DiskError, match="PC0822"), hold_lock(tmp_path / "lock", wait=0, purpose="x", shown="state.json"):
        pass
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("what", ["folder", "pipe", "nowhere"])
def test_what_cannot_be_locked_is_a_finding(what, tmp_path):
    path = tmp_path / "lock" if what != "nowhere" else tmp_path / "no" / "lock"
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    with pytest.raises(DiskError, match="PC0822"), hold_lock(path, wait=0, purpose="x", shown="state.json"):
        pass


def test_a_folder_that_cannot_be_written_to_is_named_as_that(tmp_path, monkeypatch):
    """And another user's lock file can be used all the same."""
    opened = os.open
    (tmp_path / "lock").touch()

    def refuse(path, flags, *rest):
        if flags & (os.O_CREAT | os.O_RDWR):
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DiskError, match="Permission denied"), hold_lock(tmp_path / "none", wait=0, purpose="x", shown="state.json"):
        pass
    with hold_lock(tmp_path / "lock", wait=0, purpose="x", shown="state.json"):
        pass


def test_a_file_system_without_locks_is_a_finding(tmp_path, monkeypatch):
    from promptc.files import lock as module

    def refuse(opened):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(module, "_lock", refuse)
    with pytest.raises(DiskError, match="No locks available"), hold_lock(tmp_path / "lock", wait=0, purpose="x", shown="state.json"):
        pass


@pytest.mark.parametrize(("what", "code"), [("none", "PC0724"), ("folder", "PC0724"), ("pipe", "PC0823"), ("read-only", "PC0823")])
def test_a_state_that_cannot_be_replaced_leaves_no_lock_file(what, code, tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "read-only":
        path.write_text("{}")
        monkeypatch.setattr(os, "access", lambda *_: False)  # an administrator may write everything
    with pytest.raises(DiskError, match=code), lock_state(str(path), wait=0, purpose="x"):
        pass
    assert not (tmp_path / "state.json.lock").exists()
