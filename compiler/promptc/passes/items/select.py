"""One section of items, selected: read, arranged and rendered (`select_items`). `Reach` decides how much of a list has to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail, join_some, shorten
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.section import PART_KINDS, Evict, Items, Section, Step
from promptc.model.stages import Gathered, GroupHeader, Item, Selected
from promptc.passes.bind import evaluate_key, pay_text, type_key
from promptc.passes.items.arrange import arrange_items, join_units, make_id, name_items
from promptc.passes.items.read import ItemMemo, ItemReader, Read, Reading, Shows, find_meant, is_gone, list_kinds, read_shown
from promptc.passes.items.render import CountMedia, ItemRenderer, strip_lines
from promptc.text.counters.counter import Meter
from promptc.text.guard import Finding, Guard

_RENAME = (
    "rename one where your program writes the state, such as `github_search`; "
    "or keep only the first: `dedupe: {by: item.name, exact: true}`"
)
_NAMED = 3
_Named = tuple[Read, str]
_Rendered = tuple[Read, str, Item | None]


def select_items(
    section: Section,
    items: Items,
    names: Mapping[str, Any],
    *,
    guard: Guard,
    meter: Meter,
    total: int,
    against: Mapping[str, tuple[Any, ...]],
    reach: Reach | None,
    shows: Shows | None,
    gathered: Gathered | None = None,
    count_media: CountMedia | None = None,
    memo: ItemMemo | None = None,
) -> Selected:
    """Return the section's items before any budget, from the state's list or from what was `gathered`.

    With `reach`, the list is read from its newest end until the reach is exceeded. `against` has, by section, the author's data that
    earlier sections selected, for `dedupe`. `shows` is the pack's `visible`. `count_media` counts parts of messages that are not text.
    `memo` knows the results for elements in earlier renders.

    Raises `PromptcError`; the findings of templates and expressions name the item.
    """
    reader = ItemReader(items, names, section.id, shows, gathered, memo)
    renderer = ItemRenderer(section, items, names, guard, meter, total, count_media, memo)
    try:
        reading = reader.read(lazily=reach is not None)
        if reach is not None:
            selected = _select_reached(section, items, reading, renderer, reach, reader)
        else:
            selected = _select_whole(section, items, reading, reader, renderer, against, names, guard)
        return _with_gathered(selected, gathered) if gathered is not None else selected
    except PromptcError as error:
        raise PromptcError(
            _name_item(found, section, renderer.number if renderer.number is not None else reader.number) for found in error.diagnostics
        ) from error


def _with_gathered(selected: Selected, gathered: Gathered) -> Selected:
    left_out, warnings = {**gathered.left_out, **selected.left_out}, (*gathered.warnings, *selected.warnings)
    return replace(selected, left_out=left_out, warnings=warnings, gathered=gathered)


def _name_item(found: Diagnostic, section: Section, number: int | None) -> Diagnostic:
    """Return the finding of a template or expression with the item that it occurred at."""
    if number is None or not found.code.startswith("PC04"):
        return found
    return replace(found, message=f"{found.message} (item {number} of `{section.id}`)")


def _select_whole(
    section: Section,
    items: Items,
    reading: Reading,
    reader: ItemReader,
    renderer: ItemRenderer,
    against: Mapping[str, tuple[Any, ...]],
    names: Mapping[str, Any],
    guard: Guard,
) -> Selected:
    named = reading.items if items.freeze is None else reader.list_shown()
    ids, warnings = _name(section, items, [(read, make_id(items, read, renderer.bind, section.id)) for read in named])
    standing, gone = list_standing(items, named, ids, names, section.id)
    held, left_out = reader.hold(reading, standing)
    if gone:
        warnings.append(_warn_gone(section, items, gone))
    bind = lambda read: renderer.bind(read, ids.get(read.place, ""))  # noqa: E731
    arranged = arrange_items(items, reading.items, bind, against, section.id, held)
    rendered = [renderer.render(read, ids[read.place], key) for read, key in zip(arranged.items, arranged.keys, strict=True)]
    full = [item for item in rendered if item is not None]
    if items.tool is not None:
        _check_names(full, section.id, items.tool.span)
    parts, told = _describe_parts(
        section, items, renderer, [(ids[read.place], read.place, item) for read, item in zip(arranged.items, rendered, strict=True)]
    )
    is_whole = not left_out and not renderer.left_out
    looked_at = sorted({one.place: one for one in (*reading.items, *held)}.values(), key=lambda read: read.place)
    kept = tuple(join_units(full, lambda: _iter_rendered(looked_at, ids, renderer), is_whole=is_whole))
    headers, found = _make_headers(items, kept, names, guard)
    left_out |= {**arranged.left_out, **parts}
    left_out |= {stage: count for stage, count in (("empty", len(rendered) - len(full)), ("unit", len(full) - len(kept))) if count}
    return Selected(
        section=section,
        state="present" if kept else "empty",
        items=kept,
        groups=headers,
        found=found,
        left_out=left_out,
        tally=_tally(items, kept, renderer, section),
        warnings=(*warnings, *told),
        standing=tuple(ids[read.place] for read in standing),
        gone=gone,
    )


def list_standing(
    items: Items, named: Sequence[Read], ids: Mapping[int, str], names: Mapping[str, Any], section: str
) -> tuple[list[Read], tuple[str, ...]]:
    """Return the items that the turn before showed and that can be shown again, in that order, and the ids of those that are gone.

    `named` are all items that have an id.
    """
    if items.freeze is None:
        return [], ()
    known = {ids[read.place]: read for read in named}
    shown = read_shown(items.freeze, names, section)
    return [known[id] for id in shown if id in known], tuple(id for id in shown if id not in known)


def _warn_gone(section: Section, items: Items, gone: Sequence[str]) -> Diagnostic:
    assert items.freeze is not None
    named, are = join_some([f"`{shorten(id)}`" for id in gone], _NAMED), "it is" if len(gone) == 1 else "they are"
    message = f"`{section.id}` cannot show {named} again: {are} not in its source"
    help = "keep an item in the source for as long as the prompt shows it; from here on, the prompt differs from the turn before"
    return Diagnostic("PC0537", message, items.freeze.shown.span, help, "warn")


def _iter_rendered(looked_at: Sequence[Read], ids: Mapping[int, str], renderer: ItemRenderer) -> Iterator[Item]:
    for read in looked_at:
        item = renderer.render(read, ids[read.place], None)
        if item is not None:
            yield item


def _select_reached(section: Section, items: Items, reading: Reading, renderer: ItemRenderer, reach: Reach, reader: ItemReader) -> Selected:
    newest: list[_Rendered] = []
    is_partial = False
    for read in reading.older if reading.older is not None else reversed(reading.items):
        if reach.is_enough(read.number):
            is_partial = True
            break
        newest.append(_render(section, items, read, renderer))
        if newest[-1][2] is not None:
            reach.add(newest[-1][2])
    first = newest[-1][0].place if newest else reader.size
    unread = [read for read in reading.items if read.place < first] if is_partial else []
    older = [_render(section, items, read, renderer) for read in unread if read.kept]
    beyond = (first - reader.count_refused_before(first) if reading.older is not None else len(unread)) - len(older)
    left_out = {**reading.left_out, **reader.count_refused()}
    if is_partial and beyond:
        left_out["reach"] = beyond
    return _finish_reached(section, items, [*older, *reversed(newest)], renderer, left_out, is_partial)


def _render(section: Section, items: Items, read: Read, renderer: ItemRenderer) -> _Rendered:
    name = make_id(items, read, renderer.bind, section.id)
    return read, name, renderer.render(read, name, None)


def _finish_reached(
    section: Section,
    items: Items,
    rendered: list[_Rendered],
    renderer: ItemRenderer,
    left_out: dict[str, int],
    is_partial: bool,
) -> Selected:
    ids, warnings = _name(section, items, [(read, name) for read, name, _ in rendered])
    pairs = [(ids[read.place], item) for read, _, item in rendered if item is not None]
    kept = tuple(replace(item, id=id) if item.id != id else item for id, item in pairs)
    parts, told = _describe_parts(section, items, renderer, [(ids[read.place], read.place, item) for read, _, item in rendered])
    left_out |= parts
    if len(kept) < len(rendered):
        left_out["empty"] = len(rendered) - len(kept)
    return Selected(
        section=section,
        state="present" if kept else "empty",
        items=kept,
        left_out=left_out,
        tally=_tally(items, kept, renderer, section),
        is_partial=is_partial,
        warnings=(*warnings, *told),
    )


def _describe_parts(
    section: Section, items: Items, renderer: ItemRenderer, rendered: Sequence[tuple[str, int, Item | None]]
) -> tuple[dict[str, int], tuple[Diagnostic, ...]]:
    """Return how many parts of messages were left out, with warnings for a kind that seems misspelt and a message that lost all its parts.

    `rendered` has the id, the place and the item (or None) of each message.
    """
    if not renderer.left_out or items.message is None:
        return {}, ()
    lost = [(id, renderer.left_out.get(place, ()), item) for id, place, item in rendered]
    count = sum(len(kinds) for _, kinds, _ in lost)
    meant = {kind: find_meant(kind, items.message) for kind in dict.fromkeys(kind for _, kinds, _ in lost for kind in kinds)}
    found = [(id, kind) for id, kinds, _ in lost for kind in kinds if meant[kind] is not None]
    told = []
    if found:
        id, kind = found[0]
        more = f" ({len(found) - 1} more like it)" if len(found) > 1 else ""
        message = f"item `{id}` of `{section.id}` loses a part of the kind `{shorten(kind)}`, which no request can contain{more}"
        help = f"did you mean `{meant[kind]}`? Then correct the `type` of the part in the state"
        told.append(Diagnostic("PC0598", message, items.message.span, help, "warn"))
    misspelt = {id for id, _ in found}
    gone = [(id, kinds) for id, kinds, item in lost if item is None and id not in misspelt and is_gone(kinds)]
    if not gone:
        return {"parts": count}, tuple(told)
    more = f" ({len(gone) - 1} more like it)" if len(gone) > 1 else ""
    message = f"item `{gone[0][0]}` of `{section.id}` is left out{more}: `parts` lets none of its parts pass: {list_kinds(gone[0][1])}"
    first = next((f"add `{kind}` to `parts`" for kind in gone[0][1] if kind in PART_KINDS), "put in words what they hold")
    help = f"{first}, or leave such items out with `where`"
    return {"parts": count}, (*told, Diagnostic("PC0581", message, items.message.span, help, "warn"))


def _name(section: Section, items: Items, pairs: list[_Named]) -> tuple[dict[int, str], list[Diagnostic]]:
    """Return the ids by place, and a warning if an id is used by several items."""
    ids, again = name_items(pairs)
    if not again:
        return ids, []
    span = items.id.span if items.id is not None else items.span
    first, renamed = next(iter(again.items()))
    more = f" and {len(again) - 1} more" if len(again) > 1 else ""
    message = f"several items of `{section.id}` have the id `{first}`{more}: later ones are called `{renamed}`, …"
    return ids, [Diagnostic("PC0517", message, span, "give `id` an expression that differs for each item, or leave it out", "warn")]


def _check_names(items: Sequence[Item], section: str, span: Span) -> None:
    """Raise `PromptcError` (PC0596) if two tools have the same name."""
    first: dict[str, str] = {}
    for item in items:
        name = item.tool.name if item.tool is not None else ""
        if name in first:
            wrong = f"items `{first[name]}` and `{item.id}` of `{section}` are two tools with the name `{name}`"
            raise fail("PC0596", wrong, span, help=_RENAME)
        first[name] = item.id


def _make_headers(
    items: Items, kept: tuple[Item, ...], names: Mapping[str, Any], guard: Guard
) -> tuple[tuple[GroupHeader, ...], tuple[Finding, ...]]:
    """Return the headers of the groups in order, and what the guard found in them."""
    if items.group is None:
        return (), ()
    headers: list[GroupHeader] = []
    met: list[Finding] = []
    for _, key in dict.fromkeys(type_key(item.key) for item in kept):
        header = items.group.header
        raw = strip_lines(header.render({**names, "group": key})) if header is not None else ""
        pay_text(names, raw, items.span, "the header of a group")
        text, found = guard.guard(raw)
        headers.append(GroupHeader(key, text))
        met.extend(found)
    return tuple(headers), tuple(met)


def _tally(items: Items, kept: tuple[Item, ...], renderer: ItemRenderer, section: Section) -> dict[str, int]:
    if items.tally is None:
        return {}
    counts: dict[str, int] = {}
    for item in kept:
        names = renderer.bind_item(item)
        name = str(evaluate_key(items.tally, names, f"`tally` of `{section.id}`"))
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


class Reach:
    """Follows a list from its newest item and decides when enough was read.

    The items read are enough if they count more than `most` units together, whatever older items precede them; if no eviction may remove
    the first item after them before everything older is removed; and if they are more than any floor keeps. `steps` are all shared steps
    that may remove items of the section.
    """

    def __init__(self, section: Section, steps: Sequence[Step], meter: Meter, most: int) -> None:
        self._meter = meter
        self.most = most
        self._suffix = section.separator if section.separator is not None else "\n"
        evictions = [step for step in (*section.overflow, *steps) if isinstance(step, Evict)]
        window = section.items.window if section.items is not None else None
        self._least = max([0, *(step.floor for step in evictions), window.min if window is not None else 0])
        self._blocks = {step.step for step in evictions}
        self.limits = (most, self._least, *sorted(self._blocks))
        self._units = 0
        self._open: list[str] = []
        self._number: int | None = None

    def is_enough(self, number: int) -> bool:
        """Return whether the next older item, which has this number, need not be read.

        For every eviction with a `step`, it must also be in another block than the last item read.
        """
        if self._units <= self.most or self._least >= 0 or self._number is None:
            return False
        return all(number // block != self._number // block for block in self._blocks if block > 1)

    def add(self, item: Item) -> None:
        """Count the next older item."""
        text = (f"{item.open}\n{item.text}\n{item.close}" if item.open else item.text) + self._suffix
        if self._number is not None:
            self._count(text)
        self._number = item.number
        self._least -= not item.kept

    def _count(self, text: str) -> None:
        """Count up to the first place in `text` that separates it from anything before, together with the uncounted text after it."""
        is_apart = bool(self._suffix) and self._meter.is_safe("x" + self._suffix, text)
        inner = (0, 0) if is_apart else self._meter.counter.find_inner(text)
        if inner is None:
            self._open.append(text)
            return
        self._units += self._meter.count("".join((text[inner[0] :], *reversed(self._open))))
        self._open = [text[: inner[0]]] if inner[0] else []
