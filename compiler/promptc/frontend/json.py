"""Parses JSON to plain data whose every value can be located in the text.

`load_json` parses a text, `copy_plain` copies plain data as if it were parsed from text, and `InternedJson` parses many texts that contain
the same parts. The parsers return a `JsonDocument`: the value and, on request, the place of each value in it. Python's parser builds the
values. Only a text that it refuses, or that may contain an error, is scanned again for findings with places.
"""

from __future__ import annotations

import re
from _json import encode_basestring_ascii, make_encoder, make_scanner, scanstring
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import isfinite, isinf

from promptc.diag.findings import Diagnostic, PromptcError, Source, Span, fail
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, NamedTuple
from promptc.files.reading import decode_text
from promptc.text.json import extend_pointer, read_float, render_canonical_json, settle_number, split_pointer

MAX_STATE_BYTES = 128_000_000
"""The most bytes of a JSON text."""

MAX_DEPTH = 100
"""The most containers nested in each other."""

_DIGITS = bytes(ord("0") if chr(byte) in "123456789" else byte for byte in range(256))
_DOUBTFUL = 309
"""The number of digits from which on a number may be beyond the range of doubles."""

_STRIDE = 30
"""One character in so many is sampled to see whether a text may contain that many digits."""

_INFINITIES = (float("inf"), float("-inf"))
_HOLDERS = frozenset((dict, list))
_LARGE = 10**18
"""The first number with 19 digits."""

_MANY = 8
"""The fewest similar values that are copied together. Mappings are copied in batches of at most `_ROWS`."""

_ROWS = 1000

_MUCH = 4_000_000
"""The number of characters from which on Python's garbage collector is paused while a text is parsed."""

_MOST_SHAPES = 1000
"""The most orders of keys that one run remembers."""

_MOST_PARTS = 8_000_000
"""The most characters of cached parts."""

_MOST_ALIKE = 16
"""The most cached parts of one key; the parts used last are kept."""

_NOT_JSON = (ValueError, StopIteration, RecursionError, SystemError)
"""What Python's scanner raises for a text that is not JSON; a SystemError while nobody has imported `json.decoder`, which has its error."""

_SPACE = " \t\n"
_SPACES = re.compile(r"[ \t\n]*")
_DELIMITED = ("{", "[", '"')
_MOST_FAULTS = 50
_EXCERPT = 400
_TRAILING = "Illegal trailing comma"
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MESSAGES = {
    "Expecting value": "a value is expected here",
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected here",
    "Expecting ',' delimiter": "a `,` or the closing bracket is expected here",
    "Expecting ':' delimiter": "a `:` is expected here",
    "Extra data": "the value ends before this",
    "Unterminated string starting at": "this text is not closed",
    "Invalid control character at": "a raw control character in a string; write it as an escape such as `\\n`",
    "Invalid \\escape": "an escape JSON does not know",
    "Invalid \\uXXXX escape": "a `\\u` needs four hexadecimal digits",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "a second byte order mark",
}

# For the search for faults. `re` compiles these when they are first used, which most runs never do.
_TOKEN = r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+'
_ESCAPE = r"\\(?:u([0-9a-fA-F]{4})|.)"
_HIGH, _LOW = "u[dD][89abAB][0-9a-fA-F]{2}", "u[dD][c-fC-F][0-9a-fA-F]{2}"
_DOUBTFUL_HALF = rf"\\(?:\\u[dD]|{_HIGH}(?!\\{_LOW})|{_LOW}(?<!\\{_HIGH}\\{_LOW}))"
_BAD = rf"\\(?:{_HIGH}\\{_LOW}|(u0000|{_HIGH}|{_LOW})|.)"


