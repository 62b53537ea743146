"""The files of a pack, which `read_pack_file` reads without leaving its folder, and the location of the files shipped with promptc."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from os import PathLike
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, Span, fail, suggest
from promptc.files.reading import MAX_PACK_FILE, IrregularError, TooLongError, check_pack_path, find_link, read_inside, read_mode

_PACKAGE = Path(__file__).resolve().parents[1]

Held = Mapping[str, bytes]
"""Files that somebody is writing, such as in an editor: the content that each will have, by `name_held`."""


def resolve_path(path: str | PathLike[str]) -> Path:
    """Return the absolute path without links.

    Links in a circle are left as they are. `Path.resolve` of Python 3.11 and 3.12 raises `RuntimeError` for them.
    """
    return Path(os.path.realpath(path))


def show_path(span: Span, relative: str) -> str:
    """Return the name of a file for findings: `relative`, in the folder of the file that names it at `span`."""
    return str(PurePosixPath(span.file).parent / relative)


def name_held(path: str | PathLike[str]) -> str:
    """Return the name of a file in `Held`: its absolute path in its shortest form. Links are not followed."""
    return os.path.normcase(os.path.abspath(path))


def find_held(held: Held, path: str | PathLike[str], limit: int) -> bytes | None:
    """Return the held content of the file at `path`, or None if there is none, or if `path` is a link.

    What is wrong with a link is for the read from the disk to report. Raises `TooLongError` for more than `limit` bytes.
    """
    content = held.get(name_held(path)) if held else None
    if content is None or stat.S_ISLNK(read_mode(path)):
        return None
    if len(content) > limit:
        raise TooLongError
    return content


def read_pack_file(folder: str | PathLike[str], relative: str, span: Span, held: Held = MappingProxyType({})) -> bytes:
    """Read the file `relative` inside `folder`. Content in `held` comes before that on the disk.

    `span` is where the pack names the file. Raises `PromptcError` unless the path is a plain relative one (PC0150), exists (PC0151), passes
    through no link (PC0152), and is a regular file (PC0153) of at most MAX_PACK_FILE bytes (PC0102). Raises `DiskError` for a file that
    exists and cannot be read (PC0154).
    """
    wrong = check_pack_path(relative)
    if wrong:
        shown = relative[:200].encode("utf-8", "backslashreplace").decode()
        name = relative.rpartition("/")[2]
        example = name if name in _iter_files(folder, name) else "parts/rules.md.j2"
        raise fail("PC0150", f"`{shown}`: {wrong}", span, help=f"name a file inside the pack's folder, such as `{example}`")
    try:
        is_plain = held and find_link(folder, relative) is None
        content = find_held(held, f"{os.fspath(folder)}/{relative}", MAX_PACK_FILE) if is_plain else None
        return content if content is not None else read_inside(folder, relative, MAX_PACK_FILE)
    except TooLongError:
        raise fail("PC0102", f"`{relative}` is larger than {MAX_PACK_FILE} bytes", span, help="split it into several files") from None
    except OSError as wrong_file:
        raise _explain_path(folder, relative, span, wrong_file) from None


def _explain_path(folder: str | PathLike[str], relative: str, span: Span, wrong: OSError) -> PromptcError:
    link = find_link(folder, relative)
    if link:
        return fail(
            "PC0152",
            f"`{relative}`: `{link}` is a symbolic link, and promptc does not follow links",
            span,
            help="replace the link with a copy of the file",
        )
    if stat.S_ISDIR(read_mode(folder, relative)):
        return fail("PC0153", f"`{relative}` is a folder, not a file", span, help="name a file in the folder, not the folder itself")
    if isinstance(wrong, IrregularError):
        return fail("PC0153", f"`{relative}` is a pipe or a device, not a file", span, help="name a file")
    if isinstance(wrong, (FileNotFoundError, NotADirectoryError)):
        inline = "write a template under `text`; `template` takes the name of a file" if "{{" in relative else ""
        near = _iter_files(folder, relative)
        moved = f"did you mean `{near[0]}`?" if near == [PurePosixPath(relative).name] and "/" in relative else ""
        help = inline or moved or suggest(relative, near) or "add the file, or correct the path, which begins in the pack's folder"
        return fail("PC0151", f"there is no file `{relative}` in the pack", span, help=help)
    reason = wrong.strerror or "it cannot be opened"
    return DiskError([Diagnostic("PC0154", f"`{relative}` cannot be read: {reason}", span, "let your user read the file, or name another")])


def _iter_files(folder: str | PathLike[str], relative: str) -> list[str]:
    """Return the files next to the requested one that may be meant: those of its kind or of its name, without hidden ones."""
    inside, slash, name = relative.rpartition("/")
    stem, ending = name.partition(".")[0], PurePosixPath(name).suffix
    try:
        names = sorted(entry.name for entry in Path(folder, inside).iterdir() if entry.is_file())
    except OSError:
        return [name] if inside and Path(folder, name).is_file() else []
    meant = (one for one in names if PurePosixPath(one).suffix == ending or one.partition(".")[0] == stem)
    return [f"{inside}{slash}{one}" for one in meant if not one.startswith(".")]


def name_shipped(*parts: str) -> Path:
    """Return the path of a shipped file or folder, such as `name_shipped("schemas", "pack.schema.json")`.

    An installed promptc has them next to its modules, a checkout two levels up. The path need not exist.
    """
    home = _PACKAGE if (_PACKAGE / "schemas").is_dir() else _PACKAGE.parents[1]
    return home.joinpath(*parts)
