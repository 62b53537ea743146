"""A list in a state."""

from promptc.diag.typed import Any


def find_list(value: Any, pointer: str) -> list[Any] | None:
    """The list at a JSON pointer (RFC 6901), the very one; None where there is none."""
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isascii() and part.isdigit() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value if isinstance(value, list) else None
