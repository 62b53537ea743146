"""What the cases of one process share, made once.

`SuiteResources` has packs, base states, stores, digests of them, and for each pack a memory of what its sections came to.
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
"""Parsed base states that are kept, the newest: cases of one folder mostly share one or two."""

_MOST_LONG = 256
"""Digests of long files that are kept, the newest."""

_LONG = 10_000
"""Bytes from which on a file is long: a shorter one is read again."""

_MOST_PACKS = 64
_MOST_MEMORIES = 4

_MOST_SHARED = 512
"""Values of states that are kept, defaults filled in, the newest."""

_SIZE = 16
"""Bytes of a digest."""


class SuiteResources:
    """To be used in a `with`, which gives back what was opened. Not for several threads.

    A file that changes while these are open may be seen as it was before.
    """

    def __init__(self, cache: Cache | None = None, tries: Sequence[tuple[str, str]] = (), untried: SuiteResources | None = None) -> None:
        """With a cache, packs are taken from it and kept there, as `promptc render` does. `tries` are what is tried of each; where
        `untried` has the packs without that, of theirs.
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
        """As they were before any render could read them."""
        self._inputs: dict[str, bytes] = {}
        self._trees: dict[str, bytes | None] = {}
        self._stack = contextlib.ExitStack()
        self._folder = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._packs.clear()

    def load_pack(self, root: str, path: str) -> Pack:
        """The pack at `path`, from the root, which is the working folder. Raises what loading it raises, each time."""
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
        """What renders of the pack have selected so far."""
        memory = self._memories.get((root, path))
        if memory is None:
            if len(self._memories) >= _MOST_MEMORIES:
                self._memories.clear()
            memory = self._memories[root, path] = Memory()
        return memory

    def fill_state(self, pack: Pack, document: JsonDocument) -> State:
        """The state of a JSON text. What is the same object in two texts is the same in their states, defaults filled in: so what was made
        of it need not be made again. Raises `PromptcError` with every finding of the validation.
        """
        state = pack.load_document(document)
        shared = {name: self._share(pack, name, document.value.get(name), value) for name, value in state.value.items()}
        return replace(state, value=shared)

    def _share(self, pack: Pack, name: str, raw: Any, filled: Any) -> Any:
        """The value as an earlier state had it, if both are of one object of a text, and equal."""
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
        """The JSON of a state file, which findings call `shown`; `span` is where the case names it."""
        found = self._states.get(path)
        if found is None:
            content = read_plain(path, shown, MAX_STATE_BYTES, span)
            found = self._states[path] = self._parts.load(content, shown), _digest(content)
            if len(self._states) > _MOST_STATES:
                self._states.pop(next(iter(self._states)))
        return found[0]

    def digest_pack(self, root: str, path: str) -> bytes | None:
        """A digest of all that decides what the pack makes of a state and of what its stores hold, its indexes among it; None where it or
        one of them cannot be read.
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
        """Whether what the pack makes may depend on a store that is not among `stores`, or on an engine; so it is where it cannot be
        loaded.
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
        """The digest of a file that several cases may be made of, as it was when it was read; None where it cannot be. Those of states that
        are kept and of long files are kept, the newest.
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
        """The digest of a golden, which is read anew each time; None where it cannot be read."""
        content = _read(path)
        return _digest(content) if content is not None else None

    def digest_store(self, files: str) -> bytes | None:
        """The digest of a file or folder of segments (absolute), as it was before it was first imported; None where it cannot be taken."""
        if files not in self._trees:
            self._trees[files] = _digest_tree(files)
        return self._trees[files]

    def load_store(self, files: str) -> str:
        """The URL of an SQLite store with the segments of a file or folder (absolute), imported when first asked for. It is only read."""
        if files not in self._stores:
            self.digest_store(files)
            self._stores[files] = import_store(Path(files), Path(self.folder, f"{len(self._stores)}.db"))
        return self._stores[files]

    @property
    def folder(self) -> str:
        """A folder for what is made, which goes with these."""
        if not self._folder:
            self._folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="promptc-"))
        return self._folder

    def _load(self, root: str, path: str) -> Pack | PromptcError:
        try:
            if self._untried is not None:
                return self._stack.enter_context(self._untried.load_pack(root, path).tried(self.tries))
            return self._stack.enter_context(Pack.load(path, self._cache, keeps_counts=False, tries=self.tries))
        except PromptcError as error:
            return error


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_SIZE).digest()


def _read(path: str) -> bytes | None:
    try:
        return read_file(path, MAX_PLAIN_BYTES)
    except (OSError, ValueError):
        return None


def _digest_tree(path: str) -> bytes | None:
    """A digest of the names and contents of all files at or under `path`, hidden ones and folders too; None where one cannot be read, or
    there is a link or anything else but files and folders.
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
    """A digest of every file of a pack and of its counter."""
    made = blake2b(repr((pack.counter.name, pack.counter.digest)).encode(), digest_size=_SIZE)
    for one in pack.inputs.files:
        made.update(b"%b\0%b\0%d\0" % (os.fsencode(one.folder), os.fsencode(one.path), len(one.content)))
        made.update(one.content)
    return made.digest()


def import_store(files: Path, database: Path) -> str:
    """The URL of the store `database`, made of the segments in `files`. Raises `PromptcError` with the findings of reading them."""
    from promptc.frontend.segments import load_segments
    from promptc.sources.address import read_address
    from promptc.sources.segment_store import SegmentStore

    url = f"sqlite:{database}"
    SegmentStore(read_address(url)).write(load_segments(files))
    return url


@contextlib.contextmanager
def work_in(folder: str) -> Iterator[None]:
    """In this working folder, if it is not the one already."""
    before = os.getcwd()
    if before == folder:
        yield
        return
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
