"""The parts of all views: tables of aligned cells, bars, numbers, lists of ids, and lines folded to a width."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from promptc.cli.terminal import PLAIN, Paint, Style, count_cells, escape_controls, pad_cells, show_text, take_cells, write_stdout
from promptc.diag.findings import show_plural
from promptc.diag.frozen import as_plain, frozen
from promptc.diag.typed import TypeVar

_GAP = "  "
_EIGHTHS = " ▏▎▍▌▋▊▉"
_FULL = "█"
_CUT = "░"
_FEW = 6
GUARDED = {"replace_hidden": "was replaced by U+FFFD", "escape": "was escaped", "keep": "was kept", "reject": "was rejected"}
"""What the guard does with a finding, by its policy."""

_PIECE = re.compile(r"\x1b\[[0-9;]*m| %(?![^ ])|[^\x1b]")
"""What a fold leaves whole: a colour, a per cent sign with the space before it, any other character."""

_END = "\x1b[0m"
_BREAK = re.compile(r"[\t\n\v\f\r]")
_WORD = re.compile(r" +|[^ ]+(?: %(?![^ ]))?")
_FORMULA = ("=", "+", "-", "@")
"""The characters at the start of a cell that make spreadsheets evaluate it. Some skip spaces before them, or take their wide forms."""


@frozen
class Cell:
    """A table cell: a text without control characters, and its style."""

    text: str
    style: Style | None = None


Row = Sequence[Cell | str]


def render_table(rows: Sequence[Row], *, right: frozenset[int] = frozenset(), most: int = 24, paint: Paint = PLAIN) -> str:
    """Return the rows with each column as wide as its widest cell, but at most `most` cells. The columns `right` align to the right.

    Lines have no trailing space.
    """
    cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in cells), default=0)
    widths = [min(most, max((count_cells(row[at].text) for row in cells if at < len(row)), default=0)) for at in range(columns)]
    return "".join(f"{_render_row(row, widths, right, paint)}\n" for row in cells)


def count_columns(rows: Iterable[Sequence[str]]) -> int:
    """Return the cells that columns of these texts take, with the gap after each."""
    return sum(max(map(len, column)) + len(_GAP) for column in zip(*rows, strict=True))


def _render_row(row: Sequence[Cell], widths: Sequence[int], right: frozenset[int], paint: Paint) -> str:
    last = max((at for at, cell in enumerate(row) if cell.text), default=-1)
    shown = []
    for at, cell in enumerate(row[: last + 1]):
        padded = pad_cells(cell.text, widths[at], right=at in right)
        text = padded.rstrip() if at == last else padded
        shown.append(paint.apply(text, cell.style) if cell.style is not None else text)
    return _GAP.join(shown)


def render_bar(held: int, removed: int, scale: int, width: int) -> str:
    """Return a bar within `width` cells: solid for `held` of `scale`, then light for `removed`. A part above 0 shows at least a sliver."""
    if scale <= 0 or width <= 0:
        return ""
    eighths = min(held * width * 8 // scale, width * 8)
    solid, rest = divmod(max(eighths, 1) if held else 0, 8)
    bar = _FULL * solid + (_EIGHTHS[rest] if rest else "")
    if not removed:
        return bar
    end = -(-min((held + removed) * width, width * scale) // scale)
    return bar + _CUT * max(0, end - len(bar))


def render_csv(heads: Sequence[str], rows: Iterable[Sequence[str | int | None]]) -> str:
    """Return lines of CSV, a row each, without control characters. None is an empty cell.

    A text that spreadsheets would take for a formula gets a leading apostrophe.
    """
    import csv
    from io import StringIO

    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(map(_spell_cell, heads))
    writer.writerows([_spell_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return written.getvalue()


def _spell_cell(text: str) -> str:
    is_formula = unicodedata.normalize("NFKC", text.lstrip()[:1]).startswith(_FORMULA)
    return f"'{escape_controls(text)}" if is_formula else escape_controls(text)


def show_count(number: int) -> str:
    """Return a number with commas between thousands."""
    return f"{number:,}"


def show_percent(part: int, whole: int) -> str:
    """Return the share in per cent, rounded down, or a dash if `whole` is 0."""
    return f"{100 * part // whole} %" if whole else "-"


def show_ratio(ratio: int) -> str:
    """Return parts of a million as a number with four decimal places, rounded up: `1.0343`."""
    tens = -(-ratio // 100)
    return f"{tens // 10_000}.{tens % 10_000:04d}"


def show_ids(ids: Sequence[str]) -> str:
    """Return all ids if they are few, or the first three and the last one."""
    shown = [f"`{escape_controls(name)}`" for name in ids]
    return " · ".join(shown) if len(shown) <= _FEW else f"{' · '.join(shown[:3])} … {shown[-1]}"


def show_left_out(count: int, stage: str) -> str:
    """Return how many items, or parts of messages, a stage left out."""
    return f"{show_plural(count, 'part')} of messages" if stage == "parts" else show_count(count)


def fold_lines(text: str, width: int) -> list[str]:
    """Return the lines of `text`, folded to at most `width` cells.

    A line breaks between words unless a word alone is wider, and its continuation lines keep its indentation unless that is too deep. A
    colour that spans a fold ends there and starts again on the next line.
    """
    return [part for line in text.removesuffix("\n").split("\n") for part in _fold(line, width)]


def _fold(line: str, width: int) -> list[str]:
    pieces = _PIECE.findall(line)
    plain = "".join(piece for piece in pieces if piece[0] != "\x1b")
    hang = " " * (len(plain) - len(plain.lstrip(" ")))
    lead = hang if len(hang) <= width // 2 else ""
    folded: list[str] = []
    row: list[str] = []
    cells, style = 0, ""
    for piece in pieces:
        row.append(piece)
        cells += count_cells(piece) if piece[0] != "\x1b" else 0
        if cells <= width:
            continue
        at = _count_fitting(row)
        kept, row = row[:at], row[at:]
        style = next((one for one in reversed(kept) if one[0] == "\x1b"), style).replace(_END, "")
        folded.append("".join(kept) + (_END if style else ""))
        rest = row[1:] if row[:1] == [" "] else row
        row = [*([style] if style else []), *lead, *rest]
        cells = sum(count_cells(one) for one in row if one[0] != "\x1b")
    return [*folded, "".join(row)]


def _count_fitting(row: Sequence[str]) -> int:
    """Return how many pieces stay in a row that is one piece too long: up to a space after a word, or all but the last."""
    last = len(row) - 1
    if row[last] == " ":
        return last
    words = [at for at, one in enumerate(row) if one[0] not in " \x1b"]
    space = next((at for at in range(last - 1, 0, -1) if row[at] == " "), 0)
    return space + 1 if words and words[0] < space else last


_View = TypeVar("_View")


@frozen
class Page:
    """The requested output of a view: JSON, or text of a width with or without colours."""

    as_json: bool
    width: int
    paint: Paint

    def show(self, found: _View, render: Callable[[_View, int, Paint], str]) -> None:
        """Print a view: its values as JSON, or the text that `render` returns."""
        if self.as_json:
            text = json.dumps(as_plain(found), ensure_ascii=False, indent=2) + "\n"
            write_stdout(text.encode("utf-8", "backslashreplace"))
        else:
            show_text(render(found, self.width, self.paint))


def wrap(text: str, width: int, indent: int = 0) -> list[str]:
    """Return `text` in lines of at most `width` cells (but no less than 20).

    Words stay whole unless a word alone is wider. Lines after the first are indented by two more cells.
    """
    most, row, lead = max(width, 20), " " * indent, " " * (indent + 2)
    lines: list[str] = []
    for word in _WORD.findall(_BREAK.sub(" ", text)):
        rest = word if not lines or row != lead else word.lstrip(" ")
        while (part := take_cells(rest, most - count_cells(row))) != rest:
            is_whole = rest[0] == " " or take_cells(rest, most - len(lead)) == rest
            kept = "" if is_whole else part
            lines.append((row + kept).rstrip(" "))
            row, rest = lead, rest[len(kept) :].lstrip(" ")
        row += rest
    return [*lines, row.rstrip(" ")] if row.strip(" ") else lines
