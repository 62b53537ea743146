"""Values at JSON pointers of plain data: found, put and taken out. What lies on the way is copied, all else shared, nothing changed."""

from collections.abc import Sequence

from promptc.diag.typed import Any

MISSING: Any = object()
"""What is found where nothing is."""


class PointerError(Exception):
    """A pointer leads nowhere. `way` is as far as it leads, `why` what is there."""

    def __init__(self, way: Sequence[str], why: str) -> None:
        self.way = tuple(way)
        self.why = why
        super().__init__(why)


def split_pointer(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON pointer (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def find_at(value: Any, way: Sequence[str]) -> Any:
    """What stands there; MISSING for a key or place that is not there, or below a value that holds nothing."""
    for part in way:
        if isinstance(value, dict):
            value = value.get(part, MISSING)
        elif isinstance(value, list):
            at = _find_place(value, part)
            value = value[at] if at is not None else MISSING
        else:
            return MISSING
    return value


def put_at(value: Any, way: Sequence[str], new: Any) -> Any:
    """`value` with `new` there; a new key stands behind the others, and mappings on the way that are not there are made. Raises
    `AstrayError`.
    """
    return _put(value, way, 0, new)


def drop_at(value: Any, way: Sequence[str]) -> Any:
    """`value` without what stands there, and without its key or place; the same object where nothing does."""
    if find_at(value, way) is MISSING:
        return value
    part, above = way[-1], find_at(value, way[:-1])
    if isinstance(above, dict):
        return put_at(value, way[:-1], {key: one for key, one in above.items() if key != part})
    at = int(part)
    return put_at(value, way[:-1], [*above[:at], *above[at + 1 :]])


def _put(value: Any, way: Sequence[str], depth: int, new: Any) -> Any:
    if depth == len(way):
        return new
    part = way[depth]
    if value is MISSING:
        return {part: _put(MISSING, way, depth + 1, new)}
    if isinstance(value, dict):
        return {**value, part: _put(value.get(part, MISSING), way, depth + 1, new)}
    if not isinstance(value, list):
        raise PointerError(way[:depth], "is neither a list nor a mapping")
    at = _find_place(value, part)
    if at is None:
        raise PointerError(way[:depth], f"is a list of {len(value)} and has no element `{part}`")
    return [*value[:at], _put(value[at], way, depth + 1, new), *value[at + 1 :]]


def _find_place(value: list[Any], part: str) -> int | None:
    """A place in a list, as RFC 6901 writes it: no sign, no leading zero."""
    if not part.isascii() or not part.isdigit() or (part[0] == "0" and len(part) > 1):
        return None
    return int(part) if len(part) < 10 and int(part) < len(value) else None
