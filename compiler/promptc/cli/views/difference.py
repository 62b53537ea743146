"""What differs between two prompts: facts, sections, items, then the words themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from promptc.cli.terminal import PLAIN, Paint, escape_controls
from promptc.cli.views.drawing import Cell, Row, render_table, show_count, show_percent, show_plural, wrap
from promptc.compare import WHOLE, Difference, ItemChange, SectionChange
from promptc.diag.typed import Any, Literal
from promptc.operations.results import StateDiff
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
"""Characters of an unchanged stretch that stay on each side of a change, where the line is long."""

_SIGNS = {"gained": "+", "lost": "-", "changed": "~", "moved": "↕"}
_LONGEST_CHANGE = 24
_WIDEST = 56


def render_difference(found: Difference, width: int, paint: Paint = PLAIN, style: DifferenceStyle = "words") -> str:
    """All of it. `style`: words marked in place (of long stretches the ends), whole lines, or the text of one side alone."""
    blocks = (render_facts(found, width, paint), render_sections(found, width, paint, style))
    return "\n".join(block for block in blocks if block) or "no difference\n"


def render_sections(found: Difference, width: int, paint: Paint = PLAIN, style: DifferenceStyle = "words") -> str:
    """The sections that differ, each with its items and its words."""
    return "\n".join(_render_section(one, width, paint, style) for one in found.sections)


def render_facts(found: Difference, width: int, paint: Paint = PLAIN) -> str:
    """One line for each fact that differs, and how much both begin with."""
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
    """A line for each section that differs: its tokens on both sides, and how many items came and went; then the facts."""
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
    """The items that came and went, the first of many by name."""
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
    """Each line of both texts at once, with what went and came marked in it."""
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
    """A long stretch without its middle."""
    most = 4 * _SHORT if run.kind == "same" else _LONGEST
    if len(text) <= most:
        return text
    return f"{text[: most // 4]} ⋯ {show_count(len(text) - most // 2)} characters ⋯ {text[-(most // 4) :]}"


def _mark(text: str, run: TextRun, paint: Paint, *, is_bare: bool) -> str:
    """`is_bare`: the end of the line went or came as well, which alone would not be seen."""
    shown = escape_controls(text)
    if run.kind == "same":
        return shown
    opened, closed = _MARKS[run.kind]
    if not shown and not is_bare:
        return ""
    return paint.apply(f"{opened}{shown or '¶'}{closed}", "red" if run.kind == "gone" else "green")


def _sign_lines(runs: Sequence[TextRun], paint: Paint) -> list[tuple[str, bool]]:
    """Whole lines: what went, then what came in its place."""
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
    """A line for every place that changes: its JSON pointer, and how. Mappings are looked into, lists are counted."""
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
    """As JSON: `true` is not `1`."""
    return render_canonical_json(before) == render_canonical_json(after)


def _describe(before: Any, after: Any) -> str:
    if isinstance(before, list) and isinstance(after, list):
        return f"{len(before):,} → {show_plural(len(after), 'element')}"
    return f"{_show(before)} → {_show(after)}"


def _show(value: Any) -> str:
    """Short values as JSON, of longer ones what they are."""
    if isinstance(value, list):
        return show_plural(len(value), "element")
    if isinstance(value, dict):
        return show_plural(len(value), "key")
    shown = escape_controls(render_canonical_json(value))
    return (
        shown
        if len(shown) <= _LONGEST_CHANGE
        else f"a text of {show_plural(len(value), 'character')}"
        if isinstance(value, str)
        else "a number"
    )
