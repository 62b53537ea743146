"""A cache gives back what was kept, or nothing; whatever happens to its folder."""

import os
import shutil
import subprocess
import sys
import threading
from _blake2 import blake2b
from pathlib import Path

import pytest

from promptc import cache as store
from promptc.cache import Cache, open_cache
from tests.contract.sources import ROOT

CONTENT = b"some content" * 20


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def cache(folder):
    return Cache(str(folder))


def _load(cache, name="entry"):
    found = cache.load(name)
    return bytes(found) if found is not None else None


def _find_file(folder):
    (path,) = folder.iterdir()
    return path


def test_what_was_kept_is_there(cache):
    assert _load(cache) is None
    cache.keep("entry", CONTENT)
    cache.keep("other", b"")
    assert (_load(cache), _load(cache, "other"), _load(cache, "third")) == (CONTENT, b"", None)
    cache.keep("entry", b"new")
    assert _load(cache) == b"new"


def test_a_name_may_be_any_text(cache):
    for name in ("a/../b", "\udcff", "x" * 5000, ""):
        cache.keep(name, name.encode("utf-8", "surrogateescape"))
        assert _load(cache, name) == name.encode("utf-8", "surrogateescape")


def test_the_folder_and_its_files_are_the_users_own(cache, folder):
    cache.keep("entry", CONTENT)
    assert folder.stat().st_mode & 0o777 == 0o700 and _find_file(folder).stat().st_mode & 0o777 == 0o600


def test_no_damage_is_read_back(cache, folder):
    cache.keep("entry", CONTENT)
    path = _find_file(folder)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert _load(cache) is None
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert _load(cache) is None
    path.write_bytes(whole + b"\0")
    assert _load(cache) is None
    path.write_bytes(whole)
    assert _load(cache) == CONTENT


@pytest.mark.parametrize(
    "told", [(store, "VERSION", "9.9.9"), (sys, "version", "4.0"), (store, "_PACKAGE", "cli")], ids=lambda told: told[1]
)
def test_another_promptc_or_python_does_not_read_it(cache, told, monkeypatch):
    cache.keep("entry", CONTENT)
    module, name, value = told
    monkeypatch.setattr(module, name, value if name != "_PACKAGE" else f"{store._PACKAGE}/{value}")
    monkeypatch.setattr(store, "_MAKER", [])
    assert _load(cache) is None


def test_an_edited_source_file_makes_another_promptc(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    source = tmp_path / "inner" / "module.py"
    source.write_text("a = 1\n")
    before = store._describe_files(str(tmp_path))
    assert store._describe_files(str(tmp_path)) == before
    source.write_text("a = 10\n")
    assert store._describe_files(str(tmp_path)) != before


def test_a_file_others_may_write_is_not_read(cache, folder):
    cache.keep("entry", CONTENT)
    _find_file(folder).chmod(0o666)
    assert _load(cache) is None


def test_a_file_of_another_user_is_not_read(cache, monkeypatch):
    cache.keep("entry", CONTENT)
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert _load(cache) is None


def test_a_link_is_not_followed(cache, folder, tmp_path):
    cache.keep("entry", CONTENT)
    path = _find_file(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert _load(cache) is None


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_not_read(cache, folder, kind):
    cache.keep("entry", CONTENT)
    path = _find_file(folder)
    path.unlink()
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    assert _load(cache) is None
    cache.keep("entry", CONTENT)  # a folder cannot be replaced, and nothing is said of it
    assert _load(cache) == (None if kind == "folder" else CONTENT)


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o777])
def test_a_folder_open_to_others_is_not_used(folder, mode, monkeypatch):
    folder.mkdir()
    folder.chmod(mode)
    monkeypatch.setenv("PROMPTC_CACHE", str(folder))
    assert open_cache() is None
    Cache(str(folder)).keep("entry", CONTENT)
    assert not list(folder.iterdir())


def test_a_folder_of_another_user_is_not_used(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("PROMPTC_CACHE", str(folder))
    assert open_cache() is not None
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert open_cache() is None


def test_a_folder_that_is_a_link_is_not_used(folder, tmp_path, monkeypatch):
    (tmp_path / "real").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "real")
    monkeypatch.setenv("PROMPTC_CACHE", str(folder))
    assert open_cache() is None


