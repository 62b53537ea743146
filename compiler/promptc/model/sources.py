"""The sources that a pack declares, segment stores and retrieval indexes, and what is read from them: segments, documents, chunks."""

from __future__ import annotations

from collections.abc import Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.template.compile import Expression, Template

Phrase = tuple[str, ...]
"""Words as the index has them, in order."""

TABLE = "prompt_segments"


@frozen
class ChunkPlan:
    """The sizes of chunks in tokens of the pack's counter, heading path included. `least` is a target, `most` a limit.

    `overlap` is the share of `most`, in millionths, that is repeated if a section has to be split.
    """

    least: int = 120
    most: int = 350
    overlap: int = 0


@frozen
class Weights:
    """How much matches by words and matches by vectors count, as whole numbers. Only their ratio matters."""

    words: int = 1
    vectors: int = 0


@frozen
class Matching:
    """How queries match chunks.

    `encoder` is the name of the encoder (empty: none). `synonyms` are pairs of words of a query and what these also mean. `floor` applies
    to sections without one. `lead` is how much nearer a query must be to what is asked than to idle lines. `neighbours` is the share of the
    score of a chunk's best neighbour that is added to its own. All three are in millionths.
    """

    weights: Weights = Weights()
    encoder: str = ""
    synonyms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    floor: int = 250_000
    lead: int = 0
    neighbours: int = 0


@frozen
class Engine:
    """A database that stores the chunks of an index, instead of memory. The environment variable `url_env` contains its URL."""

    span: Span
    url_env: str


@frozen
class CorpusIndex:
    """An index of files. `pattern`, `path` and `asked` are relative to `folder`.

    Names in braces in `path` split the corpus into several indexes. `asked` is the file of the questions that chunks answer (empty: none).
    """

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
    """An index of a list in the state, which `source` evaluates to.

    `id` (None: the position in the list) and `text` are evaluated with `item`.
    """

    name: str
    span: Span
    source: Expression
    id: Expression | None
    text: Template
    matching: Matching


Index = CorpusIndex | StateIndex


@frozen
class Document:
    """A file of a corpus: its path relative to the pack (names joined by `/`), its text (NFC, LF, without front matter) and its metadata.

    `seen` is the path as the system has it, and a digest of the bytes that were read.
    """

    file: str
    text: str
    metadata: Mapping[str, Any]
    digest: str
    seen: tuple[str, bytes] = field(default=("", b""), compare=False)


@frozen
class Chunk:
    """A part of a document.

    `heading` is its path of headings, and `covers` are the headings whose own text it contains. `tokens` is the count of heading path and
    text together. `ordinal` is its place in the document, from 0. `asked` are known questions that it answers; it is found by them too, and
    no prompt shows them.
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
        """The version that the chunk belongs to; empty if it has none."""
        return str(self.metadata.get("version") or "")


@frozen
class Segment:
    """One row of a store. `metadata` is plain data, with its keys in code-point order; nobody may change it.

    `ref_id` is what the segment is about, `locale` a language tag, `version` a SemVer. Each is None if the row has none.
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
    """A store of segments.

    A `url` (empty: none) that names a file is relative to `folder`. The environment variable `url_env` (empty: none) overrides it. `locale`
    and `version` are what is preferred if a section does not say.
    """

    name: str
    span: Span
    folder: str
    url: str
    url_env: str
    table: str = TABLE
    locale: Expression | None = None
    version: Expression | None = None
