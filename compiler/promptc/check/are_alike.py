"""Whether the elements of two lists of the state are the same kind of thing, by what the schema says of them."""

from collections.abc import Iterator
from urllib.parse import unquote

from promptc.diag.typed import Any

_SAID = frozenset(("$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"))
"""Keywords that judge nothing."""


def are_alike(root: Any, first: str, second: str) -> bool:
    """True where `first` and `second`, places of objects in the schema `root` (`#/…`), are one place, say the same, or a property of one
    is declared as a property of the other."""
    if first == second:
        return True
    one, other = _find(root, first), _find(root, second)
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    return _strip(one) == _strip(other) or _refers(one, second) or _refers(other, first)


def _refers(schema: dict[str, Any], place: str) -> bool:
    properties = schema.get("properties")
    declared = properties.values() if isinstance(properties, dict) else ()
    return any(str(one.get("$ref", "")).startswith(f"{place}/properties/") for one in declared if isinstance(one, dict))


def _strip(schema: Any) -> Any:
    """Without what only explains; names of properties stay."""
    if isinstance(schema, list):
        return [_strip(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return dict(_iter_stripped(schema))


def _iter_stripped(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            yield key, {name: _strip(one) for name, one in value.items()}
        elif key not in _SAID:
            yield key, _strip(value)


def _find(root: Any, place: str) -> Any:
    at = root
    for step in unquote(place.removeprefix("#")).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, list):
            at = at[int(name)] if name.isdecimal() and int(name) < len(at) else None
        else:
            at = at.get(name) if isinstance(at, dict) else None
    return at
