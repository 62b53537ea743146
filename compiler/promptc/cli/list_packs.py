"""The packs that a command line names."""

from collections.abc import Iterator, Sequence
from pathlib import Path

_MANIFEST = "pack.yaml"


def list_packs(paths: Sequence[str]) -> list[str]:
    """Packs as they are named; in place of a folder without a `pack.yaml` all folders under it that have one, sorted. Each once.

    Hidden folders are not looked into. A folder with no pack in it stays: loading it tells what is wrong.
    """
    return list(dict.fromkeys(pack for path in paths for pack in _find_packs(path)))


def _find_packs(path: str) -> list[str]:
    folder = Path(path)
    if not folder.is_dir() or (folder / _MANIFEST).is_file():
        return [path]
    return [str(one) for one in _iter_inner(folder)] or [path]


def _iter_inner(folder: Path) -> Iterator[Path]:
    for one in sorted(folder.iterdir()):
        if one.is_dir() and not one.is_symlink() and not one.name.startswith("."):
            if (one / _MANIFEST).is_file():
                yield one
            yield from _iter_inner(one)
