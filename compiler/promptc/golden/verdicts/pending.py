"""Pending goldens: written next to the goldens that they would replace, shown, and accepted, rejected or taken back.

`write_pending` writes them, `list_pending` finds them, `read_pending` returns the differences, `accept_golden` and `reject_golden` settle
one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from promptc.compare import Difference, has, is_count, is_list, is_text, or_none, read_json
from promptc.diag.findings import Diagnostic, DiskError, Span, show_reason
from promptc.diag.frozen import as_plain, field, frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.files.atomic import replace_file, replace_remade
from promptc.files.reading import IrregularError, LinkError, read_file
from promptc.golden.cases.case import GOLDENS, INPUTS, MAX_PLAIN_BYTES, PENDING, Case, Figures, is_pending, name_golden, read_golden_name
from promptc.golden.cases.confine import choose_fence, choose_root, find_fault, name_case, show_path
from promptc.golden.cases.discover import iter_cases
from promptc.golden.inputs import identify_file, read_inputs, render_json_file
from promptc.golden.verdicts.verdict import (
    PROMPTS,
    GoldenDifference,
    GoldenOutput,
    Mover,
    Verdict,
    compare_outputs,
    find_figures,
    read_figures,
)

_HELP = "`promptc test` writes what differs now"
_WRITE_HELP = "the report shows what it would hold"
_SETTLE_HELP = "make the folder writable, and make room on its disk; the golden is unchanged"
_LINK_HELP = "replace the link with a copy of the file; the golden is unchanged"
_LOOK = "look at it again: `promptc review`"
_GONE = "it is not pending any more"
_CHANGED = "it has changed meanwhile"

Contents = Mapping[str, bytes | None]
"""The contents of files, by path (None: the file does not exist)."""

PendingStatus = Literal["new", "changed"]

_CAUSE = "cause"
_BEFORE = "before"
_are_movers = is_list(has({"what": is_text, "span": or_none(has({"file": is_text, "line": is_count, "column": is_count}))}), most=9)


@frozen(eq=False)
class Seen:
    """The view of a pending golden.

    `found` is the difference between the bytes `old` (None: no golden yet, or not a file) and `new`. `stale` are the inputs that have
    changed since. The rest is from the note of the run that wrote it: `before` are the figures of the prompt when its goldens were
    accepted, `after` its figures in that run (both None for a turn of a session that is not the last), and `cause` is the cause, with
    paths from the working folder.
    """

    found: Difference
    old: bytes | None = field(repr=False)
    new: bytes = field(repr=False)
    stale: tuple[str, ...] = ()
    before: Figures | None = None
    after: Figures | None = None
    cause: tuple[Mover, ...] = ()

    def is_as(self, other: Seen) -> bool:
        """Return whether accepting either view would replace the same bytes by the same bytes."""
        return (self.old, self.new, self.stale) == (other.old, other.new, other.stale)


@frozen(eq=False)
class Pended:
    """The differences, each with the place of its pending golden, and findings for those that could not be written (PC0903)."""

    differences: tuple[GoldenDifference, ...]
    findings: tuple[Diagnostic, ...] = ()


@frozen(eq=False)
class SettledGolden:
    """A golden that was accepted or rejected, with the files of its case that changed, before and after."""

    pending: PendingGolden
    before: Contents = field(repr=False)
    after: Contents = field(repr=False)


@frozen
class PendingGolden:
    """A pending golden, next to the golden it would replace.

    `case` is the case's name, `folder` its folder (absolute), `name` the golden's file name, and `path` the golden from the working folder.
    The status is `new` without an earlier golden, and `changed` if it differs from one.
    """

    case: str
    folder: str
    name: str
    path: str
    status: PendingStatus


def write_pending(case: Case, differences: Sequence[GoldenDifference], inputs: bytes) -> Pended:
    """Write a pending golden for every difference, each whole or not at all, and `inputs` next to them. Goldens are never changed.

    One that cannot be written is a finding, and does not prevent the others.
    """
    wanted = {f"{_name(one)}{PENDING}": one.new for one in differences}
    findings: dict[str, Diagnostic] = {}
    for name, content in (*wanted.items(), (f"{INPUTS}{PENDING}", inputs)):
        path = os.path.join(case.folder, name)
        try:
            replace_remade(path, content)
        except OSError as wrong:
            shown, reason = show_path(path, case.root), show_reason(wrong)
            findings[name] = Diagnostic("PC0903", f"the pending golden `{shown}` cannot be written: {reason}", help=_WRITE_HELP)
    pended = (one if f"{_name(one)}{PENDING}" in findings else replace(one, pending=f"{one.path}{PENDING}") for one in differences)
    return Pended(tuple(pended), tuple(findings.values()))


def _name(one: GoldenDifference) -> str:
    return one.path.rpartition("/")[2]


def drop_pending(folder: str, names: Iterable[str]) -> None:
    """Remove pending goldens by name: their content is out of date."""
    for name in names:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, name))


def list_pending(paths: Sequence[str]) -> Iterator[PendingGolden]:
    """Yield every pending golden at or under `paths`, by folder, turn and kind: a prompt before its report.

    Folders are listed lazily. Raises `DiskError` as `iter_cases` does.
    """
    here = os.path.realpath(os.getcwd())
    for place in iter_cases(paths):
        case = name_case(place.folder, choose_root(place.folder))
        for name in sorted((name.removesuffix(PENDING) for name in place.goldens if is_pending(name)), key=_rank):
            if name != INPUTS:
                path = Path(place.folder, name)
                status: PendingStatus = "changed" if path.is_symlink() or path.exists() else "new"
                yield PendingGolden(case, place.folder, name, show_path(str(path), here), status)


def _rank(name: str) -> tuple[int, int, str]:
    kind, turn = read_golden_name(name)
    return turn, list(GOLDENS).index(kind) if kind else len(GOLDENS), name


def read_pending(pending: PendingGolden) -> Seen:
    """Return the difference of a pending golden.

    Prompts are compared section by section if the case's own reports describe them, other goldens as a whole. Raises `DiskError` (PC0945)
    for a file that cannot be read, and for a pending golden that no longer exists.
    """
    kind, turn = read_golden_name(pending.name)
    old, new = _read(pending, pending.name), _read(pending, pending.name + PENDING)
    if new is None:
        is_there = Path(pending.folder, pending.name + PENDING).is_symlink() or Path(pending.folder, pending.name + PENDING).exists()
        reason = "is no file" if is_there else "is not there any more"
        raise DiskError([Diagnostic("PC0945", f"{pending.path}{PENDING} {reason}", help=_HELP)])
    reports: tuple[bytes | None, bytes | None] = (None, None)
    if kind in PROMPTS:
        name = name_golden("report", turn)
        golden = _read(pending, name)
        reports = (golden, _read(pending, name + PENDING) or golden)
    found = compare_outputs(kind, GoldenOutput(old or b"", reports[0] if old is not None else None), GoldenOutput(new, reports[1]))
    noted = read_inputs(os.path.join(pending.folder, INPUTS + PENDING)) or {}
    before, after = _read_both(pending, noted) if turn == _count_turns(pending.folder) else (None, None)
    return Seen(found, old, new, list_stale(pending), before, after, read_cause(pending))


def _read_both(pending: PendingGolden, noted: Mapping[str, Any]) -> tuple[Figures | None, Figures | None]:
    """Return the figures before and after. A note has only those of the last turn of a session.

    Those before are from the run that wrote the pending golden: once another golden of the case is accepted, its note has those after.
    """
    before = read_figures(noted.get(_BEFORE)) or find_figures(pending.folder, read_golden_name(pending.name)[1])
    return before, read_figures(noted.get("figures"))


def _count_turns(folder: str) -> int:
    """Return the last turn that has a golden in the folder, also a pending one; 0 if the case is no session."""
    return max((read_golden_name(name.removesuffix(PENDING))[1] for name in os.listdir(folder)), default=0)


def _read(pending: PendingGolden, name: str) -> bytes | None:
    """Return the content of a file, or None if it does not exist or is not a regular file. Links are not followed."""
    try:
        return read_file(Path(pending.folder, name), MAX_PLAIN_BYTES)
    except (FileNotFoundError, IrregularError, LinkError):
        return None
    except OSError as wrong:
        raise DiskError([Diagnostic("PC0945", f"cannot read {pending.path}: {show_reason(wrong)}")]) from wrong


def list_stale(pending: PendingGolden) -> tuple[str, ...]:
    """Return the inputs of a pending golden that have changed since, or are gone: paths from the working folder, sorted.

    Empty if there is no note next to it. Never raises.
    """
    noted = read_inputs(os.path.join(pending.folder, INPUTS + PENDING))
    if noted is None:
        return ()
    root, here = choose_root(pending.folder), os.path.realpath(os.getcwd())
    fence = choose_fence(pending.folder)
    paths = {os.path.join(root, path): identity for path, identity in noted["files"].items() if not find_fault(path, root, fence)}
    return tuple(sorted(show_path(path, here) for path, identity in paths.items() if identify_file(path) != identity))


def note_cause(verdict: Verdict) -> None:
    """Write the cause into the note next to the pending goldens of this verdict, for `read_cause`. Does nothing if it cannot be written."""
    path = os.path.join(verdict.folder, INPUTS + PENDING)
    noted = read_inputs(path) if verdict.cause and any(one.pending for one in verdict.differences) else None
    if noted is not None:
        with contextlib.suppress(OSError):
            replace_remade(path, render_json_file({**noted, _CAUSE: as_plain(verdict.cause)}))


def read_cause(pending: PendingGolden) -> tuple[Mover, ...]:
    """Return what moved a pending golden, from the note of its run, with paths from the working folder. Empty if unknown. Never raises."""
    noted: Any = (read_inputs(os.path.join(pending.folder, INPUTS + PENDING)) or {}).get(_CAUSE)
    root, here = choose_root(pending.folder), os.path.realpath(os.getcwd())
    return tuple(_read_mover(one, root, here) for one in noted) if _are_movers(noted) else ()


def _read_mover(one: Mapping[str, Any], root: str, here: str) -> Mover:
    span = one["span"]
    return Mover(one["what"], Span(show_path(os.path.join(root, span["file"]), here), span["line"], span["column"]) if span else None)


def accept_golden(pending: PendingGolden, expected: bytes | None = None) -> SettledGolden:
    """Replace the golden by the pending golden, in one step: a reader, even after a kill, sees the old one or the new one.

    `expected` are the bytes to accept, which other writers cannot change (None: whatever is pending). Raises `DiskError` (PC0945) if this
    is not possible or if other bytes are pending, with nothing changed. A link in place of either file is refused.
    """
    names = (pending.name, pending.name + PENDING, INPUTS, INPUTS + PENDING)
    before = _read_all("read", pending, names)
    new = before[_place(pending, pending.name + PENDING)]
    if new is None or new != (expected if expected is not None else new):
        raise _refuse("accept", pending, _GONE if new is None else _CHANGED)
    with _telling("accept", pending):
        _write(Path(pending.folder, pending.name), new)
        _drop(pending, new)
        inputs = _note(Path(pending.folder, INPUTS), before[_place(pending, INPUTS)], before[_place(pending, INPUTS + PENDING)])
    left = {names[0]: new, names[1]: None, INPUTS: inputs}
    return SettledGolden(pending, before, _settle_inputs("accept", pending, before, left))


def _read_all(verb: str, pending: PendingGolden, names: Sequence[str]) -> dict[str, bytes | None]:
    with _telling(verb, pending):
        return {_place(pending, name): _read_golden(Path(pending.folder, name)) for name in names}


@contextlib.contextmanager
def _telling(verb: str, pending: PendingGolden) -> Iterator[None]:
    try:
        yield
    except OSError as wrong:
        reason = show_reason(wrong)
        help = _LINK_HELP if isinstance(wrong, LinkError) else _SETTLE_HELP
        raise DiskError([Diagnostic("PC0945", f"cannot {verb} {pending.path}: {reason}", help=help)]) from wrong


def _place(pending: PendingGolden, name: str) -> str:
    return str(Path(pending.folder, name))


def _read_golden(path: Path) -> bytes | None:
    """Return the content of a file, or None if it does not exist. A link is never followed: it may lead out of the project."""
    try:
        return read_file(path, MAX_PLAIN_BYTES)
    except FileNotFoundError:
        return None


def _refuse(verb: str, pending: PendingGolden, reason: str) -> DiskError:
    return DiskError([Diagnostic("PC0945", f"cannot {verb} {pending.path}: {reason}", help=_LOOK)])


def _write(path: Path, content: bytes) -> None:
    """Write a file by way of a temporary one next to it, whose name is no golden's. A link in its place is refused."""

    def check() -> None:
        if path.is_symlink():
            raise LinkError(0, "it is a link")

    replace_file(path, content, check=check)


