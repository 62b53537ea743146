"""Checks that a schema is well formed before any value is checked against it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import ge, gt
from urllib.parse import unquote

from promptc.diag.findings import Diagnostic, count_noun, find_near, show_value, suggest
from promptc.diag.typed import Any
from promptc.frontend.schema.runtime import spell
from promptc.text.json import extend_pointer
from promptc.text.pattern import Pattern, PatternError

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_ASKED = 10_000
"""The most schemas that may apply to one value, with alternatives inside alternatives counted each time."""

Found = tuple[str, Diagnostic]
"""A JSON pointer into the schema, and a finding that has no place yet."""

REFERENCES = ("$ref", "$dynamicRef")
SCHEMA, SCHEMAS, SCHEMA_MAP = "a schema", "a list of schemas", "a mapping of names to schemas"
TEXT, TEXTS, TEXT_LISTS = "a string", "a list of different strings", "a mapping of names to lists of different strings"
COUNT, NUMBER, POSITIVE, BOOLEAN, LIST, ANY = "a whole number from 0", "a number", "a number over 0", "true or false", "a list", "anything"
TYPES, PATTERN, PATTERN_MAP = "a type, or a list of types", "a pattern", "a mapping of patterns to schemas"
BOOLEANS = "a mapping of names to true or false"

KEYWORDS: Mapping[str, str] = {
    **dict.fromkeys(("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"), SCHEMA),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "contentSchema"), SCHEMA),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), SCHEMAS),
    **dict.fromkeys(("properties", "dependentSchemas", "$defs", "definitions"), SCHEMA_MAP),
    **dict.fromkeys(("title", "description", "format", "contentEncoding", "contentMediaType", "$comment", "$schema", "$id"), TEXT),
    **dict.fromkeys(("$ref", "$dynamicRef", "$anchor", "$dynamicAnchor"), TEXT),
    **dict.fromkeys(
        ("maxLength", "minLength", "maxItems", "minItems", "maxContains", "minContains", "maxProperties", "minProperties"), COUNT
    ),
    **dict.fromkeys(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), NUMBER),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), BOOLEAN),
    **dict.fromkeys(("enum", "examples"), LIST),
    **dict.fromkeys(("const", "default"), ANY),
    "type": TYPES,
    "multipleOf": POSITIVE,
    "required": TEXTS,
    "dependentRequired": TEXT_LISTS,
    "pattern": PATTERN,
    "patternProperties": PATTERN_MAP,
    "$vocabulary": BOOLEANS,
}
TYPE_NAMES = ("array", "boolean", "integer", "null", "number", "object", "string")
_LIMITS = (
    ("minLength", "maxLength", "string", gt),
    ("minItems", "maxItems", "list", gt),
    ("minimum", "maximum", "number", gt),
    ("minimum", "exclusiveMaximum", "number", ge),
    ("exclusiveMinimum", "maximum", "number", ge),
    ("exclusiveMinimum", "exclusiveMaximum", "number", ge),
    ("minProperties", "maxProperties", "object", gt),
)
"""Pairs of limits, what they limit, and when no value is within both."""
_JSON_TYPES = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}
IN_PLACE = ("not", "if", "then", "else")
"""Keywords whose schema applies to the same value; so do lists of schemas, `dependentSchemas` and the targets of references."""

OLD = {
    "additionalItems": "in 2020-12 it is `items` next to `prefixItems`",
    "dependencies": "in 2020-12 it is `dependentRequired` or `dependentSchemas`",
    "id": "in 2020-12 it is `$id`",
    "nullable": 'in 2020-12 a type may be a list: `["string", "null"]`',
    "$recursiveRef": "in 2020-12 it is `$dynamicRef`",
    "$recursiveAnchor": "in 2020-12 it is `$dynamicAnchor`",
}

EDITOR = (
    "markdownDescription",
    "enumDescriptions",
    "markdownEnumDescriptions",
    "defaultSnippets",
    "errorMessage",
    "deprecationMessage",
    "doNotSuggest",
)
"""Keywords that only editors read."""

Schema = Any
"""A mapping of keywords, or a boolean."""


def lint_offered(root: Schema) -> Iterator[Found]:
    """Yield a warning (PC0289) for keywords next to each other that no value, or no value of its type, can meet.

    Examples are a name in `required` that `additionalProperties: false` forbids, and a minimum over its maximum. `root` is well formed.
    """
    for pointer, schema in iter_schemas(root):
        if isinstance(schema, dict):
            yield from _lint_required(pointer, schema)
            yield from _lint_limits(pointer, schema)
            yield from _lint_values(pointer, schema)


def _lint_required(pointer: str, schema: Mapping[str, Any]) -> Iterator[Found]:
    if schema.get("additionalProperties") is not False or "patternProperties" in schema:
        return
    declared = schema.get("properties", {})
    for name in dict.fromkeys(schema.get("required", ())):
        if name not in declared:
            message = f"`required` names `{name}`, which `properties` does not declare and `additionalProperties: false` forbids"
            near = find_near(name, declared, cutoff=0.7)
            meant = f"did you mean `{near}`? Else " if near is not None else ""
            help = f"{meant}declare `{name}` under `properties`, or remove it from `required`"
            yield f"{pointer}/required", Diagnostic("PC0289", message, None, help, "warn")


def _lint_limits(pointer: str, schema: Mapping[str, Any]) -> Iterator[Found]:
    for low, high, what, excludes in _LIMITS:
        if low in schema and high in schema and excludes(schema[low], schema[high]):
            message = f"`{low}` is {show_value(schema[low])} and `{high}` is {show_value(schema[high])}: no {what} is both"
            yield f"{pointer}/{low}", Diagnostic("PC0289", message, None, f"lower `{low}`, or raise `{high}`", "warn")
    names, most = len(schema.get("required", ())), schema.get("maxProperties")
    if most is not None and names > most:
        message = f"`required` has {names} names and `maxProperties` is {show_value(most)}: no object is both"
        yield f"{pointer}/maxProperties", Diagnostic("PC0289", message, None, f"raise `maxProperties` to {names}", "warn")
    listed = schema.get("items")
    if schema.get("uniqueItems") and "minItems" in schema and "prefixItems" not in schema and isinstance(listed, dict) and "enum" in listed:
        values = len({spell(value) for value in listed["enum"]})
        if schema["minItems"] > values:
            least = show_value(schema["minItems"])
            allowed = f"`minItems` is {least}, and `items` allows {count_noun(values, 'different value')}"
            message = f"{allowed}: no list is both, as `uniqueItems` forbids repeats"
            yield f"{pointer}/minItems", Diagnostic("PC0289", message, None, f"lower `minItems` to {values}", "warn")


def _lint_values(pointer: str, schema: Mapping[str, Any]) -> Iterator[Found]:
    given, listed = schema.get("type", TYPE_NAMES), schema.get("enum")
    types = (given,) if isinstance(given, str) else given
    if listed is not None and not any(_has_type(value, types) for value in listed):
        message = "`type` allows no value of `enum`" if listed else "`enum` is empty, so no value is valid"
        yield f"{pointer}/enum", Diagnostic("PC0289", message, None, "list the values that are valid, or remove `enum`", "warn")
    if "const" in schema:
        value = schema["const"]
        if not _has_type(value, types):
            message = f"`type` does not allow `const`, which is {show_value(value)}"
            yield f"{pointer}/const", Diagnostic("PC0289", message, None, "correct `type`, or remove it: `const` is enough", "warn")
        elif listed and spell(value) not in map(spell, listed):
            message = f"`enum` does not contain `const`, which is {show_value(value)}"
            yield f"{pointer}/const", Diagnostic("PC0289", message, None, "remove `enum`: `const` is enough", "warn")


def _has_type(value: Any, types: Sequence[str]) -> bool:
    if _is_number(value):
        return "number" in types or ("integer" in types and value == int(value))
    return _JSON_TYPES[type(value)] in types


def lint_schema(root: Schema) -> list[Found]:
    """Return everything wrong with a schema: keywords and their values, references, circles, patterns. An unknown keyword is a warning."""
    if not isinstance(root, (dict, bool)):
        return [("", Diagnostic("PC0310", f"a schema must be an object, or true or false, not {_name(root)}", None, _mend_schema(root)))]
    found: list[Found] = []
    for pointer, schema in iter_schemas(root):
        found += _lint_one(pointer, schema)
    if any(finding.level == "error" for _, finding in found):
        return found
    references = References(root)
    found += _lint_references(root, references)
    return found or _lint_circles(root, references)


def _lint_one(pointer: str, schema: Schema) -> Iterator[Found]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        old = isinstance(schema, list) and pointer.endswith("/items")
        help = "in 2020-12 a list of schemas is `prefixItems`" if old else _mend_schema(schema)
        yield pointer, Diagnostic("PC0310", f"a schema must be an object, or true or false, not {_name(schema)}", None, help)
        return
    for keyword, value in schema.items():
        yield from _lint_keyword(extend_pointer(pointer, keyword), keyword, value)
    if pointer and "$schema" in schema:
        yield f"{pointer}/$schema", Diagnostic("PC0316", "`$schema` is allowed only at the root of a schema", None, "remove it")
    if pointer and "$id" in schema:
        yield (
            f"{pointer}/$id",
            Diagnostic("PC0316", "`$id` inside a schema is not read: references stay in one file", None, "use `$anchor`"),
        )
    if "patternProperties" in schema and "unevaluatedProperties" in schema:
        message = "`unevaluatedProperties` next to `patternProperties` is not supported"
        yield f"{pointer}/unevaluatedProperties", Diagnostic("PC0316", message, None, "use `additionalProperties`")


def _lint_keyword(pointer: str, keyword: str, value: Any) -> Iterator[Found]:
    kind = KEYWORDS.get(keyword)
    if kind is None:
        if not keyword.startswith("x-") and keyword not in EDITOR:
            yield (
                pointer,
                Diagnostic(
                    "PC0311", f"`{keyword[:80]}` is not a keyword of JSON Schema 2020-12, and checks nothing", None, _mend(keyword), "warn"
                ),
            )
    elif not _HOLDS[kind](value):
        yield pointer, Diagnostic("PC0310", f"`{keyword}` must be {kind}, not {_name(value)}", None, _mend_type(keyword, value))
    elif keyword == "$schema" and value.removesuffix("#") != DIALECT:
        yield pointer, Diagnostic("PC0316", f"`$schema` is `{value[:80]}`, and promptc reads 2020-12", None, f"write `{DIALECT}`")
    elif keyword == "pattern":
        yield from _lint_pattern(pointer, value)
    elif keyword == "patternProperties":
        for name in value:
            yield from _lint_pattern(extend_pointer(pointer, name), name)


def _lint_pattern(pointer: str, pattern: str) -> Iterator[Found]:
    try:
        Pattern(pattern)
    except PatternError as wrong:
        yield (
            pointer,
            Diagnostic(
                "PC0314",
                f"the pattern `{pattern[:80]}` cannot be used: {wrong}",
                None,
                _mend_pattern(str(wrong)),
            ),
        )


def _mend_pattern(why: str) -> str:
    if "look-around" in why:
        return "write it without look-around, or check the value under `asserts`"
    return "correct the pattern; a backslash before a sign takes it literally, and JSON needs two of them: `\\\\.`"


def _lint_references(root: Schema, references: References) -> Iterator[Found]:
    for pointer, schema in iter_schemas(root):
        for keyword in REFERENCES if isinstance(schema, dict) else ():
            reference = schema.get(keyword)
            if reference is not None and references.find(reference) is None:
                yield f"{pointer}/{keyword}", _describe_reference(keyword, reference, root)


def _describe_reference(keyword: str, reference: str, root: Schema) -> Diagnostic:
    if not reference.startswith("#"):
        return Diagnostic(
            "PC0312",
            f"`{keyword}: {reference[:80]}` points to another file, and promptc reads only this one",
            None,
            "copy the definition to `$defs` in this file, and write `#/$defs/…`",
        )
    known = [extend_pointer("#/$defs", name) for name in root.get("$defs", {})]
    help = suggest(reference, known) or "write the schema under `$defs` of this file, and name it as in `#/$defs/person`"
    return Diagnostic("PC0312", f"`{keyword}: {reference[:80]}` names no schema in this file", None, help)


def _lint_circles(root: Schema, references: References) -> list[Found]:
    counts: dict[int, int] = {}
    for pointer, schema in iter_schemas(root):
        try:
            asked = _count_asked(schema, references, counts, ())
        except RecursionError:
            asked = MAX_ASKED + 1
        if asked is None:
            return [
                (
                    pointer,
                    Diagnostic(
                        "PC0313",
                        "this schema refers to itself for the same value, without end",
                        None,
                        "write the `$ref` under `properties` or `items`, where it checks a part of the value",
                    ),
                )
            ]
        if asked > MAX_ASKED:
            return [
                (
                    pointer,
                    Diagnostic(
                        "PC0313",
                        f"this schema holds one value to more than {MAX_ASKED} schemas",
                        None,
                        "write fewer `allOf`, `anyOf` and `$ref` for one value",
                    ),
                )
            ]
    return []


def _count_asked(schema: Schema, references: References, counts: dict[int, int], above: tuple[int, ...]) -> int | None:
    """Return how many schemas apply to one value, or None if they refer to each other without end."""
    if not isinstance(schema, dict):
        return 1
    if id(schema) in above:
        return None
    if id(schema) not in counts:
        total = 1
        for inner in (*iter_in_place(schema), *references.iter_targets(schema)):
            asked = _count_asked(inner, references, counts, (*above, id(schema)))
            if asked is None:
                return None
            total += asked
        counts[id(schema)] = total
    return counts[id(schema)]


def _mend_type(keyword: str, value: Any) -> str:
    """Return what to write in place of a keyword's value, or an empty text if nothing is likely."""
    kind = KEYWORDS[keyword]
    if keyword == "required" and isinstance(value, bool):
        return 'name the property in the `required` of the object around it: `"required": ["name"]`'
    if kind in (TEXTS, LIST) and isinstance(value, str):
        return f'write a list: `"{keyword}": [{json.dumps(value[:40], ensure_ascii=False)}]`'
    if kind in (COUNT, NUMBER, POSITIVE) and isinstance(value, str) and re.fullmatch("-?[0-9]{1,15}", value):
        return f'write it without quotes: `"{keyword}": {value}`'
    wrong = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one not in TYPE_NAMES]
    near = suggest(wrong[0].lower(), TYPE_NAMES) if keyword == "type" and wrong else ""
    return near if near.startswith("did") else ""


