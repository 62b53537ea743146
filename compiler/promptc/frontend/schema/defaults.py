"""What a schema declares and a state leaves out: read as its default, else none (language.md §2)."""

from collections.abc import Iterator, Mapping

from promptc.diag.typed import Any
from promptc.frontend.schema.keywords import Schema
from promptc.frontend.schema.references import References


class EndlessDefaultError(Exception):
    """A default holds, by way of its own schema, itself."""


class Defaults:
    """Fills values through `properties`, `items`, `prefixItems`, `$ref` and `allOf`. What a schema declares twice has its first default.

    Making one raises an EndlessDefaultError where a default never ends. What is filled in is the same object every time.
    """

    def __init__(self, root: Schema, references: References) -> None:
        self._references = references
        self._made: dict[tuple[int, ...], _Filler] = {}
        self._root = self._make((root,))
        for filler in self._made.values():
            filler.find_instead()

    def fill(self, value: Any) -> Any:
        """The value with what is absent filled in, mappings in code-point order of their keys. What needs nothing stays the same object."""
        return self._root.fill(value)

    def _make(self, schemas: tuple[Schema, ...]) -> "_Filler":
        together = tuple(self._gather(schemas))
        key = tuple(id(schema) for schema in together)
        if key not in self._made:
            self._made[key] = filler = _Filler()
            self._complete(filler, together)
        return self._made[key]

    def _gather(self, schemas: tuple[Schema, ...]) -> Iterator[Mapping[str, Any]]:
        """The schemas that all hold of one value: with those they name and those under `allOf`, each once."""
        met: set[int] = set()
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop(0)
            if isinstance(schema, dict) and id(schema) not in met:
                met.add(id(schema))
                yield schema
                waiting[:0] = [*self._references.iter_targets(schema), *schema.get("allOf", ())]

    def _complete(self, filler: "_Filler", together: tuple[Mapping[str, Any], ...]) -> None:
        declared: dict[str, list[Schema]] = {}
        for schema in together:
            for name, inner in schema.get("properties", {}).items():
                declared.setdefault(name, []).append(inner)
        filler.default = next((schema["default"] for schema in together if "default" in schema), None)
        filler.inner = {name: self._make(tuple(inner)) for name, inner in sorted(declared.items())}
        most = max((len(schema.get("prefixItems", ())) for schema in together), default=0)
        filler.places = [self._make(tuple(_iter_at(together, place))) for place in range(most)]
        rest = tuple(schema["items"] for schema in together if "items" in schema)
        filler.rest = self._make(rest) if rest else None


def _iter_at(together: tuple[Mapping[str, Any], ...], place: int) -> Iterator[Schema]:
    """What holds of the element at `place`: each schema's own entry there, or its `items`."""
    for schema in together:
        first = schema.get("prefixItems", ())
        if place < len(first):
            yield first[place]
        elif "items" in schema:
            yield schema["items"]


class _Filler:
    """What is filled into the values of one set of schemas."""

    __slots__ = ("_active", "_idle", "_instead", "default", "inner", "places", "rest")

    def __init__(self) -> None:
        self.default: Any = None
        self.inner: dict[str, _Filler] = {}
        self.places: list[_Filler] = []
        self.rest: _Filler | None = None
        self._instead: Any = None
        self._active = False
        self._idle: bool | None = None

    def fill(self, value: Any) -> Any:
        if type(value) is dict:
            return self._fill_mapping(value)
        return self._fill_list(value) if type(value) is list else value

    def _fill_mapping(self, value: dict[str, Any]) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for name, filler in self.inner.items():
            if name not in value:
                changes[name] = filler.find_instead()
            elif not filler.is_idle():
                old = value[name]
                new = filler.fill(old)
                if new is not old:
                    changes[name] = new
        if not changes:
            return value
        merged = {**value, **changes}
        return merged if len(merged) == len(value) else dict(sorted(merged.items()))

    def _fill_list(self, value: list[Any]) -> list[Any]:
        first = [filler.fill(item) for filler, item in zip(self.places, value, strict=False)]
        after = value[len(first) :]
        if self.rest is not None and not self.rest.is_idle():
            after = [*map(self.rest.fill, after)]
        filled = [*first, *after]
        return value if all(new is old for new, old in zip(filled, value, strict=True)) else filled

    def is_idle(self) -> bool:
        """Whether it fills nothing into any value. A schema that names itself is not known to be."""
        if self._idle is None:
            self._idle = False
            members = [*self.places, *([self.rest] if self.rest is not None else [])]
            self._idle = not self.inner and all(filler.is_idle() for filler in members)
        return self._idle

    def find_instead(self) -> Any:
        """The default, filled in itself; the same object every time."""
        if type(self.default) not in (dict, list) or (not self.default and type(self.default) is list):
            return self.default
        if self._instead is None:
            if self._active:
                raise EndlessDefaultError
            self._active = True
            self._instead = self.fill(self.default)
            self._active = False
        return self._instead
