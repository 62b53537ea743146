"""The block map of a pack: where each section comes from, what it reads, what limits it, and what cases, tiers and patches change.

`draw_map` draws it from the pack alone. Its cells are phrases, made of words and code (`say`, `join_phrases`, `show_plain`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from posixpath import dirname

from promptc.check.configurations import list_defaults
from promptc.diag.findings import Span, count_noun, shorten
from promptc.diag.frozen import frozen, replace
from promptc.model.pack import Choice, PackModel, Plan, choose_tiers, list_state_reads, list_steps
from promptc.model.section import (
    MICRO,
    Budget,
    Continue,
    Dedupe,
    Drop,
    Evict,
    Fail,
    Items,
    Lower,
    Matches,
    Pool,
    Ranked,
    Ratio,
    Recap,
    Replace,
    Retrieve,
    Section,
    Segments,
    Shorten,
    Size,
    Step,
    Trim,
    Use,
    Window,
    iter_expressions,
)
from promptc.model.sources import StateIndex
from promptc.passes.bind import check_choice
from promptc.template.compile import Expression, Template

_EACH = "each item its own"
_EXCERPT = 60
"""Characters of a text that are shown."""

_LISTS = ("data", "caps", "dedupe", "notes")
Path = tuple[str, ...]
_ROOTS = ("item", "each")
_CODE = re.compile(r"`([^`\n]+)`")


@frozen
class Block:
    """One section: its source, the data of the state that it reads, its limits, its rules for duplicates, and remarks."""

    id: str
    title: str
    role: str
    source: Phrase
    data: tuple[Phrase, ...] = ()
    caps: tuple[Phrase, ...] = ()
    dedupe: tuple[Phrase, ...] = ()
    notes: tuple[Phrase, ...] = ()


@frozen
class BlockChange:
    """What one case, tier or patch changes in one block."""

    block: str
    says: tuple[Phrase, ...]


@frozen
class Variation:
    """A case of an axis, a tier or a patch, with the blocks it changes and its changes to the plan as a whole.

    The changes of a tier are relative to the tier before it.
    """

    kind: str
    name: str
    changes: tuple[BlockChange, ...]
    plan: tuple[Phrase, ...] = ()


@frozen
class BlockMap:
    """The map of one plan.

    `plan` says which plan it is, and how much it may contain. `blocks` have the order of the output. `definitions` explain the names that
    the pack defines for expressions.
    """

    pack: str
    version: str
    plan: tuple[Phrase, ...]
    blocks: tuple[Block, ...]
    variations: tuple[Variation, ...]
    definitions: tuple[Phrase, ...] = ()


@frozen
class Word:
    """A run of text on one line, or of code as an author wrote it."""

    text: str
    is_code: bool = False


Blocks = tuple[Block, ...]
Phrase = tuple[Word, ...]


def draw_map(pack: PackModel, cases: Mapping[str, str], patches: Sequence[str] = ()) -> BlockMap:
    """Draw the map of the plan with these cases and patches, under no strain, and what other cases, the tiers and other patches change.

    An axis that is not in `cases` has its default case, or its first case if it has no default. The map depends on the pack alone. Raises
    `PromptcError` for a plan that does not load, and `UsageError` for a plan that the pack does not have.
    """
    choice = make_choice(pack, cases, patches)
    plan = pack.load_plan(choice)
    drawer = _Drawer(pack)
    variations = (
        *drawer.iter_cases(choice, cases),
        *drawer.iter_tiers(choice),
        *drawer.iter_patches(choice),
    )
    about = (*_describe_plan(pack, plan), *_describe_choice(choice))
    definitions = tuple(say("{} is {}", one.signature, one.text) for one in pack.definitions)
    return BlockMap(pack.name, pack.version, about, drawer.list_blocks(plan), variations, definitions)


def make_choice(pack: PackModel, cases: Mapping[str, str], patches: Sequence[str]) -> Choice:
    """Return the choice of these cases and patches, with the first tier.

    An axis that is not in `cases` gets its default case, or its first case if it has no default. Raises what `check_choice` raises.
    """
    check_choice(pack, cases, patches)
    chosen = tuple((axis, cases.get(axis, usual)) for axis, usual in list_defaults(pack))
    return Choice(chosen, tuple(patches), 0 if pack.strain is None else 1)


class _Drawer:
    """Draws the plans of one pack."""

    def __init__(self, pack: PackModel) -> None:
        self._pack = pack

    def list_blocks(self, plan: Plan) -> Blocks:
        """Return the blocks of a plan, in the order of the output."""
        return tuple(self._draw(section, plan) for section in plan.sections)

    def iter_cases(self, choice: Choice, asked: Mapping[str, str]) -> Iterator[Variation]:
        """Yield the other cases of every axis that is not in `asked`."""
        for axis in self._pack.axes:
            for case in axis.cases:
                if axis.name not in asked and (axis.name, case) not in choice.cases:
                    others = tuple((name, case if name == axis.name else one) for name, one in choice.cases)
                    yield self._vary("case", f"{axis.name}={case}", choice, replace(choice, cases=others))

    def iter_tiers(self, choice: Choice) -> Iterator[Variation]:
        """Yield each tier relative to the one before it. The first tier is the plan itself, and is left out if it changes nothing."""
        tiers = self._pack.strain.tiers if self._pack.strain is not None else ()
        before = self._pack.load_plan(choice)
        for at, tier in enumerate(tiers):
            after = self._pack.load_plan(choose_tiers(choice, tiers[: at + 1]))
            changes = _merge((*self._compare(before, after), *self._list_acts(at)))
            before = after
            if at or changes:
                yield Variation("tier", tier.name, changes)

    def iter_patches(self, choice: Choice) -> Iterator[Variation]:
        """Yield the patches that are not chosen."""
        for name in self._pack.patch_names:
            if name not in choice.patches:
                yield self._vary("patch", name, choice, replace(choice, patches=(*choice.patches, name)))

    def _vary(self, kind: str, name: str, choice: Choice, other: Choice) -> Variation:
        before, after = self._pack.load_plan(choice), self._pack.load_plan(other)
        had, has = _describe_plan(self._pack, before), _describe_plan(self._pack, after)
        whole = (*(one for one in has if one not in had), *_list_keys(_read_whole(before), _read_whole(after)))
        return Variation(kind, name, self._compare(before, after), whole)

    def _compare(self, before: Plan, after: Plan) -> tuple[BlockChange, ...]:
        return _merge((*_compare_blocks(self.list_blocks(before), self.list_blocks(after)), *_compare_texts(before, after)))

    def _list_acts(self, at: int) -> tuple[BlockChange, ...]:
        """Return the steps that a tier takes at once, and those of earlier tiers that it no longer takes."""
        tiers = self._pack.strain.tiers if self._pack.strain is not None else ()
        earlier, steps = list_steps(tiers[:at])[0], list_steps(tiers[: at + 1])[0]
        done = [(step, "at once: ") for step in steps if step not in earlier]
        undone = [(step, "no more: ") for step in earlier if step not in steps]
        return tuple(BlockChange(step.section, ((*say(word), *_describe_step(step, self._pack, ())),)) for step, word in (*done, *undone))

    def _draw(self, section: Section, plan: Plan) -> Block:
        dedupe = section.items.dedupe if section.items is not None else None
        return Block(
            id=section.id,
            title=section.title,
            role=section.role if section.message is None else _EACH,
            source=describe_source(section, self._pack),
            data=(*_describe_data(section, self._pack), *_list_index_reads(section, self._pack)),
            caps=_describe_caps(section, plan),
            dedupe=_describe_dedupe(dedupe) if dedupe is not None else (),
            notes=_describe_notes(section, plan, self._pack),
        )


def _merge(changes: Sequence[BlockChange]) -> tuple[BlockChange, ...]:
    """Merge the changes of each block into one."""
    found: dict[str, tuple[Phrase, ...]] = {}
    for change in changes:
        found[change.block] = (*found.get(change.block, ()), *change.says)
    return tuple(BlockChange(block, says) for block, says in found.items())


def _compare_blocks(before: Sequence[Block], after: Sequence[Block]) -> tuple[BlockChange, ...]:
    """Return the blocks that are new, gone, moved or changed, each with the phrases that it gained and lost."""
    old, new = {one.id: one for one in before}, {one.id: one for one in after}
    moved = _list_moved([one for one in old if one in new], [one for one in new if one in old])
    found = [BlockChange(one, tuple(_iter_changes(old.get(one), new[one], moved.get(one)))) for one in new]
    gone = [BlockChange(one, (say("not there"),)) for one in old if one not in new]
    return (*(change for change in found if change.says), *gone)


def _list_moved(before: list[str], after: list[str]) -> dict[str, str]:
    """Return the blocks that changed their order, each with the block before it now (empty: it is the first)."""
    kept = {before[block.a + at] for block in SequenceMatcher(None, before, after, False).get_matching_blocks() for at in range(block.size)}
    return {name: after[at - 1] if at else "" for at, name in enumerate(after) if name not in kept}


def _iter_changes(before: Block | None, after: Block, behind: str | None) -> Iterator[Phrase]:
    if before is None:
        yield say("there")
        return
    if behind is not None:
        yield say("after {}", behind) if behind else say("the first")
    if after.title != before.title or after.role != before.role:
        yield say(f"{after.title}, {after.role}")
    if after.source != before.source:
        yield (*say("from "), *after.source)
    for name in _LISTS:
        had, has = _list_told(before, name), _list_told(after, name)
        yield from (one for one in has if one not in had)
        replaced = {_name_subject(one) for one in has}
        yield from ((*say("without "), *one) for one in had if _name_subject(one) not in replaced)


def _list_told(block: Block, name: str) -> list[Phrase]:
    """Return the phrases of a list of a block, without paths and parts: those follow from the filters and texts."""
    found: tuple[Phrase, ...] = getattr(block, name)
    return [one for one in found if not (name == "data" and (one[0].is_code or one[0].text.startswith("of ")))]


def _name_subject(phrase: Phrase) -> str:
    """Return the subject of a phrase. A new phrase replaces an old one with the same subject."""
    return phrase[0].text.split(" ")[0].rstrip(":") if not phrase[0].is_code else ""


def _compare_texts(before: Plan, after: Plan) -> tuple[BlockChange, ...]:
    """Return the changes that blocks of both plans do not show: texts in the manifest, and what surrounds a text or an item."""
    pairs = [(before.find_section(one.id), one) for one in after.sections]
    found = [BlockChange(new.id, (*_iter_texts(old, new), *_list_keys(_read_around(old), _read_around(new)))) for old, new in pairs if old]
    return tuple(change for change in found if change.says)


def _iter_texts(before: Section, after: Section) -> Iterator[Phrase]:
    """Yield the first line that only the new text has, or else the first line that only the old text has."""
    old, new = _find_inline(before), _find_inline(after)
    if old is None or new is None or old.text == new.text:
        return
    had, has = ([line.strip() for line in one.text.splitlines() if line.strip()] for one in (old, new))
    fresh, gone = (next((one for one in some if one not in others), "") for some, others in ((has, had), (had, has)))
    if fresh or gone:
        yield say("text: {}" if fresh else "text without {}", shorten(fresh or gone, _EXCERPT))
    else:
        yield say("changed: {}", "text")


def _find_inline(section: Section) -> Template | None:
    forms = section.items.forms if section.items is not None and section.items.tool is None else ()
    text = section.text if section.text is not None else forms[0] if len(forms) == 1 else None
    return text if text is not None and text.place.inline else None


def _read_around(section: Section) -> Mapping[str, object]:
    """Return, by key, the parts of a section that its block does not show, or shows only by name."""
    around: dict[str, object] = {"header": section.header, "separator": section.separator, "fence": section.fence}
    around["overflow"] = _list_markers(section.overflow)
    items = section.items
    if items is not None:
        message, group, trim = items.message, items.group, items.trim_each
        around |= {"items.id": items.id, "items.number": items.number, "items.fence": items.fence}
        around["items.forms"] = [one for one in items.forms if one.place.inline] if len(items.forms) > 1 and items.tool is None else None
        around["items.message"] = (message.content, message.parts, message.roles) if message is not None else None
        around["items.group"] = group.header if group is not None else None
        around["items.trim_each"] = trim.marker if trim is not None else None
    return around


def _read_whole(plan: Plan) -> Mapping[str, object]:
    """Return, by key, the parts of a plan that its description does not show.

    A tool or a response with another name counts as another one, which the description shows.
    """
    output = plan.output
    whole: dict[str, object] = {f"tools.{one.name}": one for one in plan.tools}
    whole |= {f"response.{plan.response.name}": plan.response} if plan.response is not None else {}
    return whole | {"output": (output.separator, output.guarding, output.warn_chars), "truncate": _list_markers(plan.truncate)}


def _list_markers(steps: Sequence[Step]) -> list[Template | None]:
    return [one.marker for one in steps if isinstance(one, Trim | Evict)]


def _list_keys(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[Phrase, ...]:
    changed = [say("{}", key) for key in before if key in after and _read_value(before[key]) != _read_value(after[key])]
    return ((*say("changed: "), *join_phrases(changed, ", ")),) if changed else ()


def _read_value(value: object) -> object:
    """Return the value without its places in files."""
    if isinstance(value, Template | Expression):
        return value.text
    if isinstance(value, list | tuple):
        return [_read_value(one) for one in value]
    if isinstance(value, Span):
        return None
    names = getattr(value, "__match_args__", ())
    return [_read_value(getattr(value, name)) for name in names] if names else value


def _describe_plan(pack: PackModel, plan: Plan) -> tuple[Phrase, ...]:
    budget, counter = plan.budget, pack.counting.wanted or pack.counting.counter.name
    reserve = f", {budget.reserve} of {budget.context} are kept for the answer" if budget.reserve else ""
    tokens = say(f"{count_noun(budget.total, 'token')} by {{}}{reserve}", counter)
    if budget.model:
        most = f"at most {budget.context} of " if budget.context else ""
        tokens = (
            *say(f"{most}the window of {{}}, {budget.reserve or 0} are kept for the answer", budget.model),
            *say(", tokens by {}", counter),
        )
    found = [tokens, say(f"{plan.output.format} output")]
    if pack.visible is not None:
        found.append(say("only items where {}", " ".join(pack.visible.text.split())))
    if plan.tools:
        found.append(_list("tools ", [tool.name for tool in plan.tools]))
    if plan.response is not None:
        found.append(say("response {}", plan.response.name))
    if plan.output.models:
        found.append(_list("asks ", list(plan.output.models.values())))
    return tuple(found)


def _list(what: str, names: Sequence[str]) -> Phrase:
    return (*say(what), *join_phrases([say("{}", name) for name in names], ", "))


def _describe_step(step: Step, pack: PackModel, sections: Sequence[Section]) -> Phrase:
    """Describe one step on these sections, such as `evict 2, oldest first`."""
    if isinstance(step, Trim):
        finest = f" (finest: {step.finest})" if step.finest is not None else ""
        size = f" to {show_size(step.to)}" if step.to is not None else ""
        size += f" down to {show_size(step.floor)}" if step.floor is not None and step.floor.amount else ""
        return (*say(f"trim at {', '.join(step.at)}{finest}{size}"), *_describe_rank(step, ""))
    if isinstance(step, Evict):
        return _describe_evict(step, [one for one in sections if one.id == step.section])
    if isinstance(step, Shorten):
        return (*say("shorten to the next form"), *_describe_rank(step, ""))
    if isinstance(step, Lower):
        return say("lower by {}, the greatest first", step.by.text)
    if isinstance(step, Recap):
        share = f"the oldest {_show_percent(step)}" if step.older < 1 else "all"
        where = say(" where {}", step.where.text) if step.where is not None else ()
        return (*say(f"recap {share}"), *where, *say(" by "), *_name_template(step.template, pack))
    if isinstance(step, Replace):
        return (*say("replace by "), *_name_template(step.template, pack))
    return _describe_plain(step)


def _describe_rank(step: Ranked, otherwise: str) -> Phrase:
    if step.by is not None:
        return say(", least {} first", step.by.text)
    if step.order:
        count = len(step.order)
        return say(" where {}", step.order[0].text) if count == 1 else say(f" in {count} classes, {{}} first", step.order[0].text)
    return say(otherwise)


def _describe_evict(step: Evict, sections: Sequence[Section]) -> Phrase:
    noun = {"item": "items", "group": "groups", "call": "items, tool call by tool call"}[step.whole]
    steps = f", {step.step} at a time" if step.step > 1 else ""
    floor = f", {step.floor} stay{'s' if step.floor == 1 else ''}" if step.floor else ""
    named = join_phrases([say("{}", name) for name in step.sections], ", ") if len(step.sections) > 1 else ()
    of = (*say(" of "), *named) if named else ()
    held = "held ones first, then " if any(one.is_ageless and one.is_frozen for one in sections) else ""
    first = f", {held}last first" if any(one.is_ageless for one in sections) else ", oldest first"
    return (*say(f"evict {noun}"), *of, *_describe_rank(step, first), *say(f"{steps}{floor}"))


def _show_percent(step: Recap) -> str:
    return f"{float(step.older * 100):g}%"


def _name_template(template: Template, pack: PackModel) -> Phrase:
    """Return the path of a template relative to the pack, or say that the text is in the manifest."""
    if template.place.inline:
        return say("inline text")
    folder = dirname(pack.file)
    file = template.place.span.file
    return say("{}", file.removeprefix(f"{folder}/") if folder else file)


def _describe_plain(step: Step) -> Phrase:
    if isinstance(step, Use):
        return say("use the patch {}", step.patch)
    if isinstance(step, Continue):
        return say("its own ladder continues")
    return say("drop it") if isinstance(step, Drop) else say("fail") if isinstance(step, Fail) else say(step.rule)


def _describe_data(section: Section, pack: PackModel) -> tuple[Phrase, ...]:
    """Return the paths of the state (also those that a `let` or an index reads), the parts read of each item, then filters and order."""
    reads = frozenset(_iter_reads(section))
    paths = _shorten(list_state_reads(reads, pack))
    found = [join_phrases([say("{}", path) for path in paths], ", ")] if paths else []
    found += [_name_parts(root, reads) for root in _ROOTS if any(path[0] == root and len(path) > 1 for path in reads)]
    return (*found, *(_iter_filters(section.items) if section.items is not None else ()))


def _iter_reads(section: Section) -> Iterator[Path]:
    yield from section.reads
    if section.items is not None:
        for _, code in iter_expressions(section.items.source):
            yield from code.reads


def _shorten(paths: set[Path]) -> list[str]:
    """Return the paths, sorted, without prefixes of other paths and without the bare `state`."""
    kept = [one for one in paths if len(one) > 1 and not any(len(other) > len(one) and other[: len(one)] == one for other in paths)]
    return [".".join(path) for path in sorted(kept)]


def _name_parts(root: str, reads: frozenset[Path]) -> Phrase:
    names = sorted({path[1] for path in reads if path[0] == root and len(path) > 1})
    what = "of each item: " if root == "item" else "of what each item belongs to: "
    return (*say(what), *join_phrases([say("{}", name) for name in names], ", "))


def _iter_filters(items: Items) -> Iterator[Phrase]:
    source = items.source
    if isinstance(source, Segments | Retrieve) and source.where is not None:
        yield say("of the source where {}", source.where.text)
    if isinstance(source, Retrieve):
        yield from (say(f"score {boost.add / MICRO:+g} where {{}}", boost.where.text) for boost in source.boosts)
    if items.where is not None:
        yield say("where {}", items.where.text)
    if items.sort:
        keys = [say("{} falling" if key.desc else "{}", key.by.text) for key in items.sort]
        yield (*say("sorted by "), *join_phrases(keys, ", "))
    if items.group is not None:
        yield say("grouped by {}", items.group.by.text)


def _list_index_reads(section: Section, pack: PackModel) -> tuple[Phrase, ...]:
    """Return the lists in the state from which the section's indexes are built."""
    source = section.source
    if not isinstance(source, Retrieve):
        return ()
    made = [index for index in pack.indexes if index.name in source.indexes and isinstance(index, StateIndex)]
    return tuple(say("index {} over {}", index.name, index.source.text) for index in made)


