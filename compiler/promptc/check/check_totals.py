"""Promises over the total: pinned caps, minimums and constant pinned texts that the whole cannot hold."""

from collections.abc import Iterator, Sequence

from promptc.check.count_offer import count_offer
from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.settled import SettledTexts
from promptc.diag.findings import Diagnostic, count_noun
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Section

_Claim = tuple[str, int]


def check_totals(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """An error where what is always there may need more than the total by the pack's own numbers; a warning where that takes sections
    with a `when`."""
    settled = SettledTexts(pack)
    return merge_configurations(looks, lambda look: _iter_plan(look.plan, settled, count_offer(pack, look.plan)))


def _iter_plan(plan: Plan, settled: SettledTexts, offer: _Claim) -> Iterator[Diagnostic]:
    total = plan.budget.total
    sections = [section for section in plan.sections if not settled.is_off(section)]
    if total > 0:
        yield from _iter_sums(sections, total, plan, offer if plan.output.format == "messages" else ("", 0))
    for section in sections:
        yield from _iter_texts(section, total, settled)


def _iter_sums(sections: Sequence[Section], total: int, plan: Plan, offer: _Claim) -> Iterator[Diagnostic]:
    if offer[1] > total:
        message = f"{offer[0]} alone take {count_noun(offer[1], 'token')}, and the total is {total}"
        yield Diagnostic("PC0609", message, plan.budget.span, "offer fewer tools, or raise the total")
        return
    for chosen, level in (([one for one in sections if one.when is None], "error"), (sections, "warn")):
        pinned = [(one.id, _find_cap(one, total)) for one in chosen if one.pinned]
        least = [(one.id, _find_min(one, total)) for one in chosen if not one.pinned]
        capped = sum(tokens for _, tokens in pinned) + offer[1]
        needed = capped + sum(tokens for _, tokens in least)
        if needed <= total:
            continue
        what = "pinned sections may take" if capped > total else "pinned sections and minimums may take"
        what = f"{offer[0]} with {what}" if offer[1] else what
        shown = _show([*((f"`{name}`", tokens) for name, tokens in (*pinned, *least)), offer])
        when = "" if level == "error" else ", all of them present"
        message = f"{what} {count_noun(needed, 'token')}{when}, and the total is {total} ({shown})"
        help = "lower these budgets, or raise the total"
        yield Diagnostic("PC0609", message, plan.budget.span, help, "error" if level == "error" else "warn")
        return


def _find_cap(section: Section, total: int) -> int:
    cap = section.budget.cap if section.budget is not None else None
    return cap.tokens(total) if cap is not None and cap.unit != "chars" else 0


def _find_min(section: Section, total: int) -> int:
    least = section.budget.min if section.budget is not None else None
    return least.tokens(total) if least is not None and least.unit != "chars" else 0


def _show(claims: Sequence[_Claim]) -> str:
    largest = sorted((claim for claim in claims if claim[1]), key=lambda claim: (-claim[1], claim[0]))
    shown = ", ".join(f"{name} {tokens}" for name, tokens in largest[:4])
    return shown + (f" and {len(largest) - 4} more" if len(largest) > 4 else "")


def _iter_texts(section: Section, total: int, settled: SettledTexts) -> Iterator[Diagnostic]:
    """A pinned section whose content is the same in any state, and over its own cap."""
    budget = section.budget
    content = settled.find_content(section) if section.pinned and budget is not None else None
    if budget is None or budget.cap is None or not content:
        return
    cap = budget.cap.tokens(total)
    spent, noun = (len(content), "characters") if budget.cap.unit == "chars" else (settled.count(content), "tokens")
    if spent > cap:
        message = f"`{section.id}` is capped at {cap} {noun}, and its pinned content has {spent} without its frame"
        help = f"raise its budget over {spent}, or shorten it"
        yield Diagnostic("PC0610", message, budget.span, help, "warn" if budget.over == "warn" else "error")
