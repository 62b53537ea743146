"""Whether a pending golden was made of what is there now."""

import os
from pathlib import Path

from promptc.compare import read_json
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.golden.cases.case import INPUTS, PENDING
from promptc.golden.cases.confine import find_fault, find_fence
from promptc.golden.describe_inputs import identify
from promptc.golden.find_home import find_root, show_path
from promptc.golden.pending import PendingGolden
from promptc.golden.read_plain import MAX_PLAIN_BYTES


def find_stale(pending: PendingGolden) -> tuple[str, ...]:
    """The files it was made of that read otherwise now, or are gone: paths from the working folder, sorted. None where nothing is noted
    beside it. Never raises.
    """
    files = _read_noted(pending).get("files")
    if not isinstance(files, dict):
        return ()
    root, here = find_root(pending.folder), os.path.realpath(os.getcwd())
    fence = find_fence(pending.folder)
    paths = {os.path.join(root, path): identity for path, identity in files.items() if not find_fault(path, root, fence)}
    return tuple(sorted(show_path(path, here) for path, identity in paths.items() if _identify(path) != identity))


def _read_noted(pending: PendingGolden) -> dict[str, Any]:
    try:
        noted = read_json(read_file(Path(pending.folder, INPUTS + PENDING), MAX_PLAIN_BYTES))
    except OSError:
        return {}
    return noted if isinstance(noted, dict) else {}


def _identify(path: str) -> str:
    try:
        return identify(read_file(path, MAX_PLAIN_BYTES))
    except (OSError, ValueError):
        return ""