def _describe_caps(section: Section, plan: Plan) -> tuple[Phrase, ...]:
    """Return one phrase for each limit; empty if only the total limits the section."""
    items = _iter_items(section.items) if section.items is not None else ()
    budget = _iter_budget(section.budget) if section.budget is not None else ()
    pool = plan.find_pool(section.id)
    return (*items, *budget, *([_describe_pool(pool, section)] if pool is not None else []), *([say("pinned")] if section.pinned else []))


def _describe_pool(pool: Pool, section: Section) -> Phrase:
    others = [say("{}", name) for name in pool.sections if name != section.id]
    beside = (*say(" with "), *join_phrases(others, ", ")) if others else ()
    return (*say("pool {}, ", pool.name), *say(show_size(pool.max)), *beside)


def _iter_items(items: Items) -> Iterator[Phrase]:
    if isinstance(items.source, Retrieve):
        yield from _iter_retrieve(items.source)
    if items.window is not None:
        yield _describe_window(items.window)
    if items.anchors is not None:
        yield _describe_matches("anchors", items.anchors)
    yield from (_describe_matches("keeps", one) for one in items.keep)
    if items.freeze is not None:
        late = say("; late comes what is {}", items.freeze.late.text) if items.freeze.late is not None else ()
        yield (*say("what {} names stays in place", items.freeze.shown.text), *late)
    if items.limit_per is not None:
        shown = ", ".join(f"{name} {cap}" for name, cap in items.limit_per.caps)
        yield say(f"for each {{}}: {shown}", items.limit_per.by.text)
    if items.limit is not None:
        yield say(f"limit {items.limit.count}" if items.limit.side == "first" else f"limit {items.limit.count} (the last)")
    if items.trim_each is not None:
        yield say(f"each item {show_size(items.trim_each.to)}, at {', '.join(items.trim_each.at)}")


