"""Parses YAML to Nodes (`load_yaml`). The only module that reads YAML, and the only one that imports PyYAML.

Nodes are built from the parser's events, so every limit applies before aliases are expanded. `resolve_scalar` reads a plain scalar.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail, shorten
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
"""Characters that must not appear unescaped in the YAML that promptc reads."""

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
    """Return the only document in `data` as Nodes whose paths are relative to `folder`. `name` is the file as its author knows it.

    Scalars have the values of the YAML 1.2 core schema (`resolve_scalar`). Keys must be distinct texts. Tags, directives and merge keys are
    refused. An alias is the same Node as its anchor. The limits are MAX_BYTES, MAX_DEPTH levels, MAX_NODES values, where an alias counts as
    all the values that it repeats, and MAX_ANCHORS anchors and aliases together.

    Raises a PromptcError with every finding up to the place where parsing cannot continue.
    """
    if len(data) > MAX_BYTES:
        raise fail("PC0102", f"the file has {len(data)} bytes, and promptc reads at most {MAX_BYTES}", Span(name, 1, 1), help=_MOVE_OUT)
    text = decode_text(data, name)
    reader = _YamlReader(name, folder, [line[:_EXCERPT] for line in text.split("\n")])
    reader.read(text)
    if reader.found:
        raise PromptcError(reader.found)
    if reader.root is None or reader.root.value is None:
        raise fail("PC0103", "the file is empty", Span(name, 1, 1), help="write a value, or name another file")
    return reader.root


class _Open:
    """A mapping or list that is being parsed."""

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
    """Parsing cannot continue. The reason is already among the findings."""


class _YamlReader:
    """Builds Nodes from parse events, and applies every limit before aliases are expanded."""

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
        self._last: Any = None

    def read(self, text: str) -> None:
        """Set `root`, or record findings."""
        with suppress(_StopError):
            self._read(text)

    def _read(self, text: str) -> None:
        wrong_syntax = syntax_error()
        try:
            self._check_characters(text)
            takers = {name: getattr(self, taker) for name, taker in _TAKERS.items()}
            for event in iter_events(text) if not self.found else ():
                takers[type(event).__name__](event)
        except wrong_syntax as wrong:
            found = explain_syntax(wrong, self._lines, self._last)
            if _TOO_DEEP in str(wrong):
                self._note("PC0105", _DEEP, self._span(found.line, found.column), _RAISE)
            elif all(earlier.span is None or earlier.span.line != found.line + 1 for earlier in self.found):
                self._note("PC0110", found.message, self._span(found.line, found.column), found.help)

    def _check_characters(self, text: str) -> None:
        """Record characters that no manifest may contain: control characters, and line ends of YAML that editors do not recognize."""
        start = line = 0
        for wrong in REFUSED.finditer(text):
            line += text.count("\n", start, wrong.start())
            start = wrong.start()
            column = start - (text.rfind("\n", 0, start) + 1)
            help = "remove it, or write it as an escape in double quotes"
            self._note("PC0104", _describe_character(wrong.group()), self._span(line, column), help)

    def _take_document(self, event: Any) -> None:
        self._documents += 1
        span = self._event_span(event)
        if event.tags or event.version not in (None, (1, 2)):
            self._note("PC0115", "promptc does not read YAML directives such as this line", span, "remove the line that begins with `%`")
        if self._documents > 1:
            self._note(
                "PC0116", "a second YAML document begins here, but a file holds only one", span, "remove the `---` and what follows it"
            )
            raise _StopError

    def _pass_over(self, event: Any) -> None:
        """Ignore the start or end of the stream, or the end of a document."""

    def _take_scalar(self, event: Any) -> None:
        self._last = event
        raw: str = event.value
        value: Any = raw
        span = self._event_span(event)
        if event.tag is not None:
            self._refuse_tag(event, span)
        elif event.implicit[0]:
            if raw == "<<" and self._at_key():
                self._note(
                    "PC0114", "promptc does not read merge keys such as `<<`", span, "write the keys out, or use an alias for a whole value"
                )
            try:
                value = resolve_scalar(raw)
            except ValueError as wrong:
                self._note("PC0107", str(wrong), span, "write a smaller number, or quote it to make it a string")
        if "\0" in raw:
            self._note("PC0133", "this text holds U+0000, which no prompt can contain", span, "remove the character")
        node = Node(value, span, self._folder, raw)
        if event.anchor is not None:
            self._name_anchor(event.anchor, node, 1, 0, span)
        self._add(node, 1, 0)

    def _take_start(self, event: Any) -> None:
        span = self._event_span(event)
        if event.tag is not None:
            self._refuse_tag(event, span)
        if len(self._open) >= MAX_DEPTH:
            self._note("PC0105", _DEEP, span, _RAISE)
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
        if found is None and any(each.key == "<<" and not each.wants_key for each in self._open):
            found = (Node(None, span, self._folder), 1, 0)  # a merge key is refused already
        if found is None:
            inside = any(each.anchor == event.anchor for each in self._open)
            why = "is inside its own anchor" if inside else f"has no anchor `&{event.anchor}` before it"
            help = f"put `&{event.anchor}` before a value above, or correct the name"
            self._note("PC0118", f"the alias `*{event.anchor}` {why}", span, help)
            found = (Node(None, span, self._folder), 1, 0)
        node, nodes, height = found
        if len(self._open) + height > MAX_DEPTH:
            self._note("PC0105", f"with its aliases, this value is nested more than {MAX_DEPTH} levels deep", span, _RAISE)
            raise _StopError
        self._add(node, nodes, height)

    def _add(self, node: Node, nodes: int, height: int, *, flow: bool = False) -> None:
        """Add a finished value to the innermost open collection, as a key or as a value."""
        self._nodes += 1
        if not self._open:
            self.root = node
            return
        into = self._open[-1]
        into.nodes += nodes
        if height > into.height:
            into.height = height
        if into.nodes > MAX_NODES or self._nodes > MAX_NODES:
            message = f"the file has more than {MAX_NODES} values: an alias counts as all the values that it repeats"
            self._note("PC0117", message, node.span, _MOVE_OUT)
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
            is_template = isinstance(node.value, dict) and flow and into.flow
            what = f"a key must be a string, and this is {_kind(node.value)}"
            if is_template:
                what = "this template has no quotes, and YAML reads its braces as a mapping"
            self._note("PC0112", what, node.span, _mend_key(node, is_template))
        elif node.value in into.keys:
            first = into.keys[node.value]
            where = f"line {first.line}, column {first.column}"
            message = f"the key `{node.value[:80]}` appears twice in this mapping; the first is at {where}"
            self._note("PC0106", message, node.span, "keep one of the two, or indent this one if it belongs under a key above it")
        else:
            into.key = node.value
            into.keys[node.value] = node.span

    def _at_key(self) -> bool:
        return bool(self._open) and self._open[-1].mapping and self._open[-1].wants_key

    def _refuse_tag(self, event: Any, span: Span) -> None:
        tag = event.tag[:80].replace("tag:yaml.org,2002:", "!!")
        negated = "; in an expression write `not`: `when: not state.on`" if tag[:1] == "!" and tag[1:2] not in ("", "!") else ""
        help = f"remove `{tag}`" if tag[:2] == "!!" else f"put quotes around a string that begins with `!`{negated}"
        self._note("PC0113", f"YAML reads `{tag}` as a tag, and promptc does not accept tags", span, help)

    def _name_anchor(self, anchor: str, node: Node, nodes: int, height: int, span: Span) -> None:
        self._count_name(span)
        self._anchors[anchor] = (node, nodes, height)

    def _count_name(self, span: Span) -> None:
        self._named += 1
        if self._named > MAX_ANCHORS:
            help = "write values out, or move content into template files"
            self._note("PC0117", f"the file has more than {MAX_ANCHORS} anchors and aliases", span, help)
            raise _StopError

    def _event_span(self, event: Any) -> Span:
        mark = event.start_mark
        return self._span(mark.line, mark.column)

    def _span(self, line: int, column: int) -> Span:
        """Return the span of a line and column counted from 0."""
        if line >= len(self._lines):
            line, column = len(self._lines) - 1, len(self._lines[-1])
        return Span(self._name, line + 1, column + 1, self._lines[line])

    def _note(self, code: str, message: str, span: Span, mend: str) -> None:
        self.found.append(Diagnostic(code, message, span, mend))
        if len(self.found) >= _MOST:
            raise _StopError


def iter_events(text: str) -> Iterator[Any]:
    """Return an iterator over the parser's events. It raises the exception of `syntax_error` where the text is not YAML."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None:
        raise fail(
            "PC0121",
            "this PyYAML was built without libyaml, and promptc reads YAML with libyaml",
            help="install PyYAML from a wheel: `pip install --force-reinstall pyyaml`",
        )
    return iter(yaml.parse(text, Loader=loader))


