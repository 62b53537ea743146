"""A pack's block map, from the pack alone."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.blockmap.block import Block, BlockChange, BlockMap, Variation
from promptc.blockmap.compare_blocks import compare_blocks
from promptc.blockmap.describe_caps import describe_caps
from promptc.blockmap.describe_data import describe_data, list_index_reads
from promptc.blockmap.describe_notes import describe_notes
from promptc.blockmap.describe_source import describe_source
from promptc.blockmap.describe_steps import describe_step
from promptc.blockmap.find_choice import find_choice
from promptc.blockmap.phrase import Phrase, join_phrases, say
from promptc.diag.findings import count_noun
from promptc.diag.frozen import replace
from promptc.model.pack import Choice, PackModel, Plan, list_steps
from promptc.model.section import Dedupe, Section

Blocks = tuple[Block, ...]
_EACH = "each item its own"


def draw_map(pack: PackModel, cases: Mapping[str, str], patches: Sequence[str] = ()) -> BlockMap:
    """The map of the plan with these cases (for the other axes: their defaults, else their first cases) and patches, under no strain, and
    what other cases, the tiers and other patches change. Depends on the pack alone. Raises `PromptcError` for a plan that does not load,
    `UsageError` for one that the pack does not have."""
    choice = find_choice(pack, cases, patches)
    plan = pack.find_plan(choice)
    drawer = _Drawer(pack)
    variations = (
        *drawer.iter_cases(choice, cases),
        *drawer.iter_tiers(choice),
        *drawer.iter_patches(choice),
    )
    return BlockMap(pack.name, pack.version, (*_describe_plan(pack, plan), *_describe_choice(choice)), drawer.list_blocks(plan), variations)


class _Drawer:
    """Draws the plans of one pack."""

    def __init__(self, pack: PackModel) -> None:
        self._pack = pack

    def list_blocks(self, plan: Plan) -> Blocks:
        """In the order of the output."""
        return tuple(self._draw(section, plan) for section in plan.sections)

    def iter_cases(self, choice: Choice, asked: Mapping[str, str]) -> Iterator[Variation]:
        """The other cases of every axis that was not asked for."""
        for axis in self._pack.axes:
            for case in axis.cases:
                if axis.name not in asked and (axis.name, case) not in choice.cases:
                    others = tuple((name, case if name == axis.name else one) for name, one in choice.cases)
                    yield self._vary("case", f"{axis.name}={case}", choice, replace(choice, cases=others))

    def iter_tiers(self, choice: Choice) -> Iterator[Variation]:
        """Each tier over the one before; the first is the plan itself, unless it does something."""
        tiers = self._pack.strain.tiers if self._pack.strain is not None else ()
        before = self.list_blocks(self._pack.find_plan(choice))
        for at, tier in enumerate(tiers):
            uses = list_steps(tiers[: at + 1])[1]
            after = self.list_blocks(self._pack.find_plan(replace(choice, tiers=at + 1, uses=uses)))
            changes = _merge((*compare_blocks(before, after), *self._list_acts(at)))
            before = after
            if at or changes:
                yield Variation("tier", tier.name, changes)

    def iter_patches(self, choice: Choice) -> Iterator[Variation]:
        """Those that are not chosen."""
        for name in self._pack.patch_names:
            if name not in choice.patches:
                yield self._vary("patch", name, choice, replace(choice, patches=(*choice.patches, name)))

    def _vary(self, kind: str, name: str, choice: Choice, other: Choice) -> Variation:
        before, after = self._pack.find_plan(choice), self._pack.find_plan(other)
        had, has = _describe_plan(self._pack, before), _describe_plan(self._pack, after)
        changes = compare_blocks(self.list_blocks(before), self.list_blocks(after))
        return Variation(kind, name, changes, tuple(one for one in has if one not in had))

    def _list_acts(self, at: int) -> tuple[BlockChange, ...]:
        """What a tier does at once, and what it no longer does of the earlier ones."""
        tiers = self._pack.strain.tiers if self._pack.strain is not None else ()
        earlier, steps = list_steps(tiers[:at])[0], list_steps(tiers[: at + 1])[0]
        done = [(step, "at once: ") for step in steps if step not in earlier]
        undone = [(step, "no more: ") for step in earlier if step not in steps]
        return tuple(BlockChange(step.section, ((*say(word), *describe_step(step, self._pack)),)) for step, word in (*done, *undone))

    def _draw(self, section: Section, plan: Plan) -> Block:
        dedupe = section.items.dedupe if section.items is not None else None
        return Block(
            id=section.id,
            title=section.title,
            role=section.role if section.items is None or section.items.message is None else _EACH,
            source=describe_source(section, self._pack),
            data=(*describe_data(section, self._pack), *list_index_reads(section, self._pack)),
            caps=describe_caps(section),
            dedupe=_describe_dedupe(dedupe) if dedupe is not None else (),
            notes=describe_notes(section, plan, self._pack),
        )


def _merge(changes: Sequence[BlockChange]) -> tuple[BlockChange, ...]:
    """One for each block."""
    found: dict[str, tuple[Phrase, ...]] = {}
    for change in changes:
        found[change.block] = (*found.get(change.block, ()), *change.says)
    return tuple(BlockChange(block, says) for block, says in found.items())


def _describe_dedupe(dedupe: Dedupe) -> tuple[Phrase, ...]:
    found = [say("by {}, to the letter" if dedupe.exact else "by {}, normalised", dedupe.by.text)]
    if dedupe.against:
        found.append((*say("against "), *join_phrases([say("{}", name) for name in dedupe.against], ", ")))
    if dedupe.keep == "last":
        found.append(say("the last one stays"))
    return tuple(found)


def _describe_plan(pack: PackModel, plan: Plan) -> tuple[Phrase, ...]:
    budget, counter = plan.budget, pack.counting.wanted or pack.counting.counter.name
    reserve = f", {budget.reserve} of {budget.context} are kept for the answer" if budget.reserve else ""
    found = [say(f"{count_noun(budget.total, 'token')} by {{}}{reserve}", counter), say(f"{plan.output.format} output")]
    if plan.tools:
        found.append(_list("tools ", [tool.name for tool in plan.tools]))
    if plan.response is not None:
        found.append(say("response {}", plan.response.name))
    return tuple(found)


def _describe_choice(choice: Choice) -> tuple[Phrase, ...]:
    cases = [_list("cases ", [f"{axis}={case}" for axis, case in choice.cases])] if choice.cases else []
    return (*cases, *([_list("patches ", choice.patches)] if choice.patches else []))


def _list(what: str, names: Sequence[str]) -> Phrase:
    return (*say(what), *join_phrases([say("{}", name) for name in names], ", "))
