"""JSON → plain data whose every value can be found again in the text.

`load_json` reads a text, `copy_plain` plain data as if it were one, `InternedJson` many texts that hold the same parts. All give a
`JsonDocument`: the value and, on being asked, the place of each value in it. Python's parser builds the values; only a text that it
refuses, or in which something may be wrong, is gone through again, for findings with places.
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
"""Bytes of the longest JSON text that is read."""

MAX_DEPTH = 100
"""Containers that may stand in each other."""

_DIGITS = bytes(ord("0") if chr(byte) in "123456789" else byte for byte in range(256))
_DOUBTFUL = 309
"""Digits from which on a number may be beyond the range of doubles."""

_STRIDE = 30
"""Of how many characters one is looked at, to see whether there may be so many digits."""

_INFINITIES = (float("inf"), float("-inf"))
_HOLDERS = frozenset((dict, list))
_LARGE = 10**18
"""The first number with 19 digits."""

_MANY = 8
"""Values from which on those that are alike are copied together: at most so many mappings at a time as `_ROWS` says."""

_ROWS = 1000

_MUCH = 4_000_000
"""Characters of a text during whose reading Python's collector rests."""

_MOST_SHAPES = 1000
"""Orders of keys that one reading remembers."""

_MOST_PARTS = 8_000_000
"""Characters that are kept of parts."""

_MOST_ALIKE = 16
"""Parts that are kept of one key, those that were met last."""

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
    "Invalid control character at": "a raw control character in a text; write it as an escape such as `\\n`",
    "Invalid \\escape": "an escape JSON does not know",
    "Invalid \\uXXXX escape": "a `\\u` needs four hexadecimal digits",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "a second byte order mark",
}

# Of those that look for faults; `re` compiles them when they are first used, which most runs never do.
_TOKEN = r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+'
_ESCAPE = r"\\(?:u([0-9a-fA-F]{4})|.)"
_HIGH, _LOW = "u[dD][89abAB][0-9a-fA-F]{2}", "u[dD][c-fC-F][0-9a-fA-F]{2}"
_DOUBTFUL_HALF = rf"\\(?:\\u[dD]|{_HIGH}(?!\\{_LOW})|{_LOW}(?<!\\{_HIGH}\\{_LOW}))"
_BAD = rf"\\(?:{_HIGH}\\{_LOW}|(u0000|{_HIGH}|{_LOW})|.)"


@frozen(eq=False)
class JsonDocument:
    """A JSON text: its value, with mappings in code-point order of their keys, and its source. `_places` holds what was made on being
    asked for; nothing changes the value.
    """

    value: Any
    source: Source = field(repr=False)
    _places: list[JsonPlaces] = field(default_factory=list, repr=False)

    @property
    def canonical(self) -> bytes:
        """The value as canonical JSON, made anew."""
        return render_canonical_json(self.value).encode()

    def span(self, pointer: str) -> Span:
        """The place of the value at a JSON pointer (RFC 6901), or of the nearest value around it that exists."""
        return self._load_places().value_span(pointer)

    def key_span(self, pointer: str) -> Span:
        """The place of the key that the pointer ends in; that of the value where there is none."""
        return self._load_places().key_span(pointer)

    def enter(self, key: str) -> JsonDocument:
        """The document of what stands under a key of the object that this is, with its places in the same text."""
        return JsonDocument(self.value[key], self.source, [_InnerPlaces(self, extend_pointer("", key))])

    def _load_places(self) -> JsonPlaces:
        """Made when first asked for: a state without findings has no use for them."""
        if not self._places:
            self._places.append(JsonPlaces(self.source.name, self.source.text))
        return self._places[0]


def load_json(raw: bytes, name: str) -> JsonDocument:
    """The JSON value in `raw` (RFC 8259, UTF-8); `name` is the file as its author knows it.

    Whole numbers are integers, however they are written (`read_float`), and exact where they have neither fraction nor exponent. Refused,
    each with its place: more than MAX_STATE_BYTES, other encodings, bad syntax, a key that a mapping has twice, NaN and Infinity, numbers
    no double can hold, lone surrogates, U+0000, more than MAX_DEPTH levels.
    """
    return load_source(decode_json(raw, name))


def decode_json(raw: bytes, name: str) -> Source:
    """The text of what `load_json` is given: with it, nobody has to keep the bytes. Raises for their number, their encoding, or nothing."""
    if len(raw) > MAX_STATE_BYTES:
        raise fail("PC0102", f"the file has {len(raw)} bytes, and promptc reads at most {MAX_STATE_BYTES}", Span(name, 1, 1))
    text = decode_text(raw, name)
    if _skip(text, 0) == len(text):
        raise fail(
            "PC0103", "the file is empty, and JSON needs a value", Span(name, 1, 1), help="write a value; the smallest object is `{}`"
        )
    return Source(name, text)


