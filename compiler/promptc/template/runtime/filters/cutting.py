"""Filters that cut and count text by the pack's counter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptc.diag.typed import Any
from promptc.template.runtime.payments import price_count
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import show


def truncate_at(run: Run, value: Any, boundary: Any = "word", *, chars: int | None = None, tokens: int | None = None) -> str:
    """The longest beginning of a text that ends at `boundary` and is at most so many characters or tokens.

    A text within the size stays as it is. Where the first unit alone is too long, the next finer boundary follows
    (paragraph, sentence, line, word, token); where not even a token fits, nothing is left.
    """
    text = show(run, value)
    if tokens is not None:
        return _cut_tokens(run, text, boundary, tokens)
    return _cut_characters(run, text, boundary, chars or 0)


def _cut_characters(run: Run, text: str, boundary: Any, limit: int) -> str:
    from promptc.text.cutting import iter_kept

    if len(text) <= limit:
        return text
    run.take(1 + 4 * len(text))
    for kept in iter_kept(text, boundary, token_ends=lambda: _find_ends(run, text)):
        if kept.stop <= limit:
            return text[: kept.stop]
    return ""


def _cut_tokens(run: Run, text: str, boundary: Any, limit: int) -> str:
    from promptc.text.cutting import iter_kept

    if count_tokens(run, text) <= limit:
        return text
    run.take(1 + 4 * len(text))
    ends = _find_ends(run, text)
    # What ends some tokens behind the limit cannot fit; so only a few cuts are counted, whatever the length of the text.
    reach = ends[min(limit + _SLACK, len(ends) - 1)] if ends else 0
    for kept in iter_kept(text, boundary, token_ends=ends):
        if kept.stop <= reach and count_tokens(run, text[: kept.stop]) <= limit:
            return text[: kept.stop]
    return ""


_SLACK = 8


def _find_ends(run: Run, text: str) -> Sequence[int]:
    run.take(price_count(text))
    return range(1, len(text) + 1) if run.counter is None else run.counter.token_ends(text)


def count_tokens(run: Run, value: Any) -> int:
    """How many tokens the text has by the pack's counter: random letters and rare characters take it microseconds each."""
    assert run.counter is not None, "whoever renders a pack brings its counter"
    text = show(run, value)
    run.take(price_count(text))
    return -(-run.counter.measure(text) // run.counter.unit)


FILTERS: dict[str, Callable[..., Any]] = {"truncate_at": truncate_at, "tokens": count_tokens}
