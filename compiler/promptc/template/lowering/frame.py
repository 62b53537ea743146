"""Where a statement stands: its names, the list its output goes to, and what is known there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jinja2 import nodes
from jinja2.idtracking import Symbols


class Buffer(NamedTuple):
    """`out`: the variable that holds the list of output parts."""

    out: str


class Frame:
    """One scope. `toplevel`: what is set here is visible to blocks and importers; `guarded`: printed only if nothing is extended."""

    __slots__ = ("symbols", "buffer", "guarded", "toplevel", "rootlevel")

    def __init__(self, symbols: Symbols, buffer: Buffer) -> None:
        self.symbols = symbols
        self.buffer = buffer
        self.guarded = False
        self.toplevel = False
        self.rootlevel = False

    def inner(self, buffer: Buffer | None = None) -> Frame:
        """A scope inside this one."""
        made = Frame(Symbols(self.symbols), buffer or self.buffer)
        made.guarded = self.guarded
        return made

    def soft(self) -> Frame:
        """The same scope, in a branch that may not be run."""
        made = Frame(self.symbols, self.buffer)
        made.guarded = self.guarded
        made.toplevel = self.toplevel
        return made


def iter_loads(symbols: Symbols) -> Iterator[tuple[str, str, str]]:
    """For each variable a scope begins with: its Python name, how it is set (`param resolve alias undefined`), and from what."""
    for ident, (kind, source) in symbols.loads.items():
        yield ident, kind, source or ""


def find_stores(symbols: Symbols) -> Sequence[tuple[str, str]]:
    """Name and Python name of all that is set in a scope and those around it."""
    return list(symbols.dump_stores().items())


def find_targets(target: nodes.Node) -> list[str]:
    """The names a target sets, each once."""
    found = [target] if isinstance(target, nodes.Name) else list(target.find_all(nodes.Name))
    return sorted({name.name for name in found if name.ctx == "store"})
