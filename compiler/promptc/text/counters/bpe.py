"""Byte-pair encoding: join the two neighbours that together are the token of the lowest rank, the leftmost first, until no two are a token.

A long piece is encoded window by window. This is exact because a row of tokens is the encoding of its bytes if and only if each two
neighbours are the encoding of theirs. Proof: up to the first join across the border of two tokens, everything inside each token happens as
if the two were alone, and so the two alone would be joined there as well; and vice versa. A window begins at the last known token and must
find that token again. The last tokens of a window are dropped, as they end where they do only because the window ends. If a window does not
find its first token again, that token was wrong: more tokens are dropped, and a larger window begins there.

The vocabulary, not the text, bounds how far the end of a window affects its tokens: the effect spreads only from pair to pair of falling
rank. The windows therefore grow to a sufficient size, and the cost is linear.
"""

from __future__ import annotations

import mmap
import os
import sys
from array import array
from collections.abc import Sequence
from itertools import pairwise
from zlib import adler32, crc32

from promptc.diag.findings import PromptcError, Span, fail
from promptc.diag.frozen import frozen
from promptc.text.json import render_digest

WINDOW = 64
"""The initial size of a window, in bytes. A piece of this length or less is a single window."""

EDGE = 3
_ENTRIES = 4096
_SINGLES = [bytes((byte,)) for byte in range(256)]
MAGIC = b"promptc tokens 1"
HEAD = 64
NONE = (1 << 30) - 1
"""A number above any key."""

_TABLE_ENTRIES = 1 << 16
_FOLDER: str | os.PathLike[str] = f"{__file__.rpartition('text')[0]}vocabularies"
_REINSTALL = "install promptc again, or name a counter under `tokenizer: {fallback: ...}`"


