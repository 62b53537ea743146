"""Patterns that match in time linear in the text, whatever the pattern: an automaton, so that no pattern can hang the compiler.

`Pattern` says whether a pattern occurs in a text, `PatternFinder` where it occurs.

The automaton is built by Thompson's construction. The deterministic automaton is built while matching, as far as texts need it (Cox,
"Regular Expression Matching Can Be Simple And Fast", 2007).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

from promptc.diag.frozen import frozen
from promptc.text.characters import WHITE

MAX_CHARACTERS = 10_000
MAX_PLACES = 1000
MAX_STATES = 5000
MAX_MOVES = 5_000_000
"""The most places that are looked at for new transitions, so that many characters and many states are not multiplied by many places."""

LONGEST = 256
"""The maximum length of an occurrence, in characters."""

_ACCEPT = 0
Ranges = tuple[tuple[int, int], ...]
"""Code points as sorted, disjoint (first, last) pairs."""

_LAST = 0x10FFFF
_DIGIT: Ranges = ((0x30, 0x39),)
_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Ranges = tuple((ord(character), ord(character)) for character in WHITE)
_LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_WIDEST = 4
_MOST_DIGITS = 20
_PAID = 1 << 12
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_HEXADECIMAL = {"x": 2, "u": 4}


class _State:
    """A state of the deterministic automaton: a set of places in the pattern.

    Transitions are cached by character and by class of characters.
    """

    __slots__ = ("by_class", "found", "found_at_end", "next", "places")

    def __init__(self, places: frozenset[int], found: bool, found_at_end: bool) -> None:
        self.places = places
        self.found = found
        self.found_at_end = found_at_end
        self.next: dict[str, _State] = {}
        self.by_class: dict[int, _State] = {}


class Pattern:
    """A pattern that says whether it occurs in a text."""

    def __init__(self, pattern: str) -> None:
        """Compile a pattern. Raises `PatternError` if its syntax is not supported, or if it has too many characters or places."""
        self._chars: dict[int, tuple[Ranges, int]] = {}
        self._edges: dict[int, tuple[bool, int]] = {}
        self._free: dict[int, tuple[int, ...]] = {}
        self._count = 1
        self._entry = self._build(read_pattern(pattern), _ACCEPT)
        self._bounds = sorted({bound for ranges, _ in self._chars.values() for first, last in ranges for bound in (first, last + 1)})
        self._again = self._close((self._entry,))
        self.moves = 0
        """The places that were looked at for new transitions, since the pattern was compiled."""
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Forget the states that texts needed."""
        self._known: dict[frozenset[int], _State] = {}
        self.begun = self.moves
        """The value of `moves` when the states were last forgotten."""
        self._begin = self._make(self._close((self._entry,), start=True), start=True)

    def matches(self, text: str) -> bool:
        """Return whether the pattern occurs anywhere in `text`. Raises `PatternLimitError` if this takes too many states or places.

        The states that earlier texts needed are forgotten first if they leave too little, so that they never change the result.
        """
        try:
            return self._search(text)
        except PatternLimitError:
            self._begin_anew()
            return self._search(text)

    def _search(self, text: str) -> bool:
        state = self._begin
        for character in text:
            if state.found:
                return True
            state = state.next.get(character) or self._step(state, character)
        return state.found_at_end

    def _step(self, state: _State, character: str) -> _State:
        """Return the next state. Characters between two bounds of the pattern's ranges are one class, and lead to the same state."""
        kind = bisect_right(self._bounds, ord(character))
        after = state.by_class.get(kind)
        if after is None:
            after = state.by_class[kind] = self._move(state, ord(character))
        state.next[character] = after
        return after

    def _move(self, state: _State, code: int) -> _State:
        self.moves += len(state.places) + len(self._again)
        if self.moves - self.begun > MAX_MOVES:
            raise PatternLimitError
        moved = {
            target
            for place in state.places
            if place in self._chars
            for ranges, target in (self._chars[place],)
            if any(first <= code <= last for first, last in ranges)
        }
        places = self._close(moved) | self._again
        if places not in self._known:
            if len(self._known) >= MAX_STATES:
                raise PatternLimitError
            self._known[places] = self._make(places)
        return self._known[places]

    def _make(self, places: frozenset[int], *, start: bool = False) -> _State:
        return _State(places, _ACCEPT in places, _ACCEPT in self._close(places, start=start, end=True))

    def _close(self, places: Iterable[int], *, start: bool = False, end: bool = False) -> frozenset[int]:
        """Return these places and all that are reached from them without a character."""
        reached = set(places)
        waiting = list(reached)
        while waiting:
            place = waiting.pop()
            targets = self._free.get(place, ())
            if place in self._edges:
                is_end, target = self._edges[place]
                targets = (target,) if (end if is_end else start) else ()
            fresh = [target for target in targets if target not in reached]
            reached.update(fresh)
            waiting += fresh
        return frozenset(reached)

    def _new(self) -> int:
        self._count += 1
        if self._count > MAX_PLACES:
            raise PatternError(f"it has more than {MAX_PLACES} places, counted repeats written out")
        return self._count - 1

    def _build(self, tree: Tree, target: int) -> int:
        """Build `tree`; return the place from which it leads to `target`."""
        match tree:
            case Chars(ranges):
                place = self._new()
                self._chars[place] = (ranges, target)
                return place
            case Edge(end):
                place = self._new()
                self._edges[place] = (end, target)
                return place
            case Sequence(parts):
                for part in reversed(parts):
                    target = self._build(part, target)
                return target
            case Alternatives(options):
                entries = tuple(self._build(option, target) for option in options)
                place = self._new()
                self._free[place] = entries
                return place
            case Repeat(body, least, most):
                return self._build_repeat(body, least, most, target)

    def _build_repeat(self, body: Tree, least: int, most: int | None, target: int) -> int:
        if most is None:
            loop = self._new()
            self._free[loop] = (self._build(body, loop), target)
            target = loop
        else:
            after = target
            for _ in range(most - least):
                place = self._new()
                self._free[place] = (self._build(body, target), after)
                target = place
        for _ in range(least):
            target = self._build(body, target)
            self._new()
        return target


