"""JSON texts, their digests, and JSON pointers into plain data: to find, set and remove values.

Setting or removing a value copies the containers on the way to it, shares everything else, and modifies nothing in place.
"""

from __future__ import annotations

import sys
from _json import encode_basestring, make_encoder
from collections.abc import Iterable, Iterator, Mapping, Sequence

from promptc.diag.typed import Any

MISSING: Any = object()
"""The result of `read_at` if the pointer leads to nothing."""

_OWN = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
_PIECE = 1000
"""The number of list elements that are rendered at once."""

_LONG = 1_000_000
"""The size, in bytes, from which loading OpenSSL (2 ms) saves more time than it costs."""


class PointerError(Exception):
    """A pointer that leads nowhere. `way` is as far as it leads, `why` says what is there."""

    def __init__(self, way: Sequence[str], why: str) -> None:
        self.way = tuple(way)
        self.why = why
        super().__init__(why)


def split_pointer(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def join_pointer(way: Iterable[str | int]) -> str:
    """Return the JSON pointer with these steps; the inverse of `split_pointer`."""
    return "".join([extend_pointer("", step) for step in way])


def extend_pointer(pointer: str, step: str | int) -> str:
    """Return the pointer to the value at a key or an index of the value that `pointer` points to."""
    return f"{pointer}/{step}" if isinstance(step, int) else f"{pointer}/{step.replace('~', '~0').replace('/', '~1')}"


def read_at(value: Any, way: Sequence[str]) -> Any:
    """Return the value at `way`, or MISSING if a key or index does not exist or a value on the way is neither a dict nor a list."""
    for part in way:
        if isinstance(value, dict):
            value = value.get(part, MISSING)
        elif isinstance(value, list):
            at = find_place(value, part)
            value = value[at] if at is not None else MISSING
        else:
            return MISSING
    return value


def find_at(value: Any, pointer: str) -> Any | None:
    """Return the value at a JSON pointer (RFC 6901), or None if there is none."""
    found = read_at(value, split_pointer(pointer))
    return found if found is not MISSING else None


def find_list(value: Any, pointer: str) -> list[Any] | None:
    """Return the list at a JSON pointer (RFC 6901), not a copy; None if there is no list."""
    found = find_at(value, pointer)
    return found if isinstance(found, list) else None


def render_canonical_json(value: object) -> str:
    """Return `value` as canonical JSON.

    Keys are in code-point order; there are no spaces; characters are unescaped where JSON allows; floats have the shortest text that reads
    back to the same number. Equal values have equal texts on every machine. Raises ValueError for NaN and infinities, TypeError for values
    that JSON does not have.
    """
    return _render(value, True)


def digest_canonical_json(value: object) -> str:
    """Return the digest of `value` as canonical JSON. Raises as `render_canonical_json` does.

    The text of a long list is never in memory as a whole.
    """
    if not _holds_long_list(value):
        return render_digest(render_canonical_json(value).encode())
    digest = _load_sha256(_LONG)()
    for piece in _iter_canonical(value):
        digest.update(piece.encode())
    return f"sha256:{digest.hexdigest()}"


def _holds_long_list(value: Any) -> bool:
    """Return whether the value is a long list or has one below its keys."""
    if value.__class__ is dict:
        return any(map(_holds_long_list, value.values()))
    return value.__class__ is list and len(value) > _PIECE


def _iter_canonical(value: Any) -> Iterator[str]:
    if not _holds_long_list(value):
        yield render_canonical_json(value)
    elif value.__class__ is dict:
        for number, key in enumerate(sorted(value)):
            yield f"{',' if number else '{'}{encode_basestring(key)}:"
            yield from _iter_canonical(value[key])
        yield "}"
    else:
        for start in range(0, len(value), _PIECE):
            yield f"{',' if start else '['}{render_canonical_json(value[start : start + _PIECE])[1:-1]}"
        yield "]"


def render_json_line(value: object) -> str:
    """Return `value` as canonical JSON on one line, but with its keys in their present order."""
    return _render(value, False)


def read_float(raw: str) -> int | float:
    """Return a JSON number with a fraction or an exponent as the nearest double, or as an int if it is whole.

    For example, `3.0` and `3e0` are 3, and `-0.0` is 0. A number therefore has one form, whoever wrote it, and everything that a schema
    calls an integer is one.
    """
    return settle_number(float(raw))


def settle_number(number: float) -> int | float:
    """Return a double in the form of `read_float`; infinities and NaN stay as they are."""
    return int(number) if number.is_integer() else number


def _render(value: object, sorts: bool) -> str:
    encode = make_encoder({}, _plain, encode_basestring, None, ":", ",", sorts, False, False)
    return "".join(encode(value, 0))


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def render_digest(content: bytes) -> str:
    """Return `sha256:` and 64 hexadecimal digits."""
    digest: str = _load_sha256(len(content))(content).hexdigest()
    return f"sha256:{digest}"


def _load_sha256(size: int) -> Any:
    """Return OpenSSL's sha256 for long content or if it is already loaded; else Python's own, unless Python was built without it."""
    if size < _LONG and "_hashlib" not in sys.modules:
        try:
            return __import__(_OWN).sha256
        except ImportError:
            pass
    from hashlib import sha256

    return sha256


def put_at(value: Any, way: Sequence[str], new: Any) -> Any:
    """Return `value` with `new` at `way`. Raises `PointerError`.

    A new key comes after the others, and missing mappings on the way are made.
    """
    return _put(value, way, 0, new)


def drop_at(value: Any, way: Sequence[str]) -> Any:
    """Return `value` without the value at `way` and its key or index; the same object if there is no such value."""
    if read_at(value, way) is MISSING:
        return value
    part, above = way[-1], read_at(value, way[:-1])
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
    at = find_place(value, part)
    if at is None:
        raise PointerError(way[:depth], f"is a list of {len(value)} and has no element `{part}`")
    return [*value[:at], _put(value[at], way, depth + 1, new), *value[at + 1 :]]


def is_same(value: Any, other: Any) -> bool:
    """Return whether two plain values are equal as JSON has them: `true` is not 1."""
    return bool(value == other) and isinstance(value, bool) is isinstance(other, bool)


def is_whole(value: Any, least: int, most: int) -> bool:
    """Return whether a value is a whole number from `least` to `most`. `true` is none, though Python takes it for 1."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def find_whole(value: Any) -> int | None:
    """Return a value as a whole number, or None if it is not one. 12.0 is one, as in a schema; `true` is not."""
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def find_place(value: list[Any], part: str) -> int | None:
    """Return a list index as RFC 6901 writes it, without sign or leading zero; None for any other text or an index that does not exist."""
    if not part.isascii() or not part.isdigit() or (part[0] == "0" and len(part) > 1):
        return None
    return int(part) if len(part) < 10 and int(part) < len(value) else None
