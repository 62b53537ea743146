"""The selection pass: `select` selects the content of every section under one plan, and reuses what is still valid of an earlier selection.

`CostlyWork` does the costly work of this pass and of fitting: fences, the guard, sections, their layout. A caller that renders many similar
states passes a subclass that memoizes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail, show_value
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.pack import Choice, Guarding, Plan, has_reach, list_reads
from promptc.model.section import Fence, Items, Section
from promptc.model.stages import Bound, Gathered, Gathering, Item, Selected, Selection
from promptc.passes.bind import REDACTIONS, pay_text, section_names
from promptc.passes.items.read import ItemMemo
from promptc.passes.items.render import CountMedia, guard_fence, render_fence, split_literals, strip_lines
from promptc.passes.items.select import Reach, select_items
from promptc.passes.layout.layout import Layout
from promptc.passes.layout.section import SectionLayout, count_demand
from promptc.template.compile import Expression
from promptc.text.guard import Guard, guard_again, make_guard

_NOUNS = {
    "fence": "the text of a fence",
    "special_token": "a special token",
    "hidden_text": "characters that show nothing and hide a text",
    "invisible": "invisible characters",
    "lookalike": "a lookalike of a fence or special token",
}

_REJECTED = "clean the state, or write `escape` in place of `reject` under `output.guard`"


def select(
    bound: Bound,
    plan: Plan,
    choice: Choice,
    strain: Mapping[str, Any],
    *,
    before: Selection | None = None,
    gathering: Gathering | None = None,
    work: CostlyWork,
) -> Selection:
    """Select the content of every section under `plan`.

    A section that `before` selected is reused if neither the section nor anything it reads has changed. `gathering` queries sources outside
    the state, and may be None for a pack without such sources. `strain` contains the names `tier`, `index` and `percent`.

    Raises `PromptcError` with the findings of all sections, or `DiskError` at the first source that cannot be read.
    """
    fences = work.render_fences(bound, plan, strain)
    is_guarded_alike = before is not None and before.fences == fences and _list_rules(before.plan, bound) == _list_rules(plan, bound)
    is_counted_alike = before is not None and before.plan.output.models == plan.output.models
    guard = before.guard if before is not None and is_guarded_alike else work.load_guard(bound, plan, fences)
    reuse = _Reuse(before if is_guarded_alike and is_counted_alike else None, bound, plan, strain)
    counts: dict[str, int] = {}
    chosen: dict[str, Selected] = {}
    selector = SectionSelector(bound, plan, guard, strain, counts, chosen, gathering)
    findings: list[Diagnostic] = []
    for section in plan.sections:
        try:
            found = reuse.find(section)
            if found is None:
                found = work.select_section(selector, section, fences[section.id])
            chosen[section.id] = found
        except DiskError:
            raise
        except PromptcError as error:
            findings.extend(error.diagnostics)
            chosen[section.id] = Selected(section, "off")
        counts[section.id] = len(chosen[section.id].items)
    if findings:
        raise PromptcError(findings)
    return Selection(bound, plan, choice, guard, fences, tuple(chosen.values()), strain)


class _Reuse:
    """The sections of an earlier selection that are still valid."""

    def __init__(self, before: Selection | None, bound: Bound, plan: Plan, strain: Mapping[str, Any]) -> None:
        """Index the earlier selection.

        A list that was read only in part is not reused if the shared steps differ: other steps may need what was not read.
        """
        is_cut_alike = before is not None and before.plan.truncate is plan.truncate and before.plan.pools is plan.pools
        sections = before.sections if before is not None else ()
        self._before = {one.section.id: one for one in sections if is_cut_alike or not one.is_partial}
        self._pack = bound.pack
        told = before.strain if before is not None else strain
        self._changed_names: set[tuple[str, ...]] = {("strain", name) for name in strain if told[name] != strain[name]}
        if before is not None and before.bound is not bound:
            self._changed_names.add(("variant",))
        self._held: set[str] = set()
        self._changed: set[str] = set()

    def find(self, section: Section) -> Selected | None:
        """Return the earlier selection of a section, or None if it is no longer valid.

        Call it once for each section, in order: it records which sections changed, because later sections may read them.
        """
        held = self._before.get(section.id)
        if held is not None and held.section is section and not self._is_touched(section):
            self._held.add(section.id)
            return held
        self._changed.add(section.id)
        return None

    def _is_touched(self, section: Section) -> bool:
        reads = list_reads(section, self._pack) if self._changed_names else ()
        if any(path[: len(name)] == name[: len(path)] for path in reads for name in self._changed_names):
            return True  # a value that it reads changed, or a part of one
        against = section.items.dedupe.against if section.items is not None and section.items.dedupe is not None else ()
        if any(name not in self._held for name in against):
            return True  # it changed, or is no longer an earlier section: selecting again reports that
        counted = {path[1] if len(path) > 1 else "" for path in section.reads if path[0] == "selected"}
        return bool(counted & self._changed) or ("" in counted and bool(self._changed))


class CostlyWork:
    """The costly work of the passes. Each method is a function of its arguments, so a subclass may memoize it."""

    def choose_later(self) -> CostlyWork:
        """Return the work to use when the same state is rendered again after its render is over, perhaps in another thread."""
        return self

    def render_fences(self, bound: Bound, plan: Plan, strain: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        """Return the opening and closing fence of every section, by section id. Data in a fence is guarded."""
        fences = {section.id: _render_fences(section, bound.names, strain) for section in plan.sections}
        for section in plan.sections:
            if not is_settled(section.fence):
                fences[section.id] = _guard_fences(section, fences, plan, bound)
        return fences

    def load_guard(self, bound: Bound, plan: Plan, fences: Mapping[str, tuple[str, str]]) -> Guard:
        """Return the guard of a render with these fences."""
        return _load_guard(plan, fences, bound)

    def select_section(self, selector: SectionSelector, section: Section, fences: tuple[str, str]) -> Selected:
        """Return the selected section with its fences and header. Raises `PromptcError`."""
        return selector.select(section, fences)

    def count_demand(self, layout: Layout, selection: Selection, selected: Selected) -> int:
        """Return a section's charge in units before any step."""
        return count_demand(layout, selection, selected)

    def lay_section(self, selection: Selection, selected: Selected, part: int, layout: Layout) -> SectionLayout:
        """Lay out the section of index `part`, ready to be fitted."""
        return SectionLayout(selection, selected, part, layout)


