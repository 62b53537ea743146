"""JSON texts, digests of them, and values at JSON pointers of plain data: found, put and taken out.

What lies on the way to what is put or taken out is copied, all else is shared, and nothing is changed.
"""

from __future__ import annotations

import sys
from _json import encode_basestring, make_encoder
from collections.abc import Iterable, Iterator, Mapping, Sequence

from promptc.diag.typed import Any

MISSING: Any = object()
"""Stands for nothing where `read_at` finds nothing."""

_OWN = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
_PIECE = 1000
"""Elements of a list that are rendered at once."""

_LONG = 1_000_000
"""Bytes from which on the time to load OpenSSL, 2 ms, is less than what it saves."""


class PointerError(Exception):
    """A pointer leads nowhere. `way` is as far as it leads, `why` what is there."""

    def __init__(self, way: Sequence[str], why: str) -> None:
        self.way = tuple(way)
        self.why = why
        super().__init__(why)


def split_pointer(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON pointer (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def join_pointer(way: Iterable[str | int]) -> str:
    """The JSON pointer of a way, as `split_pointer` takes it apart."""
    return "".join([extend_pointer("", step) for step in way])


def extend_pointer(pointer: str, step: str | int) -> str:
    """The pointer to what stands under a key or at an index of what `pointer` points to."""
    return f"{pointer}/{step}" if isinstance(step, int) else f"{pointer}/{step.replace('~', '~0').replace('/', '~1')}"


def read_at(value: Any, way: Sequence[str]) -> Any:
    """What stands there; MISSING for a key or place that is not there, or below a value that holds nothing."""
    for part in way:
        if isinstance(value, dict):
            value = value.get(part, MISSING)
        elif isinstance(value, list):
            at = find_place(value, part)
            value = value[at] if at is not None else MISSING
        else:
            return MISSING
    return value


def find_list(value: Any, pointer: str) -> list[Any] | None:
    """The list at a JSON pointer (RFC 6901), the very one; None where there is none."""
    found = read_at(value, split_pointer(pointer))
    return found if isinstance(found, list) else None


def render_canonical_json(value: object) -> str:
    """`value` as JSON: keys in code-point order, no spaces, characters unescaped where JSON allows, floats as the shortest text that
    reads back.

    Equal values give equal text on every machine. Raises ValueError for NaN and infinities, TypeError for what JSON does not have.
    """
    return _render(value, True)


def digest_canonical_json(value: object) -> str:
    """The digest of `value` as canonical JSON; of long lists that text is never there as a whole. Raises the same."""
    if not _holds_long_list(value):
        return render_digest(render_canonical_json(value).encode())
    digest = _load_sha256(_LONG)()
    for piece in _iter_canonical(value):
        digest.update(piece.encode())
    return f"sha256:{digest.hexdigest()}"


def _holds_long_list(value: Any) -> bool:
    """Whether it is one, or has one under its keys."""
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
    """`value` as canonical JSON but with its keys in the order they have: one line that reads back as it was written."""
    return _render(value, False)


def read_float(raw: str) -> int | float:
    """A JSON number with a fraction or an exponent: the nearest double, as a whole number where it is one (`3.0` and `3e0` are 3, `-0.0`
    is 0). So a value has one form, whoever wrote it, and what a schema calls an integer is one.
    """
    return settle_number(float(raw))


def settle_number(number: float) -> int | float:
    """A double as `read_float` gives it; infinities and NaN stay."""
    return int(number) if number.is_integer() else number


def _render(value: object, sorts: bool) -> str:
    encode = make_encoder({}, _plain, encode_basestring, None, ":", ",", sorts, False, False)
    return "".join(encode(value, 0))


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def render_digest(content: bytes) -> str:
    """`sha256:` and 64 hexadecimal digits."""
    digest: str = _load_sha256(len(content))(content).hexdigest()
    return f"sha256:{digest}"


def _load_sha256(size: int) -> Any:
    """OpenSSL's for much, or where it is there anyway; Python's own for little, unless Python was built without."""
    if size < _LONG and "_hashlib" not in sys.modules:
        try:
            return __import__(_OWN).sha256
        except ImportError:
            pass
    from hashlib import sha256

    return sha256


def put_at(value: Any, way: Sequence[str], new: Any) -> Any:
    """`value` with `new` there; a new key stands behind the others, and mappings on the way that are not there are made. Raises
    `PointerError`.
    """
    return _put(value, way, 0, new)


def drop_at(value: Any, way: Sequence[str]) -> Any:
    """`value` without what stands there, and without its key or place; the same object where nothing does."""
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


def find_place(value: list[Any], part: str) -> int | None:
    """A place in a list, as RFC 6901 writes it: no sign, no leading zero."""
    if not part.isascii() or not part.isdigit() or (part[0] == "0" and len(part) > 1):
        return None
    return int(part) if len(part) < 10 and int(part) < len(value) else None
