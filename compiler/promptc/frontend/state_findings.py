"""What is wrong with a state by its schema, as findings with places."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail, shorten, sort_diagnostics, suggest
from promptc.diag.frozen import replace
from promptc.frontend.json import JsonDocument, load_json
from promptc.frontend.schema.check import Verdicts, compile_schema
from promptc.frontend.schema.faults import STATE_WORDS, SchemaFault, find_causes, find_help, iter_faults
from promptc.frontend.schema.lint import Schema, iter_schemas, lint_schema
from promptc.frontend.schema.runtime import EndlessDefaultError, FuelError
from promptc.frontend.state import StateSchema
from promptc.text.json import join_pointer

MAX_SHOWN = 50
"""Findings that are reported of one state."""

_MAX_COUNTED = 1000
_LONGEST_POINTER = 200
_FUEL_HELP = "look for alternatives inside alternatives that lead to the same `$ref`"
_FUEL = 10_000


def describe_state(schema: Schema, document: JsonDocument, fuel: int) -> list[Diagnostic]:
    """What is wrong with a state: at most MAX_SHOWN findings, and one that says how many more there are; nothing when it is valid."""
    try:
        return _limit(_iter_findings(schema, document, fuel))
    except (FuelError, RecursionError):
        return [Diagnostic("PC0315", "checking this state against its schema takes too many steps", document.span(""), _FUEL_HELP)]


def _iter_findings(schema: Schema, document: JsonDocument, fuel: int) -> Iterator[Diagnostic]:
    for fault in iter_faults(Verdicts(schema), schema, document.value, [fuel]):
        for cause in find_causes(fault):
            yield from _describe(cause, document)


def _limit(findings: Iterator[Diagnostic]) -> list[Diagnostic]:
    shown = list(sort_diagnostics(islice(findings, MAX_SHOWN)))
    more = sum(1 for _ in islice(findings, _MAX_COUNTED))
    if more:
        count = f"{more} more" if more < _MAX_COUNTED else f"at least {_MAX_COUNTED} more"
        shown.append(Diagnostic("PC0305", f"{count} findings in this state are not shown", shown[-1].span, "mend these first", "note"))
    return shown


def _describe(fault: SchemaFault, document: JsonDocument) -> Iterator[Diagnostic]:
    pointer = join_pointer(fault.path)
    name = f"`{shorten(pointer, _LONGEST_POINTER)}`" if pointer else "the state"
    since = f", since {fault.condition}" if fault.condition else ""
    match fault.keyword:
        case "required":
            yield Diagnostic("PC0303", f"{name} lacks the key `{fault.wanted}`{since}", document.span(pointer), "give it")
        case "dependentRequired":
            key, needed = fault.wanted
            yield Diagnostic(
                "PC0303", f"{name} has the key `{key}` and lacks `{needed}`, which goes with it", document.span(pointer), "give it"
            )
        case "additionalProperties":
            yield Diagnostic("PC0304", _describe_extra(fault), document.key_span(pointer), _suggest_key(fault))
        case "unevaluatedProperties":
            yield Diagnostic("PC0304", f"{name} has keys that its schema does not know", document.span(pointer))
        case "propertyNames":
            wrong = STATE_WORDS.describe(fault.branches[0][0])
            yield Diagnostic("PC0304", f"the key `{shorten(str(fault.path[-1]))}` {wrong}", document.key_span(pointer))
        case _:
            yield Diagnostic("PC0302", f"{name} {STATE_WORDS.describe(fault)}{since}", document.span(pointer), find_help(fault))


def _describe_extra(fault: SchemaFault) -> str:
    around = join_pointer(fault.path[:-1])
    name = f"`{shorten(around, _LONGEST_POINTER)}`" if around else "the state"
    return f"{name} has the unknown key `{shorten(str(fault.path[-1]))}`"


def _suggest_key(fault: SchemaFault) -> str:
    known = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else ()
    return suggest(str(fault.path[-1]), known)


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
    for pointer, schema in iter_schemas(verdicts.root):
        if isinstance(schema, dict) and "default" in schema and _is_wrong(schema, verdicts):
            message = f"this default, {STATE_WORDS.show(schema['default'])}, is not valid by its own schema"
            yield Diagnostic("PC0317", message, document.key_span(f"{pointer}/default"), "give one that is", "warn")


def _is_wrong(schema: Schema, verdicts: Verdicts) -> bool:
    """Whether a schema's default is surely invalid: what takes too many steps to tell is not."""
    try:
        return not verdicts.find(schema)(schema["default"], [_FUEL])
    except (FuelError, RecursionError):
        return False
