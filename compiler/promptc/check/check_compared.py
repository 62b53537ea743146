"""`dedupe.against` that leaves in what is said twice: it compares something else, or only what is spelt the same."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.rules.overlap import BlockFinder, ComparedBlock
from promptc.check.shared_prints import Path, find_shared_prints, is_free_text, is_within
from promptc.diag.findings import Diagnostic, Level
from promptc.model.pack import PackModel
from promptc.model.section import Dedupe
from promptc.template.types.algebra import read_code
from promptc.template.types.filters import list_filters


def check_compared(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Lists that are compared with an earlier one by what neither prints, or to the letter, although both print the same free text."""
    blocks = BlockFinder(pack)
    return merge_configurations(looks, lambda look: _iter_look(look, blocks))


def _iter_look(look: Configuration, blocks: BlockFinder) -> Iterator[Diagnostic]:
    met: dict[str, ComparedBlock] = {}
    for block in blocks.list_blocks(look):
        dedupe = block.section.items.dedupe if block.section.items is not None else None
        for name in dedupe.against if dedupe is not None else ():
            if dedupe is not None and name in met:
                yield from _judge(dedupe, met[name], block)
        met[block.section.id] = block


def _judge(dedupe: Dedupe, first: ComparedBlock, second: ComparedBlock) -> Iterator[Diagnostic]:
    shared = [path for path in find_shared_prints(first, second) if is_free_text(first, path) and is_free_text(second, path)]
    compared = [path for path in dedupe.by.reads if path[0] == "item"]
    if not shared or not compared:
        return
    covered = [path for path in shared if any(is_within(path, one) or is_within(one, path) for one in compared)]
    if not covered:
        yield _tell_other(dedupe, first, second, compared=min(compared), printed=shared[0])
    elif dedupe.exact and "normalize" not in list_filters(read_code(dedupe.by)):
        yield _tell_exact(dedupe, first, second, covered[0])


def _tell_other(dedupe: Dedupe, first: ComparedBlock, second: ComparedBlock, *, compared: Path, printed: Path) -> Diagnostic:
    key, text = ".".join(compared), ".".join(printed)
    message = (
        f"`dedupe` of `{second.section.id}` compares `{key}` with `{first.section.id}`, and both print `{text}`: "
        f"the same text with another `{key}` stands twice"
    )
    level: Level = "note" if _share_a_list(first, second) else "warn"
    return Diagnostic("PC0676", message, dedupe.span, f"compare what is printed: `by: {text}`", level)


def _tell_exact(dedupe: Dedupe, first: ComparedBlock, second: ComparedBlock, path: Path) -> Diagnostic:
    message = (
        f"`dedupe` of `{second.section.id}` compares `{'.'.join(path)}` with `{first.section.id}` to the letter: the same text in other "
        "letter case, spaces or punctuation stands twice"
    )
    return Diagnostic("PC0676", message, dedupe.span, "leave `exact` out: normalised texts are compared then", "note")


def _share_a_list(first: ComparedBlock, second: ComparedBlock) -> bool:
    """Of one list what is compared may be what tells its elements apart; then only doubles within the list are left in."""
    return any(one.path == other.path for one in first.origins for other in second.origins)
