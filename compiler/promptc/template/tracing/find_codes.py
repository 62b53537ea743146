"""Where a template holds code."""

from __future__ import annotations

from promptc.template.parse import iter_tokens

_BEGINS, _ENDS = ("variable_begin", "block_begin"), ("variable_end", "block_end")


def find_codes(text: str, name: str) -> list[tuple[int, int]]:
    """From where to where, in characters, each `{{ ... }}` and `{% ... %}` of a template that can be parsed stands."""
    if name and not name.endswith(".j2"):
        return []
    found: list[tuple[int, int]] = []
    start = 0
    for at, kind, value in iter_tokens(text):
        if kind in _BEGINS:
            start = at - 1
        elif kind in _ENDS:
            found.append((start, at - 1 + len(value.rstrip())))
    return found