def _iter_retrieve(source: Retrieve) -> Iterator[Phrase]:
    yield say(f"top {source.top} of {source.candidates} candidates out of {source.window}")
    yield say(f"floor {_show_ratio(Ratio(source.floor, MICRO))}" if source.floor is not None else "floor of the index")
    if source.sparse_below:
        yield say(f"sparse below {source.sparse_below}")


def _show_ratio(ratio: Ratio) -> str:
    return f"{float(ratio):.6f}".rstrip("0").rstrip(".")


def _describe_window(window: Window) -> Phrase:
    bounds = [f"at least {window.min}"] if window.min else []
    bounds += [f"at most {window.max}"] if window.max is not None else []
    bounds += [f"in steps of {window.step}"] if window.step > 1 else []
    noun = "groups" if window.whole == "group" else "items"
    more = f", {', '.join(bounds)}" if bounds else ""
    if isinstance(window.last, int):
        return say(f"window: the last {window.last} {noun}{more}")
    return say(f"window: the last {{}} {noun}{more}", window.last.text)


def _describe_matches(what: str, matches: Matches) -> Phrase:
    within = f" of the {matches.within} before the window" if what == "anchors" else f" of the last {matches.within}"
    last = matches.last.text.strip() if matches.last is not None else "all"
    count = say(last) if last == "all" or last.isdecimal() else say("{}", last)
    return (*say(f"{what} "), *count, *say(f"{within} where {{}}", matches.where.text))


