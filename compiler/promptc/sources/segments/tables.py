"""The table of the segments as promptc makes it, version by version, and as it finds it."""

import re
from collections.abc import Sequence

from sqlalchemy import Connection, text

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail
from promptc.diag.frozen import frozen

COLUMNS = ("id", "scope", "ref_id", "content", "metadata", "active", "locale", "version", "priority")

SCHEMAS = "promptc_schemas"
"""The table that tells which version of its schema each table of promptc's has."""

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
"""What leads from each version of the schema to the next, in SQL that both databases read. What was released is never changed."""

LATEST = len(_MIGRATIONS)


@frozen
class FoundTable:
    """A table that can be read. `version` is that of its schema; 0 when promptc did not make it."""

    version: int
    has_priority: bool


def check_table_name(name: str, span: Span | None = None) -> None:
    """A table's name is one word of ASCII letters, digits and `_`, at most 48 characters long; otherwise PC0167."""
    if not _NAME.fullmatch(name):
        raise fail(
            "PC0167", f"`{name[:60]}` is no name of a table", span, help="letters, digits and `_`, at most 48, such as prompt_segments"
        )


def find_table(connection: Connection, name: str, shown: str, span: Span | None = None) -> FoundTable:
    """The table `name`, of this schema or an older one, or any table or view with its columns.

    `DiskError`: PC0164 when it is not there or lacks columns, PC0165 when its schema is newer than what is known.
    """
    columns = _list_columns(connection, name)
    if not columns:
        help = "`promptc segments import` makes it; or name another with `table`"
        raise _refuse("PC0164", f"the store `{shown}` has no table `{name}`", span, help)
    missing = [one for one in COLUMNS if one not in columns and one != "priority"]
    if missing:
        words = ", ".join(f"`{one}`" for one in missing)
        raise _refuse("PC0164", f"the table `{name}` of `{shown}` is none of segments: it lacks {words}", span, "name another with `table`")
    version = _find_version(connection, name)
    if version > LATEST:
        message = f"the table `{name}` of `{shown}` has version {version} of its schema; this promptc knows up to {LATEST}"
        raise _refuse("PC0165", message, span, "use the promptc that made it, or a newer one")
    return FoundTable(version, "priority" in columns)


def migrate(connection: Connection, name: str, shown: str, span: Span | None = None) -> None:
    """Brings the table to the latest version of its schema, or makes it. To be called in a transaction that writes.

    A table that promptc did not make is taken on as it is, and gets what it lacks. Errors as for `find_table`.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": f"promptc {name}"})
    if _list_columns(connection, name):
        found = find_table(connection, name, shown, span)
        version = found.version or (2 if found.has_priority else 1)
        if found.version == LATEST:
            return
        if not found.version:
            connection.exec_driver_sql(_INDEX.format(name))
    else:
        version = 0
    for steps in _MIGRATIONS[version:]:
        for step in steps:
            connection.exec_driver_sql(step.format(name))
    _note_version(connection, name)


def _note_version(connection: Connection, name: str) -> None:
    connection.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {SCHEMAS} (name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL)")
    connection.execute(text(f"DELETE FROM {SCHEMAS} WHERE name = :name"), {"name": name})
    connection.execute(text(f"INSERT INTO {SCHEMAS} (name, version) VALUES (:name, :version)"), {"name": name, "version": LATEST})


def _find_version(connection: Connection, name: str) -> int:
    if not {"name", "version"} <= set(_list_columns(connection, SCHEMAS)):
        return 0
    found = connection.execute(text(f"SELECT version FROM {SCHEMAS} WHERE name = :name"), {"name": name}).scalar()
    return found if isinstance(found, int) else 0


def _list_columns(connection: Connection, name: str) -> Sequence[str]:
    """The columns of a table or view; none when there is no such table."""
    if connection.dialect.name == "sqlite":
        asked = "SELECT name FROM pragma_table_info(:name)"
    else:
        asked = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(:name)) AND attnum > 0 AND NOT attisdropped"
    return [str(one).lower() for one in connection.execute(text(asked), {"name": name}).scalars()]


def _refuse(code: str, message: str, span: Span | None, help: str) -> PromptcError:
    return DiskError([Diagnostic(code, message, span, help)])
