"""Draw the pictures of docs/explanation from what promptc renders of the pack on each page, and from what the page's scripts do.

With `--check`, fail if a picture differs from the one that would be drawn now.
"""

import contextlib
import json
import re
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import promptc

PAGES = Path(__file__).resolve().parents[1] / "docs" / "explanation"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
"""A block of a page: its language, its file, its text."""

WIDTH = 440
"""The width of a picture, in units in which a text of size 14 is readable on a phone."""
_STYLE = """\
text { font: 14px system-ui, sans-serif; fill: #1f2328 } .code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px }
.ground { fill: #ffffff } .soft { fill: #59636e } .small { font-size: 11px } .bold { font-weight: 600 }
.line { stroke: #b8c0c8; fill: none } .mark { fill: #c2570c; font-weight: 700 }
.one { fill: #2563a8 } .two { fill: #c2570c } .pale { fill: #dbe7f4 } .warm { fill: #fbe3cf }
@media (prefers-color-scheme: dark) {
text { fill: #e6e9ef } .ground { fill: #1e2129 } .soft { fill: #a5adba } .line { stroke: #4d5560 } .mark { fill: #f0883e }
.one { fill: #6aa9e9 } .two { fill: #f0883e } .pale { fill: #1f3a57 } .warm { fill: #57331a } }"""


class Picture:
    """An SVG that grows downwards, with its own background and both sets of colours; `style` adds further rules."""

    def __init__(self, title: str, *, width: int = WIDTH, style: str = "") -> None:
        self.height = 0.0
        self._title, self._width, self._style = title, width, f"{_STYLE}{style}"
        self._shapes: list[str] = []

    def write(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start", width: float = 0) -> None:
        """Add a line of text; with a `width`, the text has exactly this width in any font."""
        fitted = f' textLength="{width:g}" lengthAdjust="spacingAndGlyphs"' if width else ""
        form = f'x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}"{fitted} xml:space="preserve"'
        self._shapes.append(f"<text {form}>{escape(text, quote=False)}</text>")

    def fill(self, x: float, y: float, width: float, height: float, kind: str, round: float = 0) -> None:
        self._shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round:g}" class="{kind}"/>')

    def draw(self, path: str, kind: str) -> None:
        self._shapes.append(f'<path d="{path}" class="{kind}"/>')

    def finish(self) -> str:
        shown = max(self._width, WIDTH * 4 // 3)
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self._width} {self.height:g}" width="{shown}" role="img">'
        ground = f'<rect width="{self._width}" height="{self.height:g}" rx="8" class="ground"/>'
        return "\n".join(
            [head, f"<title>{escape(self._title)}</title>", f"<style>{self._style}</style>", ground, *self._shapes, "</svg>", ""]
        )


# --- why ladders nest ---

_SIZES = range(15, 111)


def draw_fill(folder: Path) -> str:
    fill = runpy.run_path(str(folder / "fill.py"))["fill"]
    days = _render_days(folder, 200)
    whole = [{"id": day, "tokens": tokens} for day, tokens in days.items()]
    rows = {day: [float(day in fill(whole, room)) for room in _SIZES] for day in days}
    return _draw_rows("Filling a gap: which days are in the prompt", rows, "two")


def draw_ladder(folder: Path) -> str:
    days = _render_days(folder, 200)
    sizes = [_render_days(folder, room) for room in _SIZES]
    rows = {day: [size.get(day, 0) / tokens for size in sizes] for day, tokens in days.items()}
    return _draw_rows("A ladder: which days are in the prompt", rows, "one")


def _render_days(folder: Path, budget: int) -> dict[str, int]:
    """Return the tokens of each day that is in the prompt."""
    prompt = promptc.load(folder / "pack.yaml").render((folder / "state.json").read_bytes(), budget=budget)
    return {item["id"]: item["tokens"] for item in prompt.report["sections"][0]["items"]}


