"""Where the values of a JSON text stand. Found when asked for; the children of a container are found once."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from promptc.diag.findings import Diagnostic, PromptcError, Source, Span, UsageError, count_noun, fail
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.frontend.json import MAX_DEPTH, JsonDocument, load_json

_MOST_FAULTS = 50
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
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
Change = tuple[str, str]
"""A JSON pointer (RFC 6901; `-` behind the last element of a list) and the JSON text of the value to put there."""

_QUOTES = "the value is JSON: a text stands in double quotes, such as '\"calm\"'"
_PLACE_SPACE = re.compile(r"[ \t\n]*")
_EXCERPT = 400


def find_faults(text: str, places: JsonPlaces) -> list[Diagnostic]:
    """Keys met twice, numbers that are none, lone surrogates, U+0000, the first place that is too deep; at most 50, in the text's order."""
    return list(islice(_iter_faults(text, places), _MOST_FAULTS))


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


def set_values(document: JsonDocument, changes: Sequence[Change]) -> JsonDocument:
    """The document with every change made, in order; mappings on the way that are not there are made.

    What was set is found at its own text (`--set /pointer:1:1`), all else where it stood. `UsageError` for a text that is no JSON, and
    for a pointer that leads nowhere (PC0722).
    """
    texts = _load_all(changes)
    value, places = document.value, []
    for (pointer, _), given in zip(changes, texts, strict=True):
        value = _put(value, _split(pointer, document), 0, given.value, document)
        places.append((_settle(pointer, value), given))
    whole = "".join((document.source.text, *(given.source.text for _, given in places)))
    changed = _ChangedPlaces(document, tuple(places))
    return JsonDocument(value, Source(document.source.name, whole), [changed])


class JsonPlaces:
    """Of a text that is valid JSON. Line and column count characters, from 1."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._children: dict[int, dict[str, tuple[int, int]]] = {}

    def span_at(self, offset: int) -> Span:
        """The place of a character. Of a long line the excerpt is what stands around it."""
        text = self._text
        start = text.rfind("\n", 0, offset) + 1
        shown = start if offset - start < _EXCERPT else offset - _EXCERPT // 2
        end = text.find("\n", shown, shown + _EXCERPT)
        excerpt = text[shown : end if end >= 0 else shown + _EXCERPT]
        return Span(self._name, text.count("\n", 0, start) + 1, offset - start + 1, excerpt, shown - start)

    def find_value(self, pointer: str) -> Span:
        """The place of the value at a pointer, or of the nearest value around it that exists."""
        return self.span_at(self._find(pointer)[1])

    def find_key(self, pointer: str) -> Span:
        """The place of the pointer's last key; of the value where it has none."""
        return self.span_at(self._find(pointer)[0])

    def _find(self, pointer: str) -> tuple[int, int]:
        """The offsets of the key (or element) and the value."""
        value = _skip_space(self._text, 0)
        key = value
        for token in pointer.split("/")[1:]:
            step = self._find_children(value).get(token.replace("~1", "/").replace("~0", "~"))
            if step is None:
                break
            key, value = step
        return key, value

    def _find_children(self, at: int) -> dict[str, tuple[int, int]]:
        if at not in self._children:
            opening = self._text[at : at + 1]
            pairs = {"{": _iter_members, "[": _iter_elements}.get(opening)
            self._children[at] = dict(pairs(self._text, at)) if pairs else {}
        return self._children[at]


class _ChangedPlaces(JsonPlaces):
    """The places of a document and of the values set in it; the newest value at or above a pointer counts. What was made on the way to a
    value stands where that value does.
    """

    def __init__(self, document: JsonDocument, changes: tuple[tuple[str, JsonDocument], ...]) -> None:
        self._document = document
        self._changes = changes

    def find_value(self, pointer: str) -> Span:
        """The place of the value at a pointer, or of the nearest value around it that exists."""
        document, inner = self._choose(pointer)
        return document.span(inner)

    def find_key(self, pointer: str) -> Span:
        """The place of the pointer's last key; of the value where it has none."""
        document, inner = self._choose(pointer)
        return document.key_span(inner)

    def _choose(self, pointer: str) -> tuple[JsonDocument, str]:
        for at, document in reversed(self._changes):
            if pointer == at or pointer.startswith(f"{at}/"):
                return document, pointer[len(at) :]
        made = (document for at, document in reversed(self._changes) if at.startswith(f"{pointer}/"))
        found = next(made, None) if not _has(self._document.value, pointer) else None
        return (found, "") if found is not None else (self._document, pointer)


