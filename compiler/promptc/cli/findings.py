"""Findings as text for people and as JSON for programs. A `Reporter` prints them to standard error, as the settings say."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from promptc.cli.options import Settings
from promptc.cli.terminal import PLAIN, Paint, Style, count_cells, escape_controls, hide_passwords, write_stderr
from promptc.diag.findings import Diagnostic, Level, Span
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import IO, Any

_STYLES: dict[Level, Style] = {"error": "red", "warn": "yellow", "note": "cyan"}
_WORDS: dict[Level, str] = {"error": "", "warn": "warning: ", "note": "note: "}
_INDENT = "    "
_SHOWN = 100
_BEFORE = 60
_LONGEST = 400
"""The most characters of an excerpt; a longer line is cut."""


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
