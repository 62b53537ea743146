"""Files of a pack, read so that no path leaves its folder."""

import os
import stat
from pathlib import Path, PurePosixPath

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError, PromptcError, fail
from promptc.diag.span import Span
from promptc.diag.suggest import suggest
from promptc.frontend.decode import decode_text
from promptc.frontend.pack_path import check_pack_path

MAX_PACK_FILE = 4_000_000
"""Bytes of the longest file a pack may name."""

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


def read_text(folder: Path, relative: str, span: Span) -> str:
    """The text of a pack's file, as `decode_text` gives it; errors are those of `read_pack_file`, and PC0101 in the file itself."""
    return decode_text(read_pack_file(folder, relative, span), str(PurePosixPath(span.file).parent / relative))


def read_pack_file(folder: Path, relative: str, span: Span) -> bytes:
    """The bytes of the file `relative` inside `folder`; `span` is where the pack names it.

    The path is a plain relative one (PC0150), exists (PC0151), passes through no link (PC0152), is a regular file (PC0153)
    of at most MAX_PACK_FILE bytes (PC0102). A file that is there and cannot be read is a DiskError (PC0154).
    """
    wrong = check_pack_path(relative)
    if wrong:
        shown = relative[:200].encode("utf-8", "backslashreplace").decode()
        raise fail("PC0150", f"`{shown}`: {wrong}", span, help="name a file inside the pack's folder, such as `parts/rules.md.j2`")
    try:
        opened = _open_stepwise(folder, relative) if _STEPWISE else _open_checked(folder, relative)
        data = _read_regular(opened)
    except OSError as wrong_file:
        raise _explain(folder, relative, span, wrong_file) from None
    if data is None:
        raise fail("PC0153", f"`{relative}` is not a regular file", span)
    if len(data) > MAX_PACK_FILE:
        raise fail("PC0102", f"`{relative}` is larger than {MAX_PACK_FILE} bytes", span)
    return data


def _read_regular(opened: int) -> bytes | None:
    """At most one byte more than is allowed; None for what is no regular file."""
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        return None
    with os.fdopen(opened, "rb") as file:
        return file.read(MAX_PACK_FILE + 1)


def _open_stepwise(folder: Path, relative: str) -> int:
    """Opened name by name from the folder, so that a link put there meanwhile is not followed either."""
    *folders, name = relative.split("/")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in folders:
            inner = os.open(step, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)


def _open_checked(folder: Path, relative: str) -> int:
    """For systems that cannot open relative to an open folder."""
    if _find_link(folder, relative):
        raise OSError
    return os.open(folder / relative, _FILE)


def _find_link(folder: Path, relative: str) -> str:
    """The first part of the path that is a link, or `""`."""
    names = relative.split("/")
    parts = ("/".join(names[: stop + 1]) for stop in range(len(names)))
    return next((part for part in parts if stat.S_ISLNK(_find_mode(folder / part))), "")


def _find_mode(path: Path) -> int:
    """What kind of file stands there, links not followed; 0 when that cannot be told."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _explain(folder: Path, relative: str, span: Span, wrong: OSError) -> PromptcError:
    link = _find_link(folder, relative)
    if link:
        return fail("PC0152", f"`{relative}`: `{link}` is a link; links are not followed", span, help="put the file itself there")
    if stat.S_ISDIR(_find_mode(folder / relative)):
        return fail("PC0153", f"`{relative}` is a folder, not a file", span)
    if isinstance(wrong, (FileNotFoundError, NotADirectoryError)):
        return fail("PC0151", f"there is no file `{relative}` in the pack", span, help=suggest(relative, _iter_files(folder, relative)))
    reason = wrong.strerror or "it cannot be opened"
    return DiskError([Diagnostic("PC0154", f"`{relative}` cannot be read: {reason}", span)])


def _iter_files(folder: Path, relative: str) -> list[str]:
    """The files beside the one that was asked for."""
    inside, slash, _ = relative.rpartition("/")
    try:
        return sorted(f"{inside}{slash}{entry.name}" for entry in (folder / inside).iterdir() if entry.is_file())
    except OSError:
        return []
