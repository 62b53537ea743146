"""Bounded reads of files: `read_file` and `read_inside` read what something else named, `read_given` what the user passed.

A file that something else named (a pack, a case, a naming rule) must be a regular file, and no link may lead to it. Reading it never
blocks, and stops at its limit. A path that the user passed is opened as it is.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from _blake2 import blake2b
from collections.abc import Callable
from functools import wraps
from os import PathLike

from promptc.diag.findings import Span, fail
from promptc.diag.typed import IO, Any, TypeVar

AnyPath = str | PathLike[str]
_GIVEN = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FILE = _GIVEN | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_PART = 1 << 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MARK = "\ufeff"
_EXCERPT = 400
MAX_PACK_FILE = 4_000_000
"""The size of the largest file that a pack may name, in bytes."""

_REFUSED = r'[\x00-\x1f\x7f\ud800-\udfff\\:<>|?*"]'
_DEVICE = r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$"
_LONGEST = 400
_LONGEST_NAME = 255


Look = tuple[str, tuple[Any, ...], Any]
"""A look at the disk: the name of the function of this module, its arguments, and what it saw.

That is a digest of content, the name of an error, or else the value.
"""

_LOOKS: list[dict[Look, None]] = []
_Looking = TypeVar("_Looking")


class IrregularError(OSError):
    """Raised for something that is not a file: a folder, a pipe, a device, a socket."""


class LinkError(OSError):
    """Raised for a link in the path of a file, or in its place."""


class TooLongError(OSError):
    """Raised for a file of more bytes than its limit."""


def note_looks(work: Callable[[], _Looking]) -> tuple[_Looking, tuple[Look, ...]]:
    """Return the result of `work`, and every look that it took at files and folders that are not promptc's own.

    Nothing else of the disk can affect the result.
    """
    looks: dict[Look, None] = {}
    _LOOKS.append(looks)
    try:
        return work(), tuple(looks)
    finally:
        _LOOKS[:] = [one for one in _LOOKS if one is not looks]


def leave_looks(work: Callable[[], _Looking]) -> _Looking:
    """Return the result of `work`, without noting its looks: they are at promptc's own files, or at files that will soon be gone."""
    held, _LOOKS[:] = _LOOKS[:], []
    try:
        return work()
    finally:
        _LOOKS[:] = held


def note_beyond() -> None:
    """Note that a result depends on something that no look covers, so nobody later assumes that nothing has changed."""
    _note(("", (), None))


def is_still(look: Look) -> bool:
    """Return whether the look would see the same now."""
    name, given, seen = look
    if not name:
        return False
    try:
        found = _describe(globals()[name](*given))
    except OSError as wrong:
        found = type(wrong).__name__
    return bool(found == seen)


def name_look(look: Look) -> str:
    """Return the path that was looked at."""
    name, given, _ = look
    parts = [one for one in given if isinstance(one, str)]
    return os.path.join(*(parts[:1] if name == list_stamps.__name__ else parts))


def _noted(look: Callable[..., _Looking]) -> Callable[..., _Looking]:
    """Return a function that notes its looks, except for calls with keyword arguments, which are for promptc's own files."""

    @wraps(look)
    def looking(*given: Any, **named: Any) -> _Looking:
        if not _LOOKS:
            return look(*given, **named)
        if named:
            return leave_looks(lambda: look(*given, **named))
        paths = tuple(one if isinstance(one, int) else os.fspath(one) for one in given)
        try:
            found = look(*given)
        except OSError as wrong:
            _note((look.__name__, paths, type(wrong).__name__))
            raise
        _note((look.__name__, paths, _describe(found)))
        return found

    return looking


def _note(look: Look) -> None:
    for looks in _LOOKS:
        looks[look] = None


def _describe(found: Any) -> Any:
    return blake2b(found, digest_size=32).digest() if isinstance(found, bytes) else found


@_noted
def list_folder(folder: AnyPath) -> tuple[str, ...]:
    """Return the names in a folder, sorted. Raises `OSError`."""
    return tuple(sorted(os.listdir(folder)))


