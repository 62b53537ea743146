"""Discovery of cases: finding them on the disk, choosing them by path, pack or name, and reading them.

`choose_places` returns the folders that a command line means, `iter_cases` those under some paths. `load_case` reads one case, and
`match_names` parses the expression of `-k`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, UsageError, shorten, show_reason, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.files.reading import read_mode
from promptc.frontend.shape import check_case_shape
from promptc.frontend.yaml import MAX_BYTES, load_yaml
from promptc.golden.cases.case import Case, CaseKind, GivenState, fail_case, is_golden, read_plain
from promptc.golden.cases.confine import (
    PACKS,
    choose_fence,
    choose_pack,
    choose_root,
    confine,
    confine_case,
    locate_pack,
    name_case,
    show_path,
)
from promptc.model.pack import MANIFEST
from promptc.model.state import Node

_FIXTURES = "fixtures"
_NAMES = "`-k` matches names such as `lighthouse/foggy`"
_KINDS: Mapping[str, CaseKind] = {
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
_SLIPS = ("case.yml", "cases.yaml", "cases.yml")
"""Names of a file that was meant as a case, even in a folder without goldens."""
_PASSED_OVER = frozenset(("__pycache__", "node_modules", "venv"))
Match = Callable[[str], bool]
_TOKEN = re.compile(r"\s*(?:([()])|([^\s()]+))")
_WORDS = ("and", "or", "not")
_PATTERN = re.compile(r"[*?\[]")
_DEEPEST = 100


@frozen
class CaseFolders:
    """Folders in the order of their paths. `is_filtered` is true if some cases were chosen by name, and not all cases under the paths."""

    places: tuple[CaseFolder, ...]
    is_filtered: bool


@frozen
class CaseFolder:
    """A folder (absolute) with the goldens in it, including pending ones, by name.

    `is_case` says whether it has a `case.yaml`. If it has none, `misnamed` is a file that may be meant as one (`case.yml`). If `packs` is
    not empty, the case counts only if its pack (absolute) is among them, or if `is_any`: the folder was requested, too. `wrong` says why
    the folder could not be listed. `top` is the folder in which cases were searched.
    """

    folder: str
    goldens: tuple[str, ...]
    is_case: bool
    misnamed: str = ""
    packs: tuple[str, ...] = ()
    is_any: bool = False
    wrong: str = ""
    top: str = ""


def choose_places(asked: Sequence[str], is_named: Callable[[str], bool] | None = None) -> CaseFolders:
    """Return the folders of the requested cases.

    Each argument is a folder with cases, a case's folder or file, a pack (which means all cases of that pack, in it and in `fixtures` next
    to `packs`), the name of a case, or a pattern of names. Without arguments it is `fixtures` and `packs` of the working folder, or else
    all of it. `is_named` filters cases by their names.

    Raises `UsageError` (PC0907) if an argument leads to no case, or no name matches, and `DiskError` (PC0903) for a folder that does not
    exist.
    """
    found: dict[str, CaseFolder] = {}
    is_filtered = is_named is not None
    for one in asked or [""]:
        by_name = bool(one) and not read_mode(one)  # a look: `--watch` sees it come back
        is_filtered = is_filtered or by_name
        there = list(_iter_named(one) if by_name else _iter_at(one))
        if not there:
            raise _refuse_pack(one) if one and _is_pack(one) else _refuse(one)
        for place in there:
            found[place.folder] = _join(found.get(place.folder, place), place)
    places = [found[folder] for folder in sorted(found, key=lambda folder: folder.split(os.sep))]
    meant = [one for one in places if is_named is None or is_named(_name(one))]
    if not meant:
        raise UsageError([Diagnostic("PC0907", f"no case in {_show(asked)} has such a name", help=_NAMES)])
    return CaseFolders(tuple(meant), is_filtered)


def _iter_named(pattern: str) -> Iterator[CaseFolder]:
    places = [place for place in _iter_at("") if place.is_case]
    found = [place for place in places if _name(place) == pattern or fnmatchcase(_name(place), pattern)]
    if not found:
        near = suggest(pattern, map(_name, places))
        raise UsageError([Diagnostic("PC0907", f"`{pattern}` is neither a path nor the name of a case", help=near)])
    yield from found


def _iter_at(path: str) -> Iterator[CaseFolder]:
    if not path:
        here = os.getcwd()
        yield from (replace(place, top=os.path.realpath(here)) for place in iter_cases(_list_usual(here) or [here]))
    elif _is_pack(path):
        pack = os.path.realpath(path)
        wanted = os.path.dirname(pack) if os.path.basename(pack) == MANIFEST else pack
        yield from (replace(place, packs=(wanted,)) for place in iter_cases(_list_around(pack)))
    else:
        yield from iter_cases([path])


def _list_usual(folder: str) -> list[str]:
    return [path for name in (_FIXTURES, PACKS) if os.path.isdir(path := os.path.join(folder, name))]


def _is_pack(path: str) -> bool:
    """Return whether a path is a pack and not a case at the same time, as bad fixtures are."""
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, MANIFEST)) and not os.path.lexists(os.path.join(path, CASE))
    return os.path.isfile(path) and os.path.basename(path) != CASE


def _list_around(pack: str) -> list[str]:
    """Return the folders in which the cases of a pack are searched."""
    folder = pack if os.path.isdir(pack) else os.path.dirname(pack)
    fixtures = os.path.join(choose_root(os.path.join(folder, CASE)), _FIXTURES)
    return [folder, *([fixtures] if os.path.isdir(fixtures) else [])]


def _name(place: CaseFolder) -> str:
    return name_case(place.folder, choose_root(place.folder))


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


def _refuse(asked: str) -> UsageError:
    help = f"a case is a folder with a `{CASE}`, such as `fixtures/lighthouse/foggy`; docs/guides/goldens.md has one to begin with"
    return UsageError([Diagnostic("PC0907", f"there is no case in {_show([asked])}", help=help)])


def _join(one: CaseFolder, other: CaseFolder) -> CaseFolder:
    """Merge two requests for one folder: a case of either's packs counts, and any case if one names no pack."""
    is_any = one.is_any or other.is_any or not one.packs or not other.packs
    return replace(one, packs=tuple(dict.fromkeys((*one.packs, *other.packs))), is_any=is_any)


