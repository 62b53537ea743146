"""What an editor shows for a place in a file of a pack.

`describe` returns a description, `complete` completions, and `list_targets` the places of definitions. A file that is being typed often
cannot be parsed as YAML or Jinja, so the context is worked out from the text before the cursor. The meaning of names comes from the newest
version of the pack that loads.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from promptc.check.texts import UsedText
from promptc.diag.findings import Diagnostic, PromptcError, Span, find_code
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.files.paths import name_held
from promptc.files.reading import check_pack_path, find_link, list_folder, read_mode
from promptc.frontend.schema.faults import Path
from promptc.frontend.shape import list_forms, list_known
from promptc.frontend.yaml import MAX_BYTES, MAX_DEPTH, MAX_NODES, REFUSED, iter_events, syntax_error
from promptc.model.pack import PackModel
from promptc.template.allow import LOOP_NAMES, OWN_FILTERS
from promptc.template.lower.module import load_expression
from promptc.template.place import Definition, Place
from promptc.template.runtime.filters.table import load_filter
from promptc.template.signatures import FILTERS, FUNCTIONS, TESTS
from promptc.template.types.algebra import drop_gap
from promptc.template.types.infer import add_name, find_scope, infer_types, read_code, weigh_bytes
from promptc.template.types.types import UNKNOWN_TYPE, MappingType, NumberType, TextType, Type, list_members, name_type
from promptc.template.types.walk import Scope
from promptc.text.json import extend_pointer, find_at
from promptc.version import DOCUMENTATION
from promptc.workshop.desk import OpenPack

Kind = Literal["key", "value", "name", "part", "filter", "test", "function", "file", "tag", "section"]

_WORD = re.compile(r"[\w./\-]+")
_KEY_ENDS = re.compile(r"['\"]?[ \t]*:(?=\s|$)")
_CHAIN = re.compile(r"(?P<chain>[A-Za-z_]\w*(?:\[[^\[\]]*\]|\.\w+)*)$")
_FILTER = re.compile(r"(?<!\|)\|\s*(?P<word>\w*)$")
_TEST = re.compile(r"\bis\s+(?:not\s+)?(?P<word>\w*)$")
_PART = re.compile(r"(?P<chain>[A-Za-z_]\w*(?:\[[^\[\]]*\]|\.\w+)*)\.(?P<word>\w*)$")
_NAME = re.compile(r"(?P<word>[A-Za-z_]\w*|)$")
_TAG_NAME = re.compile(r"\s*(?P<word>\w*)$")
_QUOTED_FILE = re.compile(r"\b(?:include|import|from|extends)\s+(?P<quote>['\"])(?P<word>[^'\"]*)$")
_COMMENT = re.compile(r"\{#(?:(?!\{#).)*?#\}", re.DOTALL)
_BLOCK = re.compile(r"\{%[-+]?\s*(?P<end>end)?(?P<tag>for|if|macro|call|filter|with|block|set)\b(?P<rest>(?:(?!\{%).)*?)%\}", re.DOTALL)
_MOST_CODE = 2_000
"""Characters of code before the cursor to examine."""

_HERE = "_promptc_cursor"
"""A name that no template uses."""

_TAGS = tuple(
    """
    if elif else endif for endfor set endset macro endmacro call endcall block endblock include import from extends with endwith
    filter endfilter
    """.split()
)
_LITERALS = ("true", "false", "none")
_NAMING_SECTIONS = frozenset(("section", "before", "after", "sections", "count", "watch", "truncate", "against"))
"""Keys whose values, or the entries of whose values, are ids of sections."""

_KEYED_BY_SECTIONS = frozenset(("section_parts", "watch", "watch_part"))
"""The schema's names for mappings whose keys are ids of sections."""

_NAMING = {"use": "patches", "store": "stores", "index": "indexes", "indexes": "indexes", "pool": "pools"}
"""Keys whose values name an entry of another key of the manifest."""

_FILES = frozenset(("file", "files", "base_path", "form"))
_TEMPLATES = f"[Templates]({DOCUMENTATION}/reference/templates.html)"
_MARK = "\ue000"
_MOST_BROKEN = 4
"""The most unreadable lines to skip."""

_MOST_FILES = 300
_MOST_DEEP = 4
_MOST_EXAMPLES = 400


