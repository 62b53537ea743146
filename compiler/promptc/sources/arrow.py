"""Arrow and Parquet: states from the columns of a record batch, and rows as record batches.

A state is a JSON text in the column `state`, or a whole row. What is wrong in one row is a finding of that row: the rows after it are read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from promptc.diag.findings import Diagnostic, PromptcError, UsageError, fail, show_value
from promptc.diag.typed import IO, Any
from promptc.files.reading import open_given
from promptc.text.json import render_json_line

CONTENTS = ("prompt", "messages", "body")
"""The content columns, of which each row has one: a text, messages, or a request to a provider."""

STATE = "state"
"""The key or the column of a state that has an id beside it."""

WRAPPED = frozenset(("id", STATE))
_AS_TEXT = "keep the state as JSON text in a column `state`"
_NO_STATE = Diagnostic("PC0103", "the column `state` is empty in this row", help="leave the row out, or write a state as JSON text")
_GROUP = 1000
"""Rows of one group in a Parquet file, which is built in memory."""


def load_pyarrow() -> Any:
    try:
        import pyarrow as pa
        from pyarrow import parquet  # noqa: F401  pyarrow itself does not load it
    except ImportError:
        message, help = "promptc needs the package pyarrow for Parquet and record batches", "pip install 'promptc-compiler[arrow]'"
        raise UsageError([Diagnostic("PC0715", message, help=help)]) from None
    return pa


def make_schema(pyarrow: Any) -> Any:
    text, counts = pyarrow.string(), pyarrow.map_(pyarrow.string(), pyarrow.int64())
    finding = pyarrow.struct([(name, text) for name in ("code", "level", "message", "at", "help")])
    columns = {"id": text, **dict.fromkeys(CONTENTS, text), "tokens": pyarrow.int64(), "sections": counts, "tier": text}
    return pyarrow.schema([*columns.items(), ("dropped", counts), ("diagnostics", pyarrow.list_(finding)), ("digest", text)])


def make_batch(pyarrow: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a record batch. Messages and bodies become JSON text, since their parts are of many kinds."""
    schema = make_schema(pyarrow)
    plain = [
        {
            **row,
            **{name: render_json_line(row[name]) for name in ("messages", "body") if name in row},
            **{name: list(row[name].items()) for name in ("sections", "dropped")},
        }
        for row in rows
    ]
    return pyarrow.RecordBatch.from_pylist(plain, schema=schema)


def write_parquet(part: str, stream: IO[bytes]) -> None:
    """Write rows from a file of JSON lines as a Parquet file."""
    pyarrow = load_pyarrow()
    with open_given(part) as lines, pyarrow.parquet.ParquetWriter(stream, make_schema(pyarrow), compression="zstd") as writer:
        while rows := [json.loads(line) for line in islice(lines, _GROUP)]:
            writer.write_batch(make_batch(pyarrow, rows), row_group_size=_GROUP)


def iter_states(states: Any) -> Iterator[tuple[str | None, bytes | Diagnostic]]:
    """Yield the id and the bytes of each state of a record batch or a table, or the reason why it has none.

    Raises `UsageError` (PC0716) for ids of another type, and for two columns of one name.
    """
    _check_names(states.schema.names)
    names = set(states.schema.names)
    is_wrapped = STATE in names and names <= WRAPPED
    if is_wrapped and "id" in names:
        _check_ids(states.schema.field("id").type)
    for place in range(states.num_rows):
        try:
            row = {name: _read_value(column[place], name) for name, column in zip(states.schema.names, states.columns, strict=True)}
        except PromptcError as error:
            yield None, error.diagnostics[0]
            continue
        if not is_wrapped:
            yield None, _dump(row)
            continue
        id = row.get("id")
        yield None if id is None else str(id), _read_state(row[STATE])


def _read_state(state: Any) -> bytes | Diagnostic:
    raw = state.encode("utf-8", "surrogatepass") if isinstance(state, str) else state
    if raw is None or (isinstance(raw, bytes) and not raw.strip()):
        return _NO_STATE
    return raw if isinstance(raw, bytes) else _dump(raw)


def _check_names(names: Sequence[str]) -> None:
    double = next((name for name, times in Counter(names).items() if times > 1), None)
    if double is not None:
        raise UsageError(
            [Diagnostic("PC0716", f"the column {show_value(double)} is there twice", help="give each column a name of its own")]
        )


def _check_ids(kind: Any) -> None:
    types = load_pyarrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if not any(is_one(kind) for is_one in (types.is_string, types.is_large_string, types.is_string_view, types.is_integer, types.is_null)):
        help = "make it a column of strings or whole numbers"
        raise UsageError([Diagnostic("PC0716", f"the column `id` is of the type {kind}", help=help)])


def _read_value(value: Any, name: str) -> Any:
    """Return a value of a column as plain data. Raises `PromptcError` for bad UTF-8, and for a value that Python does not have."""
    try:
        return value.as_py()
    except UnicodeDecodeError as wrong:
        message = f"a string in the column `{name}` is not UTF-8: its byte {wrong.start} is 0x{wrong.object[wrong.start]:02X}"
        raise fail("PC0101", message, help="write the column as UTF-8") from None
    except (ValueError, OverflowError, LookupError):  # such as a moment of the year 36 000, or in a time zone that is not known
        message = f"the state is not plain JSON: the column `{name}` has a value of the type {value.type}"
        raise fail("PC0391", message, help=_AS_TEXT) from None


def _dump(value: Any) -> bytes | Diagnostic:
    """Return a row as the JSON bytes of a state, or a finding if the row has a value that JSON cannot express."""
    try:
        return json.dumps(_strip(value), ensure_ascii=False).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as wrong:
        return Diagnostic("PC0391", f"the state is not plain JSON: {wrong}", help=_AS_TEXT)


def _strip(value: Any) -> Any:
    """Return a value without the keys that are null: a column has no other way to say that a key is absent."""
    if isinstance(value, dict):
        return {key: _strip(one) for key, one in value.items() if one is not None}
    return [_strip(one) for one in value] if isinstance(value, list) else value
