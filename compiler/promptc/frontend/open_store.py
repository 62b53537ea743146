"""A store that a pack declares, found where the command line, the environment or the manifest says it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, fail
from promptc.diag.frozen import replace
from promptc.files.paths import check_pack_path
from promptc.files.reading import find_link
from promptc.model.sources import Store
from promptc.sources.address import read_address
from promptc.sources.segments.store import SegmentStore


def open_store(store: Store, url: str, environment: Mapping[str, str], *, table: str | None = None) -> SegmentStore:
    """The store at `url`; where that is empty, at the URL in its variable of `environment`, else at that of the manifest.

    A path of the manifest is relative to the pack, any other to the working folder; `table` takes the place of the manifest's. Nothing is
    opened yet. Raises `PromptcError`: PC0167 for what is no URL or table, PC0150 and PC0152 for a manifest's path that leaves the pack;
    `DiskError` (PC0169) where nothing says where the store is.
    """
    given = url or (environment.get(store.url_env, "") if store.url_env else "")
    if given:
        return SegmentStore(read_address(given, store.span), table or store.table, store.span)
    if not store.url:
        message = f"nothing says where the store `{store.name}` is: the variable `{store.url_env}` is not set"
        raise DiskError([Diagnostic("PC0169", message, store.span, f"set it, or give `--store {store.name}=URL`")])
    address = read_address(store.url, store.span)
    if address.kind == "sqlite":
        _check_path(store, address.target)
        address = replace(address, target=str(Path(store.folder, address.target)))
    return SegmentStore(address, table or store.table, store.span)


def _check_path(store: Store, relative: str) -> None:
    """A manifest may come from elsewhere: it names no database outside its pack."""
    wrong = check_pack_path(relative)
    if wrong:
        help = "name a file inside the pack; `--store` and the variable may name any"
        raise fail("PC0150", f"`{relative[:200]}`: {wrong}", store.span, help=help)
    link = find_link(store.folder, relative)
    if link:
        raise fail("PC0152", f"`{relative}`: `{link}` is a link; links are not followed", store.span, help="put the file itself there")
