"""Files are replaced whole or not at all, and read within bounds, following nothing."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from promptc.files import atomic as replacing
from promptc.files import reading as reading
from promptc.files.atomic import make_folder_beside, name_beside, replace_file, replace_remade, write_folder
from promptc.files.reading import IrregularError, LinkError, TooLongError, follow_link, read_beginning, read_file, read_given, read_inside

_COUNTED = """\
import os, signal, sys
number = int(sys.argv[1])
def wrap(call):
    def wrapped(*args, **named):
        global number
        number -= 1
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **named)
    return wrapped
"""
"""Ends the process at a numbered call of what was wrapped."""

KILL = (
    _COUNTED
    + """\
from promptc.files import atomic as replacing
for name in ("open", "write", "fsync", "close", "replace", "fstat", "lstat", "fchmod"):
    setattr(os, name, wrap(getattr(os, name)))
replacing.replace_file(sys.argv[2], b"new" * 1000, like=sys.argv[2])
"""
)


def _list(folder):
    return sorted(one.name for one in folder.iterdir())


@pytest.mark.parametrize("replace", [replace_file, replace_remade])
def test_the_old_one_or_the_new_one(tmp_path, replace):
    path = tmp_path / "a"
    replace(path, b"one")
    replace(path, b"two")
    assert path.read_bytes() == b"two" and _list(tmp_path) == ["a"]


def test_a_run_that_is_killed_anywhere_leaves_the_old_or_the_new_and_blocks_nobody(tmp_path):
    path, seen = tmp_path / "a", set()
    for number in range(1, 100):
        path.write_bytes(b"old")
        done = subprocess.run([sys.executable, "-c", KILL, str(number), str(path)], check=False, capture_output=True)
        seen.add(path.read_bytes())
        assert path.read_bytes() in (b"old", b"new" * 1000)
        replace_file(path, b"next")
        assert path.read_bytes() == b"next" and _list(tmp_path) == ["a"], f"after call {number}"
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert 8 < number < 99 and len(seen) == 2


def test_what_another_run_is_writing_is_left_alone(tmp_path):
    path = tmp_path / "a"
    with open(name_beside(path), "wb") as other:  # noqa: PTH123
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write(b"half")
        replace_file(path, b"whole")
        assert _list(tmp_path) == sorted([os.path.basename(name_beside(path)), "a"])  # noqa: PTH119
    replace_file(path, b"once more")
    assert _list(tmp_path) == ["a"] and path.read_bytes() == b"once more"


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_a_stranger_put_in_its_place_is_passed_over(tmp_path, kind):
    """And never written to, or removed."""
    victim, place, path = tmp_path / "victim", name_beside(tmp_path / "a"), tmp_path / "a"
    victim.write_bytes(b"theirs")
    if kind == "folder":
        os.mkdir(place)  # noqa: PTH102
    elif kind == "link":
        os.symlink(victim, place)  # noqa: PTH211
    else:
        os.mkfifo(place)
    replace_file(path, b"whole")
    assert path.read_bytes() == b"whole" and victim.read_bytes() == b"theirs" and os.path.lexists(place)


@pytest.fixture
def steal_first(monkeypatch):
    """Lets somebody remove, by a function, what was made, between its making and its locking; gives the list of what was locked."""

    def prepare(remove):
        lock, calls = replacing._lock, []

        def steal(opened):
            calls.append(opened)
            if len(calls) == 1:
                remove()
            return lock(opened)

        monkeypatch.setattr(replacing, "_lock", steal)
        return calls

    return prepare


def test_one_that_another_takes_for_left_is_made_again(tmp_path, steal_first):
    path = tmp_path / "a"
    calls = steal_first(lambda: os.unlink(name_beside(path)))  # noqa: PTH108
    replace_file(path, b"whole")
    assert path.read_bytes() == b"whole" and _list(tmp_path) == ["a"] and len(calls) == 2


def test_a_system_without_locks_writes_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(replacing, "_lock", lambda opened: None)
    path = tmp_path / "a"
    open(name_beside(path), "wb").close()  # noqa: PTH123
    replace_file(path, b"whole")
    assert path.read_bytes() == b"whole"


def test_a_link_in_its_place_is_replaced_and_not_written_through(tmp_path):
    (tmp_path / "victim").write_bytes(b"theirs")
    (tmp_path / "a").symlink_to("victim")
    replace_file(tmp_path / "a", b"ours")
    assert (tmp_path / "victim").read_bytes() == b"theirs" and (tmp_path / "a").read_bytes() == b"ours"


def test_a_long_name_has_room(tmp_path):
    replace_file(tmp_path / ("n" * 255), b"x")
    assert _list(tmp_path) == ["n" * 255]


def test_modes(tmp_path):
    (tmp_path / "like").write_bytes(b"")
    (tmp_path / "like").chmod(0o440)
    replace_file(tmp_path / "a", b"", like=tmp_path / "like")
    replace_remade(tmp_path / "b", b"", mode=0o600)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in "ab"] == [0o440, 0o600]


# --- folders ---

KILL_FOLDER = (
    _COUNTED
    + """\
