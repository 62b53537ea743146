"""Comparisons of renders.

They compare two prompts (`render_difference`), a render without some sections (`render_comparison`), a render at many budgets
(`render_sweep`) or with many values of a key of the manifest (`render_values`), and the renders of many cases (`render_matrix`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from promptc.cli.terminal import PLAIN, Paint, Style, clip_cells, count_cells, escape_controls
from promptc.cli.views.drawing import (
    Cell,
    Row,
    count_columns,
    render_bar,
    render_csv,
    render_table,
    show_count,
    show_percent,
    wrap,
)
from promptc.cli.views.meter import draw_rows
from promptc.compare import WHOLE, CaseFigures, Difference, Held, ItemChange, Matrix, MatrixRow, SectionChange
from promptc.diag.findings import show_plural
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.explain.items import count_tokens_held, list_items
from promptc.operations.results import StateDiff
from promptc.pipeline import Outcome
from promptc.text.diff import TextRun
from promptc.text.json import extend_pointer, render_canonical_json

DifferenceStyle = Literal["words", "lines", "old", "new"]
STYLES: tuple[DifferenceStyle, ...] = ("words", "lines", "old", "new")
_AROUND = 2
_MOST_ITEMS = 8
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MARKS = {"gone": ("[-", "-]"), "come": ("{+", "+}")}
_LONGEST = 600
_SHORT = 60
"""The characters of an unchanged stretch of a long line that stay on each side of a change."""

_SIGNS = {"gained": "+", "lost": "-", "changed": "~", "moved": "↕"}
_LONGEST_CHANGE = 24
PLENTY = 10**9
"""A budget in tokens that no content comes near."""

_COLUMNS = 7
_ROWS = 10
_FAR = 3
_LEAST_BAR = 8
_UNFIT = "no fit"
_WIDEST = 56
_WIDEST_NAME = 26


def render_difference(found: Difference, width: int, paint: Paint = PLAIN, style: DifferenceStyle = "words") -> str:
    """Return the whole difference, or `no difference`.

    `style` marks words in place (long stretches lose their middle), marks whole lines, or shows the text of one side alone.
    """
    blocks = (render_facts(found, width, paint), render_sections(found, width, paint, style))
    return "\n".join(block for block in blocks if block) or "no difference\n"


def render_sections(found: Difference, width: int, paint: Paint = PLAIN, style: DifferenceStyle = "words") -> str:
    """Return the sections that differ, each with its items and its text."""
    return "\n".join(_render_section(one, width, paint, style) for one in found.sections)


def render_facts(found: Difference, width: int, paint: Paint = PLAIN) -> str:
    """Return a line for each fact that differs, and the length of the common beginning."""
    rows: list[Row] = [
        [Cell(one.name, "bold"), f"{escape_controls(one.old) or '-'} → {escape_controls(one.new) or '-'}{_show_step(one.old, one.new)}"]
        for one in found.facts
    ]
    if found.shared < found.length:
        share = (
            f"the first {show_count(found.shared)} of {show_count(found.length)} characters ({show_percent(found.shared, found.length)})"
        )
        rows.append([Cell("alike", "bold"), share])
    return render_table(rows, most=max(width - 14, 20), paint=paint)


def render_stat(found: Difference, width: int, paint: Paint = PLAIN) -> str:
    """Return a line for each section that differs, with its tokens on both sides and its counts of changed items; then the facts."""
    rows: list[Row] = [
        [Cell(one.id or "prompt", "bold"), _show_tokens(one.old_tokens), _show_tokens(one.new_tokens), _show_change(one), _count_items(one)]
        for one in found.sections
    ]
    table = render_table(rows, right=frozenset({1, 2, 3}), most=width // 3, paint=paint)
    return "\n".join(block for block in (table, render_facts(found, width, paint)) if block) or "no difference\n"


def _show_step(old: str, new: str) -> str:
    numbers = [one.replace(",", "") for one in (old, new)]
    return f" ({int(numbers[1]) - int(numbers[0]):+,})" if all(one.isdigit() for one in numbers) else ""


def _show_tokens(tokens: int | None) -> str:
    return show_count(tokens) if tokens is not None else "-"


def _show_change(one: SectionChange) -> str:
    if one.old_tokens is None or one.new_tokens is None or one.old_tokens == one.new_tokens:
        return ""
    return f"{one.new_tokens - one.old_tokens:+,}"


def _count_items(one: SectionChange) -> str:
    counts = [(sign, sum(item.change == change for item in one.items)) for change, sign in _SIGNS.items()]
    moved = ["moved"] if one.is_moved else []
    return " ".join([*(f"{sign}{count}" for sign, count in counts if count), *moved])


def _render_section(one: SectionChange, width: int, paint: Paint, style: DifferenceStyle) -> str:
    tokens = f"  {_show_tokens(one.old_tokens)} → {_show_tokens(one.new_tokens)} tokens" if one.old_tokens != one.new_tokens else ""
    state = f"  {one.old_state or 'none'} → {one.new_state or 'none'}" if one.old_state != one.new_state else ""
    name = paint.apply(f"@@ {escape_controls(one.id)} @@", "cyan")
    head = [name + tokens + state + ("  moved" if one.is_moved else "")] if one.id != WHOLE else []
    return "\n".join([*head, *_iter_items(one.items, width), *_iter_text(one.runs, paint, style)]) + "\n"


def _iter_items(items: Sequence[ItemChange], width: int) -> Iterator[str]:
    """Yield the items that differ. Of many items with the same change, only the first are named."""
    for change in ("lost", "gained", "changed", "moved"):
        found = [item for item in items if item.change == change]
        for item in found[:_MOST_ITEMS]:
            tokens = {"lost": item.old_tokens, "gained": item.new_tokens}.get(change)
            what = show_plural(tokens, "token") if tokens is not None else f"{item.old_tokens} → {show_plural(item.new_tokens, 'token')}"
            why = f"  {item.why}" if item.why else ""
            yield from wrap(f"{change:<8}{escape_controls(item.id)}  {what}{escape_controls(why)}", width, 2)
        if len(found) > _MOST_ITEMS:
            yield f"  {change:<8}{len(found) - _MOST_ITEMS} more"


def _iter_text(runs: Sequence[TextRun], paint: Paint, style: DifferenceStyle) -> Iterator[str]:
    if style in ("old", "new"):
        side = "gone" if style == "old" else "come"
        text = "".join(run.text for run in runs if run.kind in ("same", side))
        yield from (f"    {escape_controls(line)}" for line in _split(text))
        return
    lines = _mark_lines(runs, paint) if style == "words" else _sign_lines(runs, paint)
    near = {at + step for at, (_, is_changed) in enumerate(lines) if is_changed for step in range(-_AROUND, _AROUND + 1)}
    passed = 0
    for at, (line, _) in enumerate(lines):
        if at in near:
            yield from _describe_passed(passed, paint)
            passed = 0
            yield f"    {line}".rstrip(" ")
        else:
            passed += 1
    yield from _describe_passed(passed, paint)


def _describe_passed(lines: int, paint: Paint) -> Iterator[str]:
    if lines:
        yield paint.apply(f"    ⋯ {show_plural(lines, 'line')}", "dim")


def _mark_lines(runs: Sequence[TextRun], paint: Paint) -> list[tuple[str, bool]]:
    """Return the lines of both texts merged, with removed and added text marked, each with whether it changed."""
    lines: list[tuple[str, bool]] = []
    line, is_changed = "", False
    for run in runs:
        for piece in _LINE.findall(run.text):
            ended = piece.endswith("\n")
            line += _mark(_shorten(piece.removesuffix("\n"), run), run, paint, is_bare=ended and run.kind != "same")
            is_changed |= run.kind != "same"
            if ended:
                lines.append((line, is_changed))
                line, is_changed = "", False
    return [*lines, (line, is_changed)] if line else lines


def _shorten(text: str, run: TextRun) -> str:
    """Return the text of a run, with the middle of a long stretch left out."""
    most = 4 * _SHORT if run.kind == "same" else _LONGEST
    if len(text) <= most:
        return text
    return f"{text[: most // 4]} ⋯ {show_count(len(text) - most // 2)} characters ⋯ {text[-(most // 4) :]}"


def _mark(text: str, run: TextRun, paint: Paint, *, is_bare: bool) -> str:
    """Return the text of a run with its marks. `is_bare` marks a changed line end, too, which alone would be invisible."""
    shown = escape_controls(text)
    if run.kind == "same":
        return shown
    opened, closed = _MARKS[run.kind]
    if not shown and not is_bare:
        return ""
    return paint.apply(f"{opened}{shown or '¶'}{closed}", "red" if run.kind == "gone" else "green")


def _sign_lines(runs: Sequence[TextRun], paint: Paint) -> list[tuple[str, bool]]:
    """Return whole lines, each with whether it changed: removed lines, then the lines that replace them."""
    lines: list[tuple[str, bool]] = []
    old, new, is_changed = "", "", False
    for run in runs:
        for piece in _LINE.findall(run.text):
            old += piece if run.kind != "come" else ""
            new += piece if run.kind != "gone" else ""
            is_changed |= run.kind != "same"
            if piece.endswith("\n") and run.kind == "same":
                lines += _sign(old, new, paint) if is_changed else [(f"  {line}", False) for line in _split(old)]
                old, new, is_changed = "", "", False
    return [*lines, *_sign(old, new, paint)] if is_changed else [*lines, *((f"  {line}", False) for line in _split(old))]


def _sign(old: str, new: str, paint: Paint) -> list[tuple[str, bool]]:
    gone = [(paint.apply(f"- {line}", "red"), True) for line in _split(old)]
    return [*gone, *((paint.apply(f"+ {line}", "green"), True) for line in _split(new))]


def _split(text: str) -> list[str]:
    return [escape_controls(line.removesuffix("\n")) for line in _LINE.findall(text)]


def render_changes(change: StateDiff) -> str:
    """Return a line for every place that changes: its JSON pointer and its change. Mappings are compared by key, lists by length."""
    gone: dict[str, int] = {}
    for one in change.archived:
        gone[one.pointer] = gone.get(one.pointer, 0) + len(one.elements)
    rows = [
        (f"  {escape_controls(pointer)}", f"{told}, {gone[pointer]:,} archived" if gone.get(pointer) else told)
        for pointer, told in _iter_changes(change.before, change.after, "")
    ]
    return render_table(rows, most=_WIDEST)


def _iter_changes(before: Any, after: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys(chain(before, after)):
            yield from _iter_key(before, after, key, pointer)
    elif not _is_same(before, after):
        yield pointer, _describe(before, after)


def _iter_key(before: Mapping[str, Any], after: Mapping[str, Any], key: str, above: str) -> Iterator[tuple[str, str]]:
    pointer = extend_pointer(above, key)
    if key not in after:
        yield pointer, "removed"
    elif key not in before:
        yield pointer, f"new: {_show(after[key])}"
    else:
        yield from _iter_changes(before[key], after[key], pointer)


def _is_same(before: Any, after: Any) -> bool:
    """Return whether two values are the same JSON: `true` is not `1`."""
    return render_canonical_json(before) == render_canonical_json(after)


def _describe(before: Any, after: Any) -> str:
    if isinstance(before, list) and isinstance(after, list):
        return f"{len(before):,} → {show_plural(len(after), 'element')}"
    return f"{_show(before)} → {_show(after)}"


def _show(value: Any) -> str:
    """Return a short value as JSON, or the kind and size of a longer one."""
    if isinstance(value, list):
        return show_plural(len(value), "element")
    if isinstance(value, dict):
        return show_plural(len(value), "key")
    shown = escape_controls(render_canonical_json(value))
    return (
        shown
        if len(shown) <= _LONGEST_CHANGE
        else f"a string of {show_plural(len(value), 'character')}"
        if isinstance(value, str)
        else "a number"
    )


# --- other budgets, and less ---


@frozen
class Point:
    """A render at one budget: its tokens (None if it does not fit), its strain tier, and the tokens of each section."""

    budget: int
    tokens: int | None
    strain: str | None
    held: tuple[tuple[str, int], ...]

    def read_held(self, section: str) -> int:
        """Return the tokens of a section; 0 if the render does not fit."""
        return dict(self.held)[section] if self.tokens is not None else 0


@frozen
class SectionReach:
    """The least budget at which a section has content, and the least from which on it has all of its content."""

    section: str
    appears: int
    whole: int


@frozen
class Sweep:
    """The points in rising order. `own` is the requested budget. `reaches` is empty if the range was given."""

    own: int
    points: tuple[Point, ...]
    reaches: tuple[SectionReach, ...] = ()


def describe_point(outcome: Outcome, budget: int) -> Point:
    """Return the point of a render that requested `budget`. A fallback counter can hold some of the budget back."""
    report = outcome.account
    held = tuple((one["id"], count_tokens_held(outcome.fitted, one["id"])) for one in report["sections"])
    return Point(budget, report["tokens"], report["strain"], held)


def sweep_range(render: Callable[[int], Point], own: int, budgets: Sequence[int]) -> Sweep:
    """Return a sweep with points at the given budgets."""
    return Sweep(own, tuple(render(budget) for budget in budgets))


def sweep_between(render: Callable[[int], Point], own: int, low: int, high: int) -> Sweep:
    """Return a sweep from `low` to `high` in round steps, with the requested budget if it lies between."""
    return sweep_range(render, own, sorted({low, high, *_spread(low, high), *([own] if low < own < high else [])}))


def sweep_all(render: Callable[[int], Point], own: int) -> Sweep | None:
    """Return a sweep with the most informative points, or None if no budget fits.

    The points are found by bisection: contents nest, so each content appears and disappears once.
    """
    most = render(PLENTY)
    if most.tokens is None:
        return None
    least = _bisect(1, PLENTY, lambda budget: render(budget).tokens is not None)
    top = _bisect(least, PLENTY, lambda budget: render(budget).held == most.held)
    budgets = sorted({least, top, *_spread(least, top), *([own] if least < own < top else [])})
    names = [name for name, held in most.held if held]
    return Sweep(own, tuple(render(budget) for budget in budgets), tuple(_measure_reach(render, name, budgets, most) for name in names))


def _bisect(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the least number of low..high from which on `holds` is true.

    `holds` must be true at `high`, and for all numbers above the first for which it is true.
    """
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


