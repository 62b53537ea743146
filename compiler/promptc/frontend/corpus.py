"""A corpus: reads the files of an index (`read_corpus`) and its queries (`read_queries`), builds its indexes on disk and opens them.

`build_corpus` builds the indexes, and `open_corpus` opens them.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Source, Span, fail, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.files.paths import read_pack_file, show_path
from promptc.files.reading import check_pack_path, decode_text, find_link, read_inside
from promptc.frontend.indexes import RESERVED, CorpusPattern, fill_path, list_names, read_corpus_pattern
from promptc.frontend.yaml import load_yaml
from promptc.model.sources import CorpusIndex, Document
from promptc.sources.address import read_address
from promptc.sources.database import Database
from promptc.sources.kept import KeptCorpus, digest_bytes, digest_listing, walk
from promptc.sources.retrieval.building import AskedLines, Count, Progress, build_index
from promptc.sources.retrieval.encoder import VectorEncoder
from promptc.sources.retrieval.index import MAX_BYTES, IndexPlace, check_index, read_index, write_index
from promptc.sources.retrieval.local import BuiltIndex, LoadedIndex, open_index
from promptc.sources.retrieval.postgres import DatabaseStore, write_chunks
from promptc.sources.retrieval.retrieve import Answer, KnownAnswer
from promptc.text.characters import convert_form
from promptc.text.json import render_canonical_json, render_digest

Outcome = Literal["built", "kept"]
_VERSION = "version"
MAX_FILES = 200_000
"""The most files of a corpus."""

_MARK = "---"
_ANY = "||"


def open_corpus(
    index: CorpusIndex,
    counter: str,
    version: str | None = None,
    environment: Mapping[str, str] | None = None,
    kept: KeptCorpus | None = None,
) -> tuple[LoadedIndex, ...]:
    """Return every index on disk of `index` that may contain chunks of `version`, or all of them if it is None.

    `counter` is the digest of the pack's counter, and `environment` has the variables that an `engine` may name. With `kept`, what was
    found is stored in the cache. Each index is read whole and checked: an index with a wrong digest is refused.

    Raises `DiskError`, which names the command to run, if an index is missing (PC0190), stale (PC0192), damaged (PC0193) or of another
    format (PC0194). Raises `PromptcError` if the corpus has no files, or none of that version (PC0195), and with the findings of
    `read_corpus`.
    """
    opened = []
    database = find_engine(index, environment or {})
    root = _locate_root(index)
    listed = digest_listing(index.folder, root) if kept is not None else b""
    parts = [(part, read_index(part.place)) for part in iter_parts(index, version)]
    for part, built in parts:
        check_index(index, built, part.files, counter, part.place)
        _check_lead(index, part, built)
        loaded = open_index(index.name, index.matching, built)
        opened.append(replace(loaded, store=_load_store(database, built, part)) if database is not None else loaded)
    if kept is not None:
        documents = [one for part, _ in parts for one in part.files]
        kept.keep(listed, root, documents, [(fill_path(index.path, part.values), built) for part, built in parts])
    return tuple(opened)


def _locate_root(index: CorpusIndex) -> str:
    """Return the folder, relative to the pack's folder, that contains all files of the index; empty for the pack's folder itself."""
    patterns = [read_corpus_pattern(one, index.span).folder for one in (index.pattern, index.asked) if one]
    return os.path.commonpath(patterns) if all(patterns) else ""


def _load_store(database: Database, built: BuiltIndex, part: CorpusPart) -> DatabaseStore:
    store = DatabaseStore(database, built.fingerprint)
    if not store.is_whole(len(built.chunks)):
        message = (
            f"the engine of the index `{part.place.name}`, {database.address.shown}, does not hold it as it is in `{part.place.folder}`"
        )
        raise DiskError([Diagnostic("PC0192", message, part.place.span, f"run `{part.place.command}`")])
    return store


@frozen
class CorpusPart:
    """One index on disk: its place, the values of the names in its path, its documents, and the file of queries for them."""

    place: IndexPlace
    values: Mapping[str, str]
    documents: tuple[Document, ...]
    asked: Document | None = None

    @property
    def files(self) -> tuple[Document, ...]:
        """All files that the index is made of."""
        return self.documents if self.asked is None else (*self.documents, self.asked)


def iter_parts(index: CorpusIndex, version: str | None = None) -> Iterator[CorpusPart]:
    """Yield the parts of a corpus, sorted by the names in its path. Each part is an index of its own. Raises as `open_corpus` does."""
    names = list_names(index.path)
    is_known = version is not None and _VERSION in read_corpus_pattern(index.pattern, index.span).names
    values = list_parts(index, names) if names else ({},)
    chosen = [one for one in values if not is_known or one.get(_VERSION, version) == version]
    parts = [_read_part(index, one) for one in chosen]
    if not any(part.documents for part in parts):
        known = sorted({one[_VERSION] for one in values if _VERSION in one})
        raise _refuse_empty(index, version if known else None, known)
    if version is not None and not any(any(_version_of(document) == version for document in part.documents) for part in parts):
        raise _refuse_empty(index, version, sorted({_version_of(one) for part in parts for one in part.documents} - {""}))
    if index.asked and not any(_has_asked(index, one) for one in values):
        help = f"write `{fill_path(index.asked, values[-1])}`, or remove `asked`"
        raise fail("PC0279", f"no part of the index `{index.name}` has its file `asked: {index.asked}`", index.span, help=help)
    yield from parts


def _read_part(index: CorpusIndex, values: Mapping[str, str]) -> CorpusPart:
    path = fill_path(index.path, values)
    wrong = check_pack_path(path)
    if wrong:
        raise fail("PC0272", f"`path: {index.path}` is `{path}` for some files: {wrong}", index.span, help="rename the folder")
    link = find_link(index.folder, path)
    if link:
        raise fail(
            "PC0152",
            f"`{path}`: `{link}` is a symbolic link, and promptc does not follow links",
            index.span,
            help="replace the link with a copy of the folder",
        )
    place = IndexPlace(Path(index.folder, path), index.span, index.name)
    return CorpusPart(place, values, read_corpus(index, values), _read_asked(index, values) if index.asked else None)


def _has_asked(index: CorpusIndex, values: Mapping[str, str]) -> bool:
    return os.path.lexists(Path(index.folder, fill_path(index.asked, values)))


def _read_asked(index: CorpusIndex, values: Mapping[str, str]) -> Document | None:
    """Return the file of queries for a part, or None if the part has none, which is allowed if `asked` has names in braces.

    The lines of the file are parsed when the index is built.
    """
    path = fill_path(index.asked, values)
    if path != index.asked and not _has_asked(index, values):
        return None
    content = read_pack_file(index.folder, path, index.span)
    text = convert_form("NFC", decode_text(content, show_path(index.span, path)))
    return Document(path, text, {}, render_digest(text.encode()), (path, digest_bytes(content)))


def _check_lead(index: CorpusIndex, part: CorpusPart, built: BuiltIndex) -> None:
    """Refuse a `lead` without idle lines, because it would have no effect. A part without a file of queries is exempt."""
    if index.matching.lead and part.asked is not None and not built.idle:
        message = f"`lead` of the index `{index.name}` has no effect: `{part.asked.file}` has no query without an answer"
        raise fail("PC0279", message, index.span, help="add queries without an answer, such as `hello there`, or remove `lead`")


def _version_of(document: Document) -> str:
    return str(document.metadata.get(_VERSION) or "")


def _refuse_empty(index: CorpusIndex, version: str | None, known: list[str]) -> PromptcError:
    if version is None:
        return fail(
            "PC0195",
            f"no file matches `{index.pattern}`, the corpus of the index `{index.name}`",
            index.span,
            help="correct the pattern, or add the files",
        )
    help = suggest(version, known) if known else "put `{version}` in its pattern, or `version` in front matter, or ask for none"
    return fail("PC0195", f"the corpus of the index `{index.name}` has no version `{version}`", index.span, help=help)


@frozen
class IndexBuild:
    """The result for one index: it was `built`, or `kept` because it was up to date."""

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
    """Yield each index of `index`, built if it is missing, stale or damaged, or if it has no vectors and now could.

    `count` and `counter` (its digest) belong to the pack. `load_encoder` is called when an index must be built, and returns None if there
    are to be no vectors. An `engine`, found through `environment`, receives each index that it does not hold in the form on disk. Raises
    `PromptcError` for a corpus that cannot be read, and `DiskError` if an index cannot be written.
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

    asked = _read_lines(index, part.asked) if part.asked is not None else None
    built = build_index(index, part.documents, asked=asked, count=count, counter=counter, encoder=encoder, earlier=earlier, progress=note)
    _check_lead(index, part, built)
    fingerprint = write_index(part.place.folder, built, part.place.span)
    return IndexBuild(part, "built", replace(built, fingerprint=fingerprint), encoded[0])


