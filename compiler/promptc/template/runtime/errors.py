"""Explanations of what a run of a template raised: a finding with its line and column (`explain_error`), in an author's words (`reword`).

Python's and Jinja's messages are about types and their own internals. They are reworded in the terms of the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

from promptc.diag.findings import Diagnostic, PromptcError, count_noun, find_near, name_kind, name_type, offer_names, show_value, suggest
from promptc.diag.typed import Any
from promptc.template.allow import FOREIGN_NAMES, GLOBALS, SIZES
from promptc.template.place import Place, Site, trace_outside
from promptc.template.runtime.objects import TEMPLATE, Fault, MissingFault, name_part

_Words = tuple[str, str]

PARTS_HELP = "give as many names as there are parts; a mapping has pairs: `for name, value in state.m.items()`"
"""The help for a list of names that is filled from too many or too few parts."""
_PATH = re.compile(r"[^\W\d]\w*(?:\.\w+|\[(?:'[^'\n]*'|\"[^\"\n]*\"|-?\d+)\])*\Z")
_HELP = {"PC0411": "test first with `is defined`, or give a value with `default`"}
_ARGUMENTS = re.compile(r"\w\(\) (?:got|takes|missing)|^macro '|positional argument|keyword argument")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_INSIDE = re.compile(r"<[\w. ]+>|\bl_\d+_| \(imported on .*?\)|\bdo_|\w+\.<locals>\.")
_PREFIX = re.compile(r"^_|^(?:sync_)?do_|^test_")
_QUOTED = re.compile(r"'?\b(NoneType)\b'?|'(str|int|float|list|tuple|dict|bool|generator)'(?: object)?")


def explain_error(
    error: BaseException, place: Place, texts: Mapping[str, tuple[str, Sequence[Site]]], names: Mapping[str, Any]
) -> PromptcError:
    """Return an error of a run as one finding, with its place.

    The place is where an undefined value arose, or else the innermost place of a template that was running. `texts` maps the name of each
    file to its text and to the sites where definitions were expanded in it. `names` are the variables that the template was given.
    """
    name, at = error.place if isinstance(error, MissingFault) else _read_place(error.__traceback__)
    text, sites = texts.get(name, ("", ()))
    span, inside = place.find(name, text, at, sites)
    if isinstance(error, MissingFault):
        known = {**dict.fromkeys((*GLOBALS, *(one.name for one in place.definitions))), **names}
        code, message, help = _explain_missing(error, known, *_read_written(text, at, sites))
    else:
        code, message, help = _explain(error)
    return PromptcError([Diagnostic(code, message + inside, span, help or _HELP.get(code, f"`promptc rule {code}` explains it"))])


def _read_place(trace: TracebackType | None) -> tuple[str, int]:
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
        return "PC0415", "this expression divides by zero", "test for zero first: `a / b if b else 0`"
    if isinstance(error, OverflowError):
        return "PC0416", "a number grows too large", "use smaller numbers"
    if isinstance(error, RecursionError):
        return "PC0417", "the template calls itself too often, or its values are nested too deep", "let the recursion end sooner"
    if isinstance(error, MemoryError):
        return "PC0430", "the template makes a value too large for the memory", "make less"
    message, help = reword(str(error) or type(error).__name__)
    return "PC0424" if _ARGUMENTS.search(str(error)) else "PC0414", message, help


def _read_written(text: str, at: int, sites: Sequence[Site]) -> tuple[str, int]:
    """Return the text that its author wrote, and the offset in it: those of the innermost definition, if the place is in one."""
    inner = trace_outside(sites, at)[1]
    return (inner[-1][0].text, inner[-1][1]) if inner else (text, at)


def _explain_missing(error: MissingFault, known: Mapping[str, Any], text: str, at: int) -> tuple[str, str, str]:
    part = error.name if isinstance(error.name, str) else str(error.name) if error.name.__class__ is int else ""
    if error.of_names:
        return error.code, str(error), _suggest_name(part, known)
    holder = _read_holder(text, at, part)
    message = f"`{holder}` has no {name_part(error.name)}" if holder else str(error)
    if isinstance(error.holder, dict):
        return error.code, message, suggest(part, (key for key in error.holder if isinstance(key, str)))
    if isinstance(error.holder, list | tuple | str) and isinstance(error.name, int):
        return error.code, message, f"it has {count_noun(len(error.holder), 'element')}, counted from 0"
    held = f"it is {name_kind(error.holder)}"
    if isinstance(error.holder, str | list | tuple) and part in SIZES:
        return error.code, message, f"write `{holder} | length`"
    if isinstance(error.holder, str | int | float | list | tuple):
        held += f", which has no parts by name: write `{holder}` alone, or correct the path"
    return error.code, message, held if holder else ""


def _suggest_name(name: str, known: Mapping[str, Any]) -> str:
    """Return what to write for a name that nothing defines. `known` are the names that are defined, with their values."""
    for holder in ("item", "state"):
        if isinstance(known.get(holder), Mapping) and name in known[holder]:
            return f"did you mean `{holder}.{name}`?"
    if name in FOREIGN_NAMES:
        return FOREIGN_NAMES[name]
    if name in ("item", "this"):
        return "use it under `items` and in steps"
    names = [one for one in known if not one.startswith("__")]
    near = find_near(name, names, cutoff=0.7)
    return f"did you mean `{near}`?" if near is not None else offer_names(one for one in names if one not in GLOBALS)


def _read_holder(text: str, at: int, part: str) -> str:
    """Return the path before the part, such as `state.player` of `state.player.name`; empty if the text has no such path there."""
    before = text[: at - 1]
    found = _PATH.search(before.rstrip(".")) if part else None
    return found[0] if found else ""


def reword(text: str) -> tuple[str, str]:
    """Return what went wrong, and what would fix it (empty if nothing better than the documentation is known)."""
    line = _ADDRESS.sub("", text.split("\n")[0][:300])
    for pattern, write in _SENTENCES:
        found = pattern.search(line)
        if found:
            return write(*found.groups())
    plain = _QUOTED.sub(lambda found: name_type(found[1] or found[2]), _INSIDE.sub("", line)).rstrip(".")
    return plain[:1].lower() + plain[1:], ""


def _unsuited(sign: str, left: str, right: str) -> _Words:
    hint = "join strings with `~`" if sign == "+" and "str" in (left, right) else _ask(left, right)
    return f"`{sign}` does not work with {name_type(left)} and {name_type(right)}", hint


def _ask(*kinds: str) -> str:
    if "NoneType" in kinds:
        return "ask for none first, or give a value with `default(..., true)`"
    return "add `| list`" if "generator" in kinds else "compare and count like with like"


def _unsuited_call(name: str, kind: str) -> _Words:
    return f"`{name}` does not work with {name_type(kind)}", _ask(kind)


def _wrong_kind(due: str, kind: str) -> _Words:
    return f"{name_type(due)} is needed here, not {name_type(kind)}", _ask(kind)


def _wrong_arguments(name: str, rest: str) -> _Words:
    name = _PREFIX.sub("", name)
    return f"`{name}` {_INSIDE.sub('', rest)}", "`promptc rule PC0424` says how a call is written"


def _too_many(name: str, most: str, given: str) -> _Words:
    """Return the words for too many arguments. Python includes the first two of every filter and method, the run and the value."""
    allowed = int(most) - 2
    takes = f"at most {allowed} argument{'s' if allowed > 1 else ''}" if allowed > 0 else "no argument"
    return f"`{name}` takes {takes}, and was given {int(given) - 2}", "`promptc rule PC0424` says how a call is written"


def _unfilled(expected: str, got: str | None) -> _Words:
    return f"{expected} names are filled from {f'a list of {got}' if got is not None else 'a longer list'}", PARTS_HELP


def _unformatted(sign: str, kind: str) -> _Words:
    return f"`%{sign}` prints a number, and is given {name_type(kind)}", "write `%s`, which prints anything"


def _many(what: str) -> Callable[[], _Words]:
    return lambda: (
        f"the text has {what} places, `%s` and the like, than there are values",
        "give as many values as places, `%%` prints a `%`",
    )


_SENTENCES: tuple[tuple[re.Pattern[str], Callable[..., _Words]], ...] = (
    (re.compile(r'can only concatenate (\w+) \(not "(\w+)"\)'), lambda left, right: _unsuited("+", left, right)),
    (re.compile(r"unsupported operand type\(s\) for (\S+?)(?: or pow\(\))?: '(\w+)' and '(\w+)'"), _unsuited),
    (re.compile(r"'(\S+)' not supported between instances of '(\w+)' and '(\w+)'"), _unsuited),
    (
        re.compile(r"bad operand type for unary (\S): '(\w+)'"),
        lambda sign, kind: (f"`{sign}` does not work with {name_type(kind)}", _ask(kind)),
    ),
    (re.compile(r"object of type '(\w+)' has no len"), lambda kind: (f"{name_type(kind)} has no length", _ask(kind))),
    (re.compile(r"'(\w+)' object is not iterable"), lambda kind: (f"{name_type(kind)} is not a list", _ask(kind))),
    (re.compile(r"argument of type '(\w+)' is not iterable"), lambda kind: (f"nothing can be in {name_type(kind)}", _ask(kind))),
    (
        re.compile(r"cannot unpack non-iterable (\w+) object"),
        lambda kind: (f"{name_type(kind)} is not a pair", "loop over pairs: `.items()`"),
    ),
    (re.compile(r"(?:not enough|too many) values to unpack \(expected (\d+)(?:, got (\d+))?\)"), _unfilled),
    (re.compile(r"%(\S+) format: an? (?:real number|integer) is required, not (\w+)"), _unformatted),
    (re.compile(r"unsupported format character '(.)'"), lambda sign: (f"`%{sign}` is not a format", "write `%s`, `%d`, `%.1f` or `%%`")),
    (re.compile(r"not enough arguments for format string"), _many("more")),
    (re.compile(r"not all arguments converted"), _many("fewer")),
    (re.compile(r"slice step cannot be zero"), lambda: ("the step of a slice is 0", "write `[::2]` for every second part")),
    (
        re.compile(r"\.index\(x\): x not in|is not in list$"),
        lambda: ("the list does not contain what `index` looks for", "ask first whether it is `in` the list"),
    ),
    (
        re.compile(r"substring not found"),
        lambda: ("the string does not contain what is looked for", "use `find` or `rfind`, which give -1; or ask first with `in`"),
    ),
    (re.compile(r"unhashable type: '(\w+)'"), lambda kind: (f"{name_type(kind)} cannot be a key", "use a string or a number")),
    (
        re.compile(r"'(\w+)' object cannot be interpreted as an integer"),
        lambda kind: (f"{name_type(kind)} is not a whole number", _ask(kind)),
    ),
    (re.compile(r"(?:[\w.<>]*\.)?(\w+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) "), _too_many),
    (re.compile(r"(?:[\w.<>]*\.)?(\w+)\(\) ((?:got|takes|missing) .*)"), _wrong_arguments),
    (re.compile(r"type (\w+) doesn't define __round__"), lambda kind: (f"{name_type(kind)} cannot be rounded", _ask(kind))),
    (re.compile(r"bad operand type for (\w+)\(\): '(\w+)'"), _unsuited_call),
    (re.compile(r"'in <string>' requires .* not (\w+)"), lambda kind: (f"{name_type(kind)} is never in a string", "look for a string")),
    (re.compile(r"(?:must be|expected) (str|int|float|list|dict)\b.* not '?(\w+)"), _wrong_kind),
    (re.compile(r"float\(\) argument must be .* not '(\w+)'"), lambda kind: (f"{name_type(kind)} is not a number", _ask(kind))),
    (re.compile(r"could not convert string to float: '(.*)'"), lambda text: (f"{show_value(text)} is not a number", "give a number")),
    (
        re.compile(r"(%\w) format: .* is required, not (\w+)"),
        lambda sign, kind: (f"`{sign}` takes a number, not {name_type(kind)}", _ask(kind)),
    ),
    (re.compile(r"%c requires"), lambda: ("`%c` takes a number or one character", "print strings with `%s`")),
    (re.compile(r"slice indices must be"), lambda: ("the bounds of a slice are whole numbers", "write `[1:3]`")),
    (re.compile(r"macro '(\w+)' (takes .*)"), _wrong_arguments),
)
