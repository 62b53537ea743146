"""A store of segments in a database (`SegmentStore`): reads for a render, reads of everything, writes, and migrations of its table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, TypeVar
from promptc.model.sources import TABLE, Segment
from promptc.sources.address import Address
from promptc.sources.database import Database, Transaction
from promptc.sources.segments import Changes, Malformed, Rows, Stored, choose, is_name, judge_row, rank_equals, rank_locales
from promptc.text.json import render_canonical_json

Wish = tuple[str, Sequence[str] | None]
"""A scope, and the `ref_id`s of the wanted segments; None for all segments of the scope."""

_MOST_REFS = 20_000
_MOST_LISTED = 20_000
_MOST_LISTED_BYTES = 4_000_000
_T = TypeVar("_T")
_BATCH = 5_000
COLUMNS = ("id", "scope", "ref_id", "content", "metadata", "active", "locale", "version", "priority")
_SHOWN = "CAST(id AS TEXT), scope, CAST(ref_id AS TEXT), content, CAST(metadata AS TEXT), active, locale, version"
"""The columns in their order, untyped: promptc, not a library, judges the values of a row."""

_INSERT = f'INSERT INTO "{{0}}" ({", ".join(COLUMNS)}) VALUES ({", ".join(f":{one}" for one in COLUMNS)})'
_UPDATE = f'UPDATE "{{0}}" SET {", ".join(f"{one} = :{one}" for one in COLUMNS if one != "id")} WHERE id = :id'
SCHEMAS = "promptc_schemas"
"""The table with the schema version of each of promptc's tables."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}", re.ASCII)
_INDEX = 'CREATE INDEX IF NOT EXISTS "{0}_place" ON "{0}" (scope, ref_id)'

_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        'CREATE TABLE "{0}" (id TEXT NOT NULL PRIMARY KEY, scope TEXT NOT NULL, ref_id TEXT, content TEXT NOT NULL, '
        "metadata TEXT NOT NULL DEFAULT '{{}}', active BOOLEAN NOT NULL DEFAULT TRUE, locale TEXT, version TEXT)",
        _INDEX,
    ),
    ('ALTER TABLE "{0}" ADD COLUMN priority BIGINT NOT NULL DEFAULT 0',),
)
"""The statements from each version of the schema to the next, in SQL that both databases accept. Released statements never change."""

LATEST = len(_MIGRATIONS)


@frozen
class _Limit:
    """How many rows, and bytes of their texts, are read at once; `of` ends the message, and `help` says what to do."""

    rows: int
    bytes: int
    of: str
    help: str

    def without(self, rows: Sequence[tuple[Any, ...]]) -> _Limit:
        """Return what is left after these rows."""
        return replace(self, rows=self.rows - len(rows), bytes=self.bytes - sum(map(_measure, rows)))


_SCOPE = _Limit(100_000, 64_000_000, " of a scope", "ask for fewer with `ref`, or keep long texts in files")
"""For a render."""

_STORED = _Limit(5_000_000, 1_000_000_000, "", "name a smaller scope, or spread the segments over several stores")
"""For commands that read the whole store."""


class SegmentStore:
    """The segments in one table of one database. Nothing is opened before the first query; `close` closes the connections.

    All methods raise `DiskError` (PC0160 to PC0168) if the store is missing, locked, damaged, unreachable or not a store of segments, and
    then have changed nothing. SQLite and PostgreSQL return equal results for equal rows: all sorting is by code point and done here.
    """

    def __init__(self, address: Address, name: str = TABLE, span: Span | None = None) -> None:
        """Make a store; diagnostics show `span`, the place of its name. Raises `PromptcError` (PC0167) for an invalid table name."""
        check_table_name(name, span)
        self.address = address
        self._name = name
        self._span = span
        self._database = Database(address, span)

    def read(self, wanted: Sequence[Wish], locales: Sequence[str] = (), version: str | None = None) -> Rows:
        """Return the active segments for each wish, chosen and sorted by `choose`, all from one snapshot of the store.

        There is one query for each scope, however many wishes name it (and one more for every 20 000 references).
        """
        if not wanted:
            return Rows(())
        with self.hold() as held:
            return held.read(wanted, locales, version)

    @contextmanager
    def hold(self) -> Iterator[HeldStore]:
        """Open a snapshot of the store for the duration of the context."""
        with self._database.read() as session:
            yield HeldStore(self.address, self._name, self._span, self._database, session)

    def load_all(self, scope: str | None = None) -> Stored:
        """Return all rows, or those of a scope, active or not."""
        with self.hold() as held:
            return held.load_all(scope)

    def write(self, segments: Iterable[Segment], *, prune: bool = False) -> Changes:
        """Insert and update rows by id, in one transaction; with `prune`, delete the rows of other ids.

        The table is created, or migrated to the latest version of its schema, if necessary. Rows that are already correct are not written.
        """
        with self._database.write() as session:
            migrate(session, self._name, self.address.shown, self._span)
            return write_segments(session, self._name, tuple(segments), prune=prune)

    def check(self) -> None:
        """Read every page of a SQLite file; a server does this by itself. Raises `DiskError` (PC0161) if the file is damaged."""
        if self.address.kind == "sqlite":
            with self._database.read() as session:
                said = list(session.iter_rows("PRAGMA integrity_check(1)"))
            if said != [("ok",)]:
                raise _refuse_store(
                    self.address, self._span, "PC0161", "is damaged", "restore it from a backup; or remove it and import the segments again"
                )

    def close(self) -> None:
        """Close the connections; the next read opens them again."""
        self._database.close()