def _iter_budget(budget: Budget) -> Iterator[Phrase]:
    source = say("{}, at most ", budget.source.text.strip()) if budget.source is not None else ()
    parts = [(*source, *say(show_size(budget.cap)))] if budget.cap is not None else []
    parts += [say(f"at least {show_size(budget.min)}")] if budget.min is not None and budget.min.amount else []
    parts += [say(f"a share of what is left, weight {_show_ratio(budget.grow)}")] if budget.grow else []
    parts += [say("a warning over it")] if budget.over == "warn" else []
    if parts:
        yield (*say("budget "), *join_phrases(parts, ", "))


def _describe_dedupe(dedupe: Dedupe) -> tuple[Phrase, ...]:
    found = [say("by {}, to the letter" if dedupe.exact else "by {}, normalised", dedupe.by.text)]
    if dedupe.against:
        found.append((*say("against "), *join_phrases([say("{}", name) for name in dedupe.against], ", ")))
    if dedupe.keep == "last":
        found.append(say("the last one stays"))
    return tuple(found)


def _describe_notes(section: Section, plan: Plan, pack: PackModel) -> tuple[Phrase, ...]:
    """Return the remarks, the author's own first."""
    found = [_read_phrase(section.note)] if section.note else []
    if section.when is not None:
        found.append(_CONSTANT.get(section.when.text.strip().lower()) or say("when {}", section.when.text))
    if section.required:
        found.append(say("required: absent, it is an error"))
    if section.cache:
        found.append(say("a cache breakpoint follows it"))
    if section.items is not None and section.items.tally is not None:
        found.append(say("counted by {} in the report", section.items.tally.text))
    return (*found, *_iter_ladders(section, plan, pack))


