"""The kinds of an object's parts, by the schemas that hold of it."""

from collections.abc import Iterator, Sequence

from promptc.check.literal_kinds import find_literal
from promptc.diag.typed import Any, Protocol
from promptc.template.types.algebra import join_types, weaken
from promptc.template.types.types import NEVER, UNKNOWN_TYPE, ListType, MappingType, NoneType, Type, UndefinedType, list_members

Schema = Any
Together = tuple[Schema, ...]


class Maker(Protocol):
    """Makes the kind of a part of an object."""

    def make(self, declared: Together, asked: Together) -> Type:
        """What all of these hold of; only `declared` fill in what is left out."""

    def gather(self, schemas: Together) -> Together:
        """The schemas with those they name and those under `allOf`."""

    def find_place(self, together: Together, having: str = "") -> str:
        """Where the first of some schemas stands."""


_DOUBTFUL = ("not", "if", "dependentSchemas", "dependentRequired", "propertyNames", "minProperties", "maxProperties")


class ObjectKinds:
    """The parts of an object of which `own` and `more` hold; what `own` declares is filled in where it is left out."""

    def __init__(self, maker: Maker, own: Together, more: Together) -> None:
        self._maker = maker
        self._own = own
        self._more = more
        self._together = (*own, *more)
        self._names = tuple(dict.fromkeys(name for schema in self._together for name in schema.get("properties", {})))
        self._required = {name for schema in self._together for name in schema.get("required", ())}
        self._doubtful = any(key in schema for schema in self._together for key in _DOUBTFUL)
        self._patterns = any(schema.get("patternProperties") for schema in self._together)
        self._found: dict[str, Type] = {}

    def make(self) -> MappingType:
        """The kind; its parts are looked at when they are asked for."""
        closed = self._is_closed()
        most = [int(schema["maxProperties"]) for schema in self._together if "maxProperties" in schema]
        if closed:
            most.append(len(self._names))
        place = self._maker.find_place(self._together, "properties")
        return MappingType(self._names, self.find, self.find_rest, closed, min(most, default=None), place)

    def _is_closed(self) -> bool:
        shut = any(schema.get("additionalProperties") is False for schema in self._together)
        barred = any(schema.get("unevaluatedProperties") is False for schema in self._together) and not self._doubtful
        return (shut or barred) and not self._patterns

    def find_rest(self) -> Type:
        """The kind of a value under a key that is not declared."""
        if self._is_closed():
            return NEVER
        others = [schema["additionalProperties"] for schema in self._together if isinstance(schema.get("additionalProperties"), dict)]
        return self._maker.make((), tuple(others)) if others and not self._patterns else UNKNOWN_TYPE

    def find(self, name: str) -> Type:
        """The kind of a part."""
        if name not in self._found:
            found = self._find(name)
            self._found[name] = weaken(found) if self._doubtful else found
        return self._found[name]

    def _find(self, name: str) -> Type:
        if name not in self._names:
            return self._find_undeclared(name)
        declared, asked = tuple(_iter_property(self._own, name)), tuple(_iter_property(self._more, name))
        kind = self._maker.make(declared, asked)
        if name in self._required:
            return kind
        place = self._maker.find_place((*declared, *asked))
        if not declared:
            return join_types(kind, UndefinedType("optional", name, (), "", place))
        defaults = [schema["default"] for schema in self._maker.gather(declared) if isinstance(schema, dict) and "default" in schema]
        return _add_default(kind, defaults[0]) if defaults else join_types(kind, NoneType(True, place))

    def _find_undeclared(self, name: str) -> Type:
        if name in self._required:
            return self.find_rest() if not self._is_closed() else UNKNOWN_TYPE
        if self._is_closed():
            return UndefinedType("closed", name, self._names, "", self._maker.find_place(self._together, "properties"))
        if self._patterns or (not self._names and self.find_rest() == UNKNOWN_TYPE):
            return UNKNOWN_TYPE
        return join_types(
            self.find_rest(), UndefinedType("undeclared", name, self._names, "", self._maker.find_place(self._together, "properties"))
        )


def _iter_property(together: Sequence[Schema], name: str) -> Iterator[Schema]:
    for schema in together:
        if name in schema.get("properties", {}):
            yield schema["properties"][name]


def _add_default(kind: Type, default: Any) -> Type:
    """A default that is none is meant; a list or mapping is what its schema says."""
    if isinstance(default, list | dict):
        same = any(isinstance(member, MappingType if isinstance(default, dict) else ListType) for member in list_members(kind))
        return kind if same else join_types(kind, find_literal(default))
    return join_types(kind, find_literal(default))