@_noted
def read_file(path: AnyPath, limit: int, *, admit: Callable[[os.stat_result], bool] | None = None) -> bytes:
    """Read the regular file at `path`, which must not be a link; the folders above it may be. Never blocks.

    Raises `OSError`: `LinkError`, `IrregularError`, `TooLongError` for more than `limit` bytes, `PermissionError` for a file that `admit`
    refuses.
    """
    try:
        opened = os.open(path, _FILE)
    except OSError as wrong:
        raise _explain(path, "", wrong) from None
    return _read(opened, path, limit, admit)


@_noted
def read_inside(folder: AnyPath, relative: str, limit: int) -> bytes:
    """Read the regular file `relative` (names joined by `/`) inside `folder`. No part of `relative` may be a link.

    Raises as `read_file` does. Names such as `..` are for the caller to refuse (`check_pack_path`).
    """
    try:
        opened = _open_stepwise(folder, relative) if _STEPWISE else _open_checked(folder, relative)
    except OSError as wrong:
        raise _explain(folder, relative, wrong) from None
    return _read(opened, relative, limit, None)


@_noted
def read_given(path: AnyPath, limit: int) -> bytes:
    """Read a file whose path the user passed. A link is followed, and a pipe is read to its end.

    Raises `TooLongError` for more than `limit` bytes, and reads no more than one beyond them.
    """
    content = read_beginning(path, limit + 1)
    if len(content) > limit:
        raise _say_too_long(path, limit)
    return content


def read_beginning(path: AnyPath, size: int) -> bytes:
    """Read at most the first `size` bytes of a file whose path the user passed."""
    opened = os.open(path, _GIVEN)
    try:
        return read_opened(opened, size)
    finally:
        os.close(opened)


def open_given(path: AnyPath) -> IO[bytes]:
    """Open a file or pipe whose path the user passed, to read it part by part. Raises `OSError`."""
    return os.fdopen(os.open(path, _GIVEN), "rb")


