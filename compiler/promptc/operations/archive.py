"""Archive files: what was taken out of a state, kept before the state is replaced."""

import errno
from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.frozen import frozen
from promptc.files.atomic import replace_file, sync_folder
from promptc.files.lock import hold_lock
from promptc.files.reading import TooLongError, read_file
from promptc.operations.archived import MAX_ARCHIVE_BYTES, Archived
from promptc.text.json import render_canonical_json, render_digest, render_json_line


@frozen
class Written:
    """A file, and whether it was not there before."""

    path: Path
    is_new: bool


def write_archive(folder: Path, archived: Archived, *, like: Path | None, wait: float) -> Written:
    """Writes `<folder>/<name>.<sha256 of the file>.jsonl`: a header, then an element a line as JSON, keys as they stood. When
    this returns, the file is on the disk, whole.

    A file of that name that is the same is left as it is; one that is not is PC0825, what cannot be written PC0824 (`DiskError`). The
    folder is made if need be and has a lock of its own, since several states may share it. The file's mode is that of the state's, `like`.
    """
    data = render_archive(archived)
    path = folder / _name(archived, data)
    try:
        _make_folder(folder)
        with hold_lock(folder / ".lock", wait=wait, purpose=archived.operation, shown=str(folder)):
            return _write(path, data, like)
    except OSError as wrong:
        message = f"cannot write the archive `{path}`: {wrong.strerror or wrong}"
        raise DiskError([Diagnostic("PC0824", message, help="the state was not changed; name another folder: `--archive DIR`")]) from wrong


def name_archive(archived: Archived) -> str:
    """The name of its file."""
    return _name(archived, render_archive(archived))


def render_archive(archived: Archived) -> bytes:
    """The file's bytes, the same for the same content."""
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
    }
    lines = [render_canonical_json(header), *map(render_json_line, archived.elements)]
    return "".join(f"{line}\n" for line in lines).encode()


def _name(archived: Archived, data: bytes) -> str:
    return f"{archived.name}.{render_digest(data).removeprefix('sha256:')}.jsonl"


def _write(path: Path, data: bytes, like: Path | None) -> Written:
    """One that is there already is written again: nobody knows whether a power cut would take it."""
    try:
        is_same = read_file(path, MAX_ARCHIVE_BYTES) == data
    except FileNotFoundError:
        replace_file(path, data, like=like)
        return Written(path, True)
    except TooLongError:
        is_same = False
    if not is_same:
        help = "move it away; it is not what it was when it was written"
        raise DiskError([Diagnostic("PC0825", f"the archive `{path}` is damaged: its content is not what its name says", help=help)])
    replace_file(path, data, like=path)
    return Written(path, False)


def _make_folder(folder: Path) -> None:
    """With the folders above it, each on the disk before anything stands in it."""
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
