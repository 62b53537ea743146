"""A state schema as kinds: what a template that reads a valid state, its defaults filled in, may find (language.md §2)."""

from collections.abc import Iterator
from urllib.parse import unquote

from promptc.check.literal_kinds import find_literal
from promptc.check.object_kinds import ObjectKinds
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.template.types.algebra import join_types, keep_members, weaken
from promptc.template.types.types import (
    BOOL_TYPE,
    NEVER,
    NONE_TYPE,
    UNKNOWN_TYPE,
    ListType,
    MappingType,
    NumberType,
    TextType,
    Type,
    text_up_to,
)

Schema = Any
Together = tuple[Schema, ...]
"""Schemas that all hold of one value."""

DOUBTFUL = ("not", "if", "dependentSchemas", "dependentRequired", "propertyNames", "minProperties", "maxProperties", "contains")
"""Keywords that rule states out in ways that are not followed: where they stand, nothing is said to be possible."""
_OBJECT = frozenset(("properties", "required", "additionalProperties", "patternProperties"))
_ARRAY = frozenset(("items", "prefixItems", "minItems", "maxItems"))
_MOST_CHOICES = 64


class StateKinds:
    """The kinds of one schema, each made once. Places are JSON pointers with `#` before them."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        parts = list(_iter_parts(root, "#"))
        self._places = {id(schema): pointer for pointer, schema in parts}
        self._anchors = {schema[key]: schema for _, schema in parts for key in ("$anchor", "$dynamicAnchor") if key in schema}
        self._made: dict[tuple[tuple[int, ...], ...], Type] = {}

    def find_state(self) -> Type:
        """The kind of the state, which is a mapping whatever the schema says."""
        mappings = keep_members(self.make((self._root,), ()), lambda member: isinstance(member, MappingType))
        return mappings if mappings != NEVER else UNKNOWN_TYPE

    def make(self, declared: Together, asked: Together) -> Type:
        """What all of these hold of. `declared`: those that fill in what is left out; `asked`: the others, which only judge."""
        own, more = self.gather(declared), self.gather(asked)
        key = (tuple(map(id, own)), tuple(map(id, more)))
        if key not in self._made:
            self._made[key] = UNKNOWN_TYPE  # for a schema that is its own alternative
            self._made[key] = self._choose(own, more, frozenset(), 1)
        return self._made[key]

    def gather(self, schemas: Together) -> Together:
        """The schemas with those they name and those under `allOf`, each once; `true` says nothing."""
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

    def find_place(self, together: Together, having: str = "") -> str:
        """Where the first of some schemas stands, or the first that has a keyword."""
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
        for step in fragment.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(at, list):
                at = at[int(name)] if name.isdecimal() and int(name) < len(at) else {}
            else:
                at = at.get(name, {}) if isinstance(at, dict) else {}
        return at

    # --- one value ---

    def _choose(self, own: Together, more: Together, done: frozenset[tuple[int, str]], count: int) -> Type:
        """Every choice of one branch from each `anyOf` and `oneOf`."""
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

    def _make(self, own: Together, more: Together) -> Type:
        together = (*own, *more)
        types = _find_types(together)
        listed = [schema["enum"] if "enum" in schema else [schema["const"]] for schema in together if {"enum", "const"} & schema.keys()]
        if listed:
            values = [value for value in listed[0] if all(any(_is_same(value, one) for one in other) for other in listed[1:])]
            found = join_types(*(find_literal(value) for value in values))
            return found if types is None else keep_members(found, lambda member: _suits(member, types))
        if types is None:
            return UNKNOWN_TYPE
        return join_types(*(self._make_type(name, own, more) for name in types))

    def _make_type(self, name: str, own: Together, more: Together) -> Type:
        together = (*own, *more)
        place = self.find_place(together)
        if name == "string":
            format = next((schema["format"] for schema in together if "format" in schema), "")
            return replace(text_up_to(_find_least(together, "maxLength"), place), format=format)
        if name in ("integer", "number"):
            return NumberType(name == "integer", *_find_range(together, whole=name == "integer"), None, place)
        if name == "array":
            return self._make_list(own, more, place)
        if name == "object":
            return ObjectKinds(self, own, more).make()
        return NONE_TYPE if name == "null" else BOOL_TYPE

    def _make_list(self, own: Together, more: Together, place: str) -> Type:
        together = (*own, *more)
        count = max((len(schema.get("prefixItems", ())) for schema in together), default=0)
        first = tuple(self._make_element(own, more, at) for at in range(count))
        least, most = max((int(schema.get("minItems", 0)) for schema in together), default=0), _find_least(together, "maxItems")
        element = self._make_element(own, more, count)
        if element == NEVER:
            most = count if most is None else min(most, count)
        return NEVER if most is not None and most < least else ListType(element, least, most, first, "list", False, place)

    def _make_element(self, own: Together, more: Together, at: int) -> Type:
        return self.make(tuple(_iter_element(own, at)), tuple(_iter_element(more, at)))


def _iter_element(together: Together, at: int) -> Iterator[Schema]:
    for schema in together:
        first = schema.get("prefixItems", ())
        if at < len(first):
            yield first[at]
        elif "items" in schema:
            yield schema["items"]


def _iter_parts(schema: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping in a JSON value, with its place."""
    if isinstance(schema, dict):
        yield pointer, schema
        for name, inner in schema.items():
            yield from _iter_parts(inner, f"{pointer}/{escape(name)}")
    elif isinstance(schema, list):
        for place, inner in enumerate(schema):
            yield from _iter_parts(inner, f"{pointer}/{place}")


def escape(name: str) -> str:
    """A key as a token of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _find_types(together: Together) -> tuple[str, ...] | None:
    """The types all of them allow; None where nothing tells. What has keywords of objects or lists alone is meant to be one."""
    given = [schema["type"] for schema in together if "type" in schema]
    if not given:
        keywords = {key for schema in together for key in schema}
        return ("object",) if keywords & _OBJECT else ("array",) if keywords & _ARRAY else None
    sets = [{one} if isinstance(one, str) else set(one) for one in given]
    widened = [one | {"integer"} if "number" in one else one for one in sets]
    shared = set.intersection(*widened)
    return tuple(sorted(shared - {"integer"} if "number" in shared else shared))


_TYPES: dict[type[Type], tuple[str, ...]] = {
    TextType: ("string",),
    NumberType: ("integer", "number"),
    ListType: ("array",),
    MappingType: ("object",),
}


def _suits(member: Type, types: tuple[str, ...]) -> bool:
    names = _TYPES.get(type(member), ("null",) if member == NONE_TYPE else ("boolean",))
    return any(name in types for name in names)


def _is_same(left: Any, right: Any) -> bool:
    return bool(left == right) and isinstance(left, bool) is isinstance(right, bool)


def _find_least(together: Together, keyword: str) -> int | None:
    return min((int(schema[keyword]) for schema in together if keyword in schema), default=None)


def _find_range(together: Together, *, whole: bool) -> tuple[float | int | None, float | int | None]:
    least = [schema[key] for schema in together for key in ("minimum", "exclusiveMinimum") if key in schema]
    most = [schema[key] for schema in together for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(least, default=None), min(most, default=None)
