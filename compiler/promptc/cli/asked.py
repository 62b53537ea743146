"""What a command line asks of a render."""

from collections.abc import Sequence

from promptc.diag.findings import Diagnostic, UsageError
from promptc.diag.frozen import frozen

_MOOD = "mood"


@frozen
class RenderRequest:
    """What a command line asks of a render in place of the pack's and the state's own choice."""

    budget: int | None
    variants: dict[str, str]
    patches: tuple[str, ...]
    format: str | None
    changes: tuple[tuple[str, str], ...]
    stores: dict[str, str]


@frozen
class RenderAsked:
    """The command line of a render."""

    pack: str
    state: str
    asked: RenderRequest
    only: tuple[str, ...] = ()
    output: str | None = None
    report: str | None = None
    is_cached: bool = True
    model: str | None = None


def read_asked(
    budget: int | None,
    variant: Sequence[str],
    mood: str | None,
    patch: Sequence[str],
    format: str | None,
    set: Sequence[str],
    store: Sequence[str] = (),
) -> RenderRequest:
    """The options of that name. `UsageError` (PC0721) for a variant, a change or a store that is not of its form."""
    variants = _read_variants([*variant, *([f"{_MOOD}={mood}"] if mood is not None else [])])
    return RenderRequest(budget, variants, tuple(patch), format, _read_changes(set), read_stores(store))


def is_count(given: str) -> bool:
    """Whether an argument is a whole number from 1 to 999999999."""
    return given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0


def _read_variants(given: Sequence[str]) -> dict[str, str]:
    variants: dict[str, str] = {}
    for one in given:
        axis, equals, case = one.partition("=")
        if not equals or not axis:
            raise _refuse("--variant", one, "AXIS=CASE")
        if variants.get(axis, case) != case:
            found = f"the axis `{axis}` is given two cases: `{variants[axis]}` and `{case}`"
            raise UsageError([Diagnostic("PC0721", found, help="give it one")])
        variants[axis] = case
    return variants


def _read_changes(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    changes = []
    for one in given:
        pointer, equals, text = one.partition("=")
        if not equals:
            raise _refuse("--set", one, "POINTER=JSON")
        changes.append((pointer, text))
    return tuple(changes)


def read_stores(given: Sequence[str]) -> dict[str, str]:
    """URLs by the names of stores. `UsageError` (PC0721) for what is not NAME=URL; a URL may hold a password, so it is not shown."""
    stores: dict[str, str] = {}
    for one in given:
        name, equals, url = one.partition("=")
        if not equals or not name or not url:
            raise UsageError(
                [Diagnostic("PC0721", "`--store` is not of the form NAME=URL", help="such as `--store main=sqlite:segments.db`")]
            )
        if stores.get(name, url) != url:
            raise UsageError([Diagnostic("PC0721", f"the store `{name}` is given two URLs", help="give it one")])
        stores[name] = url
    return stores


def _refuse(option: str, given: str, shape: str) -> UsageError:
    return UsageError([Diagnostic("PC0721", f"`{option} {given}` is not of the form {shape}", help=f"`{option} {shape}`, with an `=`")])
