"""Reads the files that a manifest names, each once (`PackFiles`), and compiles their texts and its own, each once (`TextCompiler`).

Several loads of a pack can share what was made of its files (`Made`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from promptc.diag.findings import Collecting, Diagnostic, PromptcError, Span, fail
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
from promptc.template.compile import Expression, Program, Template, constant_expression, constant_template
from promptc.template.define import MOST_PARTS, void
from promptc.template.lower.module import list_literals, load_expression, load_template
from promptc.template.place import Definition, Place, cut_source
from promptc.text.json import render_digest

Text = TypeVar("Text", Expression, Template)
Result = TypeVar("Result")

_MOST_MADE = 4096
"""The most results that one `Made` remembers."""


class TextCompiler:
    """Compiles what a manifest names, and collects errors in `findings`.

    Each Node and each file is compiled once; `files` reads them. A text that cannot be compiled is replaced by a constant, and the findings
    are raised before anything renders. `definitions` are those that all texts may name, and `named` are the names of those that some text
    uses. `load_rules` returns the user's rules for media.
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
        """Add a finding."""
        self.findings.append(Diagnostic(code, message, span, help))

    def expression(self, node: Node) -> Expression:
        """Return the expression in a scalar. `true`, `false`, `null` and numbers are constants."""
        if node not in self._expressions:
            self._expressions[node] = self._compile_expression(node)
        return self._expressions[node]

    def find_expression(self, node: Node | None) -> Expression | None:
        """Return the expression of a key, or None if the key is absent."""
        return self.expression(node) if node is not None else None

    def inline(self, node: Node) -> Template:
        """Return the inline template in a string."""
        if node not in self._inline:
            self._inline[node] = constant_template("")
            with Collecting(self.findings):
                self._inline[node] = self._compile(load_template, str(node.value), self.make_place(node))
        return self._inline[node]

    def find_inline(self, node: Node | None) -> Template | None:
        """Return the inline template of a key, or None if the key is absent."""
        return self.inline(node) if node is not None else None

    def file(self, node: Node) -> Template:
        """Return the template file that a string names. A file whose name does not end in `.j2` is used verbatim."""
        key = (node.folder, str(node.value))
        if key not in self._files:
            self._files[key] = constant_template("")
            with Collecting(self.findings):
                self._files[key] = self._load_file(node)
        return self._files[key]

    def asserts(self, node: Node | None) -> tuple[Assert, ...]:
        """Return the assertions `{that, else, level}` of a list, or nothing if the list is absent."""
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
        """Return the `names` that an expression has as literal results, each with the same expression in which that literal is in capitals.

        If the original expression returns the name and the changed one returns it in capitals, the value is the author's literal and does
        not come from the state.
        """
        text = str(node.value).replace("\r\n", "\n").replace("\r", "\n")
        if not any(name in text for name in names):
            return ()
        try:
            literals = list_literals(text, self.make_place(node), limits=self._limits)
        except PromptcError:
            return ()  # compiling the expression itself reports the error
        marked: dict[str, Expression] = {}
        for name in dict.fromkeys(value for _, value in literals if value in names):
            changed = text
            for at in (at + 1 for at, value in literals if value == name):
                changed = changed[:at] + changed[at : at + len(name)].replace(name, name.upper()) + changed[at + len(name) :]
            marked[name] = self.expression(replace(node, value=changed))
        return tuple(marked.items())

    def text_or_file(self, node: Node) -> Template:
        """Return the template of a file name, or of `{text: ...}`."""
        return self.inline(node.value["text"]) if isinstance(node.value, dict) else self.file(node)

    def make_place(self, node: Node) -> Place:
        """Return the place of a scalar, with the definitions that it may name."""
        file = str(Path(node.folder, node.span.file.rpartition("/")[2]))
        if file not in self._lines:
            self._lines[file] = self._read.source_text(file).split("\n")
        return Place(node.span, inline=True, source=cut_source(self._lines[file], node.span, str(node.value)), definitions=self.definitions)

    def _compile_expression(self, node: Node) -> Expression:
        place = self.make_place(node)
        if not isinstance(node.value, str):
            return constant_expression(node.value, place)
        with Collecting(self.findings):
            return self._compile(load_expression, node.value, place)
        return constant_expression(None, place)

    def _compile(self, load: Callable[..., Text], text: str, place: Place, load_file: Callable[[str], str] | None = None) -> Text:
        """Return the compiled text. It is reused from another load of the pack if the text, its place and its files are the same."""
        key = (load, text, place, place.source, place.definitions, list_sources(place.definitions), self._limits)
        code: Text | None = self._read.made.find(key)
        if code is None or not _has_same_files(code, load_file):
            given = {"load_file": load_file} if load_file is not None else {}
            code = load(text, place, limits=self._limits, **given)
            self._read.made.note(key, code)
        return self._note_named(code)

    def _note_named(self, code: Text) -> Text:
        """Record the definitions that a text names.

        Raises `PromptcError` (PC0403) if the definitions become too much where all texts of the pack use them.
        """
        files = [file for file in code.program.files if file.sites] if isinstance(code.program, Program) else []
        self.named.update(site.definition.name for file in files for site in file.sites)
        before, self._parts = self._parts, self._parts - sum(file.weight for file in files)
        if self._parts < 0 <= before:
            self.definitions = tuple(map(void, self.definitions))  # stops further expansion
            message = f"with this text, the definitions of the pack become more than {MOST_PARTS} parts when they are written out"
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
    """Return whether the files that a template includes are unchanged. They are read in the order in which compiling reads them."""
    try:
        return load_file is None or not isinstance(code, Template) or all(load_file(name) == text for name, text in code.files.items())
    except PromptcError:
        return False


