"""How wide text stands on a terminal, in cells: most characters take one, East Asian wide ones two, combining marks none."""

import unicodedata

_ELLIPSIS = "…"


def count_cells(text: str) -> int:
    """The cells `text` takes. Free of control characters it is what a terminal shows, up to ligatures and joined emoji."""
    return len(text) if text.isascii() else sum(map(_count_cell, text))


def clip_cells(text: str, width: int) -> str:
    """`text` within `width` cells; an ellipsis tells that something is missing."""
    if count_cells(text) <= width:
        return text
    kept, cells = [], 0
    for character in text:
        cells += _count_cell(character)
        if cells > width - 1:
            break
        kept.append(character)
    return "".join(kept) + _ELLIPSIS if width > 0 else ""


def pad_cells(text: str, width: int, *, right: bool = False) -> str:
    """`text` clipped and filled up to exactly `width` cells; with `right` it stands at the right."""
    clipped = clip_cells(text, width)
    space = " " * (width - count_cells(clipped))
    return space + clipped if right else clipped + space


def _count_cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
