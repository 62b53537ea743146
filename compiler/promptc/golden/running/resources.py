"""Shared work of the cases in one process.

`SuiteResources` has packs, base states, stores, their digests, and for each pack a memory of what its sections came to.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from _blake2 import blake2b
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from promptc.api import Pack
from promptc.cache import Cache
from promptc.diag.findings import PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Self
from promptc.files.reading import read_file
from promptc.frontend.json import MAX_STATE_BYTES, InternedJson, JsonDocument
from promptc.golden.cases.case import MAX_PLAIN_BYTES, read_plain
from promptc.model.state import State
from promptc.passes.memory import Memory

_MOST_STATES = 8
"""The most parsed base states that are kept, the newest: cases of one folder mostly share one or two."""

_MOST_LONG = 256
"""The most digests of long files that are kept, the newest."""

_LONG = 10_000
"""The bytes from which a file is long: a shorter one is read again."""

_MOST_PACKS = 64
_MOST_MEMORIES = 4

_MOST_SHARED = 512
"""The most values of states that are kept, the newest, with their defaults."""

_SIZE = 16
"""Bytes of a digest."""


class SuiteResources:
    """The shared resources. Use them in a `with` block, which closes them. Not for several threads.

    A file that changes while they are open may be seen with its earlier content.
    """

    def __init__(self, cache: Cache | None = None, tries: Sequence[tuple[str, str]] = (), untried: SuiteResources | None = None) -> None:
        """Open the resources. With a cache, packs are read from it and kept there, as `promptc render` does.

        `tries` are edits to try on each pack. `untried` are resources that have the packs without the edits, if any.
        """
        self._cache = cache
        self.tries = tries
        self._untried = untried
        self._packs: dict[tuple[str, str], Pack | PromptcError] = {}
        self._states: dict[str, tuple[JsonDocument, bytes]] = {}
        self._parts = InternedJson()
        self._stores: dict[str, str] = {}
        self._memories: dict[tuple[str, str], Memory] = {}
        self._shared: dict[tuple[int, str, int], tuple[Pack, Any, Any]] = {}
        self._digests: dict[tuple[str, str], bytes | None] = {}
        self._indexes: dict[tuple[str, str], bytes | None] = {}
        """The digests before any render could read the indexes."""
        self._inputs: dict[str, bytes] = {}
        self._trees: dict[str, bytes | None] = {}
        self._stack = contextlib.ExitStack()
        self._folder = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._packs.clear()

    def renew(self) -> SuiteResources:
        """Return resources with the same edits that share nothing with these: for a case whose circumstances are its own."""
        return SuiteResources(tries=self.tries)

    def load_pack(self, root: str, path: str) -> Pack:
        """Return the pack at `path`, relative to `root`, which is the working folder. Raises what loading it raises, every time."""
        found = self._packs.get((root, path))
        if found is None:
            found = self._packs[root, path] = self._load(root, path)
            self._indexes[root, path] = found.digest_indexes() if isinstance(found, Pack) else None
            if len(self._packs) > _MOST_PACKS:
                self._packs.pop(next(iter(self._packs)))
        if isinstance(found, PromptcError):
            raise found
        return found

    def load_memory(self, root: str, path: str) -> Memory:
        """Return the memory of what renders of the pack have selected so far."""
        memory = self._memories.get((root, path))
        if memory is None:
            if len(self._memories) >= _MOST_MEMORIES:
                self._memories.clear()
            memory = self._memories[root, path] = Memory()
        return memory

    def fill_state(self, pack: Pack, document: JsonDocument) -> State:
        """Load the state of a JSON text. Raises `PromptcError` with every finding of the validation.

        If two texts share an object, their states share its value with defaults, so that work on it need not be repeated.
        """
        state = pack.load_document(document)
        shared = {name: self._share(pack, name, document.value.get(name), value) for name, value in state.value.items()}
        return replace(state, value=shared)

    def _share(self, pack: Pack, name: str, raw: Any, filled: Any) -> Any:
        """Return the value of an earlier state if both come from the same object of a text and are equal, or else `filled`."""
        if not isinstance(filled, (dict, list)):
            return filled
        key = id(pack), name, id(raw)
        found = self._shared.get(key)
        if found is not None and found[2] == filled:
            return found[2]
        self._shared[key] = pack, raw, filled
        if len(self._shared) > _MOST_SHARED:
            del self._shared[next(iter(self._shared))]
        return filled

    def load_state(self, path: str, shown: str, span: Any) -> JsonDocument:
        """Return the JSON of a state file, which findings call `shown`. `span` is the place in the case that names the file."""
        found = self._states.get(path)
        if found is None:
            content = read_plain(path, shown, MAX_STATE_BYTES, span)
            found = self._states[path] = self._parts.load(content, shown), _digest(content)
            if len(self._states) > _MOST_STATES:
                self._states.pop(next(iter(self._states)))
        return found[0]

    def digest_pack(self, root: str, path: str) -> bytes | None:
        """Return a digest of everything that decides how the pack renders a state and its stores, including its indexes.

        Returns None if the pack or one of its indexes cannot be read.
        """
        key = root, path
        if key not in self._digests:
            with work_in(root):
                try:
                    pack = self.load_pack(root, path)
                except PromptcError:
                    self._digests[key] = None
                else:
                    indexes = self._indexes[root, path]
                    self._digests[key] = _digest(digest_pack(pack) + indexes) if indexes is not None else None
        return self._digests[key]

    def asks_outside(self, root: str, path: str, stores: Collection[str]) -> bool:
        """Return whether a render of the pack may depend on a store that is not in `stores`, or on an engine.

        True if the pack cannot be loaded.
        """
        found = self._packs.get((root, path))
        if isinstance(found, Pack):
            return found.asks_outside(stores)
        with work_in(root):
            try:
                return self.load_pack(root, path).asks_outside(stores)
            except PromptcError:
                return True

    def digest_input(self, path: str) -> bytes | None:
        """Return the digest of an input file when it was read, or None if it cannot be read.

        The newest digests are kept, of states that are kept and of long files.
        """
        if path in self._states:
            return self._states[path][1]
        found = self._inputs.get(path)
        if found is None:
            content = _read(path)
            found = _digest(content) if content is not None else None
            if found is not None and content is not None and len(content) > _LONG:
                self._inputs[path] = found
                if len(self._inputs) > _MOST_LONG:
                    self._inputs.pop(next(iter(self._inputs)))
        return found

    def digest_golden(self, path: str) -> bytes | None:
        """Return the digest of a golden, which is read again every time, or None if it cannot be read."""
        content = _read(path)
        return _digest(content) if content is not None else None

    def digest_store(self, files: str) -> bytes | None:
        """Return the digest of a file or folder of segments (absolute) before its first import, or None if it cannot be computed."""
        if files not in self._trees:
            self._trees[files] = _digest_tree(files)
        return self._trees[files]

    def load_store(self, files: str) -> str:
        """Return the URL of an SQLite store with the segments of a file or folder (absolute). The store is imported once, and only read."""
        if files not in self._stores:
            self.digest_store(files)
            self._stores[files] = import_store(Path(files), Path(self.folder, f"{len(self._stores)}.db"))
        return self._stores[files]

    @property
    def folder(self) -> str:
        """A temporary folder, which is removed with the resources."""
        if not self._folder:
            self._folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="promptc-"))
        return self._folder

    def _load(self, root: str, path: str) -> Pack | PromptcError:
        try:
            return self._stack.enter_context(self.open_pack(root, path))
        except PromptcError as error:
            return error

    def open_pack(self, root: str, path: str) -> Pack:
        """Load the pack at `path` with the edits to try. Raises what loading it raises."""
        if self._untried is not None:
            return self._untried.load_pack(root, path).tried(self.tries)
        return Pack.load(path, self._cache, keeps_counts=False, tries=self.tries)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_SIZE).digest()


def _read(path: str) -> bytes | None:
    try:
        return read_file(path, MAX_PLAIN_BYTES)
    except (OSError, ValueError):
        return None


def _digest_tree(path: str) -> bytes | None:
    """Return a digest of the names and contents of all files at or under `path`, including hidden ones.

    Returns None if a file cannot be read, or if anything is neither a file nor a folder, such as a link.
    """
    whole = blake2b(digest_size=_SIZE)
    try:
        for name in sorted(_list_names(path)) if os.path.isdir(path) else ("",):
            content = read_file(os.path.join(path, name) if name else path, MAX_PLAIN_BYTES)
            whole.update(b"%b\0%d\0" % (os.fsencode(name), len(content)))
            whole.update(content)
    except (OSError, ValueError):
        return None
    return whole.digest()


def _list_names(folder: str) -> list[str]:
    return [
        os.path.relpath(os.path.join(inner, name), folder)
        for inner, folders, names in os.walk(folder, onerror=_refuse)
        for name in (*names, *(one for one in folders if os.path.islink(os.path.join(inner, one))))
    ]


def _refuse(wrong: OSError) -> None:
    raise wrong


def digest_pack(pack: Pack) -> bytes:
    """Return a digest of every file of a pack and of its counter."""
    made = blake2b(repr((pack.counter.name, pack.counter.digest)).encode(), digest_size=_SIZE)
    for one in pack.inputs.files:
        made.update(b"%b\0%b\0%d\0" % (os.fsencode(one.folder), os.fsencode(one.path), len(one.content)))
        made.update(one.content)
    return made.digest()


def import_store(files: Path, database: Path) -> str:
    """Import the segments in `files` into the store `database` and return its URL. Raises `PromptcError` with the findings on the files."""
    from promptc.frontend.segments import load_segments
    from promptc.sources.address import read_address
    from promptc.sources.segment_store import SegmentStore

    url = f"sqlite:{database}"
    SegmentStore(read_address(url)).write(load_segments(files))
    return url


@contextlib.contextmanager
def work_in(folder: str) -> Iterator[None]:
    """Change the working folder for the block, unless it is `folder` already."""
    before = os.getcwd()
    if before == folder:
        yield
        return
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
