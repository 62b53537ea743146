"""What changed in a text file, as pieces that can each be put back alone."""

import re
from collections.abc import Iterator, Sequence

from promptc.diag.frozen import frozen
from promptc.text.diff_words import diff_words

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LONGEST = 40
_NOTHING = "nothing"


@frozen
class Change:
    """Lines of a file that read otherwise than before. `path` is from the root; line and column are where the first difference stands now
    (from 1), and lines `start` to `stop` of the present file (from 0, half-open) stood as `before`.
    """

    path: str
    line: int
    column: int
    start: int
    stop: int
    before: str
    what: str


def list_changes(path: str, old: str, new: str) -> tuple[Change, ...]:
    """The changes from `old` to `new`, in order, each of neighbouring lines."""
    return tuple(_iter_changes(path, old, new))


def put_back(new: str, changes: Sequence[Change]) -> str:
    """The present text with these changes undone; with all of them it is what it was."""
    lines = _LINE.findall(new)
    for one in sorted(changes, key=lambda change: change.start, reverse=True):
        lines[one.start : one.stop] = [one.before]
    return "".join(lines)


def _iter_changes(path: str, old: str, new: str) -> Iterator[Change]:
    for start, before, after in _iter_hunks(old, new):
        line, column = _find_place(before, after)
        yield Change(path, start + line + 1, column + 1, start, start + len(_LINE.findall(after)), before, _describe(before, after))


def _iter_hunks(old: str, new: str) -> Iterator[tuple[int, str, str]]:
    """Whole lines that differ: at which line of the new text, what stood there, what does now."""
    line, before, after = 0, "", ""
    for run in diff_words(old, new):
        for piece in _LINE.findall(run.text):
            before += piece if run.kind != "come" else ""
            after += piece if run.kind != "gone" else ""
            is_even = run.kind == "same" and piece.endswith("\n")
            if not is_even:
                continue
            if before == after:
                line, before, after = line + 1, "", ""
            else:
                yield line, before, after
                line, before, after = line + len(_LINE.findall(after)), "", ""
    if before != after:
        yield line, before, after


def _find_place(before: str, after: str) -> tuple[int, int]:
    """Line and column, from 0, of the first character of `after` that differs."""
    at = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), min(len(before), len(after)))
    at = min(at, max(len(after) - 1, 0))
    return after.count("\n", 0, at), at - (after.rfind("\n", 0, at) + 1)


def _describe(before: str, after: str) -> str:
    """What it said and says, as far as one line has room."""
    old, new = (" ".join(text.split()) for text in (before, after))
    if old == new:
        return f"white space alone: {_clip(new)}" if new else "white space alone"
    start = _count_alike(old, new)
    start = max(0, start - _LONGEST // 2, old.rfind(" ", 0, start) + 1) if start < max(len(old), len(new)) else 0
    return f"{_clip(old[start:]) or _NOTHING} → {_clip(new[start:]) or _NOTHING}"


def _count_alike(old: str, new: str) -> int:
    return next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))


def _clip(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
