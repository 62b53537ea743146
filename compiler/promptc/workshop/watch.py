"""Watches files while they are edited. Only this module imports watchfiles.

`wait_for_change` waits until one of the looks that a run took at the disk (`promptc.files.reading.note_looks`) would see something else.
`iter_events` yields whether something has happened to the files, for as long as it is iterated.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from watchfiles import watch

from promptc.files.paths import resolve_path
from promptc.files.reading import Look, is_still, list_stamps, name_look

_DEBOUNCE, _STEP, _LOOK = 200, 20, 100
"""Milliseconds: the longest time to gather changes, the time between two polls, and the timeout after which to check for the end."""

_SECOND = 1
_STAMPS = list_stamps.__name__


def iter_events(looks: Sequence[Look], ended: threading.Event) -> Iterator[bool]:
    """Yield True when something has happened to the files, and False after each short while without events, until `ended` is set.

    Without looks, wait for one short while, and yield False once. If the system cannot watch the files, wait for a second, and yield False
    once: then the caller must look for itself.
    """
    if not looks:
        ended.wait(_LOOK / 1000)
        yield False
        return
    watched = _Watched(looks)
    try:
        yield from watched.iter_changes(ended)
    except FileNotFoundError:
        yield True  # a folder was removed before it could be watched
    except (OSError, RuntimeError):  # watchfiles has an error of its own for a system without a free watcher
        ended.wait(_SECOND)
        yield False


def list_watched(looks: Sequence[Look]) -> list[str]:
    """Return the files that were looked at, sorted. Folders and missing files are left out."""
    stamped = [path for name, _, seen in looks if name == _STAMPS and not isinstance(seen, str) for path, _ in seen]
    return sorted({str(path) for path in map(Path, (*stamped, *(name_look(one) for one in looks if one[0]))) if path.is_file()})


def wait_for_change(looks: Sequence[Look], is_own: Callable[[Path], bool] = lambda _: False) -> list[str]:
    """Wait until something that was looked at has changed, and return the absolute paths that changed, sorted.

    The caller's own output (`is_own`) may change. A change before the call counts. Folders are watched, so a file that is replaced is
    followed. If the system watches no more folders, or does not let the user list one, the files are looked at every second. Raises
    `KeyboardInterrupt`.
    """
    known, never = [one for one in looks if one[0]], threading.Event()
    while True:
        for at, has_changed in enumerate(iter_events(known, never)):
            if has_changed or at == 0:
                found = (path for one in known if not is_still(one) for path in _list_changed(one))
                changed = sorted({str(path.absolute()) for path in found if not is_own(path)})
                if changed:
                    return changed
            if has_changed:
                break  # a folder may have been replaced, so it is watched anew


class _Watched:
    """The folders to watch, and the names in them that matter."""

    def __init__(self, looks: Sequence[Look]) -> None:
        self._folders: set[Path] = set()
        self._names: set[Path] = set()
        self._listed: set[Path] = set()
        for look in looks:
            path = Path(name_look(look))
            self._add(path)
            if look[0] == _STAMPS:
                for inside, folders, _ in os.walk(path):
                    folders[:] = [one for one in folders if not one.startswith(".")]
                    self._list(Path(inside))
            elif look[0] == "list_folder":
                self._list(path)

    def iter_changes(self, ended: threading.Event) -> Iterator[bool]:
        """Yield True for changes, and False after each short while without any, until `ended` is set or the user interrupts."""
        made = watch(
            *sorted(self._folders),
            watch_filter=self._is_meant,
            debounce=_DEBOUNCE,
            step=_STEP,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            stop_event=ended,
            recursive=False,
        )
        return map(bool, made)

    def _is_meant(self, _: object, name: str) -> bool:
        path = Path(name)
        return path in self._names or path.parent in self._listed

    def _add(self, path: Path) -> None:
        """Add the name of a path, and the name of its folder. If the path is missing, add the first missing part of it as well."""
        inner = resolve_path(path.parent) / path.name
        self._names.add(inner)
        while not inner.parent.is_dir():
            inner = inner.parent
            self._names.add(inner)
        self._names.add(inner.parent)
        self._folders |= {inner.parent, inner.parent.parent}

    def _list(self, folder: Path) -> None:
        if folder.is_dir():
            self._listed.add(resolve_path(folder))
            self._folders.add(resolve_path(folder))


def _list_changed(look: Look) -> list[Path]:
    """Return the paths that have changed; for a look at all files in a folder, only those files."""
    name, given, seen = look
    if name != _STAMPS or isinstance(seen, str):
        return [Path(name_look(look))]
    before, now = dict(seen), dict(list_stamps(*given))
    return [Path(one) for one in before.keys() | now.keys() if before.get(one) != now.get(one)]
