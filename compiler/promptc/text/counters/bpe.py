"""Byte-pair encoding: of all neighbours that are a token together those with the lowest rank are joined, the leftmost first, until there
are none.

A long piece is encoded window by window. That is exact because a row of tokens is the encoding of its bytes if and only if each two
neighbours are the encoding of theirs: up to the first join across the place between two of them, what happened inside each happened as
it does to these two alone, so these two alone would be joined there as well; and the other way round. A window begins at the last token
that is known and has to find that token again; its own last tokens, which end where they do because the window does, are dropped. Where
the token is not found again, it was wrong: some more are dropped, and a larger window begins there.

How far the end of a window reaches into it is bounded by the vocabulary, not by the text: it reaches on only from pair to pair of lower and
lower rank. So the windows grow to a size that suffices, and the cost is linear.
"""

from __future__ import annotations

from itertools import pairwise

from promptc.text.counters.table import NONE, Table

WINDOW = 64
"""Bytes of a window at first. A piece of this length or less is one."""

EDGE = 3
_ENTRIES = 4096
_SINGLES = [bytes((byte,)) for byte in range(256)]


class PieceEncoder:
    """Encodes pieces. What it remembers of windows, within bounds, makes text that repeats itself cost next to nothing."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._windows: dict[bytes, list[bytes]] = {}

    def encode(self, piece: bytes) -> list[bytes]:
        """The tokens of `piece`, which is not empty."""
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
    """The tokens of `piece` by the definition. The cost grows with the square of its length."""
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
