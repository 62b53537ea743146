"""The rules of `promptc check`, and `check_pack`, which runs all of them (contract.md §12).

A rule is a function of a pack and its configurations that finds one kind of fault:

    @for_each
    def check_titles(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
        \"\"\"Report sections without a title.\"\"\"

To add a rule, write it in the file of its topic in `check/rules`: with `for_each` if it examines one configuration at a time, and without
if it compares them. Add its code to `codes.toml`, and the rule to `RULES` below. What it needs to know of expressions and templates is in
`configuration.iter_texts()` and `configuration.facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from promptc.check.configurations import Configurations, Rule, list_configurations, merge_findings
from promptc.check.rules.budgets import (
    check_bounds,
    check_calibration,
    check_joints,
    check_models,
    check_monotony,
    check_pools,
    check_totals,
    check_worst_case,
    list_settled,
)
from promptc.check.rules.items import (
    check_against,
    check_chunk_sizes,
    check_dedupe_order,
    check_idle_caps,
    check_item_fences,
    check_limit_keys,
    check_long_lists,
    check_media,
    check_missing,
    check_parts,
    check_visible,
)
from promptc.check.rules.operations import check_operations
from promptc.check.rules.overlap import check_alike, check_compared, check_overlaps, check_repeats
from promptc.check.rules.reads import (
    Describer,
    check_reads,
    check_texts,
    check_unmet,
    check_unread,
    check_unused_definitions,
    check_unused_lets,
    iter_asked,
    iter_wrong,
)
from promptc.check.rules.steps import (
    check_coarse_evictions,
    check_dead_steps,
    check_fixed_steps,
    check_idle_trims,
    check_least_caps,
    check_limited_trims,
    check_unlike_trims,
    check_unwalked,
    check_void_recaps,
)
from promptc.check.rules.texts import (
    check_breakpoints,
    check_changes,
    check_empty_texts,
    check_idle_roles,
    check_line_ends,
    check_literal_names,
    check_order,
    check_text_offers,
    check_tools,
    check_unused_tools,
)
from promptc.check.rules.variants import check_bands, check_conflicts, check_moods, check_never_on, check_tiers
from promptc.check.texts import UsedText, iter_operation_texts
from promptc.diag.findings import Diagnostic, sort_diagnostics
from promptc.diag.frozen import replace
from promptc.model.pack import PackModel
from promptc.template.compile import Expression, Template
from promptc.template.types.types import UNKNOWN_TYPE

MONOTONY = frozenset({"PC0617", "PC0618", "PC0619", "PC0620", "PC0621"})
"""Codes for what voids the guarantee that a larger total never removes an item or characters of a text.

