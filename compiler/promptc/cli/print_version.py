"""`--version`: what the result of a render depends on, besides pack and state."""

import click

from promptc.cli.streams import write_stdout
from promptc.text.counters.vocabulary import VOCABULARIES, find_vocabulary
from promptc.text.digest import render_digest
from promptc.version import VERSION


def print_version(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
    """Prints promptc's version and, for every vocabulary that is shipped, the digest of the file that lies there; then ends."""
    if is_asked and not ctx.resilient_parsing:
        lines = [f"promptc {VERSION}", *(f"{name} {_find_digest(name)}" for name in VOCABULARIES)]
        write_stdout("".join(f"{line}\n" for line in lines).encode())
        ctx.exit()


def _find_digest(name: str) -> str:
    try:
        found = render_digest(find_vocabulary(name).read_bytes())
    except OSError:
        return "missing"
    return found if found == f"sha256:{VOCABULARIES[name].sha256}" else f"{found} (another was shipped)"
