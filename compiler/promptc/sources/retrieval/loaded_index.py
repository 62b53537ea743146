"""An index that is ready to be asked."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.frozen import frozen
from promptc.sources.retrieval.find_terms import Synonyms
from promptc.sources.retrieval.store import ChunkStore


@frozen(eq=False)
class LoadedIndex:
    """`fingerprint` changes with everything that decides an answer. `ideals` give the most a word can add, `unseen` is that of a word no
    chunk has. `weights` are those of words and vectors as whole numbers. `encoder` is the id of what made the vectors, empty where there
    are none, and `background` how near a query is to any chunk, in 1/10000. `note` says why there are no vectors though asked for.
    What has no versions is asked whatever version is wanted.
    """

    name: str
    fingerprint: str
    store: ChunkStore
    ideals: Mapping[str, int]
    unseen: int
    synonyms: Synonyms
    weights: tuple[int, int]
    encoder: str = ""
    background: int = 0
    note: str = ""
    has_versions: bool = True
