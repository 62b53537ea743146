"""The schema of a state as types: what a template can read from a valid state whose defaults are filled in (contract.md §2).

`SchemaTypes` makes the type of a schema, and `make_item_type` that of a row of a store or a chunk of an index. `follow_pointer` and
`list_values` examine a type, and `drop_places` makes one that cannot be taken for a part of this schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from urllib.parse import unquote

from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.section import Retrieve, Segments, spell_key
from promptc.model.sources import CorpusIndex
from promptc.template.types.algebra import element_type, join_types, keep_members, map_members, part_type, weaken
from promptc.template.types.types import (
    BOOL_TYPE,
    NEVER,
    NONE_TYPE,
    NUMBER_TYPE,
    TEXT_TYPE,
    UNKNOWN_TYPE,
    WHOLE,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    TextType,
    Type,
    UndefinedType,
    list_members,
    literal,
    make_mapping,
    text_of,
    text_up_to,
)
from promptc.text.json import extend_pointer, is_same, split_pointer
from promptc.text.moment import FORMATS
from promptc.text.pattern import measure_pattern

_DATE = len("2026-11-24")
_METADATA = MappingType((), lambda name: UNKNOWN_TYPE, lambda: UNKNOWN_TYPE, False)
_RANKED = ("index", "score")
_CHUNK: dict[str, Type] = {
    **dict.fromkeys(("id", "text", "file", "preview"), TEXT_TYPE),
    "heading": ListType(TEXT_TYPE),
    "length": WHOLE,
    **dict.fromkeys(("version", "domain", "mode", "date"), UNKNOWN_TYPE),
}
_BRACED = re.compile(r"\{(\w+)\}")

CHUNK = "a chunk"
"""The holder of a gap in the metadata of an index over files."""

_DOUBTFUL = ("not", "if", "dependentSchemas", "dependentRequired", "propertyNames", "minProperties", "maxProperties")
Schema = Any

_Together = tuple[Schema, ...]
"""Schemas that all apply to the same value."""

DOUBTFUL = (*_DOUBTFUL, "contains")
"""Keywords that exclude states in ways that are not analyzed: with one of them, no member of a union type is assumed to occur."""

_OBJECT = frozenset(("properties", "required", "additionalProperties", "patternProperties"))
_ARRAY = frozenset(("items", "prefixItems", "minItems", "maxItems"))
_MOST_CHOICES = 64
_TYPES: dict[type[Type], tuple[str, ...]] = {
    TextType: ("string",),
    NumberType: ("integer", "number"),
    ListType: ("array",),
    MappingType: ("object",),
}


def follow_pointer(kind: Type, pointer: str) -> Type:
    """Return the type of what a pointer leads to, with an `UndefinedType` if it may lead nowhere."""
    for part in split_pointer(pointer):
        kind = map_members(kind, partial(_step, part=part))
    return kind


def _step(member: Type, part: str) -> Type:
    if isinstance(member, UndefinedType):
        return member
    if isinstance(member, ListType) and part.isdecimal():
        return element_type(member)
    return part_type(member, part)


def list_values(kind: Type) -> list[str] | None:
    """Return every value as a cap of `limit_per` spells it, or None if there may be others or no value is known."""
    found: list[str] = []
    for member in list_members(kind):
        values = _list_one(member)
        if values is None:
            return None
        found += [spell_key(value) for value in values]
    return found or None


def _list_one(member: Type) -> list[object] | None:
    if isinstance(member, TextType | NumberType):
        return [*sorted(member.values)] if member.values is not None else None
    if isinstance(member, BoolType):
        return [False, True] if member.value is None else [member.value]
    return [None] if isinstance(member, NoneType) else None


def drop_places(kind: Type) -> Type:
    """Return the type without places in its schema, which would be mistaken for places in the state's schema."""
    return map_members(kind, _drop_place)


