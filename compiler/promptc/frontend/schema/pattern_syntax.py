"""Regular expressions as JSON Schema means them (ECMA-262, Unicode), read into a tree; `\\s` is the white space of `text/white.py`."""

from promptc.diag.frozen import frozen
from promptc.text.white import WHITE

Ranges = tuple[tuple[int, int], ...]
"""Code points as sorted, disjoint (first, last) pairs."""

_LAST = 0x10FFFF
_DIGIT: Ranges = ((0x30, 0x39),)
_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Ranges = tuple((ord(character), ord(character)) for character in WHITE)
_LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_HEXADECIMAL = {"x": 2, "u": 4}


class PatternError(ValueError):
    """The pattern is not one that is read here; the message says why."""


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
    parts: "tuple[Tree, ...]" = ()


@frozen
class Alternatives:
    options: "tuple[Tree, ...]"


@frozen
class Repeat:
    """`most` is None where there is no upper bound."""

    body: "Tree"
    least: int
    most: int | None


Tree = Chars | Edge | Sequence | Alternatives | Repeat


def read_pattern(pattern: str) -> Tree:
    """The tree of a pattern: literals, `.`, classes, escapes, groups, `|`, `*` `+` `?` `{n,m}` (lazy or not), `^`, `$`.

    A PatternError names what is not read: look-around, back references, `\\b`, `\\p`, and bad syntax.
    """
    reader = _PatternReader(pattern)
    tree = reader.read_choice()
    if reader.at < len(pattern):
        raise PatternError("a `)` without its `(`")
    return tree


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
                raise PatternError("look-around is not read")
            if self.take() == "<":
                self._skip_name()
        self.depth += 1
        if self.depth > 50:
            raise PatternError("groups stand in each other more than 50 deep")
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
        close = self.text.find("}", self.at)
        if self.peek() != "{" or close < 0:
            return None
        least, comma, most = self.text[self.at + 1 : close].partition(",")
        if not (least.isascii() and least.isdigit() and (most == "" or (most.isascii() and most.isdigit()))):
            return None
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
                    raise PatternError("a range in `[…]` that is none")
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
    """Sorted and disjoint."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


def invert(ranges: Ranges) -> Ranges:
    """All other code points."""
    starts = [0, *(last + 1 for _, last in ranges)]
    stops = [*(first - 1 for first, _ in ranges), _LAST]
    return tuple((start, stop) for start, stop in zip(starts, stops, strict=True) if start <= stop)
