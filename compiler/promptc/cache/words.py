"""Token counts of words, kept between processes: the words of a text never seen are mostly those of the texts before it."""

import marshal
from collections.abc import Callable, Mapping

from promptc.cache.store import Cache
from promptc.diag.typed import Protocol

MAX_WORDS = 8192
"""How many words are kept, the newest; reading them takes half a millisecond, and is done when something has to be counted."""


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
