"""Files, read within a bound: `read_file` and `read_inside` what something else named, `read_given` what the user passed.

A file that something else named (a pack, a case, a rule of names) is a regular file, and no link leads to it: it is never waited for, and
at most its limit is read. A path that the user passed is opened as it is.
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
"""Bytes of the longest file a pack may name."""

_REFUSED = r'[\x00-\x1f\x7f\ud800-\udfff\\:<>|?*"]'
_DEVICE = r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$"
_LONGEST = 400
_LONGEST_NAME = 255


Look = tuple[str, tuple[Any, ...], Any]
"""Which function of this module looked, with what, and what it saw: a digest of content, the name of an error, else the value."""

_LOOKS: list[dict[Look, None]] = []
_Looking = TypeVar("_Looking")


class IrregularError(OSError):
    """Something else is in place of a file: a folder, a pipe, a device, a socket."""


class LinkError(OSError):
    """There is a link on the way to a file, or in its place."""


class TooLongError(OSError):
    """A file has more bytes than may be read of it."""


def note_looks(work: Callable[[], _Looking]) -> tuple[_Looking, tuple[Look, ...]]:
    """What `work` gives, and every look at a stranger's file or folder that was taken meanwhile: all that it can know of the disk."""
    looks: dict[Look, None] = {}
    _LOOKS.append(looks)
    try:
        return work(), tuple(looks)
    finally:
        _LOOKS[:] = [one for one in _LOOKS if one is not looks]


def leave_looks(work: Callable[[], _Looking]) -> _Looking:
    """What `work` gives. None of its looks is noted: they are at what is promptc's own, or gone soon."""
    held, _LOOKS[:] = _LOOKS[:], []
    try:
        return work()
    finally:
        _LOOKS[:] = held


def note_beyond() -> None:
    """Notes that something is asked of which no look tells, so that nobody believes later that all is as it was."""
    _note(("", (), None))


def is_still(look: Look) -> bool:
    """Whether it sees the same now."""
    name, given, seen = look
    if not name:
        return False
    try:
        found = _describe(globals()[name](*given))
    except OSError as wrong:
        found = type(wrong).__name__
    return bool(found == seen)


def _noted(look: Callable[..., _Looking]) -> Callable[..., _Looking]:
    """A function whose looks are noted, wherever it is called; but for those that are named conditions: they are at promptc's own files."""

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
    """The names in a folder, sorted. Raises `OSError`."""
    return tuple(sorted(os.listdir(folder)))


@_noted
def read_file(path: AnyPath, limit: int, *, admit: Callable[[os.stat_result], bool] | None = None) -> bytes:
    """Reads the regular file at `path`, which is no link; the folders above it are whose they are.

    Raises `OSError`: `LinkError`, `IrregularError`, `TooLongError` for more than `limit` bytes, `PermissionError` for a file that `admit`
    refuses. Never waits.
    """
    try:
        opened = os.open(path, _FILE)
    except OSError as wrong:
        raise _explain(path, "", wrong) from None
    return _read(opened, path, limit, admit)


@_noted
def read_inside(folder: AnyPath, relative: str, limit: int) -> bytes:
    """Reads the regular file `relative` (names joined by `/`) inside `folder`, where no part of `relative` is a link.

    Raises as `read_file`. Names such as `..` are for the caller to refuse (`check_pack_path`).
    """
    try:
        opened = _open_stepwise(folder, relative) if _STEPWISE else _open_checked(folder, relative)
    except OSError as wrong:
        raise _explain(folder, relative, wrong) from None
    return _read(opened, relative, limit, None)


@_noted
def read_given(path: AnyPath, limit: int) -> bytes:
    """Reads a file whose path the user passed: a link is followed, and a pipe is read to its end. Raises `TooLongError` for more
    than `limit` bytes, of which no more are read.
    """
    content = read_beginning(path, limit + 1)
    if len(content) > limit:
        raise _say_too_long(path, limit)
    return content


def read_beginning(path: AnyPath, size: int) -> bytes:
    """Reads at most the first `size` bytes of a file whose path the user passed."""
    opened = os.open(path, _GIVEN)
    try:
        return read_opened(opened, size)
    finally:
        os.close(opened)


def open_given(path: AnyPath) -> IO[bytes]:
    """Opens a file or pipe whose path the user passed, for whoever reads it part by part. Raises `OSError`."""
    return os.fdopen(os.open(path, _GIVEN), "rb")


def read_opened(opened: int, left: int, size: int = 0) -> bytes:
    """Reads at most `left` bytes of an open file or pipe, up to its end; memory is taken only for what is there. What is `size` bytes long
    is mostly read at once: one more is asked for, to see that nothing follows.
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
    """The file that a path stands for which the user passed: where it leads if it is a link, else itself."""
    return os.path.realpath(path) if stat.S_ISLNK(read_mode(path)) else path


def check_pack_path(relative: str) -> str | None:
    """Says why `relative` is no plain path inside a pack; None when it is one.

    Plain: names joined by `/`, without a leading `/` or `~`, `.` or `..`, and without what some file systems refuse or rename.
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
    """The first part of the path that is a link, or None."""
    names = relative.split("/")
    parts = ("/".join(names[: stop + 1]) for stop in range(len(names)))
    return next((part for part in parts if stat.S_ISLNK(read_mode(folder, part))), None)


@_noted
def read_mode(folder: AnyPath, relative: str = "") -> int:
    """Reads what kind of file stands there, links not followed: the mode of `lstat`, 0 when that cannot be told."""
    try:
        return os.lstat(f"{os.fspath(folder)}/{relative}" if relative else folder).st_mode
    except (OSError, ValueError):
        return 0


def _open_stepwise(folder: AnyPath, relative: str) -> int:
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


def _open_checked(folder: AnyPath, relative: str) -> int:
    """For systems that cannot open relative to an open folder."""
    link = find_link(folder, relative)
    if link:
        raise LinkError(0, f"`{link}` is a symbolic link, and promptc does not follow links", relative)
    return os.open(f"{os.fspath(folder)}/{relative}", _FILE)


def _explain(folder: AnyPath, relative: str, wrong: OSError) -> OSError:
    """What the system says of a link or a socket tells nobody what it is."""
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
    """What is another where a file was replaced or written to; nothing where it is not there. Raises `OSError`."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@_noted
def list_stamps(folder: AnyPath, left_out: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Every file in a folder and in those below it, with its stamp, in the order of the paths. Names that begin with a dot or end in
    `left_out`, links, and folders that cannot be looked into are left out.
    """
    found: list[tuple[str, tuple[int, ...]]] = []
    for inside, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        paths = [f"{inside}{os.sep}{one}" for one in sorted(names) if not one.startswith(".") and not one.endswith(left_out)]
        found += [(path, read_stamp(path)) for path in paths if not stat.S_ISLNK(read_mode(path))]
    return tuple(found)


def decode_text(data: bytes, name: str) -> str:
    """Decodes `data` as UTF-8 without a leading byte order mark, with CRLF and CR as `\\n`.

    Anything else is PC0101 at the line and column of the first byte that is wrong.
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
