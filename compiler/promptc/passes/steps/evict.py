"""`evict`: whole items, units or groups go, in order; with `step`, blocks of equal number // step go together."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from promptc.model.section import Evict
from promptc.passes.act import Act, Entry
from promptc.passes.fit.steps import Block, StepScope, iter_classes, make_blocks, sort_by_age
from promptc.passes.layout.section import SectionLayout
from promptc.template.compile import Template
from promptc.text.guard import Guard


def iter_evictions(step: Evict, fit: SectionLayout, scope: StepScope, guard: Guard) -> Iterator[Act]:
    """The notches of the step, lazily.

    Where a block cannot go whole (too little would stay), no later one of its class goes before it: at the end they go entry by entry,
    so that the newest items, whose block is not full yet, do not go while older ones stay.
    """
    is_group = step.whole == "group"
    marker = partial(_render_marker, step.marker, scope, guard) if step.marker is not None else None
    for why, blocks in _list_rounds(step, fit, scope, is_group):
        for block in blocks:
            going = [entry for entry in block if entry.is_alive]
            if going and _leaves(fit, going, step.floor, is_group):
                yield Act(why, going, marker, step.warn)
            if going and step.step > 1 and going[0].is_alive:
                break


def _render_marker(marker: Template, scope: StepScope, guard: Guard, removed: int) -> str:
    text = marker.render({**scope.names, "removed": removed})
    return guard.guard(" ".join(text.split()))[0]


def _list_rounds(step: Evict, fit: SectionLayout, scope: StepScope, is_group: bool) -> list[tuple[str, Sequence[Block]]]:
    """What goes together, in order, and why: the classes, items made by a recap, and what is then left of the blocks of `step`."""
    blocks, made = _find_blocks(fit, is_group)
    wholes: list[tuple[str, Sequence[Block]]] = list(iter_classes(step, blocks, scope))
    parts: list[tuple[str, Sequence[Block]]] = []
    if step.step > 1:
        ordinal = {id(block[0]): place for place, block in enumerate(blocks)} if is_group else None
        bundled = [(why, _bundle(ranked, step.step, ordinal)) for why, ranked in wholes]
        wholes = [(why, [list(chain(*bundle)) for bundle in bundles]) for why, bundles in bundled]
        parts = [(f"{why}; one by one, no whole block is left", list(chain(*bundles))) for why, bundles in bundled]
    return [*wholes, ("a recap, after all others", [[entry] for entry in made]), *parts]


def _find_blocks(fit: SectionLayout, is_group: bool) -> tuple[list[list[Entry]], list[Entry]]:
    standing = [entry for entry in fit.alive if not entry.is_made]
    made = [entry for entry in fit.alive if entry.is_made]
    blocks = sort_by_age(make_blocks(standing, lambda entry: entry.run if is_group else entry.item.unit), fit)
    return [block for block in blocks if not any(entry.item.kept for entry in block)], made


def _bundle(ranked: Sequence[Block], step: int, ordinal: dict[int, int] | None) -> list[list[Block]]:
    """Blocks that go together: their numbers (ordinals, of groups) fall in the same multiple of `step`."""
    bundles: dict[int, list[Block]] = {}
    for block in ranked:
        first = block[0]
        number = first.item.number if ordinal is None else ordinal[id(first)]
        bundles.setdefault(number // step, []).append(block)
    return list(bundles.values())


def _leaves(fit: SectionLayout, going: Sequence[Entry], floor: int, is_group: bool) -> bool:
    """True when enough items (groups) stay without `going`; a message and its tool's result are one block but two items."""
    if not floor:
        return True
    if is_group:
        return fit.count_runs - len({entry.run for entry in going}) >= floor
    return fit.count_alive - len(going) >= floor
