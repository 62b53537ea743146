"""What earlier renders came to, for later ones that are made of the same objects."""

from collections.abc import Hashable, Sequence

from promptc.diag.typed import Any

MOST = 1024
"""Entries; the oldest go first."""


class Memory:
    """Results by what they were made of. A key may hold the `id` of an object: the entry keeps that object, so its `id` is no other's.

    For one thread, and for renders whose states share parts, as those of many cases do: nothing is found for objects that are merely equal.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[Sequence[Any], Any]] = {}

    def find(self, key: Hashable) -> Any:
        """What was noted under the key; None where nothing was, or it has gone."""
        entry = self._entries.get(key)
        return entry[1] if entry is not None else None

    def note(self, key: Hashable, objects: Sequence[Any], result: Any) -> None:
        """Notes a result. `objects` are all whose `id` is in the key."""
        self._entries[key] = objects, result
        if len(self._entries) > MOST:
            del self._entries[next(iter(self._entries))]
