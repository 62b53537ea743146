"""A schema compiled to a function that says quickly whether a value is valid, and nothing more.

It agrees with jsonschema's Draft202012Validator on every schema it takes, but for patterns, which are ECMA-262's, and `multipleOf`,
which is exact in decimals. Those with `unevaluatedItems` or `unevaluatedProperties` are not taken.
"""

from promptc.diag.typed import Any
from promptc.frontend.schema.checks import PARTS, Check, Fuel, accept, join_checks, refuse
from promptc.frontend.schema.keywords import Schema, iter_schemas
from promptc.frontend.schema.references import References

_NOT_TAKEN = ("unevaluatedItems", "unevaluatedProperties")


class FuelError(Exception):
    """More references were followed than a check may follow."""


class Verdicts:
    """The checks of a schema, found free of errors by `lint_schema`, and of the schemas in it."""

    def __init__(self, schema: Schema) -> None:
        root = {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema
        inside = (inner for _, inner in iter_schemas(root) if isinstance(inner, dict))
        self.taken = not any(word in inner for inner in inside for word in _NOT_TAKEN)
        """Whether the checks may be asked: no keyword stands in the schema that is not taken."""
        self.root = root
        """The schema without `$schema`, for which jsonschema would leave its keywords as they are changed here."""
        self.references = References(root)
        self._made: dict[int, Check] = {}

    def find(self, schema: Schema) -> Check:
        """The check of the root or of any schema in it, made when it is first asked for, so that schemas may name themselves."""
        check = self._made.get(id(schema))
        if check is None:
            check = self._made[id(schema)] = self.compile(schema)
        return check

    def compile(self, schema: Schema) -> Check:
        if isinstance(schema, bool):
            return accept if schema else refuse
        checks = [check for part in PARTS if (check := part(self, schema)) is not None]
        if not checks:
            return accept
        return checks[0] if len(checks) == 1 else join_checks(tuple(checks))

    def compile_target(self, reference: str) -> Check:
        target = self.references.find(reference)

        def follow(value: Any, fuel: Fuel) -> bool:
            fuel[0] -= 1
            if fuel[0] < 0:
                raise FuelError
            return self.find(target)(value, fuel)

        return follow
