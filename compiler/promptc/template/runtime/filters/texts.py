"""Filters of text. Each takes any value that can be printed, and works on what it prints as, where nothing else is said."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.methods_of_text import change_case, pad_text, replace_text, split_lines, strip_text
from promptc.template.runtime.payments import check_defined
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import show


def upper(run: Run, value: Any) -> str:
    """In capital letters."""
    return change_case(run, show(run, value), str.upper)


def lower(run: Run, value: Any) -> str:
    """In small letters."""
    return change_case(run, show(run, value), str.lower)


def capitalize(run: Run, value: Any) -> str:
    """The first character as a capital, the others small."""
    return change_case(run, show(run, value), str.capitalize)


@cache
def _find_words() -> Callable[[str], list[str]]:
    import re

    return re.compile(r"([-\s({\[<]+)").split


def title(run: Run, value: Any) -> str:
    """Each word with a capital, the other letters small. Words begin after white space, `-` and opening brackets."""
    text = show(run, value)
    run.take(1 + 6 * len(text))
    words = _find_words()(text)
    made = "".join([word[0].upper() + word[1:].lower() for word in words if word])
    run.make(len(made))
    return made


def trim(run: Run, value: Any, chars: str | None = None) -> str:
    """Without white space, or any of `chars`, at both ends."""
    return strip_text(run, show(run, value), chars, str.strip)


def show_value(run: Run, value: Any) -> str:
    """What the value prints as."""
    return show(run, value)


def center(run: Run, value: Any, width: int = 80) -> str:
    """In the middle of `width` characters."""
    return pad_text(run, show(run, value), width, str.center)


def replace(run: Run, value: Any, old: Any, new: Any, count: int | None = None) -> str:
    """With `new` for `old`, everywhere or the first `count` times."""
    return replace_text(run, show(run, value), show(run, old), show(run, new), -1 if count is None else count)


def count_words(run: Run, value: Any) -> int:
    """How many runs of letters, digits and `_` there are."""
    import re

    text = show(run, value)
    run.take(1 + 2 * len(text))
    return sum(1 for _ in re.finditer(r"\w+", text))


def truncate(run: Run, value: Any, length: int = 255, killwords: bool = False, end: str = "...", leeway: int | None = None) -> Any:
    """At most `length` characters, `end` among them, cut after a word (anywhere with `killwords`); `leeway` more are left as they are."""
    leeway = 5 if leeway is None else leeway
    if len(value) <= length + leeway:
        return value
    if value.__class__ is not str:
        refuse("PC0414", f"`truncate` takes a text, not {name_kind(value)}", _MAKE_TEXT)
    run.make(length)
    kept = value[: length - len(end)]
    return (kept if killwords else kept.rsplit(" ", 1)[0]) + end


def indent(run: Run, value: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    """The lines with `width` spaces, or the text `width`, before each: the first only with `first`, empty ones only with `blank`."""
    if value.__class__ is not str:
        check_defined(value)
        refuse("PC0414", f"`indent` takes a text, not {name_kind(value)}", _MAKE_TEXT)
    before = width if isinstance(width, str) else " " * width
    lines = split_lines(run, value + "\n")
    run.make(len(value) + (len(lines) + 1) * len(before))
    every = bool(blank)
    rest = [before + line if every or line else line for line in lines[1:]]
    return (before if first else "") + "\n".join([lines[0], *rest])


def format_values(run: Run, value: Any, /, *args: Any, **kwargs: Any) -> str:
    """`%s` and its kin, filled in."""
    from promptc.template.runtime.format_text import format_percent

    return format_percent(run, show(run, value), kwargs or args)


_MAKE_TEXT = "make it a text first: `| string`, `| join`"

FILTERS: dict[str, Callable[..., Any]] = {
    "upper": upper,
    "lower": lower,
    "capitalize": capitalize,
    "title": title,
    "trim": trim,
    "string": show_value,
    "center": center,
    "replace": replace,
    "wordcount": count_words,
    "truncate": truncate,
    "indent": indent,
    "format": format_values,
}
