"""The packs that an editor has open: what it holds of their files, what is wrong with them, and the newest of each that could be loaded.

`Desk` knows the files that are held, and which pack each concerns. An `OpenPack` is looked at in three steps, from what takes milliseconds
to what takes a second: `load` tells what is wrong with its files and with texts that are new, `check` all that `promptc check` tells,
`count` what each section takes of an example state. The steps may run in threads, one at a time for each pack.
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
from promptc.check.scopes import Scopes
from promptc.check.texts import UsedText
from promptc.diag.findings import VERBOSE, Diagnostic, PromptcError, Span, sort_diagnostics
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.files.paths import Held, find_held, name_held
from promptc.files.reading import MAX_PACK_FILE, read_inside, read_mode
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.frontend.kept_pack import KeptPack
from promptc.frontend.pack import ReadPack
from promptc.frontend.texts import Made
from promptc.golden.cases.confine import locate_pack
from promptc.golden.cases.discover import choose_places, load_case
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
"""How messages name another place: `state.schema.json:12`, `the first is at line 7`."""

_MOST_CASES = 200
"""Cases that are looked at for one to count with."""

_STATE = "state.json"


@frozen
class SectionCount:
    """What a section takes in the example: the tokens it was charged, its cap (None: it has none), and what it wanted."""

    charge: int
    cap: int | None
    demand: int
    state: str


@frozen
class Counts:
    """What the sections of a pack take of one state, which `name` tells, and where each stands."""

    name: str
    sections: Mapping[str, SectionCount]
    places: Mapping[str, Span]


class Knowledge:
    """One pack that could be loaded, and what is worked out of it when somebody asks. `held` is what was held of its files then."""

    def __init__(self, pack: Pack, held: Held) -> None:
        self.pack = pack
        self.model = pack.model
        self.held = held

    @cached_property
    def scopes(self) -> Scopes:
        """What the names of each text are."""
        return Scopes(self.model)

    @cached_property
    def texts(self) -> Sequence[UsedText]:
        """The texts of the pack where they are used, once for each way in which they are: of each case of a variant, and of each tier."""
        found: dict[tuple[int, str], UsedText] = {}
        for configuration in list_configurations(self.model, most=1):
            for text in configuration.iter_texts():
                found.setdefault((id(text.code), text.what), text)
        return tuple(found.values())

    def find_text(self, path: str) -> UsedText | None:
        """The use of a template file, or of a template that brings it in."""
        files = [text for text in self.texts if isinstance(text.code, Template) and not text.code.place.inline]
        own = (text for text in files if name_held(read_place(text.code).span.file) == path)
        outer = (text for text in files for name in text.code.files if name_held(read_place(text.code).folder + name) == path)  # type: ignore[union-attr]
        return next(own, None) or next(outer, None)

    def find_inline(self, section: str | int | None, line: int, column: int) -> UsedText | None:
        """The use of the text that stands there in the manifest, counted from 0; else of the one of that section which sees most names, as
        what is being written was not there when the pack was loaded. `section` is its id, or its place.
        """
        ids = self.model.sections
        name = ids[section] if isinstance(section, int) and section < len(ids) else section
        places = [(text, read_place(text.code)) for text in self.texts]
        here = (text for text, at in places if at.inline and (at.span.line, at.span.column) == (line + 1, column + 1))
        beside = [text for text in self.texts if text.section is not None and text.section.id == name]
        return next(here, None) or max(beside, key=lambda text: len(text.names), default=None)


class OpenPack:
    """A pack of which a file is open. `path` is its manifest (absolute)."""

    def __init__(self, path: str, desk: Desk) -> None:
        self.path = path
        self.folder = str(Path(path).parent)
        self.known: Knowledge | None = None
        """The newest that could be loaded."""
        self.inputs: frozenset[str] = frozenset()
        self.findings: tuple[Diagnostic, ...] = ()
        """What is told of the pack now."""
        self.counts: Counts | None = None
        self._desk = desk
        self._made = Made()
        self._meter: Meter | None = None
        self._texts: Mapping[int, Code] = {}
        self._checked: tuple[Diagnostic, ...] = ()
        self._held: Held = MappingProxyType({})
        """What was held when that was found."""
        self._counted: tuple[str, ...] = ()

    def concerns(self, path: str) -> bool:
        """Whether the pack is made of that file, or may be."""
        return path in self.inputs or path == self.path or path.startswith(f"{self.folder}{os.sep}")

    def load(self) -> bool:
        """Loads the pack as its files are held now, and tells whether it could be. `findings` are then what keeps it from loading, or what
        is wrong with texts that are new; and what was found before, as far as its lines are still there.
        """
        held = self._desk.held
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
        """Finds all that `promptc check` finds in the pack that was loaded last. What `pause` raises ends it."""
        known = self.known
        assert known is not None
        found = check_pack(known.model, pause)
        pause()
        self._note([one for one in found if one.code not in VERBOSE], known.held)
        load_trees.cache_clear()  # of every text that was typed on the way

    def count(self, asked: str) -> bool:
        """Counts what each section takes of the state that is `asked` for, or of the first case of the pack, or of its `state.json`, and
        tells whether a count, or the place of a section, is another. All stay as they are where that cannot be rendered, or the pack asks
        what is outside its files.
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
        kept = KeptPack(self.path, lambda: read.compile({}, ()), is_edited=True, meter=self._meter)
        self._made, self._meter = made, kept.meter
        return Pack(kept)

    def _note(self, found: Iterable[Diagnostic], held: Held) -> None:
        self.findings = self._checked = sort_diagnostics(dict.fromkeys(found))
        self._held = held

    def _iter_standing(self, held: Held) -> Iterator[Diagnostic]:
        """What was found before, at the lines of the manifest that still read as they did, and in other files that are as they were."""
        for file in dict.fromkeys(one.span.file for one in self._checked if one.span is not None):
            before, now = self._desk.lines(file, self._held), self._desk.lines(file, held)
            for one in self._checked:
                if one.span is None or one.span.file != file:
                    continue
                moved = _find_line(one.span.line, before, now) if name_held(file) == self.path else one.span.line if before == now else None
                if moved is not None:
                    yield replace(one, span=replace(one.span, line=moved), removable=None)  # which was certain of what stood there

    def _choose_example(self) -> tuple[str, bytes, Mapping[str, Any]] | None:
        """A name, a state as JSON, and the options to render it with: of a case that renders the pack in no other circumstances than are
        here, or of the `state.json` beside the pack.
        """
        pack = self.folder if Path(self.path).name == MANIFEST else self.path
        for place in choose_places([pack]).places[:_MOST_CASES]:
            try:
                case = load_case(place.folder, place.top) if place.is_case else None
                if case is None or case.kind not in ("render", "session") or case.given or case.requires:
                    continue
                if not place.is_any and locate_pack(case.pack, case.root) not in place.packs:
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
    """What an editor holds, and the packs that it concerns. `held` is a new mapping whenever a file changes: a thread may keep the old.

    `roots` are the folders that the editor works in: above them no pack is looked for.
    """

    def __init__(self) -> None:
        self.held: Held = MappingProxyType({})
        self.packs: dict[str, OpenPack] = {}
        self.roots: frozenset[str] = frozenset()

    def hold(self, path: str, text: str) -> list[OpenPack]:
        """Takes the text of an open file before that on the disk. Gives the packs that it concerns."""
        self.held = MappingProxyType({**self.held, name_held(path): text.encode("utf-8", "surrogatepass")})
        return self.list_packs(path)

    def release(self, path: str) -> list[OpenPack]:
        """Lets go of a file that was closed. Gives the packs that it concerned; those of which no file is open any more are let go of."""
        concerned = self.list_packs(path)
        self.held = MappingProxyType({name: text for name, text in self.held.items() if name != name_held(path)})
        for one in concerned:
            if not any(one.concerns(name) for name in self.held):
                self.packs.pop(one.path, None)
        return concerned

    def list_packs(self, path: str) -> list[OpenPack]:
        """The packs that a file concerns: itself if it is a manifest, those it was read for, and the one in whose folder it lies."""
        name = name_held(path)
        owner = self._find_manifest(name)
        if owner is not None and owner not in self.packs:
            self.packs[owner] = OpenPack(owner, self)
        return [one for one in self.packs.values() if one.path == owner or name in one.inputs]

    def find_pack(self, path: str) -> OpenPack | None:
        """The pack to ask about a file: one that could be loaded, if there is one."""
        name = name_held(path)
        return min(self.list_packs(path), key=lambda one: (name not in one.inputs, one.known is None, one.path), default=None)

    def read_state(self, folder: str, name: str) -> bytes:
        """A state inside the folder of a pack, as it is held or on the disk. Raises `PromptcError`."""
        path = str(Path(folder, name))
        try:
            content = find_held(self.held, path, MAX_STATE_BYTES)
            return content if content is not None else read_inside(folder, name, MAX_STATE_BYTES)
        except (OSError, ValueError) as wrong:
            raise PromptcError([Diagnostic("PC0154", f"cannot read {name}: {wrong}", Span(path, 1, 1))]) from None

    def lines(self, path: str, held: Held | None = None) -> Sequence[str]:
        """The lines of a file as findings count them, as it is `held` now or then, or stands in the folder of a pack, where no link leads
        to it. One empty line where there is none to read.
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
        """The manifest that a file is, or else the one of the folder in which it lies."""
        if path.endswith(_ENDINGS) and (Path(path).name == MANIFEST or _MANIFEST.search("\n".join(self.lines(path)))):
            return path
        for folder in Path(path).parents:
            if read_mode(folder / MANIFEST):
                return str(folder / MANIFEST)
            if str(folder) in self.roots or read_mode(folder / ".git"):
                return None
        return None


def _find_line(line: int, before: Sequence[str], now: Sequence[str]) -> int | None:
    """Where a line stands now; None where it does not, or several may be meant."""
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
    """Other places that a finding names, each with what it says of it: `(pack.yaml:12:3)`, or `the first is at line 7`."""
    if found.span is None:
        return
    for match in _PLACE.finditer(f"{found.message} {found.help}"):
        name, line, column = match["file"], int(match["line"] or match["own"]), int(match["column"] or match["at"] or 1)
        path = found.span.file if name is None else str(Path(folder, name))
        if (path, line) != (found.span.file, found.span.line):
            yield match[0].strip("() "), Span(path, line, column)
