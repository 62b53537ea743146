"""The filter that breaks lines."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.payments import check_defined
from promptc.template.runtime.run import Run


def wrap(
    run: Run,
    value: Any,
    width: int = 79,
    break_long_words: bool = True,
    wrapstring: str | None = None,
    break_on_hyphens: bool = True,
) -> str:
    """The text in lines of `width`. Its search goes back and forth: it costs a hundred steps for each character."""
    from textwrap import wrap

    if value.__class__ is not str:
        check_defined(value)
        refuse("PC0414", f"`wordwrap` takes a text, not {name_kind(value)}", "make it a text first: `| string`, `| join`")
    between = "\n" if wrapstring is None else wrapstring
    run.take(1 + 100 * len(value))
    run.make(len(value) * (1 + len(between)))
    lines = [
        wrap(
            line,
            width=width,
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=break_long_words,
            break_on_hyphens=break_on_hyphens,
        )
        for line in value.splitlines()
    ]
    return between.join([between.join(paragraph) for paragraph in lines])


FILTERS: dict[str, Callable[..., Any]] = {"wordwrap": wrap}
