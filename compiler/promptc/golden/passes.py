"""Which cases passed, by digests of all that they were made of: what is unchanged need not be run again."""

import marshal
import os
from _blake2 import blake2b
from collections.abc import Iterable, Mapping

from promptc.cache.store import Cache
from promptc.diag.frozen import frozen
from promptc.golden.case import Case
from promptc.golden.find_cases import CASE
from promptc.golden.list_inputs import list_inputs
from promptc.golden.shelf import Shelf

_SIZE = 16
_NOTHING: Mapping[str, bytes] = {}
_KINDS = ("render", "session", "check")


@frozen
class Pass:
    """A case that passed: its pack (from the root), the files it was made of besides, relative to its folder, and the digest of it all.

    `goldens` are the names of those the case asks for.
    """

    pack: str
    files: tuple[str, ...]
    goldens: tuple[str, ...]
    digest: bytes


class Passes:
    """What is known of the cases of one root, from the user's cache.

    A digest covers the case's file, its states, its goldens, every file of its pack and what counts its tokens; the cache itself holds only
    for this promptc and this Python. So whatever is known to have passed would pass again.
    """

    def __init__(self, cache: Cache, root: str) -> None:
        self._cache = cache
        self._root = root
        self._known: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], bytes]] | None = None

    def find(self, folder: str, shelf: Shelf) -> Pass | None:
        """The pass of the case in `folder`, if nothing it was made of has changed since."""
        known = self._load().get(folder)
        if known is None:
            return None
        found = Pass(*known)
        return found if _digest(self._root, folder, found.pack, found.files, shelf) == found.digest else None

    def keep(self, passed: Mapping[str, Pass]) -> None:
        """Remembers these, by folder, besides what was known; folders that are gone are forgotten."""
        if not passed:
            return
        self._known = None
        known = {folder: one for folder, one in self._load().items() if folder in passed or os.path.isdir(folder)}
        known |= {folder: (one.pack, one.files, one.goldens, one.digest) for folder, one in passed.items()}
        self._cache.keep(_name(self._root), marshal.dumps(known))

    def _load(self) -> dict[str, tuple[str, tuple[str, ...], tuple[str, ...], bytes]]:
        if self._known is None:
            content = self._cache.load(_name(self._root))
            self._known = marshal.loads(content) if content is not None else {}
        return self._known


def note_pass(case: Case, shelf: Shelf, made: Mapping[str, bytes] = _NOTHING) -> Pass | None:
    """The pass of a case that has just passed, or will once what it has `made` (goldens by their names) is accepted.

    None where it may depend on more than files of its own and its pack's: on stores, indexes, circumstances, commands.
    """
    if case.given or case.kind not in _KINDS:
        return None
    goldens = tuple(name for _, _, name in case.list_goldens())
    files = (CASE, *(os.path.relpath(path, case.folder) for path in list_inputs(case)), *goldens)
    digest = _digest(case.root, case.folder, case.pack, files, shelf, made)
    return Pass(case.pack, files, goldens, digest) if digest is not None else None


def _digest(root: str, folder: str, pack: str, files: Iterable[str], shelf: Shelf, made: Mapping[str, bytes] = _NOTHING) -> bytes | None:
    """Of the pack and of every file, some of them as they are `made`; None where the pack cannot be loaded, asks sources, or a file cannot
    be read.
    """
    of_pack = shelf.digest_pack(root, pack)
    if of_pack is None:
        return None
    whole = blake2b(of_pack, digest_size=_SIZE)
    for name in files:
        content = made[name] if name in made else shelf.read_input(f"{folder}{os.sep}{name}")
        if content is None:
            return None
        whole.update(b"%d\0" % len(content))
        whole.update(content)
    return whole.digest()


def _name(root: str) -> str:
    return f"passes {root}"
