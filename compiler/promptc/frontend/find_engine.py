"""The database that holds an index's chunks, where the pack names one."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, DiskError, fail
from promptc.model.sources import CorpusIndex
from promptc.sources.address import read_address
from promptc.sources.database import Database


def find_engine(index: CorpusIndex, environment: Mapping[str, str]) -> Database | None:
    """The database of an index's `engine`, None where it has none: at the URL in its variable of `environment`.

    Nothing is opened yet. Raises `PromptcError`: PC0167 for what is no URL, PC0278 for what is no PostgreSQL; `DiskError` (PC0169) where
    nothing says where it is.
    """
    engine = index.engine
    if engine is None:
        return None
    url = environment.get(engine.url_env, "")
    if not url:
        message = f"nothing says where the engine of `{index.name}` is: the variable `{engine.url_env}` is not set"
        raise DiskError([Diagnostic("PC0169", message, engine.span, "set it to a URL such as `postgresql://user@host/database`")])
    address = read_address(url, engine.span)
    if address.kind != "postgresql":
        message = f"`{address.shown}` cannot be the engine of `{index.name}`: that is a PostgreSQL with pgvector"
        raise fail("PC0278", message, engine.span, help="leave `engine` out: an index needs none")
    return Database(address, engine.span)