class HeldStore:
    """A snapshot of a store: whatever and however often it is queried, nothing changes."""

    def __init__(self, address: Address, name: str, span: Span | None, database: Database, session: Transaction) -> None:
        self._address, self._name, self._span = address, name, span
        self._explain = database.explain
        self._session = session
        self._found = read_table(session, name, address.shown, span)

    @property
    def is_told_by_its_file(self) -> bool:
        """Whether the bytes of the file decide every answer: it is a table, not a view (which may read a clock) or a virtual table."""
        return self._found.is_plain

    def read(self, wanted: Sequence[Wish], locales: Sequence[str], version: str | None) -> Rows:
        """Read the segments for each wish (`SegmentStore.read`)."""
        with self._explain():
            raw = {scope: self._read_scope(scope, refs) for scope, refs in _gather_refs(wanted).items()}
        scopes = {scope: _sort_out(rows, scope) for scope, rows in raw.items()}
        return _answer(wanted, scopes, locales, version)

    def list_refs(self, scope: str) -> tuple[str, ...] | None:
        """Return the `ref_id`s of a scope's rows, active or not, by code point; None if there are too many to read."""
        refs: list[str] = []
        size = 0
        asked = f'SELECT DISTINCT CAST(ref_id AS TEXT) FROM "{self._name}" WHERE scope = :scope LIMIT {_MOST_LISTED + 1}'
        with self._explain():
            for (ref,) in self._session.iter_rows(asked, {"scope": scope}):
                refs.append(ref)
                size += _measure((ref,))
                if len(refs) > _MOST_LISTED or size > _MOST_LISTED_BYTES:
                    return None
        return tuple(sorted({ref for ref in refs if isinstance(ref, str) and is_name(ref)}))

    def load_all(self, scope: str | None) -> Stored:
        """Return all rows, or those of a scope (`SegmentStore.load_all`)."""
        rows = self._fetch(" WHERE scope = :scope" if scope is not None else "", {"scope": scope}, _STORED, _STORED)
        judged = [(row, judge_row(*row)) for row in rows]
        segments = [one for _, one in judged if isinstance(one, Segment)]
        malformed = [_name_row(row, why) for row, why in judged if isinstance(why, str)]
        ordered = sorted(malformed, key=lambda one: (one.id, one.why))
        return Stored(tuple(sorted(segments, key=_rank)), tuple(ordered), self._found.version)

    def _read_scope(self, scope: str, refs: Sequence[str] | None) -> list[tuple[Any, ...]]:
        if refs is None:
            return self._fetch(" WHERE scope = :scope", {"scope": scope}, _SCOPE, _SCOPE)
        rows: list[tuple[Any, ...]] = []
        for some in _iter_batches(refs, _MOST_REFS):
            names, given = _name_values(some)
            rows += self._fetch(f" WHERE scope = :scope AND ref_id IN ({names})", {"scope": scope, **given}, _SCOPE.without(rows), _SCOPE)
        return rows

    def _fetch(self, where: str, given: Mapping[str, Any], left: _Limit, limit: _Limit) -> list[tuple[Any, ...]]:
        """Return the rows. Refuses more than is `left` of a limit, as a view can produce any number of rows."""
        priority = "priority" if self._found.has_priority else "0"
        rows: list[tuple[Any, ...]] = []
        size = 0
        for row in self._session.iter_rows(f'SELECT {_SHOWN}, {priority} FROM "{self._name}"{where} LIMIT {left.rows + 1}', given):
            rows.append(row)
            size += _measure(row)
            if len(rows) > left.rows or size > left.bytes:
                most = f"{limit.rows} rows" if len(rows) > left.rows else f"{limit.bytes} bytes"
                what = f"holds more than can be read at once ({most}{limit.of})"
                raise _refuse_store(self._address, self._span, "PC0168", what, limit.help)
        return rows


def _refuse_store(address: Address, span: Span | None, code: str, what: str, help: str) -> DiskError:
    return DiskError([Diagnostic(code, f"the store `{address.shown}` {what}", span, help)])