class SectionSelector:
    """Selects sections in order under one plan and guard; `counts` has the number of items of each earlier section."""

    def __init__(
        self,
        bound: Bound,
        plan: Plan,
        guard: Guard,
        strain: Mapping[str, Any],
        counts: Mapping[str, int],
        chosen: Mapping[str, Selected],
        gathering: Gathering | None,
    ) -> None:
        self.bound = bound
        self.plan = plan
        self.guard = guard
        self.strain = strain
        self.counts = counts
        self._chosen = chosen
        self._gathering = gathering

    def select(self, section: Section, fences: tuple[str, str], memo: ItemMemo | None = None) -> Selected:
        """Select a section, with its fences and header. `memo` knows the items of earlier renders.

        Raises `PromptcError` (PC0518) if the section is required but absent or empty.
        """
        names = section_names(self.bound.names, section, self.strain, dict(self.counts))
        selected = self._select(section, names, memo)
        if section.required and selected.state != "present" and not self._has_no_place(section):
            why = "its `when` is false" if selected.state == "off" else "it has no content"
            help = ("make it true" if selected.state == "off" else "give it content") + ", or remove `required`"
            absent = Diagnostic("PC0518", f"the required section `{section.id}` is absent: {why}", section.span, help)
            raise PromptcError([absent, *selected.warnings])
        raw = strip_lines(section.header.render(names)) if section.header is not None and selected.items else ""
        pay_text(names, raw, section.span, f"the header of `{section.id}`")
        header, found = self.guard.guard(raw) if raw else ("", ())
        selected = replace(selected, open=fences[0], close=fences[1], header=header, found=(*found, *selected.found))
        _refuse_guarded(selected)
        return selected

    def find_reach(self, section: Section) -> Reach | None:
        """Return a `Reach` that limits how far a list is read, or None if the list is read whole.

        It allows for as much as a prompt, the section's own cap, or a pool of the section can hold.
        """
        if not has_reach(section, self.plan, self.bound.pack):
            return None
        first = self.bound.pack.load_plan(replace(self.bound.choice, tiers=0, uses=()))
        base = first.find_section(section.id)
        caps = [one.find_cap(self.bound.total) or 0 for one in (section, base) if one is not None]
        pools = [pool for plan in (first, self.plan) for pool in plan.pools if section.id in pool.sections]
        most = max([*caps, self.bound.total, *(pool.max.tokens(self.bound.total) for pool in pools)])
        units = most * self.bound.meter.counter.unit
        steps = [step for step in self.plan.list_shared_steps() if section.id in step.sections]
        return Reach(section, steps, self.bound.meter, units)

    def find_media_model(self, section: Section) -> str | None:
        """Return the model that counts the media of the section's messages, or None if it has no media or no model is named."""
        message = section.message
        if message is None or message.media is None:
            return None
        provider = self.bound.provider.name if self.bound.provider is not None else ""
        return message.media.choose_model(self.bound.model, self.plan.output.models.get(provider), self.bound.budget.model)

    def _find_media_counter(self, section: Section) -> CountMedia | None:
        message = section.message
        if message is None or message.media is None:
            return None
        from promptc.passes.items.media import MediaReader

        provider = self.bound.provider.name if self.bound.provider is not None else None
        return MediaReader(message.media, self.find_media_model(section), provider, self.bound.format == "text").count

    def _select(self, section: Section, names: Mapping[str, Any], memo: ItemMemo | None) -> Selected:
        if section.id in self.bound.without or self._has_no_place(section):
            return Selected(section, "off")
        if section.when is not None and not section.when.evaluate(names):
            return Selected(section, "off")
        if section.items is not None:
            dedupe = section.items.dedupe
            return select_items(
                section,
                section.items,
                names,
                guard=self.guard,
                meter=self.bound.meter,
                total=self.bound.total,
                against={name: self._list_values(name, section.items.span) for name in dedupe.against} if dedupe is not None else {},
                reach=self.find_reach(section),
                shows=self.bound.find_shows(),
                gathered=self._find_gathered(section, section.items, names),
                count_media=self._find_media_counter(section),
                memo=memo,
            )
        return self._select_text(section, names)

    def _has_no_place(self, section: Section) -> bool:
        """Return whether the section is one of tools in text output, which has no place for tools."""
        return section.is_tools and self.bound.format == "text"

    def _list_values(self, name: str, span: Span) -> tuple[Any, ...]:
        found = self._chosen.get(name)
        if found is None:
            message = f"`dedupe.against` names `{name}`, which is not a section above this one"
            raise fail("PC0519", message, span, help="name a section above this one, or move that section up")
        return tuple(item.value for item in found.items)

    def _find_gathered(self, section: Section, items: Items, names: Mapping[str, Any]) -> Gathered | None:
        if isinstance(items.source, Expression) or self._gathering is None:
            return None
        if not section.redact:
            return self._gathering.gather(section, self.bound, names)
        # Sources are queried with the values of the state: they do not know the placeholders.
        gathered = self._gathering.gather(section, self.bound, {**names, **self.bound.names})
        show = partial(self.bound.names[REDACTIONS].redact_value, rules=section.redact)
        return replace(
            gathered,
            warnings=tuple(replace(one, message=show(one.message)) for one in gathered.warnings),
            values=tuple(map(show, gathered.values)),
            elements=tuple(map(show, gathered.elements)),
            account=show(gathered.account),
            refused=tuple(map(show, gathered.refused)),
        )

    def _select_text(self, section: Section, names: Mapping[str, Any]) -> Selected:
        raw = strip_lines(section.text.render(names)) if section.text is not None else ""
        if not raw:
            return Selected(section, "empty")
        pay_text(names, raw, section.span, f"the text of `{section.id}`")
        text, found = self.guard.guard(raw) if section.text is None or section.text.reads else guard_again(self.guard, raw)
        return Selected(section, "present", (Item("text", 0, None, raw, text, found=found),))


