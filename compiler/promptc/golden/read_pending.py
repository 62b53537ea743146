"""A pending golden and the one it would replace, side by side."""

import json
from collections.abc import Mapping
from pathlib import Path

from promptc.compare.compare_sides import Difference, compare_sides
from promptc.compare.read_side import read_side
from promptc.compare.side import Side
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import DiskError
from promptc.diag.typed import Any
from promptc.golden.case import PENDING
from promptc.golden.pending import Pending

_PROMPTS = (".txt", ".messages.json")
_REPORT = ".report.json"


def read_pending(pending: Pending) -> Difference:
    """What differs. Prompts are compared section by section where the case's report says which is where, other goldens as a whole.

    Raises `DiskError` (PC0945) for a file that cannot be read.
    """
    old, new = _read_side(pending, ""), _read_side(pending, PENDING)
    return compare_sides(old, new)


def _read_side(pending: Pending, ending: str) -> Side:
    content = _read(pending, pending.name + ending)
    suffix = next((one for one in _PROMPTS if pending.name.endswith(one)), "")
    if not suffix or "diagnostics" in pending.name:
        return read_side((content or b"").decode("utf-8", "replace"), None)
    messages = _parse(content) if suffix != ".txt" else None
    report = _read_report(pending, pending.name.removesuffix(suffix) + _REPORT, ending) if content is not None else None
    return read_side(messages if isinstance(messages, list) else (content or b"").decode("utf-8", "replace"), report)


def _read_report(pending: Pending, name: str, ending: str) -> Mapping[str, Any] | None:
    """The report of the same side: the pending one where there is one, else the golden, which then is that of both."""
    for one in (name + ending, name):
        found = _parse(_read(pending, one))
        if isinstance(found, dict):
            return found
    return None


def _read(pending: Pending, name: str) -> bytes | None:
    path = Path(pending.folder, name)
    try:
        return path.read_bytes() if not path.is_symlink() else None
    except FileNotFoundError:
        return None
    except OSError as wrong:
        raise DiskError([Diagnostic("PC0945", f"cannot read {pending.path}: {wrong.strerror or wrong}")]) from wrong


def _parse(content: bytes | None) -> Any:
    try:
        return json.loads(content) if content is not None else None
    except ValueError:
        return None
