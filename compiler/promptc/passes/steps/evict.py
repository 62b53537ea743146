"""`evict`: whole items, units or groups go, in order; with `step`, blocks of equal number // step go together."""

from collections.abc import Iterator, Sequence

from promptc.model.step import Evict
from promptc.passes.section_fit import Act, Edit, Entry, SectionFit
from promptc.passes.steps.ranking import Block, StepScope, iter_classes, make_blocks
from promptc.text.guard import Guard

_Ranked = list[tuple[str, list[Block]]]


def iter_evictions(step: Evict, fit: SectionFit, scope: StepScope, guard: Guard) -> Iterator[Act]:
    """The notches of the step, lazily. A block that was skipped (it would go under a floor) is tried again entry by entry at the end."""
    is_group = step.whole == "group"
    blocks, made = _find_blocks(fit, is_group)
    marker = step.marker

    def render_marker(removed: int) -> str:
        text = marker.render({**scope.names, "removed": removed}) if marker is not None else ""
        return guard.guard(" ".join(text.split()))[0]

    def act(entries: Sequence[Entry], why: str) -> Act:
        edits = tuple(Edit(entry, None) for entry in entries)
        return Act(edits, why, marker=render_marker if marker is not None else None, warn=step.warn)

    ordinal = {id(block[0]): place for place, block in enumerate(blocks)}
    skipped: _Ranked = []
    classes: _Ranked = [*iter_classes(step, blocks, scope), ("a recap, after all others", [[entry] for entry in made])]
    for why, ranked in classes:
        for bundle in _bundle(ranked, step.step, ordinal if is_group else None):
            alive = [block for block in bundle if block[0].is_alive]
            if alive and _leaves(fit, len(alive), step.floor, is_group):
                yield act([entry for block in alive for entry in block], why)
            if len(bundle) > 1 and any(block[0].is_alive for block in bundle):
                skipped.append((why, list(bundle)))
    for why, ranked in skipped:
        for block in ranked:
            if block[0].is_alive and _leaves(fit, 1, step.floor, is_group):
                yield act(list(block), f"{why}; one by one, no whole block is left")


def _find_blocks(fit: SectionFit, is_group: bool) -> tuple[list[list[Entry]], list[Entry]]:
    standing = [entry for entry in fit.alive if not entry.is_made]
    made = [entry for entry in fit.alive if entry.is_made]
    blocks = make_blocks(standing, lambda entry: entry.run if is_group else entry.item.unit)
    return [block for block in blocks if not any(entry.item.kept for entry in block)], made


def _bundle(ranked: Sequence[Block], step: int, ordinal: dict[int, int] | None) -> Iterator[Sequence[Block]]:
    if step == 1:
        for block in ranked:
            yield (block,)
        return
    bundles: dict[int, list[Block]] = {}
    for block in ranked:
        first = block[0]
        number = first.item.number if ordinal is None else ordinal[id(first)]
        bundles.setdefault(number // step, []).append(block)
    yield from bundles.values()


def _leaves(fit: SectionFit, blocks: int, floor: int, is_group: bool) -> bool:
    if not floor:
        return True
    standing = fit.count_runs if is_group else fit.count_alive
    return standing - blocks >= floor
