"""What an operation came to, ready to be written."""

import json

from promptc.operations.change import StateDiff
from promptc.operations.describe_archive import describe_archive
from promptc.operations.format_state import format_state
from promptc.operations.opened import Opened
from promptc.operations.results import OperationResult


def make_diff(pack: Opened, done: OperationResult, raw: bytes, *, file: str) -> StateDiff:
    """The change that `done` makes to the state read as `raw`. `file` is the name of the file that will hold it (empty: none)."""
    before = json.loads(raw.decode("utf-8-sig"))
    if not done.is_changed:
        return StateDiff(before, before, raw, False)
    archived = tuple([describe_archive(one, done, pack=pack.model, before=before, file=file) for one in done.archives])
    return StateDiff(before, done.value, format_state(done.value, raw), True, archived)
