"""What differs in the goldens of a verdict, prompts section by section."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from promptc.compare.compare_sides import Difference as Compared
from promptc.compare.compare_sides import compare_sides
from promptc.compare.read_side import read_side
from promptc.compare.side import Side
from promptc.diag.typed import Any
from promptc.golden.case import name_golden
from promptc.golden.verdict import Difference, Verdict

_PROMPTS = ("text", "messages")


def compare_verdict(verdict: Verdict) -> Iterator[tuple[Difference, Compared]]:
    """Every golden that is there and differs, with what differs in it. A prompt is compared by its sections where its report is a golden,
    too; anything else as a whole. A report beside a prompt that differs is left out but for what the prompt does not show.
    """
    shown = {one.turn for one in verdict.differences if one.kind in _PROMPTS and one.old is not None}
    for one in verdict.differences:
        if one.old is not None and not (one.kind == "report" and one.turn in shown):
            yield one, compare_sides(_read(verdict, one, one.old, is_new=False), _read(verdict, one, one.new, is_new=True))


def _read(verdict: Verdict, one: Difference, content: bytes, *, is_new: bool) -> Side:
    text = content.decode("utf-8", "replace")
    if one.kind not in _PROMPTS:
        return read_side(text, None)
    report = _find_report(verdict, one.turn, is_new=is_new)
    messages = _parse(content) if one.kind == "messages" else None
    return read_side(messages if isinstance(messages, list) and all(isinstance(each, dict) for each in messages) else text, report)


def _find_report(verdict: Verdict, turn: int, *, is_new: bool) -> Mapping[str, Any] | None:
    """The report of that side: of the verdict where it differs, else the golden, which is that of both."""
    for one in verdict.differences:
        if one.kind == "report" and one.turn == turn:
            found = _parse((one.new if is_new else one.old) or b"")
            return found if isinstance(found, dict) else None
    path = Path(verdict.folder, name_golden("report", turn))
    try:
        found = _parse(path.read_bytes()) if not path.is_symlink() else None
    except OSError:
        return None
    return found if isinstance(found, dict) else None


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
