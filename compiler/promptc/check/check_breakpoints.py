"""More cache breakpoints than any provider takes."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.settled import SettledTexts
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel, Plan

MOST = 4
"""Breakpoints in one request, of the provider that takes most."""


def check_breakpoints(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """`cache: true` on more sections than that, those that are never on aside."""
    settled = SettledTexts(pack)
    return merge_configurations(looks, lambda look: _iter_plan(look.plan, settled))


def _iter_plan(plan: Plan, settled: SettledTexts) -> Iterator[Diagnostic]:
    cached = [section for section in plan.sections if section.cache and not settled.is_off(section)]
    if len(cached) > MOST:
        names = ", ".join(f"`{section.id}`" for section in cached[:-MOST])
        message = f"`cache: true` stands on {len(cached)} sections, and no provider takes more than {MOST} breakpoints"
        help = f"the last ones count: where all are present, {names} would get none"
        yield Diagnostic("PC0648", message, cached[0].span, help, "warn")
