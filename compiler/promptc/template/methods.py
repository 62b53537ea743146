"""Methods of text whose result may be larger than what they are given."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from promptc.template.fault import refuse
from promptc.template.limits import MAX_WIDTH
from promptc.template.payments import check_key, pay_search
from promptc.template.run import Run


def check_width(width: Any) -> None:
    """Padding is at most `MAX_WIDTH` characters."""
    if isinstance(width, int) and width > MAX_WIDTH:
        refuse("PC0430", f"{width} is wider than {MAX_WIDTH} characters", "use a smaller width")


def replace_text(run: Run, text: str, old: str, new: str, count: int = -1) -> str:
    """`str.replace`, paid before it is made."""
    found = text.count(old) if isinstance(old, str) else 0
    run.make(len(text) + (found if count < 0 else min(found, count)) * len(new))
    return text.replace(old, new, count)


def pay_method(run: Run, method: Any, args: Sequence[Any]) -> None:
    """Pay for a method of Python's own: what it reads, and for each pair of characters where it may compare them all."""
    value = method.__self__
    if isinstance(value, str):
        sought = max((len(arg) for arg in args if isinstance(arg, str)), default=0)
        run.take(1 + (len(value) >> (0 if method.__name__ in _SLOW else 4)) + (len(value) * sought >> 10))
    elif isinstance(value, Mapping):
        run.take(1 + len(value) if method.__name__ != "get" else 1)
        check_key(args[0] if args else None)
    else:
        for arg in args:
            pay_search(run, arg, value)


_SLOW = frozenset("split rsplit splitlines partition rpartition".split())


def _pad(name: str) -> Callable[..., str]:
    def pad(run: Run, text: str, width: int, *fill: str) -> str:
        check_width(width)
        padded: str = getattr(text, name)(width, *fill)
        return padded

    return pad


def _expandtabs(run: Run, text: str, tabsize: int = 8) -> str:
    check_width(tabsize)
    run.make(len(text) + text.count("\t") * max(tabsize, 0))
    return text.expandtabs(tabsize)


def _join(run: Run, text: str, parts: Iterable[str]) -> str:
    made = list(parts)
    run.make(sum(map(len, made)) + len(text) * len(made))
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