@frozen
class PlaceNote:
    """Markdown to show for the characters from `start` to `stop` of a line."""

    text: str
    start: int
    stop: int


@frozen
class Offer:
    """A completion that replaces the characters from `start` to `stop` of the cursor's line."""

    label: str
    kind: Kind
    start: int
    stop: int
    insert: str
    detail: str = ""
    text: str = ""


class Cursor:
    """A place in a file of a pack: in line `line` of its `lines`, after `column` characters, both from 0. `path` is absolute."""

    def __init__(self, pack: OpenPack, path: str, lines: Sequence[str], line: int, column: int) -> None:
        self.pack = pack
        self.path = path
        self.lines = lines
        self.line = line
        self.column = column
        self.text = lines[line]
        self.model: PackModel | None = pack.known.model if pack.known is not None else None

    @property
    def is_manifest(self) -> bool:
        """Whether the file is the manifest of the pack."""
        return name_held(self.path) == self.pack.path

    @cached_property
    def spot(self) -> OpenScalar | None:
        """The scalar of the manifest at the cursor; None in another file and in a comment."""
        _, stop = self.locate_word(_WORD)
        is_key = _KEY_ENDS.match(self.text, stop) is not None
        return find_open_scalar(self.read_before(self.column), is_key=is_key) if self.is_manifest else None

    @cached_property
    def value_path(self) -> Path:
        """The path in the manifest of the value at the cursor, or of the value whose key is at the cursor."""
        if self.spot is None:
            return ()
        start, stop = self.locate_word(_WORD)
        return (*self.spot.path, self.text[start:stop]) if self.spot.is_key else self.spot.path

    @property
    def root(self) -> Literal["pack", "extension"]:
        """The schema's name for this kind of manifest."""
        return "extension" if any(line.startswith("extends:") for line in self.lines) else "pack"

    def locate_word(self, pattern: re.Pattern[str] = re.compile(r"\w+")) -> tuple[int, int]:
        """Return the start and end of the word at the cursor, or just before it; both are the cursor's column if there is none."""
        found = next((one for one in pattern.finditer(self.text) if one.start() <= self.column <= one.end()), None)
        return (found.start(), found.end()) if found is not None else (self.column, self.column)

    def read_before(self, column: int) -> str:
        """Return the text of the file up to a column of the cursor's line."""
        return "\n".join([*self.lines[: self.line], self.text[:column]])

    def list_kinds(self) -> set[str]:
        """Return the names of the schema definitions for the value at the cursor, such as `expression`, `text` or `file`."""
        forms = list_forms(self.spot.path, self.root) if self.spot is not None else []
        return {str(form["$ref"]).rpartition("/")[2] for form in forms if "$ref" in form}


# --- manifests ---


@frozen
class OpenScalar:
    """A scalar in a text that breaks off.

    `path` leads to the scalar, or, if it `is_key`, to the mapping of the key, whose earlier keys are `keys`. `before` is the scalar's text
    so far; it begins at `line` and `column`, from 0. `opened` is the line of the first open bracket, or -1 if no bracket is open.
    """

    path: tuple[str | int, ...]
    is_key: bool
    keys: frozenset[str]
    before: str
    line: int
    column: int
    opened: int


def find_open_scalar(text: str, *, is_key: bool = False) -> OpenScalar | None:
    """Return the scalar, maybe empty, at the end of an unfinished text, or None in a comment.

    It is a value if possible, else a key; with `is_key`, only a key. Earlier lines that are not valid YAML are skipped.
    """
    lines = REFUSED.sub("?", text.replace(_MARK, "?")).split("\n") if len(text) <= MAX_BYTES else []
    endings, wrong_syntax = (": ",) if is_key else ("", '"', "'", ": "), syntax_error()
    for _ in range(_MOST_BROKEN):
        broken: set[int] = set()
        for ending in endings:
            try:
                found = _find_marked("\n".join(lines) + _MARK + ending)
            except wrong_syntax as wrong:
                broken.add(_locate_break(wrong))
                continue
            if found is not None and not _is_outside(lines, found.opened):
                return found
            broken |= {found.opened} if found is not None else set()
        at = min(broken, default=len(lines))
        if at >= len(lines) - 1:
            return None
        lines[at] = ""
    return None