def syntax_error() -> type[Exception]:
    """Return the class of the exception that is raised for invalid YAML."""
    import yaml

    return yaml.YAMLError


def _describe_character(character: str) -> str:
    if character in _LINE_ENDS:
        return f"U+{ord(character):04X} {_LINE_ENDS[character]}: YAML ends the line here, editors do not"
    return f"the character U+{ord(character):04X} is not allowed in YAML"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, tuple) else "a number"


def _mend_key(node: Node, braces: bool) -> str:
    if braces:
        return 'quote a template: `text: "{{ state.name }}"`; an expression needs no braces: `when: state.on`'
    return f'quote it: `"{node.raw}"`' if node.raw and not isinstance(node.value, (dict, tuple)) else ""


def resolve_scalar(raw: str) -> str | int | float | bool | None:
    """Return the value of a plain scalar. `012` is 12, `1e3` is the integer 1000; `12:30`, `yes` and dates are text.

    Raises a ValueError with a message for a whole number beyond 64 bits, a float beyond the range of doubles, `.inf` and `.nan`.
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
        raise ValueError(f"a pack cannot use the number `{raw}`")
    return raw


def _read_int(raw: str) -> int:
    if len(raw) <= _DIGITS:
        value = int(raw, {"0o": 8, "0x": 16}.get(raw[:2], 10))
        if value.bit_length() <= _BITS:
            return value
    raise ValueError(f"the whole number {_shorten(raw)} does not fit 64 bits")


def _read_float(raw: str) -> int | float:
    value = float(raw)
    if math.isinf(value):
        raise ValueError(f"the number {_shorten(raw)} is too large")
    whole = "." not in raw and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def _shorten(raw: str) -> str:
    return raw if len(raw) <= _DIGITS else f"{raw[:12]}… of {len(raw)} characters"


@frozen
class SyntaxFinding:
    """An explanation of a syntax error. The line and column are counted from 0."""

    message: str
    line: int
    column: int
    help: str


def explain_syntax(wrong: Any, lines: list[str], last: Any = None) -> SyntaxFinding:
    """Explain what the author of invalid YAML probably did, where, and what to write instead.

    `wrong` is the parser's error, `lines` are those of the file, and `last` is the event of the last text that was parsed.
    """
    problem = getattr(wrong, "problem", None) or str(wrong).split("\n")[0]
    mark = getattr(wrong, "problem_mark", None)
    begun = getattr(wrong, "context_mark", None)
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    if line >= len(lines):
        line, column = len(lines) - 1, len(lines[-1])
    start = (min(begun.line, len(lines) - 1), begun.column) if begun is not None else (line, column)
    return _SyntaxFault(problem, line, column, start, lines, last).explain()


_KEY = re.compile(r"""((?:- +)*)("[^"]*"|'[^']*'|[^\s#"'{}\[\],&*!|>%@`-][^:#]*?|-[^\s:#][^:#]*?) *:(?= |$)""")
"""The start of a line `- key: value`: the dashes and the key."""

