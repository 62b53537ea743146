"""Folders, written whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from promptc.cli.write_file import write_file
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.findings import DiskError
from promptc.files.atomic import make_folder_beside


def write_folder(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Makes `folder` with the files, named by paths inside it that are joined by `/`; a reader sees all of it or nothing.

    A folder that is there and not empty is PC0176. With `force` files of the same names are replaced one by one, others stay.
    `DiskError` (PC0725) when it cannot be written.
    """
    try:
        if folder.is_dir() and any(folder.iterdir()):
            if not force:
                message = f"the folder `{folder}` is not empty"
                raise DiskError([Diagnostic("PC0176", message, help="name a new one, or `--force` to replace files of the same names")])
            for name, data in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_file(str(folder / name), data)
            return
        _make(folder, files)
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        raise DiskError([Diagnostic("PC0725", f"cannot write `{folder}`: {reason}", help="name a folder in one that is there")]) from wrong


def _make(folder: Path, files: Mapping[str, bytes]) -> None:
    """By way of a folder beside it."""
    with make_folder_beside(folder) as made:
        beside = Path(made)
        for name, data in files.items():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            (beside / name).write_bytes(data)
        beside.replace(folder)
