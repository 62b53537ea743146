"""The exact counter: OpenAI's tokenizers over the shipped vocabularies, encoded by tiktoken. Nothing else imports tiktoken, and this
module is imported when a pack names such a counter."""

import re
from binascii import a2b_base64
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from tiktoken import Encoding

from promptc.diag.span import Span
from promptc.text.counters.boundary import find_inner_boundary, is_boundary
from promptc.text.counters.runs import Run, find_runs
from promptc.text.counters.token_places import find_token_ends
from promptc.text.counters.vocabulary import VOCABULARIES, load_vocabulary

# tiktoken's regex engine panics (with what is no Exception) in a run of about a million white characters without a line end.
_LONG = 100_000
_WHITE_RUN = re.compile("[\\t\\x0b\\x0c \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]{32,}")
_ONE_PIECE = r"[\s\S]+"


class TiktokenCounter:
    """Counts as tiktoken's `encode_ordinary` does. The encoder is made when it is first used (0.1 to 0.4 s)."""

    exact = True
    unit = 1

    def __init__(self, name: str, ranks: bytes) -> None:
        """`ranks`: the bytes of the rank file, already checked."""
        self.name = name
        self.digest = f"sha256:{VOCABULARIES[name].sha256}"
        self._ranks = ranks
        self._slash = name == "cl100k_base"

    def measure(self, text: str) -> int:
        """Tokens."""
        return len(self._encode(text))

    def is_safe(self, left: str, right: str) -> bool:
        """True at the boundaries of `boundary`."""
        return is_boundary(left, right, slash=self._slash)

    def find_inner(self, text: str) -> tuple[int, int] | None:
        """The outermost boundaries of `boundary`."""
        return find_inner_boundary(text, slash=self._slash)

    def find_runs(self, text: str) -> list[Run]:
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
        return list(accumulate(map(len, self._encoding.decode_tokens_bytes(self._encode(text)))))

    def _encode(self, text: str) -> list[int]:
        if len(text) <= _LONG:
            return self._encoding.encode_ordinary(text)
        return [
            token
            for piece, whole in _iter_pieces(text, split_end=not self._slash)
            for token in (self._whole if whole else self._encoding).encode_ordinary(piece)
        ]

    @cached_property
    def _encoding(self) -> Encoding:
        return self._make_encoding(VOCABULARIES[self.name].pattern)

    @cached_property
    def _whole(self) -> Encoding:
        """Encodes any text as a single match of the pattern."""
        return self._make_encoding(_ONE_PIECE)

    def _make_encoding(self, pattern: str) -> Encoding:
        count = VOCABULARIES[self.name].ranks
        ranks = dict(zip(map(a2b_base64, self._ranks.split()[::2]), range(count), strict=True))
        return Encoding(self.name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}, explicit_n_vocab=count)


def load_tiktoken_counter(name: str, path: Path, span: Span | None = None) -> TiktokenCounter:
    """The counter of the shipped vocabulary `name`, whose rank file is at `path`; one and the same for every pack of a program."""
    counter = _LOADED.get((name, path))
    return counter or _LOADED.setdefault((name, path), TiktokenCounter(name, load_vocabulary(name, path, span)))


_LOADED: dict[tuple[str, Path], TiktokenCounter] = {}


def _iter_pieces(text: str, *, split_end: bool) -> Iterator[tuple[str, bool]]:
    """Parts of `text` whose tokens, one part's after the other's, are those of `text`; True for one that the pattern takes in one match.

    A long white run without a line end, before other text, is matched by `\\s+(?!\\S)` up to its last character, which begins the next
    match. What stands before it ends in a line end or in something not white, so no match reaches into it. Before a line end the run is
    matched with that, which the engine can do. At the end of the text o200k_base matches it whole (`split_end`), cl100k_base together
    with line ends before it (`\\s++$`), which the engine can do too.
    """
    done = 0
    for run in _WHITE_RUN.finditer(text):
        start, stop = run.span()
        follower = text[stop : stop + 1]
        if stop - start > _LONG and (follower not in "\r\n" if follower else split_end):
            last = stop - len(follower)
            yield text[done:start], False
            yield text[start:last], True
            done = last
    yield text[done:], False
