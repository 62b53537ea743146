"""`--version`: what the result of a render depends on, besides pack and state."""

from collections.abc import Iterator
from pathlib import Path

import click

from promptc.cache.store import find_exposed, find_folder, find_key_path
from promptc.cli.terminal import write_stdout
from promptc.text.counters.bpe import VOCABULARIES, Vocabulary, find_vocabulary
from promptc.text.json import render_digest
from promptc.version import VERSION


def print_version(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
    """Prints promptc's version and every vocabulary's digest, or what is wrong with the table that lies there, and why nothing is
    cached where others could write the cache; then ends.
    """
    if is_asked and not ctx.resilient_parsing:
        write_stdout("".join(f"{line}\n" for line in _iter_lines()).encode())
        ctx.exit()


def _iter_lines() -> Iterator[str]:
    yield f"promptc {VERSION}"
    for name, vocabulary in VOCABULARIES.items():
        yield f"{name} {_find_digest(name, vocabulary)}"
    folders = (find_folder() or "", find_key_path())
    exposed = [find_exposed(folder) for folder in folders if folder] if all(folders) else []
    yield from (f"cache off: others can write `{one}`; `chmod go-w` mends that" for one in dict.fromkeys(exposed) if one)


def _find_digest(name: str, vocabulary: Vocabulary) -> str:
    try:
        found = render_digest(Path(find_vocabulary(name)).read_bytes())
    except OSError:
        return "missing"
    return f"sha256:{vocabulary.sha256}" if found == f"sha256:{vocabulary.table}" else f"{found} (another was shipped)"