def _is_outside(lines: Sequence[str], opened: int) -> bool:
    """Return whether the last line is indented no more than a line that opens a bracket: the bracket is then not closed yet."""
    return 0 <= opened < len(lines) - 1 and _count_indent(lines[-1]) <= _count_indent(lines[opened])


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


class _Around:
    """A mapping or list that is still open, as far as it has been parsed."""

    def __init__(self, *, is_mapping: bool, opened: int) -> None:
        """Open a mapping or list. `opened` is the line of its bracket, or -1 if it has no bracket."""
        self.is_mapping = is_mapping
        self.opened = opened
        self.keys: list[str] = []
        self.wants_key = is_mapping
        self.step: str | int = 0

    def take(self, said: str) -> None:
        """Add a key, a value or a list entry."""
        if self.wants_key:
            self.keys.append(said)
            self.step = said
        elif isinstance(self.step, int):
            self.step += 1
        self.wants_key = self.is_mapping and not self.wants_key


def _find_marked(text: str) -> OpenScalar | None:
    levels: list[_Around] = []
    for event in islice(iter_events(text), MAX_NODES):
        kind = type(event).__name__
        if kind == "ScalarEvent" and _MARK in event.value:
            is_key = bool(levels) and levels[-1].wants_key
            path = tuple([one.step for one in levels[: len(levels) - is_key]])
            keys, mark = frozenset(levels[-1].keys if is_key else ()), event.start_mark
            opened = next((one.opened for one in levels if one.opened >= 0), -1)
            return OpenScalar(path, is_key, keys, event.value.partition(_MARK)[0], mark.line, mark.column, opened)
        if kind in ("MappingStartEvent", "SequenceStartEvent"):
            if len(levels) >= MAX_DEPTH:
                return None
            levels.append(_Around(is_mapping=kind == "MappingStartEvent", opened=event.start_mark.line if event.flow_style else -1))
            continue
        if kind in ("MappingEndEvent", "SequenceEndEvent"):
            levels.pop()
        elif kind not in ("ScalarEvent", "AliasEvent"):
            continue
        if levels:
            levels[-1].take(event.value if kind == "ScalarEvent" else "")
    return None


def _locate_break(wrong: Any) -> int:
    """Return the line that is not valid YAML; for an unclosed scalar or bracket, the line where it begins."""
    is_unended = type(wrong).__name__ == "ScannerError" or str(wrong.context).startswith("while parsing a flow")
    mark = (wrong.context_mark if is_unended else None) or wrong.problem_mark
    return int(mark.line) if mark is not None else -1


# --- code ---


class WrittenCode:
    """The code at a place: its text up to there (`before`), and the meaning of its names. `is_tag`: it is between `{%` and `%}`."""

    def __init__(self, cursor: Cursor, outside: str, before: str, text: UsedText | None, *, is_tag: bool) -> None:
        """Keep the template before the code (`outside`), and the use of the whole template (`text`, None if nothing is known of it)."""
        self.before = before[-_MOST_CODE:]
        self.is_tag = is_tag
        self.model = cursor.model
        self._known = cursor.pack.known
        self._outside = outside
        self._text = text

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The named expressions that the pack defines."""
        return self.model.definitions if self.model is not None else ()

    @cached_property
    def scope(self) -> Scope:
        """The names that are visible here: the pack's, and those of loops, `set` and macros before the code."""
        if self._known is None:
            return Scope({})
        scopes = self._known.scopes
        scope = scopes.make_scope(self._text) if self._text is not None else add_name(Scope({}), "state", scopes.state)
        try:
            return (find_scope(_end_blocks(self._outside), _HERE, scope, self.definitions) if self._outside else None) or scope
        except PromptcError:
            return scope

    def infer(self, expression: str) -> Type:
        """Return the type of an expression at this place; an unknown type if the expression cannot be parsed."""
        try:
            code = load_expression(expression, Place(Span("", 1, 1), inline=True, definitions=self.definitions))
        except PromptcError:
            return UNKNOWN_TYPE
        return drop_gap(infer_types(read_code(code), self.scope, weigh_bytes).kind or UNKNOWN_TYPE)

    def find_pointer(self, chain: str) -> str | None:
        """Return the pointer to the property in the state's schema that a path such as `state.player.name` refers to, or None."""
        held, dot, part = chain.rpartition(".")
        if not dot or self.model is None:
            return None
        for member in list_members(self.infer(held)):
            if isinstance(member, MappingType) and member.at.startswith("#") and part in member.names:
                pointers = [extend_pointer(f"{member.at[1:]}/{word}", part) for word in ("properties", "patternProperties")]
                return next((one for one in pointers if find_at(self.model.schema, one) is not None), None)
        return None


