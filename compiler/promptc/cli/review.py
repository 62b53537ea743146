"""`promptc review`."""

import sys

import click

from promptc.cli.find_pending import find_pending, refuse_in_ci
from promptc.cli.group import Command
from promptc.cli.keys import raw_keys
from promptc.cli.pending_options import DIR, ONLY, PATTERNS
from promptc.cli.reporter import Reporter
from promptc.cli.review_loop import Review
from promptc.cli.terminal import write_stdout
from promptc.cli.views.figures import show_plural
from promptc.diag.findings import Diagnostic, UsageError

_ENTER, _LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
_TWINS = "without one: `promptc pending` lists them, `promptc accept PATTERN` and `promptc reject PATTERN` settle them"


@click.command(
    "review",
    cls=Command,
    examples=[
        ("after `promptc test`", "promptc review"),
        ("one family of cases", "promptc review 'tavern/*'"),
    ],
)
@PATTERNS
@ONLY
@DIR
@click.pass_obj
def command(reporter: Reporter, patterns: tuple[str, ...], only: str | None, folder: str | None) -> int:
    """Go through pending goldens, one by one, each with what differs.

    Keys: a accept, r reject, s or Enter skip, b back, u undo, d words or lines, g all with the same change, e editor, space scroll,
    ? help, q quit. Enter never accepts.
    """
    refuse_in_ci()
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise UsageError([Diagnostic("PC0946", "a review needs a terminal", help=_TWINS)])
    pending = find_pending(patterns, folder=folder, only=only)
    if not pending:
        reporter.say("nothing is pending\n")
        return 0
    counts = {"accepted": 0, "rejected": 0, "left": len(pending)}
    write_stdout(_ENTER)
    try:
        with raw_keys() as read_key:
            review = Review(pending, read_key, reporter.choose_paint(sys.stdout))
            try:
                review.run()
            finally:
                counts = review.count()
    finally:
        write_stdout(_LEAVE)
        reporter.say(
            f"accepted {counts['accepted']}, rejected {counts['rejected']}, {show_plural(counts['left'], 'golden')} still pending\n"
        )
    return 0
