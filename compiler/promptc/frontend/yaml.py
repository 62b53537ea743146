"""YAML → Nodes (`load_yaml`): the only module that reads YAML, and the only one that imports PyYAML.

Nodes are built from the parser's events, so that every bound is met before anything is expanded. `resolve_scalar` reads a plain scalar.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.reading import decode_text
from promptc.model.state import Node

MAX_BYTES = 1_000_000
MAX_NODES = 50_000
MAX_DEPTH = 100
MAX_ANCHORS = 200
_EXCERPT = 400
_MOST = 20
REFUSED = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Characters that no YAML of ours may hold as they are."""

_LINE_ENDS = {"\x85": "NEL", "\u2028": "LINE SEPARATOR", "\u2029": "PARAGRAPH SEPARATOR"}

_TAKERS = {
    "StreamStartEvent": "_pass_over",
    "StreamEndEvent": "_pass_over",
    "DocumentStartEvent": "_take_document",
    "DocumentEndEvent": "_pass_over",
    "ScalarEvent": "_take_scalar",
    "MappingStartEvent": "_take_start",
    "MappingEndEvent": "_take_end",
    "SequenceStartEvent": "_take_start",
    "SequenceEndEvent": "_take_end",
    "AliasEvent": "_take_alias",
}
_TEMPLATE = re.compile(r"""(?:^|[:\-,\[{]\s+|\s-\s+)\{[{%]""")

_UNCLOSED = ("end of stream", "did not find expected ',' or")

_HELP = (
    ("mapping values are not allowed", "quote a text that holds `: `"),
    ("character that cannot start any token", "quote a text that begins with a sign such as `%`, `@` or a backquote"),
    ("could not find expected ':'", "a key needs a `:` and a space after it"),
    ("block sequence entries are not allowed", "quote a text that begins with `-`"),
    ("did not find expected key", "look for a wrong indent or an unquoted `,` `}` `]`"),
    ("did not find expected <block end>", "look for a wrong indent, or a quote that ends before its line does"),
    ("did not find expected '-' indicator", "indent a key as far as the other keys of its entry; a new entry begins with `-`"),
    ("did not find expected ',' or", "a bracket is not closed, or a `,` is missing"),
    ("unexpected end of stream", "a quote or bracket is not closed"),
    ("unknown escape character", "in double quotes, write a backslash as `\\\\`"),
)

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_FIRST = frozenset("+-.0123456789")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DIGITS = 40
_BITS = 63


def load_yaml(data: bytes, name: str, folder: str) -> Node:
    """The one document in `data` as Nodes whose paths are relative to `folder`; `name` is the file as its author knows it.

    YAML 1.2 core values (`resolve_scalar`), keys are text and differ, no tags, directives or merge keys; an alias is the Node of its
    anchor. At most MAX_BYTES, MAX_DEPTH levels, MAX_NODES values with every alias counted as what it stands for, and MAX_ANCHORS
    anchors and aliases. Otherwise a PromptcError with every finding up to the place where reading cannot go on.
    """
    if len(data) > MAX_BYTES:
        raise fail("PC0102", f"the file has {len(data)} bytes; at most {MAX_BYTES} are read", Span(name, 1, 1))
    text = decode_text(data, name)
    reader = _YamlReader(name, folder, [line[:_EXCERPT] for line in text.split("\n")])
    reader.read(text)
    if reader.found:
        raise PromptcError(reader.found)
    if reader.root is None or reader.root.value is None:
        raise fail("PC0103", "the file is empty", Span(name, 1, 1))
    return reader.root


class _Open:
    """A mapping or list that is being read."""

    def __init__(self, span: Span, anchor: str | None, flow: bool, mapping: bool) -> None:
        self.span = span
        self.anchor = anchor
        self.flow = flow
        self.mapping = mapping
        self.entries: dict[str, Node] = {}
        self.keys: dict[str, Span] = {}
        self.members: list[Node] = []
        self.key: str | None = None
        self.wants_key = True
        self.nodes = 1
        self.height = 0


class _StopError(Exception):
    """Reading cannot go on; what is wrong has been noted."""


