"""Batches: many states rendered with one pack.

`run_batch` renders a file of states to a file of rows, in several processes. `map_arrow` returns a function that an engine can map over its
own record batches.

A row describes one state: its prompt, its tokens, and what was cut. Rows have the order of the states, and do not depend on the number of
processes. They are written to a temporary file next to the output, which replaces the output at the end. A journal records how much of that
file is complete, so that a run that was killed can be resumed. A state that cannot be rendered costs its own row and nothing else.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from shlex import quote
from time import monotonic
from zlib import crc32

from promptc.api import Pack
from promptc.cache import open_cache
from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, UsageError, show_reason
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import IO, Any, Literal
from promptc.files.atomic import GrowingFile, finish_part, name_part, replace_file, replace_filled
from promptc.files.reading import read_file
from promptc.frontend.json import MAX_STATE_BYTES, JsonDocument, load_json
from promptc.frontend.state import Change, set_values
from promptc.passes.report import describe_findings
from promptc.pipeline import Outcome, Prompt, read_output
from promptc.sources.arrow import STATE, WRAPPED, iter_states, load_pyarrow, make_batch, make_schema, write_parquet
from promptc.text.json import is_whole, render_canonical_json, render_digest, render_json_line
from promptc.version import VERSION
from promptc.workers import run_workers

OnError = Literal["fail", "skip", "quarantine"]
Existing = Literal["refuse", "resume", "replace"]
_STATE = "state"
"""The name of the state in the findings of a row."""

_CHUNK_LINES = 32
_CHUNK_BYTES = 1 << 18
_PART = 1 << 20
_LONGEST_LINE = 1 << 30
"""The most bytes of a line that are read to find its end. A state is shorter; a device such as `/dev/zero` has no end."""

_PAUSE = 1.0
"""Seconds between two syncs of the rows to the disk."""

_MOST_TOLD = 20
"""The most findings on states without a prompt that a run reports."""

_JOURNAL = 1 << 16
_LARGEST = (1 << 63) - 1
_GO_ON = "run the same command with `--resume` to continue, or with `--force` to start over"
_PARQUET = b"PAR1"

_COMPRESSED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_ENDINGS = {".gz": "gzip", ".zip": "zip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_UNPACK = {"gzip": "gzip -dc", "zip": "unzip -p", "bzip2": "bzip2 -dc", "xz": "xz -dc", "zstd": "zstd -dc"}


@frozen
class Batch:
    """The settings of a batch: the pack, the `options` of `Pack.compile`, the `changes` to each state, and the output.

    `on_error` decides what happens to a state without a prompt, and `existing` what happens if the output exists.
    """

    pack: str
    output: str
    options: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    models: str | None = None
    on_error: OnError = "quarantine"
    existing: Existing = "refuse"
    jobs: int = 1
    is_cached: bool = True
    tries: tuple[tuple[str, str], ...] = ()

    def load_pack(self) -> Pack:
        """Load the pack with its `tries`, for use in a `with` block."""
        cache = open_cache() if self.is_cached else None
        return Pack.load(self.pack, cache, keeps_counts=False, models=self.models, tries=self.tries)

    @property
    def is_resumed_whole(self) -> bool:
        """True if there is nothing to resume: the output exists, and no run for it is unfinished."""
        return self.existing == "resume" and Path(self.output).exists() and not os.path.lexists(self.journal)

    @property
    def is_parquet(self) -> bool:
        """True if the rows go to a Parquet file."""
        return self.output.lower().endswith(".parquet")

    @property
    def aside(self) -> str:
        """The file for states without a prompt: `out.quarantine.jsonl` for `out.jsonl`."""
        return f"{Path(os.path.splitext(self.output)[0])}.quarantine.jsonl"  # noqa: PTH122  a name may be empty, or only dots

    @property
    def journal(self) -> str:
        """The file that records the progress of a run."""
        return f"{name_part(self.output)}.json"

    @property
    def parts(self) -> tuple[str, str]:
        """The files that grow until they replace the output and the file for states without a prompt."""
        return name_part(self.output), name_part(self.aside)

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that a run writes, replaces or removes."""
        return self.output, self.aside, *self.parts, self.journal


@frozen
class Mark:
    """A place between two states: the number of lines and bytes before it, and their checksum. In a Parquet file `offset` counts rows."""

    line: int = 0
    offset: int = 0
    checksum: int = 0


