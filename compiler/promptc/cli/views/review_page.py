"""One page of a review: a pending golden, what differs, and the keys."""

from promptc.cli.cells import clip_cells
from promptc.cli.escape import escape_controls
from promptc.cli.paint import Paint
from promptc.cli.views.difference import DifferenceStyle, render_difference
from promptc.cli.views.fold_lines import fold_lines
from promptc.diag.frozen import frozen
from promptc.golden.pending import PendingGolden, Seen

_CLEAR = "\x1b[H\x1b[2J"
_KEYS = "a accept  r reject  s skip  u undo  d {style}  g alike  e edit  ? help  q quit"
_LEAST = 5
"""Lines of a difference beside which there is room for empty lines."""

_MOST_HEAD = 2
_SHARE = 5
"""One line of so many at most is for the keys; `?` tells all of them."""

HELP = """\
  a          accept: this is the golden from now on
  r          reject: remove what is pending, the golden stays
  s, Enter   skip to the next one; it stays pending
  b          back to the one before
  u          undo the last accept or reject
  d          show words, lines, the old text, the new text
  g          accept every pending golden with the same change
  e          open the pending file in $VISUAL or $EDITOR
  space      the next screen of a long difference, arrow up the one before
  q          quit; what was not settled stays pending
"""


@frozen
class Screen:
    """The terminal: columns, rows, colours."""

    width: int
    height: int
    paint: Paint


@frozen
class ReviewPlace:
    """Where the review is: `at` of `count` (from 1), which style, the first line shown, and what to say."""

    at: int
    count: int
    style: DifferenceStyle = "words"
    line: int = 0
    said: str = ""


@frozen
class Layout:
    """What stands on the screen, in lines that fit it. `room` of the lines of the body are shown from `line` on."""

    top: tuple[str, ...]
    body: tuple[str, ...]
    bottom: tuple[str, ...]
    room: int
    line: int

    def measure(self) -> tuple[int, int]:
        """The lines of the body, and how many of them a full screen shows."""
        return len(self.body), max(1, self.room - 1)


def render_page(pending: PendingGolden, shown: Seen | str, place: ReviewPlace, screen: Screen) -> str:
    """The whole screen, never higher than it is. A difference that is longer says how many lines follow."""
    page = lay_out(pending, shown, place, screen)
    body = page.body[page.line :]
    if len(body) > page.room:
        body = body[: page.measure()[1]] if page.room else ()
        left = len(page.body) - page.line - len(body)
        more = (screen.paint.apply(clip_cells(f"    … {left} more lines: space", screen.width), "dim"),) if page.room > 1 else ()
        body = (*body, *more)
    return _CLEAR + "\n".join([*page.top, *body, *page.bottom])


def lay_out(pending: PendingGolden, shown: Seen | str, place: ReviewPlace, screen: Screen) -> Layout:
    """Where everything stands. What is said takes the room of the difference, and is cut in its middle where there is too little."""
    paint, width = screen.paint, screen.width
    head = f"[{place.at}/{place.count}] {escape_controls(pending.case)}  {escape_controls(pending.path)}  {pending.status}"
    top = (*fold_lines(paint.apply(head, "bold"), width)[: max(1, min(_MOST_HEAD, screen.height // _SHARE))], *_warn(shown, screen))
    keys = fold_lines(paint.apply(_KEYS.format(style=place.style), "dim"), width)[: max(1, screen.height // _SHARE)]
    said = [part for line in place.said.split("\n") for part in fold_lines(escape_controls(line), width)] if place.said else []
    said = _cut_middle(said, max(1, screen.height - len(top) - len(keys)))
    spare = max(0, screen.height - len(top) - len(said) - len(keys))
    gap = [""] if spare >= _LEAST + 2 else []
    text = shown if isinstance(shown, str) else render_difference(shown.found, width, paint, place.style)
    return Layout((*top, *gap), tuple(fold_lines(text, width)), (*gap, *said, *keys), spare - 2 * len(gap), place.line)


def _warn(shown: Seen | str, screen: Screen) -> list[str]:
    """Where it was made of other files than there are now."""
    if isinstance(shown, str) or not shown.stale:
        return []
    first, more = escape_controls(shown.stale[0]), f" and {len(shown.stale) - 1} more" if len(shown.stale) > 1 else ""
    return fold_lines(screen.paint.apply(f"made of {first}{more} as it was: run `promptc test`", "yellow"), screen.width)[:_MOST_HEAD]


def _cut_middle(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 2], "    …", lines[-1]][-most:]
