"""`shorten`: items go to their next form, all of a class one form down before any goes two."""

from collections.abc import Callable, Iterator

from promptc.model.section import Shorten
from promptc.model.stages import Item
from promptc.passes.act import Act, EntryEdit
from promptc.passes.fit.steps import StepScope, iter_classes, sort_by_age
from promptc.passes.layout.section import SectionLayout


def iter_shortenings(step: Shorten, fit: SectionLayout, scope: StepScope, render_form: Callable[[Item, int], Item | None]) -> Iterator[Act]:
    """The notches of the step. What was trimmed is passed over; a form that is not shorter where it stands is void."""
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
                    yield Act(label, edit=EntryEdit(entry, item=item, form=form), voidable=True)
