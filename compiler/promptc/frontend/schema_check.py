"""Validation against JSON Schemas. The only module that imports jsonschema, and only when something is wrong: valid values are told by
`Verdicts`, and what is invalid is described by jsonschema.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any, Literal
from promptc.files.paths import find_shipped
from promptc.frontend.list_sections import list_sections
from promptc.frontend.schema.describe_condition import describe_condition
from promptc.frontend.schema.fault import SchemaFault
from promptc.frontend.schema.pattern import Pattern
from promptc.frontend.schema.rules import Fuel, FuelError, is_multiple, is_unique
from promptc.frontend.schema.verdict import Verdicts
from promptc.frontend.shape import describe_pack_faults
from promptc.model.state import Node
from promptc.text.moment import FORMATS

_PLENTY = 10**9
"""The shipped schema asks each value a bounded number of times, and manifests are small."""


def check_pack_shape(node: Node) -> list[Diagnostic]:
    """What is wrong with a manifest by `schemas/pack.schema.json`, with the place of each key or value; nothing when it is valid."""
    return _check_shape(node, _load_schema("pack").root, _load_schema("pack"))


def check_effective_shape(manifest: Node) -> list[Diagnostic]:
    """The same for a manifest after its base or variations were laid over it, with its sections by id: parts must have become whole."""
    return _check_shape(list_sections(manifest), _load_schema("pack").root["$defs"]["pack"], _load_schema("pack"))


def check_segments_shape(node: Node, definition: Literal["file", "front"]) -> list[Diagnostic]:
    """The same for a file of segments, or the front matter of one, by `schemas/segments.schema.json`."""
    verdicts = _load_schema("segments")
    return _check_shape(node, verdicts.root["$defs"][definition], verdicts, "the file" if definition == "file" else "the segment")


def check_case_shape(node: Node, value: Any) -> list[Diagnostic]:
    """The same for a `case.yaml`, whose plain value is `value`, by `schemas/case.schema.json`."""
    verdicts = _load_schema("case")
    return [] if verdicts.find(verdicts.root)(value, [_PLENTY]) else _check_shape(node, verdicts.root, verdicts, "the case")


def _check_shape(node: Node, schema: Mapping[str, Any], verdicts: Verdicts, whole: str = "the manifest") -> list[Diagnostic]:
    value = node.plain()
    if verdicts.find(schema)(value, [_PLENTY]):
        return []
    return describe_pack_faults(node, iter_faults(verdicts, schema, value, [_PLENTY]), whole)


@cache
def _load_schema(kind: str) -> Verdicts:
    """Read once: it is shipped, and never changes while the compiler runs."""
    return Verdicts(json.loads(find_shipped("schemas", f"{kind}.schema.json").read_text(encoding="utf-8")))


def iter_faults(verdicts: Verdicts, schema: Any, value: Any, fuel: Fuel) -> Iterator[SchemaFault]:
    """Every way in which `value` does not fit `schema`, which is the verdicts' root or stands in it.

    Lazily. Values and elements that a quick verdict finds valid are passed over, so that one wrong element of many is found fast.
    """
    validator = _make_validator(verdicts, fuel)
    for error in validator(verdicts.root, registry=_make_registry()).evolve(schema=schema).iter_errors(value):
        yield _convert(error)


def _make_registry() -> Any:
    """Empty, and without a way to fetch: nothing outside the schema is ever read."""
    from referencing import Registry

    return Registry()


def _convert(error: Any) -> SchemaFault:
    branches: dict[str, list[SchemaFault]] = {}
    for number, inner in enumerate(error.context):
        place = inner.relative_schema_path[0] if inner.relative_schema_path else f"false {number}"
        branches.setdefault(str(place), []).append(_convert(inner))
    ordered = tuple(map(tuple, branches.values()))
    keyword = str(error.validator) if error.validator is not None else "false"
    condition = getattr(error, "condition", "")
    return SchemaFault(tuple(error.absolute_path), keyword, error.validator_value, error.instance, error.schema, ordered, condition)


def _make_validator(verdicts: Verdicts, fuel: Fuel) -> Any:
    """Draft202012Validator with what could read elsewhere, or take more than linear time, done otherwise."""
    from jsonschema import Draft202012Validator, ValidationError, validators

    rules = _Rules(verdicts, fuel, ValidationError)
    changed = {
        "$ref": rules.refer,
        "$dynamicRef": rules.refer,
        "if": rules.check_if,
        "items": rules.check_items,
        "pattern": rules.check_pattern,
        "format": rules.check_format,
        "patternProperties": rules.check_by_pattern,
        "additionalProperties": rules.check_other,
        "properties": rules.check_known,
        "required": rules.check_required,
        "dependentRequired": rules.check_dependent,
        "propertyNames": rules.check_names,
        "multipleOf": rules.check_multiple,
        "uniqueItems": rules.check_unique,
    }
    extend: Any = validators.extend
    return extend(Draft202012Validator, changed)


@frozen
class _Rules:
    """Keywords as jsonschema calls them: with the validator, the keyword's value, the value that is judged and the schema."""

    verdicts: Verdicts
    fuel: Fuel
    error: Any

    def refer(self, validator: Any, reference: str, value: Any, _: Any) -> Iterator[Any]:
        self.fuel[0] -= 1
        if self.fuel[0] < 0:
            raise FuelError
        yield from validator.descend(value, self.verdicts.references.find(reference))

    def check_if(self, validator: Any, asked: Any, value: Any, schema: Any) -> Iterator[Any]:
        """Each error is told which `if` asks for it, the innermost first."""
        holds = validator.evolve(schema=asked).is_valid(value)
        word = "then" if holds else "else"
        for error in validator.descend(value, schema[word], schema_path=word) if word in schema else ():
            error.condition = getattr(error, "condition", "") or describe_condition(asked, holds=holds)
            yield error

    def check_items(self, validator: Any, items: Any, value: Any, schema: Any) -> Iterator[Any]:
        for place in range(len(schema.get("prefixItems", ())), len(value) if isinstance(value, list) else 0):
            yield from self._descend(validator, value[place], items, place)

    def check_pattern(self, _: Any, pattern: str, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, str) and not _read(pattern).matches(value):
            yield self.error("pattern")

    def check_format(self, _: Any, name: str, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, str) and name in FORMATS and not FORMATS[name](value):
            yield self.error("format")

    def check_by_pattern(self, validator: Any, patterns: Any, value: Any, _: Any) -> Iterator[Any]:
        for pattern, inner in patterns.items() if isinstance(value, dict) else ():
            for key in filter(_read(pattern).matches, value):
                yield from self._descend(validator, value[key], inner, key)

    def check_known(self, validator: Any, known: Any, value: Any, _: Any) -> Iterator[Any]:
        for key, inner in known.items() if isinstance(value, dict) else ():
            if key in value:
                yield from self._descend(validator, value[key], inner, key)

    def check_other(self, validator: Any, other: Any, value: Any, schema: Any) -> Iterator[Any]:
        for key in _iter_other(value, schema) if isinstance(value, dict) else ():
            if other is False:
                yield self.error("additionalProperties", path=[key])
            else:
                yield from self._descend(validator, value[key], other, key)

    def check_required(self, _: Any, keys: list[str], value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            yield from (self.error("required", validator_value=key) for key in keys if key not in value)

    def check_dependent(self, _: Any, needs: Any, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            missing = ((key, needed) for key in needs if key in value for needed in needs[key] if needed not in value)
            yield from (self.error("dependentRequired", validator_value=pair) for pair in missing)

    def check_names(self, validator: Any, names: Any, value: Any, _: Any) -> Iterator[Any]:
        for key in value if isinstance(value, dict) else ():
            wrong = list(validator.descend(key, names))
            if wrong:
                yield self.error("propertyNames", path=[key], context=wrong)

    def check_multiple(self, _: Any, step: float, value: Any, __: Any) -> Iterator[Any]:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not is_multiple(value, step):
            yield self.error("multipleOf")

    def check_unique(self, _: Any, wanted: bool, value: Any, __: Any) -> Iterator[Any]:
        if wanted and isinstance(value, list) and not is_unique(value):
            yield self.error("uniqueItems")

    def _descend(self, validator: Any, value: Any, schema: Any, step: str | int) -> Iterator[Any]:
        """Passes over what a quick verdict finds valid. jsonschema gives no path to a value that the schema `false` refuses."""
        if schema is False:
            yield self.error("false", validator="false", path=[step])
        elif not self.verdicts.taken or not self.verdicts.find(schema)(value, self.fuel):
            yield from validator.descend(value, schema, path=step)


def _iter_other(value: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """The keys that neither `properties` nor `patternProperties` speak of."""
    patterns = [_read(pattern) for pattern in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    return (key for key in value if key not in known and not any(pattern.matches(key) for pattern in patterns))


@cache
def _read(pattern: str) -> Pattern:
    return Pattern(pattern)
