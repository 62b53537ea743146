"""Canonical JSON: the one text of a value that digests are taken of and reports are written in."""

import json
from collections.abc import Mapping

from promptc.diag.typed import Any


def render_canonical_json(value: object) -> str:
    """`value` as JSON: keys in code-point order, no spaces, characters unescaped where JSON allows, floats as the shortest text that
    reads back.

    Equal values give equal text on every machine. Raises ValueError for NaN and infinities, TypeError for what JSON does not have.
    """
    return _ENCODER.encode(value)


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)
