"""The notches of each step (contract.md §5): an `iter_...` function for each kind yields them lazily, in the order they are applied.

A step goes through entries by predicate classes (`order`) or by a value (`by`), oldest first within a class (`iter_classes`). If neither is
declared, entries held only by `freeze` go first. `StepScope` has the names that the step's expressions see.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter

from promptc.diag.findings import fail, show_value
from promptc.diag.typed import Any, Literal
from promptc.model.section import Evict, Lower, Ranked, Recap, Replace, Section, Shorten, Trim, has_each
from promptc.model.stages import Item, Selection
from promptc.passes.bind import list_names
from promptc.passes.items.arrange import has_call, leave_out_call, list_calls
from promptc.passes.items.render import Cuts, Most, fits_size, strip_lines
from promptc.passes.layout.section import Act, Entry, EntryEdit, SectionLayout, Slide
from promptc.template.compile import Expression, Template
from promptc.template.runtime.run import price_count
from promptc.text.counters.counter import Meter
from promptc.text.cutting import list_boundaries
from promptc.text.guard import Guard

_Level = int | float
_Move = tuple[str, _Level, _Level | None]
_MEASURED = (("this", "tokens"), ("this",))
Block = Sequence[Entry]
Site = tuple[SectionLayout, "StepScope"]
"""A section that a step works on, with the names that its expressions see there."""

_Round = tuple[Site, str, Sequence[Block], bool]
"""A site, the reason, the blocks to remove, and whether a block that cannot be removed stops those after it."""


def iter_evictions(step: Evict, sites: Sequence[Site], guard: Guard) -> Iterator[tuple[SectionLayout, Act]]:
    """Yield the notches of the step, each with the section that it works on.

    If a block cannot be removed whole because too little would stay, no later block of its class is removed before it. At the end such
    blocks go entry by entry: the newest items, whose block is not full yet, must not go while older ones stay.
    """
    is_group = step.whole == "group"
    for (fit, scope), why, blocks, stops in _list_rounds(step, sites, is_group):
        marker = partial(_render_marker, step.marker, scope, guard) if step.marker is not None else None
        for block in blocks:
            going = [entry for entry in block if entry.is_alive and not _is_free(entry)]
            if going and _leaves(fit, going, step.floor, is_group):
                if step.whole == "call" and not stops:
                    yield from ((fit, act) for act in _iter_calls(step, fit, going, why, marker))
                    going = [entry for entry in going if entry.is_alive]
                yield fit, Act(why, going, marker, is_below=step.marker_at == "below")
            if going and stops and going[0].is_alive:
                break


def _iter_calls(step: Evict, fit: SectionLayout, block: Sequence[Entry], why: str, marker: Callable[[int], str] | None) -> Iterator[Act]:
    """Yield the removal of each tool call of a block with its result, except the last one, which goes with all that is left.

    Yields nothing if the window protects the block.
    """
    if fit.count_windowed(block) < fit.least_windowed:
        return
    meter = fit.layout.meter
    for id in list_calls([entry.item for entry in block])[:-1]:
        left = {entry: leave_out_call(entry.item, id, meter) for entry in block if entry.is_alive and has_call(entry.item, id)}
        gone = [entry for entry, item in left.items() if item is None]
        edits = [EntryEdit(entry, item=item) for entry, item in left.items() if item is not None]
        label = f"{why}; of its message the tool call {show_value(id)} alone"
        yield Act(label, gone, marker if gone else None, edits, is_below=step.marker_at == "below", call=id)


def _is_free(entry: Entry) -> bool:
    """Return whether the entry is a tool that takes no room until a search finds it: removing it would gain nothing."""
    return entry.item.tool is not None and not entry.text


def _render_marker(marker: Template, scope: StepScope, guard: Guard, removed: int) -> str:
    text = marker.render({**scope.names, "removed": removed})
    return guard.guard(" ".join(text.split()))[0]


def _list_rounds(step: Evict, sites: Sequence[Site], is_group: bool) -> list[_Round]:
    """Return the rounds of removals: the classes, items made by a recap, and then the rest of the blocks of `step`.

    The sections of a class follow each other in the order of `sites`.
    """
    wholes: list[tuple[float, _Round]] = []
    made: list[_Round] = []
    parts: list[tuple[float, _Round]] = []
    for site in sites:
        fit, scope = site
        blocks, recaps = _list_blocks(fit, is_group)
        ordinal = {id(block[0]): place for place, block in enumerate(blocks)} if is_group else None
        for rank, why, ranked in rank_classes(step, blocks, scope):
            if step.step == 1:
                wholes.append((rank, (site, why, ranked, False)))
                continue
            if fit.section.is_frozen:  # items removed in earlier turns are no longer requested, so blocks begin at what is left
                ordinal = {id(block[0]): place for place, block in enumerate(ranked)}
            bundles = _bundle(ranked, step.step, ordinal)
            wholes.append((rank, (site, why, [list(chain(*bundle)) for bundle in bundles], True)))
            parts.append((rank, (site, f"{why}; one by one, no whole block is left", list(chain(*bundles)), False)))
        made.append((site, "a recap, after all others", [[entry] for entry in recaps], False))
    if len(sites) > 1:  # the classes of a single section are already in order
        wholes.sort(key=itemgetter(0))
        parts.sort(key=itemgetter(0))
    return [*(one for _, one in wholes), *made, *(one for _, one in parts)]


def _list_blocks(fit: SectionLayout, is_group: bool) -> tuple[list[list[Entry]], list[Entry]]:
    standing = [entry for entry in fit.alive if not entry.is_made]
    made = [entry for entry in fit.alive if entry.is_made]
    blocks = sort_by_age(make_blocks(standing, lambda entry: entry.run if is_group else entry.item.unit), fit)
    return [block for block in blocks if not any(entry.item.kept for entry in block)], made


def _bundle(ranked: Sequence[Block], step: int, ordinal: dict[int, int] | None) -> list[list[Block]]:
    """Group blocks that are removed together: their numbers (ordinals, for groups) fall in the same multiple of `step`."""
    bundles: dict[int, list[Block]] = {}
    for block in ranked:
        first = block[0]
        number = first.item.number if ordinal is None else ordinal[id(first)]
        bundles.setdefault(number // step, []).append(block)
    return list(bundles.values())


def _leaves(fit: SectionLayout, going: Sequence[Entry], floor: int, is_group: bool) -> bool:
    """Return whether enough items (or groups) stay without `going`; a message and its tool's result are one block but two items."""
    if not floor:
        return True
    if is_group:
        return fit.count_runs() - len({entry.run for entry in going}) >= floor
    return fit.count_alive() - len(going) >= floor


