"""The inputs of cases, and whether any of them changed: since a revision of git, or since the case last passed.

`describe_inputs` returns the identities of a case's files, as they are noted next to goldens. `Touched` knows the differences from a
revision. `Passes` knows, from the user's cache, which cases passed, by digests of all their inputs.
"""

from __future__ import annotations

import hashlib
import json
import os
from _blake2 import blake2b
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from promptc.api import Pack
from promptc.cache import Cache, describe_maker
from promptc.compare import read_json
from promptc.diag.findings import Diagnostic, DiskError, PromptcError, UsageError, shorten
from promptc.diag.frozen import as_plain, frozen, replace
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.golden.cases.case import MAX_PLAIN_BYTES, Case, Figures
from promptc.golden.cases.confine import choose_pack, is_under, show_path
from promptc.golden.cases.discover import CASE
from promptc.golden.git import GitError, TreeEntry, find_repository, is_blob, list_entries, read_tree, run_git
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.model.messages import Ask
from promptc.model.pack import MANIFEST
from promptc.model.sources import CorpusIndex
from promptc.version import VERSION

_ASKING = ("apply", "check")

_MOST_LISTED = 10_000
"""The most files of a folder that are listed; more than a store of segments has."""

_NAMED = ("stores",)
_Stamp = tuple[int, int, int, int] | None
_SIZE = 16
_NOTHING: Mapping[str, bytes] = {}
_Known = tuple[tuple[str, ...], bool, tuple[str, ...], tuple[str, ...], tuple[str, ...], bytes]


@frozen
class Pass:
    """A case that passed, and the digest of all its inputs.

    `packs` are paths from the root, the case's own pack first. `files` and `stores` are relative to its folder. `goldens` are the names of
    the goldens it declares. `is_found` says that the case's file names no pack.
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


def list_packs(case: Case, resources: SuiteResources) -> tuple[str, ...]:
    """Return the case's pack and, if the case may ask them, the packs of its operations' questions, as paths from the root.

    Packs that cannot be loaded are included.
    """
    if case.kind not in _ASKING:
        return (case.pack,)
    with work_in(case.root):
        try:
            model = resources.load_pack(case.root, case.pack).model
        except PromptcError:
            return (case.pack,)
        asks = [ask for one in model.list_operations() for ask in one.asks]
        return tuple(dict.fromkeys((case.pack, *(_choose_file(ask, model.file) for ask in asks))))


def _choose_file(ask: Ask, manifest: str) -> str:
    try:
        return ask.load_pack().file
    except PromptcError:
        return os.path.join(os.path.dirname(manifest), ask.pack)


def describe_inputs(case: Case, pack: Pack | None) -> dict[str, Any]:
    """Return the inputs of a case as plain data.

    - `files`: the identity of every file that the outcome depends on, by its path from the root.
    - `counter`: name and digest of the token counter.
    - `models`: the date and digest of the table of models, if a budget names a model.
    - `promptc`: the version.

    Without a pack that can be loaded, everything about it is left out. The identity of a file is git's name for a blob with its content,
    with line ends as `\\n`. So `git cat-file blob` returns the content that a golden was accepted with, without a search.
    """
    files = {show_path(path, case.root): identify(content) for path, content in _read_inputs(case, pack).items()}
    counter = pack.counter if pack is not None else None
    described: dict[str, Any] = {"files": dict(sorted(files.items())), "promptc": VERSION}
    if counter is not None:
        described["counter"] = {"name": counter.name, "digest": counter.digest}
    if pack is not None and pack.follows_model:
        table = pack.model.load_models()
        described["models"] = {"name": table.as_of, "digest": table.digest}
    return described


def _read_inputs(case: Case, pack: Pack | None) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for one in pack.inputs.files if pack is not None else ():
        files[os.path.normpath(os.path.join(case.root, one.folder, one.path))] = one.content
    for path in (os.path.join(case.folder, CASE), *_iter_files(case)):
        if not is_under(os.path.realpath(path), case.fence):
            continue
        try:
            files[path] = read_file(path, MAX_PLAIN_BYTES)
        except (OSError, ValueError):
            continue  # the run reports it
    return files


def _iter_files(case: Case) -> Iterator[str]:
    """Yield every file that the case's file names besides its pack, absolute.

    These are states, answers, queries, the files of stores, and the arguments of a command line that are files. They may be missing; only
    folders and arguments are looked up.
    """
    yield from _list_files(case)
    for path in _list_stores(case):
        yield from _walk_inputs(path)
    if case.kind == "run":
        found = (os.path.normpath(os.path.join(case.root, argument)) for argument in case.asked if not argument.startswith("-"))
        yield from (path for path in found if path.startswith(f"{case.root}{os.sep}") and os.path.isfile(path))


def _list_files(case: Case) -> tuple[str, ...]:
    """Return the files of the case's states, of the answers to its operation and of the queries to its index, absolute, each once."""
    asked = case.asked if isinstance(case.asked, dict) else {}
    bases = [one.base for one in case.states if one.base is not None]
    queries = [asked["queries"]] if case.kind == "recall" else []
    answers = asked.get("answers", {}).values() if case.kind == "apply" else ()
    return tuple(dict.fromkeys(_place(case, name) for name in (*bases, *answers, *queries)))