def check_met(places: Sequence[CaseFolder], met: Collection[str]) -> None:
    """Raise `UsageError` (PC0907) for a requested pack (`CaseFolder.packs`) without a case: one that is not in `met`."""
    for pack in dict.fromkeys(pack for one in places for pack in one.packs):
        if pack not in met:
            raise _refuse_pack(pack)


def iter_cases(paths: Sequence[str]) -> Iterator[CaseFolder]:
    """Yield every case folder, and every folder with goldens that is not a case, at or under `paths`, sorted by path and each once.

    A path may also be a `case.yaml`. Hidden folders, links to folders, `node_modules`, `venv` and `__pycache__` are skipped. One folder is
    listed at a time, lazily. A folder that cannot be listed is yielded, too. Raises `DiskError` (PC0903) for a folder that does not exist.
    """
    last = ""
    for path in sorted(dict.fromkeys(_read_folder(path) for path in paths), key=_sort_key):
        if not last or not f"{path}{os.sep}".startswith(f"{last}{os.sep}"):
            yield from (replace(place, top=path) for place in _walk(path))
            last = path


def _read_folder(path: str) -> str:
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
                elif name.lower().startswith(_MEANT) or name.lower() in _SLIPS:
                    misnamed.append(name)
                elif not name.startswith(".") and name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False):
                    inner.append(name)
    except OSError as wrong:
        yield CaseFolder(folder, (), is_case=False, wrong=show_reason(wrong))
        return
    if is_case or goldens or any(name.lower() in _SLIPS for name in misnamed):
        yield CaseFolder(folder, tuple(sorted(goldens)), is_case, min(misnamed, default=""))
    for name in sorted(inner):
        yield from _walk(f"{folder}{os.sep}{name}")


def load_case(folder: str, top: str = "") -> Case:
    """Load the case in `folder` (absolute, real). `top` is the folder in which cases were searched (`choose_fence`).

    Raises `PromptcError` with all findings if its file cannot be parsed or has another form (PC0901), if it cannot be read (PC0902,
    PC0903), and if it names a path outside its fence (PC0750). Whether the files it names exist is not checked.
    """
    root = choose_root(folder)
    fence = choose_fence(folder, top)
    file = show_path(os.path.join(folder, CASE), root)
    confine(CASE, folder, fence)
    node = load_yaml(read_plain(os.path.join(folder, CASE), file, MAX_BYTES), file, folder)
    plain: Any = node.plain()
    _refuse_lines(node, plain)
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
        pack=plain.get("pack") or choose_pack(folder, root),
        kind=kind,
        title=plain["title"],
        golden=tuple(plain.get("golden", ())),
        node=node,
        states=_read_states(kind, plain, node),
        carry=_read_carry(kind, plain, node),
        requires=_read_requires(plain, node),
        flags=plain.get("with", {}),
        given=plain.get("given", {}),
        expect=plain.get("expect", {}),
        asked=plain.get(kind),
        fence=fence,
    )
    confine_case(case)
    return case


