"""The JSON Schema of a pack's states: what it says of a state, and what it fills in."""

from collections.abc import Callable, Iterator
from itertools import islice

from promptc.diag.diagnostic import Diagnostic, sort_diagnostics
from promptc.diag.errors import PromptcError, fail
from promptc.diag.frozen import frozen, replace
from promptc.diag.span import Span
from promptc.diag.suggest import suggest
from promptc.diag.typed import Any
from promptc.frontend.json_io import JsonDocument, load_json
from promptc.frontend.schema.checks import Fuel
from promptc.frontend.schema.defaults import Defaults, EndlessDefaultError
from promptc.frontend.schema.fault import Fault, find_causes
from promptc.frontend.schema.keywords import Schema, escape, iter_schemas
from promptc.frontend.schema.lint_schema import lint_schema
from promptc.frontend.schema.pattern import PatternLimitError
from promptc.frontend.schema.verdict import FuelError, Verdicts
from promptc.frontend.schema.words import Words, find_help, shorten

MAX_SHOWN = 50
"""Findings that are reported of one state."""

_MAX_COUNTED = 1000
_LONGEST_POINTER = 200
_SPARE_FUEL = 10_000
_MAX_FUEL = 20_000_000
_WORDS = Words("an object", "a string")

FindFaults = Callable[[Verdicts, Schema, Any, Fuel], Iterator[Fault]]


@frozen(eq=False)
class StateSchema:
    """A schema without errors. `warnings` are what is doubtful in it."""

    schema: Schema
    warnings: tuple[Diagnostic, ...]
    _verdicts: Verdicts
    _defaults: Defaults
    _find_faults: FindFaults

    def check(self, document: JsonDocument) -> list[Diagnostic]:
        """What is wrong with a state, each with its place: at most MAX_SHOWN findings, and one that says how many more there are."""
        fuel = [_count_fuel(document)]
        try:
            if self._verdicts.taken and self._verdicts.find(self.schema)(document.value, fuel):
                return []
            fuel[0] = _count_fuel(document)
            return _limit(self._iter_findings(document, fuel))
        except (FuelError, PatternLimitError, RecursionError):
            return [Diagnostic("PC0315", "checking this state against its schema takes too many steps", document.span(""), _FUEL_HELP)]

    def fill(self, value: Any) -> Any:
        """The value with everything that its schema declares and it leaves out: the default, else none.

        Mappings stay in code-point order of their keys; parts that need nothing stay the same objects.
        """
        return self._defaults.fill(value)

    def _iter_findings(self, document: JsonDocument, fuel: Fuel) -> Iterator[Diagnostic]:
        for fault in self._find_faults(self._verdicts, self.schema, document.value, fuel):
            for cause in find_causes(fault):
                yield from _describe(cause, document)


def _count_fuel(document: JsonDocument) -> int:
    """As many references as there are characters, for a value takes at least one: schemas that need more ask again and again."""
    return min(_SPARE_FUEL + len(document.source.text), _MAX_FUEL)


_FUEL_HELP = "look for alternatives inside alternatives that lead to the same `$ref`"


def read_state_schema(raw: bytes, name: str, span: Span, find_faults: FindFaults) -> StateSchema:
    """See `load_state_schema`."""
    document = load_json(raw, name)
    found = [replace(finding, span=document.key_span(pointer)) for pointer, finding in lint_schema(document.value)]
    if any(finding.level == "error" for finding in found):
        raise PromptcError(found)
    verdicts = Verdicts(document.value)
    try:
        defaults = Defaults(verdicts.root, verdicts.references)
    except EndlessDefaultError:
        message = "a default in this schema holds itself, without end"
        raise fail("PC0313", message, document.span(""), help=f"it is the schema that {span} names") from None
    return StateSchema(verdicts.root, (*found, *_iter_wrong_defaults(document, verdicts)), verdicts, defaults, find_faults)


def _iter_wrong_defaults(document: JsonDocument, verdicts: Verdicts) -> Iterator[Diagnostic]:
    if not verdicts.taken:
        return
    for pointer, schema in iter_schemas(verdicts.root):
        if isinstance(schema, dict) and "default" in schema and not verdicts.find(schema)(schema["default"], [_SPARE_FUEL]):
            message = f"this default, {_WORDS.show(schema['default'])}, is not valid by its own schema"
            yield Diagnostic("PC0317", message, document.key_span(f"{pointer}/default"), "give one that is", "warn")


def _limit(findings: Iterator[Diagnostic]) -> list[Diagnostic]:
    shown = list(sort_diagnostics(islice(findings, MAX_SHOWN)))
    more = sum(1 for _ in islice(findings, _MAX_COUNTED))
    if more:
        count = f"{more} more" if more < _MAX_COUNTED else f"at least {_MAX_COUNTED} more"
        shown.append(Diagnostic("PC0305", f"{count} findings in this state are not shown", shown[-1].span, "mend these first", "note"))
    return shown


def _describe(fault: Fault, document: JsonDocument) -> Iterator[Diagnostic]:
    pointer = "".join(f"/{escape(str(step))}" for step in fault.path)
    name = f"`{shorten(pointer, _LONGEST_POINTER)}`" if pointer else "the state"
    match fault.keyword:
        case "required":
            yield Diagnostic("PC0303", f"{name} lacks the key `{fault.wanted}`", document.span(pointer), "give it")
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
            wrong = _WORDS.describe(fault.branches[0][0])
            yield Diagnostic("PC0304", f"the key `{shorten(str(fault.path[-1]))}` {wrong}", document.key_span(pointer))
        case _:
            yield Diagnostic("PC0302", f"{name} {_WORDS.describe(fault)}", document.span(pointer), find_help(fault))


def _describe_extra(fault: Fault) -> str:
    around = "".join(f"/{escape(str(step))}" for step in fault.path[:-1])
    name = f"`{shorten(around, _LONGEST_POINTER)}`" if around else "the state"
    return f"{name} has the unknown key `{shorten(str(fault.path[-1]))}`"


def _suggest_key(fault: Fault) -> str:
    known = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else ()
    return suggest(str(fault.path[-1]), known)