def _drop_place(kind: Type) -> Type:
    match kind:
        case MappingType():
            find, rest = kind.find, kind.rest
            return MappingType(kind.names, lambda name: drop_places(find(name)), lambda: drop_places(rest()), kind.closed, kind.most)
        case ListType():
            first = tuple(map(drop_places, kind.first))
            return ListType(drop_places(kind.element), kind.least, kind.most, first, kind.shape, kind.loose)
        case TextType():
            return TextType(kind.characters, kind.size, kind.values)
        case NumberType():
            return NumberType(kind.whole, kind.least, kind.most, kind.values)
        case NoneType():
            return NoneType(kind.absent)
        case UndefinedType():
            return UndefinedType(kind.reason, kind.part, kind.known, kind.holder)
        case _:
            return kind


def make_item_type(source: Segments | Retrieve, own: Sequence[CorpusIndex | Type], *, asked: bool) -> Type:
    """Return the type of an item; with `asked`, as the source's own `where` and `boost` see it, before it is scored.

    `own` has an entry for each queried index: the index over files, or the type of the elements of the list in the state.
    """
    if isinstance(source, Segments):
        return _make_row(source)
    ranked: dict[str, Type] = {"index": text_of(*source.indexes), "score": NUMBER_TYPE} if source.indexes and not asked else {}
    return join_types(*(_make_chunk(one, ranked) for one in own)) if own else _make_chunk(UNKNOWN_TYPE, ranked)


def _make_row(source: Segments) -> Type:
    maybe = join_types(TEXT_TYPE, NONE_TYPE)
    return make_mapping(
        {
            "id": TEXT_TYPE,
            "scope": text_of(source.scope),
            "ref_id": TEXT_TYPE if source.ref is not None else maybe,
            "content": TEXT_TYPE,
            "metadata": _METADATA,
            "locale": maybe,
            "version": maybe,
        }
    )


def _make_chunk(own: CorpusIndex | Type, ranked: dict[str, Type]) -> Type:
    """Return the type of a chunk: the compiler's own keys and its metadata. `index` and `score` are absent before the chunk is ranked."""
    said = _list_said(own) if isinstance(own, CorpusIndex) else ()
    known = {**dict.fromkeys(said, UNKNOWN_TYPE), **_CHUNK, **ranked}
    names = tuple(known)

    def find(name: str) -> Type:
        if name in _RANKED and name not in known:
            return UndefinedType("closed", name, names, "a mapping")
        if name in known:
            return known[name]
        if isinstance(own, CorpusIndex):
            return join_types(UNKNOWN_TYPE, UndefinedType("undeclared", name, names, CHUNK))
        return _make_from_elements(own, name, names)

    return MappingType(names, find, lambda: UNKNOWN_TYPE, False)


def _list_said(index: CorpusIndex) -> tuple[str, ...]:
    """Return the metadata keys that every file of an index has: from `defaults`, and from the names in the pattern of its files."""
    return (*index.defaults, *_BRACED.findall(index.pattern))


def _make_from_elements(element: Type, name: str, names: tuple[str, ...]) -> Type:
    """Return the type of a part of a chunk made from a list in the state. All of an element is metadata, except the compiler's own keys."""
    members = list_members(element)
    if not members or not all(isinstance(one, MappingType) for one in members):
        return UNKNOWN_TYPE
    parts = [part for one in members if isinstance(one, MappingType) for part in list_members(one.find(name))]
    return join_types(*(replace(part, known=(*names, *part.known)) if isinstance(part, UndefinedType) else part for part in parts))