class PatternFinder(Pattern):
    """A pattern that says where it occurs in a text."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self._again = frozenset()  # an occurrence may begin only where the search begins
        self._begin_anew()

    def _begin_anew(self) -> None:
        super()._begin_anew()
        self._inside = self._make(self._close((self._entry,)))

    def list_occurrences(self, text: str, pay: Callable[[int], None]) -> list[tuple[int, int]]:
        """Return the occurrences as (start, end) in order. They do not overlap, and empty ones do not count.

        Each is the leftmost, and among those with the same start the longest that has at most LONGEST characters. `pay` is called on the
        way with the characters that were read, at most LONGEST times the length of `text`, and with the places that were looked at for new
        transitions. Raises what `pay` raises.
        """
        found: list[tuple[int, int]] = []
        at = paid = read = 0
        while at < len(text):
            before = self.moves
            try:
                end, seen = self._read_end(text, at)
            except PatternLimitError:  # because of earlier places: LONGEST characters need fewer states
                self._begin_anew()
                end, seen = self._read_end(text, at)
            read += seen + self.moves - before
            if end > at:
                found.append((at, end))
            at = max(end, at + 1)
            if read - paid >= _PAID:
                pay(read - paid)
                paid = read
        pay(read - paid)
        return found

    def _read_end(self, text: str, at: int) -> tuple[int, int]:
        state = self._inside if at else self._begin
        end, place = at, at
        for place in range(at, min(at + LONGEST, len(text))):
            state = state.next.get(text[place]) or self._step(state, text[place])
            if state.found or (state.found_at_end and place + 1 == len(text)):
                end = place + 1
            if not state.places:
                break
        return end, place + 1 - at


def _holds(ranges: Ranges, code: int) -> bool:
    at = bisect_right(ranges, (code, _LAST))
    return at > 0 and code <= ranges[at - 1][1]


class PatternLimitError(Exception):
    """The texts need more than MAX_STATES states of a pattern's automaton, or more than MAX_MOVES places for its transitions."""


class PatternError(ValueError):
    """A pattern that is not supported; the message says why."""


@frozen
class Chars:
    """One character out of a set."""

    ranges: Ranges


