"""The tokens of each section in one render and the reasons for them, as text (`render_meter`) and as a picture (`render_svg`).

`draw_rows` draws other rows with bars.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

from promptc.cli.terminal import PLAIN, Paint, escape_controls
from promptc.cli.views.drawing import (
    GUARDED,
    Cell,
    Row,
    render_bar,
    render_table,
    show_count,
    show_ids,
    show_left_out,
    show_percent,
    show_ratio,
    wrap,
)
from promptc.diag.findings import show_plural, show_share
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.explain.items import SHARED, Ladder, count_tokens_held, describe_lack, describe_reason, iter_ladders, list_items, list_rest
from promptc.explain.slack import Slack
from promptc.model.pack import MILLION
from promptc.passes.bind import find_cap
from promptc.passes.fit.result import Applied, Fitted
from promptc.pipeline import Outcome

_PICTURE, _MARGIN, _FONT, _LINE = 860, 22, 13, 19
"""The sizes of the picture in its own units. A character is `_CELL` tenths of a unit wide."""

_CELL = 78
_CUT_WIDTH = 100
_STYLE = """\
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328 }
.b { font-weight: 600 } .d { fill: #59636e } .r { fill: #d1242f } .e { text-anchor: end }
.card { fill: #ffffff; stroke: #d1d9e0 } .h { fill: #2da44e } .c { fill: #f0b37e } .t { fill: #eaeef2 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .d { fill: #9198a1 } .r { fill: #f85149 }
.card { fill: #0d1117; stroke: #3d444d } .h { fill: #2ea043 } .c { fill: #9e6a03 } .t { fill: #262c36 }
}
</style>"""
WIDTH = 80
_HEAD = ["section", "items", "tokens", "wanted", "cap", "used"]
_NAME = 20
_LEAST_BAR = 8


@frozen
class _Line:
    """The row of a section.

    `held` is its size now and `wanted` its size before any step, in tokens. `items` (empty for a text) and `cap` are as shown.
    """

    id: str
    items: str
    state: str
    held: int
    wanted: int
    is_more: bool
    cap: str
    used: str


def render_meter(outcome: Outcome, width: int = WIDTH, paint: Paint = PLAIN, slack: Sequence[Slack] = ()) -> str:
    """Return the meter of a render, even of one that does not fit.

    It has totals, the strain tier, a line for each section, and the cuts with their reasons. `slack` is described below the ladders that
    left it.
    """
    head = "".join(f"{line}\n" for line in _iter_head(outcome, width, paint))
    notes = "".join(f"{line}\n" for text in _iter_notes(outcome) for line in wrap(text, width))
    table = _render_table(outcome, width, paint)
    return f"{head}\n{table}{render_cuts(outcome, width, paint, slack)}" + (f"\n{notes}" if notes else "")


def _iter_head(outcome: Outcome, width: int, paint: Paint) -> Iterator[str]:
    report = outcome.account
    budget, tokens = report["budget"], report["tokens"]
    counter = _describe_counter(report["counter"])
    provider = report.get("overhead", {}).get("provider")
    shown = f"{report['format']} for {provider}" if provider else report["format"]
    yield f"{paint.apply(report['pack'], 'bold')} {report['version']} as {shown}, counted by {counter}"
    if tokens is None:
        yield paint.apply(describe_lack(outcome.fitted) or "", "red")
    else:
        yield f"{show_count(tokens)} of {show_plural(budget, 'token')}, {show_percent(tokens, budget)}; {show_count(budget - tokens)} free"
    yield f"▕{paint.apply(render_bar(tokens or budget, 0, budget, width - 2).ljust(width - 2), 'green' if tokens is not None else 'red')}▏"
    if "model" in report:
        yield from wrap(_describe_model(report["model"]), width)
    yield from _iter_media(report)
    yield from (line for text in _iter_calibration(report) for line in wrap(text, width))
    if report["strain"] is not None:
        yield _describe_strain(report)
    choices = [*_iter_cases(outcome), *(f"patch {name}" for name in report["patches"])]
    if choices:
        yield f"variant {', '.join(choices)}"
    yield from (line for one in report.get("tries", ()) for line in wrap(f"tried: {escape_controls(one)}", width))


def _iter_cases(outcome: Outcome) -> Iterator[str]:
    """Yield the case of each axis. If a tier replaces the chosen case, the text names both and the tier."""
    strained = outcome.fitted.strained
    bound = strained.selection.bound
    chosen, rules = dict(bound.choice.cases), bound.pack.strain
    tiers = rules.tiers[: strained.tier + 1] if rules is not None else ()
    for axis, case in outcome.account["variants"].items():
        sets = [tier.name for tier in tiers if axis in dict(tier.cases)]
        instead = f" ({sets[-1]}, in place of {chosen[axis]})" if case != chosen[axis] else ""
        yield f"{axis} = {case or 'none'}{instead}"


def _iter_media(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the number and the tokens of pictures, documents and sounds, with the table that counts them."""
    parts = [one for section in report["sections"] for item in section["items"] for one in item.get("media", ()) if "by" in one]
    if not parts:
        return
    kinds = ", ".join(show_plural(sum(one["kind"] == kind for one in parts), kind) for kind in dict.fromkeys(one["kind"] for one in parts))
    told = report["overhead"]["media"]
    by = (
        ""
        if all(one["by"] == "tokens" for one in parts)
        else f", table of {told['as_of']}" + (" (an estimate)" if told["estimate"] else "")
    )
    yield f"{kinds}: {show_plural(sum(one['tokens'] for one in parts), 'token')}{by}"


def _describe_counter(counter: Mapping[str, Any]) -> str:
    kind = "" if counter["exact"] else ", an estimate"
    return f"{counter['name']}{kind}" + (f" in place of {counter['wanted']}" if "wanted" in counter else "")


def _describe_model(model: Mapping[str, Any]) -> str:
    most = f", input {show_count(model['input'])}" if model["input"] is not None else ""
    table = f"as of {model['as_of']}" if model["as_of"] is not None else "as the pack says"
    return f"model {model['name']}: context {show_count(model['context'])}{most}, reserve {show_count(model['reserve'])} ({table})"


def _iter_calibration(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tokens that a calibration holds back, and the provider's count that it predicts."""
    used = report["counter"].get("calibration")
    if used is None:
        return
    left = show_count(report["budget"])
    yield f"margin: {show_count(used['held'])} of {show_plural(used['whole'], 'token')} held back, {left} left"
    share, pairs = show_share(used["quantile"]), show_plural(used["pairs"], "pair")
    yield f"source: {used['file']}, {share} of {pairs}, {used['provider']} {used['model']}"
    if report["tokens"] is not None:
        most = report["tokens"] * used["ratio"] // MILLION
        yield f"estimate: {show_count(report['tokens'])}, by the ratio {show_ratio(used['ratio'])} reported as at most {show_count(most)}"


def _describe_strain(report: Mapping[str, Any]) -> str:
    (spent, allowed), (later, _) = report["pressure"]["before"], report["pressure"]["after"]
    text = f"strain {report['strain']}, pressure {show_count(spent)} of {show_count(allowed)}, {show_percent(spent, allowed)}"
    return text if later == spent else f"{text}; {show_percent(later, allowed)} after its steps"


def _render_table(outcome: Outcome, width: int, paint: Paint) -> str:
    lines = list(_iter_lines(outcome))
    body = [_make_row(line) for line in lines]
    feet = list(_iter_totals(outcome, lines))
    room = width - sum(_count_widths(body, feet)) - 2 * (len(_HEAD) + 1) - _count_longest_state(lines)
    bars = _render_bars(lines, max(room, _LEAST_BAR))
    rows: list[Row] = [[Cell(text, "dim") for text in _HEAD]]
    for row, bar, line in zip(body, bars, lines, strict=True):
        rows.append([*(Cell(text, None if line.held else "dim") for text in row), Cell(bar, "green"), Cell(line.state, "dim")])
    rows += [[Cell(text, "bold") for text in row] for row in feet]
    return render_table(rows, right=frozenset(range(1, len(_HEAD))), most=max(_NAME, room), paint=paint)


def _count_widths(body: Sequence[list[str]], feet: Sequence[list[str]]) -> list[int]:
    """Return the width of each column in characters; a longer name is cut."""
    return [max(min(_NAME, len(row[at])) for row in (_HEAD, *body, *feet)) for at in range(len(_HEAD))]


def _count_longest_state(lines: Sequence[_Line]) -> int:
    return max((len(line.state) for line in lines), default=0)


def _iter_lines(outcome: Outcome) -> Iterator[_Line]:
    for one in outcome.account["sections"]:
        held = count_tokens_held(outcome.fitted, one["id"])
        wanted = one.get("demand", one.get("demand_at_least", 0))
        cap, limit = _describe_cap(outcome, one["id"])
        used = show_percent(held, limit) if held and limit else ""
        yield _Line(
            one["id"],
            _count_items(outcome, one["id"]),
            ", ".join([*_iter_marks(one, held, wanted), *_iter_makings(outcome, one)]),
            held,
            wanted,
            "demand_at_least" in one,
            cap,
            used,
        )


def _count_items(outcome: Outcome, name: str) -> str:
    """Return the number of items that a list keeps, also in a render that does not fit; empty if there are none."""
    fit = outcome.fitted.sections.get(name)
    return show_count(len(fit.alive)) if fit is not None and fit.section.items is not None and fit.alive else ""


def _describe_cap(outcome: Outcome, name: str) -> tuple[str, int]:
    """Return a section's cap as shown, and in tokens (0 if there is no cap or it is not in tokens)."""
    selected = outcome.fitted.strained.selection.find_selected(name)
    budget = selected.section.budget if selected is not None else None
    grant = outcome.fitted.grants.get(name)
    if grant is not None:
        return show_count(grant), grant
    if budget is None or budget.cap is None:
        return "", 0
    assert selected is not None
    cap = find_cap(selected.section, outcome.fitted.strained.selection.bound) or 0
    return (f"{show_count(cap)} ch", 0) if budget.cap.unit == "chars" else (show_count(cap), cap)


def _iter_marks(section: Mapping[str, Any], held: int, wanted: int) -> Iterator[str]:
    if section["state"] != "present":
        yield "all cut" if wanted and not held and section["state"] == "empty" else str(section["state"])
    elif section["pinned"]:
        yield "pinned"


def _iter_makings(outcome: Outcome, section: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many items are in the window, older (anchors and kept items), held by `freeze`, and made by steps.

    Then yield the case of the variant axis that has the section's name.
    """
    name = section["id"]
    fit = outcome.fitted.sections.get(name) if section["state"] == "present" else None
    if fit is None:
        return
    made = sum(one.is_made for one in fit.alive)
    held = sum(bool(one.item.held) for one in fit.alive)
    older = sum(not one.item.windowed for one in fit.alive) - made - held
    if older or held:
        kinds = {"older": older, "held": held, "made": made}
        more = "".join(f" + {count:,} {kind}" for kind, count in kinds.items() if count)
        yield f"{len(fit.alive) - older - made - held:,}{more}"
    case = outcome.account["variants"].get(name)
    if case is not None:
        yield escape_controls(case)


def _make_row(line: _Line) -> list[str]:
    name = escape_controls(line.id)
    if not line.held and not line.wanted:
        return [name, "", "", "", line.cap, ""]
    return [name, line.items, show_count(line.held), show_count(line.wanted) + ("+" if line.is_more else ""), line.cap, line.used]


def _iter_totals(outcome: Outcome, lines: list[_Line]) -> Iterator[list[str]]:
    """Yield the rows below the sections: pools, what belongs to no section, and the exact total.

    If the prompt does not fit, the total is what `truncate` left, or the sum if `truncate` did not run.
    """
    report = outcome.account
    by_name = {line.id: line.held for line in lines}
    for one in report.get("pools", ()):
        held = sum(by_name.get(name, 0) for name in one["sections"])
        yield [
            f"pool {one['id']}",
            "",
            show_count(held),
            show_count(one["demand"]),
            show_count(one["grant"]),
            show_percent(held, one["grant"]),
        ]
    held = sum(line.held for line in lines)
    total = report["tokens"] if report["tokens"] is not None else _count_left(outcome, held)
    for name, tokens in list_rest(outcome.fitted, total, held):
        yield [name, "", f"{tokens:+,}" if name == SHARED else show_count(tokens), "", "", ""]
    yield ["total", "", show_count(total), "", show_count(report["budget"]), show_percent(total, report["budget"])]


def _count_left(outcome: Outcome, held: int) -> int:
    """Return the tokens that `truncate` left, or those that the sections have and those that belong to none."""
    run = outcome.fitted.truncated
    if run is None:
        return held + outcome.fitted.layout.offered
    return outcome.fitted.layout.meter.tokens(run.applied[-1].after if run.applied else run.start)


def _render_bars(lines: list[_Line], width: int) -> list[str]:
    scale = _choose_scale(lines)
    return [render_bar(line.held, max(0, line.wanted - line.held), scale, width) for line in lines]


def _choose_scale(lines: list[_Line]) -> int:
    """Return the scale of all bars: the longest `wanted`, but at most three times the longest `held`."""
    most = max((line.held for line in lines), default=0)
    return max(max((min(line.wanted, 3 * most) for line in lines), default=0), most)


def _iter_notes(outcome: Outcome) -> Iterator[str]:
    report = outcome.account
    for one in report["sections"]:
        if one["left_out"]:
            stages = ", ".join(f"{show_left_out(count, stage)} by {stage}" for stage, count in one["left_out"].items())
            yield f"{one['id']}: not selected, before any counting: {stages}"
        if "frozen" in one and one["items"]:
            yield _describe_frozen(one)
    for one in report["guarded"]:
        where = f"{one['section']}/{one['item']}" if one["item"] is not None else f"{one['section']}, header"
        what = f"{one['kind'].replace('_', ' ')} {escape_controls(one['text'])}"
        yield f"{escape_controls(where)}, line {one['line']}: {what} {GUARDED[one['policy']]}"


def _describe_frozen(section: Mapping[str, Any]) -> str:
    """Describe the items that keep their place, and the cost of those that `freeze` alone keeps."""
    frozen, stages = section["frozen"], Counter(one["held"] for one in section["items"] if "held" in one)
    stand = "stays in place" if frozen["stands"] == 1 else "stay in place"
    told = f"{section['id']}: {show_plural(frozen['stands'], 'item')} {stand}"
    if not stages:
        return told
    by = ", ".join(f"{show_count(count)} by {stage}" for stage, count in sorted(stages.items()))
    tokens = show_plural(frozen["tokens"], "token")
    return f"{told}; `freeze` alone holds {show_count(frozen['held'])} ({tokens}): left out {by}"


def render_cuts(outcome: Outcome, width: int, paint: Paint, slack: Sequence[Slack] = ()) -> str:
    """Return a paragraph for each ladder that made cuts, or one line if there are none."""
    left = {id(one.run): one for one in slack}
    told = (_iter_cut_lines(one, left.get(id(one.run)), outcome, width, paint) for one in iter_ladders(outcome.fitted))
    paragraphs = ["".join(f"{line}\n" for line in lines) for lines in told]
    return "".join(f"\n{text}" for text in paragraphs or ["nothing was cut\n"])


def _iter_cut_lines(ladder: Ladder, slack: Slack | None, outcome: Outcome, width: int, paint: Paint) -> Iterator[str]:
    tokens, cuts = outcome.fitted.layout.meter.tokens, ladder.run.applied
    counts = f"{show_count(tokens(cuts[0].before))} → {show_count(tokens(cuts[-1].after))}"
    first, *rest = wrap(f"{ladder.title}: {counts}, {ladder.goal}", width)
    yield first.replace(ladder.title, paint.apply(ladder.title, "bold"), 1)
    yield from rest
    for _, same in groupby(cuts, key=lambda one: (one.step.label, one.step.sections if len(one.step.sections) > 1 else one.section)):
        yield from _iter_step_lines(list(same), ladder, outcome, width, paint)
    if ladder.target is not None and ladder.run.is_met and cuts[-1].needs > 0:
        more = outcome.fitted.count_more(ladder.name, cuts[-1].needs)
        yield from wrap(_describe_spared(cuts[-1], ladder, show_plural(more, "token"), outcome.fitted), width, 2)
    if slack is not None:
        yield from wrap(_describe_slack(slack), width, 2)
        is_own = set(slack.gained) == {slack.ladder}
        gained = [name if is_own else f"{section}/{name}" for section, names in slack.gained.items() for name in names]
        yield from wrap(f"more of {show_ids(gained)} would stay, and no less of anything else", width, 4)


def _describe_slack(slack: Slack) -> str:
    """Describe the unused part of a ladder's budget, and the order of steps that would have used it."""
    move, left = slack.move, show_plural(slack.left, "character" if slack.is_chars else "token")
    before = f"`{move.before.rule}`"
    how = f"put `{move.step.rule}` ({move.step.span}) before {before} ({move.before.span})"
    if move.is_new:
        default = f"write `overflow: [{{{move.spelled}}}, {{{move.before.rule}: {{}}}}]`"
        how = default if move.before.is_default else f"put `{move.spelled}` before {before} ({move.before.span})"
    left += " is left" if slack.left == 1 else " are left"
    more = f"{show_count(slack.more)} more" + (" tokens" if slack.is_chars else "")
    return f"{left}; `{move.step.rule}` before {before} would have kept {more}: {escape_controls(how)}"


def _describe_spared(cut: Applied, ladder: Ladder, more: str, fitted: Fitted) -> str:
    """Describe what so many tokens more of its ladder's target would spare."""
    items = list_items([cut])
    names = f"the tool call {show_ids([cut.call])}" if cut.call else f"{'item' if len(items) == 1 else 'items'} {show_ids(items)}"
    names += "" if cut.section == ladder.title else f" of `{cut.section}`"
    is_gone = bool(cut.call) or any(not after for _, before, after in cut.changes if before)
    if fitted.make_least_test(ladder.name)(cut):
        return f"it takes at least {more} more " + (f"to keep {names}" if is_gone else f"to spare {names} its last cut")
    return f"with {more} more, {names} would " + ("stay" if is_gone else "be spared its last cut")


def _iter_step_lines(cuts: Sequence[Applied], ladder: Ladder, outcome: Outcome, width: int, paint: Paint) -> Iterator[str]:
    tokens, first = outcome.fitted.layout.meter.tokens, cuts[0]
    several = len(first.step.sections) > 1
    named = ", ".join(f"`{name}`" for name in first.step.sections) if several else f"`{first.section}`"
    of = "" if first.section == ladder.title else f" of {named}"
    place = "default overflow" if first.step.is_default else str(first.step.span)
    counts = f"{show_count(tokens(first.before))} → {show_count(tokens(cuts[-1].after))}"
    head = f"  {first.step.rule} {show_plural(len(list_items(cuts, placed=several)), 'item')}{of}: {counts}"
    yield f"{head}  {paint.apply(escape_controls(place), 'dim')}"
    for why, same in groupby(cuts, key=describe_reason):
        yield from wrap(f"{escape_controls(why)}: {show_ids(list_items(list(same), placed=several))}", width, 4)


# --- the meter as a picture ---


def render_svg(outcome: Outcome) -> str:
    """Return the head, the table and the cuts of the meter as an SVG with text as text and colours for light and dark pages."""
    title, summary, *rest = [line for line in _iter_head(outcome, WIDTH, PLAIN) if not line.startswith("▕")]
    lines, drawn = list(_iter_lines(outcome)), _Drawing()
    drawn.write(title, "b")
    drawn.write(summary, "" if outcome.account["tokens"] is not None else "r")
    tokens, budget = outcome.account["tokens"], outcome.account["budget"]
    drawn.draw_bar(_MARGIN, _PICTURE - 2 * _MARGIN, 0, 1, 1, "t")
    drawn.draw_bar(_MARGIN, _PICTURE - 2 * _MARGIN, tokens if tokens is not None else budget, 0, budget)
    drawn.end_line()
    for line in rest:
        drawn.write(line, "d")
    _draw_table(drawn, lines, list(_iter_totals(outcome, lines)))
    for line in render_cuts(outcome, _CUT_WIDTH, PLAIN).splitlines():
        drawn.write(line, "d" if line.startswith("  ") else "b")
    return drawn.render(f"{title}: {summary}")


def draw_rows(head: Sequence[str], legend: tuple[str, str], rows: Sequence[tuple[str, int, int, str]]) -> str:
    """Return an SVG with lines of text, then rows. A row has a name, a bar for a part of a whole, and a note."""
    drawn = _Drawing()
    for place, line in enumerate(head):
        drawn.write(line, "d" if place else "b")
    left = _MARGIN + (max(len(name) for name, *_ in rows) + 2) * _CELL // 10
    width = (_PICTURE - left) // 2
    drawn.write_legend(left, *legend)
    drawn.end_line()
    scale, room = max(whole for _, _, whole, _ in rows), (_PICTURE - _MARGIN - left - width) * 10 // _CELL - 2
    for name, held, whole, note in rows:
        drawn.put(_MARGIN, name, "d")
        drawn.draw_bar(left, width, held, whole - held, scale)
        drawn.put(left + width + 2 * _CELL // 10, note if len(note) <= room else f"{note[: room - 1]}…", "")
        drawn.end_line()
    return drawn.render(": ".join(head[:2]))


def _draw_table(drawn: _Drawing, lines: list[_Line], feet: list[list[str]]) -> None:
    body = [_make_row(line) for line in lines]
    cells = [width + 2 for width in _count_widths(body, feet)]
    left = _MARGIN + sum(cells) * _CELL // 10
    width = _PICTURE - _MARGIN - left - (_count_longest_state(lines) + 2) * _CELL // 10
    drawn.end_line()
    drawn.write_row(_HEAD, cells, "d")
    drawn.write_legend(left)
    drawn.end_line()
    for row, line in zip(body, lines, strict=True):
        drawn.write_row(row, cells, "" if line.held else "d")
        drawn.draw_bar(left, width, line.held, max(0, line.wanted - line.held), _choose_scale(lines))
        drawn.put(_PICTURE - _MARGIN, line.state, "d e")
        drawn.end_line()
    for row in feet:
        drawn.write_row(row, cells, "b")
        drawn.end_line()


class _Drawing:
    """Lines of text and bars, from top to bottom."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._y = _MARGIN + _FONT

    def put(self, x: int, text: str, style: str = "") -> None:
        """Put text on the current line: it starts at `x`, or ends there with the style `e`."""
        if text:
            self._parts.append(f'<text x="{x}" y="{self._y}"' + (f' class="{style}"' if style else "") + f">{_spell(text)}</text>")

    def write(self, text: str, style: str = "") -> None:
        """Write a line of text with its indentation."""
        plain = text.lstrip(" ")
        self.put(_MARGIN + (len(text) - len(plain)) * _CELL // 10, plain, style)
        self.end_line()

    def write_row(self, row: Sequence[str], cells: Sequence[int], style: str) -> None:
        """Write a name, and right-aligned numbers in their columns."""
        x = _MARGIN
        for at, (text, width) in enumerate(zip(row, cells, strict=True)):
            x += width * _CELL // 10
            shown = text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
            self.put(x - 2 * _CELL // 10 if at else _MARGIN, shown, " ".join([style, *(["e"] if at else [])]).strip())

    def write_legend(self, x: int, solid: str = "in the prompt", light: str = "cut") -> None:
        """Write the meaning of the two colours."""
        for style, text in (("h", solid), ("c", light)):
            self._draw(x, _FONT - 3, style)
            self.put(x + _FONT + 3, text, "d")
            x += (len(text) + 5) * _CELL // 10

    def draw_bar(self, x: int, width: int, held: int, removed: int, scale: int, style: str = "c") -> None:
        """Draw a bar for `held` of `scale`, then one for `removed` in `style`. A part above 0 shows at least as a sliver."""
        solid = max(min(held * width // max(scale, 1), width), 2 if held else 0)
        end = min((held + removed) * width // max(scale, 1), width)
        self._draw(x, solid, "h")
        self._draw(x + solid, max(end - solid, 2) if removed else 0, style)

    def end_line(self) -> None:
        """Move to the next line."""
        self._y += _LINE

    def render(self, label: str) -> str:
        """Return the whole picture, with a label for screen readers."""
        height = self._y - _LINE + _MARGIN
        size = f'viewBox="0 0 {_PICTURE} {height}" width="{_PICTURE}" height="{height}"'
        card = f'<rect x="1" y="1" width="{_PICTURE - 2}" height="{height - 2}" rx="8" class="card"/>'
        parts = "\n".join([card, *self._parts])
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{_spell(label)}</title>\n{_STYLE}\n{parts}\n</svg>\n'

    def _draw(self, x: int, width: int, style: str) -> None:
        if width > 0:
            self._parts.append(f'<rect x="{x}" y="{self._y - _FONT + 3}" width="{width}" height="{_FONT - 3}" rx="1" class="{style}"/>')


def _spell(text: str) -> str:
    """Escape text as XML, and replace characters that XML cannot contain."""
    return escape("".join(one if one.isprintable() else "\ufffd" for one in escape_controls(text)))
