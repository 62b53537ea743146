"""A schema as code: what a state is checked by and filled in by, without the schema."""

import marshal

from promptc.frontend.schema import rules
from promptc.frontend.schema.keywords import Schema
from promptc.frontend.schema.references import References
from promptc.frontend.schema.write_check import CheckWriter
from promptc.frontend.schema.write_fill import write_fill


def compile_schema(root: Schema, references: References, *, checked: bool) -> bytes:
    """Marshalled code of this interpreter, for `run_code`; without a check where the schema has keywords that no check is written for.

    Raises an EndlessDefaultError where a default never ends.
    """
    check = _write_checks(root, references) if checked else "valid = None"
    code = compile(f"{check}\n{write_fill(root, references)}", "<state schema>", "exec", dont_inherit=True)
    exec(code, dict(vars(rules)))
    return marshal.dumps(code)


def _write_checks(root: Schema, references: References) -> str:
    """The check of the root, `valid`, and those of the schemas that it calls."""
    names: dict[int, str] = {}
    waiting: list[Schema] = []

    def name(schema: Schema) -> str:
        if id(schema) not in names:
            names[id(schema)] = f"c{len(names)}"
            waiting.append(schema)
        return names[id(schema)]

    writer = CheckWriter(references, name)
    first = name(root)
    parts = [writer.write(schema, names[id(schema)]) for schema in iter(lambda: waiting.pop() if waiting else None, None)]
    return "\n".join([*parts, writer.take_constants(), f"valid = {first}"])
