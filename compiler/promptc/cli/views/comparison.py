"""A render with and without some of its sections, side by side."""

from collections.abc import Sequence

from promptc.cli.paint import PLAIN, Paint
from promptc.cli.views.drawing import Cell, Row, render_table
from promptc.cli.views.figures import show_count, show_percent, show_plural
from promptc.cli.views.sweep import Point, describe_point
from promptc.diag.frozen import frozen
from promptc.pipeline import Outcome


@frozen
class SweepSide:
    """One of the two renders; pressure as tokens spent and allowed."""

    point: Point
    pressure: tuple[int, int]


@frozen
class Comparison:
    """Both sides of leaving sections out."""

    without: tuple[str, ...]
    before: SweepSide
    after: SweepSide


def compare(names: Sequence[str], before: Outcome, after: Outcome) -> Comparison:
    """What leaving `names` out changes: `before` is the render with them, `after` the one without."""
    return Comparison(tuple(names), _describe_side(before), _describe_side(after))


def render_comparison(found: Comparison, width: int, paint: Paint = PLAIN) -> str:
    """Totals, then the sections that differ, each with its difference."""
    before, after = found.before, found.after
    rows: list[Row] = [[Cell(text, "dim") for text in ("", "with", "without", "")]]
    rows.append([Cell("tokens", "bold"), *_show_pair(before.point.tokens, after.point.tokens)])
    if before.point.strain is not None:
        rows.append(["strain", str(before.point.strain), str(after.point.strain)])
        rows.append(["pressure", show_percent(*before.pressure), show_percent(*after.pressure)])
    held = dict(after.point.held)
    rows += [[name, *_show_pair(tokens, held[name])] for name, tokens in before.point.held if tokens != held[name]]
    title = f"without {', '.join(found.without)}, of a budget of {show_plural(before.point.budget, 'token')}\n\n"
    return title + render_table(rows, right=frozenset({1, 2, 3}), most=width // 3, paint=paint)


def _describe_side(outcome: Outcome) -> SweepSide:
    spent, allowed = outcome.report["pressure"]["before"]
    return SweepSide(describe_point(outcome, outcome.report["budget"]), (spent, allowed))


def _show_pair(before: int | None, after: int | None) -> list[str]:
    shown = [show_count(one) if one is not None else "no fit" for one in (before, after)]
    return [*shown, f"{after - before:+,}" if before is not None and after is not None and after != before else ""]
