"""Which cases a command line means."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, UsageError, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.frontend.shape import check_case_shape
from promptc.frontend.yaml import MAX_BYTES, load_yaml
from promptc.golden.case import MAX_PLAIN_BYTES, PENDING, Case, GivenState, Kind, fail_case, is_golden, read_plain
from promptc.golden.confine import MANIFEST, PACKS, confine, confine_case, find_fence, find_pack, find_root, name_case, show_path
from promptc.golden.git import GitError, TreeEntry, find_repository, is_blob, list_entries, run_git
from promptc.golden.resources import SuiteResources, work_in
from promptc.model.messages import Ask
from promptc.model.state import Node

_FIXTURES = "fixtures"
_NAMES = "`-k` matches names such as `lighthouse/foggy`"
_ASKING = ("apply", "check")
_MOST = 10_000
"""Files of a folder that are listed; more than a store of segments has."""

_KNOWN = ("stores",)

_KINDS: Mapping[str, Kind] = {
    "state": "render",
    "states": "session",
    "apply": "apply",
    "recall": "recall",
    "check": "check",
    "run": "run",
}
_EITHER = "`requires` is what a run needs, `missing` what it has to go without: keep one of them"
_EACH = ", ".join(f"`{key}`" for key in _KINDS)
CASE = "case.yaml"
_MEANT = "case."
_PASSED_OVER = frozenset(("__pycache__", "node_modules", "venv"))
Match = Callable[[str], bool]
_TOKEN = re.compile(r"\s*(?:([()])|([^\s()]+))")
_WORDS = ("and", "or", "not")
_PATTERN = re.compile(r"[*?\[]")
_DEEPEST = 100


@frozen
class CaseFolders:
    """Folders in the order of their paths. `is_filtered` where not all cases under some paths are meant, but some by name."""

    places: tuple[CaseFolder, ...]
    is_filtered: bool


def find_places(asked: Sequence[str], is_named: Callable[[str], bool] | None = None) -> CaseFolders:
    """The folders of the cases that are asked for: each argument is a folder with cases, a case's folder or file, a pack (then all cases of
    that pack, in it and in `fixtures` beside `packs`), or the name of a case, or a pattern of names. Without any: `fixtures` and `packs`
    of the working folder, where it has them, else all of it. `is_named` leaves some out by their names.

    Raises `UsageError` (PC0907) where there is no case at one of them, or none by a name; `DiskError` (PC0903).
    """
    found: dict[str, CaseFolder] = {}
    is_filtered = is_named is not None
    for one in asked or [""]:
        by_name = bool(one) and not os.path.lexists(one)
        is_filtered = is_filtered or by_name
        there = list(_find_named(one) if by_name else _find_at(one))
        if not there:
            raise _refuse_pack(one) if one and _is_pack(one) else _refuse(one)
        for place in there:
            found[place.folder] = _join(found.get(place.folder, place), place)
    places = [found[folder] for folder in sorted(found, key=lambda folder: folder.split(os.sep))]
    meant = [one for one in places if is_named is None or is_named(_name(one))]
    if not meant:
        raise UsageError([Diagnostic("PC0907", f"no case in {_show(asked)} has such a name", help=_NAMES)])
    return CaseFolders(tuple(meant), is_filtered)


def _join(one: CaseFolder, other: CaseFolder) -> CaseFolder:
    """A folder that was asked for twice: a case of either's packs is meant, and any where one names none."""
    return replace(one, packs=tuple(dict.fromkeys((*one.packs, *other.packs))) if one.packs and other.packs else ())


def _find_at(path: str) -> Iterator[CaseFolder]:
    if not path:
        here = os.getcwd()
        yield from (replace(place, top=os.path.realpath(here)) for place in find_cases(_list_usual(here) or [here]))
    elif _is_pack(path):
        pack = os.path.realpath(path)
        wanted = os.path.dirname(pack) if os.path.basename(pack) == MANIFEST else pack
        yield from (replace(place, packs=(wanted,)) for place in find_cases(_list_around(pack)))
    else:
        yield from find_cases([path])


