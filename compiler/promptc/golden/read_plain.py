"""Files of a case, read so that nothing but a regular file is waited for or followed."""

import os
import stat
import sys

from promptc.diag.span import Span
from promptc.golden.case_error import CaseError, fail_case

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_PART = 1 << 20
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def read_plain(path: str, shown: str, limit: int, span: Span | None = None) -> bytes:
    """At most `limit` bytes and one more of the regular file at `path`, which findings call `shown`; `span` is where it is named.

    Raises `CaseError`: PC0902 where there is none, PC0903 where it is there and cannot be read.
    """
    try:
        return read_regular(path, limit)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise fail_case("PC0902", f"there is no file `{shown}`", span, help="paths in a case are relative to its folder") from None
    except IsADirectoryError:
        raise fail_case("PC0902", f"`{shown}` is a folder, not a file", span) from None
    except IrregularError:
        raise fail_case("PC0902", f"`{shown}` is no regular file", span) from None
    except OSError as wrong:
        raise refuse_reading(shown, wrong, span) from None


class IrregularError(OSError):
    """There is a pipe, a device or a socket in place of a file."""


def read_regular(path: str, limit: int = -1, *, follow: bool = True) -> bytes:
    """The bytes of a regular file; of `limit`, that many and one more. Raises `OSError` where it cannot be read, `IsADirectoryError` or
    `IrregularError` where it is none. Never waits. Without `follow` a link is none either, where the system can tell.
    """
    opened = os.open(path, _READ if follow else _READ | _NO_LINK)
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode):
            raise IsADirectoryError(path) if stat.S_ISDIR(found.st_mode) else IrregularError(path)
        return _read(opened, limit + 1 if limit >= 0 else sys.maxsize, found.st_size)
    finally:
        os.close(opened)


def _read(opened: int, left: int, size: int) -> bytes:
    """At most `left` bytes. What is `size` bytes long is read at once: that nothing follows is seen by asking for one more."""
    whole = os.read(opened, min(left, size + 1, _PART))
    if len(whole) == size < left:
        return whole
    parts = [whole]
    left -= len(whole)
    while left and (part := os.read(opened, min(left, _PART))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def refuse_reading(shown: str, wrong: OSError, span: Span | None = None) -> CaseError:
    """The error of a file that is there and cannot be read."""
    return fail_case("PC0903", f"cannot read `{shown}`: {wrong.strerror or wrong}", span)
