"""What the cases of one process share, made once: packs, base states, stores."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from promptc.api import Pack
from promptc.cache.store import Cache
from promptc.diag.errors import PromptcError
from promptc.diag.typed import Any, Self
from promptc.frontend.json_io import MAX_STATE_BYTES, JsonDocument, load_json
from promptc.golden.read_plain import read_plain

_MOST_STATES = 8
"""Parsed base states that are kept, the newest: cases of one folder mostly share one or two."""

_MOST_PACKS = 64


class Shelf:
    """To be used in a `with`, which gives back what was opened. Not for several threads.

    A file that changes while the shelf is open may be seen as it was before.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        """With a cache, packs are taken from it and kept there, as `promptc render` does."""
        self._cache = cache
        self._packs: dict[tuple[str, str], Pack | PromptcError] = {}
        self._states: dict[str, JsonDocument] = {}
        self._stores: dict[str, str] = {}
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
            found = self._packs[root, path] = self._load(path)
            if len(self._packs) > _MOST_PACKS:
                self._packs.pop(next(iter(self._packs)))
        if isinstance(found, PromptcError):
            raise found
        return found

    def load_state(self, path: str, shown: str, span: Any) -> JsonDocument:
        """The JSON of a state file, which findings call `shown`; `span` is where the case names it."""
        found = self._states.get(path)
        if found is None:
            found = self._states[path] = load_json(read_plain(path, shown, MAX_STATE_BYTES, span), shown)
            if len(self._states) > _MOST_STATES:
                self._states.pop(next(iter(self._states)))
        return found

    def load_store(self, files: str) -> str:
        """The URL of an SQLite store with the segments of a file or folder (absolute), imported when first asked for. It is only read."""
        if files not in self._stores:
            self._stores[files] = import_store(Path(files), Path(self.folder, f"{len(self._stores)}.db"))
        return self._stores[files]

    @property
    def folder(self) -> str:
        """A folder for what is made, which goes with the shelf."""
        if not self._folder:
            self._folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="promptc-"))
        return self._folder

    def _load(self, path: str) -> Pack | PromptcError:
        try:
            return self._stack.enter_context(Pack.load(path, self._cache))
        except PromptcError as error:
            return error


def import_store(files: Path, database: Path) -> str:
    """The URL of the store `database`, made of the segments in `files`. Raises `PromptcError` with the findings of reading them."""
    from promptc.frontend.load_segments import load_segments
    from promptc.sources.database.address import read_address
    from promptc.sources.segments.segment_store import SegmentStore

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
