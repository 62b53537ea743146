"""Archive files, read back."""

from pathlib import Path

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError
from promptc.diag.typed import Any
from promptc.operations.archived import Archived
from promptc.text.digest import render_digest

_TEXTS = ("pack", "version", "operation", "pointer", "state", "file")


def read_archive(path: Path) -> Archived:
    """What `write_archive` wrote there. `DiskError`: PC0724 for a file that cannot be read, PC0825 for one that is not as it was written:
    its content is not what its name says, or is no archive's.
    """
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as wrong:
        reason = getattr(wrong, "strerror", None) or str(wrong)
        raise DiskError(
            [Diagnostic("PC0724", f"cannot read the archive {path}: {reason}", help="name a file that `apply` wrote")]
        ) from wrong
    name, digest = _split_name(path)
    if render_digest(data) != f"sha256:{digest}":
        raise _refuse(path, "its content is not what its name says")
    read = _read(name, data)
    if read is None:
        raise _refuse(path, "it is no archive of promptc")
    return read


def _split_name(path: Path) -> tuple[str, str]:
    """`transcript.<sha256>.jsonl` as its two parts."""
    stem, _, end = path.name.rpartition(".")
    name, _, digest = stem.rpartition(".")
    if end != "jsonl" or not name or len(digest) != 64:
        raise _refuse(path, "its name is not NAME.SHA256.jsonl")
    return name, digest


def _read(name: str, data: bytes) -> Archived | None:
    import json

    try:
        header, *elements = [json.loads(line) for line in data.decode().split("\n")[:-1]]
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or header.get("promptc") != 1 or not all(isinstance(header.get(key), str) for key in _TEXTS):
        return None
    places, kept, length = _read_places(header.get("places")), header.get("kept"), header.get("length")
    if places is None or not isinstance(kept, list) or not isinstance(length, int):
        return None
    gone = sum(stop - start for start, stop in places)
    if gone != len(elements) or (places and places[-1][1] > length) or len(kept) > length - gone:
        return None
    texts = {key: header[key] for key in _TEXTS}
    marks = tuple([str(mark) for mark in kept])
    return Archived(name=name, length=length, places=places, kept=marks, elements=tuple(elements), **texts)


def _read_places(given: Any) -> tuple[tuple[int, int], ...] | None:
    """Half-open ranges that rise and lie apart; None for anything else."""
    places: list[tuple[int, int]] = []
    for place in given if isinstance(given, list) else [None]:
        if not (isinstance(place, list) and len(place) == 2 and all(isinstance(at, int) for at in place)):
            return None
        start, stop = place
        if not (places[-1][1] if places else 0) <= start < stop:
            return None
        places.append((start, stop))
    return tuple(places)


def _refuse(path: Path, why: str) -> DiskError:
    return DiskError([Diagnostic("PC0825", f"the archive `{path}` is damaged: {why}", help="take it from a backup")])
