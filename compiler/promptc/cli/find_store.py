"""Which store a command about segments means."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path

import click

from promptc.api import Pack
from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.frontend.manifest import MANIFEST
from promptc.frontend.stores import open_store
from promptc.model.sources import TABLE
from promptc.sources.address import read_address
from promptc.sources.segments.store import SegmentStore


@frozen
class StoreAsked:
    """What the options say of the store."""

    pack: str | None
    name: str | None
    url: str | None
    table: str | None


def takes_store(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that name a store; the function is given them as `store`."""

    @wraps(function)
    def call(*arguments: Any, pack: str | None, store: str | None, url: str | None, table: str | None, **named: Any) -> Any:
        return function(*arguments, store=StoreAsked(pack, store, url, table), **named)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


_OPTIONS = (
    click.option("--pack", type=click.Path(), help="The pack that declares the store. [.]"),
    click.option("--store", metavar="NAME", help="Which of the pack's stores, if it has several."),
    click.option("--url", metavar="URL", help="Where the store is: sqlite:PATH or postgresql://…"),
    click.option("--table", metavar="NAME", help="The table, if not what the pack says."),
)


@contextmanager
def open_asked(asked: StoreAsked) -> Iterator[SegmentStore]:
    """The store, closed at the end. `UsageError` (PC0707, PC0720) when the options name none; errors of `open_store` and of the pack."""
    store = _open(asked)
    try:
        yield store
    finally:
        store.close()


def _open(asked: StoreAsked) -> SegmentStore:
    if asked.url is not None and asked.pack is None and asked.name is None:
        return SegmentStore(read_address(asked.url), asked.table or TABLE)
    if asked.pack is None and not Path(MANIFEST).is_file():
        help = "`--url sqlite:segments.db`, or `--pack PACK` for a store that a pack declares"
        raise UsageError([Diagnostic("PC0720", "no store is named, and there is no pack in this folder", help=help)])
    stores = {one.name: one for one in Pack.load(asked.pack or ".").model.stores}
    name = asked.name or (next(iter(stores)) if len(stores) == 1 else None)
    if name is None:
        what = f"declares {len(stores)} stores" if stores else "declares no store"
        help = f"name one: `--store {next(iter(stores))}`" if stores else "name one with `--url`, or declare it under `stores`"
        raise UsageError([Diagnostic("PC0720", f"the pack {what}", help=help)])
    if name not in stores:
        raise UsageError([Diagnostic("PC0707", f"the pack has no store `{name}`", help=suggest(name, stores))])
    return open_store(stores[name], asked.url or "", os.environ, table=asked.table)
