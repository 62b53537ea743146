"""Rules on the stages of a list: caps that never bind, comparisons and limits that name what is not there, lists read whole, and parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from promptc.check.bounds import SectionTexts, bound_section, infer_texts
from promptc.check.configurations import Configuration, Configurations, for_each, merge_configurations
from promptc.check.rules.budgets import PROVABLE, count, list_fences
from promptc.check.schema_types import list_values
from promptc.check.takes import SORTED
from promptc.check.texts import UsedText
from promptc.diag.findings import Diagnostic, Span, count_noun, find_near, join_names, suggest
from promptc.diag.frozen import frozen, replace
from promptc.model.media import MEDIA_KINDS
from promptc.model.pack import PackModel, Plan, has_reach, list_caps, list_state_reads
from promptc.model.section import (
    HALVES,
    PART_KINDS,
    TOOLS,
    Dedupe,
    Evict,
    Items,
    LimitPer,
    MessageForm,
    Retrieve,
    Section,
    Segments,
    Trim,
    read_part_kind,
)
from promptc.model.sources import StateIndex
from promptc.template.compile import Expression, Template
from promptc.template.types.algebra import element_type, find_count, keep_members, part_type
from promptc.template.types.bounds import Amount, choose_largest
from promptc.template.types.infer import list_filters, read_code, read_place
from promptc.template.types.types import NEVER, ListType, MappingType, NumberType, TextType, Type, UndefinedType, UnknownType, list_members

Path = tuple[str, ...]
_SHOWING = tuple(f"`{key}` of" for key in ("message.content", "message.role", "retrieve.query", "items.id", "group.by", "tally"))
"""The names of expressions whose value appears in a prompt or a report."""

_TAG = re.compile(r"\{[{%#]")

_ORDERING = frozenset(("dictsort", "reverse", "sort"))
"""Filters that show that the author has thought of an order."""


_CHOOSING = frozenset(("reject", "rejectattr", "select", "selectattr"))
"""Filters that show that the author has thought of leaving some elements out."""

_EACH = "`segments.each` of"


@frozen
class _Idle:
    """A cap that never binds: its name, its size, the reason, and whether it equals the most that can come."""

    what: str
    cap: str
    why: str
    is_exact: bool
    span: Span


@frozen
class _Most:
    """The most items that can come (None: no bound), and the reason."""

    count: int | None = None
    why: str = ""

    def lower(self, count: int | None, why: str) -> _Most:
        """Return the lower of this bound and another."""
        return _Most(count, why) if count is not None and (self.count is None or count < self.count) else self


@for_each
def check_item_fences(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report item fences that begin with a sign alone and then with data: each line with this sign would get a backslash."""
    if configuration.plan.output.guarding.fences == "keep":
        return
    for section in configuration.plan.sections:
        fence = section.items.fence if section.items is not None else None
        for key, line in (("open", fence.open), ("close", fence.close)) if fence is not None else ():
            sign, *data = (part.strip() for part in _TAG.split(line.text))
            if not data or len(sign) > 2 or any(map(str.isalnum, sign)):
                continue
            message = (
                f"`{key}` of the item fence of `{section.id}` begins with `{sign}` and then with data: "
                f"each line of the prompt that begins with `{sign}` gets a backslash"
            )
            help = "begin it with a word of your own: `<note {{ item.id }}>`, and `</note>` to close it"
            yield Diagnostic("PC0600", message, line.place.span, help, "warn")


