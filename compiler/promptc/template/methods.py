"""Methods of text whose result may be larger than what they are given."""

from collections.abc import Callable, Iterable
from typing import Any

from promptc.template.context import Run
from promptc.template.fault import refuse
from promptc.template.limits import MAX_WIDTH


def check_width(width: Any) -> None:
    """Padding is at most `MAX_WIDTH` characters."""
    if isinstance(width, int) and width > MAX_WIDTH:
        refuse("PC0430", f"{width} is wider than {MAX_WIDTH} characters", "use a smaller width")


def replace_text(run: Run, text: str, old: str, new: str, count: int = -1) -> str:
    """`str.replace`, paid before it is made."""
    found = text.count(old) if isinstance(old, str) else 0
    run.made(len(text) + (found if count < 0 else min(found, count)) * len(new))
    return text.replace(old, new, count)


def _pad(name: str) -> Callable[..., str]:
    def pad(run: Run, text: str, width: int, *fill: str) -> str:
        check_width(width)
        padded: str = getattr(text, name)(width, *fill)
        return padded

    return pad


def _expandtabs(run: Run, text: str, tabsize: int = 8) -> str:
    check_width(tabsize)
    run.made(len(text) + text.count("\t") * max(tabsize, 0))
    return text.expandtabs(tabsize)


def _join(run: Run, text: str, parts: Iterable[str]) -> str:
    made = list(parts)
    run.made(sum(map(len, made)) + len(text) * len(made))
    return text.join(made)


def _strip(name: str) -> Callable[..., str]:
    def strip(run: Run, text: str, chars: str | None = None) -> str:
        run.take(len(text) * len(chars or "") >> 4)
        stripped: str = getattr(text, name)(chars)
        return stripped

    return strip


BOUNDED_METHODS: dict[str, Callable[..., Any]] = {
    "replace": replace_text,
    "center": _pad("center"),
    "ljust": _pad("ljust"),
    "rjust": _pad("rjust"),
    "zfill": _pad("zfill"),
    "expandtabs": _expandtabs,
    "join": _join,
    "strip": _strip("strip"),
    "lstrip": _strip("lstrip"),
    "rstrip": _strip("rstrip"),
}
