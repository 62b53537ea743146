"""A corpus: the files of an index read (`read_corpus`, `read_queries` for what is asked of it), and its indexes on disk built
(`build_corpus`) and opened (`open_corpus`).
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
from promptc.files.reading import MAX_PACK_FILE, check_pack_path, decode_text, find_link, read_inside
from promptc.frontend.indexes import RESERVED, CorpusPattern, fill_path, list_names, read_corpus_pattern
from promptc.frontend.yaml import load_yaml
from promptc.model.sources import CorpusIndex, Document
from promptc.sources.address import read_address
from promptc.sources.database import Database
from promptc.sources.kept import KeptCorpus, digest_bytes, digest_listing, walk
from promptc.sources.retrieval.building import AskedLines, Count, Progress, build_index
from promptc.sources.retrieval.encoder import VectorEncoder
from promptc.sources.retrieval.index import MANIFEST, IndexPlace, check_index, read_index, write_index
from promptc.sources.retrieval.local import BuiltIndex, LoadedIndex, open_index
from promptc.sources.retrieval.postgres import DatabaseStore, write_chunks
from promptc.sources.retrieval.retrieve import Answer, KnownAnswer
from promptc.text.characters import convert_form
from promptc.text.json import render_canonical_json, render_digest

Outcome = Literal["built", "kept"]
_VERSION = "version"
MAX_FILES = 200_000
"""Files of the largest corpus."""

_MARK = "---"
_ANY = "||"


def open_corpus(
    index: CorpusIndex,
    counter: str,
    version: str | None = None,
    environment: Mapping[str, str] | None = None,
    kept: KeptCorpus | None = None,
) -> tuple[LoadedIndex, ...]:
    """Every index on disk of `index` that may hold chunks of `version` (None: all of them). `counter` is the digest of the pack's counter,
    `environment` holds the variables that an `engine` may name; with `kept` it is kept there what was found.

    Each is read whole and checked: what has a digest that differs is refused. Raises `DiskError`: PC0190 where one is missing, PC0192 where
    it is stale, PC0193 damaged, PC0194 of another form; each names the command to run. `PromptcError`: PC0195 where the corpus has no
    files, or none of that version; and the findings of `read_corpus`.
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
    """The folder inside the pack's that holds all files that the index is made of, empty for that folder itself."""
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
    """One index on disk: where it lies, what the names in its path stand for, its documents, and the file of what is asked for them."""

    place: IndexPlace
    values: Mapping[str, str]
    documents: tuple[Document, ...]
    asked: Document | None = None

    @property
    def files(self) -> tuple[Document, ...]:
        """All files that it is made of."""
        return self.documents if self.asked is None else (*self.documents, self.asked)


def iter_parts(index: CorpusIndex, version: str | None = None) -> Iterator[CorpusPart]:
    """The parts of a corpus, sorted by the names in its path; each is an index of its own. Raises as `open_corpus`."""
    names = list_names(index.path)
    is_known = version is not None and _VERSION in read_corpus_pattern(index.pattern, index.span).names
    values = list_parts(index, names) if names else ({},)
    chosen = [one for one in values if not is_known or one.get(_VERSION, version) == version]
    parts = [_read_part(index, one) for one in chosen]
    if not any(part.documents for part in parts):
        known = sorted({one[_VERSION] for one in values if _VERSION in one})
        raise _refuse_empty(index, version if known else None, known)
    if version is not None and not any(_holds(part, version) for part in parts):
        raise _refuse_empty(index, version, sorted({_version_of(one) for part in parts for one in part.documents} - {""}))
    if index.asked and not any(_has_asked(index, one) for one in values):
        help = f"write `{fill_path(index.asked, values[-1])}`, or take `asked` out"
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
            help="put a copy of the folder in its place",
        )
    place = IndexPlace(Path(index.folder, path), index.span, index.name)
    return CorpusPart(place, values, read_corpus(index, values), _read_asked(index, values) if index.asked else None)


def _has_asked(index: CorpusIndex, values: Mapping[str, str]) -> bool:
    return os.path.lexists(Path(index.folder, fill_path(index.asked, values)))


def _read_asked(index: CorpusIndex, values: Mapping[str, str]) -> Document | None:
    """The file of what is asked for this part; a part may lack it where its path has names in braces. Its lines are read when the index
    is built.
    """
    path = fill_path(index.asked, values)
    if path != index.asked and not _has_asked(index, values):
        return None
    content = read_pack_file(index.folder, path, index.span)
    text = convert_form("NFC", decode_text(content, show_path(index.span, path)))
    return Document(path, text, {}, render_digest(text.encode()), (path, digest_bytes(content)))


def _check_lead(index: CorpusIndex, part: CorpusPart, built: BuiltIndex) -> None:
    """A lead over no idle line would be obeyed by nothing. A part without a file has neither."""
    if index.matching.lead and part.asked is not None and not built.idle:
        message = f"`lead` of the index `{index.name}` has no effect: `{part.asked.file}` has no idle line"
        raise fail("PC0279", message, index.span, help="add queries without an answer, such as `hello there`, or take `lead` out")