class SchemaTypes:
    """The types of one schema, each made once. Places are JSON pointers after a `#`."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        parts = list(_iter_parts(root, "#"))
        self._places = {id(schema): pointer for pointer, schema in parts}
        self._anchors = {schema[key]: schema for _, schema in parts for key in ("$anchor", "$dynamicAnchor") if key in schema}
        self._made: dict[tuple[tuple[int, ...], ...], Type] = {}

    def make_state(self) -> Type:
        """Return the type of the state, which is a mapping whatever the schema says."""
        mappings = keep_members(self.make((self._root,), ()), lambda member: isinstance(member, MappingType))
        return mappings if mappings != NEVER else UNKNOWN_TYPE

    def make(self, declared: _Together, asked: _Together) -> Type:
        """Return the type of the values to which all these schemas apply.

        `declared` schemas fill in defaults; `asked` schemas only validate.
        """
        own, more = self.gather(declared), self.gather(asked)
        key = (tuple(map(id, own)), tuple(map(id, more)))
        if key not in self._made:
            self._made[key] = UNKNOWN_TYPE  # ends the recursion for a schema that is its own alternative
            self._made[key] = self._choose(own, more, frozenset(), 1)
        return self._made[key]

    def gather(self, schemas: _Together) -> _Together:
        """Return the schemas with those that they reference and those under `allOf`, each once. `true` is left out."""
        met: dict[int, Schema] = {}
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop(0)
            if schema is True or id(schema) in met:
                continue
            met[id(schema)] = schema
            if isinstance(schema, dict):
                references = [self._follow(schema[key]) for key in ("$ref", "$dynamicRef") if isinstance(schema.get(key), str)]
                waiting[:0] = [*references, *schema.get("allOf", ())]
        return tuple(met.values())

    def choose_place(self, together: _Together, having: str = "") -> str:
        """Return the place of the first of some schemas, or of the first that has a keyword."""
        schemas = [schema for schema in together if isinstance(schema, dict)]
        first = next((schema for schema in schemas if having in schema), schemas[0] if schemas else None)
        return self._places.get(id(first), "#")

    def _follow(self, reference: str) -> Schema:
        fragment = unquote(reference[1:]) if reference.startswith("#") else None
        if fragment is None:
            return {}
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment, {})
        at: Any = self._root
        for name in split_pointer(fragment):
            if isinstance(at, list):
                at = at[int(name)] if name.isdecimal() and int(name) < len(at) else {}
            else:
                at = at.get(name, {}) if isinstance(at, dict) else {}
        return at

    # --- one value ---

    def _choose(self, own: _Together, more: _Together, done: frozenset[tuple[int, str]], count: int) -> Type:
        """Return the union over every choice of a branch from each `anyOf` and `oneOf`."""
        together = (*own, *more)
        if False in together:
            return NEVER
        for schema in together:
            for keyword in ("anyOf", "oneOf"):
                branches = schema.get(keyword)
                if not branches or (id(schema), keyword) in done:
                    continue
                if count * len(branches) > _MOST_CHOICES:
                    return UNKNOWN_TYPE
                chosen = (self.gather((*more, branch)) for branch in branches)
                held = done | {(id(schema), keyword)}
                return join_types(*(self._choose(own, one, held, count * len(branches)) for one in chosen))
        found = self._make(own, more)
        return weaken(found) if any(key in schema for schema in together for key in DOUBTFUL) else found

    def _make(self, own: _Together, more: _Together) -> Type:
        together = (*own, *more)
        types = _find_types(together)
        listed = [schema["enum"] if "enum" in schema else [schema["const"]] for schema in together if {"enum", "const"} & schema.keys()]
        if listed:
            values = [value for value in listed[0] if all(any(is_same(value, one) for one in other) for other in listed[1:])]
            found = join_types(*(make_literal(value) for value in values))
            return found if types is None else keep_members(found, lambda member: _suits(member, types))
        if types is None:
            return UNKNOWN_TYPE
        return join_types(*(self._make_type(name, own, more) for name in types))

    def _make_type(self, name: str, own: _Together, more: _Together) -> Type:
        together = (*own, *more)
        place = self.choose_place(together)
        if name == "string":
            return _make_text(together, place)
        if name in ("integer", "number"):
            return NumberType(name == "integer", *_find_range(together, whole=name == "integer"), None, place)
        if name == "array":
            return self._make_list(own, more, place)
        if name == "object":
            return _ObjectTypes(self, own, more).make()
        return NONE_TYPE if name == "null" else BOOL_TYPE

    def _make_list(self, own: _Together, more: _Together, place: str) -> Type:
        together = (*own, *more)
        count = max((len(schema.get("prefixItems", ())) for schema in together), default=0)
        first = tuple(self._make_element(own, more, at) for at in range(count))
        least, most = max((int(schema.get("minItems", 0)) for schema in together), default=0), _make_least_test(together, "maxItems")
        element = self._make_element(own, more, count)
        if element == NEVER:
            most = count if most is None else min(most, count)
        return NEVER if most is not None and most < least else ListType(element, least, most, first, "list", False, place)

    def _make_element(self, own: _Together, more: _Together, at: int) -> Type:
        return self.make(tuple(_iter_element(own, at)), tuple(_iter_element(more, at)))


def _iter_parts(schema: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every mapping in a JSON value, with its place."""
    if isinstance(schema, dict):
        yield pointer, schema
        for name, inner in schema.items():
            yield from _iter_parts(inner, extend_pointer(pointer, name))
    elif isinstance(schema, list):
        for place, inner in enumerate(schema):
            yield from _iter_parts(inner, f"{pointer}/{place}")