def _list_around(pack: str) -> list[str]:
    """Where the cases of a pack are looked for."""
    folder = pack if os.path.isdir(pack) else os.path.dirname(pack)
    fixtures = os.path.join(find_root(os.path.join(folder, CASE)), _FIXTURES)
    return [folder, *([fixtures] if os.path.isdir(fixtures) else [])]


def _is_pack(path: str) -> bool:
    """A pack that is not a case at once, as bad fixtures are."""
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, MANIFEST)) and not os.path.lexists(os.path.join(path, CASE))
    return os.path.isfile(path) and os.path.basename(path) != CASE


def _find_named(pattern: str) -> Iterator[CaseFolder]:
    places = [place for place in _find_at("") if place.is_case]
    found = [place for place in places if _name(place) == pattern or fnmatchcase(_name(place), pattern)]
    if not found:
        near = suggest(pattern, map(_name, places))
        raise UsageError([Diagnostic("PC0907", f"`{pattern}` is neither a path nor the name of a case", help=near)])
    yield from found


def _list_usual(folder: str) -> list[str]:
    return [path for name in (_FIXTURES, PACKS) if os.path.isdir(path := os.path.join(folder, name))]


def _name(place: CaseFolder) -> str:
    return name_case(place.folder, find_root(place.folder))


def check_met(places: Sequence[CaseFolder], met: Collection[str]) -> None:
    """`UsageError` (PC0907) for a pack that was asked for (`Place.packs`) and is none of those a case was `met` of."""
    for pack in dict.fromkeys(pack for one in places for pack in one.packs):
        if pack not in met:
            raise _refuse_pack(pack)


def _refuse(asked: str) -> UsageError:
    help = f"a case is a folder with a `{CASE}`, such as `fixtures/lighthouse/foggy`; docs/goldens.md has one to begin with"
    return UsageError([Diagnostic("PC0907", f"there is no case in {_show([asked])}", help=help)])


def _refuse_pack(asked: str) -> UsageError:
    pack = os.path.realpath(asked)
    under = _list_around(pack)
    name = os.path.basename(under[0])
    help = (
        f"looked for in {_show(under)}; `promptc test FOLDER` runs those of another folder; "
        f"a first one may be `{_FIXTURES}/{name}/first/{CASE}` or `{_show_path(under[0])}/cases/first/{CASE}`"
    )
    return UsageError([Diagnostic("PC0907", f"no case is found of the pack {_show([pack])}", help=help)])


def _show(paths: Sequence[str]) -> str:
    return " and ".join(f"`{_show_path(one)}`" for one in paths if one) or "the working folder"


def _show_path(path: str) -> str:
    return os.path.relpath(path).replace(os.sep, "/")


def is_touched(case: Case, shelf: SuiteResources, touched: Touched) -> bool:
    """Whether one of the files that are `touched` lies in the case's folder or its pack's, is one it names (a state, an answer, queries),
    one its stores are made of, or one its pack or the pack of a question is made of.

    A case that may be made of more than it names (a command line, circumstances) always counts as touched.
    """
    if not names_all(case):
        return True
    folders = (case.folder, *(os.path.realpath(one) for one in (os.path.join(case.root, case.pack), *list_stores(case))))
    return any(map(touched.has, (*folders, *map(os.path.realpath, list_files(case)), *_list_inputs(case, shelf))))


def _list_inputs(case: Case, shelf: SuiteResources) -> list[str]:
    """Of a pack that cannot be loaded none is known but those in its folder."""
    found: list[str] = []
    with work_in(case.root):
        for pack in list_packs(case, shelf):
            try:
                files = shelf.load_pack(case.root, pack).inputs.files
            except PromptcError:
                continue
            found += [os.path.realpath(os.path.join(case.root, one.folder, one.path)) for one in files]
    return found


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
        return any(map(self._differs, _find_under(self._paths, inside))) or bool(_find_under(self._added, inside))

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


