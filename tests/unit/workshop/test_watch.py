"""`wait_for_change`: what counts as a change, and that nothing is missed."""

import threading
import time

import pytest

from promptc.files.reading import list_folder, list_stamps, note_beyond, note_looks, read_file, read_mode, read_stamp

pytest.importorskip("watchfiles")

from promptc.workshop.watch import list_watched, wait_for_change


def look(folder):
    def work():
        read_file(folder / "read", 100)
        for name in ("missing", "no/such/folder/file"):
            with pytest.raises(OSError, match="No such"):
                read_file(folder / name, 100)
        list_folder(folder / "listed")
        list_stamps(folder / "cases", ".new")
        read_stamp(folder / "store.db")
        note_beyond()

    return note_looks(work)[1]


@pytest.fixture
def folder(tmp_path):
    for name in ("read", "listed/a", "cases/one/case.yaml", "cases/.hidden/x", "store.db", "beside"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    return tmp_path


def replace(folder, name):
    (folder / "other").write_text("y", encoding="utf-8")
    (folder / "other").replace(folder / name)


def make(folder, name):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("yy", encoding="utf-8")


CHANGES = {
    "written": (make, "read", ["read"]),
    "replaced": (replace, "read", ["read"]),
    "gone": (lambda folder, name: (folder / name).unlink(), "read", ["read"]),
    "made": (make, "missing", ["missing"]),
    "made with its folders": (make, "no/such/folder/file", ["no/such/folder/file"]),
    "listed": (make, "listed/b", ["listed"]),
    "stamped": (make, "store.db", ["store.db"]),
    "a case": (make, "cases/one/case.yaml", ["cases/one/case.yaml"]),
    "a new case": (make, "cases/two/case.yaml", ["cases/two/case.yaml"]),
}
NONE = {"a pending golden": "cases/one/golden.txt.new", "a hidden file": "cases/one/.swp", "another file": "beside", "the same": ""}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_before_it_waits_is_told(name, folder):
    act, path, told = CHANGES[name]
    looks = look(folder)
    act(folder, path)
    assert wait_for_change(looks) == [str(folder / one) for one in told]


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_while_it_waits_is_told(name, folder):
    act, path, told = CHANGES[name]
    looks, found = look(folder), []
    waiting = threading.Thread(target=lambda: found.append(wait_for_change(looks)), daemon=True)
    waiting.start()
    time.sleep(0.3)  # it may wait by now; where it does not, the test is that above
    act(folder, path)
    waiting.join(60)
    assert found == [[str(folder / one) for one in told]]


@pytest.mark.parametrize("wrong", [OSError(28, "OS file watch limit reached"), PermissionError(13, "no"), RuntimeError("no more watchers")])
def test_where_the_system_watches_no_more_the_files_are_looked_at(wrong, folder, monkeypatch):
    from promptc.workshop import watch

    def refuse(*_, **__):
        raise wrong

    monkeypatch.setattr(watch, "watch", refuse)
    monkeypatch.setattr(watch, "_SECOND", 0.01)
    looks, found = look(folder), []
    waiting = threading.Thread(target=lambda: found.append(wait_for_change(looks)), daemon=True)
    waiting.start()
    time.sleep(0.1)
    make(folder, "read")
    waiting.join(60)
    assert found == [[str(folder / "read")]]


def test_ones_own_output_is_no_change(folder):
    looks = look(folder)
    for name in ("store.db", "cases/one/report.json", "read"):
        make(folder, name)
    assert wait_for_change(looks, lambda path: path.name in ("store.db", "report.json")) == [str(folder / "read")]


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_change_is_not_told(name, folder):
    looks, found = look(folder), []
    waiting = threading.Thread(target=lambda: found.append(wait_for_change(looks)), daemon=True)
    waiting.start()
    time.sleep(0.3)
    if NONE[name]:
        make(folder, NONE[name])
    else:
        (folder / "read").write_text("x", encoding="utf-8")
    time.sleep(0.3)
    assert not found
    make(folder, "store.db")
    waiting.join(60)
    assert found == [[str(folder / "store.db")]]


def test_the_files_that_are_watched_are_those_that_were_read(folder):
    assert list_watched(look(folder)) == sorted(str(folder / one) for one in ("read", "cases/one/case.yaml", "store.db"))


def test_notes_in_notes_are_kept_apart(folder):
    """Also where both have seen the same so far."""

    def inner():
        read_mode(folder / "read")

    def outer():
        _, seen = note_looks(inner)
        read_mode(folder / "beside")
        return seen

    seen, looks = note_looks(outer)
    assert len(seen) == 1 and [look[1][0] for look in looks] == [str(folder / one) for one in ("read", "beside")]
