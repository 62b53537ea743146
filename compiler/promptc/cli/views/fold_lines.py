"""Lines with colours, folded to a terminal's width."""

import re

from promptc.cli.cells import count_cells

_PIECE = re.compile(r"\x1b\[[0-9;]*m|[^\x1b]")
_END = "\x1b[0m"


def fold_lines(text: str, width: int) -> list[str]:
    """The lines of `text`, none wider than `width` cells. A colour that runs over a fold is ended there and goes on behind it."""
    return [part for line in text.removesuffix("\n").split("\n") for part in _fold(line, width)]


def _fold(line: str, width: int) -> list[str]:
    folded: list[str] = []
    part, cells, style = "", 0, ""
    for piece in _PIECE.findall(line):
        if piece[0] == "\x1b":
            style = "" if piece == _END else piece
            part += piece
            continue
        wide = count_cells(piece)
        if cells + wide > width:
            folded.append(part + (_END if style else ""))
            part, cells = style, 0
        part, cells = part + piece, cells + wide
    return [*folded, part]
