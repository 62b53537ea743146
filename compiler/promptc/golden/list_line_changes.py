"""What changed in a text file, line by line."""

import re
from collections.abc import Iterator, Sequence

from promptc.golden.change import FileChange, LineUndo
from promptc.golden.name_key import name_key
from promptc.golden.say_change import say_change
from promptc.text.diff import diff_words

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def list_line_changes(path: str, old: str, new: str) -> tuple[FileChange, ...]:
    """The changes from `old` to `new`, in order, each of neighbouring lines."""
    return tuple(_describe(path, old, new, *hunk) for hunk in _iter_hunks(old, new))


def put_lines_back(new: str, changes: Sequence[FileChange]) -> str:
    """The present text with these changes undone; with all of them it is what it was."""
    lines = _LINE.findall(new)
    for undo in sorted((one.undo for one in changes), key=lambda undo: undo.start, reverse=True):
        lines[undo.start : undo.stop] = [undo.before]
    return "".join(lines)


def _describe(path: str, old: str, new: str, gone_from: int, start: int, before: str, after: str) -> FileChange:
    """With the keys that lead to it; where lines are gone, those that led to them."""
    line, column = _find_place(before, after)
    if before and after:
        named = name_key(path, new, start + line, column)
    else:
        text, at, lines = (new, start, after) if after else (old, gone_from, before)
        named = name_key(path, text, at, _indent(lines), is_whole=True)
    said = say_change(before, after)
    undo = LineUndo(start, start + len(_LINE.findall(after)), before)
    return FileChange(path, start + line + 1, column + 1, f"{named}: {said}" if named else said, undo)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" -"))


def _iter_hunks(old: str, new: str) -> Iterator[tuple[int, int, str, str]]:
    """Whole lines that differ: at which line of the old text and of the new one, from 0, what stood there, what does now."""
    for old_line, line, before, after in _iter_rough(old, new):
        gone, come = _LINE.findall(before), _LINE.findall(after)
        head = _count_alike(gone, come)
        tail = _count_alike(gone[head:][::-1], come[head:][::-1])
        yield old_line + head, line + head, "".join(gone[head : len(gone) - tail]), "".join(come[head : len(come) - tail])


def _count_alike(some: Sequence[str], others: Sequence[str]) -> int:
    """How many of the first are the same."""
    return next((at for at, (one, other) in enumerate(zip(some, others, strict=False)) if one != other), min(len(some), len(others)))


def _iter_rough(old: str, new: str) -> Iterator[tuple[int, int, str, str]]:
    """Lines in which words differ. A run of words may end in a line that is the same."""
    old_line, line, before, after = 0, 0, "", ""
    for run in diff_words(old, new):
        for piece in _LINE.findall(run.text):
            before += piece if run.kind != "come" else ""
            after += piece if run.kind != "gone" else ""
            is_even = run.kind == "same" and piece.endswith("\n")
            if not is_even:
                continue
            if before != after:
                yield old_line, line, before, after
            old_line, line = old_line + len(_LINE.findall(before)), line + len(_LINE.findall(after))
            before = after = ""
    if before != after:
        yield old_line, line, before, after


def _find_place(before: str, after: str) -> tuple[int, int]:
    """Line and column, from 0, of the first character of `after` that differs."""
    at = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), min(len(before), len(after)))
    at = min(at, max(len(after) - 1, 0))
    return after.count("\n", 0, at), at - (after.rfind("\n", 0, at) + 1)
