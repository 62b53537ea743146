"""Where a template loses a line end that its author may have meant, found by its tags alone."""

import re
from collections.abc import Iterator

_RAW = re.compile(r"(\{%[-+]?\s*raw\s*[-+]?%\})(.*?)(\{%[-+]?\s*endraw\s*[-+]?%\})", re.DOTALL)
_TAG = re.compile(r"\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}", re.DOTALL)
_INDENT = re.compile(r"[ \t]*")
_NAME = re.compile(r"\{%[-+]?\s*(\w+)")
_BLOCK_SET = re.compile(r"\{%[-+]?\s*set\b[^=]*%\}")
_SILENT = re.compile(
    r"\{%[-+]?\s*macro\b.*?\bendmacro\s*[-+]?%\}|\{%[-+]?\s*set\b[^=]*?%\}.*?\bendset\s*[-+]?%\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL
)
_OPENING = frozenset("if for macro call filter with block".split())
_ELSEWHERE = frozenset("endmacro endset endblock endcall endfilter".split())
_PUTS_OUT = frozenset("include endfor raw".split())


def find_eaten(text: str) -> Iterator[tuple[int, str]]:
    """Where lines that put out text end in a block tag or comment which takes the line end, and run into text of a later line.

    The place of its `%}` (characters before it, plus 1), and that tag. A tag that says what it means (`-%}`, `+%}`, `{%-` on the next line)
    is left alone.
    """
    plain = _RAW.sub(lambda found: found[1] + re.sub(r"[^\n]", "x", found[2]) + found[3], text)
    for found in _TAG.finditer(plain):
        tag = found[0]
        if tag.startswith("{{") or tag[-3] in "-+" or not plain.startswith("\n", found.end()):
            continue
        if _puts_out_text(plain, found.start(), found.end()) and _is_followed(plain, found.end() + 1):
            yield found.end() - 1, re.sub(r"\s+", " ", tag)


def _puts_out_text(text: str, begin: int, stop: int) -> bool:
    """Whether the tag from `begin` to `stop`, which may have lines of its own, shares the line it begins or ends on with text."""
    start = text.rfind("\n", 0, begin) + 1
    return bool(_SILENT.sub("", text[start:stop]).strip())


def _is_followed(text: str, place: int) -> bool:
    """True when what is put out next, from `place` on, is text of that line: not a blank line, and not what stands behind the template."""
    while True:
        start = _INDENT.match(text, place).end()  # type: ignore[union-attr]
        found = _TAG.match(text, start)
        if found is None or found[0].startswith("{{"):
            return start < len(text) and text[start] != "\n"
        if found[0].startswith(("{%-", "{#-")):
            return False
        name = _find_name(found[0])
        if name in _PUTS_OUT:
            return True
        if name in _ELSEWHERE:
            return False
        place = found.end()
        if name in ("elif", "else", "macro") or _BLOCK_SET.fullmatch(found[0]):
            closing, place = _skip(text, place)
            if closing == "endfor":
                return True
        place += text.startswith("\n", place)


def _skip(text: str, place: int) -> tuple[str, int]:
    """The tag that closes what is open at `place`, and the place behind it."""
    depth = 1
    for found in _TAG.finditer(text, place):
        name = _find_name(found[0])
        if name in _OPENING or _BLOCK_SET.fullmatch(found[0]):
            depth += 1
        elif name.startswith("end"):
            depth -= 1
        if not depth:
            return name, found.end()
    return "", len(text)


def _find_name(tag: str) -> str:
    found = _NAME.match(tag)
    return found[1] if found is not None else ""
