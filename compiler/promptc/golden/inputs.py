"""What a case is made of, and whether any of it is another than before: since a revision of git, or since the case last passed.

`describe_inputs` gives the identities of its files, as they are noted beside goldens. `Touched` knows what differs from a revision;
`Passes` knows, from the user's cache, which cases passed, by digests of all that they were made of.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import os
from _blake2 import blake2b
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from promptc.api import Pack
from promptc.cache import Cache, describe_maker
from promptc.compare import read_json
from promptc.diag.findings import Diagnostic, DiskError, PromptcError, UsageError
from promptc.diag.frozen import as_plain, frozen, replace
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.golden.cases.case import MAX_PLAIN_BYTES, Case, Figures
from promptc.golden.cases.confine import choose_pack, is_under, show_path
from promptc.golden.cases.discover import CASE
from promptc.golden.git import GitError, TreeEntry, find_repository, is_blob, list_entries, run_git
from promptc.golden.running.resources import SuiteResources, work_in
from promptc.model.messages import Ask
from promptc.model.pack import MANIFEST
from promptc.version import VERSION

_ASKING = ("apply", "check")

_MOST_LISTED = 10_000
"""Files of a folder that are listed; more than a store of segments has."""

_NAMED = ("stores",)
_Stamp = tuple[int, int, int, int] | None
_SIZE = 16
_NOTHING: Mapping[str, bytes] = {}
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


def list_packs(case: Case, resources: SuiteResources) -> tuple[str, ...]:
    """Its pack, and of a case that may ask them the packs of its operations' questions, as paths from the root, whether they can be
    loaded or not.
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
    """`files`: the identity of every file the case's outcome was made of, by its path from the root; `counter`: name and digest of what
    counted; `models`: the day and digest of the table of models, where a budget names one; `promptc`: the version. Nothing of the pack
    where it cannot be loaded.

    A file's identity is the one git gives a blob with its content, line ends as `\\n`: so `git cat-file blob` gives the content back that a
    golden was accepted with, without a search.
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
            continue  # the run has said so
    return files


def _iter_files(case: Case) -> Iterator[str]:
    """Every file that the case's file names besides its pack, absolute: states, answers, queries, the files of stores and the arguments of
    a command line that are files. Whether they are there is not asked, but of what stands for several.
    """
    yield from _list_files(case)
    for path in _list_stores(case):
        yield from _walk_inputs(path)
    if case.kind == "run":
        found = (os.path.normpath(os.path.join(case.root, argument)) for argument in case.asked if not argument.startswith("-"))
        yield from (path for path in found if path.startswith(f"{case.root}{os.sep}") and os.path.isfile(path))


def _list_files(case: Case) -> tuple[str, ...]:
    """The files of its states, of the answers to its operation and of the queries to its index, absolute, each once."""
    asked = case.asked if isinstance(case.asked, dict) else {}
    bases = [one.base for one in case.states if one.base is not None]
    queries = [asked["queries"]] if case.kind == "recall" else []
    answers = asked.get("answers", {}).values() if case.kind == "apply" else ()
    return tuple(dict.fromkeys(_place(case, name) for name in (*bases, *answers, *queries)))


def _place(case: Case, name: str) -> str:
    return os.path.normpath(os.path.join(case.folder, name))


def _list_stores(case: Case) -> tuple[str, ...]:
    """The files or folders that its stores are made of, absolute, each once."""
    wanted = case.given.get("stores", {}).values()
    return tuple(dict.fromkeys(_place(case, one if isinstance(one, str) else one["from"]) for one in wanted))


def _walk_inputs(path: str) -> Iterator[str]:
    """The file, or the files in a folder, sorted; links are not followed."""
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
    """The name git has for the content of a file; None where it cannot be read."""
    try:
        return identify(read_file(path, MAX_PLAIN_BYTES))
    except (OSError, ValueError):
        return None


def render_inputs(inputs: Mapping[str, Any], figures: Figures | None, before: Figures | None = None) -> bytes:
    """The bytes of `golden.inputs.json`: the inputs, what the prompt came to, and while it is pending what it came to before."""
    known = {"figures": figures, "before": before}
    return render_note({**inputs, **{name: as_plain(one) for name, one in known.items() if one is not None}})


def render_note(noted: Mapping[str, Any]) -> bytes:
    """The bytes of a note beside goldens."""
    return (json.dumps(noted, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def read_inputs(path: str) -> dict[str, Any] | None:
    """The note that `render_inputs` wrote to that file; None where there is none that has a mapping of `files`. Nothing else of it is
    sure: anybody may have written it.
    """
    try:
        noted = read_json(read_file(path, MAX_PLAIN_BYTES))
    except OSError:
        return None
    return noted if isinstance(noted, dict) and isinstance(noted.get("files"), dict) else None


def load_touched(revision: str, folder: str) -> Touched:
    """What differs from `revision` in the repository around `folder`. `UsageError` (PC0910) for a revision git does not know,
    or a folder in no repository; `DiskError` (PC0910) where git cannot be run.
    """
    if revision.startswith("-"):
        raise _refuse_revision(revision, "it begins with a dash")
    root = find_repository(os.path.realpath(folder))
    if root is None:
        raise _refuse_revision(revision, "there is no git repository here")
    try:
        tree = run_git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}").decode().strip()
        added = run_git(root, "ls-files", "--others", "--exclude-standard", "-z")
        return Touched(root, list_entries(root, tree), frozenset(os.fsdecode(one) for one in added.split(b"\0") if one))
    except GitError as wrong:
        if wrong.is_missing:
            raise DiskError([Diagnostic("PC0910", str(wrong), help="`--changed` needs no git")]) from wrong
        raise _refuse_revision(revision, str(wrong), wrong.help) from wrong


def _refuse_revision(revision: str, why: str, help: str = "") -> UsageError:
    help = help or "name a commit, a branch or a tag of the repository"
    return UsageError([Diagnostic("PC0910", f"`--since {revision}`: {why}", help=help)])


def is_touched(case: Case, resources: SuiteResources, touched: Touched) -> bool:
    """Whether one of the files that are `touched` lies in the case's folder or its pack's, is one it names (a state, an answer, queries),
    one its stores are made of, or one its pack or the pack of a question is made of.

    A case that may be made of more than it names (a command line, circumstances) always counts as touched.
    """
    if not _names_all(case):
        return True
    folders = (case.folder, *(os.path.realpath(one) for one in (os.path.join(case.root, case.pack), *_list_stores(case))))
    return any(map(touched.has, (*folders, *map(os.path.realpath, _list_files(case)), *_list_pack_files(case, resources))))


def _names_all(case: Case) -> bool:
    """Whether what it names, its folder and its pack are all that it may be made of: a command line, and circumstances other than stores,
    may read anything.
    """
    return case.kind != "run" and all(name in _NAMED for name in case.given)


def _list_pack_files(case: Case, resources: SuiteResources) -> list[str]:
    """The files of its packs; of one that cannot be loaded none is known but those in its folder."""
    found: list[str] = []
    with work_in(case.root):
        for pack in list_packs(case, resources):
            try:
                files = resources.load_pack(case.root, pack).inputs.files
            except PromptcError:
                continue
            found += [os.path.realpath(os.path.join(case.root, one.folder, one.path)) for one in files]
    return found


class Passes:
    """What is known of the cases of one root, from the user's cache.

    A digest covers the case's file, the files it names, its goldens, every file of its packs, the fingerprints and documents of their
    indexes, and what counts their tokens; all of it holds only for this promptc, this Python and the packages it computes with. So
    whatever is known to have passed would pass again.
    """

    def __init__(self, cache: Cache, root: str) -> None:
        self._cache = cache
        self._root = root
        self._known: dict[str, _Known] | None = None
        self._above: dict[str, str] = {}

    def find(self, folder: str, resources: SuiteResources) -> Pass | None:
        """The pass of the case in `folder`, if nothing it was made of has changed since."""
        known = self._load().get(folder)
        if known is None:
            return None
        found = Pass(*known)
        if found.is_found and self._choose_pack(folder) != found.pack:
            return None
        return found if _digest_pass(self._root, folder, found, resources) == found.digest else None

    def list_inputs(self, folder: str) -> tuple[list[str], list[str]]:
        """The packs and the files of the case in `folder` when it last passed; where that is not known, the pack that it has by where it
        stands.
        """
        packs, _, files, *_ = self._load().get(folder, ((self._choose_pack(folder),), True, ()))
        return [os.path.join(self._root, one) for one in packs], [_join(folder, one) for one in files]

    def keep(self, passed: Mapping[str, Pass]) -> None:
        """Remembers these, by folder, besides what was known; folders that are gone are forgotten."""
        if not passed:
            return
        self._known = None
        known = {folder: one for folder, one in self._load().items() if folder in passed or os.path.isdir(folder)}
        known |= {folder: (one.packs, one.is_found, one.files, one.stores, one.goldens, one.digest) for folder, one in passed.items()}
        self._cache.keep(_name_passes(self._root), describe_maker() + marshal.dumps(known))

    def _load(self) -> dict[str, _Known]:
        if self._known is None:
            content = self._cache.load(_name_passes(self._root))
            maker = describe_maker()
            is_ours = content is not None and content[: len(maker)] == maker
            self._known = marshal.loads(content[len(maker) :]) if content is not None and is_ours else {}
        return self._known

    def _choose_pack(self, folder: str) -> str:
        """As `choose_pack`; what lies above is looked for once for all cases that stand beside each other."""
        if os.path.isfile(f"{folder}{os.sep}{MANIFEST}"):
            return choose_pack(folder, self._root)
        above = os.path.dirname(folder)
        if above not in self._above:
            self._above[above] = choose_pack(folder, self._root)
        return self._above[above]


def _digest_pass(root: str, folder: str, noted: Pass, resources: SuiteResources, made: Mapping[str, bytes] = _NOTHING) -> bytes | None:
    """A digest of all that a pass was made of, some goldens as they are `made`; None where one thing cannot be read."""
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
    """As `load_state` is asked for it, so that both mean the same file of the resources."""
    path = f"{folder}{os.sep}{name}"
    return path if os.pardir not in name else os.path.normpath(path)


def _name_passes(root: str) -> str:
    return f"passes {root}"


def note_pass(case: Case, resources: SuiteResources, made: Mapping[str, bytes] = _NOTHING) -> Pass | None:
    """The pass of a case that has just passed, or will once what it has `made` (goldens by their names) is accepted.

    None where it may depend on more than files it names, its packs' and their indexes': on engines, stores that it does not give,
    circumstances, commands.
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
    """Watches the inputs of a case. To be made before its file is read: what is noted of a run must be what the run has seen."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._stamps: dict[str, _Stamp] = {}
        self._look(f"{folder}{os.sep}{CASE}")

    def begin(self, case: Case) -> None:
        """Looks at what the case names, before it is run."""
        for path in (*_list_files(case), *(f"{case.folder}{os.sep}{name}" for _, _, name in case.list_goldens())):
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


def identify(content: bytes) -> str:
    """The name git has for a blob of that content, line ends as `\\n`."""
    plain = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return hashlib.sha1(b"blob %d\0%b" % (len(plain), plain), usedforsecurity=False).hexdigest()


class Touched:
    """The files of a repository that are not what they were in a revision: changed, added, removed. Looked at when they are asked for.

    What a file holds is compared as it lies there, line ends aside: where git keeps another text for it (a filter, such as that of large
    files), it counts as changed.
    """

    def __init__(self, root: str, committed: Mapping[str, TreeEntry], added: frozenset[str]) -> None:
        """`root` is the repository's folder (absolute, real); `committed` are paths from there, `added` the files git does not know yet."""
        self._root = root
        self._committed = committed
        self._paths = sorted(committed)
        self._added = sorted(added)
        self._known: dict[str, bool] = {}

    def has(self, path: str) -> bool:
        """Whether the file (absolute, real) is another, or is under `path`, where that is a folder."""
        inside = os.path.relpath(path, self._root)
        if inside == ".":
            inside = ""
        return any(map(self._differs, _list_under(self._paths, inside))) or bool(_list_under(self._added, inside))

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
    """The one of sorted paths that is meant, and those under it."""
    if not inside:
        return paths
    under = f"{inside.replace(os.sep, '/')}/"
    is_there = paths[bisect_left(paths, under[:-1]) :][:1] == [under[:-1]]
    return [*([under[:-1]] if is_there else []), *paths[bisect_left(paths, under) : bisect_left(paths, f"{under[:-1]}0")]]
