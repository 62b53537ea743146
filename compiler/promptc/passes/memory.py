"""Memoizes the costly work of the passes for sections whose inputs are the same objects.

A `Memory` replaces `CostlyWork` when many states are rendered. Its results are identical to the byte to those made anew, and it charges the
render's account with as many steps and bytes as the original work took, so no memory moves a limit. `TurnMemory` is the memory of a
session.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.pack import PackModel, Plan, list_reads
from promptc.model.section import Items, Section
from promptc.model.stages import Bound, Selected, Selection
from promptc.passes.items.read import ItemMemo
from promptc.passes.layout.layout import Layout
from promptc.passes.layout.section import SectionLayout
from promptc.passes.select import CostlyWork, SectionSelector, is_settled
from promptc.template.compile import Expression, Template
from promptc.text.guard import Guard

MOST_NOTED = 1024
"""The most entries of one generation of a memory. It has two generations; entries that are not looked up while one fills are dropped."""

_MOST_MET = 16 * MOST_NOTED
"""The most keys that a memory remembers as seen once. When there are more, it forgets them all."""

_OF_ELEMENT = ("item", "this", "each", "group", "section")
"""Names whose values are determined by the element or the section."""

_PLAIN = frozenset((str, int, bool, type(None)))
_ABSENT = object()
"""Marks a key that the state does not have; templates distinguish it from a key whose value is null."""


class Memory(CostlyWork):
    """Memoizes costly work for a suite, whose states come in any order.

    A result is stored under its inputs the second time it is made: a result that is made only once, such as one of a turn's input, would
    only waste space. A key may contain the `id` of an object. The entry then keeps that object alive, so no other object can have its `id`.

    A memory is for one thread, and for renders whose states share parts, as the states of many cases do: it finds nothing for objects that
    are merely equal.
    """

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[Sequence[Any], Any]] = {}
        self._older: dict[Hashable, tuple[Sequence[Any], Any]] = {}
        self._met: set[int] = set()
        self._said: dict[Hashable, tuple[Any, ...]] = {}

    def find(self, key: Hashable) -> Any:
        """Return the result stored under a key, or None if there is none or it was dropped."""
        entry = self._entries.get(key)
        if entry is None:
            entry = self._older.get(key)
            if entry is None:
                return None
            self._keep(key, entry)
        return entry[1]

    def make_once(self, key: Hashable, given: Any, make: Callable[[Any], Any]) -> Any:
        """Return `make(given)`, memoized under a key that contains the `id` of `given`."""
        found = self.find(key)
        if found is None:
            found = make(given)
            self._keep(key, ((given,), found))
        return found

    def note(self, key: Hashable, objects: Sequence[Any], result: Any) -> None:
        """Store a result unless this is the first time the key is seen. `objects` are all objects whose `id` is in the key."""
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
        """Return the fences of all sections, memoized by plan if no fence reads more than its section."""
        key = ("fences", id(plan))
        found: dict[str, tuple[str, str]] | None = self.find(key)
        if found is None:
            found = super().render_fences(bound, plan, strain)
            if all(is_settled(section.fence) for section in plan.sections):
                self.note(key, (plan,), found)
        return found

    def load_guard(self, bound: Bound, plan: Plan, fences: Mapping[str, tuple[str, str]]) -> Guard:
        """Return the guard, memoized by plan, fences and format.

        Results that depend on the guard can be reused only if they see the same guard object.
        """
        key = ("guard", id(plan), tuple(fences.items()), bound.format)
        guard: Guard | None = self.find(key)
        if guard is None:
            guard = super().load_guard(bound, plan, fences)
            self.note(key, (plan,), guard)
        return guard

    def select_section(self, selector: SectionSelector, section: Section, fences: tuple[str, str]) -> Selected:
        """Return the selected section, memoized by what it says, the guard, the counter, and every value that its expressions read.

        Plain values are compared by type and value, all others by identity. Budgets and steps decide how far a list is read. The section is
        selected anew if it depends on more than that: on the content of other sections, on sources, on the total (for example if items are
        trimmed to a share), or on the whole state (as the numbers of placeholders do).
        """
        bound = selector.bound
        if section.id in bound.without or not _is_of_state(section.items) or section.redact:
            return selector.select(section, fences, self.open_items(selector, section))
        said, reach = self._identify(section, bound.pack), selector.find_reach(section)
        objects: list[Any] = [said, selector.guard, bound.meter.counter]
        parts: list[Hashable] = [fences, reach.limits if reach is not None else None]
        for path in self.make_once(("roots", id(said)), said, lambda _: _list_roots(list_reads(section, bound.pack))):
            _add_value(path, selector, parts, objects)
        key = ("selected", *map(id, objects[:3]), selector.find_media_model(section), *parts)
        run, found = bound.run, self.find(key)
        if found is not None:
            selected: Selected = found[0]
            run.pay(found[1], section.span, f"selecting `{section.id}`", found[2])
            return selected if selected.section is section else replace(selected, section=section)
        left, memory = run.left, run.memory
        selected = selector.select(section, fences, self.open_items(selector, section))
        self.note(key, objects, (selected, left - run.left, memory - run.memory))
        return selected

    def open_items(self, selector: SectionSelector, section: Section) -> ItemMemo | None:
        """Return the memo of the elements of the section's list, or None if single elements are not memoized."""
        return None

    def count_demand(self, layout: Layout, selection: Selection, selected: Selected) -> int:
        """Return a section's demand in units, memoized by its items and layout."""
        if not selected.items:
            return 0
        key = ("demand", id(selected.items), layout.describe_own(selected.section))
        run, found = selection.bound.run, self.find(key)
        if found is None:
            left = run.left
            found = super().count_demand(layout, selection, selected), left - run.left
            self.note(key, (selected.items,), found)
        else:
            run.pay(found[1], selected.section.span, f"the demand of `{selected.section.id}`")
        demand: int = found[0]
        return demand

    def lay_section(self, selection: Selection, selected: Selected, part: int, layout: Layout) -> SectionLayout:
        """Lay out a section, with the known counts of its pieces if the same items were laid out the same way before."""
        key = ("laid", id(selected.items), layout.describe_own(selected.section))
        laid = self.find(key)
        fit = SectionLayout(selection, selected, part, layout, laid)
        if laid is None:
            self.note(key, (selected.items,), fit.describe())
        return fit

    def _identify(self, one: Section | Items, pack: PackModel) -> tuple[Any, ...]:
        """Return an object that stands for all that a section, or its items, says of what it selects, whatever its budget and its steps.

        Two that say the same share the object, even if they belong to different editions of a pack.
        """
        found: tuple[Any, ...] = self.make_once(("said", id(one), id(pack.visible)), one, partial(self._load_alike, visible=pack.visible))
        return found

    def _load_alike(self, one: Section | Items, visible: Expression | None) -> tuple[Any, ...]:
        # Equal templates may include different files, and equal expressions may use other definitions: only the same objects do the same.
        told = replace(one, budget=None, overflow=()) if isinstance(one, Section) else one
        programs = (visible, *_iter_programs(told))
        if len(self._said) >= MOST_NOTED:
            self._said = {}
        return self._said.setdefault((told, *map(id, programs)), programs)


