"""Arguments and options that several commands share."""

from collections.abc import Callable, Sequence
from functools import wraps

import click

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import UsageError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.model.pack import Format

PACK = click.argument("pack", type=click.Path())
STATE = click.argument("state", type=click.Path(allow_dash=True))

_MOOD = "mood"


@frozen
class Asked:
    """What a command line asks of a render in place of the pack's and the state's own choice."""

    budget: int | None
    variants: dict[str, str]
    patches: tuple[str, ...]
    format: Format | None
    changes: tuple[tuple[str, str], ...]


def read_count(ctx: click.Context, param: click.Parameter, given: str | None) -> int | None:
    """A whole number from 1, or none where none was given."""
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 10 and int(given) > 0):
        raise click.BadParameter(f"`{given}` is not a whole number from 1 to 999999999", ctx, param)
    return int(given)


def takes_choice(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a render; the function is given them as `asked`."""

    @wraps(function)
    def call(
        *arguments: Any,
        budget: int | None,
        variant: Sequence[str],
        mood: str | None,
        patch: Sequence[str],
        format: Format | None,
        set: Sequence[str],
        **named: Any,
    ) -> Any:
        variants = _read_variants([*variant, *([f"{_MOOD}={mood}"] if mood is not None else [])])
        return function(*arguments, asked=Asked(budget, variants, tuple(patch), format, _read_changes(set)), **named)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


_OPTIONS = (
    click.option("--budget", callback=read_count, metavar="N", help="The whole prompt's budget in tokens."),
    click.option("--variant", multiple=True, metavar="AXIS=CASE", help="A case for a variant axis; for several, give it again."),
    click.option("--mood", metavar="CASE", help="Short for --variant mood=CASE."),
    click.option("--patch", multiple=True, metavar="NAME", help="A patch of the pack; several apply in the order given."),
    click.option("--format", type=click.Choice(("text", "messages")), help="What to make, if not what the pack says."),
    click.option("--set", multiple=True, metavar="POINTER=JSON", help="A value in place of the state's, such as /turn/number=3."),
)


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


def _refuse(option: str, given: str, shape: str) -> UsageError:
    return UsageError([Diagnostic("PC0721", f"`{option} {given}` is not of the form {shape}", help=f"`{option} {shape}`, with an `=`")])
