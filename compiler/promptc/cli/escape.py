"""Text from packs, states and arguments, made safe to show on a terminal."""

import re

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_TAB = "    "


def escape_controls(text: str) -> str:
    """`text` on one line: control characters, marks that turn the writing direction and lone surrogates as `\\x1b` or `\\u202e`.

    A tab becomes four spaces. What is shown can be read, cannot move the cursor and cannot forge a line of its own.
    """
    return _UNSAFE.sub(_spell, text.replace("\t", _TAB))


def _spell(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] == "\n":
        return "\\n"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
