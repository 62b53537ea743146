"""The indexes over files that a pack declares, as they lie on disk, ready to be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, fail, suggest
from promptc.diag.frozen import frozen, replace
from promptc.files.paths import check_pack_path
from promptc.files.reading import find_link
from promptc.frontend.corpora import list_parts, read_corpus
from promptc.frontend.corpus_pattern import fill_path, find_names, read_corpus_pattern
from promptc.frontend.find_engine import find_engine
from promptc.model.sources import CorpusIndex, Document
from promptc.sources.database import Database
from promptc.sources.retrieval.local import IndexPlace, LoadedIndex, read_index
from promptc.sources.retrieval.postgres import BuiltIndex, DatabaseStore
from promptc.sources.retrieval.retrieve import check_index, open_index

_VERSION = "version"


@frozen
class CorpusPart:
    """One index on disk: where it lies, what the names in its path stand for, and its documents."""

    place: IndexPlace
    values: Mapping[str, str]
    documents: tuple[Document, ...]


def open_corpus(
    index: CorpusIndex, counter: str, version: str | None = None, environment: Mapping[str, str] | None = None
) -> tuple[LoadedIndex, ...]:
    """Every index on disk of `index` that may hold chunks of `version` (None: all of them). `counter` is the digest of the pack's counter,
    `environment` holds the variables that an `engine` may name.

    Each is read whole and checked: what has a digest that differs is refused. Raises `DiskError`: PC0190 where one is missing, PC0192 where
    it is stale, PC0193 damaged, PC0194 of another form; each names the command to run. `PromptcError`: PC0195 where the corpus has no
    files, or none of that version; and the findings of `read_corpus`.
    """
    opened = []
    database = find_engine(index, environment or {})
    for part in iter_parts(index, version):
        built = read_index(part.place)
        check_index(index, built, part.documents, counter, part.place)
        loaded = open_index(index.name, index.matching, built)
        opened.append(replace(loaded, store=_find_store(database, built, part)) if database is not None else loaded)
    return tuple(opened)


def _find_store(database: Database, built: BuiltIndex, part: CorpusPart) -> DatabaseStore:
    store = DatabaseStore(database, built.fingerprint)
    if not store.is_whole(len(built.chunks)):
        message = (
            f"the engine of the index `{part.place.name}`, {database.address.shown}, does not hold it as it is in `{part.place.folder}`"
        )
        raise DiskError([Diagnostic("PC0192", message, part.place.span, f"run `{part.place.command}`")])
    return store


def iter_parts(index: CorpusIndex, version: str | None = None) -> Iterator[CorpusPart]:
    """The parts of a corpus, sorted by the names in its path; each is an index of its own. Raises as `open_corpus`."""
    names = find_names(index.path)
    is_known = version is not None and _VERSION in read_corpus_pattern(index.pattern, index.span).names
    values = list_parts(index, names) if names else ({},)
    chosen = [one for one in values if not is_known or one.get(_VERSION, version) == version]
    parts = [_read_part(index, one) for one in chosen]
    if not any(part.documents for part in parts):
        known = sorted({one[_VERSION] for one in values if _VERSION in one})
        raise _refuse_empty(index, version if known else None, known)
    if version is not None and not any(_holds(part, version) for part in parts):
        raise _refuse_empty(index, version, sorted({_find_version(one) for part in parts for one in part.documents} - {""}))
    yield from parts


def _read_part(index: CorpusIndex, values: Mapping[str, str]) -> CorpusPart:
    path = fill_path(index.path, values)
    wrong = check_pack_path(path)
    if wrong:
        raise fail("PC0272", f"`path: {index.path}` is `{path}` for some files: {wrong}", index.span, help="rename the folder")
    link = find_link(index.folder, path)
    if link:
        raise fail("PC0152", f"`{path}`: `{link}` is a link; links are not followed", index.span, help="put the folder itself there")
    return CorpusPart(IndexPlace(Path(index.folder, path), index.span, index.name), values, read_corpus(index, values))


def _holds(part: CorpusPart, version: str) -> bool:
    return any(_find_version(document) == version for document in part.documents)


def _find_version(document: Document) -> str:
    return str(document.metadata.get(_VERSION) or "")


def _refuse_empty(index: CorpusIndex, version: str | None, known: list[str]) -> PromptcError:
    if version is None:
        return fail("PC0195", f"no file matches the corpus of `{index.name}`, `{index.pattern}`", index.span, help="correct the pattern")
    help = suggest(version, known) if known else "put `{version}` in its pattern, or `version` in front matter, or ask for none"
    return fail("PC0195", f"the corpus of `{index.name}` has no version `{version}`", index.span, help=help)
