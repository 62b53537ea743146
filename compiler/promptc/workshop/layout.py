"""Lays out YAML files (`format_yaml`): only the text between tokens changes.

Tokens stay as they are: quotes, flow and block style, anchors, multi-line texts below their `|`, and the order of keys. So does
indentation. Between them:

- line ends are `\\n`; there is no byte order mark, no trailing space, and one line end at the end of the file, unless more or none
  belong to a text after `|` or `>` that ends it;
- at most one blank line in a row, and none before the first line;
- one space after the `:` of a key;
- at least two spaces before a comment that follows a value, and a space after `#` if a letter or digit follows.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from io import StringIO

from promptc.diag.findings import Span, fail
from promptc.diag.typed import Any
from promptc.files.reading import decode_text
from promptc.frontend.yaml import load_yaml
from promptc.model.state import Node

_APART = 2
"""Spaces before a comment that follows a value."""

_SIGN = re.compile(r"[|>][0-9+-]*")
"""What begins a text of several lines, before its comment."""


def format_yaml(data: bytes, name: str) -> bytes:
    """Return the file in promptc's layout.

    Raises `PromptcError` for what `load_yaml` refuses, and with PC0110 if the file cannot be laid out safely or its values would change.
    """
    before = load_yaml(data, name, "")
    try:
        result = lay_out(decode_text(data, name)).encode()
    except LayoutError as wrong:
        help = "write spaces in place of the tab" if "\\t" in str(wrong) else "leave the file as it is"
        raise fail("PC0110", f"promptc cannot lay out this file: {wrong}", Span(name, wrong.line, wrong.column), help=help) from None
    endings = (result, result.rstrip(b"\n"))  # for a block text that ends the file without a line end
    for one in endings if not data.endswith(b"\n") else endings[:1]:
        if show_meaning(load_yaml(one, name, "")) == show_meaning(before):
            return one
    raise fail("PC0110", "laid out, this file would hold other values", Span(name, 1, 1), help="leave the file as it is")


class LayoutError(Exception):
    """Raised if a text cannot be split into tokens; `line` and `column` say from where on."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.line, self.column = line, column


def lay_out(text: str) -> str:
    """Return a text, whose line ends must be `\\n`, laid out. Raises `LayoutError` if it cannot be split into tokens."""
    whole, end, last, opens = "", 0, "", False
    parts: list[str] = []
    for kind, start, stop in iter_tokens(text):
        opens = opens or (kind.startswith("Block") and kind.endswith("StartToken"))
        if start == stop:
            continue
        parts.append(_lay_out_gap(text[end:start], whole, is_value=last == "ValueToken" and not opens))
        whole = _lay_out_token(text[start:stop]) if kind == "ScalarToken" else text[start:stop]
        parts.append(whole)
        end, last, opens = stop, kind, False
    sign = _SIGN.match(whole)
    is_kept = sign is not None and "+" in sign[0]
    tail = _lay_out_gap(f"{text[end:]}\n", whole, is_value=False).rstrip("\n")
    if is_kept and whole.endswith("\n"):
        return "".join(parts) + (f"{tail}\n" if tail else "")
    return f"{''.join(parts)}{tail}".rstrip("\n") + "\n"


def iter_tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind of each token, with its start and end. Raises `LayoutError` if the text cannot be split into tokens."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    reader: Any = YAML(typ="safe", pure=True)
    try:
        for token in reader.scan(StringIO(text)):
            yield type(token).__name__, token.start_mark.index, token.end_mark.index
    except YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        raise LayoutError(getattr(wrong, "problem", None) or "its tokens cannot be told apart", line, column) from None


def _lay_out_token(token: str) -> str:
    """Return a token. Of a text after `|` or `>`, the first line is laid out, with its comment.

    Such a text includes the empty lines below it: keep at most one if they are not part of the value.
    """
    sign = _SIGN.match(token)
    if sign is None:
        return token
    head, end, lines = token.partition("\n")
    head = sign[0] + _lay_out_line(head[sign.end() :], is_behind=True)
    if "+" not in sign[0] and lines.endswith("\n"):
        text = lines.rstrip("\n")
        lines = text + "\n" * min(lines.count("\n", len(text)), 2)
    return head + end + lines


def _lay_out_gap(gap: str, before: str, *, is_value: bool) -> str:
    """Lay out the spaces, line ends and comments after the token `before`. `is_value`: it is the `:` of a key, whose value may follow."""
    *lines, rest = gap.split("\n")
    if not lines:
        return " " if is_value and rest else rest
    begins = not before or before.endswith("\n")
    was_blank = not before or before.endswith("\n\n")
    written: list[str] = []
    for at, line in enumerate(lines):
        is_behind = at == 0 and not begins
        shown = _lay_out_line(line, is_behind=is_behind)
        if shown or is_behind or not was_blank:
            written.append(shown)
        was_blank = not shown and not is_behind
    return "\n".join([*written, rest])


def _lay_out_line(line: str, *, is_behind: bool) -> str:
    space, sign, said = line.partition("#")
    if not sign:
        return ""
    said = said.rstrip(" \t")
    return f"{'  ' if is_behind and len(space) < _APART else space}#{' ' if said[:1].isalnum() else ''}{said}"


def show_meaning(node: Node, gone: Container[int] = ()) -> Any:
    """Return a value with the order of its keys and its scalars as they are written, without the nodes with these ids.

    Two files with equal results mean the same.
    """
    if isinstance(node.value, dict):
        return [(key, show_meaning(one, gone)) for key, one in node.value.items() if id(one) not in gone]
    if isinstance(node.value, tuple):
        return tuple(show_meaning(one, gone) for one in node.value if id(one) not in gone)
    return type(node.value), repr(node.value), node.raw