def _end_blocks(text: str) -> str:
    """Return an unfinished template with the cursor's name at its end and all open blocks closed."""
    text = _COMMENT.sub("", text)
    ends: list[str] = []
    for found in _BLOCK.finditer(text):
        if found["end"]:
            del ends[-1:]
        elif found["tag"] != "set" or "=" not in found["rest"]:
            ends.append(f"{{% end{found['tag']} %}}")
    return f"{text}{{{{ {_HERE} }}}}{''.join(reversed(ends))}"


def _find_code(cursor: Cursor, column: int) -> WrittenCode | None:
    """Return the code that is unfinished at a column of the cursor's line, or None if there is no code."""
    known = cursor.pack.known
    if not cursor.is_manifest:
        text = known.find_text(name_held(cursor.path)) if known is not None else None
        return _cut_code(cursor, cursor.read_before(column), text) if cursor.path.endswith(".j2") else None
    kinds = cursor.list_kinds()
    spot = find_open_scalar(cursor.read_before(column)) if {"expression", "text"} & kinds else None
    if spot is None or spot.is_key:
        return None
    section = spot.path[1] if spot.path[:1] == ("sections",) and len(spot.path) > 1 else None
    text = known.find_inline(section, spot.line, spot.column) if known is not None else None
    code = _cut_code(cursor, spot.before, text)
    return code or (WrittenCode(cursor, "", spot.before, text, is_tag=False) if "expression" in kinds else None)


def _cut_code(cursor: Cursor, written: str, text: UsedText | None) -> WrittenCode | None:
    """Return the code that is unfinished at the end of a template, or None in plain text."""
    at, closed = max(written.rfind("{{"), written.rfind("{%")), max(written.rfind("}}"), written.rfind("%}"), written.rfind("#}"))
    if at <= closed or written.rfind("{#") > closed:
        return None
    return WrittenCode(cursor, written[:at], written[at + 2 :].lstrip("+-"), text, is_tag=written[at + 1] == "%")


# --- descriptions ---


def describe(cursor: Cursor, found: Iterable[Diagnostic] = ()) -> PlaceNote | None:
    """Return the text for a place: the rules of the findings there, then the key, the state's property, the filter or the name.

    Return None if there is nothing to show.
    """
    told = [_describe_rule(code) for code in dict.fromkeys(one.code for one in found)]
    note = _describe_code(cursor) or _describe_key(cursor)
    if note is not None:
        return replace(note, text="\n\n---\n\n".join([*told, note.text]))
    return PlaceNote("\n\n---\n\n".join(told), cursor.column, cursor.column) if told else None


def _describe_rule(name: str) -> str:
    code = find_code(name)
    return f"**[{code.name}]({code.url})** {code.summary}\n\n{code.why}\n\n{code.fix}" if code is not None else f"**{name}**"


def _describe_key(cursor: Cursor) -> PlaceNote | None:
    path, spot = cursor.value_path, cursor.spot
    if spot is None or not path:
        return None
    start, stop = cursor.locate_word(_WORD)
    if not spot.is_key:
        chosen = next((one for one in _iter_choices(path, cursor) if one.label == cursor.text[start:stop] and one.text), None)
        return PlaceNote(chosen.text, start, stop) if chosen is not None else None
    schema = list_known(path[:-1], cursor.root).get(str(path[-1]))
    return PlaceNote(_show_key(str(path[-1]), schema), start, stop) if isinstance(schema, dict) else None


def _show_key(key: str, schema: Any) -> str:
    told = [f"**`{key}`** {schema.get('description', '')}".rstrip()]
    if "default" in schema:
        told.append(f"Default: `{json.dumps(schema['default'], ensure_ascii=False)}`")
    shown = [json.dumps(one, ensure_ascii=False) for one in schema.get("examples", ())]
    short = [f"{key}: {one}" for one in shown if len(one) <= _MOST_EXAMPLES]
    if short:
        told.append("```yaml\n" + "\n".join(short) + "\n```")
    return "\n\n".join([*told, f"[The keys of a pack]({DOCUMENTATION}/reference/keys/index.html)"])


