"""The bounds of one template, one render, one value. All are counts, so that a pack fails at the same place on every machine."""

from __future__ import annotations

from promptc.diag.frozen import frozen


@frozen
class Limits:
    """The bounds of the templates of one pack. A pack may raise some of them, up to `CEILINGS`."""

    source: int = 65_536
    """Bytes (UTF-8) of one template or expression."""
    steps: int = 8_000_000
    """Steps of one render: about one for each node evaluated and each element looked at, four for each character of an item."""
    memory: int = 100_000_000
    """Bytes of all texts that the templates and expressions of one render make."""
    text: int = 16_000_000
    """Characters of one text a run makes, its output included."""
    range: int = 100_000
    """Numbers in one `range`."""
    width: int = 2_000
    """Characters a filter may pad or indent by."""
    parts: int = 12_000
    """Tags, names, signs, numbers and texts of one template, and of each file it brings in, together."""
    depth: int = 40
    """Macros, includes and blocks inside one another."""
    bits: int = 1_024
    """Bits of one whole number."""
    files: int = 100
    """Files one template may bring in, however often each."""
    tokens: int = 2_000
    """Tokens between one pair of tags, `{{ ... }}` or `{% ... %}`."""
    brackets: int = 32
    """Brackets inside brackets."""
    chain: int = 100
    """Operators, accesses and filters that hang on each other in one expression."""
    blocks: int = 16
    """Statements inside statements (`if`, `for`, `macro` ...)."""
    branches: int = 200
    """`elif`s of one `if`."""
    digits: int = 300
    """Digits of one number in the source."""


LIMITS = Limits()
CEILINGS = Limits(source=1_048_576, parts=200_000, steps=10_000_000, memory=150_000_000, text=32_000_000, range=1_000_000, width=100_000)
