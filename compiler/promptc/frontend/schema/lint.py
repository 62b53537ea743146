"""Whether a schema says what it means to say, before it judges anything."""

from collections.abc import Callable, Iterator, Mapping

from promptc.diag.findings import Diagnostic, suggest
from promptc.diag.typed import Any
from promptc.frontend.schema import keywords
from promptc.frontend.schema.keywords import EDITOR, KEYWORDS, OLD, TYPE_NAMES, Schema, escape, iter_in_place, iter_schemas
from promptc.frontend.schema.pattern import Pattern
from promptc.frontend.schema.pattern_syntax import PatternError
from promptc.frontend.schema.references import REFERENCES, References

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MAX_ASKED = 10_000
"""Schemas that may be asked about one and the same value, alternatives within alternatives counted each time."""

Found = tuple[str, Diagnostic]
"""A JSON pointer in the schema, and a finding whose place is still to be filled in."""


def lint_schema(root: Schema) -> list[Found]:
    """Everything wrong with a schema: keywords and what they hold, references, circles, patterns. An unknown keyword is a warning."""
    if not isinstance(root, (dict, bool)):
        return [("", Diagnostic("PC0310", "a schema must be an object, or true or false"))]
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
        help = "in 2020-12 a list of schemas is `prefixItems`" if old else ""
        yield pointer, Diagnostic("PC0310", f"a schema must be an object, or true or false, not {_name(schema)}", None, help)
        return
    for keyword, value in schema.items():
        yield from _lint_keyword(f"{pointer}/{escape(keyword)}", keyword, value)
    if pointer and "$schema" in schema:
        yield f"{pointer}/$schema", Diagnostic("PC0316", "`$schema` stands at the root of a schema only", None, "remove it")
    if pointer and "$id" in schema:
        yield (
            f"{pointer}/$id",
            Diagnostic("PC0316", "`$id` inside a schema is not read: references stay in one file", None, "name it by `$anchor`"),
        )
    if "patternProperties" in schema and "unevaluatedProperties" in schema:
        message = "`unevaluatedProperties` beside `patternProperties` is not read"
        yield f"{pointer}/unevaluatedProperties", Diagnostic("PC0316", message, None, "use `additionalProperties`")


def _lint_keyword(pointer: str, keyword: str, value: Any) -> Iterator[Found]:
    kind = KEYWORDS.get(keyword)
    if kind is None:
        if not keyword.startswith("x-") and keyword not in EDITOR:
            yield (
                pointer,
                Diagnostic(
                    "PC0311", f"`{keyword[:80]}` is no keyword of JSON Schema 2020-12, and checks nothing", None, _mend(keyword), "warn"
                ),
            )
    elif not _HOLDS[kind](value):
        yield pointer, Diagnostic("PC0310", f"`{keyword}` must be {kind}, not {_name(value)}", None, _mend_type(keyword, value))
    elif keyword == "$schema" and value.removesuffix("#") != DIALECT:
        yield pointer, Diagnostic("PC0316", f"`$schema` names another dialect than 2020-12: `{value[:80]}`", None, f"write `{DIALECT}`")
    elif keyword == "pattern":
        yield from _lint_pattern(pointer, value)
    elif keyword == "patternProperties":
        for name in value:
            yield from _lint_pattern(f"{pointer}/{escape(name)}", name)


def _lint_pattern(pointer: str, pattern: str) -> Iterator[Found]:
    try:
        Pattern(pattern)
    except PatternError as wrong:
        yield pointer, Diagnostic("PC0314", f"the pattern `{pattern[:80]}` cannot be used: {wrong}")


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
            f"`{keyword}: {reference[:80]}` leaves the file; nothing else is read",
            None,
            "put it under `$defs` and name it `#/$defs/…`",
        )
    known = [f"#/$defs/{escape(name)}" for name in root.get("$defs", {})]
    return Diagnostic("PC0312", f"`{keyword}: {reference[:80]}` names no schema of this file", None, suggest(reference, known))


def _lint_circles(root: Schema, references: References) -> list[Found]:
    counts: dict[int, int] = {}
    for pointer, schema in iter_schemas(root):
        try:
            asked = _count_asked(schema, references, counts, ())
        except RecursionError:
            asked = MAX_ASKED + 1
        if asked is None:
            return [(pointer, Diagnostic("PC0313", "this schema refers to itself without end, for the same value"))]
        if asked > MAX_ASKED:
            return [(pointer, Diagnostic("PC0313", f"this schema asks more than {MAX_ASKED} schemas about one value"))]
    return []


def _count_asked(schema: Schema, references: References, counts: dict[int, int], above: tuple[int, ...]) -> int | None:
    """How many schemas are asked about one value; None where that does not end."""
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
    """Which name of a kind was meant, if one is near."""
    wrong = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one not in TYPE_NAMES]
    near = suggest(wrong[0].lower(), TYPE_NAMES) if keyword == "type" and wrong else ""
    return near if near.startswith("did") else ""


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
    return f"`{value[:40]}`" if isinstance(value, str) else str(value)[:40]


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


# That the schemas in a keyword are schemas is said of each by itself.
_HOLDS: Mapping[str, Callable[[Any], bool]] = {
    keywords.SCHEMA: lambda _: True,
    keywords.SCHEMAS: lambda value: isinstance(value, list) and bool(value),
    keywords.SCHEMA_MAP: lambda value: isinstance(value, dict),
    keywords.PATTERN_MAP: lambda value: isinstance(value, dict),
    keywords.TEXT: lambda value: isinstance(value, str),
    keywords.PATTERN: lambda value: isinstance(value, str),
    keywords.TEXTS: _are_texts,
    keywords.TEXT_LISTS: lambda value: isinstance(value, dict) and all(map(_are_texts, value.values())),
    keywords.COUNT: _is_count,
    keywords.NUMBER: _is_number,
    keywords.POSITIVE: lambda value: _is_number(value) and value > 0,
    keywords.BOOLEAN: lambda value: isinstance(value, bool),
    keywords.LIST: lambda value: isinstance(value, list),
    keywords.ANY: lambda _: True,
    keywords.TYPES: _is_type,
    keywords.BOOLEANS: lambda value: isinstance(value, dict) and all(isinstance(each, bool) for each in value.values()),
}