class PieceEncoder:
    """Encodes pieces. A bounded cache of windows makes text that repeats itself almost free."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._windows: dict[bytes, list[bytes]] = {}

    def encode(self, piece: bytes) -> list[bytes]:
        """Return the tokens of `piece`, which must not be empty."""
        if len(piece) <= WINDOW:
            return [piece] if self._table[piece] != NONE else merge(self._table, piece)
        row: list[bytes] = []
        place = far = 0
        size, edge = WINDOW, EDGE
        while True:
            parts = self._encode_window(piece[place : place + size])
            if row and parts[0] != row[-1]:
                far = max(far, place)
                size, edge = 2 * size, 2 * edge
                place -= sum(map(len, row[-edge - 1 : -1]))
                del row[-edge:]
            elif place + size >= len(piece):
                row[-1:] = parts
                return row
            elif len(parts) < edge + 2:
                size *= 2
            else:
                row[-1:] = parts[:-edge]
                place += sum(map(len, parts[: -edge - 1]))
                if place > far:
                    size, edge = max(size // 2, WINDOW), max(edge // 2, EDGE)

    def _encode_window(self, window: bytes) -> list[bytes]:
        parts = self._windows.get(window)
        if parts is None:
            if len(self._windows) >= _ENTRIES:
                self._windows.clear()
            self._windows[window] = parts = merge(self._table, window)
        return parts


def merge(table: Table, piece: bytes) -> list[bytes]:
    """Return the tokens of `piece` by the definition of the encoding. The cost grows with the square of its length."""
    parts = [_SINGLES[byte] for byte in piece]
    keys = [table[left + right] for left, right in pairwise(parts)]
    while keys:
        low = min(keys)
        if low == NONE:
            break
        place = keys.index(low)
        joined = parts[place] + parts.pop(place + 1)
        parts[place] = joined
        del keys[place]
        if place < len(keys):
            keys[place] = table[joined + parts[place + 1]]
        if place:
            keys[place - 1] = table[parts[place - 1] + joined]
    return parts


class Table(dict[bytes, int]):
    """Maps bytes to the key of their token, or to NONE: `table[token]`. Of two tokens, the one with the lower key has the lower rank.

    The dict itself is a bounded cache of lookups. A text has few different pairs.
    """

    def __init__(self, file: mmap.mmap) -> None:
        super().__init__()
        self._file = file
        self._count = int.from_bytes(file[48:52], "little")
        self._tokens = HEAD + 4 * self._count
        self._slots = view_words(memoryview(file)[HEAD : self._tokens])

    def __missing__(self, token: bytes) -> int:
        if len(self) >= _TABLE_ENTRIES:
            self.clear()
        slots, size = self._slots, len(token)
        place = crc32(token) % self._count
        while key := slots[place]:
            if key & 255 == size:
                first = self._tokens + (key >> 8)
                if self._file[first : first + size] == token:
                    break
            place += 1
            if place == self._count:
                place = 0
        self[token] = key = key or NONE
        return key


def open_table(name: str, path: str) -> Table:
    """Open the table at `path`. Raises PC0181 if it cannot be read, or if its checksum is not that of the vocabulary `name`."""
    try:
        with open(path, "rb") as opened:  # noqa: PTH123 - pathlib takes longer to import than a render may
            file = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # the file is missing or empty
        raise refuse_vocabulary(name, path) from error
    if adler32(file) != VOCABULARIES[name].check:
        raise refuse_vocabulary(name, path)
    return Table(file)


def view_words(content: bytes | memoryview) -> Sequence[int]:
    """Return the numbers in `content`, four bytes each, the low byte first on every machine.

    Nothing is copied on a little-endian machine.
    """
    if sys.byteorder == "little":
        return memoryview(content).cast("I")
    words = array("I", content)
    words.byteswap()
    return words


@frozen
class Vocabulary:
    """The identity of a vocabulary and of the table made from it; `tools/make_vocabularies.py` prints these values.

    `sha256` is that of OpenAI's rank file, which identifies the vocabulary. The others are of the table: its size in bytes, its checksum
    (Adler-32), which is checked at each start, and its sha256, `table`.
    """

    sha256: str
    size: int
    check: int
    table: str


VOCABULARIES: dict[str, Vocabulary] = {
    "cl100k_base": Vocabulary(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        size=1_445_942,
        check=4_134_447_256,
        table="3a9a2b68447e5c9215aa38897353f509e00c26a4c5e1502c1df92a6dce62a9fa",
    ),
    "o200k_base": Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        size=2_997_718,
        check=636_687_761,
        table="636e0863fb883176bb4c972e8e8d141438d3d4048686235d8b43e38d66d537e7",
    ),
}


def vocabulary_path(name: str) -> str:
    """Return the path of the table of a shipped vocabulary."""
    return f"{_FOLDER}/{name}.tokens"


def look_in(folder: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Look for tables in `folder` from now on. Returns the folder used before."""
    global _FOLDER
    before, _FOLDER = _FOLDER, folder
    return before


def check_vocabulary(name: str, path: str, span: Span | None = None) -> None:
    """Raise PC0181 if there is no table at `path`, or one of another size. `open_table` checks the content."""
    try:
        size = os.stat(path).st_size  # noqa: PTH116 - pathlib takes longer to import than a render may
    except OSError:
        size = 0
    if size != VOCABULARIES[name].size:
        raise refuse_vocabulary(name, path, span)


def refuse_vocabulary(name: str, path: str, span: Span | None = None) -> PromptcError:
    """Return the error for a table at `path` that cannot be read or is not that of the vocabulary `name`."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            digest = render_digest(file.read())
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        return fail("PC0181", f"the vocabulary of `{name}` is missing: `{_shorten(path)}`: {reason}", span, help=_REINSTALL)
    return fail("PC0181", f"`{_shorten(path)}` is not the vocabulary of `{name}`: its digest is {digest}", span, help=_REINSTALL)


def _shorten(path: str) -> str:
    return os.path.basename(path)  # noqa: PTH119 - as above