def is_settled(fence: Fence | None) -> bool:
    """Return whether a fence reads nothing but its section."""
    return fence is None or all(path[0] == "section" for text in (fence.open, fence.close) for path in text.reads)


def _list_rules(plan: Plan, bound: Bound) -> tuple[Guarding, list[str], bool]:
    """Return what a guard checks besides the fences of sections.

    That is the policies, the literal beginnings of item fences, and whether texts are joined without a line end: by a section's separator,
    or by a service that joins neighbouring messages of one role.
    """
    prefixes = sorted({prefix for section in plan.sections for prefix in _list_prefixes(section)})
    is_inline = any(section.separator is not None and section.separator[:1] not in ("\n", "\r") for section in plan.sections)
    return plan.output.guarding, prefixes, is_inline or (bound.format == "messages" and plan.output.repeats_roles)


def _list_prefixes(section: Section) -> list[str]:
    """Return the literal beginnings of an item fence; a fence that begins with an expression has none."""
    fence: Fence | None = section.items.fence if section.items is not None else None
    if fence is None:
        return []
    starts = (split_literals(one)[0] for one in (fence.open, fence.close))
    return [start for start in starts if start]


def _render_fences(section: Section, names: Mapping[str, Any], strain: Mapping[str, Any]) -> tuple[str, str]:
    fence = section.fence
    if fence is None:
        return "", ""
    seen = section_names(names, section, strain, {})
    return render_fence(fence.open.render(seen), fence, section), render_fence(fence.close.render(seen), fence, section)