def iter_lowerings(step: Lower, fit: SectionLayout, scope: StepScope) -> Iterator[Act]:
    """Yield the notches of the step, greatest level first.

    Items at levels up to `floor` stay. Kept items stay, and a tool's use stays with its result.
    """
    levels: dict[Entry, _Level] = {}
    fixed: set[Entry] = set()
    for unit in make_blocks([entry for entry in fit.alive if not entry.is_made], lambda entry: entry.item.unit):
        levels.update(dict.fromkeys(unit, read_rank(step.by, scope.evaluate(step.by, unit[0]))))
        if any(entry.item.kept for entry in unit):
            fixed.update(unit)
    by_level: dict[_Level, list[Entry]] = {}
    by_run: dict[int, list[Entry]] = {}
    for entry, level in levels.items():
        by_level.setdefault(level, []).append(entry)
        by_run.setdefault(entry.run, []).append(entry)
    whole = _Slope(list(levels), levels)
    runs = {run: _Slope(entries, levels) for run, entries in by_run.items()}
    for level in sorted((level for level in by_level if level > step.floor), reverse=True):
        going = {entry: None for entry in by_level[level] if entry.is_alive and entry not in fixed and not _is_free(entry)}
        if going:
            why = f"{step.by.text.strip()} = {level}, greatest level first"
            moves = tuple(_iter_moves(going, runs))
            yield Act(why, tuple(going), level=(level, whole.find_top(going)), moves=moves)


