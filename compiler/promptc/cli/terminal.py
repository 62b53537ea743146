"""Standard input, output and error: bytes in, bytes out, and UTF-8 whatever the locale says.

Text for people is written in UTF-8 if the terminal can show it, or else with bars and arrows in ASCII (`show_text`). Such text has no
control characters (`escape_controls`), no passwords (`hide_passwords`), and a known number of cells (`pad_cells`).

A `Reporter` prints findings to standard error, as text for people or as JSON for programs.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable

from promptc.cli.options import Settings
from promptc.diag.findings import Diagnostic, DiskError, Level, Span, show_reason
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import IO, Any, Literal, TextIO

STDIN = "-"
"""Names standard input where a command takes a file."""

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
_STYLES: dict[Level, Style] = {"error": "red", "warn": "yellow", "note": "cyan"}
_WORDS: dict[Level, str] = {"error": "", "warn": "warning: ", "note": "note: "}
_INDENT = "    "
_SHOWN = 100
_BEFORE = 60
_LONGEST = 400
"""The most characters of an excerpt; a longer line is cut."""


def write_stdout(data: bytes) -> None:
    """Write all of the output. A reader that has closed the pipe is not a failure.

    Raises `DiskError` (PC0725) if the output cannot be written for another reason.
    """
    try:
        _write(sys.stdout, data)
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as wrong:
        from promptc.files.atomic import advise_write

        _discard(sys.stdout)
        help = advise_write(wrong, "let standard output lead to a file or a program that takes it")
        raise DiskError([Diagnostic("PC0725", f"cannot write to standard output: {show_reason(wrong)}", help=help)]) from wrong


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
        raise DiskError([Diagnostic("PC0724", f"cannot read standard input: {show_reason(wrong)}")]) from wrong


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


@frozen
class Reporter:
    """Prints findings to standard error, in the colours and the format that the settings choose."""

    settings: Settings = field(default_factory=Settings)

    def report(self, found: Iterable[Diagnostic]) -> None:
        """Print the findings; with `--quiet`, only the errors."""
        shown = [one for one in found if one.level == "error" or not self.settings.is_quiet]
        if not shown:
            return

        if self.settings.diagnostics == "json":
            write_stderr(render_diagnostics_json(shown))
        else:
            write_stderr(render_diagnostics(shown, self.choose_paint(sys.stderr)))

    def render(self, found: Iterable[Diagnostic]) -> str:
        """Return the findings as text for a report on standard output. Includes warnings even with `--quiet`."""

        return render_diagnostics(found, self.choose_paint(sys.stdout))

    def say(self, text: str) -> None:
        """Print a message that no program reads. Print nothing with `--quiet` or if findings are JSON."""
        if not self.settings.is_quiet and self.settings.diagnostics == "text":
            write_stderr(text)

    def choose_paint(self, stream: IO[str] | None) -> Paint:
        """Return the colours for a stream: as `--color` says; for `auto`, on if the stream is a terminal that accepts colours."""
        if self.settings.color != "auto":
            return Paint(self.settings.color == "always")
        is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return Paint(is_wanted and stream is not None and stream.isatty())


def render_diagnostics(found: Iterable[Diagnostic], paint: Paint = PLAIN) -> str:
    """Return the findings as text, in the given order; empty if there are none.

    Each finding reads `file:line:column: PC0201 message`, with `warning:` or `note:` before the message if it is not an error. Its source
    line with a caret and its help follow. Control characters of files and messages are escaped, and passwords in URLs are hidden.
    """
    return "".join(f"{line}\n" for one in found for line in _render_lines(hide_secrets(one), paint))


def render_diagnostics_json(found: Iterable[Diagnostic]) -> str:
    """Return the findings as JSON lines, one object of `describe_diagnostic` a line."""
    import json

    return "".join(json.dumps(describe_diagnostic(one), ensure_ascii=True) + "\n" for one in found)


def describe_diagnostic(found: Diagnostic) -> dict[str, Any]:
    """Return a finding as plain data, without the passwords of URLs.

    `file`, `line` and `column` are None if the finding has no place.
    """
    found = hide_secrets(found)
    span = found.span
    return {
        "code": found.code,
        "level": found.level,
        "message": found.message,
        "file": span.file if span is not None else None,
        "line": span.line if span is not None else None,
        "column": span.column if span is not None else None,
        "help": found.help or None,
    }


def hide_secrets(found: Diagnostic) -> Diagnostic:
    """Return the finding with the passwords of URLs in its texts hidden."""
    span = found.span
    if span is not None:
        cut = len(span.excerpt) >= _LONGEST
        span = replace(span, excerpt=hide_passwords(span.excerpt, is_cut=cut, follows_cut=span.skipped > 0))
    return replace(found, message=hide_passwords(found.message), help=hide_passwords(found.help), span=span)


def _render_lines(found: Diagnostic, paint: Paint) -> list[str]:
    place = f"{escape_controls(str(found.span))}: " if found.span is not None else ""
    first, *more = found.message.split("\n")
    head = f"{paint.apply(place, 'bold')}{paint.apply(found.code, _STYLES[found.level])} {_WORDS[found.level]}{escape_controls(first)}"
    lines = [head, *(_INDENT + escape_controls(line) for line in more)]
    if found.span is not None:
        lines += _render_excerpt(found.span, paint)
    if found.help:
        lines.append(f"{_INDENT}{paint.apply('help:', 'cyan')} {escape_controls(found.help)}")
    return lines


def _render_excerpt(span: Span, paint: Paint) -> list[str]:
    """Return the source line and a caret under its column; empty if the excerpt is blank or does not reach the column."""
    before = span.column - 1 - span.skipped
    if not span.excerpt.strip() or before > len(span.excerpt):
        return []
    start = max(0, before - _BEFORE) if before > _SHOWN - 10 else 0
    stop = start + _SHOWN
    lead = "…" if start + span.skipped else ""
    shown = lead + escape_controls(span.excerpt[start:stop]) + ("…" if stop < len(span.excerpt) else "")
    gap = " " * count_cells(lead + escape_controls(span.excerpt[start:before]))
    gutter = f"{span.line:>5} | "
    return [
        paint.apply(gutter, "dim") + shown,
        paint.apply(f"{'| ':>{len(gutter)}}", "dim") + gap + paint.apply("^", "red"),
    ]
