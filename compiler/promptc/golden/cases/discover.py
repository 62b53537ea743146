"""Which cases a command line means."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.frozen import frozen, replace
from promptc.golden.find_cases import CASE, CaseFolder, find_cases
from promptc.golden.find_home import MANIFEST, PACKS, find_root, name_case

_FIXTURES = "fixtures"


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


_NAMES = "`-k` matches names such as `lighthouse/foggy`"
