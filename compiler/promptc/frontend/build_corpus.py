"""Builds the indexes over files that a pack declares, where they are not up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from promptc.diag.errors import DiskError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal
from promptc.frontend.open_corpus import Part, iter_parts
from promptc.model.index import CorpusIndex
from promptc.sources.retrieval.build_index import Count, Progress, build_index
from promptc.sources.retrieval.built_index import BuiltIndex
from promptc.sources.retrieval.encoder import Encoder
from promptc.sources.retrieval.open_index import check_index
from promptc.sources.retrieval.read_index import read_index
from promptc.sources.retrieval.write_index import write_index

Outcome = Literal["built", "kept"]


@frozen
class Done:
    """What became of one index: it was `built`, or `kept` since it was up to date."""

    part: Part
    outcome: Outcome
    built: BuiltIndex
    encoded: int


def build_corpus(
    index: CorpusIndex,
    *,
    count: Count,
    counter: str,
    load_encoder: Callable[[], Encoder | None],
    progress: Progress = lambda done, total: None,
    version: str | None = None,
) -> Iterator[Done]:
    """Each index of `index` in turn, built if it is missing, stale or damaged, or could have vectors now and has none.

    `count` and `counter` (its digest) are the pack's; `load_encoder` is called when something is built, and gives None where there are to
    be no vectors. Raises `PromptcError` for a corpus that cannot be read, `DiskError` where an index cannot be written.
    """
    for part in iter_parts(index, version):
        earlier = _find_earlier(part)
        if earlier is not None and _is_fresh(index, earlier, part, counter) and (earlier.vectors or not index.matching.encoder):
            yield Done(part, "kept", earlier, 0)
            continue
        encoder = load_encoder()
        if encoder is None and earlier is not None and _is_fresh(index, earlier, part, counter):
            yield Done(part, "kept", earlier, 0)
            continue
        encoded = [0]

        def note(done: int, total: int, encoded: list[int] = encoded) -> None:
            encoded[0] = total
            progress(done, total)

        built = build_index(index, part.documents, count=count, counter=counter, encoder=encoder, earlier=earlier, progress=note)
        write_index(part.place.folder, built, part.place.span)
        yield Done(part, "built", built, encoded[0])


def _find_earlier(part: Part) -> BuiltIndex | None:
    try:
        return read_index(part.place)
    except DiskError:
        return None


def _is_fresh(index: CorpusIndex, earlier: BuiltIndex, part: Part, counter: str) -> bool:
    try:
        check_index(index, earlier, part.documents, counter, part.place)
    except DiskError:
        return False
    return True