def _holds(part: CorpusPart, version: str) -> bool:
    return any(_version_of(document) == version for document in part.documents)


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
    """One digest of all files that these indexes are made of, and of the manifests that lie where they are built. None where one cannot be
    read.
    """
    whole: list[bytes] = []
    try:
        for index in indexes:
            root = _locate_root(index)
            built = "/".join(takewhile(lambda name: "{" not in name, index.path.split("/")))
            manifests = [path for path in walk(index.folder, built) if path.rpartition("/")[2] == MANIFEST]
            for path in (*walk(index.folder, root), *manifests):
                whole += [path.encode("utf-8", "surrogateescape"), digest_bytes(read_inside(index.folder or ".", path, MAX_PACK_FILE))]
    except (OSError, ValueError, PromptcError):
        return None
    return digest_bytes(b"\0".join(whole))


def find_engine(index: CorpusIndex, environment: Mapping[str, str]) -> Database | None:
    """The database of an index's `engine`, None where it has none: at the URL in its variable of `environment`.

    Nothing is opened yet. Raises `PromptcError`: PC0167 for what is no URL, PC0278 for what is no PostgreSQL; `DiskError` (PC0169) where
    nothing says where it is.
    """
    engine = index.engine
    if engine is None:
        return None
    url = environment.get(engine.url_env, "")
    if not url:
        message = f"nothing says where the engine of `{index.name}` is: the variable `{engine.url_env}` is not set"
        raise DiskError([Diagnostic("PC0169", message, engine.span, "set it to a URL such as `postgresql://user@host/database`")])
    address = read_address(url, engine.span)
    if address.kind != "postgresql":
        message = f"`{address.shown}` cannot be the engine of the index `{index.name}`: an engine is a PostgreSQL with pgvector"
        raise fail("PC0278", message, engine.span, help="name a PostgreSQL, or leave `engine` out: an index needs none")
    return Database(address, engine.span)


def read_corpus(index: CorpusIndex, wanted: Mapping[str, str] | None = None) -> tuple[Document, ...]:
    """The documents of an index, in the order of their paths as UTF-8; with `wanted`, those alone whose names in braces are so.
    Metadata has its keys in order, as it will have when it is read back from an index.

    The same on every machine: NFC, line ends as `\\n`, whatever order a folder is listed in. Raises `PromptcError`: PC0271 for a pattern,
    PC0276 for front matter, PC0133 for U+0000, and the findings of `read_pack_file`; `DiskError` for what cannot be read.
    """
    pattern = read_corpus_pattern(index.pattern, index.span, wanted)
    return tuple(_read_document(index, path, values) for path, values in _list_files(index, pattern))


def list_parts(index: CorpusIndex, names: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """Every combination of values that these names in braces have among the files, sorted."""
    pattern = read_corpus_pattern(index.pattern, index.span)
    found = {tuple(values[name] for name in names) for _, values in _list_files(index, pattern)}
    return tuple(dict(zip(names, values, strict=True)) for values in sorted(found))


def _list_files(index: CorpusIndex, pattern: CorpusPattern) -> list[tuple[str, dict[str, str]]]:
    """Paths relative to the pack's folder, with what the names in the pattern stand for."""
    found = []
    for path in walk(index.folder, pattern.folder, lambda folder, error: _refuse_folder(index, folder, error)):
        values = pattern.match(unicodedata.normalize("NFC", path))
        if values is not None and path != fill_path(index.asked, values):
            found.append((path, values))
        if len(found) > MAX_FILES:
            raise fail("PC0271", f"the corpus has more than {MAX_FILES} files", index.span, help="split it into several indexes")
    return sorted(found, key=lambda one: one[0].encode("utf-8", "surrogateescape"))


def _refuse_folder(index: CorpusIndex, folder: str, error: OSError) -> DiskError:
    return DiskError([Diagnostic("PC0154", f"the folder `{folder}` cannot be read: {error.strerror}", index.span)])


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
        raise fail("PC0133", "this text holds U+0000, which no prompt can hold", place, help="remove it")


def _part_front(text: str) -> tuple[str, str]:
    """What stands between the two lines of `---` at the beginning, and the rest."""
    if not text.startswith(f"{_MARK}\n"):
        return "", text
    front, mark, body = text[len(_MARK) :].partition(f"\n{_MARK}\n")
    return (front, body) if mark else ("", text)


def _read_front(front: str, shown: str, values: Mapping[str, str]) -> dict[str, Any]:
    if not front.strip():
        return {}
    node = load_yaml(front.encode(), shown, "")  # its first line end stands for the line of the mark
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
    """The queries of a tab-separated file: a query, then FILE#HEADING with `||` between any of several, or nothing where nothing is to be
    found. A first line whose first column is `query` names the columns; further ones are kept by name. Empty lines are not read.

    FILE is the end of a path in the corpus; it ends at the last `#` but where it ends in `.md` before. Raises `PromptcError` with every
    line that is not so (PC0196).
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
