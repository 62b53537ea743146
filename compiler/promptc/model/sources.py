"""Sources as a pack declares them, segment stores and retrieval indexes, and what is read out of them: segments, documents, chunks."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.template.compile import Expression, Template

Phrase = tuple[str, ...]
"""Words as the index knows them, in order."""

TABLE = "prompt_segments"


@frozen
class ChunkPlan:
    """Sizes of chunks in tokens of the pack's counter, heading path included: `least` is a target, `most` a limit. `overlap` is the share
    of `most`, in millionths, that is repeated where one section had to be split.
    """

    least: int = 120
    most: int = 350
    overlap: int = 0


@frozen
class Weights:
    """How much the match by words and the match by vectors count, as whole numbers. Only their ratio matters."""

    words: int = 1
    vectors: int = 0


@frozen
class Matching:
    """How queries meet chunks: weights, the encoder's name (empty: none), synonyms as (words of the query, what they also stand for), the
    floor where a section says none, and by how much a query must be nearer to what is asked than to idle lines, both in millionths."""

    weights: Weights = Weights()
    encoder: str = ""
    synonyms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    floor: int = 250_000
    lead: int = 0


@frozen
class Engine:
    """A database that holds the chunks of an index in place of memory, where the variable `url_env` says."""

    span: Span
    url_env: str


@frozen
class CorpusIndex:
    """An index over files. `pattern`, `path` and `asked` are relative to `folder`; names in braces in `path` part the corpus into several
    indexes. `asked` is the file of what is asked for the chunks, empty where there is none."""

    name: str
    span: Span
    folder: str
    pattern: str
    path: str
    chunk: ChunkPlan
    matching: Matching
    defaults: Mapping[str, Any]
    engine: Engine | None = None
    asked: str = ""


@frozen
class StateIndex:
    """An index over a list in the state: `source` gives it, `id` (None: the place in the list) and `text` are evaluated with `item`."""

    name: str
    span: Span
    source: Expression
    id: Expression | None
    text: Template
    matching: Matching


Index = CorpusIndex | StateIndex


@frozen
class Document:
    """A file of a corpus: its path relative to the pack (names joined by `/`), its text (NFC, LF, without front matter) and its
    metadata. `seen` is the path as the system has it, and a digest of the bytes that were read."""

    file: str
    text: str
    metadata: Mapping[str, Any]
    digest: str
    seen: tuple[str, bytes] = field(default=("", b""), compare=False)


@frozen
class Chunk:
    """A part of a document. `heading` is its path of headings, `covers` are the headings whose own text stands in it, `tokens` what heading
    path and text count together, `ordinal` its place in the document (from 0), `asked` are known questions that it answers: it is found by
    them too, and no prompt shows them.
    """

    id: str
    file: str
    ordinal: int
    heading: tuple[str, ...]
    covers: tuple[str, ...]
    text: str
    tokens: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The version it belongs to; empty where it has none."""
        return str(self.metadata.get("version") or "")


@frozen
class Segment:
    """One row of a store. `metadata` is plain data with its keys in code-point order; whoever is given it does not change it.

    `ref_id` is what the segment is about, `locale` a language tag, `version` a SemVer; None where the row has none.
    """

    id: str
    scope: str
    ref_id: str | None
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    active: bool = True
    locale: str | None = None
    version: str | None = None
    priority: int = 0


@frozen
class Store:
    """A store. `url` (empty: none) is relative to `folder` where it names a file; the variable `url_env` (empty: none) may name another.

    `locale` and `version` are what is preferred where a section does not say.
    """

    name: str
    span: Span
    folder: str
    url: str
    url_env: str
    table: str = TABLE
    locale: Expression | None = None
    version: Expression | None = None
