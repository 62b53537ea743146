"""Token counts by content, kept between processes: a text that was counted once is looked up."""

from __future__ import annotations

import marshal
from _blake2 import blake2b
from collections.abc import Callable, Mapping

from promptc.cache.store import Cache
from promptc.diag.typed import Protocol

MAX_COUNTS = 4096
"""How many counts are kept; those not needed for longest go first. Reading them all takes a quarter of a millisecond."""

_SIZE = 16
MAX_WORDS = 8192
"""How many words are kept, the newest; reading them takes half a millisecond, and is done when something has to be counted."""


class KeptCounts:
    """What one vocabulary's counter found of texts, by their digests. Not for several threads that count at once."""

    def __init__(self, cache: Cache, vocabulary: str) -> None:
        """`vocabulary` is the digest of what is counted with."""
        self._cache = cache
        self._name = f"counts {vocabulary}"
        self._known: dict[bytes, int] | None = None
        self._used: dict[bytes, int] = {}
        self._is_new = False

    def find(self, text: str) -> int | None:
        """The units of `text`, if it was counted before."""
        if self._known is None:
            self._known = self._load()
        key = _make_key(text)
        found = self._known.get(key)
        if found is not None:
            self._used[key] = found
        return found

    def note(self, text: str, units: int) -> None:
        """Remembers the units of a text that was counted."""
        self._used[_make_key(text)] = units
        self._is_new = True

    def keep(self) -> None:
        """Writes what was noted, with what was known before; nothing when nothing is new."""
        if self._is_new:
            idle = [pair for pair in (self._known or {}).items() if pair[0] not in self._used]
            counts = [*idle, *self._used.items()]
            self._cache.keep(self._name, marshal.dumps(dict(counts[-MAX_COUNTS:])))
            self._is_new = False

    def _load(self) -> dict[bytes, int]:
        content = self._cache.load(self._name)
        return marshal.loads(content) if content is not None else {}


def _make_key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()


class Recalling(Protocol):
    """A counter that remembers words and can be told more of them; its `digest` is that of its vocabulary."""

    @property
    def digest(self) -> str: ...

    @property
    def words(self) -> Mapping[str, int]: ...

    def recall(self, words: Callable[[], Mapping[str, int]]) -> None: ...


class KeptWords:
    """What one vocabulary's counter found of words; the counter asks for them when it first counts."""

    def __init__(self, cache: Cache, counter: Recalling) -> None:
        self._cache = cache
        self._counter = counter
        self._name = f"words {counter.digest}"
        self._count = len(counter.words)
        counter.recall(self._load)

    def keep(self) -> None:
        """Keeps the words the counter knows, the last of them if they are too many; nothing when none is new."""
        words = self._counter.words
        if len(words) > self._count:
            self._count = len(words)
            self._cache.keep(self._name, marshal.dumps(dict(list(words.items())[-MAX_WORDS:])))

    def _load(self) -> dict[str, int]:
        content = self._cache.load(self._name)
        known: dict[str, int] = marshal.loads(content) if content is not None else {}
        self._count = len(known)
        return known