def _read_carry(kind: CaseKind, plain: Mapping[str, Any], node: Node) -> tuple[str, ...]:
    given = plain.get("carry", ())
    if given and kind != "session":
        help = "give it `states`, or leave `carry` out"
        raise fail_case("PC0901", "`carry` hands on from turn to turn, and the case has no `states`", node.key_span("carry"), help=help)
    return (given,) if isinstance(given, str) else tuple(given)


def _read_states(kind: CaseKind, plain: Mapping[str, Any], node: Node) -> tuple[GivenState, ...]:
    if kind == "render":
        return (_read_state(plain["state"]),)
    if kind in ("apply", "recall"):
        return tuple(_read_state(given) for given in [plain[kind].get("state")] if given is not None)
    states = tuple(map(_read_state, plain.get("states", ())))
    if states and states[0].base is None:
        first = node.value["states"].value[0]
        raise fail_case("PC0901", "the first of `states` has no `base`", first.span, help="name a JSON file: `base: state.json`")
    return states


def _refuse_lines(node: Node, plain: Any) -> None:
    """Refuse a file with a state on each line, such as `promptc cache` reads: its shape would only be called a list that is too short."""
    given = plain.get("states") if isinstance(plain, dict) else None
    names = given if isinstance(given, list) else [given]
    name = next((one for one in names if isinstance(one, str) and one.endswith(".jsonl")), None)
    if name is not None:
        message = f"`states` names `{shorten(name)}`, which has a state on each line; a case names a file for each state"
        help = "split it, as by `split -l 1 --additional-suffix=.json session.jsonl turn_`, and list the files"
        raise fail_case("PC0901", message, node.value["states"].span, help=help)


def _read_state(given: Any) -> GivenState:
    if isinstance(given, str):
        return GivenState(given)
    return GivenState(given.get("base"), tuple(given.get("set", {}).items()))


def _read_requires(plain: Mapping[str, Any], node: Node) -> tuple[str, ...]:
    """Return the required extras. An extra that `given` hides cannot be required."""
    found = tuple(plain.get("requires", ()))
    hidden = next((one for one in found if one in plain.get("given", {}).get("missing", ())), None)
    if hidden is not None:
        at = node.value["requires"].value[found.index(hidden)].span
        raise fail_case("PC0901", f"the case requires `{hidden}`, and `given: {{missing: [{hidden}]}}` hides it", at, help=_EITHER)
    return found


def load_meant(place: CaseFolder) -> Case | None:
    """Return the case in a folder, or None if there is none, or if its pack was not requested. Raises what `load_case` raises."""
    case = load_case(place.folder, place.top) if place.is_case else None
    if case is None or place.is_any or not place.packs or locate_pack(case.pack, case.root) in place.packs:
        return case
    return None


def match_names(expression: str) -> Match:
    """Parse the expression of `-k` into a function that returns whether a case matches by its name.

    A word matches names that contain it, ignoring case. A word with `*`, `?` or `[` is a pattern for the whole name. Words are joined by
    `and`, `or`, `not` and parentheses, as in pytest's `-k`. Raises `UsageError` (PC0909) for anything else.
    """
    tokens = [(one[1] or one[2]) for one in _TOKEN.finditer(expression)]
    found, rest = _read_any(tokens, expression, 0)
    if rest:
        raise _refuse_names(
            expression, f"nothing was expected after `{rest[0]}`" if rest[0] == ")" else f"`{rest[0]}` follows without `and` or `or`"
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


def _refuse_names(whole: str, why: str) -> UsageError:
    return UsageError(
        [Diagnostic("PC0909", f"promptc cannot read `-k '{whole}'`: {why}", help="write it like `-k 'strain and not messages'`")]
    )


def _match_word(word: str) -> Match:
    if _PATTERN.search(word):
        return lambda name: fnmatchcase(name, word)
    folded = word.casefold()
    return lambda name: folded in name.casefold()


def _both(left: Match, right: Match) -> Match:
    return lambda name: left(name) and right(name)


def _either(left: Match, right: Match) -> Match:
    return lambda name: left(name) or right(name)