def _find_types(together: _Together) -> tuple[str, ...] | None:
    """Return the types that all schemas allow, or None if they do not say.

    A schema with keywords for objects or for arrays only, and without `type`, means an object or an array.
    """
    given = [schema["type"] for schema in together if "type" in schema]
    if not given:
        keywords = {key for schema in together for key in schema}
        return ("object",) if keywords & _OBJECT else ("array",) if keywords & _ARRAY else None
    sets = [{one} if isinstance(one, str) else set(one) for one in given]
    widened = [one | {"integer"} if "number" in one else one for one in sets]
    shared = set.intersection(*widened)
    return tuple(sorted(shared - {"integer"} if "number" in shared else shared))


def _make_text(together: _Together, place: str) -> TextType:
    """Return the type of a text, bounded by `maxLength`, by patterns for the whole text, and by its format: dates and times are ASCII."""
    format = next((schema["format"] for schema in together if "format" in schema), "")
    patterns = [measure_pattern(schema["pattern"]) for schema in together if "pattern" in schema]
    formats = [schema["format"] for schema in together if schema.get("format") in FORMATS]
    lengths = [_make_least_test(together, "maxLength"), _DATE if "date" in formats else None, *(one.characters for one in patterns)]
    most = min((length for length in lengths if length is not None), default=None)
    found = text_up_to(most, place)
    widths = [*(one.width for one in patterns), *(1 for _ in formats)]
    size = found.size if most is None or not widths else min(widths) * most
    return replace(found, size=size, format=format)


def _suits(member: Type, types: tuple[str, ...]) -> bool:
    names = _TYPES.get(type(member), ("null",) if member == NONE_TYPE else ("boolean",))
    return any(name in types for name in names)


def _make_least_test(together: _Together, keyword: str) -> int | None:
    return min((int(schema[keyword]) for schema in together if keyword in schema), default=None)


