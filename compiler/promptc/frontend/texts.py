"""The files a manifest names, each read once (`PackFiles`), and the texts in it and them, each compiled once (`TextCompiler`).

What was made of them can be shared by several loads of a pack (`Made`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, TypeVar
from promptc.files.paths import Held, find_held, read_pack_file, show_path
from promptc.files.reading import decode_text, read_file
from promptc.frontend.kept_pack import Input, Inputs
from promptc.frontend.yaml import MAX_BYTES
from promptc.model.media import MediaRule
from promptc.model.pack import Assert
from promptc.model.state import Node
from promptc.template.allow import Limits
from promptc.template.compile import (
    Expression,
    Template,
    constant_expression,
    constant_template,
    list_literals,
    load_expression,
    load_template,
)
from promptc.template.define import MOST_PARTS, void
from promptc.template.place import Definition, Place, cut_source
from promptc.template.runtime.program import Program
from promptc.text.json import render_digest

Text = TypeVar("Text", Expression, Template)
Result = TypeVar("Result")

_MOST_MADE = 4096
"""What one `Made` remembers at most."""


class TextCompiler:
    """Compiles what a manifest names and collects what is wrong in `findings`.

    A Node is compiled once, a file once; `files` reads them. What
    cannot be compiled stands as a constant, and the findings are raised before anything renders. `definitions` are what all of them
    may name, `named` those that some of them do. `load_rules` gives the user's rules for media.
    """

    def __init__(self, files: PackFiles, limits: Limits, load_rules: Callable[[], tuple[MediaRule, ...]]) -> None:
        self._limits = limits
        self._lines: dict[str, Sequence[str]] = {}
        self.findings: list[Diagnostic] = []
        self.definitions: tuple[Definition, ...] = ()
        self.named: set[str] = set()
        self.load_rules = load_rules
        self._parts = MOST_PARTS
        self._read = files
        self._expressions: dict[Node, Expression] = {}
        self._inline: dict[Node, Template] = {}
        self._files: dict[tuple[str, str], Template] = {}

    def note(self, code: str, message: str, span: Span, help: str = "") -> None:
        """Adds a finding."""
        self.findings.append(Diagnostic(code, message, span, help))

    def expression(self, node: Node) -> Expression:
        """The expression a scalar holds; `true`, `false`, `null` and numbers stand for themselves."""
        if node not in self._expressions:
            self._expressions[node] = self._compile_expression(node)
        return self._expressions[node]

    def find_expression(self, node: Node | None) -> Expression | None:
        """The expression of a key that may be absent."""
        return self.expression(node) if node is not None else None

    def inline(self, node: Node) -> Template:
        """The inline template a string holds."""
        if node not in self._inline:
            try:
                self._inline[node] = self._compile(load_template, str(node.value), self.make_place(node))
            except PromptcError as error:
                self.findings.extend(error.diagnostics)
                self._inline[node] = constant_template("")
        return self._inline[node]

    def find_inline(self, node: Node | None) -> Template | None:
        """The inline template of a key that may be absent."""
        return self.inline(node) if node is not None else None

    def file(self, node: Node) -> Template:
        """The template file a string names; a file not ending in `.j2` stands as it is."""
        key = (node.folder, str(node.value))
        if key not in self._files:
            try:
                self._files[key] = self._load_file(node)
            except DiskError:
                raise
            except PromptcError as error:
                self.findings.extend(error.diagnostics)
                self._files[key] = constant_template("")
        return self._files[key]

    def asserts(self, node: Node | None) -> tuple[Assert, ...]:
        """The assertions `{that, else, level}` of a list that may be absent."""
        return tuple(map(self._assert, node.value)) if node is not None else ()

    def _assert(self, node: Node) -> Assert:
        level = node.get("level")
        return Assert(
            that=self.expression(node.value["that"]),
            otherwise=self.inline(node.value["else"]),
            level="error" if level is not None and level.value == "error" else "warn",
            span=node.span,
        )

    def list_marked(self, node: Node, names: Sequence[str]) -> tuple[tuple[str, Expression], ...]:
        """Of those `names` that an expression itself may give as a literal, the same expression with that literal in capitals. Where both
        give it, each in its way, it is the author's own word and no value of the state.
        """
        text = str(node.value).replace("\r\n", "\n").replace("\r", "\n")
        if not any(name in text for name in names):
            return ()
        try:
            literals = list_literals(text, self.make_place(node), limits=self._limits)
        except PromptcError:
            return ()  # which is told of the expression itself
        marked: dict[str, Expression] = {}
        for name in dict.fromkeys(value for _, value in literals if value in names):
            changed = text
            for at in (at + 1 for at, value in literals if value == name):
                changed = changed[:at] + changed[at : at + len(name)].replace(name, name.upper()) + changed[at + len(name) :]
            marked[name] = self.expression(replace(node, value=changed))
        return tuple(marked.items())

    def text_or_file(self, node: Node) -> Template:
        """A file name, or `{text: ...}`."""
        return self.inline(node.value["text"]) if isinstance(node.value, dict) else self.file(node)

    def make_place(self, node: Node) -> Place:
        """Where a scalar stands, and what it may name."""
        file = str(Path(node.folder, node.span.file.rpartition("/")[2]))
        if file not in self._lines:
            self._lines[file] = self._read.source_text(file).split("\n")
        return Place(node.span, inline=True, source=cut_source(self._lines[file], node.span, str(node.value)), definitions=self.definitions)

    def _compile_expression(self, node: Node) -> Expression:
        place = self.make_place(node)
        if not isinstance(node.value, str):
            return constant_expression(node.value, place)
        try:
            return self._compile(load_expression, node.value, place)
        except PromptcError as error:
            self.findings.extend(error.diagnostics)
            return constant_expression(None, place)

    def _compile(self, load: Callable[..., Text], text: str, place: Place, load_file: Callable[[str], str] | None = None) -> Text:
        """The compiled text, which another load of the pack may have made: of the same text at the same place, with the same files."""
        key = (load, text, place, place.source, place.definitions, list_sources(place.definitions), self._limits)
        code: Text | None = self._read.made.find(key)
        if code is None or not _has_same_files(code, load_file):
            given = {"load_file": load_file} if load_file is not None else {}
            code = load(text, place, limits=self._limits, **given)
            self._read.made.note(key, code)
        return self._note_named(code)

    def _note_named(self, code: Text) -> Text:
        """Remembers what a text names, and refuses it where all that such texts become is too much."""
        files = [file for file in code.program.files if file.sites] if isinstance(code.program, Program) else []
        self.named.update(site.definition.name for file in files for site in file.sites)
        before, self._parts = self._parts, self._parts - sum(file.weight for file in files)
        if self._parts < 0 <= before:
            self.definitions = tuple(map(void, self.definitions))  # nothing more is written out
            message = f"with this text, the definitions of the pack become more than {MOST_PARTS} parts where they stand"
            span = code.span if isinstance(code, Expression) else code.place.span
            raise fail("PC0403", message, span, help="make them shorter, or give values by `let`")
        return code

    def _load_file(self, node: Node) -> Template:
        name, folder = str(node.value), node.folder
        text = self._read.read_text(folder, name, node.span)
        shown = show_path(node.span, name)
        if not name.endswith(".j2"):
            return self._note_named(constant_template(text, shown))
        span, folder = Span(shown, 1, 1, text.split("\n", 1)[0][:400]), shown.removesuffix(name)
        place = Place(span, inline=False, folder=folder, definitions=self.definitions)
        return self._compile(load_template, text, place, lambda other: self._read.read_text(node.folder, other, node.span))


def _has_same_files(code: Expression | Template, load_file: Callable[[str], str] | None) -> bool:
    """Whether the files that a template brings in are what they were. They are read in the order in which compiling reads them."""
    try:
        return load_file is None or not isinstance(code, Template) or all(load_file(name) == text for name, text in code.files.items())
    except PromptcError:
        return False


class Made:
    """What was made of the files of a pack, for all loads of it: with other values in its manifest, or after one of its files changed.

    All of it is a function of its key alone, so what is found is what would be made. Several threads may use one.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._older: Mapping[Hashable, Any] = {}

    def renew(self) -> Made:
        """For one more load: what that uses of this one goes over to it, and the rest can be forgotten with this one."""
        other = Made()
        other._older = self._made
        return other

    def make(self, make: Callable[..., Result], *given: Hashable, behind: Hashable = ()) -> Result:
        """`make(*given)`, which depends on nothing else; `behind` is what of it two that are equal may differ in. What it raises is not
        remembered.
        """
        found: Result | None = self.find((make, given, behind))
        if found is None:
            found = make(*given)
            self.note((make, given, behind), found)
        return found

    def find(self, key: Hashable) -> Any:
        """What was made under a key, or None."""
        made = self._made.get(key)
        if made is None and (made := self._older.get(key)) is not None:
            self._made[key] = made
        return made

    def note(self, key: Hashable, made: object) -> None:
        """Remembers it. Where there is no room, the older half goes."""
        self._made[key] = made
        if len(self._made) > _MOST_MADE:
            for oldest in tuple(self._made)[: _MOST_MADE // 2]:
                self._made.pop(oldest, None)


def list_sources(definitions: Sequence[Definition]) -> tuple[str, ...]:
    """The texts that definitions stand in, which equal ones may differ in."""
    return tuple([one.place.source for one in definitions])


class PackFiles:
    """Reads the files of one pack, and remembers each. `made` is what was made of them, by this load or another."""

    def __init__(self, made: Made | None = None, held: Held = MappingProxyType({})) -> None:
        """What is `held` stands before what is on the disk."""
        self.made = made or Made()
        self.held = held
        self._read: dict[tuple[str, str], bytes] = {}
        self._plain: dict[str, bytes] = {}
        self._inputs: dict[tuple[str, str], bytes] = {}
        self._unlinked: dict[str, None] = {}

    @property
    def inputs(self) -> Inputs:
        """Every file that was read, once, in the order of reading."""
        return Inputs(tuple(Input(*place, content) for place, content in self._inputs.items()), tuple(self._unlinked))

    def branch(self) -> PackFiles:
        """Those of another load of the pack, whose manifest was read: no file is read twice, and each knows what it needed itself."""
        other = PackFiles(self.made, self.held)
        other._read, other._unlinked = self._read, self._unlinked  # only manifests are noted in this one
        other._plain, other._inputs = dict(self._plain), dict(self._inputs)
        return other

    def read_manifest(self, file: Path) -> bytes:
        """The bytes of a manifest. Raises as `files.read_file`: a link is none, also where the user passed its path."""
        held = find_held(self.held, file, MAX_BYTES)
        content = held if held is not None else read_file(file, MAX_BYTES)
        self._inputs["", str(file)] = self._plain[str(file)] = content
        return content

    def note_unlinked(self, path: Path) -> None:
        """Remembers that a path to a manifest is no link."""
        self._unlinked[str(path)] = None

    def read_raw(self, folder: str, name: str, span: Span) -> bytes:
        """Reads a file of the pack, and remembers it. Errors as `read_pack_file`."""
        content = self._read_once(folder, name, span)
        self._inputs[folder, name] = self._plain[str(Path(folder, name))] = content
        return content

    def read_named(self, node: Node) -> tuple[bytes, str]:
        """The bytes of the file that a scalar names, and the name that findings give it. Errors as `read_pack_file`."""
        name = str(node.value)
        return self.read_raw(node.folder, name, node.span), show_path(node.span, name)

    def read_text(self, folder: str, name: str, span: Span) -> str:
        """The text of a pack's file, as `decode_text` gives it; errors are those of `read_pack_file`, and PC0101 in the file itself."""
        content = self._read_once(folder, name, span)
        text = decode_text(content, show_path(span, name))
        self._inputs[folder, name], self._plain[str(Path(folder, name))] = content, text.encode()
        return text

    def _read_once(self, folder: str, name: str, span: Span) -> bytes:
        if (folder, name) not in self._read:
            self._read[folder, name] = read_pack_file(folder, name, span, self.held)
        return self._read[folder, name]

    def source_text(self, file: str) -> str:
        """The text of a file that was read, with line ends as `\\n`; empty where it was not."""
        text = self._plain.get(file, b"").decode("utf-8", "replace")
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")

    def render_digest(self, folder: str, tries: Sequence[str] = ()) -> str:
        """sha256 over (path relative to `folder`, digest) of every file, in the order of the paths, line ends normalised; and over what is
        tried of the manifest.
        """
        lines = [f"--try {one}\n" for one in tries]
        for file, content in self._plain.items():
            name = Path(os.path.relpath(file, folder)).as_posix()
            plain = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            lines.append(f"{name}\0{render_digest(plain)}\n")
        return render_digest("".join(sorted(lines)).encode())
