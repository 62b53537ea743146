"""What is wrong with a state by its schema, as findings with places."""

from collections.abc import Iterator
from itertools import islice

from promptc.diag.findings import Diagnostic, sort_diagnostics, suggest
from promptc.diag.value import shorten
from promptc.frontend.json import JsonDocument
from promptc.frontend.schema.fault import SchemaFault, find_causes
from promptc.frontend.schema.faults import STATE_WORDS, find_help
from promptc.frontend.schema.keywords import Schema, escape
from promptc.frontend.schema.rules import FuelError, PatternLimitError
from promptc.frontend.schema.verdict import Verdicts
from promptc.frontend.schema_check import iter_faults

MAX_SHOWN = 50
"""Findings that are reported of one state."""

_MAX_COUNTED = 1000
_LONGEST_POINTER = 200
_FUEL_HELP = "look for alternatives inside alternatives that lead to the same `$ref`"


def describe_state(schema: Schema, document: JsonDocument, fuel: int) -> list[Diagnostic]:
    """What is wrong with a state: at most MAX_SHOWN findings, and one that says how many more there are; nothing when it is valid."""
    try:
        return _limit(_iter_findings(schema, document, fuel))
    except (FuelError, PatternLimitError, RecursionError):
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
    pointer = "".join(f"/{escape(str(step))}" for step in fault.path)
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
    around = "".join(f"/{escape(str(step))}" for step in fault.path[:-1])
    name = f"`{shorten(around, _LONGEST_POINTER)}`" if around else "the state"
    return f"{name} has the unknown key `{shorten(str(fault.path[-1]))}`"


def _suggest_key(fault: SchemaFault) -> str:
    known = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else ()
    return suggest(str(fault.path[-1]), known)
