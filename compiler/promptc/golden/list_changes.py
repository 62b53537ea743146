"""What changed in a text file, as pieces that can each be put back alone."""

from collections.abc import Sequence

from promptc.golden.change import FileChange, ValueUndo
from promptc.golden.judging.edits import list_value_changes, put_values_back
from promptc.golden.list_line_changes import list_line_changes, put_lines_back


def list_changes(path: str, old: str, new: str) -> tuple[FileChange, ...]:
    """The changes from `old` to `new`, in order: of a JSON file's values, of any other file's lines, those that are neighbours together."""
    found = list_value_changes(path, old, new) if path.endswith(".json") else ()
    return found or list_line_changes(path, old, new)


def put_back(new: str, changes: Sequence[FileChange]) -> str:
    """The present text with these changes undone, all of them of one list. With the whole list it is what it was: the same text, or where
    values were put back JSON of the same value.
    """
    if not changes:
        return new
    return put_values_back(new, changes) if isinstance(changes[0].undo, ValueUndo) else put_lines_back(new, changes)
