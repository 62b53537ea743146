"""Explains why a value does not fit a schema: where, by which keyword, and in words.

`iter_faults` finds the faults of a value that a check refused, `list_causes` selects the faults to report where alternatives fail, and
`SchemaWords` describes a fault by what the schema wants. `describe_state` makes findings of the faults of a state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import islice

from promptc.diag.findings import Diagnostic, Span, count_noun, find_near, shorten, show_value, sort_diagnostics, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument
from promptc.frontend.schema.check import OF_LISTS, OF_MAPPINGS, Verdicts
from promptc.frontend.schema.lint import Schema, iter_schemas
from promptc.frontend.schema.runtime import Fuel, FuelError, make_matcher
from promptc.text.json import join_pointer

Path = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

_MOST_CHOICES = 100
_LONGEST = 1_000
"""The most values, and the most characters of a pattern or a title, that a message shows of a schema."""

_KINDS = ("type", "const", "enum", "pattern", "format")
"""Keywords that show that a value is of another kind than the schema means."""

_MOST_DEMANDS = 4
"""The most demands of an `if` that are described."""

_ALIKE = 0.7
"""How similar a word must be to be suggested: `nope` is not similar enough to `ignore`."""

_NUMBERS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
}

_FORMATS = {
    "date-time": "a date and time such as `2026-11-22T18:30:00Z`",
    "date": "a date such as `2026-11-22`",
    "time": "a time such as `18:30:00Z`",
}

_LOCATING = 20_000_000
_MAX_SHOWN = 50
"""The most findings that are reported for one state."""

_MAX_COUNTED = 1000
_LONGEST_POINTER = 200
_FUEL_HELP = "look for an `anyOf` or `oneOf` that leads to the same `$ref` from several alternatives, or for very many patterns"

_SIZES = {
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "element"),
    "maxItems": ("at most", "element"),
    "minProperties": ("at least", "key"),
    "maxProperties": ("at most", "key"),
}


@frozen
class SchemaFault:
    """The value at `path` fails `keyword` of `schema`, which wants `wanted`. `branches` are the faults of each alternative.

    For `required`, `wanted` is the missing key; for `dependentRequired` it is the key that needs another and that missing key. For
    `propertyNames` and for a key that is not allowed, `path` ends in that key. The only branch of `propertyNames` contains the faults of
    the key. `condition` describes the innermost `if` that makes the keyword apply, or is empty if there is none.
    """

    path: Path
    keyword: str
    wanted: Any
    value: Any
    schema: Mapping[str, Any] | bool
    branches: tuple[tuple[SchemaFault, ...], ...] = ()
    condition: str = ""


def iter_faults(verdicts: Verdicts, schema: Schema, value: Any, fuel: Fuel) -> Iterator[SchemaFault]:
    """Yield every fault of `value` under `schema`, lazily, in the order of the schema's keywords.

    `schema` must be the root of `verdicts` or one of its subschemas. The checks decide whether a value fits, and consume fuel; this
    function only decides where to look. It skips elements and members that fit, so it finds one wrong element among many fast.
    """
    return _Walk(verdicts, fuel).iter_faults(schema, value, ())


class _Walk:
    """Searches for faults, with one method for each kind of keyword.

    A method receives the fault that a failing keyword would be, and yields that fault or others.
    """

    __slots__ = ("_make_matcher", "_fuel", "_verdicts")

    def __init__(self, verdicts: Verdicts, fuel: Fuel) -> None:
        self._verdicts = verdicts
        self._fuel = fuel
        self._make_matcher = cache(make_matcher)

    def iter_faults(self, schema: Schema, value: Any, path: Path) -> Iterator[SchemaFault]:
        if schema is False:
            yield SchemaFault(path, "false", None, value, schema)
        elif schema is not True:
            kind = value.__class__
            for word, wanted in schema.items():
                if word in _LOOKS and (kind is dict or word not in OF_MAPPINGS) and (kind is list or word not in OF_LISTS):
                    yield from _LOOKS[word](self, SchemaFault(path, word, wanted, value, schema))

    def _is_valid(self, schema: Schema, value: Any) -> bool:
        return self._verdicts.make_check(schema)(value, self._fuel)

    def look_here(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Yield the fault itself if the value as a whole fails the keyword."""
        if not self._verdicts.make_check(fault.schema, fault.keyword)(fault.value, self._fuel):
            yield fault

    def look_for_keys(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Yield a fault for each missing key."""
        value, wanted = fault.value, fault.wanted
        if fault.keyword == "required":
            missing: list[Any] = [key for key in wanted if key not in value]
        else:
            missing = [(key, needed) for key in wanted if key in value for needed in wanted[key] if needed not in value]
        yield from (replace(fault, wanted=one) for one in missing)

    def look_at_keys(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Yield a fault for each key with an invalid name."""
        for key in fault.value:
            if not self._is_valid(fault.wanted, key):
                path = (*fault.path, key)
                yield replace(fault, path=path, branches=(tuple(self.iter_faults(fault.wanted, key, path)),))

    def look_inside(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Yield the faults of elements and members."""
        for step, inner in self._iter_members(fault.keyword, fault.schema, fault.value):
            path = (*fault.path, step)
            if inner is False and fault.keyword == "additionalProperties":
                yield replace(fault, path=path)
            elif not self._is_valid(inner, fault.value[step]):
                yield from self.iter_faults(inner, fault.value[step], path)

    def _iter_members(self, word: str, schema: Any, value: Any) -> Iterable[tuple[Any, Schema]]:
        """Return the keys or indexes of a value that a keyword applies to, each with the schema that it must fit."""
        wanted = schema[word]
        match word:
            case "properties":
                return ((key, inner) for key, inner in wanted.items() if key in value)
            case "patternProperties":
                return ((key, inner) for pattern, inner in wanted.items() for key in value if self._make_matcher(pattern)(key, self._fuel))
            case "additionalProperties":
                known, matchers = schema.get("properties", ()), list(map(self._make_matcher, schema.get("patternProperties", ())))
                return ((key, wanted) for key in value if key not in known and not any(matches(key, self._fuel) for matches in matchers))
            case "prefixItems":
                return enumerate(wanted[: len(value)])
            case _:
                return ((place, wanted) for place in range(len(schema.get("prefixItems", ())), len(value)))

    def look_beside(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Yield the faults of the same value under other schemas, all of which it must fit."""
        match fault.keyword:
            case "allOf":
                asked = fault.wanted
            case "dependentSchemas":
                asked = [inner for key, inner in fault.wanted.items() if key in fault.value]
            case _:
                self._fuel[0] -= 1
                if self._fuel[0] < 0:
                    raise FuelError
                asked = [self._verdicts.references.find(fault.wanted)]
        for inner in asked:
            yield from self.iter_faults(inner, fault.value, fault.path)

    def look_under_condition(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Yield the faults under `then` or `else`. Each records the innermost `if` that makes it apply."""
        schema: Any = fault.schema
        holds = self._is_valid(fault.wanted, fault.value)
        for inner in self.iter_faults(schema.get("then" if holds else "else", True), fault.value, fault.path):
            yield inner if inner.condition else replace(inner, condition=describe_condition(fault.wanted, holds=holds))

    def look_for_one(self, fault: SchemaFault) -> Iterator[SchemaFault]:
        """Yield one fault if the value fits none of the alternatives, or more than it may."""
        branches: list[tuple[SchemaFault, ...]] = []
        for inner in fault.wanted:
            branch = tuple(self.iter_faults(inner, fault.value, fault.path))
            if not branch:
                break
            branches.append(branch)
        else:
            yield replace(fault, branches=tuple(branches))
        if fault.keyword == "oneOf" and any(self._is_valid(inner, fault.value) for inner in fault.wanted[len(branches) + 1 :]):
            yield fault


_LOOKS: Mapping[str, Callable[[_Walk, SchemaFault], Iterator[SchemaFault]]] = {
    **dict.fromkeys(
        (
            *(
                "type",
                "enum",
                "const",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
                "minLength",
                "maxLength",
            ),
            *("pattern", "format", "minItems", "maxItems", "uniqueItems", "contains", "minProperties", "maxProperties", "not"),
            *("unevaluatedItems", "unevaluatedProperties"),
        ),
        _Walk.look_here,
    ),
    **dict.fromkeys(("required", "dependentRequired"), _Walk.look_for_keys),
    **dict.fromkeys(("properties", "patternProperties", "additionalProperties", "prefixItems", "items"), _Walk.look_inside),
    **dict.fromkeys(("allOf", "dependentSchemas", "$ref", "$dynamicRef"), _Walk.look_beside),
    **dict.fromkeys(("anyOf", "oneOf"), _Walk.look_for_one),
    "propertyNames": _Walk.look_at_keys,
    "if": _Walk.look_under_condition,
}
"""The method that searches for the faults of each keyword."""


def list_causes(fault: SchemaFault) -> list[SchemaFault]:
    """Return the faults to report: if alternatives fail, those of the alternative that was most likely meant.

    That is the alternative of the right kind with the fewest faults, or the first of several. If none is of the right kind, or if several
    are and the best one knows none of the value's keys, the fault itself is returned.
    """
    if fault.keyword not in ("anyOf", "oneOf") or list_rule_keys(fault):
        return [fault]
    fitting = [branch for branch in fault.branches if not any(_is_other_kind(inner, fault) for inner in branch)]
    if not fitting:
        return [fault]
    meant = min(fitting, key=len)
    if len(fitting) > 1 and _is_all_unknown(meant, fault):
        return [fault]
    return [cause for inner in meant for cause in list_causes(inner)]


def _is_all_unknown(branch: tuple[SchemaFault, ...], outer: SchemaFault) -> bool:
    """Return whether an alternative knows none of the keys of the value, so nothing suggests that it was meant."""
    unknown = sum(1 for inner in branch if inner.keyword == "additionalProperties" and inner.path[:-1] == outer.path)
    return isinstance(outer.value, dict) and 0 < len(outer.value) == unknown


def _is_other_kind(inner: SchemaFault, outer: SchemaFault) -> bool:
    return inner.path == outer.path and (inner.keyword in _KINDS or _is_all_other(inner))


def _is_all_other(fault: SchemaFault) -> bool:
    """Return whether none of the fault's alternatives is of the value's kind."""
    return bool(fault.branches) and all(any(_is_other_kind(inner, fault) for inner in branch) for branch in fault.branches)


def list_rule_keys(fault: SchemaFault) -> list[str]:
    """Return the keys that a rule about the presence of keys names; empty for any other fault.

    Such a rule is `not`, `oneOf` or `anyOf` over schemas that only require keys.
    """
    if fault.keyword not in ("not", "oneOf", "anyOf"):
        return []
    options = fault.wanted if isinstance(fault.wanted, list) else [fault.wanted]
    keys: list[str] = []
    for option in options:
        inner = option.get("not", option) if isinstance(option, dict) else {}
        for rule in inner.get("anyOf", [inner]):
            if not isinstance(rule, dict) or set(rule) != {"required"}:
                return []
            keys += rule["required"]
    return list(dict.fromkeys(keys))


def suggest_value(fault: SchemaFault) -> str:
    """Return a suggestion of the nearest allowed word, or an empty text if none is near."""
    lists = [fault] if fault.keyword == "enum" else [inner for branch in fault.branches for inner in branch if inner.path == fault.path]
    known = [word for one in lists if one.keyword == "enum" for word in one.wanted if isinstance(word, str)]
    if isinstance(fault.value, str):
        near = suggest(fault.value, known, cutoff=_ALIKE)
        return near if near.startswith("did") else ""
    return ""


@frozen
class SchemaWords:
    """A language's own names for a mapping and a text."""

    mapping: str
    text: str

    def name_types(self, wanted: str | list[str]) -> str:
        """Return a `type` in words, such as `a whole number or null`."""
        names = {
            "object": self.mapping,
            "array": "a list",
            "string": self.text,
            "integer": "a whole number",
            "number": "a number",
            "boolean": "true or false",
            "null": "null",
        }
        return join_or(names[name] for name in ([wanted] if isinstance(wanted, str) else wanted))

    def show(self, value: Any) -> str:
        """Return a value as messages show it."""
        if isinstance(value, dict):
            return self.mapping if value else f"{self.mapping} without keys"
        if isinstance(value, list):
            return "a list" if value else "an empty list"
        return show_value(value)

    def show_whole(self, value: Any) -> str:
        """Return a value as messages show it, with the content of lists and mappings: `[1, 2]`."""
        return show_value(value) if value else self.show(value)

    def describe(self, fault: SchemaFault, shown: str = "") -> str:
        """Return what is wrong with the value, to follow its name in a message: `must be a string, not 12`.

        `shown` is the value as its author wrote it.
        """
        title = _read_title(fault.schema)
        value = shown or self.show(fault.value)
        if title == value:  # a list of the wrong kind, where the schema's title is `a list`
            value = self.show_whole(fault.value)
        match fault.keyword:
            case "type":
                return f"must be {title or self.name_types(fault.wanted)}, not {value}"
            case "enum" if not fault.wanted:
                return "is not allowed: its schema lists no value"
            case "enum":
                return f"must be {join_or(map(self.show_whole, fault.wanted))}, not {shown or self.show_whole(fault.value)}"
            case "const":
                return f"must be {title or self.show_whole(fault.wanted)}, not {shown or self.show_whole(fault.value)}"
            case "pattern":
                return f"must {'be ' + title if title else f'match the pattern `{shorten(fault.wanted, _LONGEST)}`'}, not {value}"
            case "format" if fault.wanted in _FORMATS:
                return f"must be {_FORMATS[fault.wanted]}, not {value}"
            case "anyOf" | "oneOf":
                return self._describe_alternatives(fault, title, value)
            case word if word in _NUMBERS:
                return f"must be {_NUMBERS[word].format(fault.wanted)}, not {value}"
            case word if word in _SIZES:
                return _describe_size(word, fault)
            case _:
                return _describe_rest(fault)

    def _describe_alternatives(self, fault: SchemaFault, title: str, value: str) -> str:
        if fault.keyword == "oneOf" and not fault.branches:
            return "fits more than one of the forms of which it may fit one"
        if title:
            return f"must be {title}, not {value}"
        types = [self.name_types(inner.wanted) for branch in fault.branches for inner in branch[:1] if inner.keyword == "type"]
        if len(types) == len(fault.branches):
            return f"must be {join_or(types)}, not {value}"
        return f"fits none of the {len(fault.branches)} forms that are allowed"


STATE_WORDS = SchemaWords("an object", "a string")
"""The names that JSON uses."""


def _read_title(schema: Any) -> str:
    """Return a schema's title for use in a sentence (`A folded scene` becomes `a folded scene`); empty for a heading: `Folded scene`."""
    title = schema.get("title") if isinstance(schema, dict) else None
    if not isinstance(title, str) or not title:
        return ""
    title = shorten(title, _LONGEST)
    is_phrase = title.startswith(("A ", "An ", "The "))
    return title[0].lower() + title[1:] if is_phrase else title if title[0].islower() else ""


def _describe_size(word: str, fault: SchemaFault) -> str:
    bound, noun = _SIZES[word]
    size = len(fault.value)
    return f"must have {bound} {fault.wanted} {noun}{'' if fault.wanted == 1 else 's'}, and has {size}"


def _describe_rest(fault: SchemaFault) -> str:
    match fault.keyword:
        case "uniqueItems":
            return "has two equal elements"
        case "contains":
            return f"must have {_count_contained(fault)} of the kind its schema names"
        case "not":
            return "is what its schema rules out"
        case _:
            return "is not allowed here"


def _count_contained(fault: SchemaFault) -> str:
    schema = fault.schema if isinstance(fault.schema, dict) else {}
    least, most = schema.get("minContains", 1), schema.get("maxContains")
    if most is not None:
        return f"{least} to {count_noun(most, 'element')}" if most != least else count_noun(most, "element")
    return f"at least {least} element{'' if least == 1 else 's'}"


def describe_condition(schema: Any, *, holds: bool) -> str:
    """Return a condition in words: `` `status` is `DONE` and `owner` is there``, or that this is not so.

    A condition that is not simple is described by its keyword.
    """
    told = _tell(schema) if isinstance(schema, dict) else []
    if not told or len(told) > _MOST_DEMANDS:
        return "its schema's `if` holds" if holds else "its schema's `if` does not hold"
    text = " and ".join(told)
    return text if holds else f"this does not hold: {text}"


def _tell(schema: dict[str, Any]) -> list[str]:
    """Return each demand of a schema that only sets values of keys and requires keys; empty for any other schema."""
    if not set(schema) <= {"properties", "required", "title", "description", "$comment"}:
        return []
    properties, required = schema.get("properties", {}), schema.get("required", [])
    told = []
    for key, one in properties.items():
        match one:
            case {"const": value} if len(one) == 1:
                values = [value]
            case {"enum": [_, *_] as values} if len(one) == 1:
                pass
            case _:
                return []
        told.append(f"`{shorten(key)}` is {join_or(STATE_WORDS.show(value) for value in values)}")
    return told + [f"`{shorten(key)}` is there" for key in required if key not in properties]


def join_or(words: Iterable[str]) -> str:
    """Return `a, b or c`, without duplicates. Of more than _MOST_CHOICES words, the others are counted."""
    *first, last = dict.fromkeys(words)
    if len(first) >= _MOST_CHOICES:
        first, last = first[:_MOST_CHOICES], f"one of {len(first) + 1 - _MOST_CHOICES} others"
    return f"{', '.join(first)} or {last}" if first else last


def describe_state(verdicts: Verdicts, document: JsonDocument, fuel: int) -> list[Diagnostic]:
    """Return what is wrong with a state: at most _MAX_SHOWN findings and one that counts the rest; empty if the state is valid."""
    try:
        return _limit_findings(_iter_state_findings(verdicts, document, fuel))
    except (FuelError, RecursionError):
        return [Diagnostic("PC0315", "checking this state against its schema takes too many steps", document.span(""), _FUEL_HELP)]


def _iter_state_findings(verdicts: Verdicts, document: JsonDocument, fuel: int) -> Iterator[Diagnostic]:
    for fault in iter_faults(verdicts, verdicts.root, document.value, [fuel]):
        for cause in list_causes(fault):
            yield from _describe_in_state(cause, document)


def locate_finding(schema: Any, document: JsonDocument, found: Diagnostic) -> tuple[str, str] | None:
    """Return the JSON pointers of the value that a finding of `describe_state` is about and of the keyword in the schema that it fails.

    Returns None if the finding is not about a keyword.
    """
    with suppress(FuelError, RecursionError):
        for fault in iter_faults(Verdicts(schema), schema, document.value, [_LOCATING]):
            for cause in list_causes(fault):
                if found in _describe_in_state(cause, document):
                    place = next((pointer for pointer, one in iter_schemas(schema) if one is cause.schema), "")
                    return join_pointer(cause.path), f"{place}/{cause.keyword}"
    return None


def _limit_findings(findings: Iterator[Diagnostic]) -> list[Diagnostic]:
    shown = list(sort_diagnostics(islice(findings, _MAX_SHOWN)))
    more = sum(1 for _ in islice(findings, _MAX_COUNTED))
    if more:
        count = f"{more} more" if more < _MAX_COUNTED else f"at least {_MAX_COUNTED} more"
        shown.append(Diagnostic("PC0305", f"{count} findings in this state are not shown", shown[-1].span, "correct these first", "note"))
    return shown


def _describe_in_state(fault: SchemaFault, document: JsonDocument) -> Iterator[Diagnostic]:
    pointer = join_pointer(fault.path)
    name = f"`{shorten(pointer, _LONGEST_POINTER)}`" if pointer else "the state"
    since = f", since {fault.condition}" if fault.condition else ""
    match fault.keyword:
        case "required":
            yield Diagnostic("PC0303", f"{name} is missing the key `{fault.wanted}`{since}", *_mend_lacking(fault, document, pointer))
        case "dependentRequired":
            key, needed = fault.wanted
            message = f"{name} has the key `{key}`, but is missing `{needed}`, which it needs"
            yield Diagnostic("PC0303", message, document.span(pointer), f'add `"{needed}": …`')
        case "additionalProperties":
            yield Diagnostic("PC0304", _describe_extra_key(fault), document.key_span(pointer), _suggest_key(fault))
        case "unevaluatedProperties":
            yield Diagnostic(
                "PC0304",
                f"{name} has keys that its schema does not declare",
                document.span(pointer),
                "remove them, or declare them in the schema",
            )
        case "propertyNames":
            wrong = STATE_WORDS.describe(fault.branches[0][0])
            yield Diagnostic("PC0304", f"the key `{shorten(str(fault.path[-1]))}` {wrong}", document.key_span(pointer), "rename the key")
        case _:
            yield Diagnostic("PC0302", f"{name} {STATE_WORDS.describe(fault)}{since}", document.span(pointer), _mend_value(fault))


def _mend_value(fault: SchemaFault) -> str:
    """Return what to write in place of a value of a wrong type, or the allowed word that is nearest."""
    value, wanted = fault.value, fault.wanted if fault.keyword == "type" else None
    if wanted == "array":
        return f"write a list: `{_sketch_value(fault.schema)}`"
    if wanted == "string" and isinstance(value, int | float):
        return f'write it in quotes: `"{show_value(value)}"`'
    if isinstance(value, str) and str(wanted) in _UNQUOTED and re.fullmatch(_UNQUOTED[str(wanted)], value):
        return f"write it without quotes: `{value}`"
    if wanted == "integer" and isinstance(value, float):
        return 'write a number without a fraction; or allow fractions in the schema: `"type": "number"`'
    if value is None and isinstance(wanted, str):
        return f'write a value, or allow null in the schema: `"type": ["{wanted}", "null"]`'
    return suggest_value(fault)


def _mend_lacking(fault: SchemaFault, document: JsonDocument, pointer: str) -> tuple[Span, str]:
    """Return the place and the help for a missing key. An unknown key with a similar name is taken for the missing one."""
    properties = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else {}
    unknown = [key for key in fault.value if key not in properties] if isinstance(fault.value, Mapping) and properties else []
    near = find_near(str(fault.wanted), unknown)
    if near:
        return document.key_span(join_pointer((*fault.path, near))), f"write `{fault.wanted}` instead of `{near}`"
    return document.span(pointer), f'add `"{fault.wanted}": {_sketch_value(properties.get(fault.wanted))}`'


_UNQUOTED = {"integer": "-?[0-9]{1,15}", "number": r"-?[0-9]{1,15}(\.[0-9]{1,15})?", "boolean": "true|false"}
_SKETCHES = {"string": '"…"', "integer": "0", "number": "0", "boolean": "true", "object": "{…}", "null": "null"}


def _sketch_value(schema: Any) -> str:
    """Return a value of the kind that a schema requires, as JSON with dots."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "array":
        return f"[{_sketch_value(schema.get('items'))}]"
    return _SKETCHES.get(kind, "…") if isinstance(kind, str) else "…"


def _describe_extra_key(fault: SchemaFault) -> str:
    around = join_pointer(fault.path[:-1])
    name = f"`{shorten(around, _LONGEST_POINTER)}`" if around else "the state"
    return f"{name} has the unknown key `{shorten(str(fault.path[-1]))}`"


def _suggest_key(fault: SchemaFault) -> str:
    known = fault.schema.get("properties", {}) if isinstance(fault.schema, dict) else ()
    return suggest(str(fault.path[-1]), known) or "remove it, or declare it under `properties` in the schema"
