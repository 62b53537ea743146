"""Automatic fixes: remove what a pack does not use from its manifest, and keep every other byte, comments included.

`list_fixes` makes the edits for findings with a `removable` place. `fix_pack` applies all of them at once, and proves that the pack renders
as before: the edited file must have the same values except the removed ones, and the compiled pack must not differ in anything else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from promptc.api import Pack
from promptc.check.configurations import list_configurations
from promptc.diag.findings import Diagnostic, PromptcError, Span
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.paths import Held, find_held, name_held
from promptc.files.reading import read_file
from promptc.frontend.kept_pack import KeptPack
from promptc.frontend.manifest import manifest_path
from promptc.frontend.pack import ReadPack
from promptc.frontend.yaml import MAX_BYTES, load_yaml
from promptc.model.budget import load_models
from promptc.model.pack import PackModel
from promptc.model.state import Node
from promptc.template.compile import Expression, Template
from promptc.workshop.layout import LayoutError, iter_tokens, show_meaning
from promptc.workshop.splice import list_line_starts, replace_still

MOST_ROUNDS = 8
"""The most rounds of fixes: what is removed may have been the only user of something else."""

_Place = tuple[int, int]
_DEFINE = "define"
_REFUSED = "PC0743"
_UNSEEN = (
    "manifest",
    "load_plan",
    "read_manifest",
    "warnings",
    "remarks",
    "find_schema_place",
    "list_operations",
    "load_offers",
    "list_named",
    "load_models",
    "digest",
    "counting",
)
"""Attributes of a pack that are derived from others, or from files that no fix changes."""


@frozen
class TextEdit:
    """Replaces the characters from `start` to `stop` of a text by `new`. Offsets include line ends and the byte order mark."""

    start: int
    stop: int
    new: str


@frozen
class Replacement:
    """Replaces the text from one place up to, but not including, another. Lines and columns count from 1, in characters."""

    line: int
    column: int
    end_line: int
    end_column: int
    new: str


@frozen
class Change:
    """The replacements in one file."""

    file: str
    edits: tuple[Replacement, ...]


@frozen
class Fix:
    """A finding, and the change that fixes it."""

    found: Diagnostic
    change: Change


@frozen
class Fixed:
    """A manifest before and after fixes, with the findings that were fixed and those that are left.

    `refused` is a diagnostic that says what could not be fixed after all, or None.
    """

    file: str
    before: bytes
    after: bytes
    mended: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]
    refused: Diagnostic | None

    def write(self) -> None:
        """Replace the old file by the new one. Raises `DiskError` (PC0725)."""
        replace_still(self.file, self.before, self.after)


def list_fixes(path: str, found: Sequence[Diagnostic], held: Held = MappingProxyType({})) -> list[Fix]:
    """Return the fixes of the pack at `path`, each on its own, for findings whose remedy is certain, in the order of the findings.

    A definition with parameters that another one calls has no fix of its own: they can only go together. The text of the
    manifest in `held` is used in place of the file on disk.
    """
    removable = [one for one in found if one.removable is not None]
    text = _open_manifest(path, held) if removable else None
    if text is None:
        return []
    made = [(one, text.make_edits([one])[1]) for one in removable if not text.is_called(one)]
    return [Fix(one, Change(text.file, tuple(map(text.describe, edits)))) for one, edits in made if edits]


def count_fixable(path: str, found: Sequence[Diagnostic]) -> int:
    """Return how many of the findings are fixed when all fixes are made together."""
    removable = [one for one in found if one.removable is not None]
    text = _open_manifest(path) if removable else None
    return len(text.make_edits(removable)[0]) if text is not None else 0


def fix_pack(path: str, check: Callable[[Pack], Sequence[Diagnostic]], models: str | None = None) -> Fixed:
    """Make all certain fixes of the pack at `path`, and write nothing.

    `check` returns the findings of a pack, and `models` is the user's table of models. Fixes that cannot be proved to leave all prompts the
    same are refused with PC0743. Raises what loading and checking the pack raise.
    """
    pack = _load(path, models, {})
    found, mended = tuple(check(pack)), list[Diagnostic]()
    text, refused = _open_manifest(path), None
    before = text.content if text is not None else b""
    for _ in range(MOST_ROUNDS):
        made = _fix_once(path, models, text, pack, found) if text is not None else None
        if not isinstance(made, _Round):
            refused = made
            break
        text, pack = made.text, made.pack
        found, mended = tuple(check(pack)), [*mended, *made.mended]
    return Fixed(str(manifest_path(Path(path))), before, text.content if text is not None else b"", tuple(mended), found, refused)


@frozen(eq=False)
class _Round:
    """The findings that were fixed in one round, and the manifest and the pack after it."""

    mended: tuple[Diagnostic, ...]
    text: _ManifestText
    pack: Pack


def _fix_once(path: str, models: str | None, text: _ManifestText, pack: Pack, found: Sequence[Diagnostic]) -> _Round | Diagnostic | None:
    """Make one round of fixes. Return a diagnostic if the fixed pack may render differently, or None if there is nothing to fix."""
    mended, edits = text.make_edits([one for one in found if one.removable is not None])
    if not edits:
        return None
    try:
        after = _ManifestText(apply_edits(text.content, edits), text.file)
        text.check_same(after, mended)
        fixed = _load(path, models, {name_held(text.file): after.content})
        differing = name_difference(pack.model, fixed.model, mended)
    except (PromptcError, LayoutError) as wrong:
        return _refuse(mended, f"without what it would remove, the pack cannot be loaded ({str(wrong).splitlines()[0]})")
    return _refuse(mended, f"`{differing}` would be another") if differing else _Round(tuple(mended), after, fixed)


def _refuse(found: Sequence[Diagnostic], why: str) -> Diagnostic:
    help = "make the change by hand, and compare what both render with `promptc diff`"
    return Diagnostic(_REFUSED, f"`--fix` changes nothing here: {why}", found[0].removable, help, "warn")


def _load(path: str, models: str | None, held: Mapping[str, bytes]) -> Pack:
    def load() -> Any:
        return ReadPack(Path(path), lambda: load_models(models), None, held).compile((), ())

    return Pack(KeptPack(path, load, is_edited=True))


def _open_manifest(path: str, held: Held = MappingProxyType({})) -> _ManifestText | None:
    """Open the manifest of a pack. Return None if it cannot be read as text or split into tokens."""
    file = manifest_path(Path(path))
    try:
        content = find_held(held, file, MAX_BYTES)
        return _ManifestText(content if content is not None else read_file(file, MAX_BYTES), str(file))
    except (OSError, PromptcError, LayoutError, UnicodeDecodeError):
        return None


@frozen(eq=False)
class _Entry:
    """An entry of a mapping or a list: the node that contains it, its key or index, and the entry whose value that node is."""

    holder: Node
    key: str | int
    above: _Entry | None

    @property
    def value(self) -> Node:
        value: Node = self.holder.value[self.key]
        return value


class _ManifestText:
    """One manifest: its text, its values with their places, and its tokens."""

    def __init__(self, content: bytes, file: str) -> None:
        self.content, self.file = content, file
        self.root = load_yaml(content, file, "")
        self._text = content.decode()
        self._lines = list_line_starts(self._text)
        begin = self._lines[0]
        self._tokens = [(kind, start + begin, stop + begin) for kind, start, stop in iter_tokens(self._text[begin:]) if start < stop]
        self._starts = [start for _, start, _ in self._tokens]
        self._entries = list(_iter_entries(self.root, None))
        self._met = Counter(id(one.value) for one in self._entries)

    def make_edits(self, found: Sequence[Diagnostic]) -> tuple[list[Diagnostic], tuple[TextEdit, ...]]:
        """Return the findings that can be fixed together, and the edits that fix them."""
        targets = [(one, entry) for one in found if (entry := self._find_entry(one.removable)) is not None]
        by_holder: dict[int, dict[_Place, tuple[_Entry, list[Diagnostic]]]] = {}
        for one, entry in _climb(targets):
            group = by_holder.setdefault(id(entry.holder), {})
            group.setdefault(_locate_entry(entry), (entry, []))[1].append(one)
        mended: list[Diagnostic] = []
        edits: list[TextEdit] = []
        for group in by_holder.values():
            made = self._cut([entry for entry, _ in group.values()])
            if made:
                edits += made
                mended += [one for _, many in group.values() for one in many]
        return sorted(mended, key=lambda one: (_place(one.removable), one.code)), tuple(sorted(edits, key=lambda one: one.start))

    def is_called(self, found: Diagnostic) -> bool:
        """Return whether what a finding removes is a definition with parameters that another definition calls.

        Without it, the pack would not load (PC0408). A definition without parameters may go alone.
        """
        entry = self._find_entry(found.removable)
        others = [one for one in self._entries if one.above is not None and one.above.key == _DEFINE]
        if entry is None or entry not in others:
            return False
        name, takes, _ = str(entry.key).partition("(")
        called = re.compile(rf"\b{re.escape(name.strip())}\b")
        return bool(takes) and any(one is not entry and called.search(str(one.value.value)) for one in others)

    def check_same(self, after: _ManifestText, found: Sequence[Diagnostic]) -> None:
        """Check that `after` has the same values in the same order, except the removable ones. Raises `LayoutError` otherwise."""
        gone = {id(entry.value) for _, entry in _climb([(one, self._find_entry(one.removable)) for one in found])}
        if show_meaning(self.root, gone) != show_meaning(after.root, set()):
            raise LayoutError("other values of the file would change with it", 1, 1)

    def describe(self, edit: TextEdit) -> Replacement:
        """Return an edit by lines and columns."""
        (line, column), (end_line, end_column) = (self._count_place(at) for at in (edit.start, edit.stop))
        return Replacement(line, column, end_line, end_column, edit.new)

    def _count_place(self, at: int) -> _Place:
        line = bisect_left(self._lines, at + 1)
        return line, at - self._lines[line - 1] + 1

    def _find_entry(self, span: Span | None) -> _Entry | None:
        """Return the entry whose value, or else whose key, is at a place of this file; None if it is ambiguous or an alias refers to it."""
        if span is None or span.file != self.file:
            return None
        place = _place(span)
        by_value = [one for one in self._entries if _place(one.value.span) == place]
        by_key = [one for one in self._entries if isinstance(one.key, str) and _place(one.holder.key_span(one.key)) == place]
        chosen = by_value or by_key
        above = chosen[0] if len(chosen) == 1 else None
        while above is not None:
            if self._met[id(above.value)] > 1:
                return None
            above = above.above
        return chosen[0] if len(chosen) == 1 else None

    # --- cutting ---

    def _cut(self, entries: Sequence[_Entry]) -> list[TextEdit]:
        """Return the edits that remove entries of one node; empty if they cannot be removed without losing a comment."""
        holder = entries[0].holder
        keys = list(holder.value) if isinstance(holder.value, dict) else list(range(len(holder.value)))
        gone = sorted(keys.index(one.key) for one in entries)
        if len(gone) == len(keys) or (isinstance(holder.value, tuple) and gone != [*range(gone[0], len(keys))]):
            return []
        sign = self._text[self._locate(holder.span)]
        if sign in "&!":
            return []
        extents = [self._measure(holder, key, is_flow=sign in "{[") for key in keys]
        runs = _list_runs(gone)
        made = [self._cut_flow(extents, run) if sign in "{[" else self._cut_block(extents, run) for run in runs]
        return [one for edits in made for one in edits] if all(made) else []

    def _cut_flow(self, extents: Sequence[tuple[int, int]], run: range) -> list[TextEdit]:
        if run.stop < len(extents):
            start, stop = extents[run.start][0], extents[run.stop][0]
        else:
            start, stop = extents[run.start - 1][1], extents[run.stop - 1][1]
        return [] if self._list_comments(start, stop) != [] else [TextEdit(start, stop, "")]

    def _cut_block(self, extents: Sequence[tuple[int, int]], run: range) -> list[TextEdit]:
        """Return edits that remove whole lines, and keep comments on lines of their own.

        If the first entry follows the `-` of a list, the next entry moves to its place.
        """
        first = extents[run.start][0]
        lead = self._text[self._start_line(first) : first]
        if not lead.strip(" "):
            edits = [self._cut_lines(*extents[at]) for at in run]
            return [one for one in edits if one is not None] if None not in edits else []
        stop = extents[run.stop][0] if run.stop < len(extents) else None
        comments = self._list_comments(first, stop) if stop is not None else None
        if stop is None or comments is None:
            return []
        between = self._read_line_end(self._text, first) + " " * len(lead)
        return [TextEdit(first, stop, "".join(f"{one}{between}" for one in comments))]

    def _cut_lines(self, start: int, stop: int) -> TextEdit | None:
        line = self._start_line(start)
        at = bisect_left(self._lines, stop)
        after = self._lines[at] if at < len(self._lines) else len(self._text)
        comments = self._list_comments(start, after)
        if comments is None:
            return None
        end = self._read_line_end(self._text, start)
        return TextEdit(line, after, "".join(f"{self._text[line:start]}{one}{end}" for one in comments))

    def _read_line_end(self, text: str, at: int) -> str:
        """Return the line end of the line that contains a character."""
        after = bisect_left(self._lines, at + 1)
        line = text[self._start_line(at) : self._lines[after]] if after < len(self._lines) else "\n"
        return line[len(line.rstrip("\r\n")) :]

    def _list_comments(self, start: int, stop: int) -> list[str] | None:
        """Return the comments from `start` to `stop`, or None if a comment is inside a token."""
        comments, end = list[str](), start
        inner = [one for one in self._tokens if start <= one[1] < stop]
        for kind, begins, ends in inner:
            token = self._text[begins:ends]
            if kind == "ScalarToken" and token[0] in "|>" and "#" in token.splitlines()[0]:
                return None
            comments += _iter_comments(self._text[end:begins])
            end = begins + len(token.rstrip())
        return [*comments, *_iter_comments(self._text[end:stop])]

    # --- measuring ---

    def _measure(self, holder: Node, key: str | int, *, is_flow: bool) -> tuple[int, int]:
        """Return the start of an entry, including its key or the `-` of its item, and the end of its last token."""
        span = holder.key_span(key) if isinstance(key, str) else holder.value[key].span
        start = self._locate(span)
        at = bisect_left(self._starts, start)
        if not is_flow and not isinstance(key, str):
            while self._tokens[at][0] != "BlockEntryToken":
                at -= 1
            start = self._starts[at]
        line = self._start_line(start)
        column, stop, depth = start - line, start, 0
        is_item = not isinstance(key, str)
        for kind, begins, ends in self._tokens[at:]:
            depth -= kind in ("FlowMappingEndToken", "FlowSequenceEndToken")
            if is_flow and (depth < 0 or (depth == 0 and kind == "FlowEntryToken")):
                break
            if not is_flow and depth == 0 and begins > start and not kind.endswith("EndToken"):
                begin = self._start_line(begins)
                inside = begins - begin
                is_own = inside > column or (inside == column and not is_item and kind == "BlockEntryToken")
                if begin != line and not is_own:
                    break
            depth += kind in ("FlowMappingStartToken", "FlowSequenceStartToken")
            stop = begins + len(self._text[begins:ends].rstrip())
        return start, stop

    def _locate(self, span: Span) -> int:
        return self._lines[span.line - 1] + span.column - 1

    def _start_line(self, at: int) -> int:
        """Return the start of the line that contains a character."""
        return self._lines[bisect_left(self._lines, at + 1) - 1]


def _climb(targets: Iterable[tuple[Diagnostic, _Entry | None]]) -> Iterator[tuple[Diagnostic, _Entry]]:
    """Yield what to remove for each finding: its entry, or the mapping around the entry if nothing would be left of it."""
    wanted = [(one, entry) for one, entry in targets if entry is not None]
    while True:
        gone: dict[int, set[str | int]] = {}
        for _, entry in wanted:
            gone.setdefault(id(entry.holder), set()).add(entry.key)
        moved = [(one, _climb_one(entry, gone[id(entry.holder)])) for one, entry in wanted]
        if all(a[1] is b[1] for a, b in zip(moved, wanted, strict=True)):
            return iter(wanted)
        wanted = moved


def _climb_one(entry: _Entry, gone: set[str | int]) -> _Entry:
    is_whole = isinstance(entry.holder.value, dict) and len(gone) == len(entry.holder.value)
    return entry.above if is_whole and entry.above is not None else entry


def _locate_entry(entry: _Entry) -> _Place:
    return _place(entry.holder.key_span(entry.key) if isinstance(entry.key, str) else entry.value.span)


def _place(span: Span | None) -> _Place:
    return (span.line, span.column) if span is not None else (0, 0)


def _iter_entries(node: Node, above: _Entry | None) -> Iterator[_Entry]:
    keys: Iterable[str | int] = ()
    if isinstance(node.value, dict):
        keys = node.value
    elif isinstance(node.value, tuple):
        keys = range(len(node.value))
    for key in keys:
        entry = _Entry(node, key, above)
        yield entry
        yield from _iter_entries(entry.value, entry)


def _iter_comments(gap: str) -> Iterator[str]:
    """Yield the comments in the text between two tokens."""
    for line in gap.splitlines():
        if "#" in line:
            yield line[line.index("#") :]


def _list_runs(places: Sequence[int]) -> list[range]:
    """Return ascending numbers as ranges of consecutive numbers."""
    runs: list[range] = []
    for one in places:
        if runs and runs[-1].stop == one:
            runs[-1] = range(runs[-1].start, one + 1)
        else:
            runs.append(range(one, one + 1))
    return runs


def apply_edits(content: bytes, edits: Sequence[TextEdit]) -> bytes:
    """Return the bytes of a file with edits, which must be in ascending order and not overlap."""
    text = content.decode()
    for one in reversed(edits):
        text = text[: one.start] + one.new + text[one.stop :]
    return text.encode()


# --- the proof ---


def name_difference(before: PackModel, after: PackModel, found: Sequence[Diagnostic]) -> str:
    """Return the first part in which two packs differ, apart from what the findings remove; empty if there is none."""
    gone = {str(one.removable) for one in found}
    for name in PackModel.__match_args__:
        if name not in _UNSEEN:
            differing = _compare(getattr(before, name), getattr(after, name), gone, name)
            if differing:
                return differing
    old, new = list_configurations(before), list_configurations(after)
    if [one.combination for one in old] != [one.combination for one in new]:
        return "variants"
    pairs = zip(old, new, strict=True)
    return next((where for one, other in pairs if (where := _compare(one.plan, other.plan, gone, "plan"))), "")


def _compare(before: Any, after: Any, gone: set[str], name: str) -> str:
    if isinstance(before, Span) or before is after:
        return ""
    if isinstance(before, tuple) and isinstance(after, tuple):
        left = [one for one in before if _name_place(one) not in gone]
        return name if len(left) != len(after) else _first(_compare(*pair, gone, name) for pair in zip(left, after, strict=True))
    if type(before) is not type(after):
        return "" if after is None and _name_place(before) in gone else name
    if isinstance(before, Template | Expression):
        return "" if (before.text, before.reads) == (after.text, after.reads) else name
    if isinstance(before, dict):
        return name if list(before) != list(after) else _first(_compare(one, after[key], gone, name) for key, one in before.items())
    if hasattr(before, "_frozen_fields"):
        compared = [one for one, field in before._frozen_fields.items() if field.compare]
        names = [one for one in compared if str(getattr(before, f"{one}_span", None)) not in gone]
        return _first(_compare(getattr(before, one), getattr(after, one), gone, f"{name}.{one}") for one in names)
    return "" if before == after else name


def _first(found: Iterable[str]) -> str:
    return next(filter(None, found), "")


def _name_place(value: Any) -> str:
    return str(getattr(value, "span", None) or getattr(getattr(value, "place", None), "span", None))