class _YamlReader:
    """Builds Nodes from parse events, so that every bound is met before anything is expanded."""

    def __init__(self, name: str, folder: str, lines: list[str]) -> None:
        self.found: list[Diagnostic] = []
        self.root: Node | None = None
        self._name = name
        self._folder = folder
        self._lines = lines
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int, int]] = {}
        self._named = 0
        self._nodes = 0
        self._documents = 0

    def read(self, text: str) -> None:
        """Sets `root`, or notes what is wrong."""
        with suppress(_StopError):
            self._read(text)

    def _read(self, text: str) -> None:
        wrong_syntax = _syntax_error()
        try:
            self._check_characters(text)
            takers = {name: getattr(self, taker) for name, taker in _TAKERS.items()}
            for event in _iter_events(text) if not self.found else ():
                takers[type(event).__name__](event)
        except wrong_syntax as wrong:
            found = explain_syntax(wrong, self._lines)
            if all(earlier.span is None or earlier.span.line != found.line + 1 for earlier in self.found):
                self._note("PC0110", found.message, self._span(found.line, found.column), found.help)

    def _check_characters(self, text: str) -> None:
        """Notes what no manifest may hold: control characters, and what YAML takes for a line end and editors do not."""
        start = line = 0
        for wrong in REFUSED.finditer(text):
            line += text.count("\n", start, wrong.start())
            start = wrong.start()
            column = start - (text.rfind("\n", 0, start) + 1)
            self._note("PC0104", _describe_character(wrong.group()), self._span(line, column), "in double quotes, write it as an escape")

    def _take_document(self, event: Any) -> None:
        self._documents += 1
        span = self._event_span(event)
        if event.tags or event.version not in (None, (1, 2)):
            self._note("PC0115", "a pack has no YAML directives", span, "remove the line that begins with `%`")
        if self._documents > 1:
            self._note("PC0116", "a second document begins here; a file holds one", span, "remove the `---` and what follows it")
            raise _StopError

    def _pass_over(self, event: Any) -> None:
        """Of a document's end, and of the stream's."""

    def _take_scalar(self, event: Any) -> None:
        raw: str = event.value
        value: Any = raw
        span = self._event_span(event)
        if event.tag is not None:
            self._refuse_tag(event, span)
        elif event.implicit[0]:
            if raw == "<<" and self._at_key():
                self._note("PC0114", "merge keys (`<<`) are not read", span, "write the keys out; an alias may be a whole value")
            try:
                value = resolve_scalar(raw)
            except ValueError as wrong:
                self._note("PC0107", str(wrong), span, "")
        if "\0" in raw:
            self._note("PC0133", "this text has U+0000; no prompt can hold it", span, "remove it")
        node = Node(value, span, self._folder, raw)
        if event.anchor is not None:
            self._name_anchor(event.anchor, node, 1, 0, span)
        self._add(node, 1, 0)

    def _take_start(self, event: Any) -> None:
        span = self._event_span(event)
        if event.tag is not None:
            self._refuse_tag(event, span)
        if len(self._open) >= MAX_DEPTH:
            self._note("PC0105", f"nested deeper than {MAX_DEPTH} levels", span, "")
            raise _StopError
        if event.anchor is not None:
            self._anchors.pop(event.anchor, None)
        self._open.append(_Open(span, event.anchor, bool(event.flow_style), type(event).__name__ == "MappingStartEvent"))

    def _take_end(self, _: Any) -> None:
        done = self._open.pop()
        value: Any = done.entries if done.mapping else tuple(done.members)
        node = Node(value, done.span, self._folder, "", done.keys)
        if done.anchor is not None:
            self._name_anchor(done.anchor, node, done.nodes, done.height + 1, done.span)
        self._add(node, done.nodes, done.height + 1, flow=done.flow)

    def _take_alias(self, event: Any) -> None:
        span = self._event_span(event)
        self._count_name(span)
        found = self._anchors.get(event.anchor)
        if found is None:
            inside = any(each.anchor == event.anchor for each in self._open)
            why = "stands inside its own anchor" if inside else f"has no anchor `&{event.anchor}` before it"
            self._note("PC0118", f"the alias `*{event.anchor}` {why}", span, "")
            found = (Node(None, span, self._folder), 1, 0)
        node, nodes, height = found
        if len(self._open) + height > MAX_DEPTH:
            self._note("PC0105", f"with its aliases, nested deeper than {MAX_DEPTH} levels", span, "")
            raise _StopError
        self._add(node, nodes, height)

    def _add(self, node: Node, nodes: int, height: int, *, flow: bool = False) -> None:
        """Puts a finished value where it belongs: into the innermost open collection, as a key or as a value."""
        self._nodes += 1
        if not self._open:
            self.root = node
            return
        into = self._open[-1]
        into.nodes += nodes
        if height > into.height:
            into.height = height
        if into.nodes > MAX_NODES or self._nodes > MAX_NODES:
            self._note("PC0117", f"more than {MAX_NODES} values, aliases counted as what they stand for", node.span, "")
            raise _StopError
        if not into.mapping:
            into.members.append(node)
        elif into.wants_key:
            self._add_key(into, node, flow)
        else:
            if into.key is not None:
                into.entries[into.key] = node
            into.wants_key = True

    def _add_key(self, into: _Open, node: Node, flow: bool) -> None:
        into.wants_key, into.key = False, None
        if not isinstance(node.value, str):
            self._note("PC0112", f"a key must be text, and this is {_kind(node.value)}", node.span, _mend_key(node, flow and into.flow))
        elif node.value in into.keys:
            first = into.keys[node.value]
            where = f"line {first.line}, column {first.column}"
            message = f"the key `{node.value[:80]}` is here a second time; the first is at {where}"
            self._note("PC0106", message, node.span, "keep one of the two, or indent this one if it belongs under a key above it")
        else:
            into.key = node.value
            into.keys[node.value] = node.span

    def _at_key(self) -> bool:
        return bool(self._open) and self._open[-1].mapping and self._open[-1].wants_key

    def _refuse_tag(self, event: Any, span: Span) -> None:
        self._note("PC0113", f"the tag `{event.tag[:80]}`: a pack has no YAML tags", span, "quote a value to make it text")

    def _name_anchor(self, anchor: str, node: Node, nodes: int, height: int, span: Span) -> None:
        self._count_name(span)
        self._anchors[anchor] = (node, nodes, height)

    def _count_name(self, span: Span) -> None:
        self._named += 1
        if self._named > MAX_ANCHORS:
            self._note("PC0117", f"more than {MAX_ANCHORS} anchors and aliases", span, "")
            raise _StopError

    def _event_span(self, event: Any) -> Span:
        mark = event.start_mark
        return self._span(mark.line, mark.column)

    def _span(self, line: int, column: int) -> Span:
        """From a line and column counted from 0."""
        if line >= len(self._lines):
            line, column = len(self._lines) - 1, len(self._lines[-1])
        return Span(self._name, line + 1, column + 1, self._lines[line])

    def _note(self, code: str, message: str, span: Span, mend: str) -> None:
        self.found.append(Diagnostic(code, message, span, mend))
        if len(self.found) >= _MOST:
            raise _StopError


