"""Every expression and template of a plan, with what it may read (language.md §3, Names)."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.check.takes import ANYTHING, CONTENT, COUNT, DRAWN, KEY, LIST, LOCALE, NUMBER, PLACE, REF, SORTED, TEXT_OR_NONE, Takes, one_of
from promptc.diag.frozen import field, frozen
from promptc.model.pack import Assign, Band, Let, PackModel, Plan, list_steps
from promptc.model.section import (
    Evict,
    Fence,
    Items,
    Lower,
    Ranked,
    Recap,
    Replace,
    Retrieve,
    Section,
    Segments,
    Step,
    Trim,
    has_each,
    iter_expressions,
)
from promptc.model.sources import StateIndex, Store
from promptc.template.compile import Expression, Template
from promptc.template.types.types import Type

Names = Mapping[str, frozenset[str] | None]
"""The names that may be read; for each its parts, or None where the state or an expression decides them."""

_SECTION = frozenset({"id", "title", "role"})
_STRAIN = frozenset({"tier", "index", "percent"})
_READ = frozenset({"number", "anchor", "kept"})
_ITEM = _READ | {"id"}
_STEP = _ITEM | {"tokens", "chars", "form"}


@frozen(eq=False)
class UsedText:
    """An expression or template as it is used: what the author calls it, the names it sees, and the section it belongs to.

    `kinds` are those of names that no schema of the state tells of, `holds` a condition under which alone it is evaluated. `takes`: what
    the key takes of an expression.
    """

    what: str
    code: Expression | Template
    names: Names
    section: Section | None = None
    kinds: Mapping[str, Type] = field(default_factory=dict)
    holds: Expression | None = None
    takes: Takes = ANYTHING


def iter_texts(pack: PackModel, plan: Plan, tiers: int) -> Iterator[UsedText]:
    """All texts that a render of `plan`, with so many tiers in force, may evaluate; those of the pack as a whole first."""
    yield from _iter_pack(pack)
    names = _list_bound(pack)
    steps = list_steps(pack.strain.tiers[:tiers])[0] if pack.strain is not None else ()
    earlier: list[str] = []
    for section in plan.sections:
        seen = {**names, "strain": _STRAIN, "selected": frozenset(earlier), "section": _SECTION}
        yield from _iter_section(section, seen, pack.stores)
        for step in (*section.overflow, *(one for one in (*plan.truncate, *steps) if one.section == section.id)):
            yield from _iter_step(step, section, seen)
        earlier.append(section.id)


def _list_bound(pack: PackModel) -> dict[str, frozenset[str] | None]:
    names: dict[str, frozenset[str] | None] = {"state": None, **dict.fromkeys(pack.given), **dict.fromkeys(let.name for let in pack.lets)}
    return {**names, "variant": frozenset(axis.name for axis in pack.axes)}


def _iter_pack(pack: PackModel) -> Iterator[UsedText]:
    names: dict[str, frozenset[str] | None] = {"state": None, **dict.fromkeys(pack.given)}
    for one in pack.asserts:
        yield UsedText("`that` of an assert", one.that, names)
        yield UsedText("`else` of an assert", one.otherwise, names)
    for let in pack.lets:
        yield _make_let(let, dict(names))
        names[let.name] = None
    for place, axis in enumerate(pack.axes):
        earlier = frozenset(other.name for other in pack.axes[:place])
        takes = ANYTHING if axis.default is not None else one_of(axis.cases, f"`default: {axis.cases[0]}`, for all that name no case")
        yield UsedText(f"`select` of `{axis.name}`", axis.select, {**names, "variant": earlier}, takes=takes)
    yield from _iter_strain(pack)
    yield from _iter_indexes(pack)


def _make_let(let: Let, names: Names) -> UsedText:
    if isinstance(let.value, Band):
        return UsedText(f"`let.{let.name}.band`", let.value.value, names, takes=NUMBER)
    if isinstance(let.value, Assign):
        return UsedText(f"`let.{let.name}.assign`", let.value.value, names, takes=DRAWN)
    return UsedText(f"`let.{let.name}`", let.value, names)


def _iter_strain(pack: PackModel) -> Iterator[UsedText]:
    if pack.strain is None:
        return
    names = _list_bound(pack)
    if pack.strain.previous is not None:
        takes = one_of([tier.name for tier in pack.strain.tiers], "the tier of the last render, or `none` before the first", none=True)
        yield UsedText("`strain.previous`", pack.strain.previous, names, takes=takes)
    for name, template in pack.strain.watch:
        yield UsedText(f"`strain.watch.{name}`", template, {**names, "before": None, "after": None})


def _iter_indexes(pack: PackModel) -> Iterator[UsedText]:
    """Of indexes over lists in the state."""
    names = _list_bound(pack)
    for index in pack.indexes:
        if isinstance(index, StateIndex):
            what = f"of the index `{index.name}`"
            yield UsedText(f"`from` {what}", index.source, names, takes=LIST)
            if index.id is not None:
                yield UsedText(f"`id` {what}", index.id, {**names, "item": None}, takes=KEY)
            yield UsedText(f"the text {what}", index.text, {**names, "item": None})


def _iter_section(section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    yield from _make(section, names, ("when", section.when), ("header", section.header))
    yield from _make(section, names, ("the text", section.text))
    yield from _iter_fence(section.fence, section, {**names, "selected": frozenset()})
    if section.items is not None:
        yield from _iter_items(section.items, section, names, stores)


def _iter_fence(fence: Fence | None, section: Section, names: Names) -> Iterator[UsedText]:
    if fence is not None:
        yield from _make(section, names, ("fence", fence.open), ("fence", fence.close))


def _iter_items(items: Items, section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    window, group = items.window, items.group
    last = window.last if window is not None and not isinstance(window.last, int) else None
    yield from _iter_source(items.source, section, names, stores)
    yield from _make(section, names, ("window.last", last), takes=COUNT)
    if has_each(items.source):
        names = {**names, "each": None}
    yield from _iter_reading(items, section, names)
    arranged = {**names, "item": None, "this": _ITEM}
    yield from _make(section, arranged, ("items.id", items.id), takes=KEY)
    yield from _make(section, arranged, *(("sort", key.by) for key in items.sort), takes=SORTED)
    yield from _make(section, arranged, ("dedupe.by", items.dedupe.by if items.dedupe else None), takes=KEY)
    yield from _make(section, arranged, ("limit_per.by", items.limit_per.by if items.limit_per else None), takes=KEY)
    grouped = {**arranged, "this": _READ} if window is not None and window.whole == "group" else arranged
    yield from _make(section, grouped, ("group.by", group.by if group else None), takes=KEY)
    yield from _make(section, {**names, "group": None}, ("group.header", group.header if group else None))
    shown = {**arranged, "group": None}
    yield from _make(section, shown, ("tally", items.tally), takes=KEY)
    yield from _make(section, shown, *(("the text of an item", form) for form in items.forms))
    message = items.message
    if message is not None:
        yield from _make(section, shown, ("message.role", message.role), takes=one_of(message.roles, _ROLE))
        yield from _make(section, shown, ("message.content", message.content), takes=CONTENT)
    yield from _make(section, shown, ("trim_each.marker", items.trim_each.marker if items.trim_each else None))
    yield from _iter_fence(items.fence, section, shown)


def _iter_source(source: Expression | Segments | Retrieve, section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    """What a source is asked: `where` and `boost` see each row or chunk, all but `each` an element of that."""
    if isinstance(source, Segments):
        yield from _make(section, names, ("segments.each", source.each), takes=LIST)
        inner = {**names, "each": None} if source.each is not None else names
        store = next((one for one in stores if one.name == source.store), None)
        locale, version = source.locale or (store.locale if store else None), source.version or (store.version if store else None)
        yield from _make(section, inner, ("segments.ref", source.ref), takes=REF)
        yield from _make(section, inner, ("segments.locale", locale), takes=LOCALE)
        yield from _make(section, inner, ("segments.version", version), takes=TEXT_OR_NONE)
        yield from _make(section, {**inner, "item": None}, ("segments.where", source.where))
    else:
        inner = {**names, "item": None}
        for key, code in iter_expressions(source):
            seen = inner if key in ("retrieve.where", "retrieve.boost") else names
            yield from _make(section, seen, (key, code), takes=_TAKES.get(key, ANYTHING))


_ROLE = "one of them for each item: `'assistant' if item.from == 'agent' else 'user'`"
_TAKES = {"items.from": LIST, "retrieve.query": TEXT_OR_NONE, "retrieve.version": TEXT_OR_NONE}


def _iter_reading(items: Items, section: Section, names: Names) -> Iterator[UsedText]:
    """What is evaluated while the list is read, before items have their ids."""
    read = {**names, "item": None, "this": _READ}
    yield from _make(section, read, ("items.where", items.where))
    yield from _make(section, read, ("items.number", items.number), takes=PLACE)
    if items.anchors is not None:
        yield from _make(section, read, ("anchors.where", items.anchors.where))
        yield from _make(section, names, ("anchors.last", items.anchors.last), takes=COUNT)
    for matches in items.keep:
        yield from _make(section, read, ("keep.where", matches.where))
        yield from _make(section, names, ("keep.last", matches.last), takes=COUNT)


def _iter_step(step: Step, section: Section, names: Names) -> Iterator[UsedText]:
    source = section.items.source if section.items is not None else None
    each = {**names, "item": None, "this": _STEP, "group": None}
    if source is not None and has_each(source):
        each["each"] = None
    label = step.label
    if isinstance(step, Ranked):
        yield from _make_step(section, each, label, *(("order", one) for one in step.order))
    if isinstance(step, Ranked | Lower):
        yield from _make_step(section, each, label, ("by", step.by), takes=NUMBER)
    if isinstance(step, Evict):
        yield from _make_step(section, {**names, "removed": None}, label, ("marker", step.marker))
    if isinstance(step, Trim):
        yield from _make_step(section, names, label, ("marker", step.marker))
    if isinstance(step, Recap):
        yield from _make_step(section, each, label, ("where", step.where))
    if isinstance(step, Recap | Replace):
        yield from _make_step(section, {**names, "items": None, "text": None}, label, ("template", step.template))


def _make(section: Section, names: Names, *codes: tuple[str, Expression | Template | None], takes: Takes = ANYTHING) -> Iterator[UsedText]:
    for key, code in codes:
        if code is not None:
            yield UsedText(f"{key if ' ' in key else f'`{key}`'} of `{section.id}`", code, names, section, takes=takes)


def _make_step(
    section: Section, names: Names, label: str, *codes: tuple[str, Expression | Template | None], takes: Takes = ANYTHING
) -> Iterator[UsedText]:
    for key, code in codes:
        if code is not None:
            yield UsedText(f"`{key}` of `{label}`", code, names, section, takes=takes)
