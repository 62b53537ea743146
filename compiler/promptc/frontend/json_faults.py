"""What is wrong in a JSON text whose syntax is right: found in a slow second look, with places."""

import json
import math
import re
from collections.abc import Iterator
from itertools import islice

from promptc.diag.findings import Diagnostic, PromptcError, fail
from promptc.frontend.json import MAX_DEPTH
from promptc.frontend.json_places import JsonPlaces

_MOST = 50
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
_HIGH, _LOW = "u[dD][89abAB][0-9a-fA-F]{2}", "u[dD][c-fC-F][0-9a-fA-F]{2}"
_BAD = re.compile(rf"\\(?:{_HIGH}\\{_LOW}|(u0000|{_HIGH}|{_LOW})|.)")

_MESSAGES = {
    "Expecting value": "a value is expected here",
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected here",
    "Expecting ',' delimiter": "a `,` or the closing bracket is expected here",
    "Expecting ':' delimiter": "a `:` is expected here",
    "Extra data": "the value ends before this",
    "Unterminated string starting at": "this text is not closed",
    "Invalid control character at": "a raw control character in a text; write it as an escape such as `\\n`",
    "Invalid \\escape": "an escape JSON does not know",
    "Invalid \\uXXXX escape": "a `\\u` needs four hexadecimal digits",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "a second byte order mark",
}

_TRAILING = "Illegal trailing comma"


def find_faults(text: str, places: JsonPlaces) -> list[Diagnostic]:
    """Keys met twice, numbers that are none, lone surrogates, U+0000, the first place that is too deep; at most 50, in the text's order."""
    return list(islice(_iter_faults(text, places), _MOST))


def explain_failure(name: str, text: str) -> PromptcError:
    """What is wrong in a text that the parser refuses."""
    places = JsonPlaces(name, text)
    try:
        json.loads(text, parse_int=float)
    except json.JSONDecodeError as wrong:
        return _explain_syntax(wrong.msg, text, wrong.pos, places)
    except RecursionError:
        pass
    return PromptcError(find_faults(text, places) or [_too_deep(places, 0)])


def _explain_syntax(message: str, text: str, at: int, places: JsonPlaces) -> PromptcError:
    at += message.startswith(_TRAILING)  # from 3.13 on the parser points at the comma, before that behind it
    before = text[:at].rstrip(" \t\n")
    if before.endswith(",") and text[at:].lstrip(" \t\n")[:1] in ("}", "]", ","):
        return fail("PC0130", "JSON: a `,` with nothing after it", places.span_at(len(before) - 1), help="remove it")
    return fail("PC0130", f"JSON: {_MESSAGES.get(message, message)}", places.span_at(at), help=_find_help(text, at))


def _find_help(text: str, at: int) -> str:
    if text.startswith(("//", "/*", "#"), at):
        return "JSON has no comments"
    return "texts stand in double quotes" if text[at : at + 1] == "'" else ""


def _too_deep(places: JsonPlaces, at: int) -> Diagnostic:
    return Diagnostic("PC0105", f"nested deeper than {MAX_DEPTH} levels", places.span_at(at))


def _iter_faults(text: str, places: JsonPlaces) -> Iterator[Diagnostic]:
    keys: list[dict[str, int] | None] = []
    wants_key = False
    for match in _TOKEN.finditer(text):
        token, at = match.group(), match.start()
        if token in "{[":
            keys.append({} if token == "{" else None)
            wants_key = token == "{"
            if len(keys) > MAX_DEPTH:
                yield _too_deep(places, at)
                return
        elif token in "}]":
            keys.pop()
        elif token == ",":
            wants_key = keys[-1] is not None
        elif token[0] == '"':
            yield from _check_text(token, at, places)
            if wants_key:
                yield from _check_key(token, at, keys[-1], places)
            wants_key = False
        elif token != ":":
            yield from _check_number(token, at, places)


def _check_key(token: str, at: int, met: dict[str, int] | None, places: JsonPlaces) -> Iterator[Diagnostic]:
    key = _ESCAPE.sub(_unescape, token) if "\\" in token else token
    if met is None:
        return
    if key in met:
        first = places.span_at(met[key])
        message = f"the key {token[:80]} is here a second time; the first is at line {first.line}, column {first.column}"
        yield Diagnostic("PC0106", message, places.span_at(at), "keep one of the two")
    else:
        met[key] = at


def _unescape(match: re.Match[str]) -> str:
    """Enough to compare keys: an escape and the character it stands for give the same text."""
    code = match.group(1)
    return chr(int(code, 16)) if code else _SHORT.get(match.group()[1], match.group()[1])


_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _check_text(token: str, at: int, places: JsonPlaces) -> Iterator[Diagnostic]:
    """The first bad escape of a text, at the text's place."""
    for match in _BAD.finditer(token) if "\\u" in token else ():
        escape = match.group(1)
        if escape == "u0000":
            message = f"this text has U+0000 (`\\u0000`) at its {_ordinal(match, token)}; no prompt can hold it"
            yield Diagnostic("PC0133", message, places.span_at(at), "remove it")
            return
        if escape:
            message = f"this text has half of a surrogate pair (`\\{escape}`) at its {_ordinal(match, token)}; alone it is no character"
            yield Diagnostic("PC0132", message, places.span_at(at), "write both halves, or remove it")
            return


def _ordinal(match: re.Match[str], token: str) -> str:
    return f"character {len(_ESCAPE.sub('x', token[1 : match.start()])) + 1}"


def _check_number(token: str, at: int, places: JsonPlaces) -> Iterator[Diagnostic]:
    if token in ("NaN", "Infinity", "-Infinity"):
        yield Diagnostic("PC0131", f"`{token}` is not JSON", places.span_at(at), "write null, or leave the key out")
    elif token not in ("true", "false", "null") and math.isinf(float(token)):
        shown = token if len(token) <= 40 else f"{token[:12]}… of {len(token)} characters"
        yield Diagnostic("PC0107", f"the number {shown} is out of range", places.span_at(at))