def _iter_moves(going: Collection[Entry], runs: Mapping[int, _Slope]) -> Iterator[_Move]:
    """Yield (group, level before, level after) for every group that loses items; the level after is None if the group has no other item."""
    for run, key in {entry.run: entry.item.key for entry in going}.items():
        before = runs[run].find_top()
        if before is not None:
            yield "" if key is None else str(key), before, runs[run].find_top(going)


class _Slope:
    """Entries in descending order of level. Removed entries are dropped from the top once, so all notches together cost one pass."""

    def __init__(self, entries: Sequence[Entry], levels: Mapping[Entry, _Level]) -> None:
        self._levels = levels
        self._entries = deque(sorted(entries, key=levels.__getitem__, reverse=True))

    def find_top(self, without: Collection[Entry] = ()) -> _Level | None:
        """Return the greatest level of an entry that is alive and not in `without`, or None if there is none."""
        while self._entries and not self._entries[0].is_alive:
            self._entries.popleft()
        standing = (entry for entry in self._entries if entry.is_alive and entry not in without)
        return next((self._levels[entry] for entry in standing), None)


def iter_recaps(step: Recap, fit: SectionLayout, scope: StepScope, guard: Guard) -> Iterator[Act]:
    """Yield at most one notch: the oldest floor(n x older) of the n items that pass `where`. A tool's use and its result count as one."""
    where = step.where
    passing = [unit for unit in list_units(fit) if where is None or (not unit[0].is_made and scope.evaluate(where, unit[0]))]
    share = int(len(passing) * step.older)
    if share:
        yield _act_recap("recap", passing[:share], step.template, fit, scope, guard, f"the oldest {share} of {len(passing)}")


def iter_replacements(step: Replace, fit: SectionLayout, scope: StepScope, guard: Guard) -> Iterator[Act]:
    """Yield at most one notch: the replacement of everything that is not kept."""
    passing = list_units(fit)
    if passing:
        yield _act_recap("replace", passing, step.template, fit, scope, guard, "the whole content")


def _act_recap(
    id: Literal["recap", "replace"],
    units: Sequence[Sequence[Entry]],
    template: Template,
    fit: SectionLayout,
    scope: StepScope,
    guard: Guard,
    why: str,
) -> Act:
    entries = [entry for unit in units for entry in unit]
    values = [entry.item.value for entry in entries]
    text = "\n".join(entry.item.raw for entry in entries)
    fit.pay(price_count(text))
    raw = strip_lines(template.render({**scope.names, "items": values, "text": text}))
    made = None
    fit.pay(price_count(raw))
    if raw:
        guarded, found = guard.guard(raw)
        first = entries[0].item
        role = fit.section.role
        made = Item(id, first.number, None, raw, guarded, windowed=False, key=first.key, unit=-len(fit.entries), role=role, found=found)
    return Act(why, entries, made=made, voidable=True)


def iter_shortenings(step: Shorten, fit: SectionLayout, scope: StepScope, render_form: Callable[[Item, int], Item | None]) -> Iterator[Act]:
    """Yield the notches of the step. Trimmed entries are skipped; a form that does not lower the count is void."""
    items = fit.section.items
    forms = len(items.forms) if items is not None else 0
    blocks = [[entry] for entry in fit.alive if not entry.item.kept and not entry.is_made and entry.kept is None]
    classes = list(iter_classes(step, sort_by_age(blocks, fit), scope))
    for why, ranked in classes:
        for form in range(1, forms):
            for block in ranked:
                entry = block[0]
                if not entry.is_alive or entry.kept is not None or entry.form >= form:
                    continue
                item = render_form(entry.item, form)
                label = f"form {form + 1} of {forms}; {why}"
                if item is None:
                    yield Act(label, (entry,), voidable=True)
                else:
                    yield Act(label, edits=(EntryEdit(entry, item=item, form=form),), voidable=True)


