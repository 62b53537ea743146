"""Files that are watched while somebody changes them. Only this module asks watchfiles.

`wait_for_change` waits until a look that a run took at the disk (`promptc.files.reading.note_looks`) would see something else.
`iter_events` tells for as long as it is asked whether something has happened to what was looked at.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from watchfiles import watch

from promptc.diag.findings import Diagnostic, DiskError
from promptc.files.reading import Look, is_still, list_stamps

_DEBOUNCE, _STEP, _LOOK = 200, 20, 100
"""Milliseconds in which changes are gathered at most, between two looks, and in which nothing happens before the end is looked for."""

_STAMPS = "list_stamps"


def iter_events(looks: Sequence[Look], ended: threading.Event) -> Iterator[bool]:
    """Whether something has happened to what was looked at, or a short while has passed. Until `ended`."""
    if not looks:
        ended.wait(_LOOK / 1000)
        yield False
        return
    try:
        yield from _Watched(looks).iter_changes(ended)
    except FileNotFoundError:
        yield True  # a folder has gone before it was watched


def list_watched(looks: Sequence[Look]) -> list[str]:
    """The files that were looked at, sorted. What is not there is looked for again, but is no file."""
    stamped = [path for name, _, seen in looks if name == _STAMPS and not isinstance(seen, str) for path, _ in seen]
    return sorted({str(path) for path in (*map(Path, stamped), *(_read_path(one) for one in looks if one[0])) if path.is_file()})


def wait_for_change(looks: Sequence[Look]) -> list[str]:
    """Waits until something that was looked at is another, and gives the absolute paths, sorted. What changed before the call counts, too.

    Folders are watched, so a file that is replaced by another is followed. Raises `KeyboardInterrupt`, and `DiskError` (PC0739) where the
    system watches no more.
    """
    known = [one for one in looks if one[0]]
    while True:
        watched = _Watched(known)
        try:
            for at, changes in enumerate(watched.iter_changes()):
                if changes or at == 0:
                    changed = sorted({str(path.absolute()) for one in known if not is_still(one) for path in _list_changed(one)})
                    if changed:
                        return changed
                if changes:
                    break  # a folder may be another one now, so it is watched anew
        except FileNotFoundError:
            continue
        except OSError as wrong:
            message = f"the files cannot be watched: {wrong.strerror or wrong}"
            help = "end other programs that watch files, or raise the limit of the system"
            raise DiskError([Diagnostic("PC0739", message, help=help)]) from None


class _Watched:
    """The folders in which something may happen to what was looked at, and the names in them that it may happen to."""

    def __init__(self, looks: Sequence[Look]) -> None:
        self._folders: set[Path] = set()
        self._names: set[Path] = set()
        self._listed: set[Path] = set()
        for look in looks:
            path = _read_path(look)
            self._add(path)
            if look[0] == _STAMPS:
                for inside, folders, _ in os.walk(path):
                    folders[:] = [one for one in folders if not one.startswith(".")]
                    self._list(Path(inside))
            elif look[0] == "list_folder":
                self._list(path)

    def iter_changes(self, ended: threading.Event | None = None) -> Iterator[bool]:
        """Whether something has happened, or a while has passed. Until `ended`; without it, until an interrupt, which is raised."""
        made = watch(
            *sorted(self._folders),
            watch_filter=self._is_meant,
            debounce=_DEBOUNCE,
            step=_STEP,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            stop_event=ended,
            raise_interrupt=ended is None,
            recursive=False,
        )
        return map(bool, made)

    def _is_meant(self, _: object, name: str) -> bool:
        path = Path(name)
        return path in self._names or path.parent in self._listed

    def _add(self, path: Path) -> None:
        """The name of a path in its folder, and of that in its own; of what is not there the first part that is missing, too."""
        inner = path.parent.resolve() / path.name
        self._names.add(inner)
        while not inner.parent.is_dir():
            inner = inner.parent
            self._names.add(inner)
        self._names.add(inner.parent)
        self._folders |= {inner.parent, inner.parent.parent}

    def _list(self, folder: Path) -> None:
        if folder.is_dir():
            self._listed.add(folder.resolve())
            self._folders.add(folder.resolve())


def _list_changed(look: Look) -> list[Path]:
    """What is another; of all files in a folder those that are."""
    name, given, seen = look
    if name != _STAMPS or isinstance(seen, str):
        return [_read_path(look)]
    before, now = dict(seen), dict(list_stamps(*given))
    return [Path(one) for one in before.keys() | now.keys() if before.get(one) != now.get(one)]


def _read_path(look: Look) -> Path:
    """What was looked at."""
    name, given, _ = look
    parts = [one for one in given if isinstance(one, str)]
    return Path(*parts[:1]) if name == _STAMPS else Path(*parts)
