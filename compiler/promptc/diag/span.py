"""Places in source files."""

from promptc.diag.frozen import frozen

_EXCERPT = 400


@frozen
class Span:
    """One place: a file as shown to its author, a line and a column (both from 1, in characters), and that line's text.

    Of a long line the excerpt is a part; `skipped` characters of the line stand before it.
    """

    file: str
    line: int
    column: int
    excerpt: str = ""
    skipped: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@frozen
class Source:
    """A text file: the name its author knows it by, and its text with line ends as `\\n`."""

    name: str
    text: str

    def find_line(self, line: int) -> str:
        """The text of line `line` (from 1) without its end, at most 400 characters; empty when there is none."""
        lines = self.text.split("\n", line)
        return lines[line - 1][:_EXCERPT] if 0 < line <= len(lines) else ""

    def span(self, line: int, column: int) -> Span:
        """The place at `line` and `column`, both from 1."""
        return Span(self.name, line, column, self.find_line(line))
