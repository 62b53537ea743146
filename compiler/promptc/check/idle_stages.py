"""Stages of a list that never leave anything out, since those before them, or the schema, let no more items through."""

from collections.abc import Iterator

from promptc.check.bounds import Texts
from promptc.check.list_values import list_values
from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.model.section import Items, LimitPer, Retrieve
from promptc.template.types.algebra import find_count
from promptc.template.types.types import NumberType, list_members


@frozen
class Idle:
    """A cap that never binds: what it is, how large, why, and whether it is just what comes at most."""

    what: str
    cap: str
    why: str
    is_exact: bool
    span: Span


@frozen
class _Most:
    """At most so many items come (None: no bound), and what says so."""

    count: int | None = None
    why: str = ""

    def lower(self, count: int | None, why: str) -> "_Most":
        """With one more bound."""
        return _Most(count, why) if count is not None and (self.count is None or count < self.count) else self


def iter_idle_stages(items: Items, texts: Texts) -> Iterator[Idle]:
    """In the order of the stages. Kept items use no place of a limit; where some are kept, limits are not judged."""
    most = _Most().lower(_count_source(items, texts), "the list never holds more than")
    window = items.window
    if window is not None and isinstance(window.last, int) and window.whole == "item" and not items.anchors:
        yield from _judge("`window.last`", window.last, most, window.span)
        most = most.lower(window.last, "`window` lets through at most")
    elif window is not None:
        most = _Most()
    if items.keep:
        return
    if items.limit_per is not None:
        yield from _iter_keys(items, items.limit_per, most)
        most = most.lower(_sum_caps(items.limit_per, texts), "the caps of `limit_per` let through at most")
    if items.limit is not None:
        yield from _judge("`limit`", items.limit.count, most, items.limit.span)


def _count_source(items: Items, texts: Texts) -> int | None:
    return items.source.top if isinstance(items.source, Retrieve) else find_count(texts.kind(items.source))


def _judge(what: str, cap: int, most: _Most, span: Span) -> Iterator[Idle]:
    if most.count is not None and cap >= most.count:
        yield Idle(what, str(cap), f"{most.why} {most.count}", cap == most.count, span)


def _iter_keys(items: Items, limit: LimitPer, most: _Most) -> Iterator[Idle]:
    """Caps of single keys. Where `limit` takes the first ones, one that is not under it changes nothing."""
    if items.limit is not None and items.limit.side == "first":
        most = most.lower(items.limit.count, "`limit` lets through at most")
    for (key, cap), place in zip(limit.caps, limit.places, strict=True):
        if most.count is not None and cap > most.count:
            yield Idle(f"the cap for `{key}` in `limit_per`", str(cap), f"{most.why} {most.count}", False, place)


def _sum_caps(limit: LimitPer, texts: Texts) -> int | None:
    """What passes in all, where every value that `by` may have is capped. A number is written in several ways: 1 and 1.0 are two keys."""
    kind = texts.kind(limit.by)
    caps, keys = dict(limit.caps), list_values(kind)
    if keys is None or not set(keys) <= caps.keys() or any(isinstance(one, NumberType) for one in list_members(kind)):
        return None
    return sum(caps[key] for key in set(keys))