Which characters of a trimmed text are kept has a condition of its own, `PC0696`.
"""

Code = Expression | Template

_FEW = 8
"""The most combinations that are all checked while the author types."""

PROOFS = frozenset({"PC0656"})
"""Codes that state a fact about every valid state. They are dropped for a pack with errors, as some or all states fail to render."""


def check_pack(pack: PackModel, pause: Callable[[], None] = lambda: None) -> tuple[Diagnostic, ...]:
    """Return every finding about a loaded pack, each once, sorted, including the findings of loading.

    Never raises for faults of the pack: a combination that does not load is a finding. `pause` is called before each combination; an
    exception that it raises stops the check.
    """
    written = list_configurations(pack, pause)
    found = [*pack.warnings, *check_models(pack, written)]
    settled = list_settled(pack, written)
    judged = [_judge(one, written if one is pack else list_configurations(one, pause)) for _, one in settled]
    for (name, _), findings in zip(settled, judged, strict=True):
        found.extend(one if all(one in others for others in judged) else _name_model(one, name) for one in findings)
    if any(one.level == "error" for one in found):
        found = [one for one in found if one.code not in PROOFS]
    return sort_diagnostics(found)


def _judge(pack: PackModel, configurations: Configurations) -> dict[Diagnostic, None]:
    return dict.fromkeys(found for rule in RULES for found in rule(pack, configurations))


def _name_model(found: Diagnostic, name: str) -> Diagnostic:
    """Return a finding that does not apply to all models of the pack, with the name of the model it applies to."""
    return replace(found, message=f"{found.message} ({name})", removable=None)


def check_new_texts(pack: PackModel, known: Mapping[int, Code]) -> tuple[tuple[Diagnostic, ...], Mapping[int, Code]]:
    """Return the findings of `check_pack` about what new texts read, and all texts by `id`.

    Texts in `known` are skipped. It takes a fraction of the time: if there are many combinations, each case is checked on its own only.
    """
    found: list[Diagnostic] = []
    texts: dict[int, Code] = {}

    def choose_new(used: Iterable[UsedText]) -> list[UsedText]:
        listed = list(used)
        texts.update((id(text.code), text.code) for text in listed)
        return [text for text in listed if id(text.code) not in known]

    for one in (pack, *iter_asked(pack)):
        configurations = list_configurations(one, most=_FEW)
        new = [(each, choose_new(each.iter_texts())) for each in configurations]
        if any(chosen for _, chosen in new):
            found += merge_findings([(each.combination, check_texts(one, each, chosen)) for each, chosen in new])
        if choose_new(iter_operation_texts(one, UNKNOWN_TYPE)):
            scopes, describer = configurations.facts.scopes, Describer(one)
            for text in choose_new(iter_operation_texts(one, scopes.state)):
                found += iter_wrong(text, scopes, describer, ())
    return sort_diagnostics(dict.fromkeys(found)), texts


def check_medians(pack: PackModel, medians: Mapping[str, int]) -> list[Diagnostic]:
    """Return the findings that need opened indexes. `medians` has the median tokens of a chunk for each index."""
    return list(check_chunk_sizes(list_configurations(pack), medians))


def check_loading(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report what keeps combinations from loading, and what limits the check: too many combinations, or a state without a schema."""
    yield from merge_findings(configurations.failed, [one.combination for one in configurations])
    if configurations.looked < configurations.count:
        looked = f"{configurations.looked} of {configurations.count} combinations of variants and tiers"
        message = f"`check` looked at only {looked}: each case alone, with the defaults of the others"
        help = "write cases for the combinations that matter: a mistake that needs two cases at once may be missed"
        yield Diagnostic("PC0644", message, pack.manifest.key_span("variants"), help, "note")
    if pack.schema is None:
        message = "the pack declares no schema of its states: promptc cannot check what the pack reads from them"
        yield Diagnostic("PC0642", message, pack.manifest.span, "name one: `state: {schema: state.schema.json}`", "note")


RULES: tuple[Rule, ...] = (
    check_loading,
    check_conflicts,
    check_fixed_steps,
    check_bounds,
    check_totals,
    check_calibration,
    check_dead_steps,
    check_unwalked,
    check_least_caps,
    check_limited_trims,
    check_unlike_trims,
    check_coarse_evictions,
    check_void_recaps,
    check_tiers,
    check_monotony,
    check_joints,
    check_pools,
    check_reads,
    check_unread,
    check_worst_case,
    check_against,
    check_limit_keys,
    check_long_lists,
    check_line_ends,
    check_literal_names,
    check_moods,
    check_empty_texts,
    check_bands,
    check_breakpoints,
    check_changes,
    check_order,
    check_text_offers,
    check_idle_roles,
    partial(check_operations, check=check_pack),
    check_overlaps,
    check_alike,
    check_compared,
    check_repeats,
    check_idle_caps,
    check_item_fences,
    check_idle_trims,
    check_dedupe_order,
    check_unmet,
    check_media,
    check_parts,
    check_missing,
    check_never_on,
    check_tools,
    check_unused_tools,
    check_visible,
    check_unused_definitions,
    check_unused_lets,
)
"""All rules, in the order in which they run."""