@for_each
def check_idle_caps(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report `window`, `limit_per`, `limit`, `trim_each` and budgets that no valid state reaches.

    A cap that is larger than the most that can come is a warning. A cap equal to it is a note, and so is a cap in tokens, whose bound is
    far from tight. Escapes of the guard do not count in characters.
    """
    if pack.schema is None:
        return
    plan, settled = configuration.plan, configuration.facts.settled
    fences = list_fences(plan, settled)
    scopes = configuration.facts.load_bounding_scopes(fences)
    measured = list_caps(configuration.base, pack.strain, plan.budget.total) if pack.strain is not None else {}
    found = list(configuration.iter_texts())
    for section in plan.sections:
        if settled.is_off(section):
            continue
        texts = infer_texts(iter(found), section, scopes)
        capped = configuration.settle_least(section)
        idle = [*(_iter_idle_stages(section.items, texts) if section.items is not None else ()), *_iter_lengths(capped, texts)]
        yield from (_describe(one, section) for one in idle)
        if section.id not in measured:
            yield from _iter_budget(pack, capped, texts, plan, fences)


def _iter_idle_stages(items: Items, texts: SectionTexts) -> Iterator[_Idle]:
    """Yield idle caps in the order of the stages. Kept items do not count against a limit, so limits are skipped if items are kept."""
    most = _Most().lower(_count_source(items, texts), "the list never holds more than")
    window = items.window
    if window is not None and isinstance(window.last, int) and window.whole == "item" and not items.anchors:
        yield from _judge_stage("`window.last`", window.last, most, window.span)
        most = most.lower(window.last, "`window` lets through at most")
    elif window is not None:
        most = _Most()
    if items.keep:
        return
    if items.limit_per is not None:
        yield from _iter_keys(items, items.limit_per, most)
        most = most.lower(_sum_caps(items.limit_per, texts), "the caps of `limit_per` let through at most")
    if items.limit is not None:
        yield from _judge_stage("`limit`", items.limit.count, most, items.limit.span)


def _count_source(items: Items, texts: SectionTexts) -> int | None:
    if isinstance(items.source, Retrieve):
        return items.source.top
    kind = texts.kind(items.source)
    # What is no list is a finding of its own.
    return None if any(isinstance(one, MappingType | TextType) for one in list_members(kind)) else find_count(kind)


def _judge_stage(what: str, cap: int, most: _Most, span: Span) -> Iterator[_Idle]:
    if most.count is not None and cap >= most.count:
        yield _Idle(what, str(cap), f"{most.why} {most.count}", cap == most.count, span)


def _iter_keys(items: Items, limit: LimitPer, most: _Most) -> Iterator[_Idle]:
    """Yield idle caps of single keys. If `limit` takes the first items, it bounds each key as well."""
    if items.limit is not None and items.limit.side == "first":
        most = most.lower(items.limit.count, "`limit` lets through at most")
    for (key, cap), place in zip(limit.caps, limit.places, strict=True):
        if most.count is not None and cap > most.count:
            yield _Idle(f"the cap for `{key}` in `limit_per`", str(cap), f"{most.why} {most.count}", False, place)


def _sum_caps(limit: LimitPer, texts: SectionTexts) -> int | None:
    """Return how many items pass in all if every value of `by` has a cap; None otherwise.

    Numbers are excluded, as they can be written in several ways: 1 and 1.0 are two keys.
    """
    kind = texts.kind(limit.by)
    caps, keys = dict(limit.caps), list_values(kind)
    if keys is None or not set(keys) <= caps.keys() or any(isinstance(one, NumberType) for one in list_members(kind)):
        return None
    return sum(caps[key] for key in set(keys))


def _iter_lengths(section: Section, texts: SectionTexts) -> Iterator[_Idle]:
    """Yield idle caps in characters, of each item or of a text."""
    items, budget = section.items, section.budget
    if items is not None and items.trim_each is not None and items.trim_each.to.unit == "chars" and items.forms:
        made = choose_largest(texts.amount(form) for form in items.forms)
        yield from _judge_length("`trim_each`", int(items.trim_each.to.amount), made, "an item has", items.trim_each.span)
    if section.text is not None and section.text.reads and budget is not None and budget.cap is not None and budget.cap.unit == "chars":
        yield from _judge_length("the budget", int(budget.cap.amount), texts.amount(section.text), "it has", budget.span)


def _judge_length(what: str, cap: int, made: Amount, subject: str, span: Span) -> Iterator[_Idle]:
    if made.characters is not None and made.characters <= cap:
        yield _Idle(what, count_noun(cap, "character"), f"by the schema {subject} at most {made.characters}", made.characters == cap, span)


def _describe(idle: _Idle, section: Section) -> Diagnostic:
    message = f"{idle.what} of `{section.id}`, {idle.cap}, never takes effect: {idle.why}"
    help = "remove it, or leave it as a reminder: it changes nothing" if idle.is_exact else "lower it, or remove it"
    return Diagnostic("PC0672", message, idle.span, help, "note" if idle.is_exact else "warn")


def _iter_budget(pack: PackModel, section: Section, texts: SectionTexts, plan: Plan, fences: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Report an idle cap in tokens on content that depends on the state.

    Pinned sections are skipped, as their cap is a promise; the caller skips sections that pressure counts, as their cap is a measure.
    """
    cap = section.cap
    is_constant = section.text is not None and not section.text.reads
    if cap is None or section.budget is None or section.budget.is_share or cap.unit == "chars" or section.pinned or is_constant:
        return
    made = bound_section(replace(section, pinned=True), texts, plan.output, fences)
    if pack.counting.counter.name in PROVABLE and made.size is not None and count(pack, made) <= cap.tokens(0):
        held, most = count_noun(cap.tokens(0), "token"), count(pack, made)
        message = f"the budget of `{section.id}`, {held}, never takes effect: by the schema it needs at most {most}"
        yield Diagnostic("PC0672", message, section.budget.span, "lower it, or leave it out", "note")


@for_each
def check_against(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report sections in `against` that do not exist, come later, are the section itself or have no items."""
    plan = configuration.plan
    order = [section.id for section in plan.sections]
    for place, section in enumerate(plan.sections):
        dedupe = section.items.dedupe if section.items is not None else None
        for name, span in zip(dedupe.against, dedupe.places, strict=True) if dedupe is not None else ():
            found = _judge_against(name, span, section, plan, order[:place])
            if found is not None:
                yield found


def _judge_against(name: str, span: Span, section: Section, plan: Plan, earlier: Sequence[str]) -> Diagnostic | None:
    other = plan.find_section(name)
    what = f"`dedupe.against` of `{section.id}`"
    if other is None:
        known = [one.id for one in plan.sections if one.id != section.id]
        return Diagnostic("PC0634", f"{what} names `{name}`, which is not a section", span, suggest(name, known))
    if name == section.id:
        return Diagnostic("PC0634", f"{what} names the section itself", span, "leave it out: a list is compared with itself in any case")
    if name not in earlier:
        back = other.items.dedupe.against if other.items is not None and other.items.dedupe is not None else ()
        circle = f", and `{name}` names `{section.id}`: a circle" if section.id in back else ""
        return Diagnostic("PC0634", f"{what} names `{name}`, which is selected later{circle}", span, f"move `{section.id}` below `{name}`")
    if other.items is None:
        return Diagnostic("PC0634", f"{what} names `{name}`, which is not a list", span, "name a section that has `items`")
    return None


@for_each
def check_missing(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report `missing` of segments that are not requested by reference."""
    for section in configuration.plan.sections:
        source = section.source
        if isinstance(source, Segments) and source.ref is None and source.missing != "warn":
            why = "without `ref`, promptc reads the whole scope, and no id can be missing"
            message = f"`missing: {source.missing}` of `{section.id}` has no effect: {why}"
            help = "remove it; to insist on content, write `required: true` on the section"
            removable = source.missing_span if configuration.facts.covers(section.id) else None
            yield Diagnostic("PC0679", message, source.span, help, "warn", removable)


def check_chunk_sizes(configurations: Configurations, medians: Mapping[str, int]) -> Iterator[Diagnostic]:
    """Report sections whose cap is too small for their best chunks, if these were of median size (PC0660).

    `medians` has the median tokens of a chunk for each index. Indexes that are not in it are not reported.
    """
    return merge_configurations(configurations, lambda one: _iter_chunk_sizes(one, medians))


def _iter_chunk_sizes(configuration: Configuration, medians: Mapping[str, int]) -> Iterator[Diagnostic]:
    for section in configuration.plan.sections:
        source = section.source
        cap = section.find_cap(configuration.base.budget.total)
        if not isinstance(source, Retrieve) or cap is None or not _shows_texts(section):
            continue
        median = max((medians.get(name, 0) for name in source.indexes), default=0)
        if source.top * median > cap and section.budget is not None:
            found = f"{source.top} chunks of about {median} tokens, {source.top * median} in all"
            message = f"`{section.id}` retrieves {found}, but its budget is {cap}"
            help = f"write `top: {max(cap // median, 1)}`, build smaller chunks, or raise the budget"
            yield Diagnostic("PC0660", message, section.budget.span, help, "warn")


def _shows_texts(section: Section) -> bool:
    """Return whether the section prints the texts of its chunks. If it only names them, it is as short as its form."""
    first = section.items.forms[:1] if section.items is not None else ()
    return any({("item",), ("item", "text")} & form.reads for form in first)


@for_each
def check_dedupe_order(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report lists whose `dedupe` keeps the first item in the order of the source, while their `sort` may prefer a later one."""
    lets = _map_lets(pack)
    for section in configuration.plan.sections:
        items = section.items
        if (
            items is not None
            and items.dedupe is not None
            and isinstance(items.source, Expression)
            and _prefers_another(items)
            and not _goes_through(_ORDERING, items.source, lets)
        ):
            yield _report(section, items, items.source, items.dedupe)


def _prefers_another(items: Items) -> bool:
    """Return whether `sort` depends on something in which duplicates may differ, and is not just the order of the source."""
    dedupe = items.dedupe
    if dedupe is None or dedupe.keep != "first" or not items.sort:
        return False
    first = items.sort[0]
    is_source = not first.desc and (("this", "number") in first.by.reads or _spell(first.by) == _spell(items.number))
    return not is_source and any(not key.by.reads <= dedupe.by.reads for key in items.sort)


def _spell(expression: Expression | None) -> str:
    return expression.text.strip() if expression is not None else ""


def _goes_through(filters: frozenset[str], source: Expression, lets: Mapping[str, Expression]) -> bool:
    """Return whether the source, or a `let` that it names, uses one of these filters."""
    return bool(list_filters(read_code(source)) & filters) or any(
        _goes_through(filters, lets[path[0]], lets) for path in source.reads if path[0] in lets
    )


def _report(section: Section, items: Items, source: Expression, dedupe: Dedupe) -> Diagnostic:
    first = items.sort[0]
    wanted = f"the one with the {'highest' if first.desc else 'lowest'} `{first.by.text.strip()}`"
    same = dedupe.by.text.strip()
    message = (
        f"`dedupe` of `{section.id}` runs before `sort`: of two items with the same `{same}` the first of the list stays, not {wanted}"
    )
    return Diagnostic("PC0674", message, dedupe.span, f"to keep {wanted}, {_advise(items, source)}", "note")


def _advise(items: Items, source: Expression) -> str:
    """Return how to write the sort in `from`: as a filter if it sorts by one plain key of the item."""
    first, text = items.sort[0], source.text.strip()
    key = first.by.text.strip().removeprefix("item.")
    is_plain = key.replace("_", "a").isalnum() and first.by.text.strip().startswith("item.") and "\n" not in text
    held = text if text.replace("_", "a").replace(".", "a").isalnum() else f"({text})"
    order = ", reverse=true" if first.desc else ""
    if not is_plain:
        shown = held if "\n" not in text else "state.list"
        example = f"{shown} | sort(attribute='rank'{order})"
        return f'write it into each item, as `rank`, and sort by it in `from`, before `dedupe`: `from: "{example}"`'
    return f"sort in `from`, before `dedupe`: `from: \"{held} | sort(attribute='{key}'{order})\"`"


@for_each
def check_limit_keys(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report differences between `caps` and the values that `by` may have, if the schema lists them."""
    for text in configuration.iter_texts():
        section = text.section
        limit = section.items.limit_per if section is not None and section.items is not None else None
        if section is None or limit is None or text.code is not limit.by:
            continue
        kind = configuration.facts.scopes.infer(text).kind
        values = list_values(kind) if kind is not None else None
        if values is not None:
            yield from _compare(section, limit, values)


def _compare(section: Section, limit: LimitPer, values: Sequence[str]) -> Iterator[Diagnostic]:
    capped, field = [name for name, _ in limit.caps], limit.by.text.strip()
    for name, place in zip(capped, limit.places, strict=True):
        if name not in values:
            message = f"`limit_per` of `{section.id}` caps `{name}`, but by the schema `{field}` never has that value"
            yield Diagnostic("PC0637", message, place, suggest(name, values) or "remove it", "warn")
    free = [f"`{value}`" for value in values if value not in capped]
    if free:
        named = f"{', '.join(free[:4])}{', ...' if len(free) > 4 else ''}"
        message = f"`limit_per` of `{section.id}` has no cap for {named}: such items pass without a limit"
        yield Diagnostic("PC0638", message, limit.by.span, "add them to `caps`", "warn")


@for_each
def check_long_lists(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report lists that are not bounded by a window, `limit`, reach or the schema (`maxItems`)."""
    texts = list(configuration.iter_texts())
    aimless = {text.section.id for text in texts if text.section is not None and _sorts_by_nothing(text, pack)}
    for text in texts:
        section = text.section
        items = section.items if section is not None and section.items is not None and text.code is section.items.source else None
        if (
            section is None
            or items is None
            or items.window is not None
            or items.limit is not None
            or configuration.facts.settled.is_off(section)
            or section.id in aimless
        ):
            continue
        kind = configuration.facts.scopes.infer(text).kind
        if not has_reach(section, configuration.plan, pack) and (kind is None or find_count(kind) is None):
            message = f"promptc reads and counts all of `{section.id}`, however long its list is: {_explain(section, items)}"
            where = "`tools`" if section.id == TOOLS else "`items` a `window` or"
            help = f"give {where} a `limit`, or its list a `maxItems` in the schema"
            yield Diagnostic("PC0640", message, items.source.span, help, "warn")


def _sorts_by_nothing(text: UsedText, pack: PackModel) -> bool:
    """Return whether a text is a `sort` that reads an unknown name. This is reported elsewhere, and the `sort` will change."""
    if text.takes is not SORTED:
        return False
    known = {one.name for one in pack.definitions} | text.names.keys()
    return any(path[0] not in known for path in text.code.reads)


def _explain(section: Section, items: Items) -> str:
    """Return why reading only the newest end of the list is not enough."""
    stages = [f"`{key}`" for key in ("sort", "dedupe", "limit_per", "group", "message", "freeze") if getattr(items, key)]
    if section.pinned:
        return "it is pinned"
    if stages:
        return f"{', '.join(stages)} must see all of it" if stages != ["`message`"] else "its items are messages"
    first = section.overflow[0] if section.overflow else None
    if isinstance(first, Evict):
        chooses = first.order or first.by is not None or first.marker is not None or first.whole == "group"
        return "its `evict` must see all of it" if chooses else "a later step or another section must see all of it"
    return f"its ladder begins with `{first.rule}`" if first is not None else "it has no ladder"


@for_each
def check_visible(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report a `visible` that tests nothing of an item, lists of which it can hide no item, and texts that read a list without it."""
    if pack.visible is None or pack.visible.text.strip() == "true":  # the author says that everything may be seen
        return
    marks = [path[1:] for path in sorted(pack.visible.reads) if path[0] == "item"]
    if not marks:
        message = "`visible` does not read `item`: it shows all items, or none"
        yield Diagnostic(
            "PC0664",
            message,
            pack.visible.span,
            "ask for a mark of the item, such as `not item.internal`; for a whole section, use `when`",
            "warn",
        )
        return
    lists = _list_marked(pack, configuration, marks)
    for text in configuration.iter_texts():
        if text.code is pack.visible and text.section is not None:
            yield from _judge_marks(pack, configuration, text, text.section, marks, lists)
        elif isinstance(text.code, Template) or text.what.startswith(_SHOWING):
            yield from _judge_past(pack, text, lists, "show them as items of a section; `selected.<section>` says how many it shows")
        elif text.what.startswith(_EACH) and not _goes_through(_CHOOSING, text.code, _map_lets(pack)):
            yield from _judge_past(pack, text, lists, _leave_out(text.code, pack.visible, marks))


def _leave_out(each: Expression | Template, visible: Expression, marks: Sequence[Path]) -> str:
    """Return how `each` can leave out what is hidden. If there are several marks, show the first."""
    names = [".".join(mark) for mark in marks]
    way = "selectattr" if visible.text.strip() == f"item.{names[0]}" else "rejectattr"
    told = "leave out what is hidden" + (f", by {join_names(names)}" if len(names) > 1 else "")
    return f"{told}: `{each.text.strip()} | {way}('{names[0]}')`"


def _list_marked(pack: PackModel, configuration: Configuration, marks: Sequence[Path]) -> dict[Path, Type]:
    """Return the lists of the state that sections and indexes read and that may have hidden elements, with the type of their elements."""
    given = [section.items.source for section in configuration.plan.sections if section.items is not None]
    sources = [one.each if isinstance(one, Segments) else one for one in given]
    sources += [index.source for index in pack.indexes if isinstance(index, StateIndex)]
    found: dict[Path, Type] = {}
    for path in sorted({path for one in sources if isinstance(one, Expression) for path in list_state_reads(one.reads, pack)}):
        kind = reduce(part_type, path[1:], configuration.facts.scopes.state)
        lists = [one for one in list_members(kind) if isinstance(one, ListType | UnknownType)]
        if lists and any(_may_have(element_type(one), mark) for one in lists for mark in marks):
            found[path] = element_type(kind)
    return found


def _map_lets(pack: PackModel) -> dict[str, Expression]:
    return {let.name: let.value for let in pack.lets if isinstance(let.value, Expression)}


def _may_have(kind: Type, mark: Path) -> bool:
    for part in mark:
        kind = keep_members(part_type(kind, part), lambda member: not isinstance(member, UndefinedType))
    return bool(list_members(kind))


def _judge_marks(
    pack: PackModel, configuration: Configuration, text: UsedText, section: Section, marks: Sequence[Path], lists: Mapping[Path, Type]
) -> Iterator[Diagnostic]:
    """Report a section none of whose items can be hidden: a warning if the list that it reads has the mark, else a note."""
    items, kind = section.items, configuration.facts.scopes.make_scope(text).names["item"].kind
    if items is None or configuration.facts.scopes.infer(text).problems or any(_may_have(kind, mark) for mark in marks):
        return
    names = join_names([".".join(("item", *mark)) for mark in marks])
    source = items.source
    lost = sorted(list_state_reads(source.reads, pack) & lists.keys()) if isinstance(source, Expression) else []
    if lost:
        path = ".".join(lost[0])
        message = f"`visible` can hide no item of `{section.id}`: `{path}` has the mark ({names}), but what `from` returns does not"
        help = f"write `from: {path}`, and read the part that you show in `text`"
        yield Diagnostic("PC0664", message, items.source.span, help, "warn")
    else:
        message = f"`visible` can hide no item of `{section.id}`: its items never have what `visible` asks for ({names})"
        yield Diagnostic(
            "PC0664", message, items.source.span, "do nothing if everyone may see all of them; otherwise give them the mark", "note"
        )


def _judge_past(pack: PackModel, text: UsedText, lists: Mapping[Path, Type], help: str) -> Iterator[Diagnostic]:
    for read in sorted(text.code.reads):
        for path in sorted(list_state_reads([read], pack)):
            if any(one == path[: len(one)] or path == one[: len(path)] for one in lists):
                way = f", through `{read[0]}`" if read[0] != "state" else ""
                message = f"{text.what} reads `{'.'.join(path)}` directly{way}, with its hidden elements: `visible` applies only to items"
                yield Diagnostic("PC0665", message, _make_span(text.code, ".".join(read)), help, "warn")
                return


def _make_span(code: Expression | Template, path: str) -> Span:
    files = {"": code.text, **(code.files if isinstance(code, Template) else {})}
    name = next((name for name, body in files.items() if path in body), "")
    return read_place(code).make_span(name, files[name], files[name].find(path) + 1 if path in files[name] else 1)


@for_each
def check_parts(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report contents of which no part can pass, kinds of parts that stop the render, and one half of a tool's turn without the other."""
    for text in configuration.iter_texts():
        section = text.section
        message = section.message if section is not None else None
        if section is None or message is None or text.code is not message.content:
            continue
        yield from _judge_names(section, message)
        kind = configuration.facts.scopes.infer(text).kind
        if kind is not None and not text.takes.refuses(kind):
            yield from _judge_kind(section, message, kind)
            yield from _judge_trims(section, configuration, kind)


def _judge_names(section: Section, message: MessageForm) -> Iterator[Diagnostic]:
    for kind in message.parts:
        if read_part_kind(kind) not in PART_KINDS:
            what = f"`parts` of `{section.id}` names `{kind}`, which a request cannot contain: an item with one stops the render"
            near = find_near(kind, PART_KINDS)
            help = f"did you mean `{near}`?" if near is not None else f"name only these kinds: {join_names(PART_KINDS)}"
            yield Diagnostic("PC0691", what, message.span, help, "warn")
    for kind in message.parts:
        if kind not in HALVES or kind in message.passing:
            continue
        (other,) = HALVES - {kind}
        what = f"`parts` of `{section.id}` names `{kind}` without `{other}`: neither passes, since no provider takes one without the other"
        yield Diagnostic("PC0692", what, message.span, f"add `{other}`, or remove `{kind}`", "warn")


@for_each
def check_media(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report media that no rule counts, and `media` on messages that let no media pass."""
    plan = configuration.plan
    for section in plan.sections:
        message = section.message
        if message is None or message.media is None:
            continue
        media = message.media
        if not message.passes_media:
            what = f"`media` of `{section.id}` counts nothing: `parts` lets no {MEDIA_KINDS[0]}, {' or '.join(MEDIA_KINDS[1:])} pass"
            help = "name the kinds in `parts`: `parts: [text, image]`, or remove `media`"
            removable = media.span if configuration.facts.covers(section.id) else None
            yield Diagnostic("PC0695", what, media.span, help, "warn", removable)
            continue
        if media.tokens is not None or media.model is not None or media.table.find(plan.budget.model) is not None:
            continue
        unknown = {provider: model for provider, model in plan.output.models.items() if media.table.find(model) is None}
        if not plan.output.models:
            what = f"nothing counts the media of `{section.id}`: the pack names no model, so every item with media stops the render"
            yield Diagnostic("PC0694", what, media.span, "name one: `message: {media: {model: gpt-5.6}}`, or under `output.models`", "warn")
        for provider, model in unknown.items():
            what = f"nothing counts the media of `{section.id}` for `{provider}`: the table does not have the model `{model}`"
            help = "name one that counts alike: `message: {media: {model: gpt-5.6}}`, or give the number of tokens of a part with `tokens`"
            yield Diagnostic("PC0694", what, media.span, help, "warn")


def _judge_kind(section: Section, message: MessageForm, kind: Type) -> Iterator[Diagnostic]:
    """Report a content none of whose parts can pass. If the content may also be a text, only its lists are examined."""
    lists = [member for member in list_members(kind) if isinstance(member, ListType) and member.most != 0]
    elements = [element for element in map(element_type, lists) if element != NEVER]
    types = [_list_types(element) for element in elements]
    if not elements or any(one is None for one in types):
        return
    met = sorted({name for one in types for name in one or ()})
    if any(read_part_kind(name) in message.passing for name in met):
        return
    named = f"their types are {join_names(met)}" if met else "they have no `type`"
    what = f"`parts` of `{section.id}` lets no part of `{message.content.text.strip()}` pass: by the schema {named}"
    yield Diagnostic("PC0690", what, message.span, f"name the kinds that the state has, in place of {join_names(message.parts)}", "warn")


def _judge_trims(section: Section, configuration: Configuration, kind: Type) -> Iterator[Diagnostic]:
    """Report trims of a section whose messages may be lists of parts.

    A step with an `order` chooses what it trims, and `trim_each` may be meant for the texts only.
    """
    members = list_members(kind)
    if not any(isinstance(member, ListType) and member.most != 0 for member in members) or section.items is None:
        return
    are_all = all(isinstance(member, ListType) for member in members)
    steps = [] if section.pinned else configuration.list_steps_on(section)
    found = [(step.span, f"`{step.label}`") for step in steps if isinstance(step, Trim) and not step.order]
    found += [(section.items.trim_each.span, "`trim_each`")] if section.items.trim_each is not None and are_all else []
    for span, what in found:
        message = f"{what} never cuts a message of `{section.id}`: each is a list of parts, and a trim cuts only texts"
        if not are_all:
            message = f"{what} cuts no message of `{section.id}` whose content is a list of parts: a trim cuts only texts"
        help = (
            "shorten the texts in the parts with an expression under `content`, as `promptc rule PC0693` shows, "
            "or let `evict` remove such messages"
        )
        yield Diagnostic("PC0693", message, span, help, "warn" if are_all else "note")


def _list_types(element: Type) -> set[str] | None:
    """Return the types that elements may have, or None if there may be others."""
    found: set[str] = set()
    for member in list_members(element):
        types = list_members(member.find("type")) if isinstance(member, MappingType) else ()
        if isinstance(member, UnknownType) or any(_is_open(type) for type in types):
            return None
        found |= {name for type in types if isinstance(type, TextType) for name in type.values or ()}
    return found


def _is_open(type: Type) -> bool:
    """Return whether a type allows any text."""
    if isinstance(type, TextType):
        return type.values is None
    return isinstance(type, UnknownType) or (isinstance(type, UndefinedType) and type.reason == "undeclared")
