"""Two texts, line by line: what went and what came."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_AROUND = 2
_MOST = 2000
"""Lines of what differs beyond which they are shown whole, as gone and come: finding what they share takes the square of their number."""


def diff_lines(old: str, new: str) -> Iterator[str]:
    """Hunks as `diff -u` prints them, without a head: `@@` with the lines, then ` ` for what stays, `-` for what went, `+` for new."""
    before, after = old.split("\n"), new.split("\n")
    head = _count_same(before, after)
    tail = _count_same(before[head:][::-1], after[head:][::-1])
    blocks = _find_blocks(before[head : len(before) - tail], after[head : len(after) - tail])
    shifted = [(tag, one + head, two + head, three + head, four + head) for tag, one, two, three, four in blocks]
    for group in _gather(shifted):
        yield from _render(group, before, after)


def _count_same(before: Sequence[str], after: Sequence[str]) -> int:
    return next((at for at, (one, two) in enumerate(zip(before, after, strict=False)) if one != two), min(len(before), len(after)))


Block = tuple[str, int, int, int, int]


def _find_blocks(before: list[str], after: list[str]) -> list[Block]:
    if max(len(before), len(after)) > _MOST:
        return [("replace", 0, len(before), 0, len(after))]
    return [block for block in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if block[0] != "equal"]


def _gather(blocks: list[Block]) -> Iterator[list[Block]]:
    """Blocks so near each other that what stands around them meets."""
    group: list[Block] = []
    for block in blocks:
        if group and block[1] - group[-1][2] > 2 * _AROUND:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _render(group: list[Block], before: list[str], after: list[str]) -> Iterator[str]:
    start, stop = max(0, group[0][1] - _AROUND), min(len(before), group[-1][2] + _AROUND)
    first, last = max(0, group[0][3] - _AROUND), min(len(after), group[-1][4] + _AROUND)
    yield f"@@ -{start + 1},{stop - start} +{first + 1},{last - first} @@"
    at = start
    for _, one, two, three, four in group:
        yield from (f" {line}" for line in before[at:one])
        yield from (f"-{line}" for line in before[one:two])
        yield from (f"+{line}" for line in after[three:four])
        at = two
    yield from (f" {line}" for line in before[at:stop])
