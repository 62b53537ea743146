"""Numbers and names as views show them."""

from collections.abc import Sequence

from promptc.cli.escape import escape_controls

_FEW = 6
GUARDED = {"replace_hidden": "was replaced by U+FFFD", "escape": "was escaped", "keep": "was kept", "reject": "was rejected"}
"""What was done with a finding of the guard, by its policy."""


def show_count(number: int) -> str:
    """With commas between thousands."""
    return f"{number:,}"


def show_percent(part: int, whole: int) -> str:
    """The floor of the share in per cent; a dash for none of nothing."""
    return f"{100 * part // whole} %" if whole else "-"


def show_plural(number: int, noun: str, plural: str = "") -> str:
    """`1 item`, `2 items`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"


def show_ids(ids: Sequence[str]) -> str:
    """All of a few ids; of many the first three and the last one."""
    shown = [f"`{escape_controls(name)}`" for name in ids]
    return " · ".join(shown) if len(shown) <= _FEW else f"{' · '.join(shown[:3])} … {shown[-1]}"


def show_left_out(count: int, stage: str) -> str:
    """How many a stage left out: items, or parts of messages."""
    return f"{show_plural(count, 'part')} of messages" if stage == "parts" else show_count(count)