_BLOCK = re.compile(r"(?:^|[:-] +)[|>][-+0-9]{0,2} *(?:#.*)?$")
_GLUED = re.compile(r"(?:- +)*([A-Za-z_][\w.-]*):(?=\S)(.*)$")
_CHOICE = re.compile(r" \? .*: ")
_JOINED = re.compile(r" *(?:[=!]=|[<>~|+*/-]|(?:in|is|and|or|not|if)\b)")
_CHOICE_HELP = "write `if` and `else`: `'calm' if state.safe else 'tense'`"
_TEMPLATE_HELP = 'quote a template: `text: "{{ state.name }}"`; an expression needs no braces: `when: state.on`'
_DEEP = f"lists and mappings are nested more than {MAX_DEPTH} levels deep here"
_TOO_DEEP = "exceeded maximum nesting depth"  # libyaml 0.2.6 says it of a thousand brackets in a line, before it yields the first
_RAISE = "use fewer levels: move inner values up, or write them as text"
_MOVE_OUT = "move content into template files"
_SIGNS = "*&!%@`>|"
_LONGEST_QUOTE = 100


class _SyntaxFault:
    """A place where the parser stopped. All lines and columns are counted from 0."""

    def __init__(self, problem: str, line: int, column: int, start: tuple[int, int], lines: list[str], last: Any) -> None:
        self.problem = problem
        self.line = line
        self.column = column
        self.start = start
        self.lines = lines
        self.last = last

    def explain(self) -> SyntaxFinding:
        for reading in (self._read_tab, self._read_block, self._read_quote, self._read_template, self._read_problem):
            found = reading()
            if found is not None:
                return found
        where = self.start if self._is_end() else (self.line, self.column)
        help = "look here and in the line above for a wrong indent, a missing quote or a bracket that is not closed"
        return SyntaxFinding(f"YAML cannot read this: {self.problem}", *where, help)

    def _read_tab(self) -> SyntaxFinding | None:
        text = self.lines[self.line]
        before = text[: _indent(text, "\t ")]
        if "\t" not in before or self.column > len(before):
            return None
        help = "indent with spaces; most editors can turn tabs into spaces for a whole file"
        return SyntaxFinding("this line is indented with a tab, and YAML takes only spaces there", self.line, before.index("\t"), help)

    def _read_block(self) -> SyntaxFinding | None:
        """Explain a line whose indent ends a block of text after `|` or `>` too early."""
        found = None
        at = 0
        stop = (
            self.start[0]
            if any(part in self.problem for part in ("unexpected end of stream", "did not find expected ',' or"))
            else self.line
        )
        while at < stop:
            if not _BLOCK.search(self.lines[at]):
                at += 1
                continue
            end = self._end_block(at)
            if end > stop:
                return found
            found = self._judge_block(at, end, stop)
            at = end
        return found

    def _end_block(self, head: int) -> int:
        """Return the first line after the block of text that begins under line `head`."""
        last = len(self.lines)
        body = self._find_text(head + 1) or last
        least = max(_indent(self.lines[body]) if body < last else 0, _column(self.lines[head]) + 1)
        return next((at for at in range(body, last) if self.lines[at].strip() and _indent(self.lines[at]) < least), last)

    def _judge_block(self, head: int, end: int, stop: int) -> SyntaxFinding | None:
        """Explain line `end` if it was meant to belong to the block of text, or return None."""
        own, here = _column(self.lines[head]), _indent(self.lines[end])
        body = self._find_text(head + 1) or end
        least = max(_indent(self.lines[body]), own + 1)
        text = self.lines[end].strip()
        after = self._find_text(end + 1)
        goes_on = after is not None and _indent(self.lines[after]) >= least and not _ends_open(text)
        dash = text.startswith("- ") and (here < own or not _KEY.match(self.lines[head].strip()))
        entry = dash or (_KEY.match(text) and not text.startswith("- ")) or text.startswith(("#", "---")) or text in ("-", "]", "}", "...")
        later = (self.lines[at] for at in range(end + 1, stop))
        if (here <= own and entry and not goes_on) or any(_KEY.match(line.strip()) and _indent(line) <= own for line in later):
            return None
        name = _name_line(self.lines[head])
        spaces = _count_spaces(least if end != body else own + 2)
        if end == body:
            message = f"the text of {name} (line {head + 1}) must be indented deeper than its key; this line has {_count_spaces(here)}"
            return SyntaxFinding(message, end, here, f"indent each line of the text by {spaces}")
        message = f"this line ends the text of {name} (line {head + 1}): it is indented by {_count_spaces(here)}, and the text by {least}"
        return SyntaxFinding(message, end, here, f"indent the line by at least {spaces}, like the first line of the text")

    def _find_text(self, line: int) -> int | None:
        return next((at for at in range(line, len(self.lines)) if self.lines[at].strip()), None)

    def _read_template(self) -> SyntaxFinding | None:
        for line in dict.fromkeys((self.line, self.start[0])):
            found = _TEMPLATE.search(self.lines[line])
            if found is not None:
                return self._describe_template(line, found.end() - 2)
        return None

    def _describe_template(self, line: int, brace: int) -> SyntaxFinding:
        """Explain a template without quotes. The value begins after the first colon of its line and may contain more colons."""
        message = "this template has no quotes, and YAML reads its brace as the start of a mapping"
        key = re.match(r"\s*(?:- +)?(\w+): +", self.lines[line])
        text = self.lines[line][key.end() :].rstrip() if key else ""
        if key is None or not text or key.end() == brace or '"' in text or "\\" in text or len(text) > _LONGEST_QUOTE:
            return SyntaxFinding(message, line, brace, _TEMPLATE_HELP)
        if ": " in text.partition("{")[0]:
            message = "this text has no quotes, and YAML reads its colon and its brace as signs of a mapping"
        return SyntaxFinding(message, line, key.end(), f'quote the text: `{key[1]}: "{text}"`')

    def _read_quote(self) -> SyntaxFinding | None:
        """Explain a quoted text, or a list in brackets, that ends too late, too early or never."""
        line, column = self.start
        if "unexpected end of stream" in self.problem:
            quote = self.lines[line][column : column + 1]
            help = f"write the second `{quote}` where the text ends: `{shorten(self.lines[line].strip())}{quote}`"
            return SyntaxFinding(f"the quote `{quote}` that opens here is never closed", line, column, help)
        if self.problem == "did not find expected key" and self.lines[self.line][: self.column].rstrip().endswith(("'", '"', "]", "}")):
            return self._read_rest()
        return None

    def _read_rest(self) -> SyntaxFinding | None:
        """Explain what follows the quote or bracket that ends a value."""
        closing = self.lines[self.line][: self.column].rstrip()[-1]
        opened = getattr(self.last, "start_mark", None) if closing in "'\"" else None
        if opened is not None and opened.line < self.line:
            message = f"the quote `{closing}` that opens here closes only in line {self.line + 1}, in the middle of another value"
            return SyntaxFinding(message, opened.line, opened.column, f"write the second `{closing}` at the end of its own line")
        key = _KEY.match(self.lines[self.line].strip())
        if key is None:
            return None
        begin = _indent(self.lines[self.line]) + key.end() + 1
        what = "quote" if closing in "'\"" else "bracket"
        message = f"the value of `{key[2]}` ends at its closing {what} `{closing}`, and more follows"
        return SyntaxFinding(message, self.line, self.column, f"quote the whole value: {self._quote_rest(key[2], begin)}")

    def _read_problem(self) -> SyntaxFinding | None:
        return next((read(self) for part, read in _PROBLEMS.items() if part in self.problem), None)

    def _read_colon(self) -> SyntaxFinding | None:
        """Explain `mapping values are not allowed`: a colon in a text, or a key under something that is not a mapping."""
        text = self.lines[self.line]
        key = _KEY.match(text.strip())
        begin = _indent(text) + (key.end() + 1 if key else 0)
        if key is not None and self.column >= begin:
            value = text[begin:].strip()
            if _CHOICE.search(f"{value} "):
                return SyntaxFinding(f"the value of `{key[2]}` has a `? :`", self.line, self.column, _CHOICE_HELP)
            message = f"the value of `{key[2]}` has a `: `, which YAML reads as the end of another key"
            return SyntaxFinding(message, self.line, self.column, f"quote the whole value: {self._quote_rest(key[2], begin)}")
        above = self._find_above(self.line)
        if above is None:
            return None
        return self._read_above(above, _column(text), key[2] if key else text.strip())

    def _read_above(self, above: int, here: int, name: str) -> SyntaxFinding | None:
        """Explain a key that is deeper than line `above`, which cannot contain it."""
        text = self.lines[above].strip()
        found = self._read_no_key(above)
        if found is not None:
            return found
        upper = _KEY.match(text)
        if upper is None:
            return None
        own = _column(self.lines[above])
        message = f"`{name}` is indented under `{upper[2]}`, which has a value already: `{shorten(text[upper.end() :].strip())}`"
        move = f"indent `{name}` by {_count_spaces(own)}" if own else f"begin the line with `{name}`"
        help = f"{move}, like `{upper[2]}`; or remove that value, if `{name}` belongs to `{upper[2]}`"
        if self.lines[self.line].strip().startswith("-"):
            help = f"remove that value, if the list belongs to `{upper[2]}`"
        return SyntaxFinding(message, self.line, min(here, len(self.lines[self.line])), help)

    def _read_no_key(self, line: int) -> SyntaxFinding | None:
        """Explain a line that was meant as `key: value` or `- entry` but is neither."""
        text, indent = self.lines[line].strip(), _indent(self.lines[line])
        glued = _GLUED.match(text)
        if text.startswith("-") and text[1:2] not in ("", " ", "-"):
            return SyntaxFinding("a `-` that begins an entry needs a space after it", line, indent, f"write `- {shorten(text[1:])}`")
        if glued is not None and not _KEY.match(text):
            at = indent + glued.start(2)
            return SyntaxFinding("a `:` needs a space after it", line, at, f"write `{glued[1]}: {shorten(glued[2])}`")
        if _KEY.match(text) or text.startswith(("- ", "#")):
            return None
        if "\u00a0" in text:
            at = indent + text.index("\u00a0")
            return SyntaxFinding("YAML does not read the no-break space (U+00A0) here as a space", line, at, "write a plain space instead")
        first, _, rest = text.partition(" ")
        message = f"`{shorten(text)}` has no `:`, so it is not a key with a value"
        help = f"write `{first}: {shorten(rest)}`".rstrip(" `") + "`" if re.fullmatch(r"[A-Za-z_]\w*", first) else "write `key: value`"
        above = self._find_above(line)
        upper = _KEY.match(self.lines[above].strip()) if above is not None else None
        if upper is not None and above is not None and self.lines[above].strip()[upper.end() :] and " " in rest:
            help += f"; or, if the line belongs to `{upper[2]}`, write `{upper[2]}: |` and the whole text indented below it"
        return SyntaxFinding(message, line, indent, help)

    def _read_simple_key(self) -> SyntaxFinding | None:
        """Explain `could not find expected ':'`: what was begun is not a key."""
        return self._read_no_key(self.start[0])

    def _read_indent(self) -> SyntaxFinding | None:
        """Explain a line whose indent matches nothing above it, or an extra bracket."""
        text, here = self.lines[self.line], _indent(self.lines[self.line])
        sign = text[self.column : self.column + 1]
        if sign in ("}", "]", ",") and self.column > here:
            return SyntaxFinding(f"this `{sign}` closes nothing", self.line, self.column, "remove it, or write the bracket that it closes")
        entry = text.strip().startswith("-")
        near = [at for at in self._list_levels() if self.lines[at].strip().startswith("-") or not entry]
        key = _KEY.match(text.strip())
        what = "this entry" if entry else f"`{key[2]}`" if key else "this line"
        if not near:
            message = "a `-` begins an entry of a list here, among the keys of a mapping"
            help = "write the key of the list in a line of its own above it, such as `sections:`"
            return SyntaxFinding(message, self.line, here, help) if entry else None
        found = self._list_places(near, entry, here)
        if found.get(here, ("", 0))[0] == "the entry":
            message = f"{what} begins where the entries of a list do, and is no entry"
            return SyntaxFinding(message, self.line, here, "begin the line with `- `, or move it out of the list")
        places = [f"{column}, like {name} (line {line})" for column, (name, line) in found.items()]
        message = f"{what} is indented by {_count_spaces(here)}, which fits no {'entry' if entry else 'key'} above it"
        help = f"indent it by {', or by '.join(places)}"
        return SyntaxFinding(message, self.line, here, help if entry else f"{help}; a new entry of a list begins with `- `")

    def _read_second(self) -> SyntaxFinding | None:
        """Explain a line further left than the first key, or after a value that is not a mapping."""
        first, here = self._find_text(0) or 0, _indent(self.lines[self.line])
        if _indent(self.lines[first]) > here:
            message = f"this line begins further left than {_name_line(self.lines[first])}, the first key (line {first + 1})"
            return SyntaxFinding(message, self.line, here, f"begin both in the same column: remove the indent of line {first + 1}")
        message = f"what begins in line {first + 1} ends before this line, so this line belongs to no value"
        return SyntaxFinding(message, self.line, here, "write a file of keys with their values, such as `promptc: 1` and `name: my-pack`")

    def _list_places(self, near: list[int], entry: bool, here: int) -> dict[int, tuple[str, int]]:
        """Return the nearest valid indents, at most one on each side of `here`, each with the name and number of a line that has it."""
        places = {
            _indent(self.lines[at]) if entry else _column(self.lines[at]): (
                "the entry" if entry else _name_line(self.lines[at]),
                at + 1,
            )
            for at in reversed(near)
        }
        less = max((column for column in places if column < here), default=None)
        more = min((column for column in places if column > here), default=None)
        kept = [column for column in (more, less) if column is not None]
        return {column: places[column] for column in (kept[:1] if entry else kept)} or places

    def _list_levels(self) -> list[int]:
        """Return the lines above that are still open, the nearest first. Each is less indented than those below it."""
        found: list[int] = []
        deepest = 10**6
        for at in range(self.line - 1, -1, -1):
            text = self.lines[at]
            if not text.strip() or text.strip().startswith("#"):
                continue
            if _indent(text) < deepest:
                deepest = _indent(text)
                found.append(at)
        return found

    def _read_bracket(self) -> SyntaxFinding | None:
        """Explain a list or mapping in brackets that is not closed, or a character that is not allowed in it."""
        line, column = self.start
        opening = self.lines[line][column : column + 1]
        closing = "}" if opening == "{" else "]"
        sign = self.lines[self.line][self.column : self.column + 1]
        if not opening or opening not in "{[":
            return None
        if self.line > line or not sign:
            message = f"the bracket `{opening}` that opens here is never closed"
            return SyntaxFinding(message, line, column, f"write `{closing}` where it ends, and a `,` between the values in it")
        if sign in ("}", "]"):
            message = f"`{sign}` does not close the `{opening}` before it"
            return SyntaxFinding(message, self.line, self.column, f"write `{closing}` in its place")
        before, _, value = self.lines[line][column + 1 : self.column].rpartition(", ")[2].rpartition(": ")
        value = (value or before).strip()
        whole = f"{value}{re.split(r'[],}]', self.lines[line][self.column :])[0]}"
        if _CHOICE.search(f"{whole} "):
            return SyntaxFinding("this value has a `? :`", line, self.column, _CHOICE_HELP)
        if sign == ":" and " " in value:
            help = f'write `,` before `{value.rpartition(" ")[2]}`; or quote a string that holds `: `, such as `"Note: be brief"`'
            return SyntaxFinding(f"a `,` is missing between two values of this `{opening}`", line, self.column, help)
        if sign == ":" and '"' not in whole:
            message = f"in `{opening}{closing}`, a string that holds `: ` needs quotes"
            return SyntaxFinding(message, line, self.column, f'write `"{shorten(whole)}"`')
        help = "quote a string that holds `: ` or any of `,[]{}`; and write a `,` between two values"
        return SyntaxFinding(f"YAML cannot read this value inside `{opening}{closing}`", line, self.column, help)

    def _read_sign(self) -> SyntaxFinding | None:
        """Explain a text that begins with a character which has another meaning in YAML."""
        text = self.lines[self.line]
        key = _KEY.match(text.strip())
        begin = _indent(text) + key.end() + 1 if key else self.column
        sign = text[begin:].strip()[:1] or text[self.column : self.column + 1]
        if sign in ("[", "{"):
            return self._read_inner_sign(text, begin)
        name = key[2] if key else ""
        message = f"a string that begins with {'a backquote' if sign == '`' else f'`{sign}`'} needs quotes"
        return SyntaxFinding(message, self.line, begin, f"quote it: {self._quote_rest(name, begin)}")

    def _read_inner_sign(self, text: str, begin: int) -> SyntaxFinding | None:
        """Explain such a text inside brackets."""
        at = self.column if text[self.column : self.column + 1] in _SIGNS else self.column - 1
        found = re.match(r"[^,\]}]+", text[at:]) if at > begin else None
        if found is None or text[at] not in _SIGNS:
            return None
        return SyntaxFinding(
            f"a string that begins with `{text[at]}` needs quotes", self.line, at, f'write `"{shorten(found[0].strip())}"`'
        )

    def _read_dash(self) -> SyntaxFinding | None:
        found = self._read_sign()
        if found is None:
            return None
        return SyntaxFinding(found.message, found.line, found.column, f"{found.help}; or begin a list in the next line")

    def _read_block_head(self) -> SyntaxFinding | None:
        """Explain text on the line of a `|` or `>`."""
        text = self.lines[self.line]
        key = _KEY.match(text.strip())
        sign = text[self.start[1] : self.start[1] + 1] if self.start[0] == self.line else "|"
        rest = text[self.column :].strip()
        name = f"{key[2]}: " if key else ""
        message = f"`{sign}` begins a text that is written on the lines below it, but here more follows on the same line"
        help = f"move the text to the next line and indent it; or leave `{sign}` out: `{name}{shorten(rest)}`"
        if sign == ">" and key:
            help = f"move the text to the next line and indent it; an expression that begins with `>` has no left side: `{name}state.n > 3`"
        return SyntaxFinding(message, self.line, self.column, help)

    def _read_escape(self) -> SyntaxFinding | None:
        sign = self.lines[self.line][self.column : self.column + 2]
        sign = sign if sign.startswith("\\") else self.lines[self.line][max(self.column - 1, 0) : self.column + 1]
        message = f"in double quotes a backslash begins an escape, and `{sign}` is not one"
        return SyntaxFinding(message, self.line, self.column, "write the backslash twice, `\\\\`, or put the text into single quotes")

    def _quote_rest(self, key: str, begin: int) -> str:
        """Return the value that begins at a column, written as one quoted text."""
        value = self.lines[self.line][begin:].strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" and not _JOINED.match(value[value.find(value[0], 1) + 1 :]):
            value = value[1:-1]
        name = f"{key}: " if key else ""
        if len(value) > _LONGEST_QUOTE or "`" in value:
            return f'`{name}"…"`'
        if '"' not in value and "\\" not in value:
            return f'`{name}"{value}"`'
        return f"`{name}'{value}'`" if "'" not in value else "in single quotes, where `''` stands for one quote"

    def _find_above(self, line: int) -> int | None:
        """Return the last line before `line` that is neither blank nor a comment, or None."""
        above = (at for at in range(line - 1, -1, -1) if self.lines[at].strip() and not self.lines[at].strip().startswith("#"))
        return next(above, None)

    def _is_end(self) -> bool:
        """Return whether nothing follows, so that the error is in something begun earlier."""
        here = self.lines[self.line][self.column :]
        return not here.strip() and not any(line.strip() for line in self.lines[self.line + 1 :])


