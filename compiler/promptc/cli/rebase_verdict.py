"""A verdict with its paths as they are from where one stands."""

import os
import re
from pathlib import Path

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import replace
from promptc.golden.judging.compare import GoldenDifference, Verdict

_PLACE = re.compile(r"(.+?)(:\d+:\d+ .*)", re.DOTALL)
_QUOTED = re.compile("`([^`\n]+)`")


def rebase_verdict(verdict: Verdict, folder: str) -> Verdict:
    """The same with every path relative to `folder` (absolute) in place of the case's root: that of its file, its goldens, its findings
    and its cause. Names of cases stay. Paths in messages are those that stand in backticks and lie in the case's folder, or are there.
    """
    if verdict.root == folder:
        return verdict
    rebase = _Rebase(verdict, folder)
    return replace(
        verdict,
        file=rebase.path(verdict.file),
        findings=tuple(map(rebase.finding, verdict.findings)),
        differences=tuple(map(rebase.difference, verdict.differences)),
        found=tuple(map(rebase.finding, verdict.found)),
        cause=tuple(map(rebase.line, verdict.cause)),
    )


class _Rebase:
    def __init__(self, verdict: Verdict, folder: str) -> None:
        self._root = verdict.root
        self._folder = folder
        self._inside = f"{os.path.relpath(verdict.folder, verdict.root)}/".replace(os.sep, "/")

    def path(self, path: str) -> str:
        """Of what is no file, such as `--set /a`, nothing is changed."""
        if not path or path.startswith("-") or "\n" in path:
            return path
        return os.path.relpath(Path(self._root, path), self._folder).replace(os.sep, "/")

    def finding(self, found: Diagnostic) -> Diagnostic:
        span = replace(found.span, file=self.path(found.span.file)) if found.span is not None else None
        return replace(found, message=_QUOTED.sub(self._quoted, found.message), span=span)

    def difference(self, one: GoldenDifference) -> GoldenDifference:
        return replace(one, path=self.path(one.path), pending=self.path(one.pending))

    def line(self, line: str) -> str:
        place = _PLACE.fullmatch(line)
        return f"{self.path(place[1])}{place[2]}" if place is not None else line

    def _quoted(self, quoted: re.Match[str]) -> str:
        text = quoted[1]
        is_path = text.startswith(self._inside) or ("/" in text and os.path.lexists(Path(self._root, text)))
        return f"`{self.path(text)}`" if is_path and not text.startswith("/") else quoted[0]