def _place(case: Case, name: str) -> str:
    return os.path.normpath(os.path.join(case.folder, name))


def _list_stores(case: Case) -> tuple[str, ...]:
    """Return the files or folders that the case's stores are made from, absolute, each once."""
    wanted = case.given.get("stores", {}).values()
    return tuple(dict.fromkeys(_place(case, one if isinstance(one, str) else one["from"]) for one in wanted))


def _walk_inputs(path: str) -> Iterator[str]:
    """Yield the file, or the files in a folder, sorted. Links are not followed."""
    if not os.path.isdir(path):
        yield path
        return
    left = _MOST_LISTED
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names)[:left]:
            left -= 1
            yield os.path.normpath(os.path.join(folder, name))


def identify_file(path: str) -> str | None:
    """Return git's name for the content of a file, or None if the file cannot be read."""
    try:
        return identify(read_file(path, MAX_PLAIN_BYTES))
    except (OSError, ValueError):
        return None


def render_inputs(inputs: Mapping[str, Any], figures: Figures | None, before: Figures | None = None) -> bytes:
    """Return the bytes of `golden.inputs.json`: the inputs, the figures of the prompt and, while it is pending, the earlier figures."""
    known = {"figures": figures, "before": before}
    return render_json_file({**inputs, **{name: as_plain(one) for name, one in known.items() if one is not None}})


def render_json_file(value: Any) -> bytes:
    """Return the bytes of a JSON file next to a case: a golden, or the note about its inputs.

    A name that is not UTF-8 is written with the escapes of JSON.
    """
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8", "backslashreplace")


def read_inputs(path: str) -> dict[str, Any] | None:
    """Return the note that `render_inputs` wrote to a file, or None if there is no note with a mapping of `files`.

    Nothing else about it is certain: anybody may have written it.
    """
    try:
        noted = read_json(read_file(path, MAX_PLAIN_BYTES))
    except OSError:
        return None
    return noted if isinstance(noted, dict) and isinstance(noted.get("files"), dict) else None


def load_touched(revision: str, folder: str) -> Touched:
    """Return the differences from `revision` in the repository around `folder`.

    Raises `UsageError` (PC0910) for a revision that git does not know or a folder outside any repository, and `DiskError` (PC0910) if git
    cannot be run.
    """
    if revision.startswith("-"):
        raise _refuse_revision(revision, "it begins with a dash")
    root = find_repository(os.path.realpath(folder))
    if root is None:
        raise _refuse_revision(revision, "there is no git repository here")
    try:
        tree = read_tree(root, revision)
        added = run_git(root, "ls-files", "--others", "--exclude-standard", "-z")
        return Touched(root, list_entries(root, tree), frozenset(os.fsdecode(one) for one in added.split(b"\0") if one))
    except GitError as wrong:
        if wrong.is_missing:
            raise DiskError([Diagnostic("PC0910", str(wrong), help="`--changed` needs no git")]) from wrong
        raise _refuse_revision(revision, str(wrong), wrong.help) from wrong


def _refuse_revision(revision: str, why: str, help: str = "") -> UsageError:
    help = help or "name a commit, a branch or a tag of the repository"
    return UsageError([Diagnostic("PC0910", f"`--since {shorten(revision)}`: {why}", help=help)])


def is_touched(case: Case, resources: SuiteResources, touched: Touched) -> bool:
    """Return whether any file that the case depends on is `touched`.

    These are the files in its folder and in its pack's, the files it names (states, answers, queries), the files of its stores, those of
    its pack and of the packs of its questions, and the documents and files of their indexes. A case that may depend on more than it names
    (a command line, circumstances, a store that it does not set up) is always touched.
    """
    if not _names_all(case):
        return True
    stores = case.given.get("stores", ())
    if any(resources.asks_outside(case.root, pack, stores) for pack in list_packs(case, resources)):
        return True
    folders = (case.folder, *(os.path.realpath(one) for one in (os.path.join(case.root, case.pack), *_list_stores(case))))
    return any(map(touched.has, (*folders, *map(os.path.realpath, _list_files(case)), *_list_pack_files(case, resources))))


