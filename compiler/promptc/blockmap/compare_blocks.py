"""What one plan makes of the blocks of another."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from promptc.blockmap.block import Block, BlockChange
from promptc.blockmap.phrase import Phrase, say

_LISTS = ("data", "caps", "dedupe", "notes")


def compare_blocks(before: Sequence[Block], after: Sequence[Block]) -> tuple[BlockChange, ...]:
    """The blocks that are new, gone, moved or changed, each with what it has now and had not, and what it has no longer."""
    old, new = {one.id: one for one in before}, {one.id: one for one in after}
    moved = _find_moved([one for one in old if one in new], [one for one in new if one in old])
    found = [BlockChange(one, tuple(_iter_changes(old.get(one), new[one], moved.get(one)))) for one in new]
    gone = [BlockChange(one, (say("not there"),)) for one in old if one not in new]
    return (*(change for change in found if change.says), *gone)


def _find_moved(before: list[str], after: list[str]) -> dict[str, str]:
    """The blocks that are no longer in line with the others, each with the one it stands behind now (empty: it is the first)."""
    kept = {before[block.a + at] for block in SequenceMatcher(None, before, after, False).get_matching_blocks() for at in range(block.size)}
    return {name: after[at - 1] if at else "" for at, name in enumerate(after) if name not in kept}


def _iter_changes(before: Block | None, after: Block, behind: str | None) -> Iterator[Phrase]:
    if before is None:
        yield say("there")
        return
    if behind is not None:
        yield say("behind {}", behind) if behind else say("the first")
    if after.title != before.title or after.role != before.role:
        yield say(f"{after.title}, {after.role}")
    if after.source != before.source:
        yield (*say("from "), *after.source)
    for name in _LISTS:
        had, has = _list_told(before, name), _list_told(after, name)
        yield from (one for one in has if one not in had)
        replaced = {_find_subject(one) for one in has}
        yield from ((*say("without "), *one) for one in had if _find_subject(one) not in replaced)


def _list_told(block: Block, name: str) -> list[Phrase]:
    """Paths and parts follow from the filters and texts, and are not told again."""
    found: tuple[Phrase, ...] = getattr(block, name)
    return [one for one in found if not (name == "data" and (one[0].is_code or one[0].text.startswith("of ")))]


def _find_subject(phrase: Phrase) -> str:
    """What a phrase is about: one that is about the same takes its place."""
    return phrase[0].text.split(" ")[0].rstrip(":") if not phrase[0].is_code else ""
