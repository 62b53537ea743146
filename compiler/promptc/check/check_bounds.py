"""Bounds that contradict each other: `min` over `max` in budgets and windows, windows that cannot hold their `min`."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.diag.findings import Diagnostic, count_noun
from promptc.model.pack import PackModel, Plan
from promptc.model.section import Evict, Section, Size, Window


def check_bounds(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """The bounds of every section in every combination; sizes in percent are judged at the pack's own total."""
    return merge_configurations(looks, lambda look: _iter_plan(look.plan))


def _iter_plan(plan: Plan) -> Iterator[Diagnostic]:
    if plan.budget.total <= 0:
        message = f"`reserve: {plan.budget.reserve}` leaves {plan.budget.total} of `context: {plan.budget.context}` for the prompt"
        yield Diagnostic("PC0605", message, plan.budget.span, "make `context` larger than `reserve`")
    for section in plan.sections:
        yield from _iter_budget(section, plan.budget.total)
        yield from _iter_groups(section, plan)
        window = section.items.window if section.items is not None else None
        if section.items is not None and window is not None:
            yield from _iter_window(section, window)


def _iter_budget(section: Section, total: int) -> Iterator[Diagnostic]:
    budget = section.budget
    if budget is None or budget.min is None or budget.cap is None or "chars" in (budget.min.unit, budget.cap.unit):
        return
    least, most = budget.min.tokens(total), budget.cap.tokens(total)
    if least > most:
        message = f"the budget of `{section.id}` has a `min` of {_show(budget.min, least)} over its `max` of {_show(budget.cap, most)}"
        yield Diagnostic("PC0606", message, budget.span, "lower `min`, or raise `max`")


def _iter_groups(section: Section, plan: Plan) -> Iterator[Diagnostic]:
    items, help = section.items, "declare `group.by`, or leave `whole: group` out"
    if items is not None and items.group is not None:
        return
    if items is not None and items.window is not None and items.window.whole == "group":
        message = f"the window of `{section.id}` counts groups, and its items have no `group`"
        yield Diagnostic("PC0608", message, items.window.span, help)
    for step in (*section.overflow, *(one for one in plan.truncate if one.section == section.id)):
        if isinstance(step, Evict) and step.whole == "group":
            message = f"`{step.label}` takes whole groups of `{section.id}`, which has no `group`: all of it is one"
            yield Diagnostic("PC0608", message, step.span, help, "warn")


def _show(size: Size, tokens: int) -> str:
    return f"{float(size.amount * 100):g}% ({count_noun(tokens, 'token')})" if size.unit == "share" else str(tokens)


def _iter_window(section: Section, window: Window) -> Iterator[Diagnostic]:
    name = f"the window of `{section.id}`"
    if window.max is not None and window.min > window.max:
        yield Diagnostic("PC0607", f"{name} has a `min` of {window.min} over its `max` of {window.max}", window.span, "lower `min`")
        return
    if isinstance(window.last, int):
        yield from _iter_last(name, window, window.last)
    elif window.max is not None and window.max - window.step + 1 < window.min:
        yield _report_step(name, window, window.max, "max")


def _iter_last(name: str, window: Window, last: int) -> Iterator[Diagnostic]:
    if last < window.min:
        yield Diagnostic("PC0607", f"{name} has `last: {last}` under its `min` of {window.min}", window.span, "raise `last`")
    elif window.max is not None and last > window.max:
        yield Diagnostic("PC0607", f"{name} has `last: {last}` over its `max` of {window.max}", window.span, "lower `last`")
    elif last - window.step + 1 < window.min:
        yield _report_step(name, window, last, "last")


def _report_step(name: str, window: Window, most: int, key: str) -> Diagnostic:
    least = max(0, most - window.step + 1)
    wanted = window.min + window.step - 1
    message = f"{name} moves by {window.step}, so with `{key}: {most}` it may hold as few as {least}, under its `min` of {window.min}"
    if not window.min:
        message = f"{name} moves by {window.step}, more than the {most} of its `{key}`: it may come out empty"
    return Diagnostic("PC0607", message, window.span, f"raise `{key}` to {wanted}, or make `step` smaller")
