"""What bounds a section, in the order of the stages, then its budget."""

from collections.abc import Iterator

from promptc.blockmap.phrase import Phrase, join_phrases, say
from promptc.model.section import MICRO, Budget, Items, Matches, Ratio, Retrieve, Section, Size, Window


def describe_caps(section: Section) -> tuple[Phrase, ...]:
    """One phrase each; none where nothing bounds it but the total."""
    items = _iter_items(section.items) if section.items is not None else ()
    budget = _iter_budget(section.budget) if section.budget is not None else ()
    return (*items, *budget, *([say("pinned")] if section.pinned else []))


def _iter_items(items: Items) -> Iterator[Phrase]:
    if isinstance(items.source, Retrieve):
        yield from _iter_retrieve(items.source)
    if items.window is not None:
        yield _describe_window(items.window)
    if items.anchors is not None:
        yield _describe_matches("anchors", items.anchors)
    yield from (_describe_matches("keeps", one) for one in items.keep)
    if items.limit_per is not None:
        shown = ", ".join(f"{name} {cap}" for name, cap in items.limit_per.caps)
        yield say(f"for each {{}}: {shown}", items.limit_per.by.text)
    if items.limit is not None:
        yield say(f"limit {items.limit.count}" if items.limit.side == "first" else f"limit {items.limit.count} (the last)")
    if items.trim_each is not None:
        yield say(f"each item {show_size(items.trim_each.to)}, at {items.trim_each.at}")


def _iter_retrieve(source: Retrieve) -> Iterator[Phrase]:
    yield say(f"top {source.top} of {source.candidates} candidates out of {source.window}")
    yield say(f"floor {_show_ratio(Ratio(source.floor, MICRO))}")
    if source.sparse_below:
        yield say(f"sparse below {source.sparse_below}")


def _describe_window(window: Window) -> Phrase:
    bounds = [f"at least {window.min}"] if window.min else []
    bounds += [f"at most {window.max}"] if window.max is not None else []
    bounds += [f"in steps of {window.step}"] if window.step > 1 else []
    noun = "groups" if window.whole == "group" else "items"
    more = f", {', '.join(bounds)}" if bounds else ""
    if isinstance(window.last, int):
        return say(f"window: the last {window.last} {noun}{more}")
    return say(f"window: the last {{}} {noun}{more}", window.last.text)


def _describe_matches(what: str, matches: Matches) -> Phrase:
    within = f" of the {matches.within} before the window" if what == "anchors" else f" of the last {matches.within}"
    last = matches.last.text.strip() if matches.last is not None else "all"
    count = say(last) if last == "all" or last.isdecimal() else say("{}", last)
    return (*say(f"{what} "), *count, *say(f"{within} where {{}}", matches.where.text))


def _iter_budget(budget: Budget) -> Iterator[Phrase]:
    parts = [say(show_size(budget.cap))] if budget.cap is not None else []
    parts += [say(f"at least {show_size(budget.min)}")] if budget.min is not None and budget.min.amount else []
    parts += [say(f"a share of what is left, weight {_show_ratio(budget.grow)}")] if budget.grow else []
    parts += [say("a warning over it")] if budget.over == "warn" else []
    if parts:
        yield (*say("budget "), *join_phrases(parts, ", "))


def show_size(size: Size) -> str:
    """`1500 tokens`, `800 characters`, `15% of the total`."""
    if size.unit == "share":
        return f"{_show_ratio(size.amount * 100)}% of the total"
    noun = "character" if size.unit == "chars" else "token"
    return f"{int(size.amount)} {noun}{'' if size.amount == 1 else 's'}"


def _show_ratio(ratio: Ratio) -> str:
    return f"{float(ratio):.6f}".rstrip("0").rstrip(".")
