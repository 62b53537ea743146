"""Budgets from the least that fits to where nothing is cut for the total: what each section holds, and from which budget on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptc.cli.terminal import PLAIN, Paint
from promptc.cli.views.drawing import Cell, Row, render_table, show_count, show_percent, show_plural
from promptc.cli.views.meter import count_tokens_held
from promptc.diag.frozen import frozen
from promptc.pipeline import Outcome

PLENTY = 10**9
"""A budget in tokens no content comes near."""

_COLUMNS = 7


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


@frozen
class Point:
    """A render at one budget: its tokens and strain tier, and what each section holds in tokens. `tokens` is None where it does not fit."""

    budget: int
    tokens: int | None
    strain: str | None
    held: tuple[tuple[str, int], ...]

    def find_held(self, section: str) -> int:
        """The tokens of a section; 0 where nothing fits."""
        return dict(self.held)[section] if self.tokens is not None else 0


@frozen
class SectionReach:
    """The least budget at which a section holds something, and the least from which on it holds all it ever does."""

    section: str
    appears: int
    whole: int


@frozen
class Sweep:
    """The points in rising order. `own` is the budget that was asked for; `reaches` is empty where the range was given."""

    own: int
    points: tuple[Point, ...]
    reaches: tuple[SectionReach, ...] = ()


def describe_point(outcome: Outcome, budget: int) -> Point:
    """What a render that was asked for with `budget` came to; a counter that stands in for another may hold some of it back."""
    report = outcome.report
    held = tuple((one["id"], count_tokens_held(outcome, one["id"])) for one in report["sections"])
    return Point(budget, report["tokens"], report["strain"], held)


def sweep_range(render: Callable[[int], Point], own: int, budgets: Sequence[int]) -> Sweep:
    """The points at given budgets."""
    return Sweep(own, tuple(render(budget) for budget in budgets))


def sweep_all(render: Callable[[int], Point], own: int) -> Sweep | None:
    """The points that tell most, found by halving: contents nest, so each comes and goes once. None where no budget fits."""
    most = render(PLENTY)
    if most.tokens is None:
        return None
    least = _find_first(1, PLENTY, lambda budget: render(budget).tokens is not None)
    top = _find_first(least, PLENTY, lambda budget: render(budget).held == most.held)
    budgets = sorted({least, top, *_spread(least, top), *([own] if least < own < top else [])})
    names = [name for name, held in most.held if held]
    return Sweep(own, tuple(render(budget) for budget in budgets), tuple(_find_reach(render, name, budgets, most) for name in names))


def _find_first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The least number of low..high from which on `holds` is true, if it is so for all numbers above the first; true at `high`."""
    step = 64
    while low + step < high and not holds(low + step):
        low, step = low + step, step * 4
    high = min(high, low + step)
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _find_reach(render: Callable[[int], Point], name: str, budgets: Sequence[int], most: Point) -> SectionReach:
    return SectionReach(
        section=name,
        appears=_find_between(budgets, lambda budget: render(budget).find_held(name) > 0),
        whole=_find_between(budgets, lambda budget: render(budget).find_held(name) == most.find_held(name)),
    )


def _find_between(budgets: Sequence[int], holds: Callable[[int], bool]) -> int:
    """As `_find_first`, between the two known budgets where it changes."""
    at = next(at for at, budget in enumerate(budgets) if holds(budget))
    return budgets[0] if at == 0 else _find_first(budgets[at - 1] + 1, budgets[at], holds)


def _spread(least: int, top: int) -> list[int]:
    """Round budgets between the two, evenly."""
    rough = max(1, (top - least) // (_COLUMNS - 2))
    unit = 10 ** (len(str(rough)) - 1)
    step = next(size * unit for size in (1, 2, 5, 10) if size * unit >= rough)
    return list(range(least - least % step + step, top, step))


def render_sweep(sweep: Sweep, width: int, paint: Paint = PLAIN) -> str:
    """A row a section, a column a budget; as many tables below each other as the width needs."""
    names = [name for name, _ in sweep.points[0].held if any(point.find_held(name) for point in sweep.points)]
    reaches = {one.section: one for one in sweep.reaches}
    lead: list[list[str]] = [["section", *(["from", "whole"] if reaches else [])]]
    lead += [[name, *([show_count(reaches[name].appears), show_count(reaches[name].whole)] if name in reaches else [])] for name in names]
    used = sum(max(len(row[at]) for row in lead) + 2 for at in range(len(lead[0])))
    count = max(1, (width - used) // (2 + max(len(_name(point, sweep)) for point in sweep.points)))
    tables = [_render_columns(lead, names, sweep, sweep.points[at : at + count], paint) for at in range(0, len(sweep.points), count)]
    return "\n".join(tables) + _note(sweep)


def _render_columns(lead: list[list[str]], names: Sequence[str], sweep: Sweep, points: Sequence[Point], paint: Paint) -> str:
    rows: list[Row] = [[Cell(text, "dim") for text in (*lead[0], *(_name(point, sweep) for point in points))]]
    for row, name in zip(lead[1:], names, strict=True):
        rows.append([*row, *(show_count(point.find_held(name)) if point.find_held(name) else Cell("-", "dim") for point in points)])
    blank = [""] * (len(lead[0]) - 1)
    totals = [show_count(point.tokens) if point.tokens is not None else Cell("no fit", "red") for point in points]
    rows.append([Cell("total", "bold"), *blank, *totals])
    if len({point.strain for point in sweep.points}) > 1:
        rows.append(["strain", *blank, *(point.strain or "" for point in points)])
    return render_table(rows, right=frozenset(range(1, len(lead[0]) + len(points))), paint=paint)


def _name(point: Point, sweep: Sweep) -> str:
    return show_count(point.budget) + ("*" if point.budget == sweep.own else "")


def _note(sweep: Sweep) -> str:
    if not sweep.reaches:
        return ""
    least, top = sweep.points[0].budget, sweep.points[-1].budget
    own = f"the budget asked for, {show_count(sweep.own)}, "
    where = own + ("is more than all of it needs" if sweep.own > top else "is too little" if sweep.own < least else "has the star")
    return f"\n{show_count(least)} is the least that fits; from {show_count(top)} on nothing is cut for the total;\n{where}\n"
