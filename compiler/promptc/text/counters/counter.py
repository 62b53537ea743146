"""The protocol of a token counter (`Counter`), the simplest counter, and a cache for any counter (`Meter`).

The rest of the compiler uses tokenizers only through this protocol. This module also has what counters share: the places where counts add
up (`iter_inner`, `iter_pieces`), and the long runs that may be cut inside (`list_runs`).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

from promptc.cache import KeptCounts
from promptc.diag.findings import Span, fail
from promptc.diag.typed import NamedTuple, Protocol
from promptc.text.characters import compile_later
from promptc.text.counters.splitting import (
    LETTER,
    LONG_S,
    LOWER,
    MARK,
    NUMBER,
    OTHER,
    UPPER,
    WHITE,
    encode_classes,
    find_inner_boundary,
    is_boundary,
)

ENCODING = "tiktoken:"
"""The prefix of the name of a tiktoken encoding."""

LARGEST = 64 * 1024 * 1024
"""The maximum size of a tokenizer file, in bytes."""

_SHORT = 2048
_WHOLE = "whole\0"
_ENTRIES = 200_000
_CHARACTERS = 32_000_000
_INDEXED = 4_000_000
"""The most characters of texts whose piece counts a meter remembers."""

_APART = 256
_STRETCH = 1024
"""The size, in characters, above which a piece is split further, at places at least `_APART` apart."""
_AHEAD = 64
_LONG = 256
_EDGE = 4  # characters; a contraction (`'ll`) may take the first letters of a run
_ENDS = frozenset("pdw")
_PLACES = compile_later(r"[\r\n](?![\r\n])|(?<=\S)(?= \S)|(?<=\w)(?=[^\w\s])|(?<=[^\s\d])(?=\d)|(?<=\d)(?=[^\s\d])|(?<=[a-z])(?=[A-Z])")
_PIECE_ENDS = compile_later(r"[\r\n](?![\r\n])|[.!?…:;](?= \S)|\w(?=[。！？])")


class Counter(Protocol):
    """Counts a text in *units*: tokens, or for `chars/4` characters, of which `unit` make a token.

    A special token that is spelled out in a text counts as ordinary text. Texts have no lone surrogates: these are refused when texts are
    read. A counter is immutable, and several threads may use it.
    """

    @property
    def name(self) -> str:
        """The name that a manifest uses: `cl100k_base`, `chars/4`, `hf:tokenizer.json`."""

    @property
    def digest(self) -> str:
        """The digest, `sha256:…`, of the counter's vocabulary."""

    @property
    def exact(self) -> bool:
        """False if the counts are estimates."""

    @property
    def unit(self) -> int:
        """The number of units in a token: tokens = ceil(units / unit)."""

    @property
    def bytewise(self) -> bool:
        """True only if no text has more units than UTF-8 bytes."""

    @property
    def special_tokens(self) -> Sequence[str]:
        """The texts that the tokenizer reads as structure by default, in addition to the usual special tokens."""

    def measure(self, text: str) -> int:
        """Return the units of `text`; 0 for an empty text. Accepts any text of any length."""

    def recount(self, text: str) -> int:
        """Return `measure(text)` to confirm a sum: the whole of `text` is counted again, without any count that the sum was made of."""

    def measure_framed(self, text: str) -> int:
        """Return the units of a whole prompt in which special tokens are structure, as a chat template writes it.

        Only `hf:` knows these tokens.
        """

    def is_safe(self, left: str, right: str) -> bool:
        """Return True only if `measure(left + right) == measure(left) + measure(right)`. Only the two adjoining ends are read.

        This extends to any number of texts: if each two neighbours in a row of non-empty texts join safely, the counts of the whole row add
        up.
        """

    def find_inner(self, text: str) -> tuple[int, int] | None:
        """Return the first and the last place inside `text` where counts add up; None if there is no such place.

        For these places i <= j, the counts of `text[:i]`, `text[i:j]` and `text[j:]` add up. The result is valid whatever text comes before
        or after `text`.
        """

    def list_runs(self, text: str) -> list[TokenRun]:
        """Return the stretches of `text` that have no safe places but in which tokens can be joined, in order.

        See the function `list_runs` of this module.
        """

    def iter_starts(self, text: str) -> Sequence[int]:
        """Return the offset of the first byte of every token in the UTF-8 form of `text`, in ascending order."""

    def token_ends(self, text: str) -> Sequence[int]:
        """Return the token ends, as character offsets in ascending order; the last is the end of the text.

        Token ends inside a character or a CR LF are left out.
        """

    def role_tokens(self, role: str) -> int:
        """Return the tokens that the name of a role adds to a message."""


