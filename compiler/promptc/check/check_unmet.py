"""Conditions that no valid state meets: a section that is never on, a filter that lets nothing through."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.check.texts import UsedText, iter_texts
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel, Plan, list_steps
from promptc.model.section import Items, Ranked, Recap, Retrieve, Segments, Step
from promptc.template.compile import Expression
from promptc.template.types.algebra import find_place, read_code
from promptc.template.types.conditions import ANYTHING, Cases, Demand, describe_demand, describe_kind, find_clash, join_cases, list_cases

_TOLD = ("name", "part", "never")
"""What is wrong with a condition that says already why it does not hold."""


def check_unmet(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Each condition of a section or step that is never true, whatever valid state it is asked of. Constant ones are other rules', and so
    is a comparison with what a value never is."""
    scopes = Scopes(pack)
    return merge_configurations(looks, lambda look: _iter_look(pack, look, scopes))


def _iter_look(pack: PackModel, look: Configuration, scopes: Scopes) -> Iterator[Diagnostic]:
    steps = list_steps(pack.strain.tiers[: look.combination.tier + 1])[0] if pack.strain is not None else ()
    conditions = set(map(id, _iter_conditions(look.plan, steps)))
    before: dict[int, Cases] = {}
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        if id(text.code) not in conditions or not text.code.reads:
            continue
        own = list_cases(read_code(text.code), scopes.open(text))
        clash = find_clash(join_cases(own, before.get(id(text.section), ANYTHING)))
        if clash is not None and not any(one.rule in _TOLD for one in scopes.find(text).problems):
            yield _describe(text, clash)
        elif clash is None and _is_first(text):
            before[id(text.section)] = join_cases(before.get(id(text.section), ANYTHING), _forget_this(own))


def _is_first(text: UsedText) -> bool:
    """True for a section's `when` and the `where` of its items: they hold where any other condition of it is asked."""
    section = text.section
    return section is not None and (text.code is section.when or (section.items is not None and text.code is section.items.where))


def _forget_this(cases: Cases) -> Cases:
    """Without what is asked of `this`, which is another at another place."""
    return tuple(tuple(demand for demand in case if "this" not in demand.names) for case in cases)


def _iter_conditions(plan: Plan, steps: Sequence[Step]) -> Iterator[Expression]:
    for section in plan.sections:
        if section.when is not None:
            yield section.when
        if section.items is not None:
            yield from _iter_of_items(section.items)
    for step in (*plan.truncate, *steps, *(one for section in plan.sections for one in section.overflow)):
        if isinstance(step, Ranked):
            yield from step.order
        if isinstance(step, Recap) and step.where is not None:
            yield step.where


def _iter_of_items(items: Items) -> Iterator[Expression]:
    yield from (one.where for one in (*items.keep, *([items.anchors] if items.anchors is not None else [])))
    if items.where is not None:
        yield items.where
    if isinstance(items.source, Segments | Retrieve) and items.source.where is not None:
        yield items.source.where
    if isinstance(items.source, Retrieve):
        yield from (one.where for one in items.source.boosts)


def _describe(text: UsedText, clash: tuple[Demand, ...]) -> Diagnostic:
    span = find_place(text.code).find_span("", text.code.text, clash[0].at if clash else 1)
    asks = " and ".join(f"`{describe_demand(one)}`" for one in clash)
    if not clash:
        why = "it is false whatever the state holds"
    elif len(clash) > 1:
        why = f"no value meets {asks}" if all(one.spelled for one in clash) else "two of its demands exclude each other"
    else:
        subject = f"`{clash[0].spelled}`" if clash[0].spelled else "that"
        why = f"it asks for {asks}, and by the schema {subject} is {describe_kind(clash[0].kind)}"
    return Diagnostic("PC0673", f"{text.what} never holds: {why}", span, "correct the condition, or the schema", "warn")
