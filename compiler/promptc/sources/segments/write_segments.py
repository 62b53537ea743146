"""Segments → rows, no more of them written than have to be."""

from collections.abc import Iterator, Sequence

from sqlalchemy import BigInteger, Boolean, Column, Connection, MetaData, Table, Text, bindparam, delete, insert, select, update

from promptc.diag.typed import Any, TypeVar
from promptc.model.sources import Segment
from promptc.sources.segments.rows import Changes
from promptc.sources.segments.tables import COLUMNS
from promptc.text.json import render_canonical_json

_T = TypeVar("_T")
_BATCH = 5_000
_TYPES: dict[str, type[Boolean] | type[BigInteger]] = {"active": Boolean, "priority": BigInteger}


def write_segments(connection: Connection, name: str, segments: Sequence[Segment], *, prune: bool) -> Changes:
    """Adds the segments to the table or changes those of their id; with `prune` every other row goes. The ids differ.

    The caller's transaction makes it one act.
    """
    rows = Table(name, MetaData(), *(Column(one, _TYPES.get(one, Text), primary_key=one == "id") for one in COLUMNS), quote=True)
    added: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    for batch in _iter_batches(segments):
        old = _find_rows(connection, rows, [one.id for one in batch])
        for one in batch:
            new = _render_row(one)
            before = old.get(one.id)
            if before is None:
                added.append(new)
            elif before != new:
                changed.append({**new, "row_id": one.id})
    removed = _prune(connection, rows, {one.id for one in segments}) if prune else 0
    if changed:
        values: dict[str, Any] = {one: bindparam(one) for one in COLUMNS if one != "id"}
        connection.execute(update(rows).where(rows.c.id == bindparam("row_id")).values(values), [_drop_id(one) for one in changed])
    if added:
        connection.execute(insert(rows), added)
    return Changes(len(added), len(changed), len(segments) - len(added) - len(changed), removed)


def _render_row(segment: Segment) -> dict[str, Any]:
    row = {one: getattr(segment, one) for one in COLUMNS}
    return {**row, "metadata": render_canonical_json(segment.metadata)}


def _find_rows(connection: Connection, rows: Table, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    found = connection.execute(select(*(rows.c[one] for one in COLUMNS)).where(rows.c.id.in_(ids)))
    return {one["id"]: dict(one) for one in found.mappings()}


def _prune(connection: Connection, rows: Table, kept: set[str]) -> int:
    gone = [one for one in connection.execute(select(rows.c.id)).scalars() if one not in kept]
    for batch in _iter_batches(gone):
        connection.execute(delete(rows).where(rows.c.id.in_(batch)))
    return len(gone)


def _drop_id(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "id"}


def _iter_batches(many: Sequence[_T]) -> Iterator[Sequence[_T]]:
    return (many[start : start + _BATCH] for start in range(0, len(many), _BATCH))
