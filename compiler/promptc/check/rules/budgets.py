"""The worst case: whether what is pinned fits whatever a valid state holds, or which property has no bound."""

import re
from collections.abc import Iterator, Sequence

from promptc.check.bounds import bound_section, find_texts, make_cost
from promptc.check.count_offer import count_offer
from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.check.settled import SettledTexts
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic, Span, count_noun
from promptc.diag.frozen import frozen
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Section, Segments
from promptc.template.types.bounds import Amount

PROVABLE = ("cl100k_base", "o200k_base", "chars/4")
"""Counters by which a text never has more tokens than bytes."""
_PROMPT = 3
_SHOWN = 4


@frozen(eq=False)
class _Case:
    """The bounds of one plan, by section, what it offers beside them with its tokens, and its total."""

    bounds: tuple[tuple[Section, Amount], ...]
    offer: tuple[str, int]
    total: int
    span: Span


def check_worst_case(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """One finding for the plan that needs most, or one for each section that has no bound. Nothing where nothing is pinned or kept."""
    if pack.schema is None or pack.counting.counter.name not in PROVABLE:
        return
    cases = list(_iter_cases(pack, looks))
    open_sections = {section.id: (section, amount) for case in cases for section, amount in case.bounds if amount.size is None}
    for section, amount in open_sections.values():
        yield _report_open(pack, section, amount)
    bounded = [case for case in cases if case.bounds]
    if not open_sections and bounded:
        yield _report_bound(pack, max(bounded, key=lambda case: _sum_case(pack, case) - case.total))


def _iter_cases(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[_Case]:
    settled = SettledTexts(pack)
    scopes: dict[tuple[str, ...], Scopes] = {}
    for look in looks:
        fences = list_fences(look.plan, settled)
        if fences not in scopes:
            scopes[fences] = Scopes(pack, make_cost(pack.counting.counter, fences))
        bounds = tuple(_iter_worst_bounds(pack, look, fences, scopes[fences], settled))
        yield _Case(bounds, count_offer(pack, look.plan), _find_total(pack, look.plan), look.plan.budget.span)


def _find_total(pack: PackModel, plan: Plan) -> int:
    held = pack.counting.margin if pack.counting.reason else 0
    return plan.budget.total * (100 - held) // 100


def list_fences(plan: Plan, settled: SettledTexts) -> tuple[str, ...]:
    """The lines of all fences, or how they begin where the rest depends on the state. An item fence that begins with an expression guards
    nothing; a section's may then begin as any line does."""
    found: set[str] = set()
    for section in plan.sections:
        inner = section.items.fence if section.items is not None else None
        for fence, is_inner in ((section.fence, False), (inner, True)):
            for text in (fence.open, fence.close) if fence is not None else ():
                static = settled.find_static(text, section)
                literal = re.split(r"\{[{%#]", text.text, maxsplit=1)[0] if static is None else static
                lines = [line.strip() for line in literal.splitlines()] or [""]
                found.update(line for line in lines if line or not (is_inner or static is not None))
    return tuple(sorted(found))


def _iter_worst_bounds(
    pack: PackModel, look: Configuration, fences: tuple[str, ...], scopes: Scopes, settled: SettledTexts
) -> Iterator[tuple[Section, Amount]]:
    for section in look.plan.sections:
        if settled.is_off(section) or not (section.pinned or (section.items is not None and section.items.keep)):
            continue
        texts = find_texts(iter_texts(pack, look.plan, look.combination.tier + 1), section, scopes)
        yield section, bound_section(section, texts, look.plan.output, fences)


def _sum_case(pack: PackModel, case: _Case) -> int:
    return sum_up(pack, case.bounds) + case.offer[1]


def sum_up(pack: PackModel, bounds: Sequence[tuple[Section, Amount]]) -> int:
    """The tokens of all sections together; with `chars/4`, of their characters together."""
    return sum(count(pack, amount) for _, amount in bounds) + _PROMPT


def count(pack: PackModel, amount: Amount) -> int:
    """The tokens of one bound."""
    unit = pack.counting.counter.unit
    return (amount.tokens or 0) if unit == 1 else -(-(amount.characters or 0) // unit)


def _report_open(pack: PackModel, section: Section, amount: Amount) -> Diagnostic:
    what = "the pinned content" if section.pinned else "what `keep` holds"
    pointer = amount.at.removeprefix("#")
    place = pack.find_schema_place
    span = place(pointer) if place is not None and pointer else section.span
    why, help = _explain_open(section, pointer)
    return Diagnostic("PC0655", f"that {what} of `{section.id}` always fits cannot be proved: {why}", span, help, "note")


def _explain_open(section: Section, pointer: str) -> tuple[str, str]:
    if pointer:
        help = "give it a `maxLength`, `maxItems`, `maximum` or `enum`, or cut it in the text with `truncate_at(..., chars=...)`"
        return f"nothing bounds `{_spell(pointer)}`", help
    if section.items is not None and isinstance(section.items.source, Segments):
        help = "render with the longest segments it holds: what does not fit is an error, never shorter"
        return "a store may hold anything", help
    return "not all it prints has a bound", "cut it in the text with `truncate_at(..., chars=...)`, or bound the list it goes over"


def _iter_over(pack: PackModel, case: _Case) -> Iterator[tuple[Section, int]]:
    """Pinned sections that may need more than they are given. What is the same in any state is told by PC0610."""
    for section, amount in case.bounds:
        budget, constant = section.budget, section.text is not None and not section.text.reads
        if not section.pinned or constant or budget is None or budget.cap is None or budget.over == "warn":
            continue
        if budget.cap.unit != "chars" and count(pack, amount) > budget.cap.tokens(case.total):
            yield section, count(pack, amount)


def _spell(pointer: str) -> str:
    """A place in the schema as a path: `person.friends[]`."""
    shown = ""
    for token in pointer.split("/")[1:]:
        if token == "items":
            shown += "[]"
        elif token not in ("properties", "$defs") and not token.isdecimal():
            shown += f".{token}" if shown else token
    return shown


def _report_bound(pack: PackModel, case: _Case) -> Diagnostic:
    most = _sum_case(pack, case)
    held = [(count(pack, amount), f"`{section.id}`") for section, amount in case.bounds]
    held += [(case.offer[1], case.offer[0])] if case.offer[1] else []
    largest = sorted(held, key=lambda one: (-one[0], one[1]))
    shown = ", ".join(f"{name} {tokens}" for tokens, name in largest[:_SHOWN])
    shown += f" and {len(largest) - _SHOWN} more" if len(largest) > _SHOWN else ""
    added = f", and what a provider adds for {case.offer[0]}" if case.offer[1] else ""
    over = [(section, tokens) for section, tokens in _iter_over(pack, case)]
    if over:
        section, tokens = over[0]
        message = f"`{section.id}` is pinned and may be over its own cap: by the schema up to {count_noun(tokens, 'token')}"
        return Diagnostic(
            "PC0657", message, section.span, "lower the bounds in the schema, cut it in the text, or raise its budget", "warn"
        )
    if most <= case.total:
        message = f"pinned content fits for every valid state: at most {most} of {count_noun(case.total, 'token')} ({shown}){added}"
        return Diagnostic("PC0656", message, case.span, "", "note")
    message = f"pinned content may not fit: by the schema up to {count_noun(most, 'token')}, and the total is {case.total} ({shown})"
    return Diagnostic("PC0657", message, case.span, "lower the bounds in the schema, cut it in the text, or raise the total", "warn")
