"""JSON → plain data whose every value can be found again in the text."""

from __future__ import annotations

import re
from _json import encode_basestring, make_encoder, make_scanner, scanstring
from collections.abc import Mapping

from promptc.diag.findings import PromptcError, Source, Span, fail
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.files.reading import decode_text
from promptc.text.json import read_float, render_canonical_json

_MOST_PARTS = 8_000_000
"""Characters that are kept of parts."""

_MOST_ALIKE = 16
"""Parts that are kept of one key, those that were met last."""

_PART_SPACE = re.compile(r"[ \t\n]*")
_DELIMITED = ("{", "[", '"')
MAX_STATE_BYTES = 96_000_000
"""Bytes of the longest JSON text that is read."""

MAX_DEPTH = 100
"""Containers that may stand in each other."""

_DIGITS = bytes(ord("0") if chr(byte) in "123456789" else byte for byte in range(256))
_DOUBTFUL = 309
"""Digits from which on a number may be beyond the range of doubles."""

_LONGEST_PLAIN = MAX_STATE_BYTES // 12
"""Bytes of canonical JSON that are at most MAX_STATE_BYTES with every character escaped."""

_MOST_SHAPES = 1000
_SPACE = " \t\n"


class InternedJson:
    """What stood at the keys of the objects that were read. Not for several threads."""

    __slots__ = ("_by_key", "_length")

    def __init__(self) -> None:
        self._by_key: dict[str, list[tuple[str, Any]]] = {}
        self._length = 0

    def load(self, raw: bytes, name: str) -> JsonDocument:
        """What `load_json` gives. A list, an object or a text that reads as one before did at the same key, is the same object as there."""
        if len(raw) <= MAX_STATE_BYTES:
            text = decode_text(raw, name)
            value = self._read_object(text)
            if value is not None:
                return JsonDocument(value, Source(name, text))
        return load_json(raw, name)

    def _read_object(self, text: str) -> dict[str, Any] | None:
        """The object of a text; None for anything else, and for what has to be looked at."""
        at = _skip(text, 0)
        if text[at : at + 1] != "{":
            return None
        found: dict[str, Any] = {}
        mark = ","
        while mark == ",":
            key, at = _read_key(text, _skip(text, at + 1))
            if key is None or key in found:
                return None
            read = self._read_part(key, text, at)
            if read is None:
                return None
            found[key], end = read
            at = _skip(text, end)
            mark = text[at : at + 1]
        if mark != "}" or _skip(text, at + 1) < len(text):
            return None
        return dict(sorted(found.items()))

    def _read_part(self, key: str, text: str, at: int) -> tuple[Any, int] | None:
        """The value that begins at `at`, and where it ends. What ends by a mark of its own is known by its text."""
        known = self._by_key.setdefault(key, [])
        for number, (part, value) in enumerate(known):
            if text.startswith(part, at):
                if number:
                    known.insert(0, known.pop(number))
                return value, at + len(part)
        read = read_value(text, at)
        if read is not None and text.startswith(_DELIMITED, at):
            self._keep(known, text[at : read[1]], read[0])
        return read

    def _keep(self, known: list[tuple[str, Any]], part: str, value: Any) -> None:
        self._length += len(part)
        if self._length > _MOST_PARTS:
            for parts in self._by_key.values():
                parts.clear()
            self._length = len(part)
        known.insert(0, (part, value))
        del known[_MOST_ALIKE:]


def _skip(text: str, at: int) -> int:
    """Where something but white space stands, from `at` on."""
    found = _PART_SPACE.match(text, at)
    return found.end() if found is not None else at


def _read_key(text: str, at: int) -> tuple[str | None, int]:
    """A key that is written as it is, and where its value begins; None for any other."""
    try:
        key, end = scanstring(text, at + 1, True) if text[at : at + 1] == '"' else (None, at)
    except ValueError:
        return None, at
    colon = _skip(text, end)
    if key is None or len(key) != end - at - 2 or not key.isprintable() or text[colon : colon + 1] != ":":
        return None, at
    return key, _skip(text, colon + 1)


@frozen(eq=False)
class JsonDocument:
    """A JSON text: its value, with mappings in code-point order of their keys, and its source.

    `_places` and `_canonical` hold what was made on being asked for, or while the text was read; nothing changes the value.
    """

    value: Any
    source: Source = field(repr=False)
    _places: list[Any] = field(default_factory=list, repr=False)
    _canonical: list[bytes] = field(default_factory=list, repr=False)

    @property
    def canonical(self) -> bytes:
        """The value as canonical JSON."""
        if not self._canonical:
            self._canonical.append(render_canonical_json(self.value).encode())
        return self._canonical[0]

    @property
    def is_rendered(self) -> bool:
        """Whether the canonical JSON is at hand."""
        return bool(self._canonical)

    def span(self, pointer: str) -> Span:
        """The place of the value at a JSON pointer (RFC 6901), or of the nearest value around it that exists."""
        found: Span = self._find_places().find_value(pointer)
        return found

    def key_span(self, pointer: str) -> Span:
        """The place of the key that the pointer ends in; that of the value where there is none."""
        found: Span = self._find_places().find_key(pointer)
        return found

    def _find_places(self) -> Any:
        """Made when first asked for: a state without findings has no use for them."""
        if not self._places:
            from promptc.frontend.json_places import JsonPlaces

            self._places.append(JsonPlaces(self.source.name, self.source.text))
        return self._places[0]