def _read_lines(index: CorpusIndex, asked: Document) -> AskedLines:
    return AskedLines(asked, read_queries(asked.text.encode(), show_path(index.span, asked.file)))


def _find_earlier(part: CorpusPart) -> BuiltIndex | None:
    try:
        return read_index(part.place)
    except DiskError:
        return None


def _is_fresh(index: CorpusIndex, earlier: BuiltIndex, part: CorpusPart, counter: str) -> bool:
    try:
        check_index(index, earlier, part.files, counter, part.place)
    except DiskError:
        return False
    return True


def digest_outside(indexes: Sequence[CorpusIndex]) -> bytes | None:
    """Return one digest of all files that these indexes are made of, and of all files of the built indexes.

    Returns None if a file cannot be read.
    """
    whole: list[bytes] = []
    try:
        for index in indexes:
            for path in _iter_outside(index):
                whole += [path.encode("utf-8", "surrogateescape"), digest_bytes(read_inside(index.folder or ".", path, MAX_BYTES))]
    except (OSError, ValueError, PromptcError):
        return None
    return digest_bytes(b"\0".join(whole))


def list_outside(index: CorpusIndex) -> list[str]:
    """Return the folders and the files that an index is made of, relative to its folder: documents, and the files of the built index."""
    try:
        return [_locate_root(index), _locate_built(index), *_iter_outside(index)]
    except (OSError, PromptcError):
        return [""]


