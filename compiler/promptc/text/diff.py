"""Differences of two lists, of words and of lines, the common beginning of two texts, and names similar to a name.

Only this module imports rapidfuzz.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import groupby

from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal

Kind = Literal["same", "gone", "come"]

_WORD = re.compile(r"\w+|[^\S\n]+|\n|[^\w\s]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NEAR = 4
MOST_PAIRS = 1 << 30
"""The most pairs of elements that are compared at once. Their table has a bit for each pair: 128 MiB."""

_FEW = 3
"""The most words between two changes that are shown as part of them, to keep a rewritten sentence from becoming confetti."""


@frozen
class TextRun:
    """A run of characters that are in both texts (`same`), only in the old one (`gone`), or only in the new one (`come`)."""

    kind: Kind
    text: str


@frozen
class Stretch:
    """Neighbouring elements of two lists, equal or not: `start` to `stop` of the old list, `first` to `last` of the new one (half-open)."""

    is_same: bool
    start: int
    stop: int
    first: int
    last: int


def align(old: Sequence[Hashable], new: Sequence[Hashable], most: int = MOST_PAIRS) -> Iterator[Stretch]:
    """Yield the stretches that cover both lists, equal and different ones in turn.

    The equal ones are the longest common subsequence (rapidfuzz, bit-parallel: Hyyrö 2004). If there are more than `most` pairs of elements
    between the common ends, nothing between these is matched: all of it counts as different.
    """
    before, after = 0, 0
    for start, stop, first in _iter_equal(old, new, most):
        if start > before or first > after:
            yield Stretch(False, before, start, after, first)
        before, after = stop, first + stop - start
        yield Stretch(True, start, stop, first, after)
    if before < len(old) or after < len(new):
        yield Stretch(False, before, len(old), after, len(new))


def diff_words(old: str, new: str) -> tuple[TextRun, ...]:
    """Return the differences as runs in order. Without `come` they join to `old`, without `gone` to `new`.

    Deleted text comes before the text that replaces it. Whole lines that both texts have are matched first. Then words between them are
    matched (runs of letters and digits, of white space, single marks, line ends). Both are matched by `align`.
    """
    if old == new:
        return (TextRun("same", old),) if old else ()
    runs: list[TextRun] = []
    for is_same, before, after in _match(_LINE.findall(old), _LINE.findall(new)):
        runs += [TextRun("same", before)] if is_same else _diff_hunk(before, after)
    return tuple(_iter_merged(runs))


def diff_lines(old: Sequence[str], new: Sequence[str], context: int = 3) -> Iterator[str]:
    """Yield the differences of two lists of lines in the unified format, without the names of files, with some lines around each."""
    for hunk in _iter_hunks(list(align(old, new)), context):
        first, last = hunk[0], hunk[-1]
        yield f"@@ -{_show_range(first.start, last.stop)} +{_show_range(first.first, last.last)} @@"
        for one in hunk:
            if one.is_same:
                yield from (f" {line}" for line in old[one.start : one.stop])
            else:
                yield from (f"-{line}" for line in old[one.start : one.stop])
                yield from (f"+{line}" for line in new[one.first : one.last])


def list_near(name: str, known: Iterable[str], most: int) -> list[str]:
    """Return at most `most` of the `known` names that are similar to `name`, the nearest first, equally near ones by code point.

    A name is similar if at most a quarter of the letters of both names together must be deleted or inserted, ignoring case.
    """
    from rapidfuzz.distance import Indel

    wanted = name.casefold()
    judged = ((Indel.distance(wanted, one.casefold()), one) for one in known)
    near = sorted((distance, one) for distance, one in judged if distance * _NEAR <= len(wanted) + len(one))
    return [one for _, one in near[:most]]


def count_alike(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """Return the length of the common beginning."""
    return next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))


def _iter_equal(old: Sequence[Hashable], new: Sequence[Hashable], most: int) -> Iterator[tuple[int, int, int]]:
    """Yield the equal stretches: start and stop in the old list, and start in the new one."""
    head = count_alike(old, new)
    tail = count_alike(old[head:][::-1], new[head:][::-1])
    inner = old[head : len(old) - tail], new[head : len(new) - tail]
    if head:
        yield 0, head, 0
    if 0 < len(inner[0]) * len(inner[1]) <= most:
        from rapidfuzz.distance import Indel

        numbers: dict[Hashable, int] = {}  # equal elements by number, so that two different ones are never taken for equal
        for block in Indel.opcodes(*([numbers.setdefault(one, len(numbers)) for one in side] for side in inner)):
            if block.tag == "equal":
                yield head + block.src_start, head + block.src_end, head + block.dest_start
    if tail:
        yield len(old) - tail, len(old), len(new) - tail


def _match(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[bool, str, str]]:
    """Yield stretches of both sides, joined: whether they are equal, the old text, and the new text."""
    for one in align(old, new):
        yield one.is_same, "".join(old[one.start : one.stop]), "".join(new[one.first : one.last])


def _iter_hunks(stretches: Sequence[Stretch], context: int) -> Iterator[list[Stretch]]:
    """Yield the differences that are at most twice the context apart together, with the equal lines between and around them."""
    hunk: list[Stretch] = []
    for at, one in enumerate(stretches):
        if not one.is_same:
            hunk.append(one)
            continue
        length, is_last = one.stop - one.start, at == len(stretches) - 1
        if hunk and not is_last and length <= 2 * context:
            hunk.append(one)
            continue
        some = min(length, context)
        if hunk:
            yield [*hunk, Stretch(True, one.start, one.start + some, one.first, one.first + some)]
        hunk = [Stretch(True, one.stop - some, one.stop, one.last - some, one.last)]
    if hunk and not hunk[-1].is_same:
        yield hunk


def _show_range(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1}" if length == 1 else f"{start + (length > 0)},{length}"


def _diff_hunk(old: str, new: str) -> list[TextRun]:
    """Return the words that are deleted and inserted. A few words that are equal by chance count as changed too."""
    runs: list[TextRun] = []
    gone: list[str] = []
    come: list[str] = []
    for is_same, before, after in _match(_WORD.findall(old), _WORD.findall(new)):
        if is_same and not (_is_chance(before) and (gone or come)):
            runs += [*_pair("".join(gone), "".join(come)), TextRun("same", before)]
            gone, come = [], []
        else:
            gone.append(before)
            come.append(after)
    return [*runs, *_pair("".join(gone), "".join(come))]


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


def _iter_merged(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    for kind, some in groupby(runs, lambda run: run.kind):
        yield TextRun(kind, "".join(run.text for run in some))


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