from pathlib import Path
from promptc.files.atomic import write_folder
for name in ("mkdir", "open", "replace", "close", "fstat", "lstat"):
    setattr(os, name, wrap(getattr(os, name)))
write_folder(Path(sys.argv[2]), {"a/b.md": b"new", "c.md": b"new"}, force=False)
"""
)


def test_a_folder_is_there_whole_or_not_and_what_a_killed_run_left_goes(tmp_path):
    path, left = tmp_path / "made", set()
    for number in range(1, 100):
        done = subprocess.run([sys.executable, "-c", KILL_FOLDER, str(number), str(path)], check=False, capture_output=True)
        assert not path.exists() or sorted(one.name for one in path.rglob("*")) == ["a", "b.md", "c.md"]
        left |= {name for name in _list(tmp_path) if name != "made"}
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        shutil.rmtree(path, ignore_errors=True)
        write_folder(path, {"next.md": b""}, force=False)
        assert _list(tmp_path) == ["made"] and _list(path) == ["next.md"], f"after call {number}"
        shutil.rmtree(path)
    assert 5 < number < 99 and left == {os.path.basename(name_beside(path))}  # noqa: PTH119


def test_a_folder_that_another_run_is_writing_is_left_alone(tmp_path):
    path = tmp_path / "made"
    with make_folder_beside(path) as other:
        write_folder(path, {"a.md": b"ours"}, force=False)
        assert os.path.isdir(other) and _list(path) == ["a.md"]  # noqa: PTH112
        shutil.rmtree(path)
        os.replace(other, path)  # noqa: PTH105
    assert _list(tmp_path) == ["made"]


def test_a_folder_that_fails_is_gone_with_all_in_it(tmp_path):
    def fail():
        with make_folder_beside(tmp_path / "made") as beside:
            os.mkdir(os.path.join(beside, "half"))  # noqa: PTH102, PTH118
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert _list(tmp_path) == []


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_what_stands_in_place_of_a_folder_is_passed_over(tmp_path, kind):
    victim, place = tmp_path / "victim", name_beside(tmp_path / "made")
    victim.mkdir()
    (victim / "theirs").write_bytes(b"")
    if kind == "file":
        open(place, "wb").close()  # noqa: PTH123
    elif kind == "link":
        os.symlink(victim, place)  # noqa: PTH211
    else:
        os.mkfifo(place)
    write_folder(tmp_path / "made", {"a.md": b""}, force=False)
    assert _list(tmp_path / "made") == ["a.md"] and _list(victim) == ["theirs"] and os.path.lexists(place)


def test_a_link_in_what_was_left_is_not_followed(tmp_path):
    victim, place = tmp_path / "victim", name_beside(tmp_path / "made")
    victim.mkdir()
    (victim / "theirs").write_bytes(b"")
    os.mkdir(place)  # noqa: PTH102
    os.symlink(victim, os.path.join(place, "link"))  # noqa: PTH118, PTH211
    write_folder(tmp_path / "made", {"a.md": b""}, force=False)
    assert _list(tmp_path) == ["made", "victim"] and _list(victim) == ["theirs"]


def test_a_folder_that_another_takes_for_left_is_made_again(tmp_path, steal_first):
    path = tmp_path / "made"
    calls = steal_first(lambda: os.rmdir(name_beside(path)))  # noqa: PTH106
    write_folder(path, {"a.md": b""}, force=False)
    assert _list(tmp_path) == ["made"] and len(calls) == 2


# --- What a stranger put in the place of a file is neither waited for nor followed, and never more than the limit is read ---
LIMIT = 1000


@pytest.fixture(params=["stepwise", "checked"])
def way(request, monkeypatch):
    monkeypatch.setattr(reading, "_STEPWISE", request.param == "stepwise")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pack" / "in").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "pack" / "in" / "a").write_bytes(b"content")
    return tmp_path / "pack"


def _read_both(folder, name):
    """By its path, and from the folder; the errors, which are alike."""
    found = []
    for read in (lambda: read_file(folder / name, LIMIT), lambda: read_inside(folder, name, LIMIT)):
        with pytest.raises(OSError) as caught:  # noqa: PT011
            read()
        found.append(caught.value)
    assert type(found[0]) is type(found[1]) and found[0].strerror
    return found[0]


def test_a_file_is_read(folder, way):
    assert read_file(folder / "in" / "a", 7) == read_inside(folder, "in/a", 7) == read_given(folder / "in" / "a", 7) == b"content"
    assert read_beginning(folder / "in" / "a", 3) == b"con"
    (folder / "empty").write_bytes(b"")
    assert read_file(folder / "empty", 0) == read_given(folder / "empty", 0) == b""


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "link", "dead link", "link to a device", "device"])
def test_what_is_no_file_is_refused_at_once(folder, way, kind):
    place = folder / "x"
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(place))
        case "folder":
            place.mkdir()
        case "device":
            try:
                os.mknod(place, 0o20666, os.makedev(1, 5))
            except PermissionError:
                pytest.skip("only an administrator makes devices")
        case _:
            place.symlink_to({"link": "../secret", "dead link": "nowhere", "link to a device": "/dev/zero"}[kind])
    assert isinstance(_read_both(folder, "x"), LinkError if "link" in kind else IrregularError)


def test_a_link_on_the_way_is_not_followed(folder, way):
    (folder / "out").symlink_to("..")
    with pytest.raises(LinkError, match="`out` is a symbolic link"):
        read_inside(folder, "out/secret", LIMIT)
    (folder / "in" / "round").symlink_to(".")
    with pytest.raises(LinkError, match="`in/round` is a symbolic link"):
        read_inside(folder, "in/round/a", LIMIT)


def test_a_link_to_the_folder_itself_is_the_callers(folder, tmp_path, way):
    (tmp_path / "other").symlink_to("pack")
    assert read_inside(tmp_path / "other", "in/a", LIMIT) == b"content"


def test_a_long_file_is_refused_before_it_is_read(folder, way, monkeypatch):
    with (folder / "big").open("wb") as file:
        file.truncate(3_000_000_000)
    read = os.read
    sizes = []
    monkeypatch.setattr(os, "read", lambda opened, size: sizes.append(size) or read(opened, size))
    error = _read_both(folder, "big")
    assert isinstance(error, TooLongError) and error.strerror == "it has more than 1,000 bytes"
    assert sizes == []


def test_a_file_that_says_it_is_shorter_is_bounded_all_the_same():
    """The system's own tell no size."""
    with pytest.raises(TooLongError):
        read_file("/proc/self/status", 100)
    assert read_file("/proc/self/status", 100_000).startswith(b"Name:")


