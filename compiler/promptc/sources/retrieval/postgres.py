"""Chunks in PostgreSQL with pgvector: those of any number of indexes, by fingerprint, with their words and vectors.

`DatabaseStore` reads them as a `local.ChunkStore`; `write_chunks` stores a built index.

Sums of impacts are whole numbers, products of vectors are exact (`encoder.SCALE`), and ties are broken by row. The store therefore proposes
exactly the same rows as an index in memory, unless an approximate index of pgvector is added to its table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from promptc.diag.typed import Any
from promptc.model.sources import Chunk
from promptc.sources.database import Database, Transaction
from promptc.sources.retrieval.encoder import Vector
from promptc.sources.retrieval.index import read_chunk, tell_chunk
from promptc.sources.retrieval.local import BuiltIndex, list_starts

_PAGE = 200
_BATCH = 1000

_TABLES = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE TABLE IF NOT EXISTS promptc_indexes (fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL, chunks BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS promptc_chunks (fingerprint TEXT NOT NULL REFERENCES promptc_indexes ON DELETE CASCADE, "
    "place BIGINT NOT NULL, version TEXT NOT NULL, told TEXT NOT NULL, PRIMARY KEY (fingerprint, place))",
    "CREATE TABLE IF NOT EXISTS promptc_vectors (fingerprint TEXT NOT NULL, place BIGINT NOT NULL, ordinal BIGINT NOT NULL, near vector, "
    "PRIMARY KEY (fingerprint, place, ordinal), FOREIGN KEY (fingerprint, place) REFERENCES promptc_chunks ON DELETE CASCADE)",
    "CREATE TABLE IF NOT EXISTS promptc_postings (fingerprint TEXT NOT NULL REFERENCES promptc_indexes ON DELETE CASCADE, "
    "word TEXT NOT NULL, place BIGINT NOT NULL, impact BIGINT NOT NULL, PRIMARY KEY (fingerprint, word, place))",
)

_BY_WORDS = """SELECT place FROM promptc_postings JOIN promptc_chunks USING (fingerprint, place)
    WHERE fingerprint = :fingerprint AND word = ANY(:words) AND (CAST(:version AS TEXT) IS NULL OR version = :version)
    GROUP BY place ORDER BY sum(impact) DESC, place LIMIT :page OFFSET :passed"""

_BY_VECTOR = """SELECT place FROM promptc_vectors JOIN promptc_chunks USING (fingerprint, place)
    WHERE fingerprint = :fingerprint AND (CAST(:version AS TEXT) IS NULL OR version = :version)
    GROUP BY place ORDER BY min(near <#> CAST(:vector AS vector)), place LIMIT :page OFFSET :passed"""

_CHUNKS = "SELECT place, told FROM promptc_chunks WHERE fingerprint = :fingerprint AND place = ANY(:rows)"
_SHOWN = """SELECT min(place) FROM promptc_chunks WHERE fingerprint = :fingerprint AND CAST(told AS json) ->> 'id' = ANY(:ids)
    AND (CAST(:version AS TEXT) IS NULL OR version = :version) GROUP BY CAST(told AS json) ->> 'id' ORDER BY min(place)"""
_PRODUCTS = """SELECT place, near <#> CAST(:vector AS vector) FROM promptc_vectors
    WHERE fingerprint = :fingerprint AND place = ANY(:rows) ORDER BY place, ordinal"""
_IMPACTS = """SELECT place, word, impact FROM promptc_postings
    WHERE fingerprint = :fingerprint AND word = ANY(:words) AND place = ANY(:rows)"""


class DatabaseStore:
    """The chunks of the index with a fingerprint. Every method may raise `DiskError` of the database (PC0160 to PC0168)."""

    def __init__(self, database: Database, fingerprint: str) -> None:
        self._database = database
        self._fingerprint = fingerprint

    def is_whole(self, chunks: int) -> bool:
        """Return whether the database has the index with this many chunks; False if promptc's tables do not exist yet."""
        found = self._select("SELECT to_regclass('promptc_indexes') IS NOT NULL")
        return bool(found[0][0]) and self.count == chunks

    @property
    def count(self) -> int:
        found = self._select("SELECT chunks FROM promptc_indexes WHERE fingerprint = :fingerprint")
        return int(found[0][0]) if found else 0

    def iter_by_words(self, words: Sequence[str], version: str | None) -> Iterator[int]:
        return self._iter_pages(_BY_WORDS, words=list(words), version=version)

    def iter_by_vector(self, vector: Vector, version: str | None) -> Iterator[int]:
        return self._iter_pages(_BY_VECTOR, vector=str(list(vector)), version=version)

    def read_chunks(self, rows: Sequence[int]) -> Sequence[Chunk]:
        found = dict(self._select(_CHUNKS, rows=list(rows)))
        return [read_chunk(json.loads(found[row])) for row in rows]

    def list_rows(self, ids: Sequence[str], version: str | None) -> Sequence[int]:
        return [row for (row,) in self._select(_SHOWN, ids=list(ids), version=version)]

    def read_impacts(self, words: Sequence[str], rows: Sequence[int]) -> Sequence[Mapping[str, int]]:
        found: dict[int, dict[str, int]] = {row: {} for row in rows}
        for row, word, impact in self._select(_IMPACTS, words=list(words), rows=list(rows)):
            found[row][word] = impact
        return [found[row] for row in rows]

    def read_products(self, vector: Vector, rows: Sequence[int]) -> Sequence[Sequence[int]]:
        found: dict[int, list[int]] = {row: [] for row in rows}
        for row, negated in self._select(_PRODUCTS, vector=str(list(vector)), rows=list(rows)):
            found[row].append(-int(negated))
        return [found[row] for row in rows]

    def _iter_pages(self, query: str, **given: Any) -> Iterator[int]:
        passed = 0
        while True:
            page = self._select(query, page=_PAGE, passed=passed, **given)
            yield from (row for (row,) in page)
            passed += len(page)
            if len(page) < _PAGE:
                return

    def _select(self, query: str, **given: Any) -> list[Any]:
        with self._database.read() as session:
            return list(session.iter_rows(query, {"fingerprint": self._fingerprint, **given}))


def write_chunks(database: Database, built: BuiltIndex, name: str) -> None:
    """Store a built index (with its fingerprint) in the database, replacing the one with `name`, in one transaction.

    Missing tables and the missing extension are created. Raises `DiskError` (PC0160 to PC0168).
    """
    with database.write() as session:
        for statement in _TABLES:
            session.run(statement)
        session.run("DELETE FROM promptc_indexes WHERE name = :name", [{"name": name}])
        told = {"fingerprint": built.fingerprint, "name": name, "chunks": len(built.chunks)}
        session.run("INSERT INTO promptc_indexes VALUES (:fingerprint, :name, :chunks)", [told])
        chunks = "INSERT INTO promptc_chunks (fingerprint, place, version, told) VALUES (:fingerprint, :place, :version, :told)"
        _insert(session, chunks, _iter_chunks(built))
        _insert(session, "INSERT INTO promptc_vectors VALUES (:fingerprint, :place, :ordinal, CAST(:near AS vector))", _iter_vectors(built))
        _insert(session, "INSERT INTO promptc_postings VALUES (:fingerprint, :word, :place, :impact)", _iter_postings(built))


def _insert(session: Transaction, statement: str, rows: Iterator[dict[str, Any]]) -> None:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            session.run(statement, batch)
            batch = []
    if batch:
        session.run(statement, batch)


def _iter_chunks(built: BuiltIndex) -> Iterator[dict[str, Any]]:
    for place, chunk in enumerate(built.chunks):
        told = json.dumps(tell_chunk(chunk), ensure_ascii=True)
        yield {"fingerprint": built.fingerprint, "place": place, "version": chunk.version, "told": told}


def _iter_vectors(built: BuiltIndex) -> Iterator[dict[str, Any]]:
    """Yield the vectors of chunks. Those of idle lines stay in the files."""
    vectors = built.vectors
    for place, (start, end) in enumerate(pairwise(list_starts(built.chunks)) if vectors is not None else ()):
        for at in range(start, end):
            near = str(vectors.values[at * vectors.size : (at + 1) * vectors.size].tolist()) if vectors is not None else ""
            yield {"fingerprint": built.fingerprint, "place": place, "ordinal": at - start, "near": near}


def _iter_postings(built: BuiltIndex) -> Iterator[dict[str, Any]]:
    words = built.words
    for word, number in words.numbers.items():
        for at in range(words.ends[number], words.ends[number + 1]):
            yield {"fingerprint": built.fingerprint, "word": word, "place": words.rows[at], "impact": words.impacts[at]}