def _describe_code(cursor: Cursor) -> PlaceNote | None:
    start, stop = cursor.locate_word()
    code = _find_code(cursor, stop) if start < stop else None
    if code is None:
        return None
    word = cursor.text[start:stop]
    if _FILTER.search(code.before) and word in FILTERS:
        return PlaceNote(_show_filter(word), start, stop)
    if _TEST.search(code.before) and word in TESTS:
        return PlaceNote(f"```jinja\nis {TESTS[word].show()}\n```\n\nA test. {_TEMPLATES}", start, stop)
    found = _CHAIN.search(code.before)
    if found is None:
        return None
    chain = found["chain"]
    if chain in FUNCTIONS and cursor.text[stop : stop + 1] == "(":
        return PlaceNote(f"```jinja\n{FUNCTIONS[chain].show()}\n```", start, stop)
    if re.split(r"[.\[]", chain)[0] not in code.scope.names:
        one = next((one for one in code.definitions if one.name == chain), None)
        return PlaceNote(f"**`{one.signature}`** is defined as\n\n```jinja\n{one.text}\n```", start, stop) if one is not None else None
    told = [f"**`{chain}`** {_show_type(code.infer(chain))}", *_describe_property(code, chain)]
    return PlaceNote("\n\n".join(told), start, stop)


def _describe_property(code: WrittenCode, chain: str) -> list[str]:
    """Return what the state's schema says of a property, and where; empty if the schema does not declare it."""
    pointer = code.find_pointer(chain)
    if pointer is None or code.model is None:
        return []
    schema = find_at(code.model.schema, pointer)
    if isinstance(schema, dict) and str(schema.get("$ref", "")).startswith("#/"):
        schema = {**(find_at(code.model.schema, schema["$ref"][1:]) or {}), **schema}
    told: list[str] = []
    if isinstance(schema, dict):
        told += [str(schema["description"])] if schema.get("description") else []
        told += [f"Default: `{json.dumps(schema['default'], ensure_ascii=False)}`"] if "default" in schema else []
    span = code.model.find_schema_place(pointer) if code.model.find_schema_place is not None else None
    return told + ([f"{span.file.replace(os.sep, '/').rpartition('/')[2]}:{span.line}"] if span is not None else [])


def _show_type(kind: Type) -> str:
    told = name_type(kind)
    members = list_members(kind)
    values = [value for one in members if isinstance(one, TextType | NumberType) and one.values for value in one.values]
    if values:
        return f"{told}: {', '.join(f'`{value}`' for value in sorted(map(str, values))[:12])}"
    bounds = [one for one in members if isinstance(one, NumberType) and (one.least is not None or one.most is not None)]
    if bounds:
        least, most = bounds[0].least, bounds[0].most
        return told + (f", from {least}" if least is not None else "") + (f", at most {most}" if most is not None else "")
    return told


def _show_filter(name: str) -> str:
    own = "A filter of promptc." if name in OWN_FILTERS else "A filter of Jinja."
    said = re.sub(r"\n +", "\n", load_filter(name).__doc__ or "").strip()
    return f"```jinja\n| {FILTERS[name].show()}\n```\n\n{said}\n\n{own} {_TEMPLATES}"


# --- completions ---


def complete(cursor: Cursor) -> list[Offer]:
    """Return the completions at a place, best first."""
    code, spot = _find_code(cursor, cursor.column), cursor.spot
    if code is not None:
        return [*(_list_keys(cursor) if re.fullmatch(r"\w*", code.before) else ()), *_complete_code(cursor, code)]
    if spot is None:
        return []
    start, stop = cursor.locate_word(_WORD)
    values = () if spot.is_key else (replace(one, start=start, stop=stop) for one in _iter_values(cursor))
    return [*_list_keys(cursor), *values]


