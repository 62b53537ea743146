"""What an `if` of a schema asks, in words."""

from promptc.diag.typed import Any
from promptc.diag.value import shorten
from promptc.frontend.schema.faults import STATE_WORDS, join_or

_UNTOLD = "its schema's `if` holds"
_MOST = 4


def describe_condition(schema: Any, *, holds: bool) -> str:
    """`` `status` is `DONE` and `owner` is there``; that it is not so, where it does not hold. What is not plain is told by its keyword."""
    told = _tell(schema) if isinstance(schema, dict) else []
    if not told or len(told) > _MOST:
        return _UNTOLD if holds else "its schema's `if` does not hold"
    text = " and ".join(told)
    return text if holds else f"it is not so that {text}"


def _tell(schema: dict[str, Any]) -> list[str]:
    """Each demand of a schema that has no others but values of keys, and keys that must be there; nothing for any other schema."""
    if not set(schema) <= {"properties", "required", "title", "description", "$comment"}:
        return []
    properties, required = schema.get("properties", {}), schema.get("required", [])
    told = []
    for key, one in properties.items():
        values = [one["const"]] if isinstance(one, dict) and set(one) == {"const"} else one.get("enum") if _is_enum(one) else None
        if not values:
            return []
        told.append(f"`{shorten(key)}` is {join_or(STATE_WORDS.show(value) for value in values)}")
    return told + [f"`{shorten(key)}` is there" for key in required if key not in properties]


def _is_enum(schema: Any) -> bool:
    return isinstance(schema, dict) and set(schema) == {"enum"}