def _measure(row: Iterable[Any]) -> int:
    """Return the bytes of a row's texts. A text that is not ASCII counts four for each character, the most that Python may use."""
    texts = [one for one in row if isinstance(one, str | bytes)]
    return sum(len(one) if isinstance(one, bytes) or one.isascii() else 4 * len(one) for one in texts)


@frozen
class _Scope:
    """The requested rows of a scope, sorted out."""

    active: Mapping[str | None, Sequence[Segment]]
    inactive: int
    malformed: tuple[Malformed, ...]


def _gather_refs(wanted: Sequence[Wish]) -> dict[str, list[str] | None]:
    """Return each scope with all references requested of it."""
    gathered: dict[str, dict[str, None] | None] = {}
    for scope, refs in wanted:
        known = gathered.setdefault(scope, {})
        if refs is None:
            gathered[scope] = None
        elif known is not None:
            known.update(dict.fromkeys(refs))
    return {scope: list(refs) if refs is not None else None for scope, refs in gathered.items()}


def _sort_out(rows: Iterable[tuple[Any, ...]], scope: str) -> _Scope:
    """Sort out rows. Their scopes are compared again, as a database may compare texts in its own way."""
    active: dict[str | None, list[Segment]] = {}
    inactive = 0
    malformed = []
    for row in rows:
        judged = judge_row(*row)
        if isinstance(judged, str):
            malformed.append(_name_row(row, judged))
        elif judged.scope == scope:
            inactive += not judged.active
            active.setdefault(judged.ref_id, []).extend([judged] if judged.active else [])
    return _Scope(active, inactive, tuple(malformed))


def _answer(wanted: Sequence[Wish], scopes: Mapping[str, _Scope], locales: Sequence[str], version: str | None) -> Rows:
    parts = []
    passed_over: dict[tuple[str, str], None] = {}
    foreign: dict[str, None] = {}
    ranks = rank_locales(locales)
    for scope, refs in wanted:
        among = list(_iter_about(scopes[scope].active, refs))
        choice = choose(among, ranks, version)
        parts.append(choice.chosen)
        foreign.update(dict.fromkeys(choice.foreign))
        left_out = {one.id for one in among} - {one.id for one in choice.chosen} - set(choice.foreign)
        passed_over.update(dict.fromkeys((scope, one) for one in left_out))
    inactive = sum(one.inactive for one in scopes.values())
    malformed = sorted({one for found in scopes.values() for one in found.malformed}, key=lambda one: (one.id, one.why))
    return Rows(tuple(parts), inactive, tuple(malformed), len(passed_over), tuple(sorted(foreign)))


def _iter_about(active: Mapping[str | None, Sequence[Segment]], refs: Sequence[str] | None) -> Iterator[Segment]:
    for ref in active if refs is None else dict.fromkeys(refs):
        yield from active.get(ref, ())


def _name_row(row: tuple[Any, ...], why: str) -> Malformed:
    shown = row[0] if isinstance(row[0], str) else ""
    return Malformed("".join(one if one.isprintable() else "?" for one in shown)[:200], why)


def _rank(segment: Segment) -> tuple[Any, ...]:
    return segment.scope, segment.ref_id or "", segment.id, *rank_equals(segment)


def write_segments(session: Transaction, name: str, segments: Sequence[Segment], *, prune: bool) -> Changes:
    """Insert the segments into the table, or update those whose ids it has; with `prune`, delete every other row. The ids must be distinct.

    The transaction of the caller makes the change atomic.
    """
    added: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    for batch in _iter_batches(segments, _BATCH):
        old = _read_rows(session, name, [one.id for one in batch])
        for one in batch:
            new = _render_row(one)
            before = old.get(one.id)
            if before is None:
                added.append(new)
            elif before != new:
                changed.append(new)
    removed = _prune(session, name, {one.id for one in segments}) if prune else 0
    if changed:
        session.run(_UPDATE.format(name), changed)
    if added:
        session.run(_INSERT.format(name), added)
    return Changes(len(added), len(changed), len(segments) - len(added) - len(changed), removed)


def _render_row(segment: Segment) -> dict[str, Any]:
    row = {one: getattr(segment, one) for one in COLUMNS}
    return {**row, "metadata": render_canonical_json(segment.metadata)}


def _read_rows(session: Transaction, name: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    names, given = _name_values(ids)
    found = session.iter_rows(f'SELECT {", ".join(COLUMNS)} FROM "{name}" WHERE id IN ({names})', given)
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in found}


def _prune(session: Transaction, name: str, kept: set[str]) -> int:
    gone = [one for (one,) in session.iter_rows(f'SELECT id FROM "{name}"') if one not in kept]
    for batch in _iter_batches(gone, _BATCH):
        names, given = _name_values(batch)
        session.run(f'DELETE FROM "{name}" WHERE id IN ({names})', [given])
    return len(gone)


