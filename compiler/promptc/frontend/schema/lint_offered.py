"""Schemas that a model is to keep to: what no value can meet, which a schema of states may leave to its judge."""

from collections.abc import Iterator

from promptc.diag.findings import Diagnostic
from promptc.frontend.schema.keywords import Schema, iter_schemas
from promptc.frontend.schema.lint import Found


def lint_offered(root: Schema) -> Iterator[Found]:
    """Names in `required` that `additionalProperties: false` beside it forbids (PC0289): a model can only guess, and services refuse the
    schema. `root` is well formed."""
    for pointer, schema in iter_schemas(root):
        if not isinstance(schema, dict) or schema.get("additionalProperties") is not False or "patternProperties" in schema:
            continue
        declared = schema.get("properties", {})
        for name in dict.fromkeys(schema.get("required", ())):
            if name not in declared:
                message = f"`required` names `{name}`, which `properties` does not declare and `additionalProperties: false` forbids"
                help = f"declare `{name}` under `properties`, or take it out of `required`"
                yield f"{pointer}/required", Diagnostic("PC0289", message, None, help, "warn")
