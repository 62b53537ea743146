"""The packs that are open in an editor: the unsaved text of their files, their findings, and the newest version of each that loads.

`Desk` knows the files that the editor holds, and the packs that each file concerns. An `OpenPack` is examined in three steps, from one that
needs milliseconds to one that needs a second: `load` finds what is wrong with the pack's files and with texts that are new, `check` finds
everything that `promptc check` reports, and `count` counts the tokens of each section in an example state. The steps may run in threads,
one at a time for each pack.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from promptc.api import Pack
from promptc.check.configurations import list_configurations
from promptc.check.registry import Code, check_new_texts, check_pack
from promptc.check.texts import Scopes, UsedText
from promptc.diag.findings import VERBOSE, Diagnostic, PromptcError, Span, sort_diagnostics
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.files.paths import Held, find_held, name_held
from promptc.files.reading import MAX_PACK_FILE, read_inside, read_mode
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.frontend.kept_pack import KeptPack
from promptc.frontend.pack import ReadPack
from promptc.frontend.texts import Made
from promptc.golden.cases.discover import choose_places, load_meant
from promptc.golden.running.environment import CaseEnvironment
from promptc.golden.running.resources import SuiteResources
from promptc.golden.running.run import read_state
from promptc.model.budget import load_models
from promptc.model.pack import MANIFEST
from promptc.template.compile import Template
from promptc.template.types.infer import load_trees, read_place
from promptc.text.counters.counter import Meter
from promptc.text.json import render_digest

_ENDINGS = (".yaml", ".yml")
_MANIFEST = re.compile(r"^promptc[ \t]*:", re.MULTILINE)
_PLACE = re.compile(
    r"(?P<file>[^\s():`]+\.[a-z0-9]+):(?P<line>\d+)(?::(?P<column>\d+))?|(?:\b(?:at|in) |\()line (?P<own>\d+)(?:, column (?P<at>\d+))?"
)
"""The ways in which messages name another place, such as `state.schema.json:12` or `the first is at line 7`."""

_MOST_CASES = 200
"""The number of case folders to search for an example state."""

_STATE = "state.json"


@frozen
class SectionCount:
    """The tokens of a section in the example: its charge, its cap (None if it has no cap) and its demand."""

    charge: int
    cap: int | None
    demand: int
    state: str


@frozen
class Counts:
    """The counts of a pack's sections in the state called `name`, and the places of the sections in the manifest."""

    name: str
    sections: Mapping[str, SectionCount]
    places: Mapping[str, Span]


class Knowledge:
    """One version of a pack that loads, and what is computed from it on demand. `held` is the held text of its files at the time."""

    def __init__(self, pack: Pack, held: Held) -> None:
        self.pack = pack
        self.model = pack.model
        self.held = held

    @cached_property
    def scopes(self) -> Scopes:
        """What the names in each text refer to."""
        return Scopes(self.model)

    @cached_property
    def texts(self) -> Sequence[UsedText]:
        """The uses of the pack's texts: one for each way in which a text is used, in each case of a variant and in each tier."""
        found: dict[tuple[int, str], UsedText] = {}
        for configuration in list_configurations(self.model, most=1):
            for text in configuration.iter_texts():
                found.setdefault((id(text.code), text.what), text)
        return tuple(found.values())

    def find_text(self, path: str) -> UsedText | None:
        """Return a use of a template file, or of a template that includes it; None if there is neither."""
        files = [text for text in self.texts if isinstance(text.code, Template) and not text.code.place.inline]
        own = (text for text in files if name_held(read_place(text.code).span.file) == path)
        outer = (text for text in files for name in text.code.files if name_held(read_place(text.code).folder + name) == path)  # type: ignore[union-attr]
        return next(own, None) or next(outer, None)

    def find_inline(self, section: str | int | None, line: int, column: int) -> UsedText | None:
        """Return a use of the inline text at a place in the manifest, counted from 0.

        If no text is there, return the use in `section` (its id or its index) that sees the most names: what is being typed was not there
        when the pack was loaded. Return None if the section has no text either.
        """
        ids = self.model.sections
        name = ids[section] if isinstance(section, int) and section < len(ids) else section
        places = [(text, read_place(text.code)) for text in self.texts]
        here = (text for text, at in places if at.inline and (at.span.line, at.span.column) == (line + 1, column + 1))
        beside = [text for text in self.texts if text.section is not None and text.section.id == name]
        return next(here, None) or max(beside, key=lambda text: len(text.names), default=None)


