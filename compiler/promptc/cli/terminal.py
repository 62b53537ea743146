"""Standard input, output and error: bytes in, bytes out, and UTF-8 whatever the locale says.

Text for people is written in UTF-8 if the terminal can show it, or else with bars and arrows in ASCII (`show_text`). Such text has no
control characters (`escape_controls`), no passwords (`hide_passwords`), and a known number of cells (`pad_cells`).
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
"""The most bytes read from standard input, the same limit as for a state."""

CLEAR = "\x1b[H\x1b[2J"
"""The escape sequences that clear the screen."""

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
"""The ASCII replacements for characters that promptc draws with, for a console that lacks them."""

# Match a user, a colon, and everything up to the last `@` of the word, even if the author forgot the scheme, and a password parameter.
# The end of a cut line counts as an `@`. `to:bob@h` in a sentence is starred, too: that is better than a password in the output.
_IN_URL = r"(://[^\s:/@\"']*:)([^\s\"']+)(?=@)"
_WITHOUT_SCHEME = r"((?:^|[\s\"'=])(?!mailto:)[\w.+-]+:)([^\s\"'@/]+)(?=@)"
_IN_CUT_URL = r"(://[^\s:/@\"']*:)([^\s\"'@]+)$"
_PARAMETER = r"(?i)([?&](?:ssl)?password=)([^\s\"'&]+)"
_CUT_START = r"^()([^\s\"'@]+)(?=@)"
Style = Literal["bold", "dim", "red", "yellow", "green", "blue", "cyan"]
_CODES: dict[Style, str] = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "33", "green": "32", "blue": "34", "cyan": "36"}


def write_stdout(data: bytes) -> None:
    """Write all of the output. A reader that has closed the pipe is not a failure.

    Raises `DiskError` (PC0725) if the output cannot be written for another reason.
    """
    try:
        _write(sys.stdout, data)
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as wrong:
        _discard(sys.stdout)
        raise DiskError([Diagnostic("PC0725", f"cannot write to standard output: {wrong.strerror or wrong}")]) from wrong


def show_text(text: str) -> None:
    """Write text for people to standard output, in characters that the console has, with the guarantees of `write_stdout`."""
    write_stdout(_encode(sys.stdout, text))


def write_stderr(text: str) -> None:
    """Write a message to standard error. A failure is ignored: no requested output is lost."""
    try:
        _write(sys.stderr, _encode(sys.stderr, text))
    except OSError:
        _discard(sys.stderr)


def show_json(value: object) -> str:
    """Return a value as indented JSON with a trailing newline. Mappings that are not dicts become objects."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=2, default=dict) + "\n"


def read_stdin() -> bytes:
    """Return all of standard input. Raises `DiskError` (PC0724) if it cannot be read or has more than MAX_STDIN bytes."""
    try:
        content = sys.stdin.buffer.read(MAX_STDIN + 1) if sys.stdin is not None else b""
        if len(content) > MAX_STDIN:
            raise OSError(0, f"it has more than {MAX_STDIN:,} bytes")
        return content
    except OSError as wrong:
        raise DiskError([Diagnostic("PC0724", f"cannot read standard input: {wrong.strerror or wrong}")]) from wrong


def discard_output() -> None:
    """Send buffered output to the null device; otherwise, the interpreter would complain about it at exit."""
    _discard(sys.stdout)


def _encode(stream: TextIO | None, text: str) -> bytes:
    """Encode text as UTF-8.

    The encoding of the stream applies if the stream is a terminal or PYTHONIOENCODING is set. A character that this encoding lacks is then
    drawn in ASCII or escaped.
    """
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
    """Return the number of terminal cells of a text without control characters, except for ligatures and joined emoji."""
    return len(text) if text.isascii() else sum(map(_count_cell, text))


def clip_cells(text: str, width: int) -> str:
    """Return `text` cut to at most `width` cells. An ellipsis marks a cut."""
    if count_cells(text) <= width:
        return text
    return take_cells(text, width - 1) + _ELLIPSIS if width > 0 else ""


def take_cells(text: str, width: int) -> str:
    """Return the longest beginning of `text` that has at most `width` cells."""
    cells = 0
    for at, character in enumerate(text):
        cells += _count_cell(character)
        if cells > width:
            return text[:at]
    return text


def pad_cells(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` clipped or padded to exactly `width` cells; `right` aligns it to the right."""
    clipped = clip_cells(text, width)
    space = " " * (width - count_cells(clipped))
    return space + clipped if right else clipped + space


def _count_cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def escape_controls(text: str) -> str:
    """Return `text` on one line, with control characters, bidirectional marks and lone surrogates as `\\x1b` or `\\u202e`.

    A tab becomes four spaces. The result is readable, and can neither move the cursor nor forge a line.
    """
    return re.sub(_UNSAFE, _spell, text.replace("\t", _TAB))


def _spell(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] == "\n":
        return "\\n"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def read_width() -> int:
    """Return the width of the terminal in cells, or a fixed default if the output does not go to a terminal."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH
    except (OSError, ValueError, AttributeError):
        return _WIDTH


def hide_passwords(text: str, *, is_cut: bool = False, follows_cut: bool = False) -> str:
    """Return `text` with a `*` for each character of a password in a URL, so that all other text keeps its column.

    `is_cut` and `follows_cut` say that the line continues after `text`, or began before it.
    """
    patterns = [_IN_URL, _WITHOUT_SCHEME, _PARAMETER, *([_IN_CUT_URL] if is_cut else []), *([_CUT_START] if follows_cut else [])]
    for pattern in patterns:
        text = re.sub(pattern, lambda found: found[1] + _MARK * len(found[2]), text)
    return text


@frozen
class Paint:
    """A painter that styles text if it is on, and returns it unchanged if not."""

    is_on: bool = False

    def apply(self, text: str, style: Style) -> str:
        """Return `text` in a style. Pad and clip first: the escape sequences have no width, but count as characters."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.is_on and text else text


PLAIN = Paint()