def _drop(pending: PendingGolden, content: bytes) -> None:
    """Remove the pending golden, unless somebody has written another one since."""
    path = Path(pending.folder, pending.name + PENDING)
    if _read_golden(path) == content:
        path.unlink()


def _note(path: Path, old: bytes | None, new: bytes | None) -> bytes | None:
    """Write the new note and return its bytes, without the cause and the earlier figures, which described a single difference.

    If the new note cannot be written, the old one is removed, since it would lead to a wrong cause.
    """
    if new is None:
        return old
    noted = read_json(new)
    if isinstance(noted, dict) and not noted.keys().isdisjoint((_CAUSE, _BEFORE)):
        new = render_json_file({key: value for key, value in noted.items() if key not in (_CAUSE, _BEFORE)})
    try:
        _write(path, new)
    except OSError:
        path.unlink(missing_ok=True)
        return None
    return new


def _settle_inputs(verb: str, pending: PendingGolden, before: Contents, left: Contents) -> Contents:
    """Remove the pending note with the last pending golden of a case. Return the files as they are left."""
    folder, name = Path(pending.folder), INPUTS + PENDING
    with _telling(verb, pending):
        others = [path.name for path in folder.iterdir() if path.name.startswith("golden.") and is_pending(path.name)]
        is_last = others == [name]
        if is_last:
            (folder / name).unlink()
    kept = before[_place(pending, name)] if name in others and not is_last else None
    return {_place(pending, one): content for one, content in {**left, name: kept}.items()}