def _has(value: Any, pointer: str) -> bool:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return False
    return True


def _load_all(changes: Sequence[Change]) -> list[JsonDocument]:
    """The JSON texts, with the findings of all of them when one is none."""
    texts: list[JsonDocument] = []
    findings: list[Diagnostic] = []
    for pointer, text in changes:
        try:
            texts.append(load_json(text.encode("utf-8", "surrogatepass"), f"--set {pointer}"))
        except PromptcError as error:
            findings += [replace(found, help=found.help or _QUOTES) for found in error.diagnostics]
    if findings:
        raise UsageError(findings)
    return texts


def _split(pointer: str, document: JsonDocument) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise _refuse(pointer, "a JSON pointer begins with `/`", document.span(""), f"`--set /{pointer}=...`")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _put(value: Any, way: Sequence[str], depth: int, new: Any, document: JsonDocument) -> Any:
    """`value` with `new` at the end of the way: what lies on it is copied, all else shared. Keys stay in code-point order."""
    if depth == len(way):
        return new
    part = way[depth]
    if isinstance(value, list):
        at = _find_place(value, way, depth, document)
        inner = _put(value[at] if at < len(value) else {}, way, depth + 1, new, document)
        return [*value[:at], inner, *value[at + 1 :]]
    if isinstance(value, dict):
        inner = _put(value.get(part, {}), way, depth + 1, new, document)
        return dict(sorted({**value, part: inner}.items()))
    above = "".join(f"/{step}" for step in way[:depth])
    raise _refuse(_join(way), f"`{above}` is neither a list nor a mapping", document.span(above), "set the whole value instead")


def _find_place(value: list[Any], way: Sequence[str], depth: int, document: JsonDocument) -> int:
    part = way[depth]
    if part == "-":
        return len(value)
    if part.isascii() and part.isdigit() and int(part[:9]) < len(value):
        return int(part)
    above = _join(way[:depth])
    last = f"; its elements are 0 to {len(value) - 1}" if len(value) > 1 else ""
    message = f"the list `{above}` has {count_noun(len(value), 'element')} and none at `{part}`{last}"
    raise _refuse(_join(way), message, document.span(above), f"`{above}/-` appends")


def _settle(pointer: str, value: Any) -> str:
    """The pointer with every `-` as the number of the element that was appended there."""
    settled = ""
    for part in pointer.split("/")[1:]:
        if isinstance(value, list):
            part = str(len(value) - 1) if part == "-" else part
            value = value[int(part)]
        else:
            value = value[part.replace("~1", "/").replace("~0", "~")]
        settled += f"/{part}"
    return settled


def _join(way: Sequence[str]) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in way)


def _refuse(pointer: str, why: str, span: Span, help: str) -> UsageError:
    return UsageError([Diagnostic("PC0722", f"`--set {pointer}` leads nowhere: {why}", span, help)])


_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode


def _iter_members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    at = _skip_space(text, at + 1)
    while text[at] != "}":
        key, after = _scan(text, at)
        value = _skip_space(text, _skip_space(text, after) + 1)
        yield key, (at, value)
        at = _skip_comma(text, _scan(text, value)[1])


def _iter_elements(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    at = _skip_space(text, at + 1)
    number = 0
    while text[at] != "]":
        yield str(number), (at, at)
        number += 1
        at = _skip_comma(text, _scan(text, at)[1])


def _skip_comma(text: str, at: int) -> int:
    at = _skip_space(text, at)
    return _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    found = _PLACE_SPACE.match(text, at)
    return found.end() if found else at
