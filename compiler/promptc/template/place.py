"""Maps a pack's texts to their source files (`Place`).

Also defines a pack's named expressions (`Definition`), and the origins of printed characters (`OutputSpan`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen, replace

Pointers = tuple[str, ...]
"""JSON pointers into a state, each once, in the order they were read."""
_EXCERPT = 400

_WRITTEN = re.compile(r'\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})|\\(.)|([^"\\\n])')
_ESCAPES = dict(zip('0abtnvfre "/\\N_LP\t', '\0\a\b\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029\t', strict=True))
"""`_WRITTEN` matches one character in double quotes. `_ESCAPES` maps the character after a backslash to what it means (YAML 1.2, 5.7)."""


@frozen
class Place:
    """The place of a text: a scalar of a manifest, or a file.

    `inline`: the text is the scalar at `span` in a manifest, whose lines are `source` (`cut_source`); if false, it is the file `span.file`.
    `folder` is the prefix of an included file's name in messages: `packs/sentinel/` if `span.file` begins so.
    `definitions` are those that the text may name.
    """

    span: Span
    inline: bool
    folder: str = ""
    source: str = field(default="", repr=False, compare=False)
    definitions: tuple[Definition, ...] = field(default=(), repr=False, compare=False)

    def make_span(self, name: str, text: str, at: int) -> Span:
        """Return the span of position `at` (characters before it, plus 1) in the template `name` (empty: the template itself).

        `text` is that template's text. In a manifest, return `span` itself if the place is uncertain: in a text over several lines without
        `|` or `>`, or in a folded one with blank or deeper lines before the position.
        """
        if self.inline and not name:
            found = _find_inside(self.source, self.span, text, at)
            return self.span if found is None else _make_span(self.span.file, self.source, found, self.span.line)
        return _make_span(self.folder + name if name else self.span.file, text, at - 1)

    def find(self, name: str, text: str, at: int, sites: Sequence[Site]) -> tuple[Span, str]:
        """Return the span of a position, as `make_span` does, in a text with its definitions written out.

        The second value is what a message adds if the position is inside a definition, else empty.
        """
        at, inner = trace_outside(sites, at)
        span = self.make_span(name, text, at)
        if not inner:
            return span, ""
        last, there = inner[-1]
        chain = " → ".join(f"`{one.name}`" for one, _ in inner)
        return span, f", in {chain} ({last.place.make_span('', last.text, there)})"


@frozen
class Definition:
    """A named expression of a pack: its name in `define`, the names of its arguments, and its text.

    `reads`: the names it reads besides its arguments, including those that the definitions in it read.
    """

    name: str
    parameters: tuple[str, ...]
    text: str
    place: Place
    reads: frozenset[str] = frozenset()

    @property
    def signature(self) -> str:
        """The definition with its arguments: `about(npc)`."""
        return f"{self.name}({', '.join(self.parameters)})" if self.parameters else self.name


@frozen
class Site:
    """One place where a definition was written out: it is named at `at`, and its nodes have positions after `start`."""

    start: int
    definition: Definition
    at: int


def trace_outside(sites: Sequence[Site], at: int) -> tuple[int, tuple[tuple[Definition, int], ...]]:
    """Return a position in the text itself, and the definitions it is inside of.

    The definitions come from the outermost to the innermost, each with the position in its own text.
    """
    found: list[tuple[Definition, int]] = []
    while sites and at > sites[0].start:
        site = sites[bisect_left(sites, at, key=_read_start) - 1]
        found.append((site.definition, at - site.start))
        at = site.at
    return at, tuple(reversed(found))


def _read_start(site: Site) -> int:
    return site.start


def cut_source(lines: Sequence[str], span: Span, text: str) -> str:
    """Return the lines of a manifest that may contain the scalar `text`, which begins at `span`.

    The places of the scalar's parts depend on no other lines.
    """
    first = lines[span.line - 1] if span.line <= len(lines) else ""
    more = {"|": text.count("\n") + 1, ">": text.count("\n") + text.count(" ") + 1}.get(first[span.column - 1 : span.column], 0)
    return "\n".join(lines[span.line - 1 : span.line + more])


def _make_span(file: str, text: str, offset: int, first: int = 1) -> Span:
    offset = min(max(offset, 0), len(text))
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", begin)
    line = text[begin : end if end >= 0 else len(text)]
    skipped = max(offset - begin - _EXCERPT // 2, 0) if len(line) > _EXCERPT else 0
    return Span(file, first + text.count("\n", 0, offset), offset - begin + 1, line[skipped : skipped + _EXCERPT], skipped)


def _find_inside(source: str, span: Span, text: str, at: int) -> int | None:
    """Return the offset in `source` of position `at` of the scalar at `span`, or None if it is uncertain."""
    begin, before = span.column - 1, text[: max(at - 1, 0)]
    if source[begin : begin + 1] == "|":
        return _find_in_block(source.split("\n"), text, before)
    if source[begin : begin + 1] == ">":
        return _find_in_folded(source.split("\n"), text, len(before))
    if source[begin : begin + 1] == '"':
        return _find_in_double(source, begin + 1, before)
    if source[begin : begin + 1] == "'":
        begin, text, before = begin + 1, text.replace("'", "''"), before.replace("'", "''")
    return begin + len(before) if "\n" not in text and source.startswith(text, begin) else None


def _find_in_double(source: str, at: int, before: str) -> int | None:
    """Find an offset, as `_find_inside` does, in double quotes on one line: character by character, each as written.

    `at` is the offset after the opening quote.
    """
    for character in before:
        found = _WRITTEN.match(source, at)
        if found is None:
            return None
        code, name, plain = found.groups()
        if (chr(int(code[1:], 16)) if code else plain or _ESCAPES.get(name)) != character:
            return None
        at = found.end()
    return at


def _find_in_block(lines: list[str], text: str, before: str) -> int | None:
    """Find an offset, as `_find_inside` does, in a block after `|`: line by line, each after its indentation."""
    number = before.count("\n")
    wanted = text.split("\n")[number]
    written = lines[number + 1] if number + 1 < len(lines) else ""
    if not wanted or not written.endswith(wanted) or written[: len(written) - len(wanted)].strip():
        return None
    column = len(written) - len(wanted) + len(before) - before.rfind("\n") - 1
    return sum(len(line) + 1 for line in lines[: number + 1]) + column


def _find_in_folded(lines: list[str], text: str, offset: int) -> int | None:
    """Find an offset, as `_find_inside` does, in a block after `>`, where a line end between two lines becomes one space.

    Blank and deeper lines fold differently, so nothing after one is certain.
    """
    indent = len(lines[1]) - len(lines[1].lstrip(" ")) if len(lines) > 1 else 0
    at = 0
    for number in range(1, len(lines)):
        written = lines[number][indent:]
        if not written or written[0] in " \t" or lines[number][:indent].strip(" ") or not text.startswith(written, at):
            return None
        if offset <= at + len(written):
            return sum(len(line) + 1 for line in lines[:number]) + indent + offset - at
        at += len(written) + 1
        if text[at - 1 : at] != " ":
            return None
    return None


@frozen(eq=False)
class TraceContext:
    """What a trace knows of the values it meets.

    `find` returns the pointer of a mapping or list of the state. `named` lists the origins of each name's value. `parts` lists, by the `id`
    of a mapping that is not the state's, the origins of the mapping's parts.
    """

    find: Callable[[object], str | None]
    named: Mapping[str, Pointers]
    parts: Mapping[int, Mapping[str, Pointers]]


@frozen(eq=False)
class OutputSpan:
    """A run of printed characters.

    `file` is the text of the template it comes from, `name` that template's name (empty: the template itself), and `at` the offset there.
    `code` is the expression that printed it, as written, empty for constant text. `pointers` are the parts of the state read for it.
    `calls`: the calls of the macros, blocks or files around it, from the outermost in, each as a name, a text and an offset in the text.
    """

    text: str
    place: Place
    name: str
    file: str
    at: int
    code: str = ""
    pointers: Pointers = ()
    calls: tuple[tuple[str, str, int], ...] = ()

    @property
    def span(self) -> Span:
        """The place of the code or constant text that printed the characters.

        If a manifest spells its inline template differently, the place is the template's beginning.
        """
        return self.place.make_span(self.name, self.file, self.at + 1)

    @property
    def callers(self) -> tuple[Span, ...]:
        """The places of the calls around it, from the outermost in."""
        return tuple(self.place.make_span(name, file, at + 1) for name, file, at in self.calls)

    def part(self, start: int, stop: int) -> OutputSpan:
        """Return the characters from `start` to `stop`.

        In constant text, the part's own offset is known, unless the file spells the text differently.
        """
        text = self.text[start:stop]
        moves = not self.code and self.file.startswith(text, self.at + start)
        return replace(self, text=text, at=self.at + start if moves else self.at)
