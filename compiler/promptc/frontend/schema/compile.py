"""A schema as functions: what a state is checked by and filled in by."""

import marshal
from collections.abc import Iterator
from functools import partial

from promptc.diag.typed import Any
from promptc.frontend.schema import rules
from promptc.frontend.schema.check import CheckWriter
from promptc.frontend.schema.keywords import Schema
from promptc.frontend.schema.postpone import compile_lazily
from promptc.frontend.schema.rules import Functions
from promptc.frontend.schema.run_code import run_code
from promptc.frontend.schema.verdict import Verdicts
from promptc.frontend.schema.write_fill import FillWriter

_MOST_SCHEMAS = 2000
"""Schemas in a schema that are compiled ahead, 0.1 ms each; of larger ones, functions are made as states need them."""
_BATCH = 50
"""Functions that are compiled at once: all at once would take a lot of memory, each alone more time."""


def compile_schema(verdicts: Verdicts) -> tuple[bytes, Functions]:
    """The functions, and code of this version of Python that `run_code` makes the same ones of; none where the schema is too large.

    Raises an EndlessDefaultError where a default never ends.
    """
    if verdicts.size > _MOST_SCHEMAS:
        return b"", make_functions(verdicts)
    texts = [*_iter_checks(verdicts), *_iter_fillers(verdicts)]
    parts = ["\n".join(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
    code = marshal.dumps([compile(part, "<state schema>", "exec", dont_inherit=True) for part in parts])
    return code, run_code(code)


def make_functions(verdicts: Verdicts) -> Functions:
    """The check of a schema, if all its keywords can be checked so, and what fills values in: made as they are needed."""
    writer = FillWriter(verdicts.root, verdicts.references)
    space: dict[str, Any] = dict(vars(rules))
    for name in writer.names:
        compile_lazily(space, name, partial(writer.write, name))
    exec(writer.write_end(), space)
    return verdicts.find(verdicts.root) if verdicts.taken else None, space["fill"]


def _iter_checks(verdicts: Verdicts) -> Iterator[str]:
    """The check of the root, `valid`, and those of the schemas that it calls."""
    if not verdicts.taken:
        yield "valid = None"
        return
    names: dict[int, str] = {}
    waiting: list[Schema] = []

    def name(schema: Schema) -> str:
        if id(schema) not in names:
            names[id(schema)] = f"c{len(names)}"
            waiting.append(schema)
        return names[id(schema)]

    writer = CheckWriter(verdicts.references, name)
    first = name(verdicts.root)
    while waiting:
        schema = waiting.pop()
        yield writer.write(schema, names[id(schema)])
    yield f"{writer.take_constants()}\nvalid = {first}"


def _iter_fillers(verdicts: Verdicts) -> Iterator[str]:
    writer = FillWriter(verdicts.root, verdicts.references)
    yield from map(writer.write, writer.names)
    yield writer.write_end()
