"""A schema asked about parts of a value: `LocalSchema` finds what it says of the value at a place, and fills in what is left out there.

Whoever changes a valid value need not have all of it checked again. What a schema says of the members of a container, one by one, holds
where it holds of each. Only a keyword that looks at several members together, or chooses by them, asks for the container whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.frontend.schema import runtime
from promptc.frontend.schema.check import Filler, FillWriter, Verdicts, compile_lazily
from promptc.frontend.schema.lint import Schema
from promptc.frontend.schema.runtime import Fill, Fuel

_OF_ALL = frozenset(
    "not if anyOf oneOf enum const dependentSchemas patternProperties prefixItems uniqueItems contains unevaluatedProperties "
    "unevaluatedItems".split()
)
"""Keywords by which the verdict on a container depends on more than that of each member alone."""

_OF_SIZE = ("required", "minProperties", "maxProperties", "propertyNames", "dependentRequired", "minItems", "maxItems")
"""Those that look at which members there are, and not at what they hold."""

_MOST_PLACES = 10_000
"""Places that are remembered. The keys of a mapping may be anything."""


@frozen(eq=False)
class SchemaPlace:
    """A place in a value. `asked` are the schemas to ask of what stands there; `holding` are these, with all that they name by a reference
    and all that stand under their `allOf`.
    """

    asked: tuple[Schema, ...]
    holding: tuple[Schema, ...]

    @property
    def is_open(self) -> bool:
        """Whether a container here is valid where its members are, and there are as many of them as there may be."""
        return all(isinstance(schema, bool) or _OF_ALL.isdisjoint(schema) for schema in self.holding)


class LocalSchema:
    """A schema without errors. Its functions are written when they are first called."""

    def __init__(self, root: Schema) -> None:
        self._verdicts = Verdicts(root)
        self._space: dict[str, Any] = dict(vars(runtime))
        writer = FillWriter(root, self._verdicts.references)
        for name in writer.names:
            compile_lazily(self._space, name, partial(writer.write, name))
        exec(writer.write_end(), self._space)
        self.root = SchemaPlace((root,), self._gather((root,)))
        self.filler: Filler | None = writer.first
        self._inner: dict[tuple[SchemaPlace, str | int], SchemaPlace] = {}

    def enter(self, place: SchemaPlace, key: str | int) -> SchemaPlace:
        """The place of the member under a key, or of an element of a list, where the container at `place` is open."""
        known = (place, key if isinstance(key, str) else 0)
        found = self._inner.get(known)
        if found is None:
            asked = tuple(_iter_inner(place.holding, key))
            found = SchemaPlace(asked, self._gather(asked))
            if len(self._inner) < _MOST_PLACES:
                self._inner[known] = found
        return found

    def is_valid(self, place: SchemaPlace, value: Any, fuel: Fuel) -> bool:
        """Whether a value is valid there. Raises `FuelError` where that takes more steps than there are."""
        return all(self._verdicts.make_check(schema)(value, fuel) for schema in place.asked)

    def is_sized(self, place: SchemaPlace, value: Any, fuel: Fuel) -> bool:
        """Whether a container has the members that it must, and no more or others than it may, whatever these hold."""
        asked = ((schema, word) for schema in place.holding if isinstance(schema, dict) for word in _OF_SIZE if word in schema)
        return all(self._verdicts.make_check(schema, word)(value, fuel) for schema, word in asked)

    def fill(self, filler: Filler | None, value: Any, fuel: Fuel) -> Any:
        """A value with everything that is declared and left out in it."""
        return value if filler is None or filler.is_idle() else self._load(filler)(value, fuel)

    def make_default(self, filler: Filler) -> Any:
        """What stands in the place of a member that is left out."""
        return self._space["D"][filler.number] if filler.has_parts() else filler.default

    def list_shared(self) -> list[Any]:
        """The mappings and lists that may be filled in at several places."""
        shared: list[Any] = self._space["shared"]
        return shared

    def _load(self, filler: Filler) -> Fill:
        found: Fill = self._space[f"d{filler.number}"]
        return found

    def _gather(self, schemas: tuple[Schema, ...]) -> tuple[Schema, ...]:
        """Those, with what they name by a reference and what stands under their `allOf`, each once."""
        met: dict[int, Schema] = {}
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop(0)
            if id(schema) in met:
                continue
            met[id(schema)] = schema
            if isinstance(schema, dict):
                waiting += [*self._verdicts.references.iter_targets(schema), *schema.get("allOf", ())]
        return tuple(met.values())


def find_filler(filler: Filler | None, key: str | int) -> Filler | None:
    """What fills the member under a key, or at a place of a list."""
    if filler is None:
        return None
    if isinstance(key, str):
        return filler.inner.get(key)
    return filler.places[key] if key < len(filler.places) else filler.rest


def _iter_inner(schemas: tuple[Schema, ...], key: str | int) -> Iterator[Schema]:
    for schema in schemas:
        if not isinstance(schema, Mapping):
            continue
        if not isinstance(key, str):
            if "items" in schema:
                yield schema["items"]
        elif key in schema.get("properties", {}):
            yield schema["properties"][key]
        elif "additionalProperties" in schema:
            yield schema["additionalProperties"]