@frozen(eq=False)
class JsonDocument:
    """A JSON text: its value, with mappings in code-point order of their keys, and its source.

    Nothing changes the value. `_places` is filled on the first request for a place.
    """

    value: Any
    source: Source = field(repr=False)
    _places: list[JsonPlaces] = field(default_factory=list, repr=False)

    @property
    def canonical(self) -> bytes:
        """The value as canonical JSON, rendered on each access."""
        return render_canonical_json(self.value).encode()

    def span(self, pointer: str) -> Span:
        """Return the place of the value at a JSON pointer (RFC 6901), or of the nearest existing value that encloses it."""
        return self._load_places().value_span(pointer)

    def key_span(self, pointer: str) -> Span:
        """Return the place of the pointer's last key, or of the value if it has no key."""
        return self._load_places().key_span(pointer)

    def enter(self, key: str) -> JsonDocument:
        """Return the value under a key of this object as a document with its places in the same text."""
        return JsonDocument(self.value[key], self.source, [_InnerPlaces(self, extend_pointer("", key))])

    def _load_places(self) -> JsonPlaces:
        """Return the places. They are computed on first use, because a state without findings does not need them."""
        if not self._places:
            self._places.append(JsonPlaces(self.source.name, self.source.text))
        return self._places[0]


def load_json(raw: bytes, name: str) -> JsonDocument:
    """Return the JSON value in `raw` (RFC 8259, UTF-8). `name` is the file as its author knows it.

    A number that is whole is an integer, however it is written (`read_float`), and exact if it has neither a fraction nor an exponent.
    Raises a PromptcError, with the place of each finding, for more than MAX_STATE_BYTES, other encodings, bad syntax, a duplicate key, NaN
    and Infinity, numbers beyond the range of doubles, lone surrogates, U+0000, and more than MAX_DEPTH levels.
    """
    return load_source(decode_json(raw, name))


def decode_json(raw: bytes, name: str) -> Source:
    """Return the text of JSON as bytes, so that the caller need not keep the bytes.

    Raises a PromptcError if there are too many bytes, if they are not UTF-8, or if there is no value.
    """
    if len(raw) > MAX_STATE_BYTES:
        raise fail("PC0102", f"the file has {len(raw)} bytes, and promptc reads at most {MAX_STATE_BYTES}", Span(name, 1, 1))
    text = decode_text(raw, name)
    if _skip(text, 0) == len(text):
        raise fail(
            "PC0103", "the file is empty, and JSON needs a value", Span(name, 1, 1), help="write a value; the smallest object is `{}`"
        )
    return Source(name, text)


def load_source(source: Source) -> JsonDocument:
    """Return the document of a text, as `load_json` does."""
    text = source.text
    reading = _JsonReading(text)
    try:
        value = _build_at_rest(lambda: reading.parse(text), len(text))
        is_sound = not reading.doubtful and not _is_deep(value)
    except _NOT_JSON:
        raise _explain_failure(source.name, text) from None
    if not is_sound:
        found = _list_faults(text, JsonPlaces(source.name, text))
        if found:
            raise PromptcError(found)
    return JsonDocument(value, source)


def _build_at_rest(build: Callable[[], Any], size: int) -> Any:
    """Return the result of `build`; pause Python's garbage collector if `size`, in characters, is large.

    Plain data has no cycles, and while much of it is built, the collector would traverse all existing data again and again.
    """
    import gc

    if size < _MUCH or not gc.isenabled():
        return build()
    gc.disable()
    try:
        return build()
    finally:
        gc.enable()


class PlainData(NamedTuple):
    """Plain data in the form in which its JSON text would be parsed. That text has at least `size` characters and at most `most` bytes."""

    value: Any
    size: int
    most: int


def copy_plain(given: Mapping[str, Any]) -> PlainData | None:
    """Return what `load_json` returns for the JSON text of plain data, without writing that text.

    Returns None if the text must be examined or cannot be written: for whatever `load_json` refuses, data that is not JSON, keys that are
    not texts, whole numbers of more than 18 digits, and instances of subclasses.
    """
    copying = _Copying()
    try:
        value = copying.build(given, 1) if given.__class__ is dict else None
        if value is None or (copying.most > MAX_STATE_BYTES and count_bytes(given) > MAX_STATE_BYTES):
            return None
    except (TypeError, ValueError, RecursionError):
        return None
    return PlainData(value, copying.size, copying.most)


