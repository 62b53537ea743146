"""A short name of a value by its content."""

from promptc.diag.typed import Any
from promptc.text.json import render_canonical_json, render_digest

_LENGTH = 16


def mark_element(value: Any) -> str:
    """16 hexadecimal digits of the sha256 of its canonical JSON: equal for equal values, in practice for no others."""
    return render_digest(render_canonical_json(value).encode()).removeprefix("sha256:")[:_LENGTH]