def _find_range(together: _Together, *, whole: bool) -> tuple[float | int | None, float | int | None]:
    least = [schema[key] for schema in together for key in ("minimum", "exclusiveMinimum") if key in schema]
    most = [schema[key] for schema in together for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(least, default=None), min(most, default=None)


class _ObjectTypes:
    """The parts of an object to which `own` and `more` apply. Parts that `own` declares are filled in if they are left out."""

    def __init__(self, maker: SchemaTypes, own: _Together, more: _Together) -> None:
        self._maker = maker
        self._own = own
        self._more = more
        self._together = (*own, *more)
        self._names = tuple(dict.fromkeys(name for schema in self._together for name in schema.get("properties", {})))
        self._required = {name for schema in self._together for name in schema.get("required", ())}
        self._doubtful = any(key in schema for schema in self._together for key in _DOUBTFUL)
        self._patterns = any(schema.get("patternProperties") for schema in self._together)
        self._closed = self._is_closed()
        self._place = maker.choose_place(self._together, "properties")
        self._found: dict[str, Type] = {}

    def make(self) -> MappingType:
        """Return the type, whose parts are made when they are needed."""
        most = [int(schema["maxProperties"]) for schema in self._together if "maxProperties" in schema]
        if self._closed:
            most.append(len(self._names))
        return MappingType(self._names, self.find, self.make_rest, self._closed, min(most, default=None), self._place)

    def _is_closed(self) -> bool:
        shut = any(schema.get("additionalProperties") is False for schema in self._together)
        barred = any(schema.get("unevaluatedProperties") is False for schema in self._together) and not self._doubtful
        return (shut or barred) and not self._patterns

    def make_rest(self) -> Type:
        """Return the type of a value under a key that is not declared."""
        if self._closed:
            return NEVER
        others = [schema["additionalProperties"] for schema in self._together if isinstance(schema.get("additionalProperties"), dict)]
        return self._maker.make((), tuple(others)) if others and not self._patterns else UNKNOWN_TYPE

    def find(self, name: str) -> Type:
        """Return the type of a part."""
        if name not in self._found:
            found = self._make_part(name)
            self._found[name] = weaken(found) if self._doubtful else found
        return self._found[name]

    def _make_part(self, name: str) -> Type:
        if name not in self._names:
            return self._make_undeclared(name)
        declared, asked = tuple(_iter_property(self._own, name)), tuple(_iter_property(self._more, name))
        kind = self._maker.make(declared, asked)
        if name in self._required:
            return kind
        place = self._maker.choose_place((*declared, *asked))
        if not declared:
            return join_types(kind, UndefinedType("optional", name, (), "", place))
        defaults = [schema["default"] for schema in self._maker.gather(declared) if isinstance(schema, dict) and "default" in schema]
        return _add_default(kind, defaults[0]) if defaults else join_types(kind, NoneType(True, place))

    def _make_undeclared(self, name: str) -> Type:
        if name in self._required:
            return self.make_rest() if not self._closed else UNKNOWN_TYPE
        if self._closed:
            return UndefinedType("closed", name, self._names, "", self._place)
        if self._patterns or (not self._names and self.make_rest() == UNKNOWN_TYPE):
            return UNKNOWN_TYPE
        return join_types(self.make_rest(), UndefinedType("undeclared", name, self._names, "", self._place))


def _iter_property(together: Sequence[Schema], name: str) -> Iterator[Schema]:
    for schema in together:
        if name in schema.get("properties", {}):
            yield schema["properties"][name]


def _add_default(kind: Type, default: Any) -> Type:
    """Return the type with its default. A default of null stays none; a default list or mapping has the type in its schema."""
    if isinstance(default, list | dict):
        same = any(isinstance(member, MappingType if isinstance(default, dict) else ListType) for member in list_members(kind))
        return kind if same else join_types(kind, make_literal(default))
    return join_types(kind, make_literal(default))


def _iter_element(together: _Together, at: int) -> Iterator[Schema]:
    for schema in together:
        first = schema.get("prefixItems", ())
        if at < len(first):
            yield first[at]
        elif "items" in schema:
            yield schema["items"]


def make_literal(value: Any) -> Type:
    """Return the type of exactly this value."""
    if isinstance(value, list):
        return ListType(NEVER, len(value), len(value), tuple(map(make_literal, value)))
    if isinstance(value, dict):
        return make_mapping({str(name): make_literal(part) for name, part in value.items()})
    return literal(value)