def copy_part(given: Any, depth: int) -> PlainData | None:
    """Return what `load_json` returns for a value inside `depth` containers, or None as in `copy_plain`."""
    copying = _Copying()
    try:
        value = copying.build_value(given, depth)
    except (TypeError, ValueError, RecursionError):
        return None
    return PlainData(value, copying.size, copying.most)


def count_bytes(given: Mapping[str, Any]) -> int:
    """Return the number of bytes of the data's JSON text when it is written in ASCII."""
    encode = make_encoder({}, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, False)
    return sum(map(len, encode(given, 0)))


class _Copying:
    """Copies plain data with the keys of mappings in order. Raises ValueError if a text of the data would have to be examined."""

    def __init__(self) -> None:
        self.size = 0
        self._wide = 0
        self._words = 0
        self._orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    @property
    def most(self) -> int:
        """The most bytes that a JSON text of the copied data has: six for each ASCII character, twelve for any other, plus the rest."""
        return 6 * (self.size + self._wide) + 32 * self._words

    def build(self, given: Any, depth: int) -> Any:
        """Return a copy of a mapping or list. Texts, the most common content, are handled inline to save a call each."""
        if depth > MAX_DEPTH:
            raise ValueError
        size, build = 2, self.build_value
        made: Any
        if given.__class__ is dict:
            made = {}
            for key in self._order(tuple(given)):
                one = given[key]
                size += len(key) + 3
                if one.__class__ is str and one.isascii() and "\0" not in one:
                    size += len(one) + 2
                    made[key] = one
                else:
                    made[key] = build(one, depth)
        else:
            made = self._build_all([*given], depth)
        self.size += size
        return made

    def _build_all(self, values: list[Any], depth: int) -> list[Any]:
        """Return copies of values that are inside `depth` containers each, or `values` itself if no copy is needed.

        Many similar values are checked together: texts as one joined text, mappings with the same keys one key at a time.
        """
        kinds = set(map(type, values)) if len(values) >= _MANY else ()
        if len(kinds) == 1:
            (kind,) = kinds
            if kind is str:
                joined = "".join(values)
                if joined.isascii() and "\0" not in joined:
                    self.size += len(joined) + 2 * len(values)
                    return values
            elif kind is int and min(values) > -_LARGE and max(values) < _LARGE:
                self.size += len(values)
                self._words += len(values)
                return values
            elif kind is dict:
                parts = [self._build_rows(values[at : at + _ROWS], depth + 1) for at in range(0, len(values), _ROWS)]
                return [*chain.from_iterable(parts)]
            elif kind is list and depth < MAX_DEPTH and not any(values):
                self.size += 2 * len(values)
                return [[] for _ in values]
        size, made, build = 0, list[Any](), self.build_value
        for one in values:
            if one.__class__ is str and one.isascii() and "\0" not in one:
                size += len(one) + 2
                made.append(one)
            else:
                made.append(build(one, depth))
        self.size += size
        return made

    def _build_rows(self, given: Sequence[dict[Any, Any]], depth: int) -> list[dict[str, Any]]:
        """Return copies of mappings, as `build` makes them."""
        keys = tuple(given[0])
        if depth > MAX_DEPTH or {*map(len, given)} != {len(keys)}:
            return [self.build(one, depth) for one in given]
        wide, rows = self._wide, len(given)
        order = self._order(keys)
        frame = dict.fromkeys(order)
        made = [{**frame, **one} for one in given]
        if {*map(len, made)} != {len(frame)}:
            self._wide = wide
            return [self.build(one, depth) for one in given]
        self._wide += (rows - 1) * (self._wide - wide)
        self.size += rows * (2 + sum(map(len, order)) + 3 * len(order))
        for key in order:
            column = [one[key] for one in made]
            built = self._build_all(column, depth)
            if built is not column:
                for one, value in zip(made, built, strict=True):
                    one[key] = value
        return made

    def _order(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Return the keys in order.

        Most mappings have the keys of an earlier one, so orders are cached, except those with a key whose characters must be counted.
        """
        order = self._orders.get(keys)
        if order is None:
            wide = self._wide
            for key in keys:
                self._check_text(key)
            order = tuple(sorted(keys))
            if len(self._orders) < _MOST_SHAPES and self._wide == wide:
                self._orders[keys] = order
        return order

    def _check_text(self, text: str) -> None:
        if text.__class__ is not str or "\0" in text:
            raise ValueError
        if not text.isascii():
            text.encode()  # raises ValueError for half a surrogate pair
            self._wide += len(text)

    def build_value(self, value: Any, depth: int) -> Any:
        """Return a copy of any value that is inside `depth` containers."""
        kind = value.__class__
        if kind is str:
            self._check_text(value)
            self.size += len(value) + 2
            return value
        if kind is dict or kind is list or kind is tuple:
            return self.build(value, depth + 1)
        self.size += 1
        self._words += 1
        if value is None or kind is bool:
            return value
        if kind is int and -_LARGE < value < _LARGE:
            return value
        if kind is float and isfinite(value):
            return settle_number(value)
        raise ValueError


def _refuse(value: object) -> Any:
    raise TypeError(value)


class _JsonReading:
    """One run of Python's parser. Its hooks build values and only record that something may be wrong, because they get no position."""

    strict = True
    object_hook = None
    array_hook = None

    def __init__(self, text: str) -> None:
        has_long_numbers = _has_long_numbers(text)
        self.doubtful = has_long_numbers or _has_doubtful_escapes(text)
        self.parse_int = _read_int if has_long_numbers else int
        self._in_order: dict[tuple[str, ...], dict[str, Any]] = {}

    @property
    def object_pairs_hook(self) -> Any:
        """The hook that the parser calls. It is not stored, because a stored bound method would form a reference cycle."""
        return self._build

    def parse_float(self, raw: str) -> int | float:
        """Return a number with a fraction or an exponent."""
        number = read_float(raw)
        if number in _INFINITIES:
            self.doubtful = True
        return number

    def parse_constant(self, raw: str) -> float:
        """Return the float for `NaN` and its like, which are not JSON, and mark the text as doubtful."""
        self.doubtful = True
        return float(raw)

    def parse(self, text: str) -> Any:
        """Return the value of a text.

        Raises one of `_NOT_JSON` for a text that is not JSON; `json` can explain these.
        """
        value, end = self.scan(text, _skip(text, 0))
        if _skip(text, end) < len(text):
            raise StopIteration
        return value

    def scan(self, text: str, at: int) -> tuple[Any, int]:
        """Return the value that begins at `at`, and its end. Raises what `parse` raises."""
        context: Any = self
        found: tuple[Any, int] = make_scanner(context)(text, at)
        return found

    def _build(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return a mapping with its keys in order.

        Most mappings have the keys of an earlier one, so their order is cached. It is cached as empty if the keys were already in order.
        """
        built = dict(pairs)
        if len(built) != len(pairs):
            self.doubtful = True
        keys = tuple(built)
        in_order = self._in_order.get(keys)
        if in_order is None:
            ordered = sorted(keys)
            in_order = dict.fromkeys(ordered) if ordered != list(keys) else {}
            if len(self._in_order) < _MOST_SHAPES:
                self._in_order[keys] = in_order
        return {**in_order, **built} if in_order else built


def _read_int(raw: str) -> int:
    """Return an integer. A number too long for a double becomes 0, because it is refused later."""
    return int(raw) if len(raw) < _DOUBTFUL + 2 else 0


def _has_long_numbers(text: str) -> bool:
    """Return whether a run of digits may be a number beyond doubles. A sample of the text rules out most texts."""
    few = text[::_STRIDE].encode().translate(_DIGITS)
    return b"0" * (_DOUBTFUL // _STRIDE) in few and b"0" * _DOUBTFUL in text.encode().translate(_DIGITS)


def _has_doubtful_escapes(text: str) -> bool:
    """Return whether an escape may denote U+0000 or half of a surrogate pair."""
    if "\\" not in text or "\\u" not in text:
        return False
    return "\\u0000" in text or (("\\ud" in text or "\\uD" in text) and re.search(_DOUBTFUL_HALF, text) is not None)


def _is_deep(value: Any) -> bool:
    """Return whether more than MAX_DEPTH containers are nested. Works level by level, without recursion."""
    level: list[Any] = [value] if value.__class__ in _HOLDERS else []
    for _ in range(MAX_DEPTH):
        level = [one for each in level for one in (each.values() if each.__class__ is dict else each) if one.__class__ in _HOLDERS]
        if not level:
            return False
    return True


class InternedJson:
    """Parses many JSON texts and shares equal parts that appear under the same key. Not thread-safe."""

    __slots__ = ("_by_key", "_length")

    def __init__(self) -> None:
        self._by_key: dict[str, list[tuple[str, Any]]] = {}
        self._length = 0

    def load(self, raw: bytes, name: str) -> JsonDocument:
        """Return what `load_json` returns.

        A list, an object or a text whose source equals that of an earlier value under the same key is the same object as that value.
        """
        if len(raw) <= MAX_STATE_BYTES:
            text = decode_text(raw, name)
            value = self._read_object(text)
            if value is not None:
                return JsonDocument(value, Source(name, text))
        return load_json(raw, name)

    def _read_object(self, text: str) -> dict[str, Any] | None:
        """Return the object in a text, or None for anything else and for texts that must be examined."""
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
        """Return the value that begins at `at`, and its end; None if it must be examined.

        Only values that have a closing delimiter are cached by their source text.
        """
        known = self._by_key.setdefault(key, [])
        for number, (part, value) in enumerate(known):
            if text.startswith(part, at):
                if number:
                    known.insert(0, known.pop(number))
                return value, at + len(part)
        read = _read_value(text, at)
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


def _read_value(text: str, at: int) -> tuple[Any, int] | None:
    """Return the value that begins at `at`, and its end; None for what `load_json` refuses or examines again."""
    reading = _JsonReading("")
    try:
        value, end = reading.scan(text, at)
    except _NOT_JSON:
        return None
    doubtful = reading.doubtful or _JsonReading(text[at:end]).doubtful
    return None if doubtful or _is_deep([value]) else (value, end)


def _skip(text: str, at: int) -> int:
    """Return the offset of the first character from `at` on that is not white space."""
    found = _SPACES.match(text, at)
    return found.end() if found is not None else at


def _read_key(text: str, at: int) -> tuple[str | None, int]:
    """Return a key that is written without escapes, and the offset of its value; None for any other key."""
    try:
        key, end = scanstring(text, at + 1, True) if text[at : at + 1] == '"' else (None, at)
    except _NOT_JSON:
        return None, at
    colon = _skip(text, end)
    if key is None or len(key) != end - at - 2 or not key.isprintable() or text[colon : colon + 1] != ":":
        return None, at
    return key, _skip(text, colon + 1)


class JsonPlaces:
    """Finds the places of values in a text that is valid JSON. The children of a container are located once."""

    def __init__(self, name: str, text: str) -> None:
        from json import JSONDecoder

        self._scan = JSONDecoder().raw_decode
        self._name = name
        self._text = text
        self._reached = 0, 0, 1
        self._children: dict[int, dict[str, tuple[int, int]]] = {}

    def span_at(self, offset: int) -> Span:
        """Return the place of a character. The excerpt of a long line is the part around the character."""
        text = self._text
        start, line = self._locate_line(offset)
        shown = start if offset - start < _EXCERPT else offset - _EXCERPT // 2
        end = text.find("\n", shown, shown + _EXCERPT)
        excerpt = text[shown : end if end >= 0 else shown + _EXCERPT]
        return Span(self._name, line, offset - start + 1, excerpt, shown - start)

    def _locate_line(self, offset: int) -> tuple[int, int]:
        """Return the start of a character's line, and its number. The search goes on from the last character, if that is not behind."""
        reached, start, line = self._reached if self._reached[0] <= offset else (0, 0, 1)
        end = self._text.rfind("\n", reached, offset)
        if end >= 0:
            start, line = end + 1, line + self._text.count("\n", reached, offset)
        self._reached = offset, start, line
        return start, line

    def value_span(self, pointer: str) -> Span:
        """Return the place of the value at a pointer, or of the nearest existing value that encloses it."""
        return self.span_at(self._offsets(pointer)[1])

    def key_span(self, pointer: str) -> Span:
        """Return the place of the pointer's last key, or of the value if it has no key."""
        return self.span_at(self._offsets(pointer)[0])

    def _offsets(self, pointer: str) -> tuple[int, int]:
        """Return the offsets of the key (or element) and of the value."""
        key = value = _skip(self._text, 0)
        for step in split_pointer(pointer):
            found = self._list_children(value).get(step)
            if found is None:
                break
            key, value = found
        return key, value

    def _list_children(self, at: int) -> dict[str, tuple[int, int]]:
        if at not in self._children:
            pairs = {"{": _iter_members, "[": _iter_elements}.get(self._text[at : at + 1])
            self._children[at] = dict(pairs(self._text, at, self._scan)) if pairs else {}
        return self._children[at]


class _InnerPlaces(JsonPlaces):
    """The places of a value inside a document, by pointers relative to that value."""

    def __init__(self, outer: JsonDocument, way: str) -> None:
        self._outer = outer
        self._way = way

    def value_span(self, pointer: str) -> Span:
        """Return the place of the value at a pointer, or of the nearest existing value that encloses it."""
        return self._outer.span(self._way + pointer)

    def key_span(self, pointer: str) -> Span:
        """Return the place of the pointer's last key, or of the value if it has no key."""
        return self._outer.key_span(self._way + pointer)


def _iter_members(text: str, at: int, scan: Any) -> Iterator[tuple[str, tuple[int, int]]]:
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, after = scan(text, at)
        value = _skip(text, _skip(text, after) + 1)
        yield key, (at, value)
        at = _skip_comma(text, scan(text, value)[1])


def _iter_elements(text: str, at: int, scan: Any) -> Iterator[tuple[str, tuple[int, int]]]:
    at = _skip(text, at + 1)
    number = 0
    while text[at] != "]":
        yield str(number), (at, at)
        number += 1
        at = _skip_comma(text, scan(text, at)[1])


def _skip_comma(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _explain_failure(name: str, text: str) -> PromptcError:
    """Return the error that explains why the parser refuses a text."""
    import json

    places = JsonPlaces(name, text)
    try:
        json.loads(text, parse_int=float)
    except json.JSONDecodeError as wrong:
        return _explain_syntax(wrong.msg, text, wrong.pos, places)
    except RecursionError:
        pass
    return PromptcError(_list_faults(text, places) or [_too_deep(places, 0)])


def _explain_syntax(message: str, text: str, at: int, places: JsonPlaces) -> PromptcError:
    at += message.startswith(_TRAILING)  # Python 3.13 and later point at the comma, earlier versions after it
    before = text[:at].rstrip(_SPACE)
    if before.endswith(",") and text[at:].lstrip(_SPACE)[:1] in ("}", "]", ","):
        return fail("PC0130", "JSON: a `,` with nothing after it", places.span_at(len(before) - 1), help="remove the `,`")
    return fail("PC0130", f"JSON: {_MESSAGES.get(message, message)}", places.span_at(at), help=_suggest_mend(text, at))


def _suggest_mend(text: str, at: int) -> str:
    if text.startswith(("//", "/*", "#"), at):
        return "remove the comment: JSON has none"
    if text[at : at + 1] == "'":
        return 'write strings in double quotes: `"…"`'
    word = re.match(r"[^\W\d]\w{0,40}", text[at : at + 42])
    if word is None:
        return ""
    if not at:
        return 'write JSON: an object in braces, such as `{"name": "Ada"}`'
    meant = {"true": "true", "false": "false", "none": "null", "null": "null", "undefined": "null"}.get(word[0].lower())
    return f"write `{meant}`" if meant else f'a key and a string are in double quotes: `"{word[0]}"`'


def _too_deep(places: JsonPlaces, at: int) -> Diagnostic:
    return Diagnostic(
        "PC0105",
        f"lists and mappings are nested more than {MAX_DEPTH} levels deep here",
        places.span_at(at),
        "use fewer levels: move inner values up, or write them as text",
    )


def _list_faults(text: str, places: JsonPlaces) -> list[Diagnostic]:
    """Return the findings of a text in its order, at most 50.

    They are duplicate keys, invalid numbers, lone surrogates, U+0000, and the first place that is too deep.
    """
    return list(islice(_iter_faults(text, places), _MOST_FAULTS))


def _iter_faults(text: str, places: JsonPlaces) -> Iterator[Diagnostic]:
    keys: list[dict[str, int] | None] = []
    wants_key = False
    for match in re.finditer(_TOKEN, text):
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
    key = re.sub(_ESCAPE, _unescape, token) if "\\" in token else token
    if met is None:
        return
    if key in met:
        first, second = places.span_at(met[key]), places.span_at(at)
        # a line of a batch is parsed alone, so its own number would be wrong
        where = f"column {first.column} of the same line" if first.line == second.line else f"line {first.line}, column {first.column}"
        yield Diagnostic(
            "PC0106", f"the key {token[:80]} appears twice in this object; the first is at {where}", second, "keep one of the two"
        )
    else:
        met[key] = at


def _unescape(match: re.Match[str]) -> str:
    """Return the character of an escape, exactly enough to compare keys: escaped and plain forms become equal."""
    code = match.group(1)
    return chr(int(code, 16)) if code else _SHORT.get(match.group()[1], match.group()[1])


def _check_text(token: str, at: int, places: JsonPlaces) -> Iterator[Diagnostic]:
    """Yield the first bad escape of a text, at the place of the text."""
    for match in re.finditer(_BAD, token) if "\\u" in token else ():
        escape = match.group(1)
        if escape == "u0000":
            message = f"{_ordinal(match, token)} of this text is U+0000 (`\\u0000`), which no prompt can contain"
            yield Diagnostic("PC0133", message, places.span_at(at), "remove the character")
            return
        if escape:
            message = f"{_ordinal(match, token)} of this text is half of a surrogate pair (`\\{escape}`), which is not a character"
            yield Diagnostic("PC0132", message, places.span_at(at), "write both halves, such as `\\ud83d\\ude00`, or remove this one")
            return


def _ordinal(match: re.Match[str], token: str) -> str:
    return f"character {len(re.sub(_ESCAPE, 'x', token[1 : match.start()])) + 1}"


def _check_number(token: str, at: int, places: JsonPlaces) -> Iterator[Diagnostic]:
    if token in ("NaN", "Infinity", "-Infinity"):
        yield Diagnostic("PC0131", f"`{token}` is not JSON", places.span_at(at), "write null, or leave the key out")
    elif token not in ("true", "false", "null") and isinf(float(token)):
        shown = token if len(token) <= 40 else f"{token[:12]}… of {len(token)} characters"
        yield Diagnostic(
            "PC0107", f"the number {shown} is too large", places.span_at(at), "write a smaller number; quote it if it is an id"
        )