class Made:
    """A cache of what was made of a pack's files, shared by loads with other values in the manifest or after a file has changed.

    Each entry depends on its key alone, so a cached result equals a new one. Thread-safe.
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._older: Mapping[Hashable, Any] = {}

    def renew(self) -> Made:
        """Return a cache for one more load. Entries of this cache that the load uses move over; the rest can be dropped with this cache."""
        other = Made()
        other._older = self._made
        return other

    def make(self, make: Callable[..., Result], *given: Hashable, behind: Hashable = ()) -> Result:
        """Return `make(*given)` from the cache, or call it and cache the result. An exception is not cached.

        The result must depend on nothing else. `behind` distinguishes arguments that compare equal and yet differ.
        """
        found: Result | None = self.find((make, given, behind))
        if found is None:
            found = make(*given)
            self.note((make, given, behind), found)
        return found

    def find(self, key: Hashable) -> Any:
        """Return what was made under a key, or None."""
        made = self._made.get(key)
        if made is None and (made := self._older.get(key)) is not None:
            self._made[key] = made
        return made

    def note(self, key: Hashable, made: object) -> None:
        """Store what was made. If the cache is full, the older half is dropped."""
        self._made[key] = made
        if len(self._made) > _MOST_MADE:
            for oldest in tuple(self._made)[: _MOST_MADE // 2]:
                self._made.pop(oldest, None)


def list_sources(definitions: Sequence[Definition]) -> tuple[str, ...]:
    """Return the sources of definitions. Definitions that compare equal may differ in these."""
    return tuple([one.place.source for one in definitions])


class PackFiles:
    """Reads the files of one pack, each once. `made` caches what was made of them by this load or another."""

    def __init__(self, made: Made | None = None, held: Held = MappingProxyType({})) -> None:
        """Initialize without reading anything. Contents in `held` replace those on the disk."""
        self.made = made or Made()
        self.held = held
        self._read: dict[tuple[str, str], bytes] = {}
        self._plain: dict[str, bytes] = {}
        self._inputs: dict[tuple[str, str], bytes] = {}
        self._unlinked: dict[str, None] = {}

    @property
    def inputs(self) -> Inputs:
        """Every file that was read, each once, in the order of reading."""
        return Inputs(tuple(Input(*place, content) for place, content in self._inputs.items()), tuple(self._unlinked))

    def branch(self) -> PackFiles:
        """Return the files for another load of the pack, whose manifest has been read.

        No file is read twice, but each branch records only the inputs that it needed itself.
        """
        other = PackFiles(self.made, self.held)
        other._read, other._unlinked = self._read, self._unlinked  # only the reading of manifests changes `_unlinked`
        other._plain, other._inputs = dict(self._plain), dict(self._inputs)
        return other

    def read_manifest(self, file: Path) -> bytes:
        """Return the bytes of a manifest. Raises what `files.read_file` raises; a symbolic link is refused even if the user named it."""
        held = find_held(self.held, file, MAX_BYTES)
        content = held if held is not None else read_file(file, MAX_BYTES)
        self._inputs["", str(file)] = self._plain[str(file)] = content
        return content

    def note_unlinked(self, path: Path) -> None:
        """Record a path on the way to a manifest that is not a symbolic link."""
        self._unlinked[str(path)] = None

    def read_raw(self, folder: str, name: str, span: Span) -> bytes:
        """Return the bytes of a file of the pack, and record it as an input. Raises what `read_pack_file` raises."""
        content = self._read_once(folder, name, span)
        self._inputs[folder, name] = self._plain[str(Path(folder, name))] = content
        return content

    def read_named(self, node: Node) -> tuple[bytes, str]:
        """Return the bytes of the file that a scalar names, and its name in findings. Raises what `read_pack_file` raises."""
        name = str(node.value)
        return self.read_raw(node.folder, name, node.span), show_path(node.span, name)

    def read_text(self, folder: str, name: str, span: Span) -> str:
        """Return the text of a pack's file, decoded by `decode_text`.

        Raises what `read_pack_file` raises, and PC0101 with a place in the file itself.
        """
        content = self._read_once(folder, name, span)
        text = decode_text(content, show_path(span, name))
        self._inputs[folder, name], self._plain[str(Path(folder, name))] = content, text.encode()
        return text

    def _read_once(self, folder: str, name: str, span: Span) -> bytes:
        if (folder, name) not in self._read:
            self._read[folder, name] = read_pack_file(folder, name, span, self.held)
        return self._read[folder, name]

    def source_text(self, file: str) -> str:
        r"""Return the text of a file that was read, with line ends as `\n`; empty if it was not read."""
        text = self._plain.get(file, b"").decode("utf-8", "replace")
        return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")

    def render_digest(self, folder: str, tries: Sequence[str] = ()) -> str:
        """Return the sha256 over the path relative to `folder` and the digest of every file, and over the tries.

        Line ends are normalized, and the lines that are hashed are sorted.
        """
        lines = [f"--try {one}\n" for one in tries]
        for file, content in self._plain.items():
            name = Path(os.path.relpath(file, folder)).as_posix()
            plain = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            lines.append(f"{name}\0{render_digest(plain)}\n")
        return render_digest("".join(sorted(lines)).encode())
