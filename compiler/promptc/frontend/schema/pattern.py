"""Patterns matched in time linear in the text, whatever the pattern: an automaton, so that no schema can hang the compiler.

Thompson's construction; the deterministic automaton is built while matching, as far as texts need it (Cox, "Regular Expression Matching
Can Be Simple And Fast", 2007).
"""

from bisect import bisect_right
from collections.abc import Iterable

from promptc.frontend.schema.pattern_syntax import Alternatives, Chars, Edge, PatternError, Ranges, Repeat, Sequence, Tree, read_pattern
from promptc.frontend.schema.rules import PatternLimitError

MAX_PLACES = 1000
MAX_STATES = 5000
_ACCEPT = 0


class _State:
    """What can be true after some text: a set of places in the pattern. Moves are kept by character and by class of characters."""

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
        """A PatternError says why the pattern is not read: its syntax, or more than MAX_PLACES places."""
        self._chars: dict[int, tuple[Ranges, int]] = {}
        self._edges: dict[int, tuple[bool, int]] = {}
        self._free: dict[int, tuple[int, ...]] = {}
        self._count = 1
        self._entry = self._build(read_pattern(pattern), _ACCEPT)
        self._bounds = sorted({bound for ranges, _ in self._chars.values() for first, last in ranges for bound in (first, last + 1)})
        self._known: dict[frozenset[int], _State] = {}
        self._begin = self._make(self._close((self._entry,), start=True), start=True)
        self._again = self._close((self._entry,))

    def matches(self, text: str) -> bool:
        """Whether the pattern occurs anywhere in `text`. A PatternLimitError where that takes too many states."""
        state = self._begin
        for character in text:
            if state.found:
                return True
            state = state.next.get(character) or self._step(state, character)
        return state.found_at_end

    def _step(self, state: _State, character: str) -> _State:
        """Characters between two bounds of the pattern's ranges are one class: they lead to the same state."""
        kind = bisect_right(self._bounds, ord(character))
        after = state.by_class.get(kind)
        if after is None:
            after = state.by_class[kind] = self._move(state, ord(character))
        state.next[character] = after
        return after

    def _move(self, state: _State, code: int) -> _State:
        moved = {
            target for place in state.places if place in self._chars for ranges, target in (self._chars[place],) if _holds(ranges, code)
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
        """With all places that are reached without a character."""
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
        """The place from which `tree` leads to `target`."""
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


def _holds(ranges: Ranges, code: int) -> bool:
    return any(first <= code <= last for first, last in ranges)
