"""All lints over one pack (language.md §12, `check`)."""

from collections.abc import Callable, Iterator, Sequence

from promptc.check.check_against import check_against
from promptc.check.check_alike import check_alike
from promptc.check.check_bands import check_bands
from promptc.check.check_bounds import check_bounds
from promptc.check.check_breakpoints import check_breakpoints
from promptc.check.check_compared import check_compared
from promptc.check.check_dedupe_order import check_dedupe_order
from promptc.check.check_empty_texts import check_empty_texts
from promptc.check.check_fixed_steps import check_fixed_steps
from promptc.check.check_idle_trims import check_idle_trims
from promptc.check.check_joints import check_joints
from promptc.check.check_limit_keys import check_limit_keys
from promptc.check.check_line_ends import check_line_ends
from promptc.check.check_long_lists import check_long_lists
from promptc.check.check_monotony import check_monotony
from promptc.check.check_moods import check_moods
from promptc.check.check_never_on import check_never_on
from promptc.check.check_overlaps import check_overlaps
from promptc.check.check_parts import check_parts
from promptc.check.check_reads import check_reads
from promptc.check.check_repeats import check_repeats
from promptc.check.check_text_offers import check_text_offers
from promptc.check.check_tiers import check_tiers
from promptc.check.check_totals import check_totals
from promptc.check.check_unmet import check_unmet
from promptc.check.check_unused_tools import check_unused_tools
from promptc.check.check_unwalked import check_unwalked
from promptc.check.fold import merge_findings
from promptc.check.registry import Configuration, Configurations, list_configurations
from promptc.check.rules.budgets import check_worst_case
from promptc.check.rules.items import check_idle_caps
from promptc.check.rules.operations import check_operations
from promptc.check.rules.steps import check_dead_steps
from promptc.check.rules.variants import check_conflicts
from promptc.diag.findings import Diagnostic, sort_diagnostics
from promptc.model.pack import PackModel

Rule = Callable[[PackModel, Sequence[Configuration]], Iterator[Diagnostic]]

RULES: tuple[Rule, ...] = (
    check_fixed_steps,
    check_bounds,
    check_totals,
    check_dead_steps,
    check_unwalked,
    check_tiers,
    check_monotony,
    check_joints,
    check_reads,
    check_worst_case,
    check_against,
    check_limit_keys,
    check_long_lists,
    check_line_ends,
    check_moods,
    check_empty_texts,
    check_bands,
    check_breakpoints,
    check_text_offers,
    check_operations,
    check_overlaps,
    check_alike,
    check_compared,
    check_repeats,
    check_idle_caps,
    check_idle_trims,
    check_dedupe_order,
    check_unmet,
    check_parts,
)

RULES_OF_ALL: tuple[Rule, ...] = (check_never_on, check_unused_tools)
"""Rules that say what holds in no combination: not asked where one does not load."""

MONOTONY = frozenset({"PC0617", "PC0618", "PC0619", "PC0620", "PC0621"})
"""The codes that name what voids the guarantee that a larger total never removes content."""


PROOFS = frozenset({"PC0656"})
"""The codes that say what holds of every valid state. Nothing is proved of a pack that some state, or every one, makes fail."""


def check_pack(pack: PackModel) -> tuple[Diagnostic, ...]:
    """Every finding about a loaded pack, each once, sorted; what was found while loading is among them. Never raises for what is wrong
    in the pack: a combination that does not load is a finding."""
    looks = list_configurations(pack)
    found = [*pack.warnings, *_iter_whole(pack, looks), *check_conflicts(pack)]
    for rule in (*RULES, *(RULES_OF_ALL if not looks.failed else ())):
        found.extend(rule(pack, looks.loaded))
    if any(one.level == "error" for one in found):
        found = [one for one in found if one.code not in PROOFS]
    return sort_diagnostics(found)


def _iter_whole(pack: PackModel, looks: Configurations) -> Iterator[Diagnostic]:
    yield from merge_findings(looks.failed, [look.combination for look in looks.loaded])
    if looks.looked < looks.count:
        message = f"looked at {looks.looked} of {looks.count} combinations of variants and tiers: every case alone over the defaults"
        yield Diagnostic("PC0644", message, pack.manifest.key_span("variants"), "findings that take two cases may be missing", "note")
    if pack.schema is None:
        message = "the pack declares no schema of its states: what it reads of them cannot be checked"
        yield Diagnostic("PC0642", message, pack.manifest.span, "name one: `state: {schema: state.schema.json}`", "note")