def _find_under(paths: list[str], inside: str) -> list[str]:
    """Of sorted paths the one that is meant, and those under it."""
    if not inside:
        return paths
    under = f"{inside.replace(os.sep, '/')}/"
    is_there = paths[bisect_left(paths, under[:-1]) :][:1] == [under[:-1]]
    return [*([under[:-1]] if is_there else []), *paths[bisect_left(paths, under) : bisect_left(paths, f"{under[:-1]}0")]]


def find_touched(revision: str, folder: str) -> Touched:
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


def list_packs(case: Case, shelf: SuiteResources) -> tuple[str, ...]:
    """Its pack, and of a case that may ask them the packs of its operations' questions, as paths from the root, whether they can be
    loaded or not.
    """
    if case.kind not in _ASKING:
        return (case.pack,)
    with work_in(case.root):
        try:
            model = shelf.load_pack(case.root, case.pack).model
        except PromptcError:
            return (case.pack,)
        asks = [ask for one in model.list_operations() for ask in one.asks]
        return tuple(dict.fromkeys((case.pack, *(_find_file(ask, model.file) for ask in asks))))


def _find_file(ask: Ask, manifest: str) -> str:
    try:
        return ask.find_pack().file
    except PromptcError:
        return os.path.join(os.path.dirname(manifest), ask.pack)


def list_inputs(case: Case) -> list[str]:
    """Every file that the case's file names besides its pack, absolute, each once: states, answers, queries, the files of stores and the
    arguments of a command line that are files. Whether they are there is not asked, but of what stands for several.
    """
    return list(dict.fromkeys(_iter_files(case)))


def _iter_files(case: Case) -> Iterator[str]:
    yield from list_files(case)
    for path in list_stores(case):
        yield from _walk_inputs(path)
    if case.kind == "run":
        found = (os.path.normpath(os.path.join(case.root, argument)) for argument in case.asked if not argument.startswith("-"))
        yield from (path for path in found if path.startswith(f"{case.root}{os.sep}") and os.path.isfile(path))


def _walk_inputs(path: str) -> Iterator[str]:
    """The file, or the files in a folder, sorted; links are not followed."""
    if not os.path.isdir(path):
        yield path
        return
    left = _MOST
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names)[:left]:
            left -= 1
            yield os.path.normpath(os.path.join(folder, name))


def list_files(case: Case) -> tuple[str, ...]:
    """The files of its states, of the answers to its operation and of the queries to its index, absolute, each once."""
    asked = case.asked if isinstance(case.asked, dict) else {}
    bases = [one.base for one in case.states if one.base is not None]
    queries = [asked["queries"]] if case.kind == "recall" else []
    answers = asked.get("answers", {}).values() if case.kind == "apply" else ()
    return tuple(dict.fromkeys(_find(case, name) for name in (*bases, *answers, *queries)))


def list_stores(case: Case) -> tuple[str, ...]:
    """The files or folders that its stores are made of, absolute, each once."""
    return tuple(dict.fromkeys(_iter_stores(case)))


def names_all(case: Case) -> bool:
    """Whether what it names, its folder and its pack are all that it may be made of: a command line, and circumstances other than stores,
    may read anything.
    """
    return case.kind != "run" and all(name in _KNOWN for name in case.given)


def _iter_stores(case: Case) -> Iterator[str]:
    for wanted in case.given.get("stores", {}).values():
        yield _find(case, wanted if isinstance(wanted, str) else wanted["from"])


def _find(case: Case, name: str) -> str:
    return os.path.normpath(os.path.join(case.folder, name))


