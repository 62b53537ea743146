"""Word differences and the common beginning of two texts, and names similar to a name. Only this module imports rapidfuzz."""

import re
from collections.abc import Iterable, Iterator, Sequence

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal

Kind = Literal["same", "gone", "come"]

_WORD = re.compile(r"\w+|[^\S\n]+|\n|[^\w\s]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NEAR = 4
_FEW = 3
"""The most words between two changes that are shown as part of them, to keep a rewritten sentence from becoming confetti."""


@frozen
class TextRun:
    """A run of characters that are in both texts (`same`), only in the old one (`gone`), or only in the new one (`come`)."""

    kind: Kind
    text: str


def diff_words(old: str, new: str) -> tuple[TextRun, ...]:
    """Return the differences as runs in order. Without `come` they join to `old`, without `gone` to `new`.

    Deleted text comes before the text that replaces it. Whole lines that both texts have are matched first. Then words between them are
    matched (runs of letters and digits, of white space, single marks, line ends). Both use the longest common subsequence (rapidfuzz,
    bit-parallel: Hyyrö 2004).
    """
    if old == new:
        return (TextRun("same", old),) if old else ()
    runs: list[TextRun] = []
    for is_same, before, after in _match(_LINE.findall(old), _LINE.findall(new)):
        runs += [TextRun("same", before)] if is_same else _diff_hunk(before, after)
    return tuple(_iter_merged(runs))


def list_near(name: str, known: Iterable[str], most: int) -> list[str]:
    """Return at most `most` of the `known` names that are similar to `name`, the nearest first, equally near ones by code point.

    A name is similar if at most a quarter of the letters of both names together must be deleted or inserted, ignoring case.
    """
    from rapidfuzz.distance import Indel

    wanted = name.casefold()
    judged = ((Indel.distance(wanted, one.casefold()), one) for one in known)
    near = sorted((distance, one) for distance, one in judged if distance * _NEAR <= len(wanted) + len(one))
    return [one for _, one in near[:most]]


def _match(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[bool, str, str]]:
    """Yield stretches of both sides, joined: whether they are equal, the old text, and the new text."""
    from rapidfuzz.distance import Indel

    before, after = 0, 0
    numbers: dict[str, int] = {}  # equal texts by number, so that two different texts are never taken for equal
    sides = [[numbers.setdefault(one, len(numbers)) for one in side] for side in (old, new)]
    for block in Indel.opcodes(*sides):
        if block.tag != "equal":
            continue
        if block.src_start > before or block.dest_start > after:
            yield False, "".join(old[before : block.src_start]), "".join(new[after : block.dest_start])
        yield True, "".join(old[block.src_start : block.src_end]), "".join(new[block.dest_start : block.dest_end])
        before, after = block.src_end, block.dest_end
    if before < len(old) or after < len(new):
        yield False, "".join(old[before:]), "".join(new[after:])


def _diff_hunk(old: str, new: str) -> list[TextRun]:
    """Return the words that are deleted and inserted. A few words that are equal by chance count as changed too."""
    runs: list[TextRun] = []
    gone, come = "", ""
    for is_same, before, after in _match(_WORD.findall(old), _WORD.findall(new)):
        if is_same and not (_is_chance(before) and (gone or come)):
            runs += [*_pair(gone, come), TextRun("same", before)]
            gone = come = ""
        else:
            gone, come = gone + before, come + after
    return [*runs, *_pair(gone, come)]


def _is_chance(text: str) -> bool:
    return "\n" not in text and len(_WORD.findall(text)) <= _FEW and sum(map(str.isalnum, text)) <= _FEW


def _pair(gone: str, come: str) -> list[TextRun]:
    """Return the two sides of a change. Characters that both begin or end with become `same`, except letters and digits."""
    start = 0
    while start < min(len(gone), len(come)) and gone[start] == come[start] and not gone[start].isalnum():
        start += 1
    kept, gone, come = gone[:start], gone[start:], come[start:]
    end = 0
    while end < min(len(gone), len(come)) and gone[-1 - end] == come[-1 - end] and not gone[-1 - end].isalnum():
        end += 1
    tail = gone[len(gone) - end :]
    sides = (
        TextRun("same", kept),
        TextRun("gone", gone[: len(gone) - end]),
        TextRun("come", come[: len(come) - end]),
        TextRun("same", tail),
    )
    return [run for run in sides if run.text]


def _iter_merged(runs: Sequence[TextRun]) -> Iterator[TextRun]:
    last: TextRun | None = None
    for run in runs:
        if last is not None and last.kind == run.kind:
            last = TextRun(run.kind, last.text + run.text)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def count_shared(before: str, after: str) -> int:
    """Return the length of the common beginning in characters.

    A binary search compares slices, which is faster than a loop over characters.
    """
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