class TurnMemory(Memory):
    """Memoizes costly work for a session, whose states follow each other.

    The results of a render are available to the next one, and lists whose elements are the same objects are checked element by element. An
    entry that a turn does not use is dropped when the next turn begins, so a memory contains the results of at most two renders.
    """

    def __init__(self) -> None:
        super().__init__()
        self._turn = 0

    def begin_turn(self) -> None:
        """Begin a turn: a render follows."""
        self._turn += 1
        self._entries, self._older = {}, self._entries

    def choose_later(self) -> CostlyWork:
        """Return a work that remembers nothing: by then, this memory belongs to the next turn."""
        return CostlyWork()

    def note(self, key: Hashable, objects: Sequence[Any], result: Any) -> None:
        """Store a result."""
        self._keep(key, (objects, result))

    def open_items(self, selector: SectionSelector, section: Section) -> ItemMemo | None:
        """Return the memo of the section's elements, or None if the section has no items, is redacted or is left out.

        It is found by what the section says of its items, the guard, the counter, and every value that is read for each element except the
        element's own. So it outlives another edition of the pack that says the same of these items.
        """
        items, bound = section.items, selector.bound
        if items is None or section.redact or section.id in bound.without:
            return None
        said = self._identify(items, bound.pack)
        objects: list[Any] = [said, selector.guard, bound.meter.counter]
        parts: list[Hashable] = [section.id, section.title, section.role, bound.total, bound.format]
        parts.append(bound.provider.name if bound.provider is not None else None)
        for path in self.make_once(("item roots", id(said)), said, lambda _: _list_item_roots(items, bound.pack)):
            _add_value(path, selector, parts, objects)
        key = ("items", *map(id, objects[:3]), selector.find_media_model(section), *parts)
        memo: ItemMemo | None = self.find(key)
        if memo is None:
            memo = ItemMemo()
            self.note(key, objects, memo)
        memo.begin(self._turn)
        return memo


