"""The secret that seals the cache: random, the user's own, and in another folder than the cache."""

import os
import sys

from promptc.cache.find_folder import is_own, open_folder
from promptc.files.read_file import read_file

_SIZE = 32
_KEYS: dict[str, bytes] = {}
"""By the paths they lie at, once read."""


def find_key() -> bytes | None:
    """The user's key; None where there is none, or others could have written it."""
    path = _find_path()
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

    path = _find_path()
    try:
        if path and open_folder(os.path.dirname(path)):
            replace_remade(path, os.urandom(_SIZE), mode=0o600)
    except OSError:
        return None
    return find_key()


def _is_secret(found: os.stat_result) -> bool:
    return is_own(found) and not (os.name == "posix" and found.st_mode & 0o077)


def _find_path() -> str:
    """`promptc/key` in the user's own folder for the state of programs; empty where the system tells of none."""
    states = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(states):
        home = os.path.expanduser("~")
        if sys.platform == "win32":
            states = os.environ.get("APPDATA", "")
        else:
            states = f"{home}/Library/Application Support" if sys.platform == "darwin" else f"{home}/.local/state"
    return os.path.join(states, "promptc", "key") if os.path.isabs(states) else ""
