"""A Markdown text as sections: what stands under each heading, with the path of headings above it."""

from __future__ import annotations

import re

from promptc.diag.frozen import frozen
from promptc.text.white import is_blank

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS = re.compile(r"[*_`]+")


@frozen
class HeadingPart:
    """A heading's own text, up to the next heading of any level. `path` are the headings it stands under, itself last; `line` is the
    heading as it was written, empty before the first one.
    """

    path: tuple[str, ...]
    line: str
    text: str


def find_sections(text: str, title: str) -> tuple[HeadingPart, ...]:
    """The parts of `text` (line ends as `\\n`) in order, `title` standing above what has no heading. ATX headings only: lines that begin
    with `#`, outside of fenced code. Parts of white space are kept where they have a heading.
    """
    parts: list[HeadingPart] = []
    open_headings: list[tuple[int, str]] = []
    line, lines, fence = "", list[str](), ""

    def close() -> None:
        body = "\n".join(lines).strip("\n").rstrip()
        if line or not is_blank(body):
            parts.append(HeadingPart(tuple(name for _, name in open_headings) or (title,), line, body))

    for one in text.split("\n"):
        fence = _follow_fence(one, fence)
        found = None if fence else _HEADING.fullmatch(one)
        if found is None:
            lines.append(one.rstrip())
            continue
        close()
        level, name = len(found[1]), _plain_title(found[2] or "")
        open_headings = [(above, kept) for above, kept in open_headings if above < level] + [(level, name or title)]
        line, lines = one.strip(), []
    close()
    return tuple(parts)


def _follow_fence(line: str, fence: str) -> str:
    """The mark of the fence that is open after `line`, empty where none is."""
    found = _FENCE.match(line)
    if fence:
        closes = found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0])
        return "" if closes else fence
    return found[1] if found is not None else ""


def _plain_title(title: str) -> str:
    """A heading without the marks of emphasis and code."""
    return " ".join(_MARKS.sub("", title).split())
