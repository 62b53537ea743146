"""The costly work of the passes, done once for sections that come of the same parts of a state.

A `Memory` stands in for `CostlyWork` where many states are rendered. What it gives is what would be made anew, to the byte; and it takes as
many steps and bytes of the render's account as that did, so that no memory moves a limit. `TurnMemory` is the one of a session.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial

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
"""Entries of a generation of a memory. There are two: what was not asked for while a generation was filled goes."""

_MOST_MET = 16 * MOST_NOTED
"""Keys that a memory knows to have met once; then it forgets them all."""

_OF_ELEMENT = ("item", "this", "each", "group", "section")
"""Names that are known by the element, or the section."""

_PLAIN = frozenset((str, int, bool, type(None)))
_ABSENT = object()
"""A key that the state does not have, which templates tell from one that holds null."""


class Memory(CostlyWork):
    """The costly work of the passes, done once for what is met again: for a suite, whose states have any order.

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
            return selector.select(section, fences, self.open_items(selector, section))
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
        selected = selector.select(section, fences, self.open_items(selector, section))
        self.note(key, objects, (selected, left - run.left, memory - run.memory))
        return selected

    def open_items(self, selector: SectionSelector, section: Section) -> ItemMemo | None:
        """What is known of the elements of the section's list; None where nothing is kept of single ones."""
        return None

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


class TurnMemory(Memory):
    """The memory of a session, whose states follow each other: what a render came to is there for the next one, and lists whose elements
    are the same objects are looked at element by element.

    What a turn does not ask for is let go of at the end of the next: a memory holds what two renders hold.
    """

    def __init__(self) -> None:
        super().__init__()
        self._turn = 0

    def begin_turn(self) -> None:
        """A render follows."""
        self._turn += 1
        self._entries, self._older = {}, self._entries

    def choose_later(self) -> CostlyWork:
        """One that knows nothing: this one is with the next turn by then."""
        return CostlyWork()

    def note(self, key: Hashable, objects: Sequence[Any], result: Any) -> None:
        """Notes a result."""
        self._keep(key, (objects, result))

    def open_items(self, selector: SectionSelector, section: Section) -> ItemMemo | None:
        """By the section, the guard, and every value that is read of each element and is not the element's own."""
        items, bound = section.items, selector.bound
        if items is None or section.redact or section.id in bound.without:
            return None
        objects: list[Any] = [section, selector.guard]
        parts: list[Hashable] = [bound.total, bound.format, bound.provider.name if bound.provider is not None else None]
        for path in self.make_once(("item roots", id(section)), section, partial(_list_item_roots, pack=bound.pack)):
            _add_value(path, selector, parts, objects)
        key = ("items", id(section), id(selector.guard), selector.find_media_model(section), *parts)
        memo: ItemMemo | None = self.find(key)
        if memo is None:
            memo = ItemMemo()
            self.note(key, objects, memo)
        memo.begin(self._turn)
        return memo


def _list_roots(section: Section, pack: PackModel) -> tuple[tuple[str, ...], ...]:
    """What selecting it reads, no further down than the keys of the state."""
    return tuple(sorted({path[:2] if path[0] == "state" else path[:1] for path in list_reads(section, pack)}))


def _list_item_roots(section: Section, pack: PackModel) -> tuple[tuple[str, ...], ...]:
    """What is read of each element of its list beside the element, no further down than the keys of the state."""
    items = section.items
    assert items is not None
    paths = {path for program in (pack.visible, *_iter_item_programs(items)) if program is not None for path in program.reads}
    return tuple(sorted({path[:2] if path[0] == "state" else path[:1] for path in paths if path[0] not in _OF_ELEMENT}))


def _iter_item_programs(items: Items) -> Iterator[Expression | Template | None]:
    """All that is evaluated or rendered for single elements while they are read and rendered."""
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