@frozen
class Edge:
    """The beginning (`^`) or the end (`$`) of the text."""

    end: bool


@frozen
class Sequence:
    parts: tuple[Tree, ...] = ()


@frozen
class Alternatives:
    options: tuple[Tree, ...]


@frozen
class Repeat:
    """A repetition. `most` is None if there is no upper bound."""

    body: Tree
    least: int
    most: int | None


Tree = Chars | Edge | Sequence | Alternatives | Repeat


def read_pattern(pattern: str) -> Tree:
    """Parse a pattern: literals, `.`, classes, escapes, groups, `|`, `*` `+` `?` `{n,m}` (lazy or not), `^`, `$`.

    Raises `PatternError` for more than MAX_CHARACTERS characters, for bad syntax, and for unsupported syntax (look-around, back references,
    `\\b`, `\\p`). The message names it.
    """
    if len(pattern) > MAX_CHARACTERS:
        raise PatternError(f"it has more than {MAX_CHARACTERS} characters")
    reader = _PatternReader(pattern)
    tree = reader.read_choice()
    if reader.at < len(pattern):
        raise PatternError("a `)` without its `(`")
    return tree


@frozen
class Longest:
    """Bounds of the texts that a pattern matches.

    `characters` is the maximum length, or None if there is no bound. `width` is the maximum number of UTF-8 bytes of one character.
    """

    characters: int | None
    width: int


def measure_pattern(pattern: str) -> Longest:
    """Return the bounds of the texts that match a pattern from `^` to `$`; for any other pattern, those of any text."""
    found = _extend(read_pattern(pattern))
    return Longest(found.characters, found.width) if found.starts and found.ends else Longest(None, _WIDEST)


@frozen
class _Extent:
    """Bounds of what a part of a pattern matches: its length, widest character, and whether it must include the text's start and end."""

    characters: int | None = 0
    width: int = 1
    starts: bool = False
    ends: bool = False


def _extend(tree: Tree) -> _Extent:
    match tree:
        case Chars(ranges):
            return _Extent(1, max((len(chr(last).encode("utf-8", "surrogatepass")) for _, last in ranges), default=1))
        case Edge(end):
            return _Extent(starts=not end, ends=end)
        case Sequence(parts):
            found = [_extend(part) for part in parts]
            return _Extent(_add(found), _measure_width(found), any(one.starts for one in found), any(one.ends for one in found))
        case Alternatives(options):
            found = [_extend(option) for option in options]
            lengths = [one.characters for one in found]
            longest = None if None in lengths else max(length for length in lengths if length is not None)
            return _Extent(longest, _measure_width(found), all(one.starts for one in found), all(one.ends for one in found))
        case Repeat(body, least, most):
            inner = _extend(body)
            held = least > 0
            length = 0 if inner.characters == 0 else None if inner.characters is None or most is None else inner.characters * most
            return _Extent(length, inner.width, held and inner.starts, held and inner.ends)


def _add(found: list[_Extent]) -> int | None:
    total = 0
    for one in found:
        if one.characters is None:
            return None
        total += one.characters
    return total


def _measure_width(found: list[_Extent]) -> int:
    return max((one.width for one in found), default=1)


