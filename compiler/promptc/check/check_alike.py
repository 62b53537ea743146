"""Sections of two lists whose elements are the same kind of thing, without a `dedupe.against` between them."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from promptc.check.are_alike import are_alike
from promptc.check.can_both import can_both
from promptc.check.fold import merge_configurations
from promptc.check.is_deduped import is_deduped
from promptc.check.registry import Configuration
from promptc.check.rules.overlap import BlockFinder, ComparedBlock
from promptc.check.shared_prints import Path, find_shared_prints, is_free_text
from promptc.diag.findings import Diagnostic
from promptc.model.pack import PackModel
from promptc.template.types.algebra import find_part
from promptc.template.types.conditions import Origin
from promptc.template.types.types import ListType, MappingType, Type, list_members


def check_alike(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Pairs of lists of objects that the schema says are alike, where both sections print the same free text of them and their
    conditions can hold together. Sections of one list are another rule's."""
    blocks = BlockFinder(pack)
    return merge_configurations(looks, lambda look: _iter_look(pack, look, blocks)) if pack.schema is not None else iter(())


def _iter_look(pack: PackModel, look: Configuration, blocks: BlockFinder) -> Iterator[Diagnostic]:
    lists = [block for block in blocks.list_blocks(look) if block.origins and block.section.items is not None]
    for first, second in combinations(lists, 2):
        shared = [path for path in find_shared_prints(first, second) if is_free_text(first, path) and is_free_text(second, path)]
        pair = _find_pair(first, second, pack, blocks) if shared else None
        if pair is not None and not is_deduped(first.section, second.section):
            yield _describe(first, second, pair, shared[0])


def _find_pair(first: ComparedBlock, second: ComparedBlock, pack: PackModel, blocks: BlockFinder) -> tuple[Origin, Origin] | None:
    pairs = [*product(first.origins, second.origins)]
    if any(one.path == other.path for one, other in pairs):
        return None
    for one, other in pairs:
        places = [_find_place(blocks.scopes.state, origin) for origin in (one, other)]
        if all(places) and are_alike(pack.schema, *places) and can_both(first.cases, one.cases, second.cases, other.cases):
            return one, other
    return None


def _find_place(state: Type, origin: Origin) -> str:
    """Where the schema declares the elements of a list; empty where they are no objects of one kind."""
    kind = state
    for part in origin.path[1:]:
        if not isinstance(part, str | int):
            return ""
        kind = find_part(kind, part)
    elements = [one for member in list_members(kind) if isinstance(member, ListType) for one in list_members(member.element)]
    places = {one.at if isinstance(one, MappingType) else "" for one in elements}
    return places.pop() if len(places) == 1 else ""


def _describe(first: ComparedBlock, second: ComparedBlock, pair: tuple[Origin, Origin], path: Path) -> Diagnostic:
    items, printed = second.section.items, ".".join(path)
    message = (
        f"`{first.section.id}` lists `{pair[0].spelled}` and `{second.section.id}` `{pair[1].spelled}`, whose elements the schema declares "
        f"alike, and both print `{printed}`: what stands in both lists is said twice"
    )
    help = f"give `{second.section.id}` a `dedupe` with `by: {printed}` and `against: [{first.section.id}]`"
    return Diagnostic("PC0675", message, items.source.span if items is not None else second.section.span, help, "note")