def iter_trims(step: Trim, fit: SectionLayout, scope: StepScope, guard: Guard, total: int) -> Iterator[Act]:
    """Yield the notches of the step: with `to` one for each text, else every boundary down to `floor`, all of one text in one `Slide`.

    An entry that was trimmed before is cut from its whole text again, to a shorter length. Messages of parts are passed over; this is
    reported unless `order` declares what is trimmed.
    """
    marker = step.marker.render(scope.names).rstrip("\r\n") if step.marker is not None else ""
    marker = marker.lstrip("\r\n") if step.side == "start" else marker  # an item has no leading empty lines
    blocks = [[entry] for entry in fit.alive if not entry.item.kept and entry.item.content is None]
    made = [block for block in blocks if block[0].is_made]
    ordinary = sort_by_age([block for block in blocks if not block[0].is_made], fit)
    classes: list[tuple[str, list[Block]]] = [*iter_classes(step, ordinary, scope), ("a recap, after all others", list(made))]
    for why, ranked in classes:
        for block in ranked:
            yield from _iter_entry(step, fit, block[0], why, marker, guard, total)
    passed_over = [entry for entry in fit.alive if entry.item.content is not None and not entry.item.kept and not step.order]
    if step.to is not None:
        passed_over = [entry for entry in passed_over if not fits_size(entry.text, step.to, fit.layout.meter, total)]
    if passed_over:
        yield Act("", passed_over=passed_over)


def _iter_entry(step: Trim, fit: SectionLayout, entry: Entry, why: str, marker: str, guard: Guard, total: int) -> Iterator[Act]:
    meter = fit.layout.meter
    if not entry.is_alive or (step.to is not None and fits_size(entry.text, step.to, meter, total)):
        return
    cuts = Cuts(
        entry.item.raw,
        boundaries=list_boundaries(step.at, step.finest),
        side=step.side,
        marker=marker,
        guard=guard,
        meter=meter,
        pay=fit.pay,
    )
    if step.to is not None:
        cut = cuts.find(Most(step.to.unit, step.to.tokens(total)), entry.kept)
        if cut is not None and (entry.kept is None or cut.kept < entry.kept):
            yield Act(_describe_cut(step, why, cut.boundary), edits=(EntryEdit(entry, cut=cut),), boundary=cut.boundary)
        return
    floor = Most(step.floor.unit, step.floor.tokens(total)) if step.floor is not None else None
    slide = Slide(entry, cuts, floor, partial(_describe_cut, step, why))
    while entry.is_alive and not slide.is_spent:
        yield Act("", slide=slide)


def _describe_cut(step: Trim, why: str, boundary: str) -> str:
    place = f"cut at a {boundary}"
    if boundary != step.at[0]:
        place += f" (no {step.at[0]} ends in reach)"
    return f"{place}; {why}"


def list_units(fit: SectionLayout) -> list[list[Entry]]:
    """Return the entries that are alive, oldest first: one by one, but a tool's use together with its result.

    A unit with a kept entry is left out.
    """
    blocks = sort_by_age(make_blocks(list(fit.alive), lambda entry: entry.item.unit), fit)
    return [block for block in blocks if not any(entry.item.kept for entry in block)]


def sort_by_age(blocks: Sequence[list[Entry]], fit: SectionLayout) -> list[list[Entry]]:
    """Return blocks by age: by the place of their first entry in the source, which differs from the section's order if it sorts or groups.

    With `freeze`, blocks are as old as their place in the section. Tools and lists without an order in time have no age: the last of them
    goes first.
    """
    items = fit.section.items
    if fit.section.is_ageless:
        return list(reversed(blocks))
    if items is None or items.freeze is not None or not (items.sort or items.group):
        return list(blocks)
    return sorted(blocks, key=lambda block: block[0].item.unit)


def make_blocks(entries: Sequence[Entry], key: Callable[[Entry], Any]) -> list[list[Entry]]:
    """Group entries of equal key into blocks, each at the place of its first entry."""
    blocks: dict[Any, list[Entry]] = {}
    for entry in entries:
        blocks.setdefault(key(entry), []).append(entry)
    return list(blocks.values())


def iter_classes(step: Ranked, blocks: Sequence[Block], scope: StepScope) -> Iterator[tuple[str, list[Block]]]:
    """Return (reason, blocks) for each class, with the blocks of a class in the order given.

    A block is judged by its first entry. A block that no class matches is left out.
    """
    return ((why, ranked) for _, why, ranked in rank_classes(step, blocks, scope))