def load_json(raw: bytes, name: str) -> JsonDocument:
    """The JSON value in `raw` (RFC 8259, UTF-8); `name` is the file as its author knows it.

    Whole numbers are integers, however they are written (`read_float`), and exact where they have neither fraction nor exponent. Refused,
    each with its place: more than MAX_STATE_BYTES, other encodings, bad syntax, a key that a mapping has twice, NaN and Infinity, numbers
    no double can hold, lone surrogates, U+0000, more than MAX_DEPTH levels.
    """
    if len(raw) > MAX_STATE_BYTES:
        raise fail("PC0102", f"the file has {len(raw)} bytes; at most {MAX_STATE_BYTES} are read", Span(name, 1, 1))
    text = decode_text(raw, name)
    if not text.strip(_SPACE):
        raise fail("PC0103", "the file is empty; JSON needs a value", Span(name, 1, 1))
    reading = _JsonReading(b"0" * _DOUBTFUL in raw.translate(_DIGITS))
    try:
        value = reading.parse(text)
        canonical = b"" if reading.doubtful or _is_deep(value) else _render(value)
    except (ValueError, StopIteration, RecursionError):
        from promptc.frontend.json_places import explain_failure

        raise explain_failure(name, text) from None
    if not canonical:
        _look_again(name, text)
        canonical = render_canonical_json(value).encode()
    return JsonDocument(value, Source(name, text), [], [canonical])


def read_value(text: str, at: int) -> tuple[Any, int] | None:
    """The value that begins at a place of an object's text, and where it ends; None for what `load_json` refuses or looks at again."""
    reading = _JsonReading(False)
    try:
        value, end = reading.scan(text, at)
    except (ValueError, StopIteration, RecursionError):
        return None
    wide = b"0" * _DOUBTFUL in text[at:end].encode().translate(_DIGITS)
    return None if wide or reading.doubtful or _is_deep([value]) or not _render(value) else (value, end)


def load_plain(given: Mapping[str, Any], name: str) -> JsonDocument | None:
    """What `load_json` gives for the JSON text of plain data, with half the work; its source is its canonical JSON.

    None where the text has to be looked at, or there is none: whatever `load_json` refuses, what is no JSON, keys that are no texts.
    """
    encode = make_encoder({}, _refuse, encode_basestring, None, ":", ",", True, False, False)
    try:
        text = "".join(encode(given, 0))
        canonical = text.encode()
    except (TypeError, ValueError, RecursionError):
        return None
    if len(canonical) > _LONGEST_PLAIN or b"\\u0000" in canonical or b"0" * _DOUBTFUL in canonical.translate(_DIGITS):
        return None
    reading = _JsonReading(False)
    value = reading.parse(text)
    if reading.doubtful or reading.reordered or _is_deep(value):
        return None
    return JsonDocument(value, Source(name, text), [], [canonical] if not _may_hold_whole_floats(canonical) else [])


def _may_hold_whole_floats(text: bytes) -> bool:
    """Whether Python may have written a float there that is read as a whole number."""
    return b".0" in text or b"e+" in text


def _refuse(value: object) -> Any:
    raise TypeError(value)


class _JsonReading:
    """One run of Python's parser, whose hooks build values and only remember that something may be wrong: they are not told where."""

    strict = True
    object_hook = None
    array_hook = None
    parse_float = staticmethod(read_float)
    parse_constant = float

    def __init__(self, doubtful: bool) -> None:
        self.doubtful = doubtful
        self.reordered = False
        self.parse_int = _read_int if doubtful else int
        self._orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    @property
    def object_pairs_hook(self) -> Any:
        """What the parser calls; not kept, as it would keep this."""
        return self._build

    def parse(self, text: str) -> Any:
        """The value. Raises a ValueError, a StopIteration or a RecursionError for what is no JSON, which `json` knows to explain."""
        value, end = self.scan(text, len(text) - len(text.lstrip(_SPACE)))
        if text[end:].strip(_SPACE):
            raise StopIteration
        return value

    def scan(self, text: str, at: int) -> tuple[Any, int]:
        """The value that begins at `at`, and where it ends. Raises the same."""
        context: Any = self
        found: tuple[Any, int] = make_scanner(context)(text, at)
        return found

    def _build(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """A mapping with its keys in order. Mappings mostly have the keys of one before, so orders are remembered."""
        built = dict(pairs)
        if len(built) != len(pairs):
            self.doubtful = True
        keys = tuple(built)
        order = self._orders.get(keys)
        if order is None:
            order = tuple(sorted(keys))
            if len(self._orders) < _MOST_SHAPES:
                self._orders[keys] = order
        if order == keys:
            return built
        self.reordered = True
        return {key: built[key] for key in order}


def _read_int(raw: str) -> int:
    """A number too long for a double is refused later, whatever it is read as."""
    return int(raw) if len(raw) < _DOUBTFUL + 2 else 0


def _render(value: Any) -> bytes:
    """The canonical JSON; nothing where the value holds NaN or an infinity, half a surrogate pair, or may hold U+0000."""
    try:
        canonical = render_canonical_json(value).encode()
    except ValueError:
        return b""
    return b"" if b"\\u0000" in canonical else canonical


def _look_again(name: str, text: str) -> None:
    """Raises a PromptcError with what is wrong in a text whose syntax is right, if anything is."""
    from promptc.frontend.json_places import JsonPlaces, find_faults

    found = find_faults(text, JsonPlaces(name, text))
    if found:
        raise PromptcError(found)


def _is_deep(value: Any) -> bool:
    """Whether more than MAX_DEPTH containers stand in each other; level by level, without recursion."""
    level = [value] if type(value) in (dict, list) else []
    for _ in range(MAX_DEPTH):
        inside = (each.values() if type(each) is dict else each for each in level)
        level = [value for values in inside for value in values if type(value) is dict or type(value) is list]
        if not level:
            return False
    return True