def reject_golden(pending: PendingGolden, expected: bytes | None = None) -> SettledGolden:
    """Remove the pending golden, whatever is in place of the golden.

    Raises `DiskError` (PC0945) if this is not possible, or if the pending bytes are not those `expected` (None: any).
    """
    names = (pending.name + PENDING, INPUTS + PENDING)
    before = _read_all("read", pending, names)
    new = before[_place(pending, pending.name + PENDING)]
    if new is None or new != (expected if expected is not None else new):
        raise _refuse("reject", pending, _GONE if new is None else _CHANGED)
    with _telling("reject", pending):
        _drop(pending, new)
    return SettledGolden(pending, before, _settle_inputs("reject", pending, before, {names[0]: None}))


def undo_settled(settled: SettledGolden) -> None:
    """Restore the files to their content before.

    Raises `DiskError` (PC0945) if this is not possible, or if a file has changed since: what somebody else wrote is not overwritten.
    """
    pending = settled.pending
    if _read_all("take back", pending, [Path(path).name for path in settled.after]) != settled.after:
        raise _refuse("take back", pending, _CHANGED)
    with _telling("take back", pending):
        for path, content in settled.before.items():
            if content is not None:
                _write(Path(path), content)
            else:
                Path(path).unlink(missing_ok=True)
