"""`--version`: what the result of a render depends on, besides pack and state."""

from collections.abc import Iterator

import click

from promptc.cli.streams import write_stdout
from promptc.version import VERSION


def print_version(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
    """Prints promptc's version and, for every vocabulary that is shipped, the digest of the file that lies there; then ends."""
    if is_asked and not ctx.resilient_parsing:
        write_stdout("".join(f"{line}\n" for line in _iter_lines()).encode())
        ctx.exit()


def _iter_lines() -> Iterator[str]:
    from promptc.text.counters.vocabulary import VOCABULARIES

    yield f"promptc {VERSION}"
    for name, vocabulary in VOCABULARIES.items():
        yield f"{name} {_find_digest(name, vocabulary.sha256)}"


def _find_digest(name: str, wanted: str) -> str:
    from promptc.text.counters.vocabulary import find_vocabulary
    from promptc.text.digest import render_digest

    try:
        found = render_digest(find_vocabulary(name).read_bytes())
    except OSError:
        return "missing"
    return found if found == f"sha256:{wanted}" else f"{found} (another was shipped)"
