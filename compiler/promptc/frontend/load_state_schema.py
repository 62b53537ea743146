"""A pack's state schema → the value that checks states and fills them in."""

from collections.abc import Iterator

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail
from promptc.diag.frozen import replace
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.schema.compile import compile_schema
from promptc.frontend.schema.faults import STATE_WORDS
from promptc.frontend.schema.keywords import Schema, iter_schemas
from promptc.frontend.schema.lint import lint_schema
from promptc.frontend.schema.rules import EndlessDefaultError, FuelError, PatternLimitError
from promptc.frontend.schema.verdict import Verdicts
from promptc.frontend.state import StateSchema

_FUEL = 10_000


def load_state_schema(raw: bytes, name: str, span: Span) -> StateSchema:
    """The JSON Schema (2020-12) of a pack's states; `name` is the file, `span` where the pack names it.

    Only references inside the file are followed (PC0312). Raises a PromptcError with every finding; unknown keywords and
    defaults that are invalid are among the schema's `warnings`.
    """
    document = load_json(raw, name)
    found = [replace(finding, span=document.key_span(pointer)) for pointer, finding in lint_schema(document.value)]
    if any(finding.level == "error" for finding in found):
        raise PromptcError(found)
    verdicts = Verdicts(document.value)
    try:
        code, functions = compile_schema(verdicts)
    except EndlessDefaultError:
        message = "a default in this schema holds itself, without end"
        raise fail("PC0313", message, document.span(""), help=f"it is the schema that {span} names") from None
    return StateSchema(verdicts.root, (*found, *_iter_wrong_defaults(document, verdicts)), code, [functions])


def _iter_wrong_defaults(document: JsonDocument, verdicts: Verdicts) -> Iterator[Diagnostic]:
    for pointer, schema in iter_schemas(verdicts.root) if verdicts.taken else ():
        if isinstance(schema, dict) and "default" in schema and _is_wrong(schema, verdicts):
            message = f"this default, {STATE_WORDS.show(schema['default'])}, is not valid by its own schema"
            yield Diagnostic("PC0317", message, document.key_span(f"{pointer}/default"), "give one that is", "warn")


def _is_wrong(schema: Schema, verdicts: Verdicts) -> bool:
    """Whether a schema's default is surely invalid: what takes too many steps to tell is not."""
    try:
        return not verdicts.find(schema)(schema["default"], [_FUEL])
    except (FuelError, PatternLimitError, RecursionError):
        return False
