"""How well an index answers queries whose answers are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from promptc.diag.frozen import frozen
from promptc.model.sources import Chunk
from promptc.sources.retrieval.request import Retrieved
from promptc.text.guard import normalize

SHARE = 1000
"""Shares are counted in thousandths, cut off."""


@frozen
class Answer:
    """A section that answers a query: the end of its file's path, and its heading."""

    file: str
    heading: str

    def is_in(self, chunk: Chunk) -> bool:
        """Whether the chunk holds the section's own text, or a part of it."""
        in_file = chunk.file == self.file or chunk.file.endswith(f"/{self.file}")
        return in_file and normalize(self.heading) in map(normalize, chunk.covers)


@frozen
class KnownAnswer:
    """A query and what answers it: any of the answers. One without is to find nothing."""

    query: str
    answers: tuple[Answer, ...]


@frozen
class JudgedQuery:
    """What a query came to: the place of the first right answer (from 1; 0: none), whether it stood among those that `cap` tokens hold, the
    best score in millionths, and whether a render would have called it sparse.
    """

    known: KnownAnswer
    rank: int
    in_cap: bool
    best: int
    is_flagged: bool


@frozen
class IndexVerdict:
    """All queries together. Recall, and the mean of 1/rank, are over those with answers, in thousandths."""

    judged: tuple[JudgedQuery, ...]

    @property
    def answered(self) -> tuple[JudgedQuery, ...]:
        """Those that have an answer."""
        return tuple(one for one in self.judged if one.known.answers)

    def recall(self, depth: int) -> int:
        """The share whose answer is among the first `depth`."""
        return self._share(sum(1 for one in self.answered if 0 < one.rank <= depth))

    @property
    def recall_in_cap(self) -> int:
        """The share whose answer is among what the cap holds."""
        return self._share(sum(1 for one in self.answered if one.in_cap))

    @property
    def mean_reciprocal_rank(self) -> int:
        """The mean of 1/rank, nothing for what was not found."""
        return sum(SHARE * SHARE // one.rank for one in self.answered if one.rank) // (SHARE * max(len(self.answered), 1))

    def _share(self, count: int) -> int:
        return SHARE * count // max(len(self.answered), 1)


def judge_index(known: Sequence[KnownAnswer], ask: Callable[[str], Retrieved], *, floor: int, top: int, cap: int) -> IndexVerdict:
    """Asks every query. `ask` is to answer with the floor off, best first, as deep as recall is wanted; `floor`, `top` and `cap` are those
    of a render: the best `top`, as many as `cap` tokens hold whole.
    """
    return IndexVerdict(tuple(_judge(one, ask(one.query), floor, top, cap) for one in known))


def _judge(known: KnownAnswer, retrieved: Retrieved, floor: int, top: int, cap: int) -> JudgedQuery:
    right = [any(answer.is_in(found.chunk) for answer in known.answers) for found in retrieved.found]
    rank = right.index(True) + 1 if True in right else 0
    held, tokens = 0, 0
    for found in retrieved.found[:top]:
        tokens += found.chunk.tokens
        if tokens > cap:
            break
        held += 1
    best = max((found.score.fused for found in retrieved.found), default=0)
    return JudgedQuery(known, rank, 0 < rank <= held, best, best < floor or not retrieved.found)
