"""Standard input, output and error: bytes in, bytes out, UTF-8 whatever the locale says; and text that a terminal can be given, in UTF-8
where it takes that, else with bars and arrows in ASCII (`show_text`).

Such text has no control characters (`escape_controls`), no passwords (`hide_passwords`), and as many cells as were meant (`pad_cells`).
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal, TextIO

MAX_STDIN = 96_000_000
"""Bytes that are read of standard input: as many as of a state."""

CLEAR = "\x1b[H\x1b[2J"
"""What empties a terminal's screen."""

_ELLIPSIS = "…"
_UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
_TAB = "    "
_WIDTH = 80
_MARK = "*"
_PLAIN = {
    **dict.fromkeys("█▉▊▋▌", "#"),
    **dict.fromkeys("▍▎▏▕│", "|"),
    **dict.fromkeys("░▒", "."),
    **dict(zip("▁▂▃▄▅▆▇", "1234567", strict=True)),  # eighths of a height
    **dict.fromkeys("─–—−", "-"),
    **dict.fromkeys("·•", "*"),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”", '"'),
    "→": "->",
    "←": "<-",
    "…": "...",
    "⋯": "...",
    "≤": "<=",
    "≥": ">=",
    "×": "x",
    "¶": "$",
    "✓": "+",
    "✗": "x",
    "↕": "|",
    "\ufffd": "?",
}
"""What our own texts are drawn with, where a console has no such character."""

# A user, a colon, and all up to the last `@` of the word, also where an author forgot the scheme; a parameter that is called so. Where a
# line was cut, its end counts as an `@`. In a sentence, `to:bob@h` is starred, too: rather that than a password that is shown.
_IN_URL = r"(://[^\s:/@\"']*:)([^\s\"']+)(?=@)"
_WITHOUT_SCHEME = r"((?:^|[\s\"'=])(?!mailto:)[\w.+-]+:)([^\s\"'@/]+)(?=@)"
_IN_CUT_URL = r"(://[^\s:/@\"']*:)([^\s\"'@]+)$"
_PARAMETER = r"(?i)([?&](?:ssl)?password=)([^\s\"'&]+)"
_CUT_START = r"^()([^\s\"'@]+)(?=@)"
Style = Literal["bold", "dim", "red", "yellow", "green", "blue", "cyan"]
_CODES: dict[Style, str] = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "33", "green": "32", "blue": "34", "cyan": "36"}


def write_stdout(data: bytes) -> None:
    """What was asked for, all of it; a reader that has gone is no failure.

    `DiskError` (PC0725) when it cannot be written for another reason.
    """
    try:
        _write(sys.stdout, data)
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as wrong:
        _discard(sys.stdout)
        raise DiskError([Diagnostic("PC0725", f"cannot write to standard output: {wrong.strerror or wrong}")]) from wrong


def show_text(text: str) -> None:
    """What was asked for, as text for people: written as `write_stdout` does, in characters that the console has."""
    write_stdout(_encode(sys.stdout, text))


def write_stderr(text: str) -> None:
    """What is said beside it. Where nobody listens, nothing is lost that was asked for."""
    try:
        _write(sys.stderr, _encode(sys.stderr, text))
    except OSError:
        _discard(sys.stderr)


def show_json(value: object) -> str:
    """Renders a value as JSON for people and programs: a line for each entry, and a line end. Other mappings than dicts are objects."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=2, default=dict) + "\n"


def read_stdin() -> bytes:
    """All of standard input. `DiskError` (PC0724) when it cannot be read, or has more than MAX_STDIN bytes."""
    try:
        content = sys.stdin.buffer.read(MAX_STDIN + 1) if sys.stdin is not None else b""
        if len(content) > MAX_STDIN:
            raise OSError(0, f"it has more than {MAX_STDIN:,} bytes")
        return content
    except OSError as wrong:
        raise DiskError([Diagnostic("PC0724", f"cannot read standard input: {wrong.strerror or wrong}")]) from wrong


def discard_output() -> None:
    """What is still held back goes nowhere, or the interpreter would complain about it when it ends."""
    _discard(sys.stdout)


def _encode(stream: TextIO | None, text: str) -> bytes:
    """UTF-8, but for a console with another encoding, and where PYTHONIOENCODING asks for one: there bars and arrows are drawn in ASCII."""
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    if encoding.startswith("utf") or stream is None or not (stream.isatty() or os.environ.get("PYTHONIOENCODING")):
        return text.encode("utf-8", "backslashreplace")
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_draw_plain(one, encoding) for one in text).encode(encoding, "backslashreplace")


def _draw_plain(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return _PLAIN.get(character, character)
    return character


def _write(stream: TextIO | None, data: bytes) -> None:
    if stream is None:
        return
    stream.flush()
    stream.buffer.write(data)
    stream.buffer.flush()


def _discard(stream: TextIO | None) -> None:
    if stream is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def count_cells(text: str) -> int:
    """The cells `text` takes. Free of control characters it is what a terminal shows, up to ligatures and joined emoji."""
    return len(text) if text.isascii() else sum(map(_count_cell, text))


def clip_cells(text: str, width: int) -> str:
    """`text` within `width` cells; an ellipsis tells that something is missing."""
    if count_cells(text) <= width:
        return text
    kept, cells = [], 0
    for character in text:
        cells += _count_cell(character)
        if cells > width - 1:
            break
        kept.append(character)
    return "".join(kept) + _ELLIPSIS if width > 0 else ""


def pad_cells(text: str, width: int, *, right: bool = False) -> str:
    """`text` clipped and filled up to exactly `width` cells; with `right` it stands at the right."""
    clipped = clip_cells(text, width)
    space = " " * (width - count_cells(clipped))
    return space + clipped if right else clipped + space


def _count_cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def escape_controls(text: str) -> str:
    """`text` on one line: control characters, marks that turn the writing direction and lone surrogates as `\\x1b` or `\\u202e`.

    A tab becomes four spaces. What is shown can be read, cannot move the cursor and cannot forge a line of its own.
    """
    return re.sub(_UNSAFE, _spell, text.replace("\t", _TAB))


def _spell(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] == "\n":
        return "\\n"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def read_width() -> int:
    """Of the terminal the output goes to; what goes elsewhere does not depend on one."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH
    except (OSError, ValueError, AttributeError):
        return _WIDTH


def hide_passwords(text: str, *, is_cut: bool = False, follows_cut: bool = False) -> str:
    """`text` with a `*` for every character of a password in a URL, so that all else stands where it stood.

    `is_cut` and `follows_cut` tell that the line goes on behind it, or began before it.
    """
    patterns = [_IN_URL, _WITHOUT_SCHEME, _PARAMETER, *([_IN_CUT_URL] if is_cut else []), *([_CUT_START] if follows_cut else [])]
    for pattern in patterns:
        text = re.sub(pattern, lambda found: found[1] + _MARK * len(found[2]), text)
    return text


@frozen
class Paint:
    """Paints text, or leaves it as it is."""

    is_on: bool = False

    def apply(self, text: str, style: Style) -> str:
        """`text` in a style. Pad and clip before: the sequences have no width, but count as characters."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.is_on and text else text


PLAIN = Paint()