def load_case(folder: str, top: str = "") -> Case:
    """The case in `folder` (absolute, real); `top` is the folder in which cases were looked for (`find_fence`).

    Raises `PromptcError` with all findings of its reading or of its shape (PC0901), where it cannot be read (PC0902, PC0903), and where it
    names a path outside its fence (PC0750). Whether files it names are there is not asked yet.
    """
    root = find_root(folder)
    fence = find_fence(folder, top)
    file = show_path(os.path.join(folder, CASE), root)
    confine(CASE, folder, fence)
    node = load_yaml(read_plain(os.path.join(folder, CASE), file, MAX_BYTES), file, folder)
    plain: Any = node.plain()
    found = check_case_shape(node, plain)
    if found:
        if isinstance(node.value, dict) and not any(key in node.value for key in _KINDS):
            raise fail_case("PC0901", f"the case has none of {_EACH}: it does nothing", node.span, help="give it a `state`, or another")
        raise PromptcError(replace(one, code="PC0901") for one in found)
    kind = next(_KINDS[key] for key in _KINDS if key in plain)
    case = Case(
        name=name_case(folder, root),
        root=root,
        folder=folder,
        file=file,
        pack=plain.get("pack") or find_pack(folder, root),
        kind=kind,
        title=plain["title"],
        golden=tuple(plain.get("golden", ())),
        node=node,
        states=_read_states(kind, plain, node),
        carry=plain.get("carry"),
        requires=_read_requires(plain, node),
        flags=plain.get("with", {}),
        given=plain.get("given", {}),
        expect=plain.get("expect", {}),
        asked=plain.get(kind),
        fence=fence,
    )
    confine_case(case)
    return case


def _read_requires(plain: Mapping[str, Any], node: Node) -> tuple[str, ...]:
    """The extras; one that `given` hides cannot be required at once."""
    found = tuple(plain.get("requires", ()))
    hidden = next((one for one in found if one in plain.get("given", {}).get("missing", ())), None)
    if hidden is not None:
        at = node.value["requires"].value[found.index(hidden)].span
        raise fail_case("PC0901", f"the case requires `{hidden}`, and `given: {{missing: [{hidden}]}}` hides it", at, help=_EITHER)
    return found


def _read_states(kind: Kind, plain: Mapping[str, Any], node: Node) -> tuple[GivenState, ...]:
    if kind == "render":
        return (_read_state(plain["state"]),)
    if kind == "apply":
        return (_read_state(plain["apply"]["state"]),)
    states = tuple(map(_read_state, plain.get("states", ())))
    if states and states[0].base is None:
        first = node.value["states"].value[0]
        raise fail_case("PC0901", "the first of `states` has no `base`", first.span, help="name a JSON file: `base: state.json`")
    return states


def _read_state(given: Any) -> GivenState:
    if isinstance(given, str):
        return GivenState(given)
    return GivenState(given.get("base"), tuple(given.get("set", {}).items()))


@frozen
class CaseFolder:
    """A folder (absolute) with the goldens in it, pending ones too, by name. `is_case` tells whether it has a `case.yaml`; where it has
    none, `misnamed` is a file that may be meant as one (`case.yml`). Where `packs` are not empty, the case is meant only if its pack
    (absolute) is among them. `wrong` tells why the folder could not be looked into. `top` is the folder in which cases were looked for."""

    folder: str
    goldens: tuple[str, ...]
    is_case: bool
    misnamed: str = ""
    packs: tuple[str, ...] = ()
    wrong: str = ""
    top: str = ""


def find_cases(paths: Sequence[str]) -> Iterator[CaseFolder]:
    """Every case folder, and every folder that has goldens without being one, at or under `paths`, sorted by path and each once.

    A path may also be a `case.yaml`. Hidden folders, links to folders, `node_modules`, `venv` and `__pycache__` are not looked into.
    Lazily: one folder is listed at a time. One that cannot be listed is a place of its own, too. Raises `DiskError` (PC0903) for a folder
    that is not there.
    """
    last = ""
    for path in sorted(dict.fromkeys(_find_folder(path) for path in paths), key=_sort_key):
        if not last or not f"{path}{os.sep}".startswith(f"{last}{os.sep}"):
            yield from (replace(place, top=path) for place in _walk(path))
            last = path


def is_pending(name: str) -> bool:
    """Whether a golden of that name is a pending one."""
    return name.endswith(PENDING)


