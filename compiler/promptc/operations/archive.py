"""Archive files: what was taken out of a state, written before the state is replaced (`write_archive`), and read again (`read_archive`)."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError, show_reason
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.atomic import replace_file, sync_folder
from promptc.files.lock import hold_lock
from promptc.files.reading import TooLongError, read_file
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.model.pack import PackModel
from promptc.operations.results import KEPT, MAX_ARCHIVE_BYTES, Archive, Archived, OperationResult
from promptc.text.json import (
    MISSING,
    find_list,
    join_pointer,
    read_at,
    render_canonical_json,
    render_digest,
    render_json_line,
    split_pointer,
)

_LENGTH = 16
_UNLIKE = "its content does not match the digest in its name"
_TEXTS = ("pack", "version", "operation", "pointer", "state", "file")


@frozen
class Written:
    """A file, and whether it is new."""

    path: Path
    is_new: bool


def write_archive(folder: Path, archived: Archived, *, like: Path | None, wait: float) -> Written:
    """Write `<folder>/<name>.<sha256 of the file>.jsonl`: a header, then one element a line as JSON, with keys in their order.

    When this returns, the whole file is on the disk. A file of that name with the same content is written again. The folder is created if
    needed, and has a lock of its own, since several states may share it. The file gets the mode of the state's file, `like`. Raises
    `DiskError` if a file of that name has other content (PC0825), or if the file cannot be written (PC0824).
    """
    data = render_archive(archived)
    path = folder / _name(archived, data)
    try:
        _make_folder(folder)
        with hold_lock(folder / ".lock", wait=wait, purpose=archived.operation, shown=str(folder)):
            return _write(path, data, like)
    except OSError as wrong:
        message = f"cannot write the archive `{path}`: {show_reason(wrong)}"
        raise DiskError(
            [Diagnostic("PC0824", message, help="name another folder with `--archive DIR`; the state was not changed")]
        ) from wrong


def name_archive(archived: Archived) -> str:
    """Return the name of the archive's file."""
    return _name(archived, render_archive(archived))


def render_archive(archived: Archived) -> bytes:
    """Return the file's bytes, which are equal for equal content."""
    header = {
        "promptc": 1,
        "pack": archived.pack,
        "version": archived.version,
        "operation": archived.operation,
        "pointer": archived.pointer,
        "length": archived.length,
        "places": [list(place) for place in archived.places],
        "kept": list(archived.kept),
        "state": archived.state,
        "file": archived.file,
        **({"replaced": archived.replaced} if archived.replaced else {}),
        **({"appended": list(archived.appended)} if archived.appended else {}),
        **({"absent": archived.absent} if archived.absent else {}),
    }
    lines = [render_canonical_json(header), *map(render_json_line, archived.elements)]
    return "".join(f"{line}\n" for line in lines).encode()


def _name(archived: Archived, data: bytes) -> str:
    return f"{archived.name}.{render_digest(data).removeprefix('sha256:')}.jsonl"


def _make_folder(folder: Path) -> None:
    """Create a folder and those above it, each synced to the disk before anything is put in it."""
    if folder.is_dir():
        return
    above = folder.absolute().parent
    _make_folder(above)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"`{folder}` is a file, not a folder") from None
    sync_folder(above)


def _write(path: Path, data: bytes, like: Path | None) -> Written:
    """Write the file, even if it exists already: a power cut might still lose the existing one."""
    try:
        is_same = read_file(path, MAX_ARCHIVE_BYTES) == data
    except FileNotFoundError:
        replace_file(path, data, like=like)
        return Written(path, True)
    except TooLongError:
        is_same = False
    if not is_same:
        raise _refuse(path, _UNLIKE, "restore it from a backup, or move it away")
    replace_file(path, data, like=path)
    return Written(path, False)


def read_archive(path: Path) -> Archived:
    """Return what `write_archive` wrote to a file.

    Raises `DiskError` for a file that cannot be read (PC0724), and for a file that is damaged (PC0825): its content does not match its
    name, or is not an archive.
    """
    try:
        data = read_file(path, MAX_ARCHIVE_BYTES)
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        raise DiskError(
            [Diagnostic("PC0724", f"cannot read the archive {path}: {reason}", help="name a file that `apply` wrote")]
        ) from wrong
    name, digest = _split_name(path)
    if render_digest(data) != f"sha256:{digest}":
        raise _refuse(path, _UNLIKE)
    read = _read(name, data)
    if read is None:
        raise _refuse(path, "it is not an archive of promptc")
    return read


def _split_name(path: Path) -> tuple[str, str]:
    """Split `transcript.<sha256>.jsonl` into its name and its digest."""
    stem, _, end = path.name.rpartition(".")
    name, _, digest = stem.rpartition(".")
    if end != "jsonl" or not name or len(digest) != 64:
        raise _refuse(path, "its name is not NAME.SHA256.jsonl")
    return name, digest


def _refuse(path: Path, why: str, help: str = "restore it from a backup") -> DiskError:
    return DiskError([Diagnostic("PC0825", f"the archive `{path}` is damaged: {why}", help=help)])