def _name_values(values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the parameters of a statement for values, and a mapping from their names to the values."""
    given = {f"v{number}": value for number, value in enumerate(values)}
    return ", ".join(f":{name}" for name in given), given


def _iter_batches(many: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    return (many[start : start + size] for start in range(0, len(many), size))


@frozen
class FoundTable:
    """A table that can be read.

    `version` is that of its schema; 0 if promptc did not create it. `is_plain` says whether it is a table in a file with its rows inside.
    """

    version: int
    has_priority: bool
    is_plain: bool = False


def check_table_name(name: str, span: Span | None = None) -> None:
    """Raise PC0167 unless `name` is a word of ASCII letters, digits and `_`, not beginning with a digit, of at most 48 characters."""
    if not _NAME.fullmatch(name):
        raise fail(
            "PC0167",
            f"`{name[:60]}` cannot be the name of a table",
            span,
            help="write at most 48 letters, digits and `_`, such as `prompt_segments`",
        )


def read_table(session: Transaction, name: str, shown: str, span: Span | None = None) -> FoundTable:
    """Return the table `name`, which may have this schema or an older one, or be any table or view with its columns.

    Raises `DiskError`: PC0164 if the table does not exist or lacks columns, PC0165 if its schema is newer than this promptc.
    """
    columns = _list_columns(session, name)
    if not columns:
        help = "`promptc segments import` makes it; or name another with `table`"
        raise _refuse("PC0164", f"the store `{shown}` has no table `{name}`", span, help)
    missing = [one for one in COLUMNS if one not in columns and one != "priority"]
    if missing:
        words = ", ".join(f"`{one}`" for one in missing)
        raise _refuse(
            "PC0164",
            f"the table `{name}` of `{shown}` is not a table of segments: it has no columns {words}",
            span,
            "name a table of segments, such as `table: prompt_segments`",
        )
    version = _read_version(session, name)
    if version > LATEST:
        message = f"the table `{name}` of `{shown}` has the format version {version}, and this promptc reads versions up to {LATEST}"
        raise _refuse("PC0165", message, span, "install the promptc version that made the table, or a newer one")
    return FoundTable(version, "priority" in columns, session.kind == "sqlite" and _is_plain(session, name))


def _is_plain(session: Transaction, name: str) -> bool:
    """Return whether `name` is a table with a page of its own, which a virtual table does not have."""
    asked = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND lower(name) = lower(:name)"
    return bool(list(session.iter_rows(asked, {"name": name})))


def migrate(session: Transaction, name: str, shown: str, span: Span | None = None) -> None:
    """Create the table or migrate it to the latest version of its schema. The transaction must be for writing.

    A table that promptc did not create is adopted, and what it lacks is added. Raises as `read_table` does.
    """
    if session.kind == "postgresql":
        list(session.iter_rows("SELECT pg_advisory_xact_lock(hashtext(:name))", {"name": f"promptc {name}"}))
    if _list_columns(session, name):
        found = read_table(session, name, shown, span)
        version = found.version or (2 if found.has_priority else 1)
        if found.version == LATEST:
            return
        if not found.version:
            session.run(_INDEX.format(name))
    else:
        version = 0
    for steps in _MIGRATIONS[version:]:
        for step in steps:
            session.run(step.format(name))
    _note_version(session, name)


def _note_version(session: Transaction, name: str) -> None:
    session.run(f"CREATE TABLE IF NOT EXISTS {SCHEMAS} (name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL)")
    session.run(f"DELETE FROM {SCHEMAS} WHERE name = :name", [{"name": name}])
    session.run(f"INSERT INTO {SCHEMAS} (name, version) VALUES (:name, :version)", [{"name": name, "version": LATEST}])


def _read_version(session: Transaction, name: str) -> int:
    if not {"name", "version"} <= set(_list_columns(session, SCHEMAS)):
        return 0
    found = list(session.iter_rows(f"SELECT version FROM {SCHEMAS} WHERE name = :name", {"name": name}))
    return found[0][0] if found and isinstance(found[0][0], int) else 0


def _list_columns(session: Transaction, name: str) -> Sequence[str]:
    """Return the columns of a table or view; empty if it does not exist."""
    if session.kind == "sqlite":
        asked = "SELECT name FROM pragma_table_xinfo(:name) WHERE hidden <> 1"  # 1 is an argument of a virtual table; 2 and 3 are computed
    else:
        asked = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(:name)) AND attnum > 0 AND NOT attisdropped"
    return [str(one).lower() for (one,) in session.iter_rows(asked, {"name": name})]


def _refuse(code: str, message: str, span: Span | None, help: str) -> PromptcError:
    return DiskError([Diagnostic(code, message, span, help)])