def load_source(source: Source) -> JsonDocument:
    """The JSON value in a text, as `load_json` gives it."""
    text = source.text
    reading = _JsonReading(text)
    try:
        value = _build_at_rest(lambda: reading.parse(text), len(text))
        is_sound = not reading.doubtful and not _is_deep(value)
    except (ValueError, StopIteration, RecursionError):
        raise _explain_failure(source.name, text) from None
    if not is_sound:
        found = _list_faults(text, JsonPlaces(source.name, text))
        if found:
            raise PromptcError(found)
    return JsonDocument(value, source)


def _build_at_rest(build: Callable[[], Any], size: int) -> Any:
    """What `build` makes of so many characters. Plain data has no circles, and of much of it Python's collector would go through all that
    is there already, again and again.
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
    """Plain data as a JSON text of it would be read; such a text has at least `size` characters, and at most `most` bytes."""

    value: Any
    size: int
    most: int


def copy_plain(given: Mapping[str, Any]) -> PlainData | None:
    """What `load_json` gives for the JSON text of plain data, without that text.

    None where the text has to be looked at, or there is none: whatever `load_json` refuses, what is not JSON, keys that are no texts,
    whole numbers of more than 18 digits, classes derived of those of plain data.
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
    """What `load_json` gives for a value inside `depth` containers; None as `copy_plain`."""
    copying = _Copying()
    try:
        value = copying.build_value(given, depth)
    except (TypeError, ValueError, RecursionError):
        return None
    return PlainData(value, copying.size, copying.most)


def count_bytes(given: Mapping[str, Any]) -> int:
    """The bytes of its JSON text, as it is written with no more than ASCII."""
    encode = make_encoder({}, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, False)
    return sum(map(len, encode(given, 0)))