@frozen
class BatchProgress:
    """The progress of a run.

    `mark` is the place in the states, `written` and `aside` are the bytes in the two files, and `rendered`, `failed` and `warned` are the
    numbers of rows with a prompt, without a prompt, and with a warning.
    """

    mark: Mark = Mark()
    written: int = 0
    aside: int = 0
    rendered: int = 0
    failed: int = 0
    warned: int = 0


@frozen
class StateLine:
    """A state as it was read: the number of its line, its bytes or the reason why it has none, and its id if a column contains it."""

    number: int
    raw: bytes | Diagnostic
    id: str | None = None


@frozen
class Rendered:
    """A row, and the findings on a state that has no prompt."""

    row: Mapping[str, Any]
    findings: tuple[Diagnostic, ...] = ()
    has_warning: bool = False


@frozen
class _Rows:
    """The result of some lines: the bytes to write, counts and findings. `stopped` is the error that ends the run, or None."""

    rows: bytes
    aside: bytes
    rendered: int
    failed: int
    warned: int
    findings: tuple[Diagnostic, ...]
    stopped: tuple[type[PromptcError], tuple[Diagnostic, ...]] | None


# --- a row ---


class RowRenderer:
    """Renders states to rows. A state that is not valid or does not fit raises nothing: its row says why it has no prompt."""

    def __init__(self, pack: Pack, options: Mapping[str, Any], changes: Sequence[Change] = ()) -> None:
        self._pack = pack
        self._options = options
        self._changes = changes
        self._file = pack.file

    def render(self, line: StateLine) -> Rendered:
        """Render a line to a row. Raises `UsageError` and `DiskError` for problems that no other state would solve."""
        id, digest = line.id, None
        try:
            if isinstance(line.raw, Diagnostic):
                raise PromptcError([line.raw])
            document = load_json(line.raw, _STATE)
            id, document = _unwrap(document, id)
            state = self._pack.load_document(self._change(document))
            digest = state.digest
            outcome = self._compile(state)
            name, content, more = _read_content(outcome)
        except _RowError as error:
            return self._refuse(_name(line, id), digest, error.row, error.findings)
        except (UsageError, DiskError):
            raise
        except PromptcError as error:
            return self._refuse(_name(line, id), digest, {}, error.diagnostics)
        row = outcome.build_row(more)
        has_warning = any(found["level"] == "warn" for found in row["diagnostics"])
        return Rendered({"id": _name(line, id), name: content, **row, "digest": digest}, (), has_warning)

    def _change(self, document: JsonDocument) -> JsonDocument:
        if not self._changes:
            return document
        try:
            return set_values(document, self._changes)
        except UsageError as error:  # only this state lacks the place
            raise PromptcError(error.diagnostics) from None

    def _compile(self, state: Any) -> Outcome:
        outcome = self._pack.compile(state, **self._options)
        if outcome.emitted is None:
            raise _RowError(outcome.build_row(), outcome.errors)
        return outcome

    def _refuse(self, id: str | None, digest: str | None, row: Mapping[str, Any], found: Sequence[Diagnostic]) -> Rendered:
        empty: dict[str, Any] = {
            "tokens": None,
            "sections": {},
            "tier": None,
            "dropped": {},
            "diagnostics": describe_findings(found, self._file, _STATE),
        }
        return Rendered({"id": id, **empty, **row, "digest": digest}, tuple(found))


def _name(line: StateLine, id: str | None) -> str | None:
    """Return the id of a row. Without an id this is the number of the line, or None for a state without a number."""
    return id if id is not None else str(line.number) if line.number else None


class _RowError(Exception):
    """The prompt does not fit. `row` is what the row says nonetheless, and `findings` are the reasons."""

    def __init__(self, row: Mapping[str, Any], findings: Sequence[Diagnostic]) -> None:
        self.row = row
        self.findings = findings
        super().__init__("does not fit")


def _unwrap(document: JsonDocument, id: str | None) -> tuple[str | None, JsonDocument]:
    """Return the id and the state of a line, which is `{"id": …, "state": …}` or a bare state that may have an `id`."""
    value = document.value
    if not isinstance(value, dict):
        return id, document
    own = value.get("id")
    is_name = isinstance(own, str) or (isinstance(own, int) and not isinstance(own, bool))
    found = str(own) if id is None and is_name else id
    if STATE not in value or not value.keys() <= WRAPPED:
        return found, document
    if "id" in value and not is_name:
        help = "write a string or a whole number, or leave the id out: the number of the line is then the id"
        raise PromptcError(
            [Diagnostic("PC0717", "the `id` of this line is neither a string nor a whole number", document.span("/id"), help)]
        )
    return found, document.enter(STATE)