class _PatternReader:
    __slots__ = ("at", "depth", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        character = self.peek()
        if not character:
            raise PatternError("it ends too early")
        self.at += 1
        return character

    def skip(self, word: str) -> bool:
        if not self.text.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def read_choice(self) -> Tree:
        options = [self.read_sequence()]
        while self.skip("|"):
            options.append(self.read_sequence())
        return options[0] if len(options) == 1 else Alternatives(tuple(options))

    def read_sequence(self) -> Tree:
        parts: list[Tree] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.read_quantified(self.read_atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def read_atom(self) -> Tree:
        character = self.take()
        match character:
            case "^" | "$":
                return Edge(character == "$")
            case ".":
                return Chars(invert(_LINE_ENDS))
            case "(":
                return self.read_group()
            case "[":
                return Chars(self.read_class())
            case "\\":
                return Chars(self.read_escape())
            case "*" | "+" | "?":
                raise PatternError(f"a `{character}` with nothing before it")
            case _:
                return Chars(_one(ord(character)))

    def read_group(self) -> Tree:
        if self.skip("?"):
            if self.text.startswith(("<=", "<!"), self.at) or self.peek() not in (":", "<"):
                raise PatternError("promptc does not support look-around")
            if self.take() == "<":
                self._skip_name()
        self.depth += 1
        if self.depth > 50:
            raise PatternError("groups are nested more than 50 deep")
        tree = self.read_choice()
        self.depth -= 1
        if not self.skip(")"):
            raise PatternError("a `(` without its `)`")
        return tree

    def _skip_name(self) -> None:
        while self.take() != ">":
            pass

    def read_quantified(self, atom: Tree) -> Tree:
        bounds = self._read_bounds()
        if bounds is None:
            return atom
        if isinstance(atom, Edge):
            raise PatternError("`^` and `$` cannot be repeated")
        self.skip("?")
        if self._read_bounds() is not None:
            raise PatternError("two quantifiers in a row")
        return Repeat(atom, *bounds)

    def _read_bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.skip(sign):
                return bounds
        close = self.text.find("}", self.at) if self.peek() == "{" else -1
        if close < 0:
            return None
        least, comma, most = self.text[self.at + 1 : close].partition(",")
        if not (least.isascii() and least.isdigit() and (most == "" or (most.isascii() and most.isdigit()))):
            return None
        if max(len(least), len(most)) > _MOST_DIGITS:
            raise PatternError(f"a bound of more than {_MOST_DIGITS} digits")
        self.at = close + 1
        upper = int(least) if not comma else int(most) if most else None
        if upper is not None and upper < int(least):
            raise PatternError(f"the bounds of {{{least},{most}}} are the wrong way round")
        return int(least), upper

    def read_class(self) -> Ranges:
        inverted = self.skip("^")
        found: list[tuple[int, int]] = []
        while not self.skip("]"):
            first = self._read_member()
            if self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self._read_member()
                if len(first) != 1 or len(last) != 1 or first[0][0] != first[0][1] or last[0][0] != last[0][1] or first > last:
                    raise PatternError("a range in `[…]` that is not one")
                first = ((first[0][0], last[0][1]),)
            found += first
        ranges = merge(found)
        return invert(ranges) if inverted else ranges

    def _read_member(self) -> Ranges:
        character = self.take()
        if character == "\\":
            return _one(8) if self.skip("b") else self.read_escape()
        return _one(ord(character))

    def read_escape(self) -> Ranges:
        character = self.take()
        if character.lower() in _CLASSES:
            ranges = _CLASSES[character.lower()]
            return ranges if character.islower() else invert(ranges)
        if character in _CONTROLS and not (character == "0" and self.peek().isdigit()):
            return _one(_CONTROLS[character])
        if character in _HEXADECIMAL:
            return _one(self._read_hexadecimal(_HEXADECIMAL[character]))
        if character.isascii() and character.isalnum():
            raise PatternError(f"`\\{character}` is not read")
        return _one(ord(character))

    def _read_hexadecimal(self, digits: int) -> int:
        if digits == 4 and self.skip("{"):
            close = self.text.find("}", self.at)
            digits = max(close - self.at, 0)
            code = self._read_digits(digits)
            self.at += 1
            return code
        return self._read_digits(digits)

    def _read_digits(self, digits: int) -> int:
        raw = self.text[self.at : self.at + digits]
        if len(raw) != digits or not raw or not all(each in "0123456789abcdefABCDEF" for each in raw) or int(raw, 16) > _LAST:
            raise PatternError("a `\\u` or `\\x` without its hexadecimal digits")
        self.at += digits
        return int(raw, 16)


def _one(code: int) -> Ranges:
    return ((code, code),)


def merge(ranges: list[tuple[int, int]]) -> Ranges:
    """Return the ranges sorted and disjoint."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


def invert(ranges: Ranges) -> Ranges:
    """Return all other code points."""
    starts = [0, *(last + 1 for _, last in ranges)]
    stops = [*(first - 1 for first, _ in ranges), _LAST]
    return tuple((start, stop) for start, stop in zip(starts, stops, strict=True) if start <= stop)