def _list_keys(cursor: Cursor) -> list[Offer]:
    """Return the keys that may stand at the cursor: those that the manifest's schema knows there, or the ids of sections."""
    spot, (start, stop) = cursor.spot, cursor.locate_word(_WORD)
    if spot is None or not (spot.is_key or not cursor.text[:start].strip(" -\"'")):
        return []
    taken = spot.keys | (_list_keys_below(cursor, start) if spot.is_key else frozenset())
    ending = "" if _KEY_ENDS.match(cursor.text, stop) is not None else ": "
    known = [
        Offer(key, "key", start, stop, key + ending, str(schema.get("title", "")), _show_key(key, schema))
        for key, schema in list_known(spot.path, cursor.root).items()
        if isinstance(schema, dict)
    ]
    ids = cursor.model.sections if cursor.model is not None and _KEYED_BY_SECTIONS & cursor.list_kinds() else ()
    offers = [*known, *(Offer(name, "section", start, stop, name + ending, "a section") for name in ids)]
    return [one for one in offers if one.label not in taken or one.label == cursor.text[start:stop]]


def _list_keys_below(cursor: Cursor, column: int) -> frozenset[str]:
    """Return the keys of the mapping around a key that come after that key."""
    found: set[str] = set()
    for text in cursor.lines[cursor.line + 1 :]:
        indent = _count_indent(text)
        if text.strip() and indent < column:
            break
        if indent == column and (key := re.match(r"[\w\-]+(?=[ \t]*:)", text[indent:])) is not None:
            found.add(key[0])
    return frozenset(found)


def _iter_values(cursor: Cursor) -> Iterator[Offer]:
    path, model = cursor.value_path, cursor.model
    yield from _iter_choices(path, cursor)
    named = next((step for step in reversed(path) if isinstance(step, str)), "")
    if model is not None and named in _NAMING_SECTIONS and not _KEYED_BY_SECTIONS & cursor.list_kinds():
        yield from (Offer(name, "section", 0, 0, name, "a section") for name in model.sections)
    if model is not None and named in _NAMING:
        node = model.manifest.get(_NAMING[named])
        yield from (Offer(name, "name", 0, 0, name, f"under `{_NAMING[named]}`") for name, _ in (node.items() if node is not None else ()))
    if _FILES & cursor.list_kinds():
        yield from (Offer(name, "file", 0, 0, name) for name in _list_files(cursor.pack.folder))


def _iter_choices(path: Path, cursor: Cursor) -> Iterator[Offer]:
    """Yield the values that the manifest's schema lists."""
    met: set[str] = set()
    for form in list_forms(path, cursor.root):
        values = [*form.get("enum", ()), *([form["const"]] if "const" in form else ())]
        types = form.get("type", ())
        values += [True, False] if types == "boolean" or "boolean" in types else []
        for value in values:
            label = value if isinstance(value, str) else json.dumps(value)
            if label not in met:
                met.add(label)
                yield Offer(label, "value", 0, 0, label, "", str(form.get("description", "")))


def _list_files(folder: str, inside: str = "", deep: int = 0) -> list[str]:
    """Return the files of a pack that a manifest may name, relative to its folder. Hidden files are left out, and links not followed."""
    found: list[str] = []
    try:
        names = list_folder(f"{folder}/{inside}")
    except OSError:
        return []
    for name in names:
        if name.startswith(".") or len(found) >= _MOST_FILES:
            continue
        mode, path = read_mode(folder, f"{inside}{name}"), f"{inside}{name}"
        if stat.S_ISDIR(mode) and deep < _MOST_DEEP and name not in ("cases", "node_modules", "__pycache__"):
            found += _list_files(folder, f"{path}/", deep + 1)
        elif stat.S_ISREG(mode) and check_pack_path(path) is None:
            found.append(path)
    return found[:_MOST_FILES]


