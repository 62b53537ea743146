"""JSON → plain data whose every value can be found again in the text."""

import json
import math
from collections.abc import Callable
from operator import itemgetter

from promptc.diag.errors import PromptcError, fail
from promptc.diag.frozen import field, frozen
from promptc.diag.span import Source, Span
from promptc.diag.typed import Any
from promptc.frontend.decode import decode_text
from promptc.frontend.json_faults import MAX_DEPTH, find_faults, has_bad_escape, too_deep
from promptc.frontend.json_places import Places

MAX_STATE_BYTES = 96_000_000
"""Bytes of the longest JSON text that is read."""


@frozen(eq=False)
class JsonDocument:
    """A JSON text: its value, with mappings in code-point order of their keys, and its source."""

    value: Any
    source: Source
    _places: Places = field(repr=False)

    def span(self, pointer: str) -> Span:
        """The place of the value at a JSON pointer (RFC 6901), or of the nearest value around it that exists."""
        return self._places.find_value(pointer)

    def key_span(self, pointer: str) -> Span:
        """The place of the key that the pointer ends in; that of the value where there is none."""
        return self._places.find_key(pointer)


def load_json(raw: bytes, name: str) -> JsonDocument:
    """The JSON value in `raw` (RFC 8259, UTF-8); `name` is the file as its author knows it.

    Integers are exact. Refused, each with its place: more than MAX_STATE_BYTES, other encodings, bad syntax, a key that a mapping has
    twice, NaN and Infinity, numbers no double can hold, lone surrogates, U+0000, more than MAX_DEPTH levels.
    """
    if len(raw) > MAX_STATE_BYTES:
        raise fail("PC0102", f"the file has {len(raw)} bytes; at most {MAX_STATE_BYTES} are read", Span(name, 1, 1))
    text = decode_text(raw, name)
    if not text.strip(" \t\n"):
        raise fail("PC0103", "the file is empty; JSON needs a value", Span(name, 1, 1))
    places = Places(name, text)
    value, doubtful = _parse(text, places)
    if doubtful or _is_deep(value) or has_bad_escape(text):
        found = find_faults(text, places)
        if found:
            raise PromptcError(found)
    return JsonDocument(value, Source(name, text), places)


def _parse(text: str, places: Places) -> tuple[Any, bool]:
    """The value, and whether a second look is needed at what it was read from."""
    doubts = _Doubts()
    try:
        value = json.loads(
            text, object_pairs_hook=doubts.build, parse_constant=doubts.note, parse_float=doubts.read_float, parse_int=doubts.read_int
        )
    except json.JSONDecodeError as wrong:
        raise _explain(wrong.msg, text, wrong.pos, places) from None
    except RecursionError:
        raise PromptcError(find_faults(text, places) or [too_deep(places, 0)]) from None
    return value, doubts.any


class _Doubts:
    """Hooks of the parser: they build values and only remember that something is wrong, since they are not told where."""

    def __init__(self) -> None:
        self.any = False

    def build(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(sorted(pairs, key=_KEY))
        if len(built) != len(pairs):
            self.any = True
        return built

    def note(self, _: str) -> None:
        self.any = True

    def read_float(self, raw: str) -> float:
        value = float(raw)
        if math.isinf(value):
            self.any = True
        return value

    def read_int(self, raw: str) -> int:
        if len(raw) < _DOUBTFUL:
            return int(raw)
        self.any = True
        return int(raw) if len(raw) < _DOUBTFUL + 2 else 0


_DOUBTFUL = 309
"""Digits, with the sign, from which on an integer may be beyond the range of doubles; two more and it is."""
_KEY: Callable[[tuple[str, Any]], str] = itemgetter(0)
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


def _explain(message: str, text: str, at: int, places: Places) -> PromptcError:
    at += message.startswith(_TRAILING)  # from 3.13 on the parser points at the comma, before that behind it
    before = text[:at].rstrip(" \t\n")
    if before.endswith(",") and text[at:].lstrip(" \t\n")[:1] in ("}", "]", ","):
        return fail("PC0130", "JSON: a `,` with nothing after it", places.span_at(len(before) - 1), help="remove it")
    return fail("PC0130", f"JSON: {_MESSAGES.get(message, message)}", places.span_at(at), help=_find_help(text, at))


def _find_help(text: str, at: int) -> str:
    if text.startswith(("//", "/*", "#"), at):
        return "JSON has no comments"
    return "texts stand in double quotes" if text[at : at + 1] == "'" else ""


def _is_deep(value: Any) -> bool:
    """Whether more than MAX_DEPTH containers stand in each other; level by level, without recursion."""
    level = [value] if type(value) in (dict, list) else []
    for _ in range(MAX_DEPTH):
        inside = (each.values() if type(each) is dict else each for each in level)
        level = [value for values in inside for value in values if type(value) is dict or type(value) is list]
        if not level:
            return False
    return True