class TokenCounter(Protocol):
    """What all counters of tokens have in common. A subclass has `special_tokens`, and says where tokens begin and end.

    `_shipped` is the vocabulary whose boundaries are safe for the counter: a place between two texts is safe if that vocabulary splits
    every text there. If it is empty, no place is known to be safe.
    """

    exact: bool = True
    unit: int = 1
    bytewise: bool = True
    name: str
    digest: str
    _shipped: str
    _slash: bool

    def __init__(self, name: str, digest: str, shipped: str = "") -> None:
        self.name = name
        self.digest = digest
        self._shipped = shipped
        self._slash = shipped == "cl100k_base"

    def measure(self, text: str) -> int:
        """Return the number of tokens."""
        ...

    def recount(self, text: str) -> int:
        """Return the number of tokens, counted again."""
        return self.measure(text)

    def measure_framed(self, text: str) -> int:
        """Return the number of tokens: special tokens are ordinary text for a counter that knows no chat template."""
        return self.measure(text)

    def is_safe(self, left: str, right: str) -> bool:
        """Return True at the boundaries that `splitting` defines; without a vocabulary, only if one of the texts is empty."""
        return is_boundary(left, right, slash=self._slash) if self._shipped else not left or not right

    def find_inner(self, text: str) -> tuple[int, int] | None:
        """Return the first and the last boundary inside `text`; None if there is none."""
        return find_inner_boundary(text, slash=self._slash) if self._shipped else None

    def list_runs(self, text: str) -> list[TokenRun]:
        """Return the long runs of letters, digits or marks; none are known without a vocabulary."""
        return list_runs(text, cased=not self._slash) if self._shipped else []

    def role_tokens(self, role: str) -> int:
        """Return the tokens of the name."""
        return self.measure(role)


class Refusing:
    """Turns an error of a tokenizer package into a diagnostic.

    The context manager catches exactly `Exception` and `ValueError`, and panics, which are recognized by their class name only. It does not
    catch subclasses, as a clause `except Exception` would.
    """

    def __init__(self, code: str, message: str, span: Span | None, help: str) -> None:
        self._code, self._message, self._span, self._help = code, message, span, help

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind in (Exception, ValueError) or (kind is not None and kind.__name__ == "PanicException"):
            raise fail(self._code, f"{self._message}: {str(error)[:200]}", self._span, help=self._help) from error


class TokenRun(NamedTuple):
    """A run `text[first:last]` that may be cut at any of its token ends.

    With `step` 3 a token ends at every third character from `first`.
    """

    first: int
    last: int
    step: int


class CharacterCounter:
    """Counts characters (code points), four of which make a token; counts add up everywhere."""

    name = "chars/4"
    digest = "sha256:bf8c86e3cf4deec0e825762217533e015eb7f4bc1a48d14d822d69fa3ab7b546"
    exact = False
    unit = 4
    bytewise = True

    special_tokens: Sequence[str] = ()
    """Empty: this counter has no special tokens of its own."""

    def measure(self, text: str) -> int:
        """Return the number of characters."""
        return len(text)

    def recount(self, text: str) -> int:
        """Return the number of characters."""
        return self.measure(text)

    def measure_framed(self, text: str) -> int:
        """Return the number of characters."""
        return self.measure(text)

    def is_safe(self, left: str, right: str) -> bool:
        """Return True: characters add up everywhere."""
        return True

    def find_inner(self, text: str) -> tuple[int, int] | None:
        """Return the first and the last place inside `text`; None for a text shorter than two characters."""
        return (1, len(text) - 1) if len(text) > 1 else None

    def list_runs(self, text: str) -> list[TokenRun]:
        """Return an empty list: no runs are needed."""
        return []

    def iter_starts(self, text: str) -> Sequence[int]:
        """Return the byte offset of every fourth character, as a token begins there."""
        starts, place = [], 0
        for first in range(0, len(text), 4):
            starts.append(place)
            place += len(text[first : first + 4].encode())
        return starts

    def token_ends(self, text: str) -> Sequence[int]:
        """Return the offset after every fourth character, and the end of the text."""
        ends = [*range(4, len(text), 4), len(text)] if text else []
        return [end for end in ends if text[end - 1 : end + 1] != "\r\n"]

    def role_tokens(self, role: str) -> int:
        """Return 0: the estimate of a message includes its role."""
        return 0