def _guard_fences(section: Section, fences: Mapping[str, tuple[str, str]], plan: Plan, bound: Bound) -> tuple[str, str]:
    """Guard the fences of a section that contain data: data must not be read as structure in a fence either."""
    assert section.fence is not None
    others = {name: pair for name, pair in fences.items() if name != section.id}
    guard = _load_guard(plan, others, bound)
    open, found = guard_fence(section.fence.open, fences[section.id][0], guard)
    close, more = guard_fence(section.fence.close, fences[section.id][1], guard)
    _refuse_guarded(Selected(section, "present", open=open, close=close, found=(*found, *more)))
    return open, close


def _load_guard(plan: Plan, fences: Mapping[str, tuple[str, str]], bound: Bound) -> Guard:
    lines = sorted({line for pair in fences.values() for line in pair if line})
    guarding, prefixes, is_joined = _list_rules(plan, bound)
    return make_guard(
        tuple(lines),
        tuple(prefixes),
        fence_policy=guarding.fences,
        token_policy=guarding.special_tokens,
        invisible_policy=guarding.invisible,
        tokens=tuple(bound.meter.counter.special_tokens),
        guards_ends=is_joined,
        in_messages=bound.format == "messages",
    )


def _refuse_guarded(selected: Selected) -> None:
    """Raise PC0523 for what the pack's guard rejects, with the item and the line of its text."""
    places = [(f"the header of `{selected.section.id}`", selected.found)]
    places += [(f"item `{item.id}` of `{selected.section.id}`", item.found) for item in selected.items]
    refused = [(place, found) for place, list_of in places for found in list_of if found.policy == "reject"]
    if refused:
        raise PromptcError(
            Diagnostic(
                "PC0523", f"{place}, line {one.line}, contains {_NOUNS[one.kind]}: {show_value(one.text)}", selected.section.span, _REJECTED
            )
            for place, one in refused
        )
