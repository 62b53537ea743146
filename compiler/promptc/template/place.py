"""Where a template or an expression stands, for the findings about it."""

from __future__ import annotations

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen

_EXCERPT = 400


@frozen
class Place:
    """`inline`: it stands in a manifest, at `span` of the text `source`; else it is the file `span.file`.

    `folder` is put before the name of an included file when that is shown: `packs/sentinel/` where `span.file` begins so.
    """

    span: Span
    inline: bool
    folder: str = ""
    source: str = field(default="", repr=False, compare=False)

    def find_span(self, name: str, text: str, at: int) -> Span:
        """The place `at` (characters before it, plus 1) of template `name` (empty: the template itself) whose text is `text`.

        In a manifest, `span` itself where its text is not written as it reads: with escapes, over lines without `|` or `>`, or folded where
        blank or deeper lines stand before the place.
        """
        if self.inline and not name:
            found = _find_inside(self.source, self.span, text, at)
            return self.span if found is None else _find_span(self.span.file, self.source, found)
        return _find_span(self.folder + name if name else self.span.file, text, at - 1)


def _find_span(file: str, text: str, offset: int) -> Span:
    offset = min(max(offset, 0), len(text))
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", begin)
    line = text[begin : end if end >= 0 else len(text)]
    skipped = max(offset - begin - _EXCERPT // 2, 0) if len(line) > _EXCERPT else 0
    return Span(file, text.count("\n", 0, offset) + 1, offset - begin + 1, line[skipped : skipped + _EXCERPT], skipped)


def _find_inside(source: str, span: Span, text: str, at: int) -> int | None:
    """Where in `source` the character is that stands at `at` in the scalar at `span`; None where that is not certain."""
    lines = source.split("\n")
    if not 0 < span.line <= len(lines):
        return None
    begin = sum(len(line) + 1 for line in lines[: span.line - 1]) + span.column - 1
    before = text[: max(at - 1, 0)]
    if source[begin : begin + 1] == "|":
        return _find_in_block(lines, span.line, text, before)
    if source[begin : begin + 1] == ">":
        return _find_in_folded(lines, span.line, text, len(before))
    begin += source[begin : begin + 1] in ("'", '"')
    return begin + len(before) if "\n" not in text and source.startswith(text, begin) else None


def _find_in_block(lines: list[str], first: int, text: str, before: str) -> int | None:
    """The same for a block after `|`: line by line, each behind its indentation."""
    number = before.count("\n")
    wanted = text.split("\n")[number]
    written = lines[first + number] if first + number < len(lines) else ""
    if not wanted or not written.endswith(wanted) or written[: len(written) - len(wanted)].strip():
        return None
    column = len(written) - len(wanted) + len(before) - before.rfind("\n") - 1
    return sum(len(line) + 1 for line in lines[: first + number]) + column


def _find_in_folded(lines: list[str], first: int, text: str, offset: int) -> int | None:
    """The same after `>`, where a line end between two lines is one space. Blank lines and deeper ones fold otherwise: behind one nothing
    is certain."""
    indent = len(lines[first]) - len(lines[first].lstrip(" ")) if first < len(lines) else 0
    at = 0
    for number in range(first, len(lines)):
        written = lines[number][indent:]
        if not written or written[0] in " \t" or lines[number][:indent].strip(" ") or not text.startswith(written, at):
            return None
        if offset <= at + len(written):
            return sum(len(line) + 1 for line in lines[:number]) + indent + offset - at
        at += len(written) + 1
        if text[at - 1 : at] != " ":
            return None
    return None