def rank_classes(step: Ranked, blocks: Sequence[Block], scope: StepScope) -> Iterator[tuple[float, str, list[Block]]]:
    """Yield the classes of `iter_classes`, each with a rank that is comparable between sections: the smallest goes first."""
    if step.order:
        yield from _iter_matching(step.order, blocks, scope)
    elif step.by is not None:
        yield from _iter_smallest(step.by, blocks, scope)
    else:
        held = [block for block in blocks if block[0].item.held and scope.is_ageless]
        if held:
            yield 0, f"held by `freeze`, {scope.first}", held
        rest = [block for block in blocks if not (block[0].item.held and scope.is_ageless)]
        if rest or not held:
            yield 1, scope.first, rest


def _iter_matching(order: Sequence[Expression], blocks: Sequence[Block], scope: StepScope) -> Iterator[tuple[float, str, list[Block]]]:
    left = list(blocks)
    for rank, predicate in enumerate(order):
        matching: list[Block] = []
        other: list[Block] = []
        for block in left:
            (matching if scope.evaluate(predicate, block[0]) else other).append(block)
        left = other
        if matching:
            yield rank, _describe(predicate, scope.first), matching


def _describe(predicate: Expression, first: str) -> str:
    return first if predicate.text.strip() in ("true", "True") else f"{predicate.text.strip()}, {first}"


def _iter_smallest(by: Expression, blocks: Sequence[Block], scope: StepScope) -> Iterator[tuple[float, str, list[Block]]]:
    ranked: dict[Any, list[Block]] = {}
    for block in blocks:
        ranked.setdefault(read_rank(by, scope.evaluate(by, block[0])), []).append(block)
    for value in sorted(ranked):
        yield value, f"{by.text.strip()} = {value}, smallest first", ranked[value]


def read_rank(by: Expression, value: Any) -> int | float:
    """Return the number that a step's `by` orders entries by. Raises PC0520 if the value is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fail(
            "PC0520",
            f"`by: {by.text.strip()}` returns {show_value(value)}, not a number",
            by.span,
            help="give every item a number, for example with `| default(0)`",
        )
    return value


class StepScope:
    """The names that a step's expressions see, bound entry by entry.

    `names` are the names without an entry; `first` says which of equal entries goes first.
    """

    def __init__(self, section: Section, names: Mapping[str, Any], meter: Meter, pay: Callable[[int], None]) -> None:
        """Create a scope; `pay` is called with the steps that counting an entry costs."""
        self.names = names
        self.first = "last first" if section.is_ageless else "oldest first"
        self.is_ageless = section.is_ageless
        self._meter = meter
        self._pay = pay
        self._bound = dict(names)
        self._has_each = section.items is not None and has_each(section.items.source)

    def evaluate(self, expression: Expression, entry: Entry) -> Any:
        """Return the value of the expression for an entry."""
        is_measured = any(path in expression.reads for path in _MEASURED)
        return expression.evaluate(self.bind(entry, is_measured=is_measured))

    def bind(self, entry: Entry, *, is_measured: bool = True) -> Mapping[str, Any]:
        """Return the names at an entry, valid until the next entry is bound.

        `this.chars` and `this.form` describe the entry's current text. So does `this.tokens`, which is present only if `is_measured`,
        because counting is charged.
        """
        item = entry.item
        this = {
            "id": item.id,
            "number": item.number,
            "anchor": item.anchor,
            "kept": item.kept,
            "held": bool(item.held),
            "chars": len(entry.text),
            "form": entry.form,
        }
        if is_measured:
            self._pay(price_count(entry.text))
            this["tokens"] = self._meter.tokens(self._meter.count(entry.text) + item.beyond)
        self._bound["item"] = item.value
        if self._has_each:
            self._bound["each"] = item.element
        self._bound["this"] = this
        self._bound["group"] = item.key
        return self._bound


def list_step_names(selection: Selection, section: Section, item: Item) -> Mapping[str, Any]:
    """Return the names that the steps of a section see at one of its items, as the item was selected."""
    bound = selection.bound
    pay = partial(bound.run.pay, span=section.span, what=f"the ladder of `{section.id}`")
    return StepScope(section, list_names(selection, section), bound.meter, pay).bind(Entry(item, 0))
