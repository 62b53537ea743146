"""What the cases of one process share, made once.

`SuiteResources` has packs, base states, stores, and digests of them. `Memory` has the costly work of the passes, done once for sections
that come of the same parts of a state; it stands in for `CostlyWork` where a suite renders. What it gives is what would be made anew, to
the byte; and it takes as many steps and bytes of the render's account as that did, so that no memory moves a limit.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from _blake2 import blake2b
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from promptc.api import Pack
from promptc.cache import Cache
from promptc.diag.findings import PromptcError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any, Self
from promptc.files.reading import read_file
from promptc.frontend.json import MAX_STATE_BYTES, InternedJson, JsonDocument
from promptc.golden.cases.case import MAX_PLAIN_BYTES, read_plain
from promptc.model.pack import PackModel, Plan, list_reads
from promptc.model.section import Items, Section
from promptc.model.stages import Bound, Selected, Selection
from promptc.model.state import State
from promptc.passes.layout.layout import Layout
from promptc.passes.layout.section import SectionLayout
from promptc.passes.select import CostlyWork, SectionSelector, is_settled
from promptc.template.compile import Expression
from promptc.text.guard import Guard

_MOST_STATES = 8
"""Parsed base states that are kept, the newest: cases of one folder mostly share one or two."""

_MOST_LONG = 256
"""Digests of long files that are kept, the newest."""

_LONG = 10_000
"""Bytes from which on a file is long: a shorter one is read again."""

_MOST_PACKS = 64
_MOST_MEMORIES = 4

_MOST_SHARED = 512
"""Values of states that are kept, defaults filled in, the newest."""

_SIZE = 16
"""Bytes of a digest."""

MOST_NOTED = 1024
"""Entries of a generation of a memory. There are two: what was not asked for while a generation was filled goes."""

_MOST_MET = 16 * MOST_NOTED
"""Keys that a memory knows to have met once; then it forgets them all."""

_PLAIN = frozenset((str, int, bool, type(None)))
_ABSENT = object()
"""A key that the state does not have, which templates tell from one that holds null."""


class SuiteResources:
    """To be used in a `with`, which gives back what was opened. Not for several threads.

    A file that changes while these are open may be seen as it was before.
    """

    def __init__(self, cache: Cache | None = None, tries: Sequence[tuple[str, str]] = ()) -> None:
        """With a cache, packs are taken from it and kept there, as `promptc render` does. `tries` are what is tried of each."""
        self._cache = cache
        self.tries = tries
        self._packs: dict[tuple[str, str], Pack | PromptcError] = {}
        self._states: dict[str, tuple[JsonDocument, bytes]] = {}
        self._parts = InternedJson()
        self._stores: dict[str, str] = {}
        self._memories: dict[tuple[str, str], Memory] = {}
        self._shared: dict[tuple[int, str, int], tuple[Pack, Any, Any]] = {}
        self._digests: dict[tuple[str, str], bytes | None] = {}
        self._indexes: dict[tuple[str, str], bytes | None] = {}
        """As they were before any render could read them."""
        self._inputs: dict[str, bytes] = {}
        self._trees: dict[str, bytes | None] = {}
        self._stack = contextlib.ExitStack()
        self._folder = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._packs.clear()

    def load_pack(self, root: str, path: str) -> Pack:
        """The pack at `path`, from the root, which is the working folder. Raises what loading it raises, each time."""
        found = self._packs.get((root, path))
        if found is None:
            found = self._packs[root, path] = self._load(path)
            self._indexes[root, path] = found.digest_indexes() if isinstance(found, Pack) else None
            if len(self._packs) > _MOST_PACKS:
                self._packs.pop(next(iter(self._packs)))
        if isinstance(found, PromptcError):
            raise found
        return found

    def load_memory(self, root: str, path: str) -> Memory:
        """What renders of the pack have selected so far."""
        memory = self._memories.get((root, path))
        if memory is None:
            if len(self._memories) >= _MOST_MEMORIES:
                self._memories.clear()
            memory = self._memories[root, path] = Memory()
        return memory

    def fill_state(self, pack: Pack, document: JsonDocument) -> State:
        """The state of a JSON text. What is the same object in two texts is the same in their states, defaults filled in: so what was made
        of it need not be made again. Raises `PromptcError` with every finding of the validation.
        """
        state = pack.load_document(document)
        shared = {name: self._share(pack, name, document.value.get(name), value) for name, value in state.value.items()}
        return replace(state, value=shared)

    def _share(self, pack: Pack, name: str, raw: Any, filled: Any) -> Any:
        """The value as an earlier state had it, if both are of one object of a text, and equal."""
        if not isinstance(filled, (dict, list)):
            return filled
        key = id(pack), name, id(raw)
        found = self._shared.get(key)
        if found is not None and found[2] == filled:
            return found[2]
        self._shared[key] = pack, raw, filled
        if len(self._shared) > _MOST_SHARED:
            del self._shared[next(iter(self._shared))]
        return filled

    def load_state(self, path: str, shown: str, span: Any) -> JsonDocument:
        """The JSON of a state file, which findings call `shown`; `span` is where the case names it."""
        found = self._states.get(path)
        if found is None:
            content = read_plain(path, shown, MAX_STATE_BYTES, span)
            found = self._states[path] = self._parts.load(content, shown), _digest(content)
            if len(self._states) > _MOST_STATES:
                self._states.pop(next(iter(self._states)))
        return found[0]

    def digest_pack(self, root: str, path: str) -> bytes | None:
        """A digest of all that decides what the pack makes of a state and of what its stores hold, its indexes among it; None where it or
        one of them cannot be read.
        """
        key = root, path
        if key not in self._digests:
            with work_in(root):
                try:
                    pack = self.load_pack(root, path)
                except PromptcError:
                    self._digests[key] = None
                else:
                    indexes = self._indexes[root, path]
                    self._digests[key] = _digest(digest_pack(pack) + indexes) if indexes is not None else None
        return self._digests[key]

    def asks_outside(self, root: str, path: str, stores: Collection[str]) -> bool:
        """Whether what the pack makes may depend on a store that is not among `stores`, or on an engine; so it is where it cannot be
        loaded.
        """
        found = self._packs.get((root, path))
        if isinstance(found, Pack):
            return found.asks_outside(stores)
        with work_in(root):
            try:
                return self.load_pack(root, path).asks_outside(stores)
            except PromptcError:
                return True

    def digest_input(self, path: str) -> bytes | None:
        """The digest of a file that several cases may be made of, as it was when it was read; None where it cannot be. Those of states that
        are kept and of long files are kept, the newest.
        """
        if path in self._states:
            return self._states[path][1]
        found = self._inputs.get(path)
        if found is None:
            content = _read(path)
            found = _digest(content) if content is not None else None
            if found is not None and content is not None and len(content) > _LONG:
                self._inputs[path] = found
                if len(self._inputs) > _MOST_LONG:
                    self._inputs.pop(next(iter(self._inputs)))
        return found

    def digest_golden(self, path: str) -> bytes | None:
        """The digest of a golden, which is read anew each time; None where it cannot be read."""
        content = _read(path)
        return _digest(content) if content is not None else None

    def digest_store(self, files: str) -> bytes | None:
        """The digest of a file or folder of segments (absolute), as it was before it was first imported; None where it cannot be taken."""
        if files not in self._trees:
            self._trees[files] = _digest_tree(files)
        return self._trees[files]

    def load_store(self, files: str) -> str:
        """The URL of an SQLite store with the segments of a file or folder (absolute), imported when first asked for. It is only read."""
        if files not in self._stores:
            self.digest_store(files)
            self._stores[files] = import_store(Path(files), Path(self.folder, f"{len(self._stores)}.db"))
        return self._stores[files]

    @property
    def folder(self) -> str:
        """A folder for what is made, which goes with these."""
        if not self._folder:
            self._folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="promptc-"))
        return self._folder

    def _load(self, path: str) -> Pack | PromptcError:
        try:
            return self._stack.enter_context(Pack.load(path, self._cache, keeps_counts=False, tries=self.tries))
        except PromptcError as error:
            return error


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_SIZE).digest()


def _read(path: str) -> bytes | None:
    try:
        return read_file(path, MAX_PLAIN_BYTES)
    except (OSError, ValueError):
        return None


def _digest_tree(path: str) -> bytes | None:
    """A digest of the names and contents of all files at or under `path`, hidden ones and folders too; None where one cannot be read, or
    there is a link or anything else but files and folders.
    """
    whole = blake2b(digest_size=_SIZE)
    try:
        for name in sorted(_list_names(path)) if os.path.isdir(path) else ("",):
            content = read_file(os.path.join(path, name) if name else path, MAX_PLAIN_BYTES)
            whole.update(b"%b\0%d\0" % (os.fsencode(name), len(content)))
            whole.update(content)
    except (OSError, ValueError):
        return None
    return whole.digest()


def _list_names(folder: str) -> list[str]:
    return [
        os.path.relpath(os.path.join(inner, name), folder)
        for inner, folders, names in os.walk(folder, onerror=_refuse)
        for name in (*names, *(one for one in folders if os.path.islink(os.path.join(inner, one))))
    ]


def _refuse(wrong: OSError) -> None:
    raise wrong


def digest_pack(pack: Pack) -> bytes:
    """A digest of every file of a pack and of its counter."""
    made = blake2b(repr((pack.counter.name, pack.counter.digest)).encode(), digest_size=_SIZE)
    for one in pack.inputs.files:
        made.update(b"%b\0%b\0%d\0" % (os.fsencode(one.folder), os.fsencode(one.path), len(one.content)))
        made.update(one.content)
    return made.digest()


def import_store(files: Path, database: Path) -> str:
    """The URL of the store `database`, made of the segments in `files`. Raises `PromptcError` with the findings of reading them."""
    from promptc.frontend.segments import load_segments
    from promptc.sources.address import read_address
    from promptc.sources.segment_store import SegmentStore

    url = f"sqlite:{database}"
    SegmentStore(read_address(url)).write(load_segments(files))
    return url


@contextlib.contextmanager
def work_in(folder: str) -> Iterator[None]:
    """In this working folder, if it is not the one already."""
    before = os.getcwd()
    if before == folder:
        yield
        return
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class Memory(CostlyWork):
    """The costly work of the passes, done once for what is met again.

    Results by what they were made of, from the second time on that they were: what is met once, as a turn's input, would only be in the
    way. A key may hold the `id` of an object: the entry keeps that object, so its `id` is no other's.

    For one thread, and for renders whose states share parts, as those of many cases do: nothing is found for objects that are merely equal.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[Sequence[Any], Any]] = {}
        self._older: dict[Hashable, tuple[Sequence[Any], Any]] = {}
        self._met: set[int] = set()

    def find(self, key: Hashable) -> Any:
        """What was noted under the key; None where nothing was, or it has gone."""
        entry = self._entries.get(key)
        if entry is None:
            entry = self._older.get(key)
            if entry is None:
                return None
            self._keep(key, entry)
        return entry[1]

    def make_once(self, key: Hashable, given: Any, make: Callable[[Any], Any]) -> Any:
        """What `make` gives of `given`, whose `id` the key holds; made anew only where that has gone."""
        found = self.find(key)
        if found is None:
            found = make(given)
            self._keep(key, ((given,), found))
        return found

    def note(self, key: Hashable, objects: Sequence[Any], result: Any) -> None:
        """Notes a result, if it is not the first under that key. `objects` are all whose `id` is in the key."""
        met = hash(key)
        if met in self._met:
            self._keep(key, (objects, result))
        elif len(self._met) < _MOST_MET:
            self._met.add(met)
        else:
            self._met = {met}

    def _keep(self, key: Hashable, entry: tuple[Sequence[Any], Any]) -> None:
        if len(self._entries) >= MOST_NOTED:
            self._entries, self._older = {}, self._entries
        self._entries[key] = entry

    # --- the work ---

    def render_fences(self, bound: Bound, plan: Plan, strain: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        """Those of the plan, where none reads more than its section."""
        key = ("fences", id(plan))
        found: dict[str, tuple[str, str]] | None = self.find(key)
        if found is None:
            found = super().render_fences(bound, plan, strain)
            if all(is_settled(section.fence) for section in plan.sections):
                self.note(key, (plan,), found)
        return found

    def load_guard(self, bound: Bound, plan: Plan, fences: Mapping[str, tuple[str, str]]) -> Guard:
        """The guard of an earlier render where it is the same: what that rendered is then guarded as well."""
        key = ("guard", id(plan), tuple(fences.items()), bound.format)
        guard: Guard | None = self.find(key)
        if guard is None:
            guard = super().load_guard(bound, plan, fences)
            self.note(key, (plan,), guard)
        return guard

    def select_section(self, selector: SectionSelector, section: Section, fences: tuple[str, str]) -> Selected:
        """By the section itself, the guard, and every value that its expressions read, plain ones by kind and value, others as objects.

        Done anew where it depends on more: on what other sections hold, on sources, on the total, as where items are trimmed to a share, on
        all of the state, as numbers of placeholders do.
        """
        if (
            section.id in selector.bound.without
            or not _is_of_state(section.items)
            or section.redact
            or selector.find_reach(section) is not None
        ):
            return super().select_section(selector, section, fences)
        objects: list[Any] = [section, selector.guard]
        parts: list[Hashable] = [fences]
        for path in self.make_once(("roots", id(section)), section, partial(_list_roots, pack=selector.bound.pack)):
            _add_value(path, selector, parts, objects)
        key = ("selected", id(section), id(selector.guard), selector.find_media_model(section), *parts)
        run, found = selector.bound.run, self.find(key)
        if found is not None:
            selected: Selected = found[0]
            run.pay(found[1], section.span, f"selecting `{section.id}`", found[2])
            return selected
        left, memory = run.left, run.memory
        selected = super().select_section(selector, section, fences)
        self.note(key, objects, (selected, left - run.left, memory - run.memory))
        return selected

    def count_demand(self, layout: Layout, selection: Selection, selected: Selected) -> int:
        """Where the same items were counted in the same layout."""
        if not selected.items:
            return 0
        objects = (selected.items, selection.plan, selection.bound.provider)
        key = ("demand", *map(id, objects), layout.format, selected.open, selected.close, selected.header)
        run, found = selection.bound.run, self.find(key)
        if found is None:
            left = run.left
            found = super().count_demand(layout, selection, selected), left - run.left
            self.note(key, objects, found)
        else:
            run.pay(found[1], selected.section.span, f"the demand of `{selected.section.id}`")
        demand: int = found[0]
        return demand

    def lay_section(self, selection: Selection, selected: Selected, part: int, layout: Layout) -> SectionLayout:
        """With what its pieces come to, where the same items stood in the same layout before."""
        objects: tuple[Any, ...] = (selected.section, selected.items, selected.groups, selection.plan, selection.bound.provider)
        key = ("laid", *map(id, objects), layout.format, selected.open, selected.close, selected.header)
        laid = self.find(key)
        fit = SectionLayout(selection, selected, part, layout, laid)
        if laid is None:
            self.note(key, objects, fit.describe())
        return fit


def _list_roots(section: Section, pack: PackModel) -> tuple[tuple[str, ...], ...]:
    """What selecting it reads, no further down than the keys of the state."""
    return tuple(sorted({path[:2] if path[0] == "state" else path[:1] for path in list_reads(section, pack)}))


def _is_of_state(items: Items | None) -> bool:
    """Whether items come of the state alone, whatever the total and the other sections are."""
    if items is None:
        return True
    trim = items.trim_each
    is_share = trim is not None and trim.to.unit == "share"
    return isinstance(items.source, Expression) and not is_share and not (items.dedupe is not None and items.dedupe.against)


def _add_value(path: tuple[str, ...], selector: SectionSelector, parts: list[Hashable], objects: list[Any]) -> None:
    """The value at a path, as far as it is told apart: a key of the state, a name, the tier, a count. Other names are the section's own."""
    root, names = path[0], selector.bound.names
    if root in names:
        value = names[root]
        if len(path) > 1 and isinstance(value, dict):
            value = value.get(path[1], _ABSENT)
        if root == "variant":
            parts.append(tuple(value.items()))
        elif type(value) in _PLAIN:
            parts.append((type(value), value))
        elif type(value) is float:
            parts.append(value.hex())  # 0.0 and -0.0 are equal, and print unlike
        else:
            parts.append(id(value))
            objects.append(value)
    elif root == "strain":
        parts.append(tuple(selector.strain.values()))
    elif root == "selected":
        parts.append(tuple(selector.counts.items()))
