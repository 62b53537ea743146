"""What a state schema says of a path, as far as it is sure: a path is called missing only if no valid state can have it."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any

Schema = Mapping[str, Any]

_DEEPEST = 40
_MOST = 5_000
"""Schemas that are looked at for one question: a schema may lead into itself from many sides. Beyond that nothing is known."""


@frozen
class Missing:
    """A path that ends too early: `place` is the index of the part that is not there, `known` what is there instead; `kind` is what stands
    there when that has no parts at all."""

    place: int
    known: tuple[str, ...]
    kind: str = ""


class StateShape:
    """Questions to one state schema."""

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self._left = _MOST

    def find_missing(self, path: Sequence[str], within: object = None) -> Missing | None:
        """Why no valid state has `path`, or None. `within` is the schema the path begins in; the whole by default."""
        self._left = _MOST
        return self._find_missing(self._root if within is None else within, path, 0, 0)

    def find_undeclared(self, path: Sequence[str], within: object = None) -> Missing | None:
        """The first part of `path` that is allowed but not declared where others are, or None."""
        self._left = _MOST
        at: list[object] = [self._root if within is None else within]
        for place, name in enumerate(path):
            parts = [part for one in at for part in self._iter_every(one, 0)]
            if self._left <= 0:
                return None
            known = sorted({key for part in parts for key in _mapping(part, "properties")})
            at = [_mapping(part, "properties")[name] for part in parts if name in _mapping(part, "properties")]
            if not at:
                return Missing(place, tuple(known)) if known else None
        return None

    def find_element(self, path: Sequence[str]) -> object:
        """The schema of the elements of the list at `path`, or None where that is not one schema."""
        found = [part["items"] for part in self._iter_at(path) if "items" in part and "prefixItems" not in part]
        return found[0] if len(found) == 1 else None

    def is_bounded(self, path: Sequence[str]) -> bool:
        """True when what stands at `path` is no list, or one of bounded length."""
        parts = list(self._iter_at(path))
        if any("maxItems" in part for part in parts):
            return True
        types = [_list_types(part) for part in parts if "type" in part]
        return bool(types) and all("array" not in one for one in types)

    def list_values(self, path: Sequence[str], within: object) -> tuple[object, ...] | None:
        """The values that are allowed at `path`, if the schema lists them."""
        for part in self._iter_at(path, within):
            if isinstance(part.get("enum"), list):
                return tuple(part["enum"])
            if "const" in part:
                return (part["const"],)
        return None

    # --- walking ---

    def _find_missing(self, schema: object, path: Sequence[str], place: int, depth: int) -> Missing | None:
        if place == len(path) or depth > _DEEPEST:
            return None
        for part in self._iter_parts(schema, depth):
            found = self._find_in_part(part, path, place, depth)
            if found is not None:
                return found
        return None

    def _find_in_part(self, part: Schema, path: Sequence[str], place: int, depth: int) -> Missing | None:
        types = _list_types(part)
        if types and "object" not in types:
            return Missing(place, (), _name_types(types))
        properties, other = _mapping(part, "properties"), part.get("additionalProperties", True)
        if path[place] in properties:
            return self._find_missing(properties[path[place]], path, place + 1, depth + 1)
        if not part.get("patternProperties"):
            if other is False:
                return Missing(place, tuple(properties))
            if isinstance(other, dict):
                return self._find_missing(other, path, place + 1, depth + 1)
        return self._find_in_branches(part, path, place, depth)

    def _find_in_branches(self, part: Schema, path: Sequence[str], place: int, depth: int) -> Missing | None:
        """Missing when every branch of `anyOf` or `oneOf` lacks the path; the branch that knows most tells why."""
        for keyword in ("anyOf", "oneOf"):
            branches = part.get(keyword)
            if not isinstance(branches, list) or not branches:
                continue
            found = [self._find_missing(branch, path, place, depth + 1) for branch in branches]
            lacking = [one for one in found if one is not None]
            if len(lacking) == len(found):
                return max(lacking, key=lambda one: (one.place, len(one.known)))
        return None

    def _iter_at(self, path: Sequence[str], within: object = None) -> Iterator[Schema]:
        """The parts that hold at `path`, through `properties` alone."""
        self._left = _MOST
        at: list[object] = [self._root if within is None else within]
        for name in path:
            parts = [part for one in at for part in self._iter_parts(one, 0)]
            at = [_mapping(part, "properties")[name] for part in parts if name in _mapping(part, "properties")]
        for one in at:
            yield from self._iter_parts(one, 0)

    def _iter_parts(self, schema: object, depth: int) -> Iterator[Schema]:
        """The schemas that must all hold: the schema itself, `allOf`, and what `$ref` names."""
        if not isinstance(schema, dict) or depth > _DEEPEST or self._left <= 0:
            return
        self._left -= 1
        yield schema
        if isinstance(schema.get("$ref"), str):
            yield from self._iter_parts(self._follow(schema["$ref"]), depth + 1)
        for one in schema.get("allOf", ()):
            yield from self._iter_parts(one, depth + 1)

    def _iter_every(self, schema: object, depth: int) -> Iterator[Schema]:
        """The same, and all that may hold."""
        for part in self._iter_parts(schema, depth):
            yield part
            branches = [part[key] for key in ("if", "then", "else") if key in part]
            for one in (*part.get("anyOf", ()), *part.get("oneOf", ()), *branches):
                if depth < _DEEPEST:
                    yield from self._iter_every(one, depth + 1)

    def _follow(self, reference: str) -> object:
        """What a local reference names; for any other an empty schema, which allows all."""
        if not reference.startswith("#"):
            return {}
        at: object = self._root
        for step in unquote(reference[1:]).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict):
                at = at.get(name, {})
            elif isinstance(at, list) and name.isdecimal() and int(name) < len(at):
                at = at[int(name)]
            else:
                return {}
        return at


def _mapping(schema: Schema, key: str) -> Schema:
    found = schema.get(key)
    return found if isinstance(found, dict) else {}


def _list_types(schema: Schema) -> tuple[str, ...]:
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)


_KINDS = {"string": "text", "integer": "a number", "number": "a number", "boolean": "true or false", "array": "a list", "null": "none"}


def _name_types(types: Sequence[str]) -> str:
    named = dict.fromkeys(_KINDS.get(one, one) for one in types if one != "null" or len(types) == 1)
    return " or ".join(named)
