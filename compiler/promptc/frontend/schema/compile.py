"""A schema as functions: what a state is checked by and filled in by."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator
from functools import partial

from promptc.diag.typed import Any
from promptc.frontend.schema import rules
from promptc.frontend.schema.check import NOT_WRITTEN, CheckWriter, FillWriter
from promptc.frontend.schema.lint import References, Schema
from promptc.frontend.schema.rules import Check, Functions, run_code

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


class Verdicts:
    """The checks of a schema, found free of errors by `lint_schema`, and of the schemas in it. Written when they are first called."""

    def __init__(self, schema: Schema) -> None:
        root = {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema
        self.references = References(root)
        self.size = len(self.references.inside)
        """How many schemas it consists of."""
        self.taken = not any(word in inner for inner in self.references.inside for word in NOT_WRITTEN)
        """Whether the checks may be asked: no keyword stands in the schema that they do not know."""
        self.root = root
        """The schema without `$schema`, for which jsonschema would leave its keywords as they are changed here."""
        self._writer = CheckWriter(self.references, self._name)
        self._names: dict[int, str] = {}
        self._space: dict[str, Any] = dict(vars(rules))

    def find(self, schema: Schema) -> Check:
        """The check of the root or of any schema in it."""
        if isinstance(schema, bool):
            return lambda value, fuel: schema
        check: Check = self._space[self._name(schema)]
        return check

    def _name(self, schema: Schema) -> str:
        name = self._names.get(id(schema))
        if name is None:
            name = self._names[id(schema)] = f"c{len(self._names)}"
            compile_lazily(self._space, name, lambda: f"{self._writer.write(schema, name)}\n{self._writer.take_constants()}")
        return name


def compile_lazily(space: dict[str, Any], name: str, write: Callable[[], str]) -> None:
    """Puts a function of a value and fuel into `space`, where its text, once it is called, puts another of the same name."""

    def first(value: Any, fuel: Any) -> Any:
        if space[name] is first:
            exec(compile(write(), f"<{name}>", "exec", dont_inherit=True), space)
        return space[name](value, fuel)

    space[name] = first