def _complete_code(cursor: Cursor, code: WrittenCode) -> list[Offer]:
    before = code.before

    def offer(word: str, names: Iterable[tuple[str, Kind, str, str]]) -> list[Offer]:
        return [Offer(name, kind, cursor.column - len(word), cursor.column, name, detail, text) for name, kind, detail, text in names]

    if code.is_tag and (found := _QUOTED_FILE.search(before)):
        files = [name for name in _list_files(cursor.pack.folder) if name.endswith((".j2", ".md", ".txt"))]
        return offer(found["word"], ((name, "file", "", "") for name in files))
    if code.is_tag and (found := _TAG_NAME.fullmatch(before)):
        return offer(found["word"], ((name, "tag", "", "") for name in _TAGS))
    if found := _FILTER.search(before):
        return offer(found["word"], ((name, "filter", FILTERS[name].show(), _show_filter(name)) for name in sorted(FILTERS)))
    if found := _TEST.search(before):
        return offer(found["word"], ((name, "test", "", "") for name in sorted(TESTS) if name[0].isalpha()))
    if found := _PART.search(before):
        return offer(found["word"], _iter_parts(code, found["chain"]))
    if _is_in_text(before):
        return []
    found = _NAME.search(before)
    names: list[tuple[str, Kind, str, str]] = [(name, "name", _show_type(one.kind), "") for name, one in code.scope.names.items()]
    names += [(one.name, "function" if one.parameters else "name", one.signature, one.text) for one in code.definitions]
    names += [(name, "function", one.show(), "") for name, one in FUNCTIONS.items()]
    return offer(found["word"] if found is not None else "", [*names, *((name, "name", "", "") for name in _LITERALS)])


def _iter_parts(code: WrittenCode, chain: str) -> Iterator[tuple[str, Kind, str, str]]:
    if chain == "loop":
        yield from ((name, "part", "", "") for name in sorted(LOOP_NAMES))
    for member in list_members(code.infer(chain)):
        if isinstance(member, MappingType):
            for name in member.names:
                yield name, "part", _show_type(drop_gap(member.find(name))), "\n\n".join(_describe_property(code, f"{chain}.{name}"))


def _is_in_text(before: str) -> bool:
    """Return whether a quote is open."""
    plain = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "", before)
    return "'" in plain or '"' in plain


# --- definitions ---


def list_targets(cursor: Cursor) -> list[Span]:
    """Return the places that define what is at the cursor: a file, a property of the state's schema, a section or a definition."""
    text, folder = cursor.text, cursor.pack.folder
    quoted = next((one for one in re.finditer(r"(['\"])([^'\"]+)\1", text) if one.start() <= cursor.column <= one.end()), None)
    if quoted is not None and re.search(r"\b(?:include|import|from|extends)\s+$", text[: quoted.start()]):
        return _list_file(folder, quoted[2])
    start, stop = cursor.locate_word()
    code = _find_code(cursor, stop) if start < stop else None
    return _list_named(cursor, code) if code is not None else _list_referred(cursor)


def _list_named(cursor: Cursor, code: WrittenCode) -> list[Span]:
    found = _CHAIN.search(code.before)
    if found is None or code.model is None:
        return []
    name = found["chain"]
    pointer = code.find_pointer(name)
    if pointer is not None and code.model.find_schema_place is not None:
        return [code.model.find_schema_place(pointer)]
    here = re.compile(rf"\{{%[-+]?\s*(?:macro|set|block)\s+{re.escape(name)}\b|\{{%[-+]?\s*for\s+(?:\w+\s*,\s*)?{re.escape(name)}\b")
    for at, line in enumerate(cursor.lines):
        if (met := here.search(line)) is not None:
            return [Span(cursor.path, at + 1, met.start() + 1)]
    defined = [one.place.span for one in code.definitions if one.name == name]
    return defined or [one.span for one in code.model.lets if one.name == name]


def _list_referred(cursor: Cursor) -> list[Span]:
    """Return the place that a value of the manifest refers to; empty if it refers to nothing."""
    start, stop = cursor.locate_word(_WORD)
    word, model = cursor.text[start:stop], cursor.model
    if cursor.spot is None or not word:
        return []
    named = next((step for step in reversed(cursor.spot.path) if isinstance(step, str)), "")
    if cursor.spot.is_key:
        around = "sections" if _KEYED_BY_SECTIONS & cursor.list_kinds() else None
    else:
        around = "sections" if named in _NAMING_SECTIONS else _NAMING.get(named)
    node = model.manifest.get(around) if model is not None and around is not None else None
    if node is not None and word in node.value:
        return [node.key_span(word)]
    return _list_file(cursor.pack.folder, word) if _FILES & cursor.list_kinds() and not cursor.spot.is_key else []


def _list_file(folder: str, name: str) -> list[Span]:
    """Return the beginning of a file that a pack names; empty if the pack may not name it or it does not exist."""
    is_there = check_pack_path(name) is None and find_link(folder, name) is None and stat.S_ISREG(read_mode(folder, name))
    return [Span(os.path.normpath(f"{folder}/{name}"), 1, 1)] if is_there else []
