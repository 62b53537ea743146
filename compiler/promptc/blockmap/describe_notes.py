"""Remarks on a section: its author's, when it is there, and how it gives way."""

from collections.abc import Iterator

from promptc.blockmap.describe_steps import describe_ladder, describe_step
from promptc.blockmap.phrase import Phrase, join_phrases, read_phrase, say
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Continue, Section

_CONSTANT = {"false": say("when: off"), "true": say("when: on")}


def describe_notes(section: Section, plan: Plan, pack: PackModel) -> tuple[Phrase, ...]:
    """The author's first, as the plan has it."""
    found = [read_phrase(section.note)] if section.note else []
    if section.when is not None:
        found.append(_CONSTANT.get(section.when.text.strip().lower()) or say("when {}", section.when.text))
    if section.required:
        found.append(say("required: absent, it is an error"))
    if section.cache:
        found.append(say("a cache breakpoint ends behind it"))
    if section.items is not None and section.items.tally is not None:
        found.append(say("counted by {} in the report", section.items.tally.text))
    return (*found, *_iter_ladders(section, plan, pack))


def _iter_ladders(section: Section, plan: Plan, pack: PackModel) -> Iterator[Phrase]:
    """The section's own ladder where anything climbs it, and its turns in that of the whole."""
    turns = [(at, step) for at, step in enumerate(plan.truncate, 1) if step.section == section.id]
    continues = any(isinstance(step, Continue) for _, step in turns)
    if section.overflow and not section.pinned and (section.budget is not None or continues):
        yield (*say("over its budget: " if section.budget is not None else "its ladder: "), *describe_ladder(section.overflow, pack))
    if turns:
        shown = [(*say(f"step {at}, "), *describe_step(step, pack)) for at, step in turns]
        yield (*say("over the total: "), *join_phrases(shown, "; "))
