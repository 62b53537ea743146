"""Which cases are meant by `-k`."""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from promptc.diag.findings import Diagnostic, UsageError

Match = Callable[[str], bool]

_TOKEN = re.compile(r"\s*(?:([()])|([^\s()]+))")
_WORDS = ("and", "or", "not")
_PATTERN = re.compile(r"[*?\[]")
_DEEPEST = 100


def match_names(expression: str) -> Match:
    """Whether a case is meant by its name. Words stand in it, whatever their case; a word with `*`, `?` or `[` is a pattern for the whole
    name. They are joined by `and`, `or`, `not` and parentheses, as pytest's `-k` has them. `UsageError` (PC0909) for anything else.
    """
    tokens = [(one[1] or one[2]) for one in _TOKEN.finditer(expression)]
    found, rest = _read_any(tokens, expression, 0)
    if rest:
        raise _refuse(
            expression, f"nothing was expected behind `{rest[0]}`" if rest[0] == ")" else f"`{rest[0]}` follows without `and` or `or`"
        )
    return found


def _read_any(tokens: list[str], whole: str, depth: int) -> tuple[Match, list[str]]:
    left, rest = _read_all(tokens, whole, depth)
    while rest[:1] == ["or"]:
        right, rest = _read_all(rest[1:], whole, depth)
        left = _either(left, right)
    return left, rest


def _read_all(tokens: list[str], whole: str, depth: int) -> tuple[Match, list[str]]:
    left, rest = _read_one(tokens, whole, depth)
    while rest[:1] == ["and"]:
        right, rest = _read_one(rest[1:], whole, depth)
        left = _both(left, right)
    return left, rest


def _read_one(tokens: list[str], whole: str, depth: int) -> tuple[Match, list[str]]:
    if depth > _DEEPEST:
        raise _refuse(whole, f"it is nested deeper than {_DEEPEST} levels")
    first, rest = (tokens[0], tokens[1:]) if tokens else ("", [])
    if first == "not":
        inner, rest = _read_one(rest, whole, depth + 1)
        return (lambda name: not inner(name)), rest
    if first == "(":
        found, rest = _read_any(rest, whole, depth + 1)
        if rest[:1] != [")"]:
            raise _refuse(whole, "a parenthesis is not closed")
        return found, rest[1:]
    if not first or first == ")" or first in _WORDS:
        raise _refuse(whole, f"a name is missing before `{first}`" if first else "it ends where a name is due")
    return _match_word(first), rest


def _match_word(word: str) -> Match:
    if _PATTERN.search(word):
        return lambda name: fnmatchcase(name, word)
    folded = word.casefold()
    return lambda name: folded in name.casefold()


def _either(left: Match, right: Match) -> Match:
    return lambda name: left(name) or right(name)


def _both(left: Match, right: Match) -> Match:
    return lambda name: left(name) and right(name)


def _refuse(whole: str, why: str) -> UsageError:
    return UsageError([Diagnostic("PC0909", f"`-k '{whole}'` cannot be read: {why}", help="such as `-k 'strain and not messages'`")])
