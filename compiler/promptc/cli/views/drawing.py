"""Rows of cells as aligned text."""

from collections.abc import Sequence

from promptc.cli.cells import count_cells, pad_cells
from promptc.cli.paint import PLAIN, Paint, Style
from promptc.diag.frozen import frozen

_GAP = "  "


@frozen
class Cell:
    """One cell: a text without control characters, and its style."""

    text: str
    style: Style | None = None


Row = Sequence[Cell | str]


def render_table(rows: Sequence[Row], *, right: frozenset[int] = frozenset(), most: int = 24, paint: Paint = PLAIN) -> str:
    """The rows, each column as wide as its widest cell and at most `most`; those in `right` stand at the right.

    Lines have no trailing space.
    """
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in cells), default=0)
    widths = [min(most, max((count_cells(row[at].text) for row in cells if at < len(row)), default=0)) for at in range(columns)]
    return "".join(f"{_render_row(row, widths, right, paint)}\n" for row in cells)


def _render_row(row: Sequence[Cell], widths: Sequence[int], right: frozenset[int], paint: Paint) -> str:
    last = max((at for at, cell in enumerate(row) if cell.text), default=-1)
    shown = []
    for at, cell in enumerate(row[: last + 1]):
        padded = pad_cells(cell.text, widths[at], right=at in right)
        text = padded.rstrip() if at == last else padded
        shown.append(paint.apply(text, cell.style) if cell.style is not None else text)
    return _GAP.join(shown)
