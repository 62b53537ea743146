"""`%` on text, with bounded widths."""

from __future__ import annotations

import re

from promptc.diag.typed import Any
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import show

_SPEC = re.compile(r"%(?:\([^()]*\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)", re.S)


def format_percent(run: Run, pattern: str, values: Any) -> str:
    """`pattern % values` as Python prints it. Widths and precisions are at most `Limits.width`, and are not taken from the values."""
    run.take(1 + (len(pattern) >> 2))
    specs = stretch = 0
    for spec in _SPEC.finditer(pattern):
        specs += 1
        stretch = max(stretch, _check_spec(run, spec))
    run.take(4 * specs)
    longest = _find_longest(run, values)
    run.make(len(pattern) + specs * max(longest * stretch, run.limits.width if specs else 0))
    made: str = pattern % values
    return made


def _check_spec(run: Run, spec: re.Match[str]) -> int:
    """By how much the text of a value may grow where it is put in."""
    most = run.limits.width
    for width in spec.group(1, 2):
        if width == "*" or (width and (len(width) > 6 or int(width) > most)):
            refuse("PC0430", f"`{spec.group()[:40]}` pads to more than {most} characters", "use a smaller width, or raise `limits.width`")
    if spec.group(3) == "c":
        refuse("PC0424", "`%c` is not in the subset", "use `%s`")
    return 10 if spec.group(3) in "ra" else 1


def _find_longest(run: Run, values: Any) -> int:
    if isinstance(values, tuple):
        return max((len(show(run, value)) for value in values), default=0)
    return len(show(run, values))
