"""Jinja's filters whose result or work may be larger than what they are given: the same results, paid for before they are made."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import filters
from markupsafe import escape

from promptc.template.context import NameContext
from promptc.template.fault import name_kind, refuse
from promptc.template.format_text import format_percent
from promptc.template.limits import MAX_RANGE
from promptc.template.methods import check_width, replace_text
from promptc.template.operators import OPERATORS, bound_number
from promptc.template.own_filters import plain
from promptc.template.run import Run
from promptc.template.show import show


def batch(context: NameContext, value: Iterable[Any], linecount: int, fill_with: Any = None) -> Iterator[list[Any]]:
    """Lists of `linecount`, the last one filled."""
    _check_count(linecount)
    context.run.take(linecount)
    return filters.do_batch(iter(value), linecount, fill_with)


def slice_list(context: NameContext, value: Iterable[Any], slices: int, fill_with: Any = None) -> Iterator[list[Any]]:
    """The list in so many parts."""
    _check_count(slices)
    context.run.take(slices)
    return filters.sync_do_slice(value, slices, fill_with)  # type: ignore[arg-type]


def _check_count(count: int) -> None:
    if isinstance(count, int) and count > MAX_RANGE:
        refuse("PC0430", f"{count} is more than {MAX_RANGE}", "use a smaller number")


def center(context: NameContext, value: object, width: int = 80) -> str:
    """The text in the middle of `width`."""
    check_width(width)
    return show(context.run, value).center(width)


def indent(context: NameContext, value: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    """The lines of a text, indented."""
    if value.__class__ is not str:
        refuse("PC0414", f"`indent` needs a text and not {name_kind(value)}", "make it a text first: `| string`, `| join`")
    check_width(width)
    wide = len(width) if isinstance(width, str) else width
    context.run.make(len(value) + (value.count("\n") + 1) * wide)
    return str(filters.do_indent(value, width, first, blank))


def replace(context: NameContext, value: object, old: object, new: object, count: int | None = None) -> str:
    """The text with `new` for `old`."""
    return replace_text(
        context.run, show(context.run, value), show(context.run, old), show(context.run, new), -1 if count is None else count
    )


def join(context: NameContext, value: Iterable[Any], d: object = "", attribute: str | int | None = None) -> str:
    """The texts, joined."""
    values = value if attribute is None else map(filters.make_attrgetter(context.environment, attribute), value)
    between = show(context.run, d)
    parts = [show(context.run, part) for part in values]
    context.run.make(sum(map(len, parts)) + len(between) * len(parts))
    return between.join(parts)


def sum_values(context: NameContext, iterable: Iterable[Any], attribute: str | int | None = None, start: Any = 0) -> Any:
    """The sum of the values."""
    values = iterable if attribute is None else map(filters.make_attrgetter(context.environment, attribute), iterable)
    parts = list(values)
    context.run.take(len(parts))
    if all(part.__class__ in _NUMBERS for part in (start, *parts)):
        return bound_number(sum(parts, start))
    add = OPERATORS["+"]
    total = start
    for part in parts:
        total = add(context.run, total, part)
    return total


def tojson(context: NameContext, value: object, indent: int | None = None) -> str:
    """JSON as Jinja writes it: sorted, with `<`, `>`, `&` and `'` escaped."""
    check_width(indent)
    found = plain(context.run, value)
    context.run.make(_count_parts(found) * ((indent or 0) * 40 + 1))
    return str(filters.do_tojson(context.eval_ctx, found, indent))


def _count_parts(value: Any) -> int:
    parts = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else ()
    return 1 + sum(map(_count_parts, parts))


def wordwrap(
    context: NameContext,
    value: str,
    width: int = 79,
    break_long_words: bool = True,
    wrapstring: str | None = None,
    break_on_hyphens: bool = True,
) -> str:
    """The text in lines of `width`. Its search costs about a hundred steps for each character."""
    context.run.take(len(value) * 100)
    context.run.make(len(value) * (1 + len(wrapstring or "")))
    return filters.do_wordwrap(context.environment, value, width, break_long_words, wrapstring, break_on_hyphens)


def round_number(context: NameContext, value: Any, precision: int = 0, method: Any = "common") -> Any:
    """The number, rounded: half goes to the even neighbour."""
    if isinstance(precision, int) and abs(precision) > 100:
        refuse("PC0430", f"a precision of {precision}", "use at most 100")
    return filters.do_round(value, precision, method)


def int_number(context: NameContext, value: Any, default: int = 0, base: int = 10) -> int:
    """The whole number a value stands for, or the default."""
    found: int = bound_number(filters.do_int(value, default, base))
    return found


def float_number(context: NameContext, value: Any, default: float = 0.0) -> float:
    """The number a value stands for, or the default."""
    found: float = bound_number(filters.do_float(value, default))
    return found


def urlencode(context: NameContext, value: Any) -> str:
    """The text, or the pairs of a mapping, as a URL writes them."""
    context.run.make(len(show(context.run, value)) * 8)
    return filters.do_urlencode(value)


def format_values(context: NameContext, value: object, *args: Any, **kwargs: Any) -> str:
    """`%s` and its kin, filled in."""
    if args and kwargs:
        refuse("PC0424", "`format` takes values by place or by name, not both")
    return format_percent(context.run, show(context.run, value), kwargs or args)


def escape_text(context: NameContext, value: object) -> str:
    """`&`, `<`, `>`, `'` and `"` as HTML writes them: a plain text, escaped again if it is escaped again."""
    text = show(context.run, value)
    context.run.make(len(text) * 5)
    return str(escape(text))


def iter_pairs(context: NameContext, value: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of a mapping."""
    if not hasattr(value, "items"):
        refuse("PC0414", f"`items` needs a mapping and not {name_kind(value)}")
    return iter(value.items())


def each(context: NameContext, value: Any, weight: int) -> Any:
    """What a `for` goes over: a list pays for all its turns at once, what is made on the way pays as it goes."""
    if hasattr(value, "__len__"):
        context.run.take(len(value) * weight)
        return value
    return _pay_as_you_go(context.run, value, weight)


def _pay_as_you_go(run: Run, values: Iterable[Any], weight: int) -> Iterator[Any]:
    for value in values:
        run.take(weight)
        yield value


def charge(context: NameContext, value: None, weight: int) -> None:
    """What a macro pays when it is called."""
    context.run.take(weight)


_NUMBERS = frozenset({int, float, bool})

BOUNDED_FILTERS: dict[str, Callable[..., Any]] = {
    "batch": batch,
    "slice": slice_list,
    "center": center,
    "indent": indent,
    "replace": replace,
    "join": join,
    "sum": sum_values,
    "tojson": tojson,
    "wordwrap": wordwrap,
    "round": round_number,
    "int": int_number,
    "float": float_number,
    "urlencode": urlencode,
    "format": format_values,
    "escape": escape_text,
    "e": escape_text,
    "items": iter_pairs,
    "@each": each,
    "@charge": charge,
}
