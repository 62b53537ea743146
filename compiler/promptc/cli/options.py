"""Arguments and options that several commands share."""

from collections.abc import Callable, Sequence
from functools import wraps

import click

from promptc.cli.asked import is_count, read_asked
from promptc.diag.typed import Any
from promptc.model.messages import FORMATS

PACK = click.argument("pack", type=click.Path())
STATE = click.argument("state", type=click.Path(allow_dash=True))

STORE = click.option("--store", multiple=True, metavar="NAME=URL", help="Where a store of segments is, in place of what the pack says.")

NO_CACHE = click.option("--no-cache", is_flag=True, help="Read the pack's files afresh, and keep nothing for the next time.")


def read_count(ctx: click.Context, param: click.Parameter, given: str | None) -> int | None:
    """A whole number from 1, or none where none was given."""
    if given is None:
        return None
    if not is_count(given):
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
        format: str | None,
        set: Sequence[str],
        store: Sequence[str],
        **named: Any,
    ) -> Any:
        return function(*arguments, asked=read_asked(budget, variant, mood, patch, format, set, store), **named)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


_MADE = "What to make, if not what the pack says"
_OPTIONS = (
    click.option("--budget", callback=read_count, metavar="N", help="The whole prompt's budget in tokens."),
    click.option("--variant", multiple=True, metavar="AXIS=CASE", help="A case for a variant axis; for several, give it again."),
    click.option("--mood", metavar="CASE", help="Short for --variant mood=CASE."),
    click.option("--patch", multiple=True, metavar="NAME", help="A patch of the pack; several apply in the order given."),
    click.option("--format", type=click.Choice(FORMATS), metavar="FORMAT", help=f"{_MADE}: {', '.join(FORMATS)}."),
    click.option("--set", multiple=True, metavar="POINTER=JSON", help="A value in place of the state's, such as /turn/number=3."),
    STORE,
)
