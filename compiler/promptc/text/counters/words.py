"""Numbers of four bytes in a file, where they lie."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence


def view_words(content: bytes | memoryview) -> Sequence[int]:
    """The numbers in `content`, each four bytes, the low one first whatever the machine. Nothing is copied where the machine's order is the
    same."""
    if sys.byteorder == "little":
        return memoryview(content).cast("I")
    words = array("I", content)
    words.byteswap()
    return words
