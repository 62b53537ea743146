"""From whatever a template run raised to a diagnostic with the template's line."""

import re
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from jinja2 import TemplateError

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import PromptcError
from promptc.diag.suggest import suggest
from promptc.template.allowed import GLOBALS
from promptc.template.compiled import Compiled
from promptc.template.fault import Fault, name_kind
from promptc.template.find_paths import find_holder
from promptc.template.place import Place
from promptc.template.reword import reword
from promptc.template.undefined import MissingFault, name_part

RUN_ERRORS = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    NameError,
    RuntimeError,
    MemoryError,
    AssertionError,
    StopIteration,
)
"""All that evaluating a template can raise, but for a bug of the interpreter."""


def explain_error(error: BaseException, place: Place, root: Compiled, names: Mapping[str, Any]) -> PromptcError:
    """One finding at the innermost line of a template that was running."""
    compiled, line = _find_line(error.__traceback__, root)
    span = place.find_span(compiled.name, compiled.text, line)
    code, message, help = _explain_missing(error, names, compiled, line) if isinstance(error, MissingFault) else _explain(error)
    return PromptcError([Diagnostic(code, message, span, help or _HELP.get(code, "see docs/templates.md"))])


def _find_line(trace: TracebackType | None, root: Compiled) -> tuple[Compiled, int]:
    found, line = root, 1
    while trace is not None:
        compiled = trace.tb_frame.f_globals.get("__compiled__")
        if isinstance(compiled, Compiled):
            found, line = compiled, compiled.find_line(trace.tb_lineno)
        trace = trace.tb_next
    return found, line


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


def _explain_missing(error: MissingFault, names: Mapping[str, Any], compiled: Compiled, line: int) -> tuple[str, str, str]:
    part = error.name if isinstance(error.name, str) else str(error.name) if error.name.__class__ is int else ""
    if error.of_names:
        return error.code, str(error), suggest(part, (name for name in (*names, *GLOBALS) if not name.startswith("__")))
    holder = find_holder(compiled.paths, line, part)
    message = f"`{holder}` has no {name_part(error.name)}" if holder else str(error)
    if isinstance(error.holder, Mapping):
        return error.code, message, suggest(part, (key for key in error.holder if isinstance(key, str)))
    if isinstance(error.holder, list | tuple | str) and isinstance(error.name, int):
        return error.code, message, f"it has {len(error.holder)} elements, counted from 0"
    return error.code, message, f"it is {name_kind(error.holder)}" if holder else ""


_HELP = {"PC0411": "ask first with `is defined`, or give a value with `default`"}
_ARGUMENTS = re.compile(r"\w\(\) (?:got|takes|missing)|^macro '|positional argument|keyword argument")
