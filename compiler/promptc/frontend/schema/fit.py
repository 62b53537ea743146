"""Rewrites the schema of an answer for a provider, and reports what was left out, which is checked on the answer instead.

A change may make the schema wider or narrower than what was written. In either case, an answer that satisfies both the schema that is sent
and the keywords that were left out satisfies the whole schema.
"""

from collections.abc import Callable, Mapping, Sequence

from promptc.diag.typed import Any
from promptc.frontend.schema.check import list_types
from promptc.frontend.schema.lint import KEYWORDS, PATTERN_MAP, REFERENCES, SCHEMA, SCHEMA_MAP, SCHEMAS, References, Schema, iter_schemas
from promptc.model.messages import SchemaRules
from promptc.model.pack import SentSchema
from promptc.text.json import extend_pointer, is_same

_SILENT = ("$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "$defs", "definitions", "$vocabulary")
"""Keywords that do not constrain an answer, or that only references use."""
_HINTS = ("title", "description")
_CHOICES = ("anyOf", "oneOf", "allOf")
_DEEPEST = 50
_IMPLIED = {
    "object": ("properties", "required", "additionalProperties", "patternProperties"),
    "array": ("items", "prefixItems"),
}
"""For each type, the keywords that imply it in a schema without `type`."""


class _UnfitError(Exception):
    """The schema cannot be expressed under a provider's rules. The text says where and why."""


def fit_schema(root: Mapping[str, Any], rules: SchemaRules) -> SentSchema:
    """Return what is sent to a provider with these rules for a well-formed schema.

    If nothing can be sent, `schema` is None and `why` gives the reason. `left_out` are the JSON pointers of the keywords that are not in
    the sent schema, in document order.
    """
    if not rules.is_closed:
        left_out: list[str] = []
        kept = _keep(root, "", rules, left_out)
        lost = _describe_lost(kept)
        return SentSchema(None, (), lost) if lost else SentSchema(kept, tuple(left_out))
    fitter = _Fitter(root, rules)
    try:
        fitted = fitter.fit(root, "")
    except _UnfitError as unfit:
        return SentSchema(None, (), str(unfit))
    defs = {"$defs": fitter.defs} if fitter.defs else {}
    order = {pointer: place for place, pointer in enumerate(_iter_pointers(root))}
    return SentSchema({**defs, **fitted}, tuple(sorted(dict.fromkeys(fitter.left_out), key=lambda one: (order.get(one, 0), one))))


def _iter_pointers(root: Schema) -> list[str]:
    return [extend_pointer(pointer, key) for pointer, schema in iter_schemas(root) if isinstance(schema, dict) for key in schema]


# --- a whole schema, without some keywords ---


def _keep(schema: Schema, pointer: str, rules: SchemaRules, left_out: list[str]) -> Any:
    """Return the schema with the keywords that the rules allow, in their order. The pointers of the others are added to `left_out`."""
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        place = extend_pointer(pointer, key)
        if _stands(key, schema, rules):
            kept[key] = _keep_inner(key, value, place, rules, left_out)
        elif key == "const" and "enum" in rules.keywords and "enum" not in schema and isinstance(value, str | int | float):
            kept["enum"] = [value]
        elif key not in _SILENT:
            left_out.append(place)
    return kept


def _describe_lost(kept: Schema) -> str:
    """Describe the first reference to a schema that was left out; return an empty text if there is none."""
    references = References(kept)
    for pointer, schema in iter_schemas(kept):
        for keyword in REFERENCES if isinstance(schema, Mapping) else ():
            target = schema.get(keyword)
            if isinstance(target, str) and references.find(target) is None:
                why = f"`{keyword}` leads to `{target}`, in a keyword that is left out: write that under `$defs`"
                return _say(pointer, why)
    return ""


def _stands(key: str, schema: Mapping[str, Any], rules: SchemaRules) -> bool:
    if rules.bare_references and "$ref" in schema and not key.startswith("$"):
        return False
    return key not in rules.without and (not rules.keywords or key in rules.keywords)


def _keep_inner(key: str, value: Any, pointer: str, rules: SchemaRules, left_out: list[str]) -> Any:
    kind = KEYWORDS.get(key)
    if kind == SCHEMA:
        return _keep(value, pointer, rules, left_out)
    if kind == SCHEMAS:
        return [_keep(one, f"{pointer}/{place}", rules, left_out) for place, one in enumerate(value)]
    if kind in (SCHEMA_MAP, PATTERN_MAP):
        return {name: _keep(one, extend_pointer(pointer, name), rules, left_out) for name, one in value.items()}
    return value


# --- closed objects of typed values ---


class _Fitter:
    """Rewrites one schema for a provider that requires closed objects and a type for every value."""

    def __init__(self, root: Mapping[str, Any], rules: SchemaRules) -> None:
        self._rules = rules
        self._references = References(root)
        self._pointers = {id(schema): pointer for pointer, schema in iter_schemas(root) if isinstance(schema, dict)}
        self._names: dict[str, str] = {}
        self._open: list[str] = []
        self._depth = 0
        self.defs: dict[str, Any] = {}
        self.left_out: list[str] = []

    def fit(self, schema: Schema, pointer: str) -> dict[str, Any]:
        """Return the rewritten schema at a pointer. Raises `_UnfitError`."""
        if self._depth == _DEEPEST:
            raise _UnfitError(_say(pointer, f"more than {_DEEPEST} schemas are nested there"))
        self._depth += 1
        try:
            return self._fit(schema, pointer)
        finally:
            self._depth -= 1

    def _fit(self, schema: Schema, pointer: str) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            raise _UnfitError(_say(pointer, "any value is allowed there" if schema else "no value is allowed there"))
        if "$ref" in schema or "$dynamicRef" in schema:
            return self._refer(schema, pointer)
        hints = {key: schema[key] for key in _HINTS if key in schema}
        listed = self._list(schema, pointer) if "enum" in schema or "const" in schema else None
        return {**(self._fit_typed(schema, pointer) if listed is None else listed), **hints}

    def _leave(self, schema: Mapping[str, Any], pointer: str, used: Sequence[str]) -> None:
        """Record the keywords of a schema that are not sent."""
        self.left_out += [extend_pointer(pointer, key) for key in schema if key not in (*used, *_HINTS, *_SILENT)]

    def _refer(self, schema: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        """Return a reference to the target, which is written once under `$defs`."""
        reference = schema.get("$ref", schema.get("$dynamicRef"))
        target = self._references.find(str(reference))
        place = self._pointers.get(id(target))
        if not isinstance(target, dict) or place is None:
            raise _UnfitError(_say(pointer, f"it refers to `{reference}`, where any value or none is allowed"))
        if place in self._open or not place:
            raise _UnfitError(_say(place, "it refers to itself"))
        self.left_out += [extend_pointer(pointer, key) for key in schema if key not in ("$ref", "$dynamicRef", *_SILENT)]
        if place not in self._names:
            self._names[place] = name = self._name(place)
            self._open.append(place)
            self.defs[name] = {}  # reserves the place: definitions are in the order of their first use
            self.defs[name] = self.fit(target, place)
            self._open.pop()
        return {"$ref": f"#/$defs/{self._names[place]}"}

    def _name(self, place: str) -> str:
        """Return a new name for a definition: the last part of its pointer, with only letters, digits and `_`."""
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in place.rsplit("/", 1)[-1]) or "_"
        name, number = plain, 2
        while name in self.defs:
            name, number = f"{plain}_{number}", number + 1
        return name

    def _list(self, schema: Mapping[str, Any], pointer: str) -> dict[str, Any] | None:
        """Return the listed values that have an allowed type, or None if some are not plain; the caller then leaves the list out."""
        values = list(schema.get("enum", [schema.get("const")]))
        if any(isinstance(value, dict | list) for value in [*values, schema.get("const")]):
            return None
        if "const" in schema:
            values = [value for value in values if is_same(value, schema["const"])]
        values = [value for value in values if _has_type(value, list_types(schema))]
        if not values:
            raise _UnfitError(_say(pointer, "no value is allowed there"))
        self._leave(schema, pointer, ("enum", "const", "type"))
        return {"const": values[0]} if "const" in schema else {"enum": values}

    def _fit_typed(self, schema: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        types = list_types(schema) or [name for name, implied in _IMPLIED.items() if any(key in schema for key in implied)]
        if not types:
            return self._choose(schema, pointer)
        fitted = []
        used: set[str] = {"type"}
        for name in types:
            made, keys = _SHAPES[name](self, schema, pointer)
            fitted.append({"type": name, **made})
            used |= keys
        self._leave(schema, pointer, tuple(used))
        return fitted[0] if len(fitted) == 1 else {"anyOf": fitted}

    def _choose(self, schema: Mapping[str, Any], pointer: str) -> dict[str, Any]:
        """Return the alternatives of a schema without `type`.

        `oneOf` is sent as `anyOf`, which accepts more, so it is recorded as left out.
        """
        keyword = next((key for key in _CHOICES if key in schema), None)
        if keyword is None:
            raise _UnfitError(_say(pointer, "it has no `type`"))
        branches: Sequence[Schema] = schema[keyword]
        fitted = [self.fit(branch, f"{pointer}/{keyword}/{place}") for place, branch in enumerate(branches)]
        self._leave(schema, pointer, () if keyword == "oneOf" and len(branches) > 1 else (keyword,))
        if len(fitted) == 1:
            return fitted[0]
        if keyword == "allOf":
            raise _UnfitError(_say(pointer, "it has an `allOf`, whose objects would be closed each for itself"))
        return {"anyOf": fitted}

    def fit_object(self, schema: Mapping[str, Any], pointer: str) -> tuple[dict[str, Any], set[str]]:
        """Return an object closed to undeclared properties, and the keywords used."""
        declared = schema.get("properties", {})
        undeclared = [name for name in schema.get("required", ()) if name not in declared]
        if undeclared:
            raise _UnfitError(_say(pointer, f"it requires `{undeclared[0]}` and does not declare it"))
        properties = {name: self.fit(one, extend_pointer(f"{pointer}/properties", name)) for name, one in declared.items()}
        made: dict[str, Any] = {"properties": properties, "additionalProperties": False}
        used = {"properties", "required"} | ({"additionalProperties"} if schema.get("additionalProperties") in (True, False) else set())
        return (made | {"required": list(schema["required"])} if "required" in schema else made), used

    def fit_array(self, schema: Mapping[str, Any], pointer: str) -> tuple[dict[str, Any], set[str]]:
        """Return an array whose elements all have the same schema, and the keywords used."""
        made: dict[str, Any] = {}
        used: set[str] = set()
        if "items" in schema and "prefixItems" not in schema:
            used.add("items")
            if schema["items"] is not True and schema["items"] != {}:
                made["items"] = self.fit(schema["items"], f"{pointer}/items")
        if schema.get("minItems") in self._rules.least_items:
            used.add("minItems")
            made["minItems"] = schema["minItems"]
        return made, used

    def fit_string(self, schema: Mapping[str, Any], pointer: str) -> tuple[dict[str, Any], set[str]]:
        """Return the format of a string if the provider knows it, and the keywords used."""
        is_known = schema.get("format") in self._rules.formats
        return ({"format": schema["format"]}, {"format"}) if is_known else ({}, set())

    def fit_plain(self, schema: Mapping[str, Any], pointer: str) -> tuple[dict[str, Any], set[str]]:
        """Return nothing to add: the type of a number, boolean or null is all that is sent."""
        return {}, set()


_Shape = Callable[[_Fitter, Mapping[str, Any], str], tuple[dict[str, Any], set[str]]]
_SHAPES: Mapping[str, _Shape] = {
    "object": _Fitter.fit_object,
    "array": _Fitter.fit_array,
    "string": _Fitter.fit_string,
    **dict.fromkeys(("integer", "number", "boolean", "null"), _Fitter.fit_plain),
}


def _has_type(value: Any, types: Sequence[str]) -> bool:
    """Return whether a plain value has one of the types; true if there are none."""
    if isinstance(value, bool) or value is None:
        return not types or ("null" if value is None else "boolean") in types
    if isinstance(value, str):
        return not types or "string" in types
    return not types or "number" in types or ("integer" in types and value == int(value))


def _say(pointer: str, why: str) -> str:
    return f"at `{pointer}` {why}" if pointer else why
