"""Builds the indexes over files that a pack declares, where they are not up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from promptc.diag.findings import DiskError
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Literal
from promptc.frontend.corpus_pattern import fill_path
from promptc.frontend.find_engine import find_engine
from promptc.frontend.open_corpus import CorpusPart, iter_parts
from promptc.model.sources import CorpusIndex
from promptc.sources.retrieval.encoder import VectorEncoder
from promptc.sources.retrieval.index import Count, Progress, build_index
from promptc.sources.retrieval.local import read_index, write_index
from promptc.sources.retrieval.postgres import BuiltIndex, DatabaseStore, write_chunks
from promptc.sources.retrieval.retrieve import check_index

Outcome = Literal["built", "kept"]


@frozen
class IndexBuild:
    """What became of one index: it was `built`, or `kept` since it was up to date."""

    part: CorpusPart
    outcome: Outcome
    built: BuiltIndex
    encoded: int


def build_corpus(
    index: CorpusIndex,
    *,
    count: Count,
    counter: str,
    load_encoder: Callable[[], VectorEncoder | None],
    progress: Progress = lambda done, total: None,
    version: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[IndexBuild]:
    """Each index of `index` in turn, built if it is missing, stale or damaged, or could have vectors now and has none.

    `count` and `counter` (its digest) are the pack's; `load_encoder` is called when something is built, and gives None where there are to
    be no vectors. An `engine` (found with `environment`) is given what it does not hold as it is on disk. Raises `PromptcError` for a
    corpus that cannot be read, `DiskError` where an index cannot be written.
    """
    database = find_engine(index, environment or {})
    for part in iter_parts(index, version):
        done = _build_part(index, part, count, counter, load_encoder, progress)
        if database is not None and not DatabaseStore(database, done.built.fingerprint).is_whole(len(done.built.chunks)):
            write_chunks(database, done.built, f"{index.name} {fill_path(index.path, part.values)}")
        yield done


def _build_part(
    index: CorpusIndex, part: CorpusPart, count: Count, counter: str, load_encoder: Callable[[], VectorEncoder | None], progress: Progress
) -> IndexBuild:
    earlier = _find_earlier(part)
    is_fresh = earlier is not None and _is_fresh(index, earlier, part, counter)
    if earlier is not None and is_fresh and (earlier.vectors or not index.matching.encoder):
        return IndexBuild(part, "kept", earlier, 0)
    encoder = load_encoder()
    if earlier is not None and is_fresh and encoder is None:
        return IndexBuild(part, "kept", earlier, 0)
    encoded = [0]

    def note(done: int, total: int) -> None:
        encoded[0] = total
        progress(done, total)

    built = build_index(index, part.documents, count=count, counter=counter, encoder=encoder, earlier=earlier, progress=note)
    fingerprint = write_index(part.place.folder, built, part.place.span)
    return IndexBuild(part, "built", replace(built, fingerprint=fingerprint), encoded[0])


def _find_earlier(part: CorpusPart) -> BuiltIndex | None:
    try:
        return read_index(part.place)
    except DiskError:
        return None


def _is_fresh(index: CorpusIndex, earlier: BuiltIndex, part: CorpusPart, counter: str) -> bool:
    try:
        check_index(index, earlier, part.documents, counter, part.place)
    except DiskError:
        return False
    return True
