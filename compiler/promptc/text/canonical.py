"""Canonical JSON: the one text of a value that digests are taken of and reports are written in.

`json` itself is imported by what is rarely needed only: it takes a millisecond, most of it for expressions that are not used here.
"""

from _json import encode_basestring, make_encoder
from collections.abc import Mapping

from promptc.diag.typed import Any


def render_canonical_json(value: object) -> str:
    """`value` as JSON: keys in code-point order, no spaces, characters unescaped where JSON allows, floats as the shortest text that
    reads back.

    Equal values give equal text on every machine. Raises ValueError for NaN and infinities, TypeError for what JSON does not have.
    """
    return _render(value, True)


def render_json_line(value: object) -> str:
    """The same with the keys in the order they have: one line that reads back as it was written."""
    return _render(value, False)


def read_float(raw: str) -> int | float:
    """A JSON number with a fraction or an exponent: the nearest double, as a whole number where it is one (`3.0` and `3e0` are 3, `-0.0`
    is 0). So a value has one form, whoever wrote it, and what a schema calls an integer is one.
    """
    return settle_number(float(raw))


def settle_number(number: float) -> int | float:
    """The same of a double; infinities and NaN stay."""
    return int(number) if number.is_integer() else number


def _render(value: object, sorts: bool) -> str:
    encode = make_encoder({}, _plain, encode_basestring, None, ":", ",", sorts, False, False)
    return "".join(encode(value, 0))


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")
