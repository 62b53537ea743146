"""Values drawn from a JSON Schema: as much of JSON Schema as the shipped packs' states use."""

import re
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
"""What a text of a state may hold."""
_TEXTS = st.sampled_from(
    ["", " ", "Nell", "a b\nc", "# Mood: scene", "=== X ===", "<|im_start|>", "{{ state }}", "é—", "Telda. Oskar! " * 9]
)


def from_schema(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that meet the schema. Optional keys are there or not; a key that nothing declares is never there."""
    return _draw(schema, schema)


def _draw(schema: Mapping[str, Any], root: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return st.deferred(lambda: _draw(_find(schema["$ref"], root), root))
    if "anyOf" in schema:
        return st.one_of(*(_draw(one, root) for one in schema["anyOf"]))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of(*(_draw_kind(kind, schema, root) for kind in kinds))


def _find(pointer: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found = root
    for part in pointer.removeprefix("#/").split("/"):
        found = found[part]
    return found


def _draw_kind(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    match kind:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "number":
            return st.floats(-1000, 1000, allow_subnormal=False)
        case "integer":
            return st.integers(schema.get("minimum", -1000), schema.get("maximum", 1000))
        case "string":
            return _draw_text(schema)
        case "array":
            most = min(schema.get("maxItems", 4), 4)
            return st.lists(_draw(schema["items"], root), min_size=schema.get("minItems", 0), max_size=most)
        case _:
            return _draw_object(schema, root)


def _draw_text(schema: Mapping[str, Any]) -> st.SearchStrategy[str]:
    if schema.get("pattern", "\\S") != "\\S":
        return st.from_regex(re.compile(schema["pattern"], re.ASCII), fullmatch=True)
    texts = st.text(characters, max_size=min(schema.get("maxLength", 40), 40)) | _TEXTS.map(lambda text: text[: schema.get("maxLength")])
    return texts.filter(str.strip) if schema.get("pattern") == "\\S" else texts


def _draw_object(schema: Mapping[str, Any], root: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    needed = set(schema.get("required", ()))
    parts = {name: _draw(one, root) for name, one in schema.get("properties", {}).items()}
    drawn = st.fixed_dictionaries(
        {name: one for name, one in parts.items() if name in needed},
        optional={name: one for name, one in parts.items() if name not in needed},
    )
    rules = [rule for rule in schema.get("allOf", ()) if "if" in rule]
    return drawn.filter(lambda value: all(_is_met(value, rule) for rule in rules)) if rules else drawn


def _is_met(value: Mapping[str, Any], rule: Mapping[str, Any]) -> bool:
    """An `if` that compares properties with constants, a `then` that requires some."""
    tests = rule["if"]["properties"].items()
    if any(name in value and value[name] != one["const"] for name, one in tests):
        return True
    return all(name in value for name in rule["then"]["required"])
