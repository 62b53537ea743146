"""Stores of segments as a pack declares them."""

from __future__ import annotations

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.template.load_expression import Expression

TABLE = "prompt_segments"


@frozen
class Store:
    """A store. `url` (empty: none) is relative to `folder` where it names a file; the variable `url_env` (empty: none) may name another.

    `locale` and `version` are what is preferred where a section does not say.
    """

    name: str
    span: Span
    folder: str
    url: str
    url_env: str
    table: str = TABLE
    locale: Expression | None = None
    version: Expression | None = None
