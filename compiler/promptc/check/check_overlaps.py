"""Sections that may list the same item of the state twice, without a `dedupe.against` between them."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from promptc.check.can_both import can_both
from promptc.check.fold import merge_configurations
from promptc.check.is_deduped import is_deduped
from promptc.check.is_repeat import Repeats
from promptc.check.registry import Configuration
from promptc.check.rules.overlap import BlockFinder, ComparedBlock
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel
from promptc.model.section import Section


def check_overlaps(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Two sections of one list whose conditions may hold for one item, and that both print something of it. Nothing is said where an item
    is sought in what cannot be told (`item.id not in shown`), or the list is cut by place; repeats are another rule's."""
    blocks = BlockFinder(pack)
    repeats = Repeats()
    return merge_configurations(looks, lambda look: _iter_look(look, blocks, repeats))


def _iter_look(look: Configuration, blocks: BlockFinder, repeats: Repeats) -> Iterator[Diagnostic]:
    lists = [block for block in blocks.list_blocks(look) if block.origins]
    for first, second in combinations(lists, 2):
        path = _find_shared(first, second)
        if path and not is_deduped(first.section, second.section) and not repeats.is_repeat(first.section, second.section):
            yield _describe(first.section, second.section, path)


def _find_shared(first: ComparedBlock, second: ComparedBlock) -> str:
    """The first list that an item of both may come from; empty for none, and where they print nothing of it that is the same."""
    if not any(one[: len(other)] == other[: len(one)] for one in first.prints for other in second.prints):
        return ""
    for one in first.origins:
        for other in second.origins:
            if one.path == other.path and can_both(first.cases, one.cases, second.cases, other.cases):
                return one.spelled
    return ""


def _describe(first: Section, second: Section, path: str) -> Diagnostic:
    span = second.items.source.span if second.items is not None else second.span
    message = f"`{first.id}` and `{second.id}` may both list the same item of `{path}`"
    help = f"give `{second.id}` a `dedupe` with `against: [{first.id}]`, or each a `where` that the other excludes"
    return Diagnostic("PC0670", message, span, help, "warn")
