"""Files of a case, read so that nothing but a regular file is waited for or followed."""

import os
import stat

from promptc.diag.span import Span
from promptc.golden.case_error import CaseError, fail_case

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_plain(path: str, shown: str, limit: int, span: Span | None = None) -> bytes:
    """At most `limit` bytes and one more of the regular file at `path`, which findings call `shown`; `span` is where it is named.

    Raises `CaseError`: PC0902 where there is none, PC0903 where it is there and cannot be read.
    """
    try:
        opened = os.open(path, _READ)
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise fail_case("PC0902", f"`{shown}` is no regular file", span)
            return file.read(limit + 1)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise fail_case("PC0902", f"there is no file `{shown}`", span, help="paths in a case are relative to its folder") from None
    except IsADirectoryError:
        raise fail_case("PC0902", f"`{shown}` is a folder, not a file", span) from None
    except OSError as wrong:
        raise refuse_reading(shown, wrong, span) from None


def refuse_reading(shown: str, wrong: OSError, span: Span | None = None) -> CaseError:
    """The error of a file that is there and cannot be read."""
    return fail_case("PC0903", f"cannot read `{shown}`: {wrong.strerror or wrong}", span)
