"""A template made into code."""

from __future__ import annotations

from promptc.diag.frozen import frozen


@frozen
class LoweredFile:
    """One file of a template (`name` empty: the template itself), as bytes of `marshal`: they suit one version of the interpreter.

    `weight`: the steps of going through it once. `filters` and `tests`: the variables its code knows them by, and their names.
    The line of every instruction is a place in `text`: the characters before it, plus 1.
    """

    name: str
    text: str
    weight: int
    code: bytes
    blocks: tuple[str, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    tests: tuple[tuple[str, str], ...] = ()