def _read_phrase(text: str) -> Phrase:
    """Parse an author's remark: text between backticks is code."""
    parts = _CODE.split(" ".join(text.split()))
    return tuple(Word(part, bool(at % 2)) for at, part in enumerate(parts) if part)


def say(pattern: str, *codes: object) -> Phrase:
    """Return the words of `pattern` with code in place of each `{}`. Whitespace in code becomes single spaces."""
    texts = pattern.split("{}")
    found = [Word(texts[0])]
    for code, text in zip(codes, texts[1:], strict=True):
        found += [Word(" ".join(str(code).split()), True), Word(text)]
    return tuple(word for word in found if word.text)


_CONSTANT = {"false": say("when: off"), "true": say("when: on")}


def _iter_ladders(section: Section, plan: Plan, pack: PackModel) -> Iterator[Phrase]:
    """Yield the section's own ladder, if anything uses it, and the section's steps in the ladders of its pool and of the total."""
    pool = plan.find_pool(section.id)
    pooled = [(at, step) for at, step in enumerate(pool.overflow if pool is not None else (), 1) if section.id in step.sections]
    turns = [(at, step) for at, step in enumerate(plan.truncate, 1) if section.id in step.sections]
    continues = any(isinstance(step, Continue) for _, step in (*pooled, *turns))
    if section.overflow and not section.pinned and (section.budget is not None or continues):
        yield (*say("over its budget: " if section.budget is not None else "its ladder: "), *_describe_ladder(section, pack))
    for over, steps in ((say("over the pool {}: ", pool.name if pool is not None else ""), pooled), (say("over the total: "), turns)):
        if steps:
            shown = [(*say(f"step {at}, "), *_describe_step(step, pack, [section])) for at, step in steps]
            yield (*over, *join_phrases(shown, "; "))


