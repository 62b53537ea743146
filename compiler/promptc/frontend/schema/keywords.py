"""The keywords of JSON Schema 2020-12 and what each may hold."""

from collections.abc import Iterator, Mapping

from promptc.diag.typed import Any

SCHEMA, SCHEMAS, SCHEMA_MAP = "a schema", "a list of schemas", "a mapping of names to schemas"
TEXT, TEXTS, TEXT_LISTS = "a text", "a list of different texts", "a mapping of names to lists of different texts"
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
IN_PLACE = ("not", "if", "then", "else")
"""Keywords whose schema is asked about the same value; so are the lists and `dependentSchemas`, and what a reference names."""

OLD = {
    "additionalItems": "in 2020-12 it is `items` beside `prefixItems`",
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
"""What editors read, and nothing else does."""

Schema = Any
"""A mapping of keywords, or a boolean."""


def iter_inner(schema: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """The schemas that stand directly in one, each with its JSON pointer from there."""
    for keyword, value in schema.items():
        kind = KEYWORDS.get(keyword)
        if kind == SCHEMA:
            yield f"/{keyword}", value
        elif kind == SCHEMAS and isinstance(value, list):
            yield from ((f"/{keyword}/{place}", inner) for place, inner in enumerate(value))
        elif kind in (SCHEMA_MAP, PATTERN_MAP) and isinstance(value, dict):
            yield from ((f"/{keyword}/{escape(name)}", inner) for name, inner in value.items())


def iter_in_place(schema: Mapping[str, Schema]) -> Iterator[Schema]:
    """The schemas in one that are asked about the same value; references are not followed."""
    for keyword in IN_PLACE:
        if keyword in schema:
            yield schema[keyword]
    for keyword in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(keyword, ())
    yield from schema.get("dependentSchemas", {}).values()


def iter_schemas(schema: Schema, pointer: str = "") -> Iterator[tuple[str, Schema]]:
    """A schema and all that stand in it, each with its JSON pointer, in their order."""
    waiting = [(pointer, schema)]
    while waiting:
        pointer, schema = waiting.pop()
        yield pointer, schema
        if isinstance(schema, dict):
            waiting += reversed([(pointer + step, inner) for step, inner in iter_inner(schema)])


def escape(name: str) -> str:
    """A key as a token of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
