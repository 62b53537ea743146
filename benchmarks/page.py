"""`docs/performance.md` and its charts, made only from a record."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from pathlib import Path

from benchmarks.measure import Block, Line
from benchmarks.record import Part, Record
from tools.make_pictures import Picture

DOCS = Path(__file__).resolve().parents[1] / "docs"
_WIDTH = 800
_TRACES = """
.trace { fill: none; stroke-width: 2.2; stroke-linejoin: round } .thin { stroke-dasharray: 3 4 }
.s0 { stroke: #2563a8 } .s1 { stroke: #c2570c } .s2 { stroke: #2b7a4b } .d0 { fill: #2563a8 } .d1 { fill: #c2570c } .d2 { fill: #2b7a4b }
.dot { fill: #1f2328 }
@media (prefers-color-scheme: dark) {
.s0 { stroke: #6aa9e9 } .s1 { stroke: #f0883e } .s2 { stroke: #6cc490 } .d0 { fill: #6aa9e9 } .d1 { fill: #f0883e } .d2 { fill: #6cc490 }
.dot { fill: #e6e9ef } }"""
_COLOURS = 3

_HEAD = """\
# Performance

`make performance` measures promptc and writes this page, with its charts, from what the run printed. Its record is
[performance.json](performance.json). What each part compares, and with whom, is told in [What is measured](explanation/benchmarks.md).

Each figure is a median over turns in which all that is compared runs one after the other. The spread is half of what lies between the
quartiles, in per cent of the median. A ratio holds from machine to machine, milliseconds do not.
"""
_BUSY = """
**The machine was busy.** Before some parts more processes wanted a processor than it has cores. Times by the clock are longer then, and
spreads are wider.
"""
_PEERS_TOLD = """\
![Bars from the line of equal time: to the right promptc is faster than a peer, to the left it is slower](pictures/performance-peers.svg)

A bar ends at the worst figure of promptc against that peer, and each dot is a figure. To the left of the line promptc takes longer.
"""
_CURVES = {
    "growth": "Milliseconds of a render and of loading its state, over the blocks of the state",
    "others": "Milliseconds for blocks never seen before, over the blocks of the state",
    "turns": "Milliseconds of a turn of a session, over the blocks of the state",
}
"""The parts with lines over N, and the titles of their charts."""


def render_page(record: Record) -> str:
    """Return the whole page."""
    parts = "\n".join(_render_part(name, part) for name, part in record.parts.items())
    slower = _list_slower(record) or ["In this run promptc was slower than none of its peers."]
    missed = _list_missed(record) or ["This run kept every target."]
    lists = "\n".join(["## Slower than a peer", "", *slower, "", "## Targets missed", "", *missed, ""])
    return f"{_HEAD}\n{_render_machine(record)}\n{_PEERS_TOLD}\n{lists}\n{parts}"


def draw_charts(record: Record) -> dict[str, str]:
    """Return each chart by the path of its file in `docs`."""
    curves = {name: _draw_curves(title, record.parts[name]) for name, title in _CURVES.items() if name in record.parts}
    return {_name_chart("peers"): _draw_peers(record), **{_name_chart(name): drawn for name, drawn in curves.items()}}


def write_page(record: Record) -> None:
    """Write the page and its charts."""
    (DOCS / "performance.md").write_text(render_page(record), encoding="utf-8", newline="\n")
    for name, drawn in draw_charts(record).items():
        (DOCS / name).write_text(drawn, encoding="utf-8", newline="\n")


def _name_chart(name: str) -> str:
    return f"pictures/performance-{name}.svg"


# --- the text ---


def _render_machine(record: Record) -> str:
    machine = "\n".join(f"| {name} | {value} |" for name, value in record.machine.items())
    versions = ", ".join(f"{name} {number}" for name, number in record.versions.items())
    busy = any(float(part.load) > float(record.machine["cores"]) for part in record.parts.values())
    return f"| machine | |\n| --- | --- |\n{machine}\n| versions | {versions} |\n{_BUSY if busy else ''}"


def _render_part(name: str, part: Part) -> str:
    title = name.capitalize()
    busy = f"Before it, {part.load} processes wanted a processor."
    head = f"## {title}\n\nMeasured on {part.date}, in {part.seconds} s. {busy} [What is compared](explanation/benchmarks.md#{name}).\n"
    chart = f"\n![{_CURVES[name]}; both axes are logarithmic]({_name_chart(name)})\n" if name in _CURVES else ""
    return "\n".join([f"{head}{chart}", *(_render_block(block) for block in part.blocks)])


def _render_block(block: Block) -> str:
    columns: dict[str, Callable[[Line], str]] = {
        "figure": lambda line: f"{line.figure} {line.unit}".rstrip(),
        "spread": lambda line: line.spread,
        "turns": lambda line: str(line.turns) if line.spread else "",
        "target": lambda line: f"{line.target} {'kept' if line.is_kept else '**missed**'}" if line.target else "",
        "note": lambda line: line.note,
    }
    shown = [name for name in columns if any(columns[name](line) for line in block.lines)]
    rows = [["what", *shown], ["---", *("--:" if name in ("figure", "spread", "turns") else "---" for name in shown)]]
    rows += [[_indent(line.label), *(columns[name](line) for name in shown)] for line in block.lines]
    told = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return f"**{block.title}**\n\n{told}\n"


def _indent(label: str) -> str:
    return f"· {label.strip()}" if label.startswith(" ") else label


def _list_slower(record: Record) -> list[str]:
    """Return a line for each peer that was faster anywhere: the worst figure of promptc against it, and the mildest of the slower ones."""
    lines = []
    for (name, peer), found in _group_peers(record).items():
        slow = sorted((line for line in found if _speed(line) < 1), key=lambda line: (_speed(line), line.label))
        if slow:
            worst, mildest = slow[0], slow[-1]
            told = [f"**{one.figure} {one.unit}** ({one.label.strip()})" for one in dict.fromkeys([worst, mildest])]
            lines.append(f"- {name.capitalize()}, against {peer}: " + " to ".join(told))
    return lines


def _list_missed(record: Record) -> list[str]:
    return [
        f"- {block.title}: **{line.figure} {line.unit}**, not {line.target} ({line.label.strip()})"
        for part in record.parts.values()
        for block in part.blocks
        for line in block.lines
        if not line.is_kept
    ]


def _group_peers(record: Record) -> dict[tuple[str, str], list[Line]]:
    """Return the ratios to each peer of a part."""
    found: dict[tuple[str, str], list[Line]] = {}
    for name, part in record.parts.items():
        for line in _iter_lines(part):
            if line.peer:
                found.setdefault((name, line.peer), []).append(line)
    return found


def _iter_lines(part: Part) -> Iterator[Line]:
    return (line for block in part.blocks for line in block.lines)


def _read(line: Line) -> float:
    return float(line.figure.replace(",", ""))


def _speed(line: Line) -> float:
    """Return how many times as fast as its peer promptc is. A bar of a chart ends there, but the number is never shown."""
    return _read(line) if line.way == "theirs / ours" else 1 / _read(line)


# --- the charts ---


class _Axis:
    """A logarithmic axis from one figure to another, over a number of pixels."""

    def __init__(self, figures: Sequence[float], start: float, end: float) -> None:
        self.low, self.high = floor(log10(min(figures))), ceil(log10(max(figures)))
        self.high += self.high == self.low
        self._start, self._step = start, (end - start) / (self.high - self.low)

    def place(self, figure: float) -> float:
        return self._start + self._step * (log10(figure) - self.low)

    def decades(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def _draw_peers(record: Record) -> str:
    groups = _group_peers(record)
    picture = Picture("How many times as fast as others", width=_WIDTH, style=_TRACES)
    picture.write(24, 34, "How many times as fast as others", "bold")
    left, right, row = 380, _WIDTH - 36, 27
    axis = _Axis([1, *(_speed(line) for found in groups.values() for line in found)], left, right)
    bottom = 84 + row * len(groups)
    for mark in axis.decades():
        x = axis.place(mark)
        picture.draw(f"M{x:.1f} 76V{bottom - 6}", "line")
        picture.write(x, 68, _name_times(mark), "soft small", "middle")
    for at, ((name, peer), found) in enumerate(groups.items()):
        y = 84 + row * at
        speeds = [_speed(line) for line in found]
        begin, end = sorted((axis.place(1), axis.place(min(speeds))))
        picture.write(left - 14, y + 13, f"{name}: {peer}", "", "end")
        picture.fill(round(begin, 1), y, round(end - begin, 1), 16, "one" if min(speeds) >= 1 else "two")
        for speed in speeds:
            picture.fill(round(axis.place(speed) - 3, 1), y + 5, 6, 6, "dot", 3)
    picture.write(left, bottom + 20, "◂ promptc is slower", "soft")
    picture.write(right, bottom + 20, "promptc is faster ▸", "soft", "end")
    picture.height = bottom + 36
    return picture.finish()


def _name_times(mark: float) -> str:
    return "equal" if mark == 1 else f"{mark:g} ×" if mark > 1 else f"1/{1 / mark:g}"


def _draw_curves(title: str, part: Part) -> str:
    series: dict[str, list[tuple[int, float]]] = {}
    for line in _iter_lines(part):
        if line.series:
            series.setdefault(line.series, []).append((line.at, _read(line)))
    picture = Picture(title, width=_WIDTH, style=_TRACES)
    picture.write(24, 34, title, "bold")
    top, bottom, left, right = 60, 400, 84, 540
    points = [point for curve in series.values() for point in curve]
    across, up = _Axis([at for at, _ in points], left, right), _Axis([figure for _, figure in points], bottom, top)
    for mark in up.decades():
        picture.draw(f"M{left} {up.place(mark):.1f}H{right}", "line")
        picture.write(left - 10, up.place(mark) + 5, f"{mark / 1000:g} s" if mark >= 1000 else f"{mark:g} ms", "soft", "end")
    for size in sorted({at for at, _ in points}):
        picture.draw(f"M{across.place(size):.1f} {bottom}v6", "line")
        picture.write(across.place(size), bottom + 24, f"{size:,}", "soft", "middle")
    picture.write((left + right) / 2, bottom + 46, "N", "soft", "middle")
    kinds = _choose_kinds(series)
    ends = _part_labels({name: up.place(curve[-1][1]) for name, curve in series.items()})
    for name, curve in series.items():
        colour, thin = kinds[name]
        places = [(across.place(at), up.place(figure)) for at, figure in curve]
        picture.draw("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places), f"trace s{colour}{thin}")
        for x, y in places:
            picture.fill(round(x - 3.5, 1), round(y - 3.5, 1), 7, 7, f"d{colour}", 3.5)
        picture.draw(f"M{places[-1][0] + 6:.1f} {places[-1][1]:.1f}L{right + 22} {ends[name]:.1f}", "line")
        picture.write(right + 28, ends[name] + 5, name)
    picture.height = bottom + 64
    return picture.finish()


def _choose_kinds(series: Mapping[str, object]) -> dict[str, tuple[int, str]]:
    """Choose a colour for each family of names, which is the text before the colon. The second curve of a colour is dashed."""
    families = [*dict.fromkeys(name.partition(":")[0] for name in series)]
    chosen: dict[str, tuple[int, str]] = {}
    for name in series:
        colour = families.index(name.partition(":")[0]) % _COLOURS
        chosen[name] = (colour, " thin" if (colour, "") in chosen.values() else "")
    return chosen


def _part_labels(wanted: Mapping[str, float], apart: float = 20) -> dict[str, float]:
    """Return heights near those wanted, from the top down, at which no label covers another."""
    order = sorted(wanted, key=lambda name: (wanted[name], name))
    heights = [wanted[name] for name in order]
    for above, below in pairwise(range(len(heights))):
        heights[below] = max(heights[below], heights[above] + apart)
    return dict(zip(order, heights, strict=True))