def _list_roots(paths: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return what these paths read, no deeper than the keys of the state."""
    return tuple(sorted({path[:2] if path[0] == "state" else path[:1] for path in paths}))


def _iter_programs(told: Any) -> Iterator[Expression | Template]:
    """Yield every expression and template in a value, at any depth."""
    if isinstance(told, Expression | Template):
        yield told
        return
    inner = told if isinstance(told, tuple) else [getattr(told, name) for name in getattr(told, "__match_args__", ())]
    for one in inner:
        yield from _iter_programs(one)


def _iter_item_programs(items: Items) -> Iterator[Expression | Template | None]:
    """Yield everything that is evaluated or rendered for single elements while they are read and rendered."""
    yield from (items.where, items.number, items.id, *items.forms)
    yield from (one.where for one in (*items.keep, *([items.anchors] if items.anchors is not None else ())))
    if items.fence is not None:
        yield from (items.fence.open, items.fence.close)
    if items.trim_each is not None:
        yield items.trim_each.marker
    if items.message is not None:
        message = items.message
        yield from (message.role, message.content, message.name, message.media.tokens if message.media is not None else None)
        yield from (one for _, one in message.written)


def _list_item_roots(items: Items, pack: PackModel) -> tuple[tuple[str, ...], ...]:
    """Return what is read for each element besides the element itself, no deeper than the keys of the state."""
    programs = (pack.visible, *_iter_item_programs(items))
    return _list_roots(path for one in programs if one is not None for path in one.reads if path[0] not in _OF_ELEMENT)


def _is_of_state(items: Items | None) -> bool:
    """Return whether items depend on the state alone, whatever the total and the other sections are."""
    if items is None:
        return True
    trim = items.trim_each
    is_share = trim is not None and trim.to.unit == "share"
    return isinstance(items.source, Expression) and not is_share and not (items.dedupe is not None and items.dedupe.against)


def _add_value(path: tuple[str, ...], selector: SectionSelector, parts: list[Hashable], objects: list[Any]) -> None:
    """Append the value at a path to a key, as far as the key distinguishes it, and its object to `objects`.

    The path leads to a key of the state, a name, the strain, or a count. All other names are the section's own.
    """
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
            parts.append(value.hex())  # 0.0 and -0.0 are equal but print differently
        else:
            parts.append(id(value))
            objects.append(value)
    elif root == "strain":
        parts.append(tuple(selector.strain.values()))
    elif root == "selected":
        parts.append(tuple(selector.counts.items()))
