"""One page of a review: a pending golden, what differs, and the keys."""

from promptc.cli.escape import escape_controls
from promptc.cli.paint import Paint
from promptc.cli.views.difference import Style, render_difference
from promptc.cli.views.fold_lines import fold_lines
from promptc.compare.compare_sides import Difference
from promptc.diag.frozen import frozen
from promptc.golden.pending import Pending

_CLEAR = "\x1b[H\x1b[2J"
_KEYS = "a accept  r reject  s skip  u undo  d {style}  g same change  e edit  ? help  q quit"
_LEAST = 5

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
class Place:
    """Where the review is: `at` of `count` (from 1), which style, the first line shown, and what to say."""

    at: int
    count: int
    style: Style = "words"
    line: int = 0
    said: str = ""


def render_page(pending: Pending, found: Difference, place: Place, screen: Screen) -> str:
    """The whole screen. A difference that is longer says how many lines follow."""
    head = f"[{place.at}/{place.count}] {escape_controls(pending.case)}  {escape_controls(pending.path)}  {pending.status}"
    body = fold_lines(render_difference(found, screen.width, screen.paint, place.style), screen.width)
    top = [*fold_lines(screen.paint.apply(head, "bold"), screen.width), ""]
    keys = fold_lines(screen.paint.apply(_KEYS.format(style=place.style), "dim"), screen.width)
    said = fold_lines(place.said, screen.width) if place.said else []
    room = max(_LEAST, screen.height - len(top) - len(keys) - len(said) - 2)
    shown = body[place.line : place.line + room]
    left = len(body) - place.line - len(shown)
    more = [screen.paint.apply(f"    … {left} more lines: space", "dim")] if left > 0 else []
    return _CLEAR + "\n".join([*top, *shown, *more, "", *said, *keys]) + "\n"


def count_screens(found: Difference, place: Place, screen: Screen) -> tuple[int, int]:
    """The lines of the difference, and about how many of them a screen shows."""
    body = fold_lines(render_difference(found, screen.width, screen.paint, place.style), screen.width)
    return len(body), max(_LEAST, screen.height - 8)