def _read_content(outcome: Outcome) -> tuple[str, Any, Sequence[Diagnostic]]:
    """Return the content column of a prompt, its value, and the findings that came up while the value was built."""
    prompt = Prompt(outcome)
    output = read_output(prompt)
    if isinstance(output, str):
        return "prompt", output, ()
    if prompt.provider is None:
        return "messages", output, ()
    payload = prompt.build_payload(prompt.provider)
    return "body", payload.body, payload.warnings


# --- a file of states ---


def run_batch(
    batch: Batch,
    states: IO[bytes],
    name: str,
    *,
    note: Callable[[BatchProgress, int], None] = lambda *_: None,
    tell: Callable[[Sequence[Diagnostic]], None] = lambda _: None,
) -> BatchProgress:
    """Render every state of `states`, write the rows, and return the progress at the end.

    - `name`: the name of `states` in findings.
    - `note`: called with the progress and the size of the input: bytes, rows for Parquet, or 0 if the size is unknown.
    - `tell`: called with the findings on the first states without a prompt.

    Raises `PromptcError` for a pack that is not valid and, if `on_error` is `fail`, for the first state without a prompt. Raises
    `DiskError` for a file that cannot be read or written, that exists already (PC0711, PC0712), or that has changed since the earlier run
    (PC0713). The rows until then are kept for `resume`, even if the process is killed.
    """
    _check_output(batch)
    asked = _describe(batch)
    done, is_whole = _load_start(batch, asked)
    if not is_whole:
        done = _render_states(batch, asked, done, _Lines(states, name), note, tell)
    with _explaining(batch):
        _settle(batch, done)
    return done


def _check_output(batch: Batch) -> None:
    if batch.is_parquet:
        load_pyarrow()
    if not batch.output or (os.path.lexists(batch.output) and not Path(batch.output).is_file()):
        message = f"cannot write `{batch.output}`: it is not a regular file"
        raise DiskError([Diagnostic("PC0725", message, help="name a file: rows are written next to it until all are there")])
    ending = Path(batch.output).suffix.lower()
    if ending in _ENDINGS:
        message = f"`{batch.output}` would be compressed with {_ENDINGS[ending]}, and promptc writes plain JSON lines"
        raise DiskError([Diagnostic("PC0714", message, help="name a file such as `out.jsonl`, and compress that")])


def count_states(states: IO[bytes], name: str) -> int:
    """Return the number of states of a file, or of the rows in it. Raises any error of reading the file."""
    return _Lines(states, name).count()


def iter_documents(states: IO[bytes], name: str) -> Iterator[tuple[str, JsonDocument]]:
    """Yield the states of a file, parsed as `run_batch` does, each with the name that findings use for it: `NAME:LINE`.

    Raises `PromptcError` for a line without a state, and any error of reading the file.
    """
    for lines in _Lines(states, name):
        for one in lines:
            if isinstance(one.raw, Diagnostic):
                raise PromptcError(_place([one.raw], name))
            called = f"{name}:{one.number}"
            yield called, _unwrap(load_json(one.raw, called), one.id)[1]


def _describe(batch: Batch) -> dict[str, Any]:
    """Return everything besides the states and the stores that the rows depend on, without secrets.

    Checks the pack and keeps it in the cache.
    """
    with batch.load_pack() as pack:
        digest, counter, indexes = pack.digest, pack.counter.digest, pack.digest_indexes()
    models = render_digest(read_file(os.path.realpath(batch.models), MAX_STATE_BYTES)) if batch.models is not None else ""
    options = render_digest(render_canonical_json([dict(batch.options), [list(one) for one in batch.changes], models]).encode())
    known = {"pack": digest, "counter": counter, "indexes": indexes.hex() if indexes is not None else None}
    return {"promptc": VERSION, **known, "options": options, "on_error": batch.on_error}