class OpenPack:
    """A pack of which a file is open. `path` is the absolute path of its manifest."""

    def __init__(self, path: str, desk: Desk) -> None:
        self.path = path
        self.folder = str(Path(path).parent)
        self.known: Knowledge | None = None
        """The newest version that loads."""
        self.inputs: frozenset[str] = frozenset()
        self.findings: tuple[Diagnostic, ...] = ()
        """The findings to show now."""
        self.counts: Counts | None = None
        self._desk = desk
        self._made = Made()
        self._meter: Meter | None = None
        self._texts: Mapping[int, Code] = {}
        self._checked: tuple[Diagnostic, ...] = ()
        self._held: Held = MappingProxyType({})
        """The held files from which `_checked` was found."""
        self._loaded: Held = MappingProxyType({})
        """The held files at the last load."""
        self._counted: tuple[str, ...] = ()

    def concerns(self, path: str) -> bool:
        """Return whether the file is an input of the pack, or lies in its folder and so may become one."""
        return path in self.inputs or path == self.path or path.startswith(f"{self.folder}{os.sep}")

    @property
    def is_behind(self) -> bool:
        """Whether the editor holds another text of a file that concerns the pack than at the last load."""
        held = self._desk.held
        return any(self._loaded.get(one) != held.get(one) for one in {*self._loaded, *held} if self.concerns(one))

    def load(self) -> bool:
        """Load the pack from its files as they are held now, and return whether it loads.

        Set `findings` to the errors that keep it from loading, or else to its warnings and to what is wrong with texts that are new.
        Earlier findings stay if their lines are still there.
        """
        held = self._loaded = self._desk.held
        standing = list(self._iter_standing(held))
        try:
            pack = self._read(held)
        except PromptcError as error:
            self.findings = sort_diagnostics([*error.diagnostics, *standing])
            return False
        is_same_state = self.known is not None and self.known.model.schema == pack.model.schema
        self.known = Knowledge(pack, held)
        self.inputs = frozenset(name_held(Path(one.folder, one.path)) for one in pack.inputs.files)
        found, self._texts = check_new_texts(pack.model, self._texts if is_same_state else {})
        self._note([*pack.model.warnings, *found, *standing], held)
        return True

    def check(self, pause: Callable[[], None]) -> None:
        """Find everything that `promptc check` finds in the newest version that loads.

        `pause` is called in between; an exception that it raises stops the check.
        """
        known = self.known
        assert known is not None
        found = check_pack(known.model, pause)
        pause()
        self._note([one for one in found if one.code not in VERBOSE], known.held)
        load_trees.cache_clear()  # frees the trees of every text that was typed for the check

    def count(self, asked: str) -> bool:
        """Count the tokens of each section, and return whether a count or the place of a section has changed.

        The state is `asked` if it is not empty, else that of the first suitable case, else `state.json`. The old counts stay if the state
        cannot be rendered, or if the pack uses anything outside its own files.
        """
        before = self.counts
        if self.known is None or self.known.pack.asks_outside(()):
            return False
        try:
            example = (asked, self._desk.read_state(self.folder, asked), {}) if asked else self._choose_example()
            if example is None:
                return False
            name, raw, options = example
            key = (self.known.model.digest, name, render_digest(raw), repr(options))
            if key != self._counted:
                self.counts = _count_sections(self.known.pack, name, raw, options)
                self._counted = key
        except PromptcError:
            return False
        return self.counts != before

    def _read(self, held: Held) -> Pack:
        made = self._made.renew()
        read = ReadPack(Path(self.path), load_models, made, held)
        kept = KeptPack(self.path, lambda: read.compile((), ()), is_edited=True, meter=self._meter)
        self._made, self._meter = made, kept.meter
        return Pack(kept)

    def _note(self, found: Iterable[Diagnostic], held: Held) -> None:
        self.findings = self._checked = sort_diagnostics(dict.fromkeys(found))
        self._held = held

    def _iter_standing(self, held: Held) -> Iterator[Diagnostic]:
        """Yield the earlier findings that still apply, at their new lines.

        In the manifest, the line must read as before. Any other file must be unchanged.
        """
        for file in dict.fromkeys(one.span.file for one in self._checked if one.span is not None):
            before, now = self._desk.lines(file, self._held), self._desk.lines(file, held)
            for one in self._checked:
                if one.span is None or one.span.file != file:
                    continue
                moved = _find_line(one.span.line, before, now) if name_held(file) == self.path else one.span.line if before == now else None
                if moved is not None:
                    yield replace(one, span=replace(one.span, line=moved), removable=None)  # the fix was certain only for the old text

    def _choose_example(self) -> tuple[str, bytes, Mapping[str, Any]] | None:
        """Return the name of an example, its state as JSON and the options to render it with, or None if there is no example.

        It is the first case of the pack that can be rendered here without further preparation, or else the `state.json` next to the pack.
        """
        pack = self.folder if Path(self.path).name == MANIFEST else self.path
        for place in choose_places([pack]).places[:_MOST_CASES]:
            try:
                case = load_meant(place)
                if case is None or case.kind not in ("render", "session") or case.given or case.requires:
                    continue
                with SuiteResources() as resources:
                    document = read_state(case, 0, CaseEnvironment(case.root, case.fence, resources))
            except PromptcError:
                continue
            flags = case.flags
            axes = {**flags.get("variant", {}), **({"mood": flags["mood"]} if "mood" in flags else {})}
            options = {name: flags.get(name) for name in ("budget", "model", "format")}
            return case.name, document.canonical, options | {"variants": axes, "patches": tuple(flags.get("patch", ()))}
        return (_STATE, self._desk.read_state(self.folder, _STATE), {}) if read_mode(self.folder, _STATE) else None


