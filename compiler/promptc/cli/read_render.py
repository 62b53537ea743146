"""The command line of `promptc render`, read without the library that reads all others: importing that takes as long as a warm render."""

from collections.abc import Callable, Sequence

from promptc.cli.asked import RenderAsked, is_count, read_asked
from promptc.cli.settings import COLORS, SHAPES
from promptc.diag.typed import Any
from promptc.model.messages import FORMATS

_FLAGS = ("--no-cache", "--quiet", "--traceback")
_MANY = ("--only", "--patch", "--set", "--store", "--variant")
_ONE: dict[str, Callable[[str], bool]] = {
    "--budget": is_count,
    "--color": COLORS.__contains__,
    "--diagnostics": SHAPES.__contains__,
    "--format": FORMATS.__contains__,
    "--model": lambda given: True,
    "--mood": lambda given: True,
    "--output": lambda given: True,
    "--report": lambda given: True,
}


def read_render(arguments: Sequence[str]) -> RenderAsked | None:
    """What `render PACK STATE` with known long options asks for; None for any other command line, and for one that may be wrong.

    Raises `UsageError` (PC0721) for a variant or a change that is not of its form.
    """
    if not arguments or arguments[0] != "render":
        return None
    places, found = _split(arguments[1:]) or ([], {})
    if len(places) != 2 or not all(places):
        return None
    budget, format = found.get("--budget"), found.get("--format")
    asked = read_asked(
        int(budget[-1]) if budget else None,
        found.get("--variant", ()),
        _find_last(found, "--mood"),
        found.get("--patch", ()),
        format[-1] if format else None,
        found.get("--set", ()),
        found.get("--store", ()),
    )
    only, output, report = tuple(found.get("--only", ())), _find_last(found, "--output"), _find_last(found, "--report")
    model = _find_last(found, "--model")
    return RenderAsked(places[0], places[1], asked, only, output, report, "--no-cache" not in found, model)


def _split(arguments: Sequence[str]) -> tuple[list[str], dict[str, Any]] | None:
    """The arguments that stand by themselves, and the values of each option; None where anything is not plain."""
    places: list[str] = []
    found: dict[str, list[str]] = {}
    rest = iter(arguments)
    for one in rest:
        name, equals, value = one.partition("=")
        if one == "-" or not one.startswith("-"):
            places.append(one)
        elif one in _FLAGS:
            found[one] = []
        elif name in _MANY or name in _ONE:
            value = value if equals else next(rest, "-")
            if value.startswith("-") or not _ONE.get(name, bool)(value):
                return None
            found.setdefault(name, []).append(value)
        else:
            return None
    return places, found


def _find_last(found: dict[str, list[str]], name: str) -> str | None:
    return found[name][-1] if name in found else None
