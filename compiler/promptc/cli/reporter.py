"""The one place that prints findings."""

import os
import sys
from collections.abc import Iterable

from promptc.cli.paint import Paint
from promptc.cli.settings import Settings
from promptc.cli.terminal import write_stderr
from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import IO


@frozen
class Reporter:
    """Prints on standard error, in the colours and the shape that were asked for."""

    settings: Settings = field(default_factory=Settings)

    def report(self, found: Iterable[Diagnostic]) -> None:
        """Prints the findings; with `--quiet` only errors."""
        shown = [one for one in found if one.level == "error" or not self.settings.is_quiet]
        if not shown:
            return
        from promptc.cli.findings import render_diagnostics, render_diagnostics_json

        if self.settings.diagnostics == "json":
            write_stderr(render_diagnostics_json(shown))
        else:
            write_stderr(render_diagnostics(shown, self.choose_paint(sys.stderr)))

    def render(self, found: Iterable[Diagnostic]) -> str:
        """The findings as text, for a report on standard output that they are a part of; warnings too, whatever `--quiet` says."""
        from promptc.cli.findings import render_diagnostics

        return render_diagnostics(found, self.choose_paint(sys.stdout))

    def say(self, text: str) -> None:
        """Prints what no program reads: not with `--quiet`, nor among JSON."""
        if not self.settings.is_quiet and self.settings.diagnostics == "text":
            write_stderr(text)

    def choose_paint(self, stream: IO[str] | None) -> Paint:
        """Colours for a stream: as `--color` says, else for a terminal that wants them."""
        if self.settings.color != "auto":
            return Paint(self.settings.color == "always")
        is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return Paint(is_wanted and stream is not None and stream.isatty())