def _describe_ladder(section: Section, pack: PackModel) -> Phrase:
    """Describe all steps of a section's ladder, in order."""
    return join_phrases([_describe_step(step, pack, [section]) for step in section.overflow], ", then ")


def _describe_choice(choice: Choice) -> tuple[Phrase, ...]:
    cases = [_list("cases ", [f"{axis}={case}" for axis, case in choice.cases])] if choice.cases else []
    return (*cases, *([_list("patches ", choice.patches)] if choice.patches else []))


def show_size(size: Size) -> str:
    """Return a size as text: `1500 tokens`, `800 characters`, `15% of the total`."""
    if size.unit == "share":
        return f"{_show_ratio(size.amount * 100)}% of the total"
    noun = "character" if size.unit == "chars" else "token"
    return f"{int(size.amount)} {noun}{'' if size.amount == 1 else 's'}"


def describe_source(section: Section, pack: PackModel) -> Phrase:
    """Return the source of a section: its file, the text in the manifest, or a list, store or index and how each item is shown."""
    if section.text is not None:
        return _name_template(section.text, pack)
    assert section.items is not None
    return (*_describe_items(section.items), *_describe_forms(section.items, pack))


def _describe_items(items: Items) -> Phrase:
    source = items.source
    if isinstance(source, Expression):
        return say("{}", source.text)
    return _describe_segments(source) if isinstance(source, Segments) else _describe_retrieve(source)


