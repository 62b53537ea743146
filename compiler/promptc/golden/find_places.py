"""Which cases a command line means."""

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import UsageError
from promptc.diag.frozen import frozen, replace
from promptc.diag.suggest import suggest
from promptc.golden.find_cases import CASE, Place, find_cases
from promptc.golden.find_home import MANIFEST, PACKS, find_root, name_case

_FIXTURES = "fixtures"


@frozen
class Places:
    """Folders in the order of their paths. `is_filtered` where not all cases under some paths are meant, but some by name."""

    places: tuple[Place, ...]
    is_filtered: bool


def find_places(asked: Sequence[str], is_named: Callable[[str], bool] | None = None) -> Places:
    """The folders of the cases that are asked for: each argument is a folder with cases, a case's folder or file, a pack (then all cases of
    that pack, in it and in `fixtures` beside `packs`), or the name of a case, or a pattern of names. Without any: `fixtures` and `packs`
    of the working folder, where it has them, else all of it. `is_named` leaves some out by their names.

    Raises `UsageError` (PC0907) where there is no case at all, or none by a name; `DiskError` (PC0903).
    """
    found: dict[str, Place] = {}
    is_filtered = is_named is not None
    for one in asked or [""]:
        by_name = bool(one) and not os.path.lexists(one)
        is_filtered = is_filtered or by_name
        for place in _find_named(one) if by_name else _find_at(one):
            if found.get(place.folder, place).pack:
                found[place.folder] = place
            found.setdefault(place.folder, place)
    places = [found[folder] for folder in sorted(found, key=lambda folder: folder.split(os.sep))]
    meant = [one for one in places if is_named is None or (one.is_case and is_named(_name(one)))]
    if not any(one.is_case or one.wrong for one in meant):
        raise _refuse(asked, is_there=any(one.is_case for one in places))
    return Places(tuple(meant), is_filtered)


def _find_at(path: str) -> Iterator[Place]:
    if not path:
        yield from find_cases(_list_usual(os.getcwd()) or [os.getcwd()])
    elif _is_pack(path):
        pack = os.path.realpath(path)
        folder = pack if os.path.isdir(pack) else os.path.dirname(pack)
        fixtures = os.path.join(find_root(os.path.join(folder, CASE)), _FIXTURES)
        under = [folder, *([fixtures] if os.path.isdir(fixtures) else [])]
        wanted = folder if os.path.basename(pack) == MANIFEST else pack
        yield from (replace(place, pack=wanted) for place in find_cases(under))
    else:
        yield from find_cases([path])


def _is_pack(path: str) -> bool:
    """A pack that is not a case at once, as bad fixtures are."""
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, MANIFEST)) and not os.path.lexists(os.path.join(path, CASE))
    return os.path.isfile(path) and os.path.basename(path) != CASE


def _find_named(pattern: str) -> Iterator[Place]:
    places = [place for place in _find_at("") if place.is_case]
    found = [place for place in places if _name(place) == pattern or fnmatchcase(_name(place), pattern)]
    if not found:
        near = suggest(pattern, map(_name, places))
        raise UsageError([Diagnostic("PC0907", f"`{pattern}` is neither a path nor the name of a case", help=near)])
    yield from found


def _list_usual(folder: str) -> list[str]:
    return [path for name in (_FIXTURES, PACKS) if os.path.isdir(path := os.path.join(folder, name))]


def _name(place: Place) -> str:
    return name_case(place.folder, find_root(place.folder))


def _refuse(asked: Sequence[str], *, is_there: bool) -> UsageError:
    where = ", ".join(f"`{one}`" for one in asked) or "the working folder"
    if is_there:
        return UsageError(
            [Diagnostic("PC0907", f"no case in {where} has such a name", help="`-k` matches names such as `lighthouse/foggy`")]
        )
    help = f"a case is a folder with a `{CASE}`, such as `fixtures/lighthouse/foggy`; docs/goldens.md has one to begin with"
    return UsageError([Diagnostic("PC0907", f"there is no case in {where}", help=help)])
