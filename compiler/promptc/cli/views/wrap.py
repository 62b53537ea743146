"""Long lines, broken between words."""

import textwrap


def wrap(text: str, width: int, indent: int = 0) -> list[str]:
    """`text` in lines of at most `width` characters, words whole unless one alone is longer; the lines after the first hang by two."""
    lead = " " * indent
    return textwrap.wrap(text, max(width, 20), initial_indent=lead, subsequent_indent=lead + "  ", break_on_hyphens=False)