def _render_states(
    batch: Batch,
    asked: Mapping[str, Any],
    begun: BatchProgress,
    lines: _Lines,
    note: Callable[[BatchProgress, int], None],
    tell: Callable[[Sequence[Diagnostic]], None],
) -> BatchProgress:
    """Write all rows to the temporary file. Whatever happens, the rows so far are kept, unless there are none."""
    run, told = _BatchRun(batch, asked, begun), 0
    with closing(run_workers(_iter_works(run, lines), partial(_start, batch, asked["pack"]), jobs=batch.jobs)) as results:
        try:
            for rows in results:
                if rows.stopped is not None:
                    error, found = rows.stopped
                    raise error(_place(found, lines.name))
                tell(_place(rows.findings[: max(0, _MOST_TOLD - told)], lines.name))
                told += len(rows.findings)
                run.add(rows, lines.marks.pop(0))
                note(run.progress, lines.total)
            run.keep(is_whole=True)
        finally:
            run.leave()
    return run.progress


def _iter_works(run: _BatchRun, lines: _Lines) -> Iterator[Sequence[StateLine]]:
    """Open the files and yield the lines.

    This runs after the workers have started: workers that inherited the lock would keep it after the run is killed.
    """
    run.begin()
    lines.skip(run.progress.mark)
    yield from lines


def _place(found: Sequence[Diagnostic], name: str) -> tuple[Diagnostic, ...]:
    return tuple(
        replace(one, span=replace(one.span, file=name)) if one.span is not None and one.span.file == _STATE else one for one in found
    )


class _Lines:
    """The states of a file, in chunks. `marks` are the places after the chunks that were yielded, the oldest first."""

    def __init__(self, states: IO[bytes], name: str) -> None:
        self.name = name
        self.total = 0
        self.marks: list[Mark] = []
        self._states = states
        self._at = Mark()
        self._rows = self._iter_rows()

    def skip(self, mark: Mark) -> None:
        """Continue after `mark`. Raises `DiskError` (PC0713) if the lines before it have changed."""
        while self._at.offset < mark.offset and next(self._rows, None) is not None:
            pass
        if (self._at.offset, self._at.checksum) != (mark.offset, mark.checksum):
            raise _refuse_resume(f"the first {mark.line} lines of `{self.name}` are not what they were")
        self._at = mark

    def count(self) -> int:
        """Return the number of states."""
        return sum(1 for _ in self._rows)

    def __iter__(self) -> Iterator[tuple[StateLine, ...]]:
        held, size = list[StateLine](), 0
        for line in self._rows:
            held.append(line)
            size += len(line.raw) if isinstance(line.raw, bytes) else 0
            if len(held) == _CHUNK_LINES or size >= _CHUNK_BYTES:
                self.marks.append(self._at)
                yield tuple(held)
                held, size = [], 0
        self.marks.append(self._at)
        yield tuple(held)

    def _iter_rows(self) -> Iterator[StateLine]:
        """Yield the states of the file, whose kind its first bytes reveal."""
        try:
            first = self._states.readline(MAX_STATE_BYTES + 1)
            if first.startswith(_PARQUET):
                yield from self._iter_parquet()
                return
            _check_kind(first, self.name)
            self.total = os.fstat(self._states.fileno()).st_size if self._states.seekable() and _has_number(self._states) else 0
            while first:
                line = self._take_line(first)
                if isinstance(line.raw, Diagnostic) or line.raw.strip():
                    yield line
                first = self._states.readline(MAX_STATE_BYTES + 1)
        except OSError as wrong:
            raise DiskError([Diagnostic("PC0724", f"cannot read the states {self.name}: {show_reason(wrong)}")]) from wrong

    def _take_line(self, raw: bytes) -> StateLine:
        """Return a line, or the reason why it is not one. A line that is too long is read to its end, if it is near enough."""
        size, more = len(raw), raw
        number, checksum = self._at.line + 1, crc32(raw, self._at.checksum)
        is_long = size > MAX_STATE_BYTES and not raw.endswith(b"\n")
        while is_long and not more.endswith(b"\n") and (more := self._states.readline(_PART)):
            size, checksum = size + len(more), crc32(more, checksum)
            if size > _LONGEST_LINE:
                message = f"line {number} of {self.name} has no end in its first {_LONGEST_LINE} bytes"
                raise DiskError([Diagnostic("PC0102", message, help="name a file with one state on each line")])
        self._at = Mark(number, self._at.offset + size, checksum)
        if not is_long:
            return StateLine(number, raw.rstrip(b"\r\n"))
        message = f"the line has {size} bytes, and promptc reads at most {MAX_STATE_BYTES}"
        return StateLine(number, Diagnostic("PC0102", message, Span(_STATE, number, 1), "make the state smaller"))

    def _iter_parquet(self) -> Iterator[StateLine]:
        """Yield the rows of a Parquet file. A place in it is a number of rows."""
        pyarrow = load_pyarrow()
        if not self._states.seekable():
            help = "name the file: its end is read first"
            raise DiskError([Diagnostic("PC0716", f"`{self.name}` is a Parquet file, and cannot be read from a pipe", help=help)])
        self._states.seek(0)
        try:
            file = pyarrow.parquet.ParquetFile(self._states)
            self.total = file.metadata.num_rows
            for batch in file.iter_batches(batch_size=_CHUNK_LINES):
                for number, (id, raw) in enumerate(iter_states(batch), self._at.line + 1):
                    line = StateLine(number, raw, id)
                    told = line.raw if isinstance(line.raw, bytes) else line.raw.message.encode()
                    self._at = Mark(line.number, line.number, crc32(told, crc32(repr(line.id).encode(), self._at.checksum)))
                    yield line
        except (pyarrow.ArrowException, UnicodeDecodeError) as wrong:
            message = f"`{self.name}` cannot be read as Parquet: {str(wrong).splitlines()[0]}"
            raise DiskError([Diagnostic("PC0716", message, help="write the file again, or give JSON lines")]) from wrong


