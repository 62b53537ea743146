"""What the YAML parser's errors mean to an author."""

import re

from promptc.diag.frozen import frozen
from promptc.diag.typed import Any

_TEMPLATE = re.compile(r"""(?:^|[:\-,\[{]\s+|\s-\s+)\{[{%]""")
_UNCLOSED = ("end of stream", "did not find expected ',' or")
_HELP = (
    ("mapping values are not allowed", "quote a text that holds `: `"),
    ("character that cannot start any token", "quote a text that begins with a sign such as `%`, `@` or a backquote"),
    ("could not find expected ':'", "a key needs a `:` and a space after it"),
    ("block sequence entries are not allowed", "quote a text that begins with `-`"),
    ("did not find expected key", "look for a wrong indent or an unquoted `,` `}` `]`"),
    ("did not find expected <block end>", "look for a wrong indent, or a quote that ends before its line does"),
    ("did not find expected '-' indicator", "entries of a list stand under each other, each with its `-`"),
    ("did not find expected ',' or", "a bracket is not closed, or a `,` is missing"),
    ("unexpected end of stream", "a quote or bracket is not closed"),
    ("unknown escape character", "in double quotes, write a backslash as `\\\\`"),
)


@frozen
class SyntaxFinding:
    """Line and column are counted from 0."""

    message: str
    line: int
    column: int
    help: str


def explain_syntax(wrong: Any, lines: list[str]) -> SyntaxFinding:
    """A parser's error with its place and what would mend it; `lines` are the file's."""
    problem = getattr(wrong, "problem", None) or str(wrong).split("\n")[0]
    context = getattr(wrong, "context", None)
    mark = getattr(wrong, "problem_mark", None)
    start = getattr(wrong, "context_mark", None)
    if start is not None and (any(part in problem for part in _UNCLOSED) or _is_end(mark, lines)):
        mark = start
    message = f"{problem}, {context}" if context else problem
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    excerpt = lines[line] if line < len(lines) else ""
    return SyntaxFinding(f"YAML: {message}", line, column, _find_help(problem, excerpt, column))


def _is_end(mark: Any, lines: list[str]) -> bool:
    """Whether nothing follows: what is wrong is then what was begun before."""
    if mark is None:
        return False
    here = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
    return not here.strip() and not any(line.strip() for line in lines[mark.line + 1 :])


def _find_help(problem: str, excerpt: str, column: int) -> str:
    if _TEMPLATE.search(excerpt):
        return 'quote a template: `"{{ … }}"`'
    if excerpt[column : column + 1] == "\t":
        return "indent with spaces, not tabs"
    if problem == "did not find expected key" and excerpt[:column].rstrip().endswith(("'", '"', "]", "}")):
        return "the value ends at its closing quote or bracket: quote the whole of it"
    return next((mend for part, mend in _HELP if part in problem), "")
