"""`%` on text, with bounded widths."""

import re
from collections.abc import Mapping
from typing import Any

from promptc.template.fault import refuse
from promptc.template.limits import MAX_WIDTH
from promptc.template.run import Run
from promptc.template.show import show

_SPEC = re.compile(r"%(?:\([^()]*\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)", re.S)


def format_percent(run: Run, pattern: str, values: Any) -> str:
    """`pattern % values` as Python prints it. Widths and precisions are at most `MAX_WIDTH`, and are not taken from the values."""
    specs = 0
    for spec in _SPEC.finditer(pattern):
        specs += 1
        _check_spec(spec)
    longest = max((len(show(run, value)) for value in _iter_values(values)), default=0)
    run.make(len(pattern) + specs * max(longest, MAX_WIDTH if specs else 0))
    return str(pattern % (dict(values) if isinstance(values, Mapping) else values))


def _check_spec(spec: re.Match[str]) -> None:
    for width in spec.group(1, 2):
        if width == "*" or (width and (len(width) > 6 or int(width) > MAX_WIDTH)):
            refuse("PC0430", f"`{spec.group()[:40]}` pads to more than {MAX_WIDTH} characters", "use a smaller width")
    if spec.group(3) == "c":
        refuse("PC0424", "`%c` is not in the subset", "use `%s`")


def _iter_values(values: Any) -> Any:
    if isinstance(values, Mapping):
        return values.values()
    return values if isinstance(values, tuple) else (values,)
