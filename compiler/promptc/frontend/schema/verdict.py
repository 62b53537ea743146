"""The quick verdicts on values, by a schema and by any of the schemas in it, as they are asked for."""

from promptc.diag.typed import Any
from promptc.frontend.schema import rules
from promptc.frontend.schema.check import NOT_WRITTEN, CheckWriter
from promptc.frontend.schema.keywords import Schema
from promptc.frontend.schema.postpone import compile_lazily
from promptc.frontend.schema.references import References
from promptc.frontend.schema.rules import Check


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