def _draw_rows(title: str, rows: Mapping[str, Sequence[float]], kind: str) -> str:
    picture = Picture(title)
    left, row = 98, 30
    step = (WIDTH - 16 - left) / len(_SIZES)
    picture.write(16, 28, title, "bold")
    for at, (name, shares) in enumerate(rows.items()):
        base = 72 + row * at
        picture.write(16, base - 3, name)
        picture.draw(f"M{left} {base}H{left + step * len(shares):g}", "line")
        outline = "".join(f"V{base - 20 * share:g}H{left + step * last:g}" for last, share in _iter_runs(shares))
        picture.draw(f"M{left} {base}{outline}V{base}Z", kind)
    end = 72 + row * (len(rows) - 1)
    for size in range(20, _SIZES.stop, 20):
        picture.write(left + step * (size - _SIZES.start), end + 22, f"{size}", "soft", "middle")
    picture.write(left, end + 42, "room for the prompt, in tokens", "soft")
    picture.height = end + 56
    return picture.finish()


def _iter_runs(values: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield runs of equal values as (place after the run, value)."""
    for at, value in enumerate(values, 1):
        if at == len(values) or values[at] != value:
            yield at, value


# --- what exact means ---


def draw_joints(folder: Path) -> str:
    counter = promptc.load(folder / "pack.yaml").counter
    picture = Picture("Tokens alone and together")
    picture.write(16, 28, "Tokens alone and together", "bold")
    y = 48
    for pair in json.loads((folder / "state.json").read_text(encoding="utf-8"))["pairs"]:
        for name, texts in (("alone", pair), ("together", ["".join(pair)])):
            x = 84.0
            picture.write(16, y + 19, name, "soft")
            for text in texts:
                for token in _cut(text, counter.token_ends(text)):
                    width = 7.4 * len(token) + 9
                    picture.fill(x, y, width, 27, "pale", 4)
                    picture.write(x + 4.5, y + 18, token, "code", width=width - 9)
                    x += width + 3
                x += 9
            picture.write(WIDTH - 16, y + 19, " + ".join(str(counter.measure(text)) for text in texts), "bold", "end")
            y += 32
        y += 18
    picture.height = y
    return picture.finish()


def draw_estimates(folder: Path) -> str:
    text = (folder / "texts.yaml").read_text(encoding="utf-8")
    (folder / "estimate.yaml").write_text(text.replace("o200k_base", "chars/4"), encoding="utf-8")
    exact, estimate = (promptc.load(folder / name).counter for name in ("texts.yaml", "estimate.yaml"))
    picture = Picture("Tokens: counted, and estimated by characters")
    picture.write(16, 28, "Tokens: counted, and estimated by characters", "bold")
    y = 48
    for one in json.loads((folder / "texts.json").read_text(encoding="utf-8"))["texts"]:
        picture.write(16, y + 24, one["kind"])
        for counter, kind in ((exact, "one"), (estimate, "two")):
            tokens = -(-counter.measure(one["text"]) // counter.unit)
            picture.fill(92, y, 10 * tokens, 15, kind)
            picture.write(98 + 10 * tokens, y + 13, str(tokens), "soft")
            y += 18
        y += 14
    for x, kind, name in ((16, "one", "counted by o200k_base"), (230, "two", "characters / 4")):
        picture.fill(x, y, 12, 12, kind)
        picture.write(x + 18, y + 11, name, "soft")
    picture.height = y + 28
    return picture.finish()


def _cut(text: str, ends: Sequence[int]) -> list[str]:
    """Return the tokens of a text, with visible signs for white space."""
    shown = text.replace("\n", "⏎").replace(" ", "·")
    return [shown[first:last] for first, last in zip([0, *ends], ends, strict=False)]


# --- what strangers can do ---


def draw_bounds(_: Path) -> str:
    picture = Picture("What comes in, and what can come out")
    picture.write(16, 28, "What comes in, and what can come out", "bold")
    given, made, beyond = (
        ("a pack", "a state", "stored texts", "a model's answer", "a test case"),
        ("a prompt", "a message"),
        ("other files", "the network", "programs"),
    )
    for at, name in enumerate(given):
        y = 48 + 36 * at
        _draw_box(picture, 16, y, 140, name, "warm")
        picture.draw(f"M156 {y + 14}L192 134", "line")
    picture.fill(192, 48, 76, 172, "pale", 4)
    picture.write(230, 138, "promptc", "bold", "middle")
    for at, name in enumerate(made):
        y = 84 + 72 * at
        picture.draw(f"M268 {y + 14}H304", "line")
        _draw_box(picture, 304, y, 120, name, "pale")
    picture.draw("M16 244H424", "line")
    picture.write(16, 270, "out of reach:", "soft")
    for at, name in enumerate(beyond):
        picture.write(16 + 140 * at, 298, "✕", "mark")
        picture.write(34 + 140 * at, 298, name)
    picture.height = 316
    return picture.finish()


def _draw_box(picture: Picture, x: float, y: float, width: float, name: str, kind: str) -> None:
    picture.fill(x, y, width, 28, kind, 4)
    picture.write(x + width / 2, y + 19, name, "", "middle")


def draw_origins(folder: Path) -> str:
    prompt = promptc.load(folder / "pack.yaml").render((folder / "state.json").read_bytes())
    items = [item["range"] for section in prompt.report["sections"] for item in section["items"] if item["pointer"]]
    picture = Picture("Whose text each line is")
    picture.write(16, 28, "Whose text each line is", "bold")
    y, place = 44, 0
    for line in prompt.text.splitlines():
        given = any(first <= place < last for first, last in items)
        picture.fill(16, y, 4, 22, "two" if given else "one")
        picture.fill(20, y, WIDTH - 36, 22, "warm" if given else "pale")
        picture.write(30, y + 15, line, "code", width=7.8 * len(line))
        for at, character in enumerate(line):
            if character == "\\":
                picture.fill(30 + 7.8 * at, y + 18, 7.8, 3, "two")
        place += len(f"{line}\n".encode())
        y += 24
    for x, kind, name in ((16, "one", "from the pack"), (160, "two", "from the state")):
        picture.fill(x, y + 10, 12, 12, kind)
        picture.write(x + 18, y + 21, name, "soft")
    picture.height = y + 36
    return picture.finish()


# --- what a cut costs a cache ---


def draw_reuse(folder: Path) -> str:
    # The script reads files from the current folder.
    with contextlib.chdir(folder):
        measure = runpy.run_path("reuse.py")["measure"]
        choices = {name: list(measure(name.split())) for name in ("", "order", "order steps")}
    picture = Picture("How much of each prompt is met again")
    picture.write(16, 28, "How much of each prompt is met again", "bold")
    y = 48
    for name, turns in choices.items():
        picture.write(16, y + 14, f"with {name.replace(' ', ' and ')}" if name else "as written")
        step = (WIDTH - 32) / len(turns)
        for at, (turn, share) in enumerate(turns):
            x = 16 + step * at
            picture.fill(x, y + 24, step - 5, 60, "pale")
            picture.fill(x, y + 84 - 60 * share, step - 5, 60 * share, "one")
            picture.write(x + step / 2 - 2.5, y + 100, f"{share:.0%}", "small", "middle")
            if name == "order steps":
                picture.write(x + step / 2 - 2.5, y + 122, str(turn), "small soft", "middle")
        y += 120
    picture.write(16, y + 22, "turns of the talk; filled: begins as the one before", "soft")
    picture.height = y + 36
    return picture.finish()


# --- all pictures ---

DRAWN: dict[str, tuple[str, Callable[[Path], str]]] = {
    "fill": ("ladders", draw_fill),
    "ladder": ("ladders", draw_ladder),
    "joints": ("exact", draw_joints),
    "estimates": ("exact", draw_estimates),
    "bounds": ("strangers", draw_bounds),
    "origins": ("strangers", draw_origins),
    "reuse": ("caches", draw_reuse),
}
"""Each picture, with the page whose files it shows and the function that draws it."""


def main(arguments: list[str]) -> int:
    stale = [path for name in DRAWN if (path := PAGES / f"{name}.svg") and not _is_fresh(path, make_picture(name), "--check" in arguments)]
    for path in stale:
        print(f"docs/explanation/{path.name} differs from what its page renders; run `make pictures`", file=sys.stderr)
    return 1 if stale else 0


def make_picture(name: str) -> str:
    """Draw a picture of the files that its page shows, before any edit of the page."""
    page, draw = DRAWN[name]
    with tempfile.TemporaryDirectory() as folder:
        for language, title, content in BLOCK.findall((PAGES / f"{page}.md").read_text(encoding="utf-8")):
            if title and language != "diff":
                (Path(folder) / title).write_text(content, encoding="utf-8")
        return draw(Path(folder))


def _is_fresh(path: Path, drawn: str, checking: bool) -> bool:
    if not checking:
        path.write_text(drawn, encoding="utf-8", newline="\n")
    return path.exists() and path.read_text(encoding="utf-8") == drawn


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
