"""From what an operation took out to what its archive file holds."""

from collections.abc import Sequence

from promptc.diag.typed import Any
from promptc.model.pack import PackModel
from promptc.operations.archived import KEPT, Archived
from promptc.operations.mark_element import mark_element
from promptc.operations.results import Archive, OperationResult
from promptc.text.json import MISSING, find_at, find_list, split_pointer


def describe_archive(archive: Archive, done: OperationResult, *, pack: PackModel, before: Any, file: str) -> Archived:
    """All that a restore needs. `before` is the state as it was, `file` the name of its file."""
    left = find_at(done.value, split_pointer(archive.pointer)) if archive.is_value else None
    kept = () if archive.is_value else _find_kept(archive, find_list(before, archive.pointer), find_list(done.value, archive.pointer))
    return Archived(
        name=archive.name,
        pack=pack.name,
        version=pack.version,
        operation=done.operation,
        pointer=archive.pointer,
        length=archive.length,
        places=archive.places,
        kept=tuple([mark_element(value) for value in kept[:KEPT]]),
        state=done.before,
        file=name_source(file),
        elements=archive.elements,
        replaced=mark_element(left if left is not MISSING else None) if archive.is_value else "",
    )


def name_source(file: str) -> str:
    """A state's file name as archives have it: what is no UTF-8 in it is written out (`b\\udcff.json`)."""
    return file.encode("utf-8", "backslashreplace").decode()


def _find_kept(archive: Archive, before: list[Any] | None, after: list[Any] | None) -> Sequence[Any]:
    """What stayed in the list, of how it was before all edits, or after all of them where others had changed it first."""
    if before is not None and len(before) == archive.length:
        gone = {at for start, stop in archive.places for at in range(start, stop)}
        if tuple(before[at] for at in sorted(gone)) == archive.elements:
            return [value for at, value in enumerate(before) if at not in gone]
    return (after or [])[: archive.length - len(archive.elements)]
