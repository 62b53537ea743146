"""Python's messages in an author's words: the same on every machine, without the compiler's insides."""

import re
from collections.abc import Callable

from promptc.diag.value import find_kind, show_value


def reword(text: str) -> tuple[str, str]:
    """What went wrong, and what would mend it (empty where nothing better is known than the documentation)."""
    line = _ADDRESS.sub("", text.split("\n")[0][:300])
    for pattern, write in _SENTENCES:
        found = pattern.search(line)
        if found:
            return write(*found.groups())
    plain = _QUOTED.sub(lambda found: find_kind(found[1] or found[2]), _INSIDE.sub("", line)).rstrip(".")
    return plain[:1].lower() + plain[1:], ""


_Words = tuple[str, str]
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_INSIDE = re.compile(r"<[\w. ]+>|\bl_\d+_| \(imported on .*?\)|\bdo_|\w+\.<locals>\.")
_PREFIX = re.compile(r"^_|^(?:sync_)?do_|^test_")
_QUOTED = re.compile(r"'?\b(NoneType)\b'?|'(str|int|float|list|tuple|dict|bool|generator)'(?: object)?")


def _unsuited(sign: str, left: str, right: str) -> _Words:
    hint = "join texts with `~`" if sign == "+" and "str" in (left, right) else _ask(left, right)
    return f"`{sign}` does not suit {find_kind(left)} and {find_kind(right)}", hint


def _ask(*kinds: str) -> str:
    if "NoneType" in kinds:
        return "ask for none first, or give a value with `default(..., true)`"
    return "add `| list`" if "generator" in kinds else "compare and count like with like"


def _unsuited_call(name: str, kind: str) -> _Words:
    return f"`{name}` does not suit {find_kind(kind)}", _ask(kind)


def _wrong_kind(due: str, kind: str) -> _Words:
    return f"{find_kind(due)} is due, and not {find_kind(kind)}", _ask(kind)


def _wrong_arguments(name: str, rest: str) -> _Words:
    name = _PREFIX.sub("", name)
    return f"`{name}` {_INSIDE.sub('', rest)}", "see docs/templates.md for its arguments"


def _too_many(name: str, most: str, given: str) -> _Words:
    """Python counts what every filter and method is given first: the run, and the value."""
    allowed = int(most) - 2
    takes = f"at most {allowed} argument{'s' if allowed > 1 else ''}" if allowed > 0 else "no argument"
    return f"`{name}` takes {takes}, and was given {int(given) - 2}", "see docs/templates.md for its arguments"


def _unfilled(expected: str, got: str | None) -> _Words:
    return f"{expected} names are filled from {f'a list of {got}' if got is not None else 'a longer list'}", PARTS_HELP


def _unformatted(sign: str, kind: str) -> _Words:
    return f"`%{sign}` prints a number, and is given {find_kind(kind)}", "write `%s`, which prints anything"


def _many(what: str) -> Callable[[], _Words]:
    return lambda: (
        f"the text has {what} places, `%s` and the like, than there are values",
        "give as many values as places, `%%` prints a `%`",
    )


PARTS_HELP = "give as many names as there are parts; a mapping has pairs: `for name, value in state.m.items()`"
"""What mends a list of names that is filled from too many parts, or too few."""

_SENTENCES: tuple[tuple[re.Pattern[str], Callable[..., _Words]], ...] = (
    (re.compile(r'can only concatenate (\w+) \(not "(\w+)"\)'), lambda left, right: _unsuited("+", left, right)),
    (re.compile(r"unsupported operand type\(s\) for (\S+?)(?: or pow\(\))?: '(\w+)' and '(\w+)'"), _unsuited),
    (re.compile(r"'(\S+)' not supported between instances of '(\w+)' and '(\w+)'"), _unsuited),
    (re.compile(r"bad operand type for unary (\S): '(\w+)'"), lambda sign, kind: (f"`{sign}` does not suit {find_kind(kind)}", _ask(kind))),
    (re.compile(r"object of type '(\w+)' has no len"), lambda kind: (f"{find_kind(kind)} has no length", _ask(kind))),
    (re.compile(r"'(\w+)' object is not iterable"), lambda kind: (f"{find_kind(kind)} is no list", _ask(kind))),
    (re.compile(r"argument of type '(\w+)' is not iterable"), lambda kind: (f"nothing can be in {find_kind(kind)}", _ask(kind))),
    (re.compile(r"cannot unpack non-iterable (\w+) object"), lambda kind: (f"{find_kind(kind)} is no pair", "loop over pairs: `.items()`")),
    (re.compile(r"(?:not enough|too many) values to unpack \(expected (\d+)(?:, got (\d+))?\)"), _unfilled),
    (re.compile(r"%(\S+) format: an? (?:real number|integer) is required, not (\w+)"), _unformatted),
    (re.compile(r"unsupported format character '(.)'"), lambda sign: (f"`%{sign}` is no format", "write `%s`, `%d`, `%.1f` or `%%`")),
    (re.compile(r"not enough arguments for format string"), _many("more")),
    (re.compile(r"not all arguments converted"), _many("fewer")),
    (re.compile(r"slice step cannot be zero"), lambda: ("the step of a slice is 0", "write `[::2]` for every second part")),
    (re.compile(r"unhashable type: '(\w+)'"), lambda kind: (f"{find_kind(kind)} cannot be a key", "use a text or a number")),
    (re.compile(r"'(\w+)' object cannot be interpreted as an integer"), lambda kind: (f"{find_kind(kind)} is no whole number", _ask(kind))),
    (re.compile(r"(?:[\w.<>]*\.)?(\w+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) "), _too_many),
    (re.compile(r"(?:[\w.<>]*\.)?(\w+)\(\) ((?:got|takes|missing) .*)"), _wrong_arguments),
    (re.compile(r"type (\w+) doesn't define __round__"), lambda kind: (f"{find_kind(kind)} cannot be rounded", _ask(kind))),
    (re.compile(r"bad operand type for (\w+)\(\): '(\w+)'"), _unsuited_call),
    (re.compile(r"'in <string>' requires .* not (\w+)"), lambda kind: (f"{find_kind(kind)} is never in a text", "look for a text")),
    (re.compile(r"(?:must be|expected) (str|int|float|list|dict)\b.* not '?(\w+)"), _wrong_kind),
    (re.compile(r"float\(\) argument must be .* not '(\w+)'"), lambda kind: (f"{find_kind(kind)} is no number", _ask(kind))),
    (re.compile(r"could not convert string to float: '(.*)'"), lambda text: (f"{show_value(text)} is no number", "give a number")),
    (
        re.compile(r"(%\w) format: .* is required, not (\w+)"),
        lambda sign, kind: (f"`{sign}` takes a number, not {find_kind(kind)}", _ask(kind)),
    ),
    (re.compile(r"%c requires"), lambda: ("`%c` takes a number or one character", "print texts with `%s`")),
    (re.compile(r"slice indices must be"), lambda: ("the bounds of a slice are whole numbers", "write `[1:3]`")),
    (re.compile(r"macro '(\w+)' (takes .*)"), _wrong_arguments),
)