def _names_all(case: Case) -> bool:
    """Return whether the case can depend only on what it names, its folder and its pack.

    A command line may read anything, and so may circumstances other than stores.
    """
    return case.kind != "run" and all(name in _NAMED for name in case.given)


def _list_pack_files(case: Case, resources: SuiteResources) -> list[str]:
    """Return the files of the case's packs, and the files and folders of their indexes. An unloadable pack counts only by its folder."""
    from promptc.frontend.corpus import list_outside

    found: list[str] = []
    with work_in(case.root):
        for pack in list_packs(case, resources):
            try:
                loaded = resources.load_pack(case.root, pack)
            except PromptcError:
                continue
            places = [(one.folder, one.path) for one in loaded.inputs.files]
            places += [(one.folder, path) for one in loaded.model.indexes if isinstance(one, CorpusIndex) for path in list_outside(one)]
            found += [os.path.realpath(os.path.join(case.root, folder, path)) for folder, path in places]
    return found


class Passes:
    """The recorded passes of the cases of one root, from the user's cache.

    A digest covers the case's file, the files it names, its goldens, every file of its packs, the files and documents of their
    indexes, and the token counter. A record is valid only for this promptc, this Python and the packages that promptc computes with. So a
    case that is known to have passed would pass again.
    """

    def __init__(self, cache: Cache, root: str) -> None:
        self._cache = cache
        self._root = root
        self._known: dict[str, _Known] | None = None
        self._above: dict[str, str] = {}

    def find(self, folder: str, resources: SuiteResources) -> Pass | None:
        """Return the pass of the case in `folder`, or None if there is none or any of its inputs has changed since."""
        known = self._load().get(folder)
        if known is None:
            return None
        found = Pass(*known)
        if found.is_found and self._choose_pack(folder) != found.pack:
            return None
        return found if _digest_pass(self._root, folder, found, resources) == found.digest else None

    def list_inputs(self, folder: str) -> tuple[list[str], list[str]]:
        """Return the packs and the files of the case in `folder` when it last passed.

        If that is unknown, return the pack that the place of the case implies, and no files.
        """
        packs, _, files, *_ = self._load().get(folder, ((self._choose_pack(folder),), True, ()))
        return [os.path.join(self._root, one) for one in packs], [_join(folder, one) for one in files]

    def keep(self, passed: Mapping[str, Pass]) -> None:
        """Add passes, by folder, to the record, and drop those of folders that are gone."""
        if not passed:
            return
        self._known = None
        known = {folder: one for folder, one in self._load().items() if folder in passed or os.path.isdir(folder)}
        known |= {folder: (one.packs, one.is_found, one.files, one.stores, one.goldens, one.digest) for folder, one in passed.items()}
        self._cache.keep_plain(_name_passes(self._root), (describe_maker(), known))

    def _load(self) -> dict[str, _Known]:
        if self._known is None:
            maker, known = self._cache.load_plain(_name_passes(self._root)) or (b"", {})
            self._known = known if maker == describe_maker() else {}
        return self._known

    def _choose_pack(self, folder: str) -> str:
        """Return the pack as `choose_pack` does. The folders above are searched once for all cases in the same folder."""
        if os.path.isfile(f"{folder}{os.sep}{MANIFEST}"):
            return choose_pack(folder, self._root)
        above = os.path.dirname(folder)
        if above not in self._above:
            self._above[above] = choose_pack(folder, self._root)
        return self._above[above]


def _digest_pass(root: str, folder: str, noted: Pass, resources: SuiteResources, made: Mapping[str, bytes] = _NOTHING) -> bytes | None:
    """Return a digest of all inputs of a pass, with the goldens in `made` instead of those on the disk. None if an input cannot be read."""
    whole = blake2b(digest_size=_SIZE)
    for one in _iter_digests(root, folder, noted, resources, made):
        if one is None:
            return None
        whole.update(one)
    return whole.digest()


def _iter_digests(root: str, folder: str, noted: Pass, resources: SuiteResources, made: Mapping[str, bytes]) -> Iterator[bytes | None]:
    for pack in noted.packs:
        yield resources.digest_pack(root, pack)
    for name in noted.files:
        yield resources.digest_input(_join(folder, name))
    for name in noted.stores:
        yield resources.digest_store(os.path.realpath(_join(folder, name)))
    for name in noted.goldens:
        path = f"{folder}{os.sep}{name}"
        yield blake2b(made[name], digest_size=_SIZE).digest() if name in made else resources.digest_golden(path)


