"""Which cases passed, by digests of all that they were made of: what is unchanged need not be run again."""

import marshal
import os
from _blake2 import blake2b
from collections.abc import Iterator, Mapping

from promptc.cache.store import Cache
from promptc.diag.frozen import frozen
from promptc.golden.cases.case import Case
from promptc.golden.describe_maker import describe_maker
from promptc.golden.find_cases import CASE
from promptc.golden.find_home import MANIFEST, find_pack
from promptc.golden.list_files import list_files, list_stores, names_all
from promptc.golden.list_packs import list_packs
from promptc.golden.running.resources import SuiteResources

_SIZE = 16
_NOTHING: Mapping[str, bytes] = {}
_OPEN = ("recall", "run")
_Known = tuple[tuple[str, ...], bool, tuple[str, ...], tuple[str, ...], tuple[str, ...], bytes]


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