def read_opened(opened: int, left: int, size: int = 0) -> bytes:
    """Read at most `left` bytes of an open file or pipe, up to its end. Memory is only allocated for what is there.

    `size` is the expected size, or 0. The first read requests one byte more, so a file of that size is usually read in one call.
    """
    whole = os.read(opened, min(left, size + 1, sys.maxsize) if size else min(left, _PART))
    if len(whole) == size < left:
        return whole
    parts = [whole]
    left -= len(whole)
    while parts[-1] and left and (part := os.read(opened, min(left, _PART))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def follow_link(path: str) -> str:
    """Return the file at a path that the user passed: the target of a link, or else the path itself."""
    return os.path.realpath(path) if stat.S_ISLNK(read_mode(path)) else path


def check_pack_path(relative: str) -> str | None:
    """Return why `relative` is not a plain path inside a pack, or None if it is one.

    A plain path consists of names joined by `/`. It has no leading `/` or `~`, no `.` or `..`, and nothing that some file systems refuse or
    rename.
    """
    if not relative:
        return "the path is empty"
    if len(relative) > _LONGEST:
        return f"the path is {len(relative)} characters long; at most {_LONGEST} are read"
    wrong = re.search(_REFUSED, relative)
    if wrong:
        return _describe_fault(wrong.group())
    if relative.startswith(("/", "~")):
        return "the path is not relative to the pack"
    return next(filter(None, map(_check_name, relative.split("/"))), None)


def _describe_fault(character: str) -> str:
    if character == "\\":
        return "the path has a backslash; folders are joined by `/`"
    if character == ":":
        return "the path has a `:`, so it is a URL or a drive, or no file on some machines"
    return f"the path has the character {character!a}"


def _check_name(name: str) -> str | None:
    if name in ("", "."):
        return f"the path is not in its shortest form: it has {'an empty name' if not name else 'a `.`'} in it"
    if name == "..":
        return "the path leaves the pack"
    if len(name.encode()) > _LONGEST_NAME:
        return f"a name in it has more than {_LONGEST_NAME} bytes"
    if name[-1] in ". ":
        return f"the name `{name}` ends in a dot or a space, which some systems drop"
    if re.match(_DEVICE, name):
        return f"`{name}` is a device on some systems"
    return None


def find_link(folder: AnyPath, relative: str) -> str | None:
    """Return the first part of the path that is a link, or None."""
    names = relative.split("/")
    parts = ("/".join(names[: stop + 1]) for stop in range(len(names)))
    return next((part for part in parts if stat.S_ISLNK(read_mode(folder, part))), None)


@_noted
def read_mode(folder: AnyPath, relative: str = "") -> int:
    """Return the mode of `lstat`, which does not follow links, or 0 if it cannot be read."""
    try:
        return os.lstat(f"{os.fspath(folder)}/{relative}" if relative else folder).st_mode
    except (OSError, ValueError):
        return 0


def _open_stepwise(folder: AnyPath, relative: str) -> int:
    """Open the file name by name from the folder, so a link that appears in the meantime is not followed either."""
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


def _open_checked(folder: AnyPath, relative: str) -> int:
    """Open the file on systems that cannot open relative to an open folder."""
    link = find_link(folder, relative)
    if link:
        raise LinkError(0, f"`{link}` is a symbolic link, and promptc does not follow links", relative)
    return os.open(f"{os.fspath(folder)}/{relative}", _FILE)


def _explain(folder: AnyPath, relative: str, wrong: OSError) -> OSError:
    """Return an error that says what is there, since the system's own error for a link or a socket does not."""
    link = find_link(folder, relative) if relative else None
    if link or (not relative and stat.S_ISLNK(read_mode(folder))):
        return LinkError(0, f"{f'`{link}`' if link else 'it'} is a symbolic link, and promptc does not follow links", relative or folder)
    mode = read_mode(folder, relative)
    if mode and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return _say_irregular(relative or folder, mode)
    return wrong


def _read(opened: int, path: AnyPath, limit: int, admit: Callable[[os.stat_result], bool] | None) -> bytes:
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            raise _say_irregular(path, found.st_mode)
        if admit is not None and not admit(found):
            raise PermissionError(0, "it is not the user's own", path)
        content = read_opened(opened, limit + 1, found.st_size) if found.st_size <= limit else None
        if content is None or len(content) > limit:
            raise _say_too_long(path, limit)
        return content
    finally:
        os.close(opened)


def _say_irregular(path: AnyPath, mode: int) -> OSError:
    if stat.S_ISDIR(mode):
        return IrregularError(0, "it is a folder, not a file", path)
    return IrregularError(0, "it is not a regular file", path)


def _say_too_long(path: AnyPath, limit: int) -> OSError:
    return TooLongError(0, f"it has more than {limit:,} bytes", path)


@_noted
def read_stamp(path: AnyPath) -> tuple[int, ...]:
    """Return a stamp of the file, which changes if the file is replaced or written to; empty if there is no file. Raises `OSError`."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@_noted
def list_stamps(folder: AnyPath, left_out: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return every file in a folder and its subfolders, with its stamp. The files of a folder, by name, come before its subfolders.

    Names that begin with a dot or end in `left_out`, links, and unreadable folders are skipped.
    """
    found: list[tuple[str, tuple[int, ...]]] = []
    for inside, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        paths = [f"{inside}{os.sep}{one}" for one in sorted(names) if not one.startswith(".") and not one.endswith(left_out)]
        found += [(path, read_stamp(path)) for path in paths if not stat.S_ISLNK(read_mode(path))]
    return tuple(found)


def decode_text(data: bytes, name: str) -> str:
    """Decode `data` as UTF-8, without a leading byte order mark, and with CRLF and CR as `\\n`.

    Raises `PromptcError` (PC0101) at the line and column of the first wrong byte. `name` is the file's name in it.
    """
    try:
        text = data.decode().removeprefix(_MARK)
    except UnicodeDecodeError as wrong:
        before = data[: wrong.start].decode(errors="replace").removeprefix(_MARK)
        raise fail("PC0101", _describe_bytes(data, wrong.start), _make_end(before, name), help="save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _describe_bytes(data: bytes, at: int) -> str:
    if data[:2] in _UTF16:
        return "the file is UTF-16, not UTF-8"
    return f"the file is not UTF-8: byte {at} is 0x{data[at]:02X}"


def _make_end(before: str, name: str) -> Span:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return Span(name, len(lines), len(lines[-1]) + 1, lines[-1][:_EXCERPT])
