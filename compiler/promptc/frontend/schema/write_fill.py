"""What a schema declares and a state leaves out, read as its default, else none (language.md §2): as the text of Python functions."""

from collections.abc import Iterator, Mapping

from promptc.diag.typed import Any
from promptc.frontend.schema.keywords import Schema
from promptc.frontend.schema.references import References

Lines = list[str]


class FillWriter:
    """Writes the functions that fill values through `properties`, `items`, `prefixItems`, `$ref` and `allOf`. What a schema declares
    twice has its first default.

    `fill(value, fuel)` gives the value with what is absent filled in, mappings in code-point order of their keys. What needs nothing
    stays the same object, and what is filled in is the same object every time. All use the names in `rules`.
    """

    def __init__(self, root: Schema, references: References) -> None:
        plan = _Plan(references)
        self._first = plan.find((root,))
        self._fillers = {f"d{filler.number}": filler for filler in plan.fillers.values() if not filler.is_idle()}
        self._insteads = [filler for filler in plan.fillers.values() if filler.has_parts()]
        self.names = tuple(self._fillers)
        """Of the functions to be written."""

    def write(self, name: str) -> str:
        """The text of a function."""
        return "\n".join([f"def {name}(v, f):", *_indent(_write_filler(self._fillers[name])), "  return v"])

    def write_end(self) -> str:
        """What comes after the functions. To run it raises an EndlessDefaultError where a default never ends."""
        insteads = [f"{each.number}: ({each.default!r}, {_call(each)})" for each in self._insteads]
        return f"D = Insteads({{{', '.join(insteads)}}})\nD.make_all()\nfill = {_call(self._first)}"


class _Filler:
    """What is filled into the values of one set of schemas."""

    __slots__ = ("_idle", "default", "inner", "number", "places", "rest")

    def __init__(self, number: int) -> None:
        self.number = number
        self.default: Any = None
        self.inner: dict[str, _Filler] = {}
        self.places: list[_Filler] = []
        self.rest: _Filler | None = None
        self._idle: bool | None = None

    def is_idle(self) -> bool:
        """Whether it fills nothing into any value. A schema that names itself is not known to be."""
        if self._idle is None:
            self._idle = False
            members = [*self.places, *([self.rest] if self.rest is not None else [])]
            self._idle = not self.inner and all(filler.is_idle() for filler in members)
        return self._idle

    def has_parts(self) -> bool:
        """Whether its default is a mapping or a list, which is filled itself."""
        return isinstance(self.default, (dict, list))


class _Plan:
    """The fillers of a schema, each made once."""

    def __init__(self, references: References) -> None:
        self._references = references
        self.fillers: dict[tuple[int, ...], _Filler] = {}

    def find(self, schemas: tuple[Schema, ...]) -> _Filler:
        """What is filled into a value for which all of these schemas hold."""
        together = tuple(self._gather(schemas))
        key = tuple(id(schema) for schema in together)
        if key not in self.fillers:
            self.fillers[key] = filler = _Filler(len(self.fillers))
            self._complete(filler, together)
        return self.fillers[key]

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

    def _complete(self, filler: _Filler, together: tuple[Mapping[str, Any], ...]) -> None:
        declared: dict[str, list[Schema]] = {}
        for schema in together:
            for name, inner in schema.get("properties", {}).items():
                declared.setdefault(name, []).append(inner)
        filler.default = next((schema["default"] for schema in together if "default" in schema), None)
        filler.inner = {name: self.find(tuple(inner)) for name, inner in sorted(declared.items())}
        most = max((len(schema.get("prefixItems", ())) for schema in together), default=0)
        filler.places = [self.find(tuple(_iter_at(together, place))) for place in range(most)]
        rest = tuple(schema["items"] for schema in together if "items" in schema)
        filler.rest = self.find(rest) if rest else None


def _iter_at(together: tuple[Mapping[str, Any], ...], place: int) -> Iterator[Schema]:
    """What holds of the element at `place`: each schema's own entry there, or its `items`."""
    for schema in together:
        first = schema.get("prefixItems", ())
        if place < len(first):
            yield first[place]
        elif "items" in schema:
            yield schema["items"]


def _write_filler(filler: _Filler) -> Lines:
    lines: Lines = []
    if filler.inner:
        keys = "".join(f"{key!r}, " for key in filler.inner)
        members = [line for key, inner in filler.inner.items() for line in _write_member(key, inner)]
        lines += ["if v.__class__ is dict:", *_indent(["c = {}", *members, f"return merge(v, c, ({keys}), f) if c else v"])]
    if any(not inner.is_idle() for inner in (*filler.places, *([filler.rest] if filler.rest else ()))):
        lines += ["if v.__class__ is list:", *_indent(_write_elements(filler))]
    return lines


def _write_member(key: str, inner: _Filler) -> Lines:
    instead = f"D[{inner.number}]" if inner.has_parts() else repr(inner.default)
    lines = [f"if {key!r} not in v: c[{key!r}] = {instead}"]
    if not inner.is_idle():
        lines += ["else:", f"  n = d{inner.number}(v[{key!r}], f)", f"  if n is not v[{key!r}]: c[{key!r}] = n"]
    return lines


def _write_elements(filler: _Filler) -> Lines:
    first = f"[d(e, f) for d, e in zip(({''.join(f'{_call(each)}, ' for each in filler.places)}), v)]" if filler.places else "[]"
    after = "v[len(w):]" if filler.places else "v"
    rest = f"[d{filler.rest.number}(e, f) for e in {after}]" if filler.rest and not filler.rest.is_idle() else after
    return [f"w = {first}", f"w += {rest}", "for n, o in zip(w, v):", "  if n is not o: return w"]


def _call(filler: _Filler) -> str:
    return "keep" if filler.is_idle() else f"d{filler.number}"


def _indent(lines: Lines) -> Lines:
    return [f"  {line}" for line in lines]