def test_what_was_passed_is_opened_as_it_is(folder, tmp_path):
    (folder / "link").symlink_to("../secret")
    assert read_given(folder / "link", LIMIT) == b"secret"
    assert follow_link(str(folder / "link")) == str(tmp_path / "secret") and follow_link("a/b") == "a/b"
    source, target = os.pipe()
    os.write(target, b"piped")
    os.close(target)
    try:
        assert read_given(f"/dev/fd/{source}", LIMIT) == b"piped"
    finally:
        os.close(source)


def test_an_endless_file_that_was_passed_is_read_up_to_the_limit():
    tracemalloc.start()
    try:
        with pytest.raises(TooLongError):
            read_given("/dev/zero", 5_000_000)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_who_may_have_written_it_is_asked_before_it_is_read(folder):
    assert read_file(folder / "in" / "a", LIMIT, admit=lambda found: found.st_size == 7) == b"content"
    with pytest.raises(PermissionError):
        read_file(folder / "in" / "a", LIMIT, admit=lambda found: found.st_size == 8)


def test_nothing_stays_open(folder, way):
    os.mkfifo(folder / "pipe")
    before = _count_open()
    for name in ("in/a", "pipe", "in", "nowhere/x", "in/a/x"):
        for read in (lambda name: read_file(folder / name, 3), lambda name: read_inside(folder, name, 3)):
            with pytest.raises(OSError):  # noqa: PT011
                read(name)
    assert _count_open() == before


def _count_open():
    return len(list(Path("/proc/self/fd").iterdir()))
