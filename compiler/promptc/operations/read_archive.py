"""Archive files, read back."""

from pathlib import Path

from promptc.diag.findings import Diagnostic, DiskError
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.operations.archived import MAX_ARCHIVE_BYTES, Archived
from promptc.text.json import render_canonical_json, render_digest

_TEXTS = ("pack", "version", "operation", "pointer", "state", "file")


def read_archive(path: Path) -> Archived:
    """What `write_archive` wrote there. `DiskError`: PC0724 for a file that cannot be read, PC0825 for one that is not as it was written:
    its content is not what its name says, or is no archive's.
    """
    try:
        data = read_file(path, MAX_ARCHIVE_BYTES)
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
        render_canonical_json(elements).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or _read_number(header.get("promptc")) != 1:
        return None
    places, kept, length = _read_places(header.get("places")), header.get("kept"), _read_number(header.get("length"))
    if places is None or length > MAX_STATE_BYTES or not isinstance(kept, list):
        return None
    texts: dict[str, Any] = {key: header.get(key) for key in _TEXTS} | {"replaced": header.get("replaced", "")}
    if not all(isinstance(one, str) for one in (*texts.values(), *kept)):
        return None
    gone = sum(stop - start for start, stop in places)
    if gone != len(elements) or (places and places[-1][1] > length) or len(kept) > length - gone:
        return None
    if texts["replaced"] and (length, places, kept) != (1, ((0, 1),), []):
        return None
    return Archived(name=name, length=length, places=places, kept=tuple(kept), elements=tuple(elements), **texts)


def _read_places(given: Any) -> tuple[tuple[int, int], ...] | None:
    """Half-open ranges that rise and lie apart; None for anything else."""
    places: list[tuple[int, int]] = []
    for place in given if isinstance(given, list) else [None]:
        if not isinstance(place, list) or len(place) != 2:
            return None
        start, stop = map(_read_number, place)
        if not (places[-1][1] if places else 0) <= start < stop:
            return None
        places.append((start, stop))
    return tuple(places)


def _read_number(given: Any) -> int:
    """A count; -1 for anything else (`true` too, with which Python counts)."""
    return given if isinstance(given, int) and not isinstance(given, bool) else -1


def _refuse(path: Path, why: str) -> DiskError:
    return DiskError([Diagnostic("PC0825", f"the archive `{path}` is damaged: {why}", help="take it from a backup")])
