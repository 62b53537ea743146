"""The tokens of a vocabulary as a file that is looked into where it lies: nothing is parsed when it is opened.

Layout, low bytes first: a head of 64 bytes (`MAGIC`, the sha256 of the rank file it was made from, the number of slots, the number of token
bytes, zeros), the slots (4 bytes each), the bytes of all tokens in the order of their ranks. A slot is 0, or a token's *key*: the place of
its first byte × 256 + its length. So keys are in the order of the ranks. A token's slot is the first free one from the CRC-32 of its bytes
modulo the number of slots on (open addressing).
"""

from __future__ import annotations

import mmap
from zlib import adler32, crc32

from promptc.text.counters.vocabulary import VOCABULARIES, refuse_vocabulary
from promptc.text.counters.words import view_words

MAGIC = b"promptc tokens 1"
HEAD = 64
NONE = (1 << 30) - 1
"""Higher than any key."""

_ENTRIES = 1 << 16


class Table(dict[bytes, int]):
    """From bytes to the key of the token they are, or NONE: `table[token]`. Of two tokens the one with the lower key has the lower rank.

    As a dict it holds what was looked up, up to a bound. A text has few different pairs.
    """

    def __init__(self, file: mmap.mmap) -> None:
        super().__init__()
        self._file = file
        self._count = _read_number(file, 48)
        self._tokens = HEAD + 4 * self._count
        self._slots = view_words(memoryview(file)[HEAD : self._tokens])

    def __missing__(self, token: bytes) -> int:
        if len(self) >= _ENTRIES:
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
    """The table at `path`, which is that of the vocabulary `name` byte for byte, as far as a checksum tells; PC0181 when it is another."""
    try:
        with open(path, "rb") as opened:  # noqa: PTH123 - pathlib takes longer to import than a render may
            file = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # there is none, or nothing in it
        raise refuse_vocabulary(name, path) from error
    if adler32(file) != VOCABULARIES[name].check:
        raise refuse_vocabulary(name, path)
    return Table(file)


def _read_number(file: mmap.mmap, place: int) -> int:
    return int.from_bytes(file[place : place + 4], "little")
