"""`recap` and `replace`: many items become one new item, at the oldest one's place."""

from collections.abc import Iterator, Sequence

from promptc.diag.typed import Literal
from promptc.model.section import Recap, Replace
from promptc.model.stages import Item
from promptc.passes.act import Act, Entry
from promptc.passes.fit.steps import StepScope, list_units
from promptc.passes.items.render import strip_lines
from promptc.passes.layout.section import SectionLayout
from promptc.template.compile import Template
from promptc.template.runtime.run import price_count
from promptc.text.guard import Guard


def iter_recaps(step: Recap, fit: SectionLayout, scope: StepScope, guard: Guard) -> Iterator[Act]:
    """At most one notch: the oldest floor(n x older) of the n items that pass `where`. A tool's use and its result count as one."""
    where = step.where
    passing = [unit for unit in list_units(fit) if where is None or (not unit[0].is_made and scope.evaluate(where, unit[0]))]
    share = int(len(passing) * step.older)
    if share:
        yield _act("recap", passing[:share], step.template, fit, scope, guard, f"the oldest {share} of {len(passing)}")


def iter_replacements(step: Replace, fit: SectionLayout, scope: StepScope, guard: Guard) -> Iterator[Act]:
    """At most one notch: everything that may go."""
    passing = list_units(fit)
    if passing:
        yield _act("replace", passing, step.template, fit, scope, guard, "the whole content")


def _act(
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
        made = Item(id, first.number, None, raw, guarded, windowed=False, key=first.key, unit=-1 - len(fit.entries), role=role, found=found)
    return Act(why, entries, made=made, voidable=True)
