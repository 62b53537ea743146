"""Files of a pack, read by `read_pack_file` so that no path leaves its folder; and where the files lie that are shipped with promptc."""

from __future__ import annotations

import re
import stat
from os import PathLike
from pathlib import Path, PurePosixPath

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail, suggest
from promptc.files.reading import IrregularError, TooLongError, find_link, read_inside, read_mode

MAX_PACK_FILE = 4_000_000
"""Bytes of the longest file a pack may name."""

_REFUSED = re.compile(r'[\x00-\x1f\x7f\ud800-\udfff\\:<>|?*"]')
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$")
_LONGEST = 400
_LONGEST_NAME = 255
_PACKAGE = Path(__file__).resolve().parents[1]


def show_path(span: Span, relative: str) -> str:
    """Names a file for findings: its path beside that of the file that names it at `span`."""
    return str(PurePosixPath(span.file).parent / relative)


def read_pack_file(folder: str | PathLike[str], relative: str, span: Span) -> bytes:
    """Reads the file `relative` inside `folder`; `span` is where the pack names it.

    The path is a plain relative one (PC0150), exists (PC0151), passes through no link (PC0152), is a regular file (PC0153)
    of at most MAX_PACK_FILE bytes (PC0102). A file that is there and cannot be read is a DiskError (PC0154).
    """
    wrong = check_pack_path(relative)
    if wrong:
        shown = relative[:200].encode("utf-8", "backslashreplace").decode()
        raise fail("PC0150", f"`{shown}`: {wrong}", span, help="name a file inside the pack's folder, such as `parts/rules.md.j2`")
    try:
        return read_inside(folder, relative, MAX_PACK_FILE)
    except TooLongError:
        raise fail("PC0102", f"`{relative}` is larger than {MAX_PACK_FILE} bytes", span) from None
    except OSError as wrong_file:
        raise _explain_path(folder, relative, span, wrong_file) from None


def _explain_path(folder: str | PathLike[str], relative: str, span: Span, wrong: OSError) -> PromptcError:
    link = find_link(folder, relative)
    if link:
        return fail("PC0152", f"`{relative}`: `{link}` is a link; links are not followed", span, help="put the file itself there")
    if stat.S_ISDIR(read_mode(folder, relative)):
        return fail("PC0153", f"`{relative}` is a folder, not a file", span)
    if isinstance(wrong, IrregularError):
        return fail("PC0153", f"`{relative}` is not a regular file", span)
    if isinstance(wrong, (FileNotFoundError, NotADirectoryError)):
        return fail("PC0151", f"there is no file `{relative}` in the pack", span, help=suggest(relative, _iter_files(folder, relative)))
    reason = wrong.strerror or "it cannot be opened"
    return DiskError([Diagnostic("PC0154", f"`{relative}` cannot be read: {reason}", span)])


def _iter_files(folder: str | PathLike[str], relative: str) -> list[str]:
    """The files beside the one that was asked for that may be meant: of its kind, or of its name. Hidden ones are not."""
    inside, slash, name = relative.rpartition("/")
    stem, ending = name.partition(".")[0], PurePosixPath(name).suffix
    try:
        names = sorted(entry.name for entry in Path(folder, inside).iterdir() if entry.is_file())
    except OSError:
        return []
    meant = (one for one in names if PurePosixPath(one).suffix == ending or one.partition(".")[0] == stem)
    return [f"{inside}{slash}{one}" for one in meant if not one.startswith(".")]


def check_pack_path(relative: str) -> str | None:
    """Says why `relative` is no plain path inside a pack; None when it is one.

    Plain: names joined by `/`, without a leading `/` or `~`, `.` or `..`, and without what some file systems refuse or rename.
    """
    if not relative:
        return "the path is empty"
    if len(relative) > _LONGEST:
        return f"the path is {len(relative)} characters long; at most {_LONGEST} are read"
    wrong = _REFUSED.search(relative)
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
    if _DEVICE.match(name):
        return f"`{name}` is a device on some systems"
    return None


def name_shipped(*parts: str) -> Path:
    """Gives the path of a shipped file or folder, such as `name_shipped("schemas", "pack.schema.json")`.

    An installed promptc has them beside its modules, a checkout two levels up. Whether the file exists is not asked.
    """
    home = _PACKAGE if (_PACKAGE / "schemas").is_dir() else _PACKAGE.parents[1]
    return home.joinpath(*parts)
