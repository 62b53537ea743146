"""The exact counter: OpenAI's tokenizers over the shipped vocabularies, in the standard library alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from promptc.diag.span import Span
from promptc.text.counters.runs import TokenRun, find_runs
from promptc.text.counters.splitting import find_inner_boundary, is_boundary
from promptc.text.counters.token_places import find_token_ends
from promptc.text.counters.vocabulary import VOCABULARIES, check_vocabulary, find_vocabulary

_WORDS = 100_000
_WORD = 64  # characters


class TableCounter:
    """Counts as tiktoken's `encode_ordinary` does. What that takes is loaded when something is first counted."""

    exact = True
    unit = 1

    def __init__(self, name: str, path: str) -> None:
        """`path`: where the vocabulary's table lies."""
        self.name = name
        self.digest = f"sha256:{VOCABULARIES[name].sha256}"
        self._path = path
        self._slash = name == "cl100k_base"
        self._recall: Callable[[], Mapping[str, int]] = dict
        self._recounts = False

    special_tokens: Sequence[str] = ()
    """Of the form `<|name|>`, which every guard knows."""

    def measure(self, text: str) -> int:
        """Tokens."""
        return self._tally(self._split(text))

    def recount(self, text: str) -> int:
        """The same. From the second on, by what the pattern found in lines before."""
        if self._recounts:
            return self._count_lines(text)
        self._recounts = True  # a render that is alone in its process has no use for a memory
        return self.measure(text)

    @property
    def words(self) -> Mapping[str, int]:
        """The short pieces counted or recalled so far, the newest last."""
        found: Mapping[str, int] = self.__dict__.get("_words", {})
        return found

    def recall(self, words: Callable[[], Mapping[str, int]]) -> None:
        """Pieces that this vocabulary counted before, with their counts: asked for when something is first counted."""
        self._recall = words

    def is_safe(self, left: str, right: str) -> bool:
        """True at the boundaries of `boundary`."""
        return is_boundary(left, right, slash=self._slash)

    def find_inner(self, text: str) -> tuple[int, int] | None:
        """The outermost boundaries of `boundary`."""
        return find_inner_boundary(text, slash=self._slash)

    def find_runs(self, text: str) -> list[TokenRun]:
        """Long runs of letters, digits or marks."""
        return find_runs(text, cased=not self._slash)

    def iter_starts(self, text: str) -> Sequence[int]:
        """In UTF-8 bytes."""
        return [0, *self._ends(text)][:-1]

    def token_ends(self, text: str) -> Sequence[int]:
        """In characters."""
        return find_token_ends(text, self._ends(text))

    def role_tokens(self, role: str) -> int:
        """The tokens of the name."""
        return self.measure(role)

    def _ends(self, text: str) -> list[int]:
        encode = self._words.encode
        return list(accumulate(len(token) for piece in self._split(text) for token in encode(piece.encode())))

    def _tally(self, pieces: Iterable[str]) -> int:
        return sum(map(self._words.__getitem__, pieces))

    @cached_property
    def _count_lines(self) -> Callable[[str], int]:
        from promptc.text.counters.line_counts import LineCounts

        return LineCounts(self._split, self._tally).count

    @cached_property
    def _split(self) -> Callable[[str], Iterable[str]]:
        from promptc.text.counters.split_text import load_splitter

        return load_splitter(self.name)

    @cached_property
    def _words(self) -> _Words:
        from promptc.text.counters.bpe import PieceEncoder
        from promptc.text.counters.table import open_table

        return _Words(PieceEncoder(open_table(self.name, self._path)).encode, self._recall())


class _Words(dict[str, int]):
    """From a piece to its tokens' number. Remembers short ones up to a bound; a text has few different words."""

    def __init__(self, encode: Callable[[bytes], list[bytes]], known: Mapping[str, int]) -> None:
        super().__init__(known)
        self.encode = encode

    def __missing__(self, piece: str) -> int:
        count = len(self.encode(piece.encode()))
        if len(piece) <= _WORD:
            if len(self) >= _WORDS:
                self.clear()
            self[piece] = count
        return count


def load_table_counter(name: str, path: str = "", span: Span | None = None) -> TableCounter:
    """The counter of the shipped vocabulary `name`; one and the same for every pack of a program. `path`: where its table lies instead."""
    path = path or find_vocabulary(name)
    check_vocabulary(name, path, span)
    counter = _LOADED.get((name, path))
    return counter or _LOADED.setdefault((name, path), TableCounter(name, path))


_LOADED: dict[tuple[str, str], TableCounter] = {}