def _has_number(states: IO[bytes]) -> bool:
    """Return whether the file has a file descriptor: a file in memory has no size to look up."""
    try:
        return states.fileno() >= 0
    except (OSError, ValueError):
        return False


def _check_kind(raw: bytes, name: str) -> None:
    found = next((kind for mark, kind in _COMPRESSED.items() if raw.startswith(mark)), None)
    if found is not None:
        help = f"unpack it in a pipe: `{_UNPACK[found]} {quote(name)} | promptc batch PACK - -o OUT`"
        raise DiskError([Diagnostic("PC0714", f"`{name}` is compressed with {found}, and promptc reads plain JSON lines", help=help)])


# --- in a process ---


@contextmanager
def _start(batch: Batch, digest: str, _: Callable[[], bool]) -> Iterator[Callable[[Sequence[StateLine]], _Rows]]:
    """Set up a worker: yield the function that renders lines. The pack must be the one that the run began with."""
    import gc

    gc.set_threshold(20_000, 20, 100)  # the objects of a render are freed by reference counting
    with batch.load_pack() as pack:
        if pack.digest != digest:
            raise DiskError([Diagnostic("PC0713", f"the pack `{batch.pack}` has changed since the run began", help=_GO_ON)])
        yield partial(_render_lines, RowRenderer(pack, batch.options, batch.changes), batch.on_error)


def _render_lines(renderer: RowRenderer, on_error: OnError, lines: Sequence[StateLine]) -> _Rows:
    rows: list[str] = []
    aside: list[str] = []
    findings: list[Diagnostic] = []
    failed = warned = 0
    for line in lines:
        try:
            done = renderer.render(line)
        except (UsageError, DiskError) as error:
            return _Rows(b"", b"", 0, 0, 0, (), (type(error), error.diagnostics))
        warned += done.has_warning
        if not done.findings:
            rows.append(render_json_line(done.row))
            continue
        failed += 1
        found = [_number(one, line.number) for one in done.findings]
        if on_error == "fail":
            return _Rows(b"", b"", 0, 0, 0, (), (PromptcError, tuple(found)))
        findings += found
        if on_error == "quarantine":
            aside.append(render_json_line(_describe_refused(line, done)))
    return _Rows(_join(rows), _join(aside), len(rows), failed, warned, tuple(findings), None)


def _number(found: Diagnostic, number: int) -> Diagnostic:
    """Return the finding with the line of its state: as its place, or in its message if its place is in the pack."""
    if found.span is not None and found.span.file == _STATE:
        return replace(found, span=replace(found.span, line=number))
    return replace(found, message=f"line {number}: {found.message}")


def _describe_refused(line: StateLine, done: Rendered) -> dict[str, Any]:
    raw = line.raw.decode("utf-8", "replace") if isinstance(line.raw, bytes) else None
    return {"id": done.row["id"], "line": line.number, "diagnostics": done.row["diagnostics"], "input": raw}