def _measure_reach(render: Callable[[int], Point], name: str, budgets: Sequence[int], most: Point) -> SectionReach:
    return SectionReach(
        section=name,
        appears=_bisect_budgets(budgets, lambda budget: render(budget).read_held(name) > 0),
        whole=_bisect_budgets(budgets, lambda budget: render(budget).read_held(name) == most.read_held(name)),
    )


def _bisect_budgets(budgets: Sequence[int], holds: Callable[[int], bool]) -> int:
    """Return the least budget for which `holds` is true, by `_bisect` between the two known budgets where it changes."""
    at = next(at for at, budget in enumerate(budgets) if holds(budget))
    return budgets[0] if at == 0 else _bisect(budgets[at - 1] + 1, budgets[at], holds)


def _spread(least: int, top: int, count: int = _COLUMNS - 2) -> list[int]:
    """Return about `count` evenly spaced round numbers between the two."""
    rough = max(1, (top - least) // count)
    unit = 10 ** (len(str(rough)) - 1)
    step = next(size * unit for size in (1, 2, 5, 10) if size * unit >= rough)
    return list(range(least - least % step + step, top, step))


def render_sweep(sweep: Sweep, width: int, paint: Paint = PLAIN) -> str:
    """Return a row for each section and a column for each budget, in as many tables as the width needs."""
    names = [name for name, _ in sweep.points[0].held if any(point.read_held(name) for point in sweep.points)]
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
        rows.append([*row, *(show_count(point.read_held(name)) if point.read_held(name) else Cell("-", "dim") for point in points)])
    blank = [""] * (len(lead[0]) - 1)
    totals = [show_count(point.tokens) if point.tokens is not None else Cell(_UNFIT, "red") for point in points]
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


def render_sweep_csv(sweep: Sweep) -> str:
    """Return a line for each budget: the tokens of each section, the total (empty if it does not fit), and the tier."""
    names = [name for name, _ in sweep.points[0].held]
    rows = [(one.budget, *(one.read_held(name) for name in names), one.tokens, one.strain) for one in sweep.points]
    return render_csv(("budget", *names, "total", "strain"), rows)


# --- other values of a key ---


@frozen
class Subject:
    """The subject of a key: a section, a pool with its `sections`, or the whole prompt (no `name`)."""

    name: str
    sections: tuple[str, ...]

    @property
    def title(self) -> str:
        """The subject's name in messages."""
        return f"`{self.name}`" if self.name else "the prompt"


@frozen
class ValuePoint:
    """A render with one value of a key.

    `tokens` and `wanted` are the tokens that its subject has and had before any step. `items` is the number of items that stay, `cut` the
    number that steps removed or shortened. `total` is the tokens of the whole prompt, or None if it does not fit. `strain` is the tier.
    """

    value: int | None
    tokens: int
    wanted: int
    items: int
    cut: int
    total: int | None
    strain: str | None

    @property
    def content(self) -> tuple[int, int, bool]:
        """A summary of what is kept: if it is equal at two values, the larger one gained nothing."""
        return self.tokens, self.items, self.total is not None


@frozen
class ValueSweep:
    """The points in rising order of their values.

    `own` is the render of the pack itself; its value is None if the pack's value is not a whole number, as `written` shows. `knee` is the
    least value from which on the subject has everything that it has at the last value. It is None if only the last value reaches that, or
    if another value keeps more.
    """

    path: str
    pack: str
    budget: int
    subject: Subject
    written: str
    own: ValuePoint
    points: tuple[ValuePoint, ...]
    knee: int | None


def describe_value(outcome: Outcome, value: int | None, subject: Subject) -> ValuePoint:
    """Return the point of a render with that value."""
    fitted, names = outcome.fitted, subject.sections
    demands = {one["id"]: one.get("demand", one.get("demand_at_least", 0)) for one in outcome.account["sections"]}
    cuts = [one for _, run in fitted.iter_runs() for one in run.applied if not subject.name or one.section in names]
    kept = (fitted.sections[name] for name in names if name in fitted.sections)
    held = sum(count_tokens_held(outcome.fitted, name) for name in names)
    total = outcome.account["tokens"]
    return ValuePoint(
        value,
        held if subject.name or total is None else total,
        sum(demands.get(name, 0) for name in names),
        sum(len(one.alive) for one in kept if one.section.items is not None),
        len(list_items(cuts, placed=True)),
        total,
        outcome.account["strain"],
    )


def sweep_near(render: Callable[[int], ValuePoint], sweep: ValueSweep, low: int, high: int) -> ValueSweep:
    """Return the sweep from `low` to a little above the knee, but at most to `high`.

    It extends to the pack's own value if that is not far above the knee.
    """
    last, own = render(high).content, sweep.own.value
    knee = _bisect(low, high, lambda value: render(value).content == last)
    behind = max(knee + 1, low + (knee - low) * 5 // 4)
    top = min(high, max(behind, own) if own is not None and own <= low + _FAR * (knee - low) else behind)
    if render(top).content != last:
        top = high  # the content does not grow with the value, for example if a tier depends on it
    first, second = (*_spread(low, top, _ROWS), top, top + 1)[:2]
    top = min(high, -(-top // (second - first)) * (second - first))
    return sweep_values(render, sweep, low, top)


def sweep_values(render: Callable[[int], ValuePoint], sweep: ValueSweep, low: int, high: int) -> ValueSweep:
    """Return the sweep from `low` to `high` with the most informative points.

    They are round values, the pack's own value, and the knee, which is found by bisection.
    """
    last, own = render(high).content, sweep.own.value
    knee = _bisect(low, high, lambda value: render(value).content == last)
    values = {low, knee, high, *_spread(low, high, _ROWS), *([own] if own is not None and low <= own <= high else [])}
    return sweep_given(render, sweep, sorted(values))


def sweep_given(render: Callable[[int], ValuePoint], sweep: ValueSweep, values: Sequence[int]) -> ValueSweep:
    """Return the sweep with points at the given values, which must rise."""
    points = tuple(map(render, values))
    at = len(points) - 1
    while at and points[at - 1].content == points[-1].content:
        at -= 1
    others = (*points, sweep.own) if sweep.own.value is not None else points
    is_level = at < len(points) - 1 or (at > 0 and not points[-1].cut and points[-1].wanted == points[-2].wanted)
    has_knee = is_level and points[-1].total is not None and all(one.tokens <= points[-1].tokens for one in others)
    return replace(sweep, points=points, knee=points[at].value if has_knee else None)


def render_values(sweep: ValueSweep, width: int, paint: Paint = PLAIN) -> str:
    """Return a row with a bar for each value: dark for content in the prompt, light for content that was cut."""
    points = list(sweep.points)
    if all(one.value != sweep.own.value for one in points):
        points.append(sweep.own)
    has_tiers = any(one.strain is not None for one in points)
    heads = ["value", "tokens", "items", "cut", "total", *(["strain"] if has_tiers else [])]
    numbers = [_list_cells(one, sweep, has_tiers) for one in points]
    used = count_columns([heads, *numbers])
    scale, room = _choose_scale(points), max(width - used, _LEAST_BAR)
    rows: list[Row] = [[Cell(one, "dim") for one in heads]]
    for one, cells in zip(points, numbers, strict=True):
        bar = render_bar(one.tokens, max(0, one.wanted - one.tokens), scale, room) if one.total is not None else ""
        rows.append([*(Cell(cell, "red" if cell == _UNFIT else None) for cell in cells), Cell(bar, "green")])
    title = "".join(f"{paint.apply(line, 'bold')}\n" for line in wrap(_title_values(sweep), width))
    remarks = "".join(f"{line}\n" for one in iter_remarks(sweep) for line in wrap(one, width))
    return f"{title}\n{render_table(rows, right=frozenset(range(5)), most=width, paint=paint)}\n{remarks}"


def _list_cells(one: ValuePoint, sweep: ValueSweep, has_tiers: bool) -> list[str]:
    value = show_count(one.value) if one.value is not None else "file"
    star = "*" if one.value is not None and one.value == sweep.own.value else ""
    counts = map(show_count, (one.tokens, one.items, one.cut, one.total)) if one.total is not None else ("-", "-", "-", _UNFIT)
    return [f"{value}{star}", *counts, *([one.strain or ""] if has_tiers else [])]


def _choose_scale(points: Sequence[ValuePoint]) -> int:
    most = max(one.tokens for one in points)
    return max(max(min(one.wanted, 3 * most) for one in points), most)


def _title_values(sweep: ValueSweep) -> str:
    return f"{escape_controls(sweep.path)}: what {sweep.subject.title} holds, of {show_plural(sweep.budget, 'token')} in all"


def iter_remarks(sweep: ValueSweep) -> Iterator[str]:
    """Yield the value where the content stops growing, and how the pack's own value compares to it."""
    yield _describe_knee(sweep)
    own, knee = sweep.own, sweep.knee
    kept = f"keeps {show_count(own.tokens)} of {show_plural(own.wanted, 'token')}" if own.total is not None else "does not fit"
    if own.value is None:
        said = f"has {escape_controls(sweep.written)}" if sweep.written else "does not set it"
        yield f"the file {said}, and {kept}"
        return
    far = ""
    if knee is not None:
        side = "above" if own.value > knee else "below"
        far = f"; that is {show_count(abs(own.value - knee))} {side} the knee" if own.value != knee else "; that is the knee"
    yield f"the file has {show_count(own.value)} (*), and {kept}{far}"


def _describe_knee(sweep: ValueSweep) -> str:
    name, last = sweep.subject.title, sweep.points[-1]
    most = max((*sweep.points, sweep.own), key=lambda one: (one.total is not None, one.tokens))
    knee = next((one for one in sweep.points if one.value == sweep.knee), None)
    end = show_count(last.value or 0)
    if last.total is None:
        return f"knee: none, it does not fit at {end}"
    if knee is not None:
        why = f"nothing of {name} is cut" if not knee.cut else f"{name} stays as it is: other steps cut the rest"
        return f"knee: {show_count(knee.value or 0)}, from there on {why}"
    if most.tokens <= last.tokens or (most.value or 0) > (last.value or 0):
        return f"knee: none up to {end}, {name} still grows"
    return f"knee: none, a larger value may hold less; most is {show_plural(most.tokens, 'token')}, at {show_count(most.value or 0)}"


def draw_values(sweep: ValueSweep) -> str:
    """Return the chart as an SVG."""
    scale = _choose_scale(sweep.points)
    rows = []
    for one in sweep.points:
        name, tokens = _list_cells(one, sweep, has_tiers=False)[:2]
        told = [tokens, show_plural(one.items, "item"), *([f"{show_count(one.cut)} cut"] if one.cut else []), one.strain or ""]
        told += ["knee"] if one.value == sweep.knee else []
        if one.total is None:
            rows.append((name, 0, 0, _UNFIT))
        else:
            rows.append((name, one.tokens, max(one.tokens, min(one.wanted, scale)), " · ".join(filter(None, told))))
    return draw_rows([_title_values(sweep), *iter_remarks(sweep)], ("in the prompt", "cut"), rows)


def render_values_csv(sweep: ValueSweep) -> str:
    """Return a line for each value; `total` is empty if the prompt does not fit."""
    heads = ("value", "tokens", "wanted", "items", "cut", "total", "strain")
    return render_csv(heads, [[getattr(one, name) for name in heads] for one in sweep.points])


@frozen
class SweepSide:
    """One of the two renders. `pressure` is the tokens spent and allowed."""

    point: Point
    pressure: tuple[int, int]


@frozen
class Comparison:
    """A render with and without some sections."""

    without: tuple[str, ...]
    before: SweepSide
    after: SweepSide


def compare(names: Sequence[str], before: Outcome, after: Outcome) -> Comparison:
    """Compare a render with the sections `names` (`before`) to a render without them (`after`)."""
    return Comparison(tuple(names), _describe_side(before), _describe_side(after))


def render_comparison(found: Comparison, width: int, paint: Paint = PLAIN) -> str:
    """Return the totals, then the sections that differ, each with its difference."""
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
    spent, allowed = outcome.account["pressure"]["before"]
    return SweepSide(describe_point(outcome, outcome.account["budget"]), (spent, allowed))


def _show_pair(before: int | None, after: int | None) -> list[str]:
    shown = [show_count(one) if one is not None else _UNFIT for one in (before, after)]
    return [*shown, f"{after - before:+,}" if before is not None and after is not None and after != before else ""]


# --- many cases ---


def render_matrix(found: Matrix, width: int, paint: Paint = PLAIN) -> str:
    """Return a row for each case and a column for each section, in as many tables as the width needs.

    The line below a case that differs shows the differences.
    """
    against = f", against {escape_controls(found.against)}" if found.against else ""
    head = [f"{found.pack}: {show_plural(len(found.rows), 'row')}{against}", *(f"tried: {escape_controls(one)}" for one in found.tried)]
    lines = [paint.apply(line, "bold" if not at else "dim") for at, one in enumerate(head) for line in wrap(one, width)]
    if found.rows:
        lines += ["", *_iter_matrix_tables(found, width, paint)]
    return "".join(f"{line}\n" for line in [*lines, "", *(part for one in _iter_matrix_notes(found) for part in wrap(one, width))])


def _iter_matrix_tables(found: Matrix, width: int, paint: Paint) -> Iterator[str]:
    rows = [*found.rows, found.total]
    lead = ["case", *(["tier"] if found.has_tiers else []), "total"]
    names = [name for name in found.sections if any(_is_held(one, name) for row in rows for one in (row.new, row.old))]
    before = _cut_common([row.name for row in found.rows])
    columns = [_list_matrix_lines(row, lead, names, before if row is not rows[-1] else 0, has_old=bool(found.against)) for row in rows]
    heads = [*lead, *names]
    sizes = [
        max(len(heads[at]), *(min(_WIDEST_NAME if not at else _WIDEST, count_cells(line[at])) for lines in columns for line in lines))
        for at in range(len(heads))
    ]
    start = len(lead)
    while start == len(lead) or start < len(heads):
        room, end = width - sum(size + 2 for size in sizes[: len(lead)]) + 2, start
        while end < len(heads) and (end == start or room >= sizes[end] + 2):
            room -= sizes[end] + 2
            end += 1
        picked = [*range(len(lead)), *range(start, end)]
        table: list[Row] = [[Cell(heads[at], "dim") for at in picked]]
        for row, lines in zip(rows, columns, strict=True):
            styles: tuple[Style | None, ...] = ("bold" if row is rows[-1] else None, "yellow")
            for line, style in zip(lines, styles, strict=False):
                table.append([Cell(line[at], style) for at in picked])
        most = max(_WIDEST_NAME, *(sizes[at] for at in picked))
        right = frozenset(at for at, column in enumerate(picked) if column >= len(lead) - 1)
        yield from render_table(table, right=right, most=most, paint=paint).splitlines()
        if end >= len(heads):
            return
        yield ""
        start = end


def _list_matrix_lines(row: MatrixRow, lead: Sequence[str], names: Sequence[str], before: int, *, has_old: bool) -> list[list[str]]:
    """Return the figures of a row, and a second line with their differences from the old figures if there are any."""
    name = clip_cells(escape_controls(row.name[before:]), _WIDEST_NAME)
    has_tiers = "tier" in lead
    if row.new is None or row.new.refused:
        told = row.new.refused if row.new is not None else "-"
        first = [name, *([""] if has_tiers else []), told, *("" for _ in names)]
    else:
        cells = [show_held(row.new.read(one)) for one in names]
        first = [name, *([row.new.strain or ""] if has_tiers else []), show_held(Held(row.new.tokens, row.new.cut)), *cells]
    if not has_old or row.new == row.old:
        return [first]
    if row.new is None or row.old is None or row.new.refused or row.old.refused:
        told = "-" if row.old is None else row.old.refused or show_held(Held(row.old.tokens, row.old.cut))
        tier = f"was {row.old.strain}" if row.old is not None and row.old.strain else ""
        return [first, ["", *([tier] if has_tiers else []), f"was {told}", *("" for _ in names)]]
    tier = f"was {row.old.strain}" if row.new.strain != row.old.strain else ""
    cells = [show_step(row.old.read(one), row.new.read(one)) for one in names]
    total = show_step(Held(row.old.tokens, row.old.cut), Held(row.new.tokens, row.new.cut))
    return [first, ["", *([tier] if has_tiers else []), total, *cells]]


def show_held(held: Held) -> str:
    """Return the tokens, followed by `/` and the number of cut items if there are any."""
    return f"{show_count(held.tokens)}/{show_count(held.cut)}" if held.cut else show_count(held.tokens) if held.tokens else "-"


def show_step(old: Held, new: Held) -> str:
    """Return the change of the tokens, followed by `/` and the change of the cuts; empty if neither changed."""
    tokens, cut = new.tokens - old.tokens, new.cut - old.cut
    first = f"{tokens:+,}" if tokens else "0"
    return f"{first}/{cut:+,}" if cut else first if tokens else ""


def _is_held(figures: CaseFigures | None, name: str) -> bool:
    return figures is not None and figures.read(name) != Held(0, 0)


def _cut_common(names: Sequence[str]) -> int:
    """Return the length of the folder that all names have in common, with its slash."""
    first = names[0].rpartition("/")[0] if names else ""
    return len(first) + 1 if first and all(name.startswith(f"{first}/") for name in names) else 0


def _iter_matrix_notes(found: Matrix) -> Iterator[str]:
    if not found.rows:
        yield "no case differs" if found.against else "no case renders anything"
    else:
        behind = "; below it, by how much that differs" if found.against else ""
        yield f"tokens, and after a / how many items were cut{behind}"
    unfit = sum(any(one is not None and one.refused for one in (row.new, row.old)) for row in found.rows)
    if unfit:
        yield f"{show_plural(unfit, 'row')} of a case that is refused {'is' if unfit == 1 else 'are'} not in the total"
    ended = sum(row.new is None or (bool(found.against) and row.old is None) for row in found.rows)
    if ended:
        yield f"{show_plural(ended, 'row')} after the turn at which a session ended {'is' if ended == 1 else 'are'} not in the total"
    if found.left_out:
        yield f"{show_plural(found.left_out, 'case')} left out: without a prompt, or for want of an extra"
