"""`evict`: whole items, units or groups go, in order; with `step`, blocks of equal number // step go together."""

from collections.abc import Iterator, Sequence

from promptc.model.step import Evict
from promptc.passes.section_fit import Act, Edit, Entry, SectionFit
from promptc.passes.steps.ranking import Block, StepScope, iter_classes, make_blocks
from promptc.text.guard import Guard

_Bundle = Sequence[Block]


def iter_evictions(step: Evict, fit: SectionFit, scope: StepScope, guard: Guard) -> Iterator[Act]:
    """The notches of the step, lazily. A block that was skipped (it would go under a floor) is tried again entry by entry at the end."""
    is_group = step.whole == "group"
    blocks, made = _find_blocks(fit, is_group)
    marker = step.marker

    def render_marker(removed: int) -> str:
        text = marker.render({**scope.names, "removed": removed}) if marker is not None else ""
        return guard.guard(" ".join(text.split()))[0]

    def act(standing: Sequence[Block], why: str) -> Act:
        edits = tuple(Edit(entry) for block in standing for entry in block)
        return Act(edits, why, marker=render_marker if marker is not None else None, warn=step.warn)

    ordinal = {id(block[0]): place for place, block in enumerate(blocks)}
    skipped: list[tuple[str, _Bundle]] = []
    classes: list[tuple[str, Iterator[_Bundle]]] = [
        (why, _bundle(ranked, step.step, ordinal if is_group else None)) for why, ranked in iter_classes(step, blocks, scope)
    ]
    classes.append(("a recap, after all others", ([[entry]] for entry in made)))
    for why, bundles in classes:
        for bundle in bundles:
            standing = _find_standing(bundle)
            if standing and _leaves(fit, standing, step.floor, is_group):
                yield act(standing, why)
            if len(bundle) > 1:
                skipped.append((why, bundle))
    for why, bundle in skipped:
        for block in bundle:
            standing = _find_standing([block])
            if standing and _leaves(fit, standing, step.floor, is_group):
                yield act(standing, f"{why}; one by one, no whole block is left")


def _find_standing(blocks: Sequence[Block]) -> list[list[Entry]]:
    """What still stands of the blocks: another step may have taken some since this one began."""
    standing = ([entry for entry in block if entry.is_alive] for block in blocks)
    return [block for block in standing if block]


def _find_blocks(fit: SectionFit, is_group: bool) -> tuple[list[list[Entry]], list[Entry]]:
    standing = [entry for entry in fit.alive if not entry.is_made]
    made = [entry for entry in fit.alive if entry.is_made]
    blocks = make_blocks(standing, lambda entry: entry.run if is_group else entry.item.unit)
    return [block for block in blocks if not any(entry.item.kept for entry in block)], made


def _bundle(ranked: Sequence[Block], step: int, ordinal: dict[int, int] | None) -> Iterator[_Bundle]:
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


def _leaves(fit: SectionFit, going: Sequence[Block], floor: int, is_group: bool) -> bool:
    """True when enough items (groups) stay without `going`; a message and its tool's result are one block but two items."""
    if not floor:
        return True
    if is_group:
        return fit.count_runs - len(going) >= floor
    return fit.count_alive - sum(map(len, going)) >= floor
