"""Patterns of a corpus: paths inside the pack with `*`, `?`, `**` and names in braces that become metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping

from promptc.diag.findings import Span, fail
from promptc.diag.frozen import frozen
from promptc.files.paths import check_pack_path

RESERVED = frozenset(("id", "text", "heading", "index", "score", "file", "length", "preview"))
"""What the compiler says of every chunk; no metadata may be called so."""

_PART = re.compile(r"\{([^{}]*)\}|\*|\?|[^{}*?]+|[{}]")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@frozen
class CorpusPattern:
    """A pattern that was read: the folder it begins in (empty: the pack's), what matches, and the names in its braces in order."""

    folder: str
    names: tuple[str, ...]
    expression: str

    def match(self, path: str) -> dict[str, str] | None:
        """What the names stand for in `path`; None where it does not match."""
        found = re.fullmatch(self.expression, path)
        return found.groupdict() if found is not None else None


def read_corpus_pattern(pattern: str, span: Span, known: Mapping[str, str] | None = None) -> CorpusPattern:
    """`pattern` with the names in `known` standing for just that. Raises `PromptcError` (PC0271) for what is no pattern."""
    names: list[str] = []
    segments = pattern.split("/")
    read = [_read_segment(segment, pattern, span, names, known or {}) for segment in segments]
    wrong = check_pack_path("/".join(re.sub(r"[*?]|\{[^{}]*\}", "x", segment) for segment in segments))
    if wrong:
        raise _refuse(pattern, wrong, span)
    plain = next((place for place, (text, _) in enumerate(read) if text is None), len(read))
    folder = "/".join(text for text, _ in read[: min(plain, len(read) - 1)] if text is not None)
    expression = "".join(part for _, part in read)
    return CorpusPattern(folder, tuple(names), expression.removesuffix("/"))


def fill_path(path: str, values: Mapping[str, str]) -> str:
    """`path` with each name in braces replaced by its value."""
    return re.sub(r"\{([^{}]*)\}", lambda found: values.get(found[1], found[0]), path)


def find_names(path: str) -> tuple[str, ...]:
    """The names in the braces of a path."""
    return tuple(re.findall(r"\{([^{}]*)\}", path))


def _read_segment(segment: str, pattern: str, span: Span, names: list[str], known: Mapping[str, str]) -> tuple[str | None, str]:
    """Its text, where it matches just that; and its regular expression, with the `/` behind it."""
    if segment == "**":
        return None, "(?:[^/]+/)*"
    text: str | None = ""
    expression = ""
    for found in _PART.finditer(segment):
        name, part = found[1], found[0]
        if name is None and part in ("{", "}"):
            raise _refuse(pattern, "a brace is not closed", span)
        if name is not None:
            _check_name(name, pattern, span, names)
            names.append(name)
        if name is not None and name in known:
            expression += f"(?P<{name}>{re.escape(known[name])})"
            text = None if text is None else text + known[name]
        elif name is not None or part in ("*", "?"):
            expression += f"(?P<{name}>[^/]+?)" if name is not None else {"*": "[^/]*", "?": "[^/]"}[part]
            text = None
        else:
            expression += re.escape(part)
            text = None if text is None else text + part
    return text, expression + "/"


def _check_name(name: str, pattern: str, span: Span, names: list[str]) -> None:
    if not _NAME.fullmatch(name):
        raise _refuse(pattern, f"`{{{name}}}` is no name: lower-case letters, digits and `_`", span)
    if name in names:
        raise _refuse(pattern, f"`{{{name}}}` stands there twice", span)
    if name in RESERVED:
        raise _refuse(pattern, f"`{name}` is what the compiler calls a part of every chunk", span)


def _refuse(pattern: str, wrong: str, span: Span) -> Exception:
    return fail("PC0271", f"`corpus: {pattern}`: {wrong}", span, help='such as "archive/{version}/*.md", or `**` for folders at any depth')