def _iter_outside(index: CorpusIndex) -> Iterator[str]:
    yield from walk(index.folder, _locate_root(index))
    yield from walk(index.folder, _locate_built(index))


def _locate_built(index: CorpusIndex) -> str:
    """Return the folder, relative to the pack's folder, that contains the built index of every part."""
    return "/".join(takewhile(lambda name: "{" not in name, index.path.split("/")))


def find_engine(index: CorpusIndex, environment: Mapping[str, str]) -> Database | None:
    """Return the database of an index's `engine`, at the URL in its variable of `environment`, or None if the index has no engine.

    Nothing is opened yet. Raises `PromptcError` for an invalid URL (PC0167) or a database other than PostgreSQL (PC0278), and `DiskError`
    (PC0169) if the variable is not set.
    """
    engine = index.engine
    if engine is None:
        return None
    url = environment.get(engine.url_env, "")
    if not url:
        message = f"the engine of the index `{index.name}` has no URL: the environment variable `{engine.url_env}` is not set"
        raise DiskError([Diagnostic("PC0169", message, engine.span, "set it to a URL such as `postgresql://user@host/database`")])
    address = read_address(url, engine.span)
    if address.kind != "postgresql":
        message = (
            f"`{address.shown}` cannot be the engine of the index `{index.name}`: an engine must be a PostgreSQL database with pgvector"
        )
        raise fail(
            "PC0278", message, engine.span, help="set the variable to a PostgreSQL URL, or remove `engine`: an index works without one"
        )
    return Database(address, engine.span)


def read_corpus(index: CorpusIndex, wanted: Mapping[str, str] | None = None) -> tuple[Document, ...]:
    r"""Return the documents of an index, sorted by path in UTF-8.

    With `wanted`, only documents whose names in braces have these values are returned. Metadata has its keys in order, as it does when it
    is read back from an index.

    The result is the same on every machine: NFC, line ends as `\n`, independent of the order in which folders are listed. Raises
    `PromptcError` for a wrong pattern (PC0271), front matter (PC0276) or U+0000 (PC0133), and with the findings of `read_pack_file`; raises
    `DiskError` for a file or folder that cannot be read.
    """
    pattern = read_corpus_pattern(index.pattern, index.span, wanted)
    return tuple(_read_document(index, path, values) for path, values in _list_files(index, pattern))