def _join(rows: Sequence[str]) -> bytes:
    return "".join([f"{row}\n" for row in rows]).encode()


# --- the output, and how far it is ---


class _BatchRun:
    """The files of a run in progress. They are locked while they are open."""

    def __init__(self, batch: Batch, asked: Mapping[str, Any], begun: BatchProgress) -> None:
        self.progress = begun
        self._batch = batch
        self._asked = asked
        self._kept = begun
        self._is_whole = False
        self._looked = monotonic()
        self._files: list[GrowingFile] = []

    def begin(self) -> None:
        """Open the files, cut to the length that the journal records as complete."""
        with _explaining(self._batch):
            self._files.append(GrowingFile(self._batch.output, self._kept.written))
            if self._batch.on_error == "quarantine":
                self._files.append(GrowingFile(self._batch.aside, self._kept.aside))
        self.keep()

    def add(self, rows: _Rows, mark: Mark) -> None:
        """Write rows. `mark` is the place in the states after them."""
        with _explaining(self._batch):
            for file, data in zip(self._files, (rows.rows, rows.aside), strict=False):
                file.write(data)
        done = self.progress
        self.progress = BatchProgress(
            mark,
            done.written + len(rows.rows),
            done.aside + len(rows.aside),
            done.rendered + rows.rendered,
            done.failed + rows.failed,
            done.warned + rows.warned,
        )
        if monotonic() - self._looked >= _PAUSE:
            self.keep()

    def keep(self, *, is_whole: bool = False) -> None:
        """Sync the rows to the disk, then record them in the journal."""
        with _explaining(self._batch):
            for file in self._files:
                file.sync()
            _write_journal(self._batch, self._asked, self.progress, is_whole=is_whole)
        self._kept, self._is_whole, self._looked = self.progress, is_whole, monotonic()

    def leave(self) -> None:
        """Close the files. Rows so far are kept if the disk allows; a run without any rows removes its files."""
        if self._files and self.progress is not self._kept:
            with suppress(PromptcError):
                self.keep()
        for file in self._files:
            file.close()
        if self._files and not self._kept.mark.offset and not self._is_whole:
            _remove(*(file.part for file in self._files), self._batch.journal)


def _write_journal(batch: Batch, asked: Mapping[str, Any], at: BatchProgress, *, is_whole: bool) -> None:
    counts = {name: getattr(at, name) for name in ("written", "aside", "rendered", "failed", "warned")}
    mark = {"line": at.mark.line, "offset": at.mark.offset, "checksum": at.mark.checksum}
    content = {"asked": dict(asked), "mark": mark, **counts, "is_whole": is_whole}
    replace_file(batch.journal, f"{render_canonical_json(content)}\n".encode())


def _load_start(batch: Batch, asked: Mapping[str, Any]) -> tuple[BatchProgress, bool]:
    """Return the progress of the earlier run to resume, and whether only its last step is missing.

    Raises `DiskError` for an output that exists (PC0711), for an unfinished run (PC0712), and for an earlier run with other settings
    (PC0713).
    """
    is_begun = os.path.lexists(batch.journal)
    if batch.existing == "resume" and is_begun:
        return _read_journal(batch, asked)
    if batch.existing != "replace" and is_begun:
        message = f"`{batch.journal}` exists: an earlier run for `{batch.output}` was stopped, or is still running"
        raise DiskError([Diagnostic("PC0712", message, help=_GO_ON)])
    if batch.existing != "replace":
        found = [one for one in (batch.output, batch.aside) if os.path.lexists(one)]
        found += [one for one in batch.parts if os.path.lexists(one) and os.lstat(one).st_size]  # a run killed at once leaves empty ones
        if found:
            help = "name another file, or add `--force` to replace it"
            raise DiskError([Diagnostic("PC0711", f"`{found[0]}` already exists", help=help)])
    return BatchProgress(), False


