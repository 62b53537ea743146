"""Findings as workflow commands of GitHub Actions, which shows them at their lines."""

from collections.abc import Iterable

from promptc.cli.findings import hide_secrets
from promptc.diag.findings import Diagnostic, Level

_COMMANDS: dict[Level, str] = {"error": "error", "warn": "warning", "note": "notice"}
MOST = 10
"""GitHub shows so many annotations of each kind for a step, and drops the others without a word."""


def render_github(found: Iterable[Diagnostic], where: str = "the log") -> str:
    """A command for each finding, errors first; of more than ten of a kind the first nine, and one that tells how many are not shown and
    that `where` has them all.
    """
    by_level: dict[Level, list[Diagnostic]] = {level: [] for level in _COMMANDS}
    for one in found:
        by_level[one.level].append(hide_secrets(one))
    return "".join(_render_kind(level, some, where) for level, some in by_level.items())


def _render_kind(level: Level, found: list[Diagnostic], where: str) -> str:
    if len(found) <= MOST:
        return "".join(map(_render, found))
    rest = f"::{_COMMANDS[level]} title=promptc::and {len(found) - MOST + 1} more; {where} has them all\n"
    return "".join(map(_render, found[: MOST - 1])) + rest


def _render(one: Diagnostic) -> str:
    place = [f"file={_escape_value(one.span.file)}", f"line={one.span.line}", f"col={one.span.column}"] if one.span is not None else []
    settings = ",".join([*place, f"title={_escape_value(f'promptc {one.code}')}"])
    text = one.message + (f"\nhelp: {one.help}" if one.help else "")
    return f"::{_COMMANDS[one.level]} {settings}::{_escape(text)}\n"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_value(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
