"""Files of a case, read so that nothing but a regular file is waited for, and no link is followed."""

from promptc.diag.findings import Span, fail
from promptc.files.reading import IrregularError, LinkError, TooLongError, read_file
from promptc.golden.case_error import CaseError, fail_case

MAX_PLAIN_BYTES = 96_000_000
"""Bytes of the longest file that is read of a case, a golden or a state."""

_LINK = "put the file itself there"


def read_plain(path: str, shown: str, limit: int, span: Span | None = None) -> bytes:
    """The bytes of the regular file at `path`, which findings call `shown`; `span` is where it is named.

    Raises `CaseError`: PC0902 where there is none, PC0903 where it is there and cannot be read; `PromptcError`: PC0102 where it has more
    than `limit` bytes.
    """
    try:
        return read_file(path, limit)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise fail_case("PC0902", f"there is no file `{shown}`", span, help="paths in a case are relative to its folder") from None
    except (IrregularError, LinkError) as wrong:
        help = _LINK if isinstance(wrong, LinkError) else ""
        raise fail_case("PC0902", f"`{shown}`: {wrong.strerror}", span, help=help) from None
    except TooLongError:
        raise fail("PC0102", f"the file has more than {limit:,} bytes; no more are read", Span(shown, 1, 1)) from None
    except OSError as wrong:
        raise refuse_reading(shown, wrong, span) from None


def refuse_reading(shown: str, wrong: OSError, span: Span | None = None) -> CaseError:
    """The error of a file that is there and cannot be read."""
    return fail_case("PC0903", f"cannot read `{shown}`: {wrong.strerror or wrong}", span)