class Meter:
    """A counter with a bounded cache of counts by content. An eviction changes the time taken, never a number.

    Several threads may use one meter that has no `kept`: each step of its cache is a single operation on a dict.
    """

    def __init__(self, counter: Counter, kept: KeptCounts | None = None) -> None:
        self.counter = counter
        self._kept = kept if counter.unit == 1 else None
        self.is_safe = counter.is_safe
        self._counts: dict[str, int] = {}
        self._older: dict[str, int] = {}
        self._characters = 0
        self._indexes: dict[str, TextIndex] = {}
        self._indexed = 0

    def count(self, text: str) -> int:
        """Return `counter.measure(text)`, in units."""
        found = self._counts.get(text)
        return found if found is not None else self._count_new(text)

    def fits(self, text: str, most: int) -> bool:
        """Return whether `count(text)` is at most `most` units. If the bytes of the text already prove it, the text is not counted."""
        is_short = len(text) <= most and self.counter.bytewise
        return (is_short and (text.isascii() or len(text.encode()) <= most)) or self.count(text) <= most

    def count_ended(self, text: str, ending: str) -> int:
        """Return `count(text + ending)`. A long text with several endings is counted once."""
        ended = text + ending
        if len(text) <= _SHORT or self.counter.unit > 1:
            return self.count(ended)
        found = self._counts.get(ended)
        return found if found is not None else self._count_new(ended, lambda _: self.index(text).count_ended(ending))

    def index(self, text: str) -> TextIndex:
        """Return the counts of the pieces of `text`. Those of long texts are cached."""
        found = self._indexes.get(text)
        if found is None:
            found = TextIndex(self, text)
            if len(text) > _SHORT:
                self._indexed += len(text)
                if self._indexed > _INDEXED:
                    self._indexes, self._indexed = {}, len(text)
                self._indexes[text] = found
        return found

    def count_whole(self, text: str) -> int:
        """Return `counter.measure(text)`, counted again by `counter.recount` to confirm a sum. The only cache it uses is `kept`."""
        return self._count_kept(f"{_WHOLE}{text}", lambda marked: self.counter.recount(marked[len(_WHOLE) :]))

    def tokens(self, units: int) -> int:
        """Convert units to tokens, rounding up."""
        return -(-units // self.counter.unit)

    def _count_new(self, text: str, count: Callable[[str], int] | None = None) -> int:
        if self.counter.unit > 1:
            return self.counter.measure(text)  # counting characters is cheaper than a lookup
        units = self._older.get(text)
        if units is None:
            units = self._count_kept(text, count or self._count_parts)
        self._remember(text, units)
        return units

    def _count_kept(self, text: str, count: Callable[[str], int]) -> int:
        if self._kept is None:
            return count(text)
        units = self._kept.find(text)
        if units is None:
            units = count(text)
            self._kept.note(text, units)
        return units

    def _count_parts(self, text: str) -> int:
        return self.index(text).units[-1] if len(text) > _SHORT else self.counter.measure(text)

    def count_piece(self, piece: str) -> int:
        """Return `count(piece)` for a piece of `iter_pieces`, which cannot be split any further."""
        found = self._counts.get(piece)
        return found if found is not None else self._count_new(piece, self.counter.measure)

    def _remember(self, text: str, units: int) -> None:
        self._characters += len(text)
        if len(self._counts) >= _ENTRIES or self._characters > _CHARACTERS:
            self._older, self._counts, self._characters = self._counts, {}, len(text)
        self._counts[text] = units


class TextIndex:
    """The places where a text may be split so that counts add up, and the units before each place.

    `places` ascend from 0 to the end of the text, a sentence or a line apart; `units` are those before each of them. `edge` is the index of
    the last place before which no ending of the text can change a count.
    """

    __slots__ = ("_counter", "_text", "edge", "places", "units")

    def __init__(self, meter: Meter, text: str) -> None:
        self._counter = meter.counter
        self._text = text
        places, units, place, total = [0], [0], 0, 0
        for piece in iter_pieces(meter.counter, text):
            if len(piece) > _STRETCH:
                for part in _iter_apart(meter.counter, piece):
                    place += len(part)
                    total += meter.counter.measure(part)
                    places.append(place)
                    units.append(total)
            elif piece:
                place += len(piece)
                total += meter.count_piece(piece)
                places.append(place)
                units.append(total)
        self.places: Sequence[int] = array("L", places)
        self.units: Sequence[int] = array("L", units)
        self.edge = max(bisect_right(places, len(text) - _AHEAD) - 1, 0)

    def count_ended(self, ending: str) -> int:
        """Return the units of the text followed by `ending`."""
        place = self.places[self.edge]
        return self.units[self.edge] + self._counter.measure(self._text[place:] + ending)


def _iter_apart(counter: Counter, text: str) -> Iterator[str]:
    """Yield `text` in parts that add up, each of at least `_APART` characters except possibly the last."""
    start = 0
    for place in _iter_safe(counter, text, _PLACES, _APART):
        yield text[start:place]
        start = place
    yield text[start:]


def iter_inner(counter: Counter, text: str) -> Iterator[int]:
    """Yield, in ascending order, the places inside `text` where counts add up: at line ends, spaces and changes of class."""
    return _iter_safe(counter, text, _PLACES)


def iter_pieces(counter: Counter, text: str) -> Iterator[str]:
    """Yield `text` in parts that add up: lines, split where sentences end, as far as those places are safe.

    Where a part ends depends only on the text nearby, and therefore two texts that differ in one place share all other parts.
    """
    start = 0
    for place in _iter_safe(counter, text, _PIECE_ENDS):
        yield text[start:place]
        start = place
    yield text[start:]


def _iter_safe(counter: Counter, text: str, pattern: re.Pattern[str], apart: int = 0) -> Iterator[int]:
    size, is_safe, least = len(text), counter.is_safe, apart
    for found in pattern.finditer(text):
        place = found.end()
        if place >= least and 0 < place < size and is_safe(text[place - 1], text[place : place + _AHEAD]):
            yield place
            least = place + apart


def list_token_ends(text: str, ends: Sequence[int]) -> Sequence[int]:
    """Return the character offsets of the UTF-8 offsets `ends` (ascending), without those inside a character or a CR LF."""
    if text.isascii():
        return [end for end in ends if not _parts_line_end(text, end)] if "\r\n" in text else ends
    found = []
    place = index = 0
    for end in ends:
        while place < end:
            place += _width(text[index])
            index += 1
        if place == end and not _parts_line_end(text, index):
            found.append(index)
    return found


def _width(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _parts_line_end(text: str, place: int) -> bool:
    return text[place - 1 : place + 1] == "\r\n"


def list_runs(text: str, *, cased: bool) -> list[TokenRun]:
    """Return the long runs of `text` whose neighbours cannot become part of the same match.

    With `cased`, small letters, capitals, and other letters and marks are separate classes (o200k_base); without it, all letters are one
    class, and marks are like punctuation (cl100k_base).
    """
    if len(text) < _LONG:
        return []
    codes = encode_classes(text)
    classes = codes.translate(_CASED if cased else _PLAIN)
    found = (_trim_run(codes, classes, *run.span()) for run in re.finditer(rf"([luopd])\1{{{_LONG - 1},}}", classes))
    return [run for run in found if run is not None]


def _trim_run(codes: str, classes: str, first: int, last: int) -> TokenRun | None:
    after_line = codes[max(first - 1, 0) : first] in ("\r", "\n") and codes[first] == "/"  # o200k_base takes slashes after a line end
    if (classes[last : last + 1] or "w") not in _ENDS or after_line:
        return None
    if classes[first] == "d":
        return TokenRun(first, last, 3)
    while first < last and codes[first] == MARK:
        first += 1  # marks after punctuation may belong to it
    return TokenRun(first + _EDGE, last, 1) if first + _EDGE < last else None


def ends_match(character: str) -> bool:
    """Return whether `character`, after a cut inside a run, ends the match: whether it is a digit, punctuation or white space."""
    return encode_classes(character).translate(_CASED) in _ENDS


def _make_table(upper: str, lower: str, letter: str, mark: str) -> dict[int, str]:
    """Make a table for `str.translate` from the stand-ins of `encode_classes` to the classes of this module."""
    table = dict.fromkeys(range(128), "p") | {ord(OTHER): "p", ord(NUMBER): "d", ord(WHITE): "w", ord(LONG_S): lower}
    table |= dict.fromkeys(range(9, 14), "w") | {ord(" "): "w"} | dict.fromkeys(range(ord("0"), ord("9") + 1), "d")
    table |= dict.fromkeys(range(ord("A"), ord("Z") + 1), upper) | dict.fromkeys(range(ord("a"), ord("z") + 1), lower)
    return table | {ord(UPPER): upper, ord(LOWER): lower, ord(LETTER): letter, ord(MARK): mark}


_CASED = _make_table("u", "l", "o", "o")
_PLAIN = _make_table("l", "l", "l", "p")