def _read(name: str, data: bytes) -> Archived | None:
    import json

    try:
        header, *elements = [json.loads(line) for line in data.decode().split("\n")[:-1]]
        render_canonical_json(elements).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or _read_number(header.get("promptc")) != 1:
        return None
    places, kept, length = _read_places(header.get("places")), header.get("kept"), _read_number(header.get("length"))
    if places is None or length is None or length > MAX_STATE_BYTES or not isinstance(kept, list):
        return None
    texts: dict[str, Any] = {key: header.get(key) for key in _TEXTS} | {key: header.get(key, "") for key in ("replaced", "absent")}
    appended = header.get("appended", [])
    if not isinstance(appended, list) or not all(isinstance(one, str) for one in (*texts.values(), *kept, *appended)):
        return None
    gone = sum(stop - start for start, stop in places)
    if gone != len(elements) or (places and places[-1][1] > length) or len(kept) > length - gone:
        return None
    if not _is_sound(texts, length, places, kept, appended):
        return None
    return Archived(name=name, length=length, places=places, kept=tuple(kept), elements=tuple(elements), appended=tuple(appended), **texts)


def _is_sound(texts: dict[str, Any], length: int, places: tuple[tuple[int, int], ...], kept: list[str], appended: list[str]) -> bool:
    """Return whether the header is consistent about a value, about what was appended and about what was absent."""
    pointer, absent = texts["pointer"], texts["absent"]
    if absent and not f"{pointer}/".startswith(f"{absent}/"):
        return False
    if appended:
        return not places and not texts["replaced"]
    was_absent = (length, places, kept) == (0, (), []) and bool(absent)
    return not texts["replaced"] or was_absent or ((length, places, kept) == (1, ((0, 1),), []) and not absent)


def _read_number(given: Any) -> int | None:
    """Return a whole number, or None for anything else (including `true`, which is an int in Python)."""
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _read_places(given: Any) -> tuple[tuple[int, int], ...] | None:
    """Return half-open ranges that rise and do not overlap, or None for anything else."""
    places: list[tuple[int, int]] = []
    for place in given if isinstance(given, list) else [None]:
        if not isinstance(place, list) or len(place) != 2:
            return None
        start, stop = map(_read_number, place)
        if start is None or stop is None or not (places[-1][1] if places else 0) <= start < stop:
            return None
        places.append((start, stop))
    return tuple(places)


def list_archives(folder: Path) -> tuple[Path, ...]:
    """Return the paths of the archive files in the folder, the newest first (by modification time, then by name). Empty without a folder.

    Raises `DiskError` (PC0724) if the folder cannot be read.
    """
    try:
        with os.scandir(folder) as found:
            named = [one for one in found if one.name.endswith(".jsonl")]
            files = [(-one.stat(follow_symlinks=False).st_mtime_ns, Path(one.path)) for one in named]
    except FileNotFoundError:
        return ()
    except OSError as wrong:
        message = f"cannot read the archives in {folder}: {show_reason(wrong)}"
        raise DiskError([Diagnostic("PC0724", message, help="name the folder: `--archive DIR`")]) from wrong
    return tuple([path for _, path in sorted(files)])


def describe_archive(archive: Archive, done: OperationResult, *, pack: PackModel, before: Any, file: str) -> Archived:
    """Return everything that a restore needs. `before` is the state before the operation, `file` the name of its file."""
    left = read_at(done.value, split_pointer(archive.pointer)) if archive.is_value else None
    kept = () if archive.is_value else _list_kept(archive, find_list(before, archive.pointer), find_list(done.value, archive.pointer))
    is_new = bool(archive.appended) or (archive.is_value and not archive.elements)
    return Archived(
        name=archive.name,
        pack=pack.name,
        version=pack.version,
        operation=done.operation,
        pointer=archive.pointer,
        length=archive.length,
        places=archive.places,
        kept=tuple([mark_element(value) for value in kept[:KEPT]]),
        state=done.before,
        file=name_source(file),
        elements=archive.elements,
        replaced=mark_element(left if left is not MISSING else None) if archive.is_value else "",
        appended=tuple([mark_element(value) for value in archive.appended]),
        absent=_name_absent(before, archive) if is_new else "",
    )


def _name_absent(before: Any, archive: Archive) -> str:
    """Return the pointer of the outermost part of the path that the state did not have.

    For a value that an earlier edit of the operation removed, this is its own pointer.
    """
    way = split_pointer(archive.pointer)
    missing = (join_pointer(way[:depth]) for depth in range(1, len(way) + 1) if read_at(before, way[:depth]) is MISSING)
    return next(missing, archive.pointer if archive.is_value else "")


def _list_kept(archive: Archive, before: list[Any] | None, after: list[Any] | None) -> Sequence[Any]:
    """Return what stayed in the list before all edits or, if earlier edits had changed it, after all of them."""
    if archive.appended:
        return archive.stood
    if before is not None and len(before) == archive.length:
        gone = {at for start, stop in archive.places for at in range(start, stop)}
        if tuple(before[at] for at in sorted(gone)) == archive.elements:
            return [value for at, value in enumerate(before) if at not in gone]
    return (after or [])[: archive.length - len(archive.elements)]


def mark_element(value: Any) -> str:
    """Return 16 hexadecimal digits of the sha256 of the value's canonical JSON: equal for equal values and, in practice, for no others."""
    return render_digest(render_canonical_json(value).encode()).removeprefix("sha256:")[:_LENGTH]


def name_source(file: str) -> str:
    """Return a state's file name as archives contain it: bytes that are not UTF-8 are escaped (`b\\udcff.json`)."""
    return file.encode("utf-8", "backslashreplace").decode()
