"""Which part of the output each token belongs to: the one that holds its first byte (language.md §11)."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from promptc.passes.assemble import Part
from promptc.passes.layout.layout import Layout


def attribute(parts: Sequence[Part], frame: Layout) -> list[int]:
    """The tokens of every part, in order. Their sum is the count of the output without message overhead."""
    if frame.meter.counter.unit > 1:
        return list(_iter_running(parts, frame))
    counts: list[int] = []
    for _, members in groupby(parts, key=lambda part: part.message):
        counts.extend(_attribute_message(list(members), frame))
    return counts


def _iter_running(parts: Sequence[Part], frame: Layout) -> Iterator[int]:
    """An estimate's parts are differences of its running value, so that they add up."""
    tokens, units = frame.meter.tokens, 0
    for part in parts:
        before = units
        units += frame.meter.count(part.text)
        yield tokens(units) - tokens(before)


def _attribute_message(parts: Sequence[Part], frame: Layout) -> list[int]:
    counts: list[int] = []
    cluster: list[Part] = []
    for part in parts:
        if cluster and frame.meter.is_safe(cluster[-1].text, part.text):
            counts.extend(_attribute_cluster(cluster, frame))
            cluster = []
        cluster.append(part)
    return counts + _attribute_cluster(cluster, frame)


def _attribute_cluster(cluster: Sequence[Part], frame: Layout) -> list[int]:
    if len(cluster) == 1:
        return [frame.meter.count(cluster[0].text)]
    starts = frame.meter.counter.iter_starts("".join(part.text for part in cluster))
    ends: list[int] = []
    for part in cluster:
        ends.append((ends[-1] if ends else 0) + len(part.text.encode()))
    counts = [0] * len(cluster)
    for start in starts:
        counts[bisect_right(ends, start)] += 1
    return counts