def _join(folder: str, name: str) -> str:
    """Return the path in the form that `load_state` gets, so that both mean the same entry of the resources."""
    path = f"{folder}{os.sep}{name}"
    return path if os.pardir not in name else os.path.normpath(path)


def _name_passes(root: str) -> str:
    return f"passes {root}"


def note_pass(case: Case, resources: SuiteResources, made: Mapping[str, bytes] = _NOTHING) -> Pass | None:
    """Return the pass of a case that has just passed, or that will pass once the goldens in `made` are accepted.

    Returns None if the case may depend on more than the files it names, its packs and their indexes: on engines, on stores that it does not
    set up, on circumstances or on commands.
    """
    if not _names_all(case):
        return None
    packs = list_packs(case, resources)
    if any(resources.asks_outside(case.root, pack, case.given.get("stores", ())) for pack in packs):
        return None
    noted = Pass(
        packs,
        case.node.get("pack") is None,
        (CASE, *_relate(_list_files(case), case.folder)),
        tuple(_relate(_list_stores(case), case.folder)),
        tuple(name for _, _, name in case.list_goldens()),
        b"",
    )
    digest = _digest_pass(case.root, case.folder, noted, resources, made)
    return replace(noted, digest=digest) if digest is not None else None


def _relate(paths: tuple[str, ...], folder: str) -> Iterator[str]:
    return (os.path.relpath(path, folder) for path in paths)


class InputWatch:
    """Watches the inputs of a case. Create it before the case's file is read: the record of a run must describe what the run has read."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._stamps: dict[str, _Stamp] = {}
        self._look(f"{folder}{os.sep}{CASE}")

    def begin(self, case: Case) -> None:
        """Look at the files that the case names, before it is run."""
        for path in (*_list_files(case), *(f"{case.folder}{os.sep}{name}" for _, _, name in case.list_goldens())):
            self._look(path)

    def is_still(self) -> bool:
        """Return whether none of these files was written since, by their times and sizes."""
        return all(_stamp(path) == stamp for path, stamp in self._stamps.items())

    def _look(self, path: str) -> None:
        self._stamps[path] = _stamp(path)


def _stamp(path: str) -> _Stamp:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def identify(content: bytes) -> str:
    """Return git's name for a blob with that content, with line ends as `\\n`."""
    plain = make_plain(content)
    return hashlib.sha1(b"blob %d\0%b" % (len(plain), plain), usedforsecurity=False).hexdigest()


def make_plain(content: bytes) -> bytes:
    """Return the content with line ends as `\\n`."""
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class Touched:
    """The files of a repository that differ from a revision: changed, added or removed. They are compared when they are queried.

    The content on the disk is compared, except for line ends. A file for which git stores another text (by a filter, such as that of large
    files) counts as changed.
    """

    def __init__(self, root: str, committed: Mapping[str, TreeEntry], added: frozenset[str]) -> None:
        """Describe the repository. `root` is its folder (absolute, real).

        `committed` are the files of the revision, by paths from the root. `added` are the files that git does not know yet.
        """
        self._root = root
        self._committed = committed
        self._paths = sorted(committed)
        self._added = sorted(added)
        self._known: dict[str, bool] = {}

    def has(self, path: str) -> bool:
        """Return whether the file at `path` (absolute, real) has changed, or any file under it if it is a folder.

        A file that the revision does not have has changed, even if git ignores it.
        """
        inside = os.path.relpath(path, self._root)
        if inside == ".":
            inside = ""
        committed = _list_under(self._paths, inside)
        is_unknown = not committed and os.path.isfile(path)
        return is_unknown or any(map(self._differs, committed)) or bool(_list_under(self._added, inside))

    def _differs(self, path: str) -> bool:
        if path not in self._known:
            self._known[path] = not self._is_still(path)
        return self._known[path]

    def _is_still(self, path: str) -> bool:
        found = os.path.join(self._root, path)
        entry = self._committed[path]
        try:
            content = os.fsencode(os.readlink(found)) if os.path.islink(found) else read_file(found, MAX_PLAIN_BYTES)
        except (OSError, ValueError):
            return False
        return is_blob(content, entry.identity) or is_blob(content.replace(b"\r\n", b"\n"), entry.identity)


def _list_under(paths: list[str], inside: str) -> list[str]:
    """Return those of the sorted paths that are `inside` or under it."""
    if not inside:
        return paths
    under = f"{inside.replace(os.sep, '/')}/"
    is_there = paths[bisect_left(paths, under[:-1]) :][:1] == [under[:-1]]
    return [*([under[:-1]] if is_there else []), *paths[bisect_left(paths, under) : bisect_left(paths, f"{under[:-1]}0")]]