def _find_folder(path: str) -> str:
    absolute = os.path.realpath(path)
    if os.path.isdir(absolute):
        return absolute
    if os.path.basename(absolute) == CASE and os.path.lexists(absolute):
        return os.path.dirname(absolute)
    raise DiskError([Diagnostic("PC0903", f"there is no folder `{path}`", help="name a pack, a folder with cases, or a case")])


def _sort_key(path: str) -> list[str]:
    return path.split(os.sep)


def _walk(folder: str) -> Iterator[CaseFolder]:
    inner: list[str] = []
    goldens: list[str] = []
    misnamed: list[str] = []
    is_case = False
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name == CASE:
                    is_case = True
                elif is_golden(name):
                    goldens.append(name)
                elif name.lower().startswith(_MEANT):
                    misnamed.append(name)
                elif not name.startswith(".") and name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False):
                    inner.append(name)
    except OSError as wrong:
        yield CaseFolder(folder, (), is_case=False, wrong=wrong.strerror or str(wrong))
        return
    if is_case or goldens:
        yield CaseFolder(folder, tuple(sorted(goldens)), is_case, min(misnamed, default=""))
    for name in sorted(inner):
        yield from _walk(f"{folder}{os.sep}{name}")


def match_names(expression: str) -> Match:
    """Whether a case is meant by its name. Words stand in it, whatever their case; a word with `*`, `?` or `[` is a pattern for the whole
    name. They are joined by `and`, `or`, `not` and parentheses, as pytest's `-k` has them. `UsageError` (PC0909) for anything else.
    """
    tokens = [(one[1] or one[2]) for one in _TOKEN.finditer(expression)]
    found, rest = _read_any(tokens, expression, 0)
    if rest:
        raise _refuse_names(
            expression, f"nothing was expected behind `{rest[0]}`" if rest[0] == ")" else f"`{rest[0]}` follows without `and` or `or`"
        )
    return found


def _read_any(tokens: list[str], whole: str, depth: int) -> tuple[Match, list[str]]:
    left, rest = _read_all(tokens, whole, depth)
    while rest[:1] == ["or"]:
        right, rest = _read_all(rest[1:], whole, depth)
        left = _either(left, right)
    return left, rest


def _read_all(tokens: list[str], whole: str, depth: int) -> tuple[Match, list[str]]:
    left, rest = _read_one(tokens, whole, depth)
    while rest[:1] == ["and"]:
        right, rest = _read_one(rest[1:], whole, depth)
        left = _both(left, right)
    return left, rest


def _read_one(tokens: list[str], whole: str, depth: int) -> tuple[Match, list[str]]:
    if depth > _DEEPEST:
        raise _refuse_names(whole, f"it is nested deeper than {_DEEPEST} levels")
    first, rest = (tokens[0], tokens[1:]) if tokens else ("", [])
    if first == "not":
        inner, rest = _read_one(rest, whole, depth + 1)
        return (lambda name: not inner(name)), rest
    if first == "(":
        found, rest = _read_any(rest, whole, depth + 1)
        if rest[:1] != [")"]:
            raise _refuse_names(whole, "a parenthesis is not closed")
        return found, rest[1:]
    if not first or first == ")" or first in _WORDS:
        raise _refuse_names(whole, f"a name is missing before `{first}`" if first else "it ends where a name is due")
    return _match_word(first), rest


def _match_word(word: str) -> Match:
    if _PATTERN.search(word):
        return lambda name: fnmatchcase(name, word)
    folded = word.casefold()
    return lambda name: folded in name.casefold()


def _either(left: Match, right: Match) -> Match:
    return lambda name: left(name) or right(name)


def _both(left: Match, right: Match) -> Match:
    return lambda name: left(name) and right(name)


def _refuse_names(whole: str, why: str) -> UsageError:
    return UsageError([Diagnostic("PC0909", f"`-k '{whole}'` cannot be read: {why}", help="such as `-k 'strain and not messages'`")])
