"""From whatever a template run raised to a diagnostic with its line and column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import TracebackType

from promptc.diag.findings import Diagnostic, PromptcError, count_noun, name_kind, suggest
from promptc.diag.typed import Any
from promptc.template.allow import GLOBALS
from promptc.template.parse import reword
from promptc.template.place import Place
from promptc.template.runtime.objects import TEMPLATE, Fault, MissingFault, name_part, refuse
from promptc.template.runtime.run import LoweredFile, Run
from promptc.template.runtime.values import show

_PATH = re.compile(r"[^\W\d]\w*(?:\.\w+|\[(?:'[^'\n]*'|\"[^\"\n]*\"|-?\d+)\])*\Z")
_HELP = {"PC0411": "ask first with `is defined`, or give a value with `default`"}
_ARGUMENTS = re.compile(r"\w\(\) (?:got|takes|missing)|^macro '|positional argument|keyword argument")
_SPEC = re.compile(r"%(?:\([^()]*\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)", re.S)


def explain_error(error: BaseException, place: Place, files: Sequence[LoweredFile], names: Mapping[str, Any]) -> PromptcError:
    """One finding: where an undefined value arose, else at the innermost place of a template that was running."""
    name, at = error.place if isinstance(error, MissingFault) else _find_place(error.__traceback__)
    text = next((file.text for file in files if file.name == name), "")
    span = place.find_span(name, text, at)
    code, message, help = _explain_missing(error, names, text, at) if isinstance(error, MissingFault) else _explain(error)
    return PromptcError([Diagnostic(code, message, span, help or _HELP.get(code, "see docs/templates.md"))])


def _find_place(trace: TracebackType | None) -> tuple[str, int]:
    found = ("", 1)
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(TEMPLATE):
            found = file[len(TEMPLATE) : -1], trace.tb_lineno
        trace = trace.tb_next
    return found


def _explain(error: BaseException) -> tuple[str, str, str]:
    if isinstance(error, Fault):
        return error.code, str(error), error.help
    if isinstance(error, ZeroDivisionError):
        return "PC0415", "a division by zero", "ask for zero first: `a / b if b else 0`"
    if isinstance(error, OverflowError):
        return "PC0416", "a number grows too large", "use smaller numbers"
    if isinstance(error, RecursionError):
        return "PC0417", "the template calls itself, or its values nest, too deeply", "let the recursion end sooner"
    if isinstance(error, MemoryError):
        return "PC0430", "the template makes a value too large for the memory", "make less"
    message, help = reword(str(error) or type(error).__name__)
    return "PC0424" if _ARGUMENTS.search(str(error)) else "PC0414", message, help


def _explain_missing(error: MissingFault, names: Mapping[str, Any], text: str, at: int) -> tuple[str, str, str]:
    part = error.name if isinstance(error.name, str) else str(error.name) if error.name.__class__ is int else ""
    if error.of_names:
        return error.code, str(error), suggest(part, (name for name in (*names, *GLOBALS) if not name.startswith("__")))
    holder = _find_holder(text, at, part)
    message = f"`{holder}` has no {name_part(error.name)}" if holder else str(error)
    if isinstance(error.holder, dict):
        return error.code, message, suggest(part, (key for key in error.holder if isinstance(key, str)))
    if isinstance(error.holder, list | tuple | str) and isinstance(error.name, int):
        return error.code, message, f"it has {count_noun(len(error.holder), 'element')}, counted from 0"
    return error.code, message, f"it is {name_kind(error.holder)}" if holder else ""


def _find_holder(text: str, at: int, part: str) -> str:
    """What stands before the part, if that is a path written out: `state.player` of `state.player.name`."""
    before = text[: at - 1]
    found = _PATH.search(before.rstrip(".")) if part else None
    return found[0] if found else ""


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