def _mend_schema(value: Any) -> str:
    kind = value.lower() if isinstance(value, str) else ""
    return f'write `{{"type": "{kind}"}}`' if kind in TYPE_NAMES else 'write an object, such as `{"type": "string"}`'


def _mend(keyword: str) -> str:
    near = suggest(keyword, KEYWORDS)
    return OLD.get(keyword) or near


def _name(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    return show_value(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    return (
        value in TYPE_NAMES if isinstance(value, str) else _are_texts(value) and bool(value) and all(each in TYPE_NAMES for each in value)
    )


# Each schema inside a keyword is checked on its own.
_HOLDS: Mapping[str, Callable[[Any], bool]] = {
    SCHEMA: lambda _: True,
    SCHEMAS: lambda value: isinstance(value, list) and bool(value),
    SCHEMA_MAP: lambda value: isinstance(value, dict),
    PATTERN_MAP: lambda value: isinstance(value, dict),
    TEXT: lambda value: isinstance(value, str),
    PATTERN: lambda value: isinstance(value, str),
    TEXTS: _are_texts,
    TEXT_LISTS: lambda value: isinstance(value, dict) and all(map(_are_texts, value.values())),
    COUNT: _is_count,
    NUMBER: _is_number,
    POSITIVE: lambda value: _is_number(value) and value > 0,
    BOOLEAN: lambda value: isinstance(value, bool),
    LIST: lambda value: isinstance(value, list),
    ANY: lambda _: True,
    TYPES: _is_type,
    BOOLEANS: lambda value: isinstance(value, dict) and all(isinstance(each, bool) for each in value.values()),
}


class References:
    """Resolves the references `#`, `#/a/pointer` and `#anchor`.

    A dynamic anchor is treated as a plain one, because within a single file there is nothing to choose from.
    """

    def __init__(self, root: Schema) -> None:
        self._schemas = dict(iter_schemas(root))
        self._anchors: dict[str, Schema] = {}
        for schema in self._schemas.values():
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema, dict) and isinstance(schema.get(keyword), str):
                    self._anchors[schema[keyword]] = schema
        self.inside = [schema for schema in self._schemas.values() if isinstance(schema, dict)]
        """The root and all its subschemas that are mappings of keywords."""
        self._targets = {id(target) for schema in self.inside for target in self.iter_targets(schema)}

    def find(self, reference: str) -> Schema:
        """Return the schema that a reference names, or None if it is not in this file or not a schema."""
        if not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:]) if "%" in reference else reference[1:]
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment)
        return self._schemas.get(fragment)

    def is_target(self, schema: Schema) -> bool:
        """Return whether a reference in the file names this very object."""
        return id(schema) in self._targets

    def iter_targets(self, schema: Mapping[str, Any]) -> list[Schema]:
        """Return the targets of a schema's own references."""
        found = (self.find(schema[keyword]) for keyword in REFERENCES if isinstance(schema.get(keyword), str))
        return [target for target in found if target is not None]

    def list_together(self, schemas: Iterable[Schema]) -> tuple[Mapping[str, Any], ...]:
        """Return all mappings of keywords that apply to one value: these, the targets of their references and their `allOf`, each once."""
        met: dict[int, Mapping[str, Any]] = {}
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop(0)
            if isinstance(schema, dict) and id(schema) not in met:
                met[id(schema)] = schema
                waiting[:0] = [*self.iter_targets(schema), *schema.get("allOf", ())]
        return tuple(met.values())


def iter_inner(schema: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """Yield the direct subschemas of a schema, each with its JSON pointer relative to that schema."""
    for keyword, value in schema.items():
        kind = KEYWORDS.get(keyword)
        if kind == SCHEMA:
            yield f"/{keyword}", value
        elif kind == SCHEMAS and isinstance(value, list):
            yield from ((f"/{keyword}/{place}", inner) for place, inner in enumerate(value))
        elif kind in (SCHEMA_MAP, PATTERN_MAP) and isinstance(value, dict):
            yield from ((extend_pointer(f"/{keyword}", name), inner) for name, inner in value.items())


def iter_in_place(schema: Mapping[str, Schema]) -> Iterator[Schema]:
    """Yield the direct subschemas that apply to the same value. References are not followed."""
    for keyword in IN_PLACE:
        if keyword in schema:
            yield schema[keyword]
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword, ())
    yield from schema.get("dependentSchemas", {}).values()


def iter_schemas(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield a schema and all its subschemas in document order, each with its JSON pointer."""
    waiting = [("", schema)]
    while waiting:
        pointer, schema = waiting.pop()
        yield pointer, schema
        if isinstance(schema, dict):
            waiting += reversed([(pointer + step, inner) for step, inner in iter_inner(schema)])
