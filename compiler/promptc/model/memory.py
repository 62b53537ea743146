"""What earlier renders came to, for later ones that are made of the same objects."""

from collections.abc import Callable, Hashable, Sequence

from promptc.diag.typed import Any

MOST = 1024
"""Entries of a generation. There are two: what was not asked for while a generation was filled goes."""

_MET = 16 * MOST


class Memory:
    """Results by what they were made of, from the second time on that they were: what is met once, as a turn's input, would only be in the
    way. A key may hold the `id` of an object: the entry keeps that object, so its `id` is no other's.

    For one thread, and for renders whose states share parts, as those of many cases do: nothing is found for objects that are merely equal.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[Sequence[Any], Any]] = {}
        self._older: dict[Hashable, tuple[Sequence[Any], Any]] = {}
        self._met: set[int] = set()

    def find(self, key: Hashable) -> Any:
        """What was noted under the key; None where nothing was, or it has gone."""
        entry = self._entries.get(key)
        if entry is None:
            entry = self._older.get(key)
            if entry is None:
                return None
            self._keep(key, entry)
        return entry[1]

    def make_once(self, key: Hashable, given: Any, make: Callable[[Any], Any]) -> Any:
        """What `make` gives of `given`, whose `id` the key holds; made anew only where that has gone."""
        found = self.find(key)
        if found is None:
            found = make(given)
            self._keep(key, ((given,), found))
        return found

    def note(self, key: Hashable, objects: Sequence[Any], result: Any) -> None:
        """Notes a result, if it is not the first under that key. `objects` are all whose `id` is in the key."""
        met = hash(key)
        if met in self._met:
            self._keep(key, (objects, result))
        elif len(self._met) < _MET:
            self._met.add(met)
        else:
            self._met = {met}

    def _keep(self, key: Hashable, entry: tuple[Sequence[Any], Any]) -> None:
        if len(self._entries) >= MOST:
            self._entries, self._older = {}, self._entries
        self._entries[key] = entry