def _iter_events(text: str) -> Iterator[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None:
        raise fail("PC0121", "this PyYAML was built without libyaml, which reads YAML here", help="install PyYAML from a wheel")
    return iter(yaml.parse(text, Loader=loader))


def _syntax_error() -> type[Exception]:
    import yaml

    return yaml.YAMLError


def _describe_character(character: str) -> str:
    if character in _LINE_ENDS:
        return f"U+{ord(character):04X} {_LINE_ENDS[character]}: YAML ends the line here, editors do not"
    return f"the character U+{ord(character):04X} cannot stand in YAML"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, tuple) else "a number"


def _mend_key(node: Node, braces: bool) -> str:
    if isinstance(node.value, dict) and braces:
        return 'quote a template: `text: "{{ state.name }}"`; an expression needs no braces: `when: state.on`'
    return f'quote it: `"{node.raw}"`' if node.raw and not isinstance(node.value, (dict, tuple)) else ""


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
    return SyntaxFinding(f"YAML: {message}", line, column, _suggest_mend(problem, excerpt, column))


def _is_end(mark: Any, lines: list[str]) -> bool:
    """Whether nothing follows: what is wrong is then what was begun before."""
    if mark is None:
        return False
    here = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
    return not here.strip() and not any(line.strip() for line in lines[mark.line + 1 :])


def _suggest_mend(problem: str, excerpt: str, column: int) -> str:
    if _TEMPLATE.search(excerpt):
        return 'quote a template: `text: "{{ state.name }}"`; an expression needs no braces: `when: state.on`'
    if excerpt[column : column + 1] == "\t":
        return "indent with spaces, not tabs"
    if problem == "did not find expected key" and excerpt[:column].rstrip().endswith(("'", '"', "]", "}")):
        return "the value ends at its closing quote or bracket: quote the whole of it"
    return next((mend for part, mend in _HELP if part in problem), "")


def resolve_scalar(raw: str) -> str | int | float | bool | None:
    """The value of a plain scalar. `012` is 12, `1e3` is the integer 1000, `12:30`, `yes` and dates are text.

    A whole number beyond 64 bits, a float beyond the double range, `.inf` and `.nan` are a ValueError that says so.
    """
    if raw in _WORDS:
        return _WORDS[raw]
    if raw[0] not in _FIRST:
        return raw
    if _INT.fullmatch(raw):
        return _read_int(raw)
    if _FLOAT.fullmatch(raw):
        return _read_float(raw)
    if _NOT_FINITE.fullmatch(raw):
        raise ValueError(f"`{raw}` is no number a pack can use")
    return raw


def _read_int(raw: str) -> int:
    if len(raw) <= _DIGITS:
        value = int(raw, {"0o": 8, "0x": 16}.get(raw[:2], 10))
        if value.bit_length() <= _BITS:
            return value
    raise ValueError(f"the integer {_shorten(raw)} is out of range (64 bits)")


def _read_float(raw: str) -> int | float:
    value = float(raw)
    if math.isinf(value):
        raise ValueError(f"the number {_shorten(raw)} is out of range")
    whole = "." not in raw and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def _shorten(raw: str) -> str:
    return raw if len(raw) <= _DIGITS else f"{raw[:12]}… of {len(raw)} characters"