class Desk:
    """The files that an editor holds, and the packs that they concern.

    `held` is replaced, never changed, so a thread may keep an old one. `roots` are the folders that the editor has open: the search for a
    manifest does not go above them.
    """

    def __init__(self) -> None:
        self.held: Held = MappingProxyType({})
        self.packs: dict[str, OpenPack] = {}
        self.roots: frozenset[str] = frozenset()

    def hold(self, path: str, text: str) -> list[OpenPack]:
        """Use the text of an open file in place of its content on disk. Return the packs that the file concerns."""
        self.held = MappingProxyType({**self.held, name_held(path): text.encode("utf-8", "surrogatepass")})
        return self.list_packs(path)

    def release(self, path: str) -> list[OpenPack]:
        """Forget the text of a file that was closed. Return the packs that it concerns.

        Those without any open file or without a manifest are forgotten, too.
        """
        concerned = self.list_packs(path)
        self.held = MappingProxyType({name: text for name, text in self.held.items() if name != name_held(path)})
        for one in concerned:
            if not any(one.concerns(name) for name in self.held) or not self._is_there(one.path):
                self.packs.pop(one.path, None)
        return concerned

    def renew(self) -> list[OpenPack]:
        """Look again for the manifests of all open files, after files on the disk have changed. Forget and return packs without one."""
        for path in self.held:
            self.list_packs(path)
        gone = [one for one in self.packs.values() if not self._is_there(one.path)]
        for one in gone:
            del self.packs[one.path]
        return gone

    def list_packs(self, path: str) -> list[OpenPack]:
        """Return the packs that a file concerns: those that read it, and the one whose manifest it is or was, or in whose folder it lies.

        If that last pack is not in `packs` yet, it is added.
        """
        name = name_held(path)
        owner = self._find_manifest(name)
        if owner is not None and owner not in self.packs:
            self.packs[owner] = OpenPack(owner, self)
        return [one for one in self.packs.values() if one.path in (owner, name) or name in one.inputs]

    def find_pack(self, path: str) -> OpenPack | None:
        """Return the pack to ask about a file, or None. Packs that read the file come first, then packs that load."""
        name = name_held(path)
        return min(self.list_packs(path), key=lambda one: (name not in one.inputs, one.known is None, one.path), default=None)

    def read_state(self, folder: str, name: str) -> bytes:
        """Return the content of a state in the folder of a pack, as it is held or else from disk.

        Raises `PromptcError` (PC0154) if it cannot be read.
        """
        path = str(Path(folder, name))
        try:
            content = find_held(self.held, path, MAX_STATE_BYTES)
            return content if content is not None else read_inside(folder, name, MAX_STATE_BYTES)
        except (OSError, ValueError) as wrong:
            help = "name a pack's file, or a folder with a `pack.yaml`"
            raise PromptcError([Diagnostic("PC0154", f"cannot read `{name}`: {wrong}", Span(path, 1, 1), help)]) from None

    def lines(self, path: str, held: Held | None = None) -> Sequence[str]:
        """Return the lines of a file, split as findings count them; a single empty line if the file cannot be read.

        The text is that in `held` (by default, what is held now), or else that on disk if the file is in the folder of an open pack and no
        link leads to it.
        """
        path = name_held(path)
        folders = [one.folder for one in tuple(self.packs.values()) if path.startswith(f"{one.folder}{os.sep}")]
        try:
            content = find_held(self.held if held is None else held, path, MAX_PACK_FILE)
            if content is None and folders:
                content = read_inside(folders[0], path.removeprefix(f"{folders[0]}{os.sep}").replace(os.sep, "/"), MAX_PACK_FILE)
        except (OSError, ValueError):
            content = None
        text = (content or b"").decode("utf-8", "replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def _find_manifest(self, path: str) -> str | None:
        """Return the manifest for a file: the file itself, or the one in the nearest folder above it; None if there is none."""
        if path.endswith(_ENDINGS) and (Path(path).name == MANIFEST or _MANIFEST.search("\n".join(self.lines(path)))):
            return path
        for folder in Path(path).parents:
            if self._is_there(folder / MANIFEST):
                return str(folder / MANIFEST)
            if str(folder) in self.roots or read_mode(folder / ".git"):
                return None
        return None

    def _is_there(self, path: str | Path) -> bool:
        return name_held(path) in self.held or bool(read_mode(path))


def _find_line(line: int, before: Sequence[str], now: Sequence[str]) -> int | None:
    """Return the new number of a line, or None if its text is neither at the old number nor at the same distance from the end."""
    if not 0 < line <= len(before):
        return None
    text, moved = before[line - 1], line + len(now) - len(before)
    return next((at for at in (line, moved) if 0 < at <= len(now) and now[at - 1] == text), None)


def _count_sections(pack: Pack, name: str, raw: bytes, options: Mapping[str, Any]) -> Counts:
    report = pack.compile(pack.load_state(raw, name), **options).report
    sections = {
        one["id"]: SectionCount(one["charge"], one["grant"], one.get("demand", one.get("demand_at_least", 0)), one["state"])
        for one in report["sections"]
    }
    keys = pack.model.manifest.value["sections"]
    return Counts(name, sections, {one: keys.key_span(one) for one in sections if one in keys.value})


def list_related(found: Diagnostic, folder: str) -> Iterable[tuple[str, Span]]:
    """Yield the other places that a finding names, each with its text there: `pack.yaml:12:3`, or `the first is at line 7`."""
    if found.span is None:
        return
    for match in _PLACE.finditer(f"{found.message} {found.help}"):
        name, line, column = match["file"], int(match["line"] or match["own"]), int(match["column"] or match["at"] or 1)
        path = found.span.file if name is None else str(Path(folder, name))
        if (path, line) != (found.span.file, found.span.line):
            yield match[0].strip("() "), Span(path, line, column)