def _read_journal(batch: Batch, asked: Mapping[str, Any]) -> tuple[BatchProgress, bool]:
    try:
        found = json.loads(read_file(batch.journal, _JOURNAL))
        mark = Mark(*(_read_count(found["mark"][name]) for name in ("line", "offset", "checksum")))
        counts = [_read_count(found[name]) for name in ("written", "aside", "rendered", "failed", "warned")]
        before, is_whole = dict(found["asked"]), bool(found["is_whole"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as wrong:
        raise _refuse_resume(f"`{batch.journal}` cannot be read") from wrong
    changed = [name for name, value in asked.items() if before.get(name) != value]
    if changed:
        raise _refuse_resume(f"{_CHANGED[changed[0]]} not what it was when that run began")
    return BatchProgress(mark, *counts), is_whole


def _read_count(value: Any) -> int:
    """Return a number of the journal. Raises `ValueError` for what no run writes."""
    if not is_whole(value, 0, _LARGEST):
        raise ValueError("it is no count")
    return int(value)


_CHANGED = {
    "promptc": "the version of promptc is",
    "pack": "the pack is",
    "counter": "what counts its tokens is",
    "indexes": "an index of the pack, or a document of one, is",
    "options": "what is asked of each render is",
    "on_error": "`--on-error` is",
}


def _refuse_resume(why: str) -> DiskError:
    help = "write `--force` in place of `--resume` to start over"
    return DiskError([Diagnostic("PC0713", f"the earlier run cannot be resumed: {why}", help=help)])


def _settle(batch: Batch, done: BatchProgress) -> None:
    """Take the last step, which may be repeated: replace the output by the temporary file."""
    if batch.is_parquet:
        if Path(name_part(batch.output)).exists():
            replace_filled(batch.output, partial(write_parquet, name_part(batch.output)))
            _remove(name_part(batch.output))
    else:
        finish_part(batch.output)
    if done.aside:
        finish_part(batch.aside)
    else:
        _remove(name_part(batch.aside), batch.aside)
    _remove(batch.journal)


def _remove(*paths: str) -> None:
    for path in paths:
        Path(path).unlink(missing_ok=True)


@contextmanager
def _explaining(batch: Batch) -> Iterator[None]:
    """Turn an error of the disk into a `DiskError` with a finding."""
    try:
        yield
    except BlockingIOError:
        raise DiskError([Diagnostic("PC0712", f"another process is writing `{batch.output}`", help="wait until it has finished")]) from None
    except OSError as wrong:
        is_full = wrong.errno in (errno.ENOSPC, errno.EDQUOT)
        help = "make room, then run the same command with `--resume`" if is_full else "name a file in a folder that exists"
        raise DiskError([Diagnostic("PC0725", f"cannot write `{batch.output}`: {show_reason(wrong)}", help=help)]) from wrong


# --- record batches ---


def map_arrow(pack: Pack | str | PathLike[str], *, models: str | None = None, **options: Any) -> ArrowRenderer:
    """Return a function that renders a record batch (or a table) of states to a record batch (or a table) of rows.

    Any engine that maps a function over its data can use it.

    - `pack`: the pack, or its path. The function can be pickled: each process that receives it loads the pack once, from that path.
    - `models`: a TOML file with a table of your own models.
    - `options`: the arguments of `Pack.render`, such as `budget` and `format`.

    The column `state` contains a state as JSON text, and an optional column `id` its id. With any other columns each row is a state itself,
    without the keys that are null. Each state has a row, in order, even without a prompt: its `diagnostics` then say why.
    """
    load_pyarrow()
    return ArrowRenderer(fspath(pack) if not isinstance(pack, Pack) else pack.file, models, options)


class ArrowRenderer:
    """The function that `map_arrow` returns."""

    def __init__(self, pack: str, models: str | None, options: Mapping[str, Any]) -> None:
        self._asked = (pack, models, options)
        self._renderer: RowRenderer | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrowRenderer, self._asked

    @property
    def schema(self) -> Any:
        """The Arrow schema of the rows."""
        return make_schema(load_pyarrow())

    def __call__(self, states: Any) -> Any:
        """Render the states of a record batch, or of a table.

        Raises `UsageError` and `DiskError` for problems that no other state would solve.
        """
        if self._renderer is None:
            pack, models, options = self._asked
            self._renderer = RowRenderer(Pack.load(pack, keeps_counts=False, models=models), options)
        pyarrow = load_pyarrow()
        rows = [self._renderer.render(StateLine(0, raw, id)).row for id, raw in iter_states(states)]
        made = make_batch(pyarrow, rows)
        return made if isinstance(states, pyarrow.RecordBatch) else pyarrow.Table.from_batches([made])