def test_a_folder_that_cannot_be_made_is_none(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PROMPTC_CACHE", str(tmp_path / "file" / "cache"))
    cache = open_cache()
    if cache is not None:
        cache.keep("entry", CONTENT)
        assert _load(cache) is None


def test_a_write_that_fails_leaves_nothing(cache, folder, monkeypatch):
    cache.keep("entry", CONTENT)

    def refuse(*_):
        raise OSError(30, "read-only")

    monkeypatch.setattr(os, "replace", refuse)
    cache.keep("entry", b"new")
    assert _load(cache) == CONTENT and len(list(folder.iterdir())) == 1
    monkeypatch.setattr(os, "open", refuse)
    cache.keep("entry", b"new")
    assert _load(cache) is None


def test_the_oldest_go_first(cache, folder, monkeypatch):
    cache.keep("first", CONTENT)
    size = _find_file(folder).stat().st_size
    os.utime(_find_file(folder), (1, 1))
    monkeypatch.setattr(store, "MAX_FOLDER", 2 * size)
    cache.keep("second", CONTENT)
    assert [_load(cache, name) for name in ("first", "second")] == [CONTENT, CONTENT]
    cache.keep("third", CONTENT)
    assert [_load(cache, name) for name in ("first", "second", "third")] == [None, CONTENT, CONTENT]


def test_what_the_cache_did_not_write_stays(cache, folder, monkeypatch):
    """`PROMPTC_CACHE` may name a folder with other files in it."""
    cache.keep("first", CONTENT)
    half = folder / ".promptc-0123456789ab-0.tmp"
    others = [folder / "thesis.odt", folder / ".profile", folder / "a.promptc"]
    for one in (half, *others):
        one.write_bytes(CONTENT)
        os.utime(one, (1, 1))
    monkeypatch.setattr(store, "MAX_FOLDER", 1)
    cache.keep("second", CONTENT)
    assert sorted(folder.iterdir()) == sorted(others)


def test_what_is_too_large_is_not_kept(cache, monkeypatch):
    monkeypatch.setattr(store, "MAX_FILE", 200)
    cache.keep("entry", CONTENT)
    assert _load(cache) is None


def test_many_may_write_at_once(cache, folder):
    """Threads, which share a process number, and processes."""
    contents = [bytes([number]) * 100_000 for number in range(8)]
    code = "import sys; from promptc.cache import Cache\nfor _ in range(40): Cache(sys.argv[1]).keep('entry', b'p' * 100_000)"
    others = [
        subprocess.Popen([sys.executable, "-c", code, folder], env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")}) for _ in range(2)
    ]
    writers = [threading.Thread(target=lambda content=content: [cache.keep("entry", content) for _ in range(20)]) for content in contents]
    for writer in writers:
        writer.start()
    seen = {_load(cache) for _ in range(300)}
    for writer in writers:
        writer.join()
    assert [other.wait() for other in others] == [0, 0]
    assert seen <= {None, b"p" * 100_000, *contents}
    cache.keep("entry", b"last")
    assert _load(cache) == b"last"


# --- the key ---


def _find_key():
    return Path(os.environ["XDG_STATE_HOME"], "promptc", "key")


@pytest.fixture
def states(tmp_path, monkeypatch):
    """A key of one's own, not yet made."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "states"))
    return tmp_path / "states"


def test_the_key_is_random_and_secret_and_lies_elsewhere(cache, folder, states):
    cache.keep("entry", CONTENT)
    path = _find_key()
    assert path.is_relative_to(states) and not path.is_relative_to(folder)
    assert (len(path.read_bytes()), path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (32, 0o600, 0o700)
    assert path.read_bytes() not in _find_file(folder).read_bytes()
    first = path.read_bytes()
    cache.keep("other", CONTENT)
    assert path.read_bytes() == first and _load(cache) == CONTENT


@pytest.mark.parametrize("guess", [b"", bytes(32), b"promptc".ljust(32, b"\0")], ids=["none", "zeros", "a word"])
def test_an_entry_that_is_right_in_all_but_the_key_is_not_believed(cache, folder, states, guess):
    """Whoever made it knows the form, the name, the versions, and can write here as the user."""
    cache.keep("entry", CONTENT)
    path = _find_file(folder)
    seal_of = blake2b(store._digest_maker() + store._mark("entry"), digest_size=32, key=guess)
    seal_of.update(b"evil")
    path.write_bytes(store._MAGIC + seal_of.digest() + b"evil")
    assert _load(cache) is None
    with_key = blake2b(store._digest_maker() + store._mark("entry"), digest_size=32, key=_find_key().read_bytes())
    with_key.update(b"evil")
    path.write_bytes(store._MAGIC + with_key.digest() + b"evil")
    assert _load(cache) == b"evil", "so the forgery is right but for the key"


def test_an_entry_under_another_name_is_not_believed(cache, folder, states):
    cache.keep("one", CONTENT)
    first = _find_file(folder)
    cache.keep("two", b"other")
    (second,) = [path for path in folder.iterdir() if path != first]
    second.write_bytes(first.read_bytes())
    assert (_load(cache, "one"), _load(cache, "two")) == (CONTENT, None)


@pytest.mark.parametrize("damage", ["gone", "short", "long", "readable", "link", "pipe", "folder open"])
def test_a_key_that_is_not_as_it_was_made_is_none(cache, states, damage, monkeypatch):
    cache.keep("entry", CONTENT)
    path = _find_key()
    content = path.read_bytes()
    match damage:
        case "gone":
            path.unlink()
        case "short" | "long":
            path.write_bytes(content[:-1] if damage == "short" else content + b"x")
        case "readable":
            path.chmod(0o644)
        case "link":
            path.rename(path.with_name("real"))
            path.symlink_to("real")
        case "pipe":
            path.unlink()
            os.mkfifo(path)
        case _:
            path.parent.chmod(0o777)
    monkeypatch.setattr(store, "_KEYS", {})
    assert _load(cache) is None
    cache.keep("entry", b"new")
    assert _load(cache) == (None if damage == "folder open" else b"new"), "another key is made, where one can be kept"


def test_without_a_place_for_a_key_nothing_is_kept(cache, folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for place in (str(tmp_path / "file" / "states"), "/proc/no/such"):
        monkeypatch.setenv("XDG_STATE_HOME", place)
        cache.keep("entry", CONTENT)
        assert _load(cache) is None
    assert not folder.exists() or not list(folder.iterdir())


def test_folders_in_which_others_can_write_hold_no_cache(tmp_path, monkeypatch):
    """They could put a folder of their own in its place. With the sticky bit, as the system's temporary one has it, they cannot."""
    outer = tmp_path / "outer"
    folder = outer / "inner" / "cache"
    monkeypatch.setenv("PROMPTC_CACHE", str(folder))
    for mode, is_used in ((0o777, False), (0o775, False), (0o1777, True), (0o755, True)):
        outer.mkdir(exist_ok=True)
        outer.chmod(mode)
        Cache(str(folder)).keep("entry", CONTENT)
        found = open_cache()
        assert (found is not None and _load(found) == CONTENT) == is_used, oct(mode)
        shutil.rmtree(outer)


def test_folders_of_others_hold_no_cache(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PROMPTC_CACHE", str(folder))
    folder.mkdir(mode=0o700)
    assert open_cache() is not None
    own, look = os.getuid(), os.stat

    def pretend(path, *args, **named):
        found = look(path, *args, **named)
        return os.stat_result((*found[:4], own + 1, *found[5:])) if str(path) == str(tmp_path) else found

    monkeypatch.setattr(os, "stat", pretend)
    assert open_cache() is None


def test_a_link_that_leads_through_an_open_folder_is_seen(tmp_path, monkeypatch):
    (tmp_path / "open" / "inner").mkdir(parents=True)
    (tmp_path / "open" / "inner" / "cache").mkdir(mode=0o700)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to("open/inner")
    monkeypatch.setenv("PROMPTC_CACHE", str(tmp_path / "link" / "cache"))
    assert open_cache() is None


@pytest.mark.parametrize(
    ("platform", "variables", "found"),
    [
        ("linux", {"PROMPTC_CACHE": "/a"}, "/a"),
        ("linux", {"PROMPTC_CACHE": "", "HOME": "/h"}, None),
        ("linux", {"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/promptc"),
        ("linux", {"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/promptc"),
        ("linux", {"HOME": "/h"}, "/h/.cache/promptc"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/promptc"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/promptc"),
        ("win32", {}, None),
    ],
)
def test_where_the_folder_is(platform, variables, found, monkeypatch):
    from promptc.cache import find_folder

    for name in ("PROMPTC_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert find_folder() == found