_PROBLEMS = {
    "mapping values are not allowed": _SyntaxFault._read_colon,
    "could not find expected ':'": _SyntaxFault._read_simple_key,
    "block sequence entries are not allowed": _SyntaxFault._read_dash,
    "mapping keys are not allowed": _SyntaxFault._read_sign,
    "character that cannot start any token": _SyntaxFault._read_sign,
    "alphabetic or numeric character": _SyntaxFault._read_sign,
    "expected comment or line break": _SyntaxFault._read_block_head,
    "unknown escape character": _SyntaxFault._read_escape,
    "did not find expected ',' or": _SyntaxFault._read_bracket,
    "did not find expected node content": _SyntaxFault._read_bracket,
    "found unexpected ':'": _SyntaxFault._read_bracket,
    "did not find expected <document start>": _SyntaxFault._read_second,
    "did not find expected '-' indicator": _SyntaxFault._read_indent,
    "did not find expected key": _SyntaxFault._read_indent,
    "did not find expected <block end>": _SyntaxFault._read_indent,
}


def _indent(text: str, signs: str = " ") -> int:
    return len(text) - len(text.lstrip(signs))


def _column(text: str) -> int:
    """Return the column where the key of a line begins, after the dashes of its entry."""
    key = _KEY.match(text.strip())
    return _indent(text) + (len(key[1]) if key else 0)


def _name_line(text: str) -> str:
    key = _KEY.match(text.strip())
    return f"`{key[2]}`" if key else "the entry"


def _ends_open(text: str) -> bool:
    """Return whether deeper lines after this one belong to it, as after `key:`, `- ` or the head of a block of text."""
    return text.endswith(":") or text == "-" or _BLOCK.search(text) is not None or bool(re.match(r"- +[^:]*:", text))


def _count_spaces(count: int) -> str:
    return "1 space" if count == 1 else f"{count} spaces"
