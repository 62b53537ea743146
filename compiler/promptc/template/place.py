"""Where a template or an expression stands, for the findings about it."""

from dataclasses import dataclass

from promptc.diag.span import Source, Span


@dataclass(frozen=True, slots=True)
class Place:
    """`inline`: findings are reported at `span` itself; else in `span.file`, at the template's own line, column 1.

    `folder` is put before the name of an included file when that is shown: `packs/sentinel/` where `span.file` begins so.
    """

    span: Span
    inline: bool
    folder: str = ""

    def find_span(self, name: str, text: str, line: int) -> Span:
        """The place of line `line` of template `name` (empty: the template itself) whose text is `text`."""
        if self.inline and not name:
            return self.span
        return Source(self.folder + name if name else self.span.file, text).span(max(line, 1), 1)
