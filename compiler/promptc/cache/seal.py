"""Seals: what is read back is what this user's promptc wrote, the same version under the same Python, or it is nothing.

The key is the user's secret and lies in another folder than what is sealed: whoever can only write the cache, such as a cache that a
build service restores, or an archive that was unpacked over it, cannot make an entry.
"""

import os
import sys
from _blake2 import blake2b
from _operator import _compare_digest

from promptc.cache.find_folder import is_own, open_folder
from promptc.files.read_file import read_file
from promptc.version import VERSION

_MAGIC = b"promptc cache 2\n"
_SIZE = 32
HEAD = len(_MAGIC) + _SIZE
"""Bytes of a seal."""

_PACKAGE = os.path.dirname(os.path.dirname(__file__))


def seal(content: bytes, name: bytes) -> bytes | None:
    """`content` behind a keyed digest of it and its name (16 bytes), of promptc's version and files, and of the interpreter. The key is
    made if there is none; None where none can be kept.
    """
    key = find_key() or make_key()
    return _MAGIC + _digest(content, name, key) + content if key is not None else None


def unseal(sealed: bytes, name: bytes) -> memoryview | None:
    """What was sealed under that name; None when anything about it is different. Nothing of it has been looked at before that is known."""
    key = find_key()
    if key is None:
        return None
    content = memoryview(sealed)[HEAD:]
    return content if _compare_digest(sealed[:HEAD], _MAGIC + _digest(content, name, key)) else None


def _digest(content: bytes | memoryview, name: bytes, key: bytes) -> bytes:
    whole = blake2b(_find_maker() + name, digest_size=_SIZE, key=key)
    whole.update(content)
    return whole.digest()


def _find_maker() -> bytes:
    """Who writes: a pickled value and a code object mean something to one version of promptc and of Python only."""
    if not _MAKER:
        told = f"{VERSION}\0{sys.implementation.cache_tag}\0{sys.version}\0{sys.byteorder}\0{_describe_files(_PACKAGE)}"
        _MAKER.append(blake2b(told.encode(), digest_size=_SIZE).digest())
    return _MAKER[0]


_MAKER: list[bytes] = []


def _describe_files(folder: str) -> str:
    """The sizes and times of promptc's own source files, so that an entry does not outlive an edit that left the version as it was."""
    found: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                kept = entry.stat()
                found.append(f"{entry.name}\0{kept.st_size}\0{kept.st_mtime_ns}\n")
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                found.append(f"{entry.name}\0{_describe_files(entry.path)}")
    return "".join(sorted(found))


# --- the key ---

_KEYS: dict[str, bytes] = {}
"""By the paths they lie at, once read."""


def find_key() -> bytes | None:
    """The user's key; None where there is none, or others could have written it."""
    path = find_key_path()
    if path not in _KEYS:
        try:
            key = read_file(path, _SIZE, admit=_is_secret) if path and open_folder(os.path.dirname(path), make=False) else b""
        except OSError:
            return None
        if len(key) != _SIZE:
            return None
        _KEYS[path] = key
    return _KEYS[path]


def make_key() -> bytes | None:
    """A new key, kept; or the one that another process has kept meanwhile. None where none can be."""
    from promptc.files.replace_file import replace_remade

    path = find_key_path()
    try:
        if path and open_folder(os.path.dirname(path)):
            replace_remade(path, os.urandom(_SIZE), mode=0o600)
    except OSError:
        return None
    return find_key()


def _is_secret(found: os.stat_result) -> bool:
    return is_own(found) and not (os.name == "posix" and found.st_mode & 0o077)


def find_key_path() -> str:
    """`promptc/key` in the user's own folder for the state of programs; empty where the system tells of none."""
    states = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(states):
        home = os.path.expanduser("~")
        if sys.platform == "win32":
            states = os.environ.get("APPDATA", "")
        else:
            states = f"{home}/Library/Application Support" if sys.platform == "darwin" else f"{home}/.local/state"
    return os.path.join(states, "promptc", "key") if os.path.isabs(states) else ""
