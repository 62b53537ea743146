"""What a stranger put in the place of a file is neither waited for nor followed, and never more than the limit is read."""

import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from promptc.files import reading as reading
from promptc.files.reading import IrregularError, LinkError, TooLongError, follow_link, read_beginning, read_file, read_given, read_inside

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
    with pytest.raises(LinkError, match="`out` is a link"):
        read_inside(folder, "out/secret", LIMIT)
    (folder / "in" / "round").symlink_to(".")
    with pytest.raises(LinkError, match="`in/round` is a link"):
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