def _describe_segments(source: Segments) -> Phrase:
    parts = [say("store {}, scope {}", source.store, source.scope)]
    for name, code in (("each of", source.each), ("ref", source.ref), ("locale", source.locale), ("version", source.version)):
        if code is not None:
            parts.append(say(f"{name} {{}}", code.text))
    if source.missing == "error":
        parts.append(say("all must answer"))
    return join_phrases(parts, ", ")


def _describe_retrieve(source: Retrieve) -> Phrase:
    names = join_phrases([say("{}", name) for name in source.indexes], ", ")
    queries = join_phrases([say("{}", query.text) for query in source.queries], ", ")
    parts = [(*say("index "), *names), (*say("query "), *queries)]
    if source.version is not None:
        parts.append(say("version {}", source.version.text))
    return join_phrases(parts, ", ")


def _describe_forms(items: Items, pack: PackModel) -> Phrase:
    if items.message is not None:
        return say("; each a message of role {}", items.message.role.text)
    if items.tool is not None:
        return (*say("; each a tool: "), *join_phrases([say("{}", name) for name in items.tool.names], ", then "))
    files = [_name_template(form, pack) for form in items.forms]
    inner = join_phrases(files, ", then ")
    return (*say("; each as "), *inner)


def show_plain(phrase: Phrase) -> str:
    """Return the phrase as text, with backticks around its code."""
    return "".join(f"`{word.text}`" if word.is_code else word.text for word in phrase)


def join_phrases(phrases: list[Phrase], between: str) -> Phrase:
    """Return the phrases as one, with `between` between them."""
    found: list[Word] = []
    for phrase in phrases:
        found += [Word(between), *phrase] if found else phrase
    return tuple(found)