def list_parts(index: CorpusIndex, names: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """Return every combination of values that the given names in braces have among the files, sorted."""
    pattern = read_corpus_pattern(index.pattern, index.span)
    found = {tuple(values[name] for name in names) for _, values in _list_files(index, pattern)}
    return tuple(dict(zip(names, values, strict=True)) for values in sorted(found))


def _list_files(index: CorpusIndex, pattern: CorpusPattern) -> list[tuple[str, dict[str, str]]]:
    """Return the paths of the files, relative to the pack's folder, each with the values of the names in the pattern.

    They are in the order of the paths in NFC, whatever the form of their letters on this disk.
    """
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for path in walk(index.folder, pattern.folder, lambda folder, error: _refuse_folder(index, folder, error)):
        name = unicodedata.normalize("NFC", path)
        values = pattern.match(name)
        if values is None or name == unicodedata.normalize("NFC", fill_path(index.asked, values)):
            continue
        if name in found:
            message = f"the corpus has two files `{name}`, with letters in different Unicode forms, and elsewhere they would be one file"
            raise fail("PC0271", message, index.span, help="rename one of the two")
        found[name] = path, values
        if len(found) > MAX_FILES:
            raise fail("PC0271", f"the corpus has more than {MAX_FILES} files", index.span, help="split it into several indexes")
    return [found[name] for name in sorted(found, key=lambda name: name.encode("utf-8", "surrogateescape"))]


def _refuse_folder(index: CorpusIndex, folder: str, error: OSError) -> DiskError:
    help = "let your user read the folder, or name another in `corpus`"
    return DiskError([Diagnostic("PC0154", f"the folder `{folder}` cannot be read: {error.strerror}", index.span, help)])


def _read_document(index: CorpusIndex, path: str, values: Mapping[str, str]) -> Document:
    shown = show_path(index.span, path)
    content = read_pack_file(index.folder, path, index.span)
    text = convert_form("NFC", decode_text(content, shown))
    _check_characters(text, shown)
    front, body = _part_front(text)
    metadata = json.loads(render_canonical_json({**index.defaults, **values, **_read_front(front, shown, values)}))
    return Document(unicodedata.normalize("NFC", path), body, metadata, render_digest(text.encode()), (path, digest_bytes(content)))


def _check_characters(text: str, shown: str) -> None:
    if "\0" in text:
        before = text[: text.index("\0")]
        place = Source(shown, text).span(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise fail("PC0133", "this text holds U+0000, which no prompt can contain", place, help="remove it")


def _part_front(text: str) -> tuple[str, str]:
    """Return the front matter between the two lines of `---` at the beginning, or an empty text, and the rest."""
    if not text.startswith(f"{_MARK}\n"):
        return "", text
    front, mark, body = f"{text[len(_MARK) :]}\n".partition(f"\n{_MARK}\n")  # the last line may have no line end
    return (front, body[:-1]) if mark else ("", text)


def _read_front(front: str, shown: str, values: Mapping[str, str]) -> dict[str, Any]:
    if not front.strip():
        return {}
    node = load_yaml(front.encode(), shown, "")  # the first line end replaces the line with the mark
    if not isinstance(node.value, dict):
        raise fail("PC0276", "front matter must be a mapping", Span(shown, 2, 1), help="write `key: value`")
    for key in node.value:
        if key in RESERVED:
            raise fail("PC0276", f"promptc itself sets `{key}` for every chunk", node.key_span(key), help="choose another name")
        if key in values and str(node.value[key].value) != values[key]:
            message = f"`{key}` is `{node.value[key].raw}` here, but `{values[key]}` in the file's path"
            raise fail("PC0276", message, node.key_span(key), help="leave it out, or move the file")
    return {key: value for key, value in node.plain().items() if key not in values}


def read_queries(data: bytes, name: str) -> tuple[KnownAnswer, ...]:
    """Return the queries of a tab-separated file.

    Each line is a query and, after a tab, the answers FILE#HEADING with `||` between them, or nothing if nothing is to be found. If the
    first column of the first line is `query`, that line names the columns, and values of further columns are kept by name. Empty lines are
    skipped.

    FILE is the end of a path in the corpus. It ends at the first `#` after `.md`, or else at the last `#`. Raises `PromptcError` with every
    invalid line, or if there are no queries (PC0196).
    """
    source = Source(name, convert_form("NFC", decode_text(data, name)))
    known: list[KnownAnswer] = []
    names: list[str] = []
    wrong: list[Diagnostic] = []
    for number, line in enumerate(source.text.split("\n"), 1):
        columns = line.split("\t")
        if number == 1 and columns[0].strip().lower() == "query":
            names = [name.strip() for name in columns[2:]]
            continue
        if not line.strip():
            continue
        expected = columns[1].strip() if len(columns) > 1 else ""
        answers = [_read_answer(one.strip()) for one in expected.split(_ANY)] if expected else []
        if None in answers or not columns[0].strip():
            message = "an answer has the form FILE#HEADING" if columns[0].strip() else "this line has no query"
            wrong.append(
                Diagnostic(
                    "PC0196", message, source.span(number, 1), "write, for example, `combat.md#Initiative`, with a tab between the columns"
                )
            )
        further = {name: value.strip() for name, value in zip(names, columns[2:], strict=False) if name}
        known.append(KnownAnswer(columns[0].strip(), tuple(one for one in answers if one is not None), further, source.span(number, 1)))
    if wrong or not known:
        raise PromptcError(
            wrong or [Diagnostic("PC0196", "the file has no queries", source.span(1, 1), "write a query, a tab and an answer on each line")]
        )
    return tuple(known)


def _read_answer(given: str) -> Answer | None:
    file, mark, heading = given.partition(".md#")
    if mark:
        file = f"{file}.md"
    else:
        file, mark, heading = given.rpartition("#")
    return Answer(file.removeprefix("/"), heading.strip()) if mark and file and heading.strip() else None