class _Copying:
    """Copies plain data, mappings in order of their keys. Raises ValueError where a text of it would have to be looked at."""

    def __init__(self) -> None:
        self.size = 0
        self._wide = 0
        self._words = 0
        self._orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    @property
    def most(self) -> int:
        """Bytes that a JSON text of what was copied has at most: six for a character of ASCII, twelve for others, and all around them."""
        return 6 * (self.size + self._wide) + 32 * self._words

    def build(self, given: Any, depth: int) -> Any:
        """A copy of a mapping or list. Most of what stands in one are texts, which need no call each."""
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
        """Copies of values that stand inside `depth` containers each: `values` itself where they can be used as they are. Many that are
        alike are judged together: texts as one text, mappings with the same keys key by key.
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
        """Copies of mappings, as `build` makes them."""
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
        """The keys in order. Mappings mostly have the keys of one before, so orders are remembered, where no key has to be counted."""
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
        """A copy of any value that stands inside `depth` containers."""
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
    """One run of Python's parser, whose hooks build values and only remember that something may be wrong: they are not told where."""

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
        """What the parser calls; not kept, as it would keep this."""
        return self._build

    def parse_float(self, raw: str) -> int | float:
        """A number with a fraction or an exponent."""
        number = read_float(raw)
        if number in _INFINITIES:
            self.doubtful = True
        return number

    def parse_constant(self, raw: str) -> float:
        """`NaN` and its like, which are not JSON."""
        self.doubtful = True
        return float(raw)

    def parse(self, text: str) -> Any:
        """The value. Raises a ValueError, a StopIteration or a RecursionError for what is not JSON, which `json` knows to explain."""
        value, end = self.scan(text, _skip(text, 0))
        if _skip(text, end) < len(text):
            raise StopIteration
        return value

    def scan(self, text: str, at: int) -> tuple[Any, int]:
        """The value that begins at `at`, and where it ends. Raises the same."""
        context: Any = self
        found: tuple[Any, int] = make_scanner(context)(text, at)
        return found

    def _build(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """A mapping with its keys in order. Mappings mostly have the keys of one before, so these are remembered in order; as nothing where
        they were given so.
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
    """A number too long for a double is refused later, whatever it is read as."""
    return int(raw) if len(raw) < _DOUBTFUL + 2 else 0


def _has_long_numbers(text: str) -> bool:
    """Whether so many digits stand in a row that they may be a number beyond doubles. Of so many, a few of every text show some."""
    few = text[::_STRIDE].encode().translate(_DIGITS)
    return b"0" * (_DOUBTFUL // _STRIDE) in few and b"0" * _DOUBTFUL in text.encode().translate(_DIGITS)


def _has_doubtful_escapes(text: str) -> bool:
    """Whether one may stand for U+0000, or for half of a surrogate pair."""
    if "\\" not in text or "\\u" not in text:
        return False
    return "\\u0000" in text or (("\\ud" in text or "\\uD" in text) and re.search(_DOUBTFUL_HALF, text) is not None)


def _is_deep(value: Any) -> bool:
    """Whether more than MAX_DEPTH containers stand in each other; level by level, without recursion."""
    level: list[Any] = [value] if value.__class__ in _HOLDERS else []
    for _ in range(MAX_DEPTH):
        level = [one for each in level for one in (each.values() if each.__class__ is dict else each) if one.__class__ in _HOLDERS]
        if not level:
            return False
    return True


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
    """The value that begins at `at`, and where it ends; None for what `load_json` refuses or looks at again."""
    reading = _JsonReading("")
    try:
        value, end = reading.scan(text, at)
    except (ValueError, StopIteration, RecursionError):
        return None
    doubtful = reading.doubtful or _JsonReading(text[at:end]).doubtful
    return None if doubtful or _is_deep([value]) else (value, end)


def _skip(text: str, at: int) -> int:
    """Where something but white space stands, from `at` on."""
    found = _SPACES.match(text, at)
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


class JsonPlaces:
    """Finds the places of the values in a text that is valid JSON. The children of a container are found once."""

    def __init__(self, name: str, text: str) -> None:
        from json import JSONDecoder

        self._scan = JSONDecoder().raw_decode
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

    def value_span(self, pointer: str) -> Span:
        """The place of the value at a pointer, or of the nearest value around it that exists."""
        return self.span_at(self._offsets(pointer)[1])

    def key_span(self, pointer: str) -> Span:
        """The place of the pointer's last key; of the value where it has none."""
        return self.span_at(self._offsets(pointer)[0])

    def _offsets(self, pointer: str) -> tuple[int, int]:
        """The offsets of the key (or element) and the value."""
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
    """The places of a value inside a document, by pointers from that value."""

    def __init__(self, outer: JsonDocument, way: str) -> None:
        self._outer = outer
        self._way = way

    def value_span(self, pointer: str) -> Span:
        """The place of the value at a pointer, or of the nearest value around it that exists."""
        return self._outer.span(self._way + pointer)

    def key_span(self, pointer: str) -> Span:
        """The place of the pointer's last key; of the value where it has none."""
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
    """What is wrong in a text that the parser refuses."""
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
    at += message.startswith(_TRAILING)  # from 3.13 on the parser points at the comma, before that behind it
    before = text[:at].rstrip(_SPACE)
    if before.endswith(",") and text[at:].lstrip(_SPACE)[:1] in ("}", "]", ","):
        return fail("PC0130", "JSON: a `,` with nothing after it", places.span_at(len(before) - 1), help="remove the `,`")
    return fail("PC0130", f"JSON: {_MESSAGES.get(message, message)}", places.span_at(at), help=_suggest_mend(text, at))


def _suggest_mend(text: str, at: int) -> str:
    if text.startswith(("//", "/*", "#"), at):
        return "remove the comment: JSON has none"
    return 'write texts in double quotes: `"…"`' if text[at : at + 1] == "'" else ""


def _too_deep(places: JsonPlaces, at: int) -> Diagnostic:
    return Diagnostic(
        "PC0105", f"lists and mappings are nested more than {MAX_DEPTH} levels deep here", places.span_at(at), "flatten the value"
    )


def _list_faults(text: str, places: JsonPlaces) -> list[Diagnostic]:
    """Keys met twice, numbers that are none, lone surrogates, U+0000, the first place that is too deep; at most 50, in the text's order."""
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
        first = places.span_at(met[key])
        message = f"the key {token[:80]} stands twice in this object; the first is at line {first.line}, column {first.column}"
        yield Diagnostic("PC0106", message, places.span_at(at), "keep one of the two")
    else:
        met[key] = at


def _unescape(match: re.Match[str]) -> str:
    """Enough to compare keys: an escape and the character it stands for give the same text."""
    code = match.group(1)
    return chr(int(code, 16)) if code else _SHORT.get(match.group()[1], match.group()[1])


def _check_text(token: str, at: int, places: JsonPlaces) -> Iterator[Diagnostic]:
    """The first bad escape of a text, at the text's place."""
    for match in re.finditer(_BAD, token) if "\\u" in token else ():
        escape = match.group(1)
        if escape == "u0000":
            message = f"{_ordinal(match, token)} of this text is U+0000 (`\\u0000`), which no prompt can hold"
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
