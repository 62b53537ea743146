"""The edits of an operation, made on a state as it is written (`make_edits`), and the bytes of the new state (`make_diff`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

from promptc.diag.findings import PromptcError, fail, show_value
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.model.messages import Append, Keep, Operation, Remove, Set, StateEdit
from promptc.operations.archive import describe_archive
from promptc.operations.results import Archive, Opened, OperationResult, StateDiff
from promptc.template.compile import Expression
from promptc.text.json import MISSING, PointerError, drop_at, find_whole, join_pointer, put_at, read_at, split_pointer


@frozen(eq=False)
class Edited:
    """A state during its edits.

    `written` is the state as its author wrote it, `filled` the state with its defaults. `archives` are what went to archives so far,
    `replaced` the pointers to values that were replaced.
    """

    written: Any
    filled: Any
    archives: tuple[Archive, ...] = ()
    replaced: frozenset[str] = frozenset()


def make_edits(operation: Operation, edited: Edited, names: Mapping[str, Any]) -> Edited:
    """Return the state after all edits whose `when` holds, in order. Expressions see only `names`: the state before the edits.

    The arguments are not changed. Raises `PromptcError` for a pointer that leads nowhere (PC0807) and for a value that cannot be used
    (PC0808).
    """
    for edit in operation.edits:
        if edit.when is None or edit.when.evaluate(names):
            try:
                edited = _make(edit, edited, names)
            except PointerError as error:
                raise _refuse(edit, f"`{join_pointer(error.way)}` {error.why}" if error.way else f"the state {error.why}") from None
    return edited


def list_reads(operation: Operation, pointer: str, ask: str) -> tuple[tuple[str, ...], ...]:
    """Return the paths to the parts of the answer to `ask` that the last edit at or around `pointer` writes there.

    Empty if the edit does not read the answer.
    """
    for edit in reversed(operation.edits):
        if pointer == edit.pointer or pointer.startswith(f"{edit.pointer}/"):
            given = (edit.value,) if isinstance(edit, Set) else (edit.value, edit.each) if isinstance(edit, Append) else ()
            reads = sorted(read[2:] for one in given if one is not None for read in one.reads if read[:2] == ("answers", ask))
            if reads:
                return tuple(reads)
    return ()


def _make(edit: StateEdit, edited: Edited, names: Mapping[str, Any]) -> Edited:
    way = split_pointer(edit.pointer)
    if isinstance(edit, Set):
        return _set(edit, edited, way, edit.value.evaluate(names))
    if isinstance(edit, Remove):
        return replace(edited, written=drop_at(edited.written, way), filled=drop_at(edited.filled, way))
    if isinstance(edit, Append):
        return _append(edit, _begin(edited, way), names)
    assert isinstance(edit, Keep)
    return _keep(edit, _begin(edited, way), names)


def _set(edit: Set, edited: Edited, way: Sequence[str], value: Any) -> Edited:
    """Set a value. If several edits set the same value, only the first can lose what the state contained."""
    old = read_at(edited.written, way)
    done = replace(_put(edited, way, value), replaced=edited.replaced | {edit.pointer})
    is_new = edit.pointer not in edited.replaced and (old is MISSING or json.dumps(old) != json.dumps(value))
    if not edit.archive or not is_new:
        return done
    gone, places = ((), ()) if old is MISSING else ((old,), ((0, 1),))
    return replace(done, archives=(*edited.archives, Archive(edit.archive, edit.pointer, len(gone), places, gone, is_value=True)))


def _put(edited: Edited, way: Sequence[str], value: Any) -> Edited:
    return replace(edited, written=put_at(edited.written, way, value), filled=put_at(_clear_way(edited, way), way, value))


def _clear_way(edited: Edited, way: Sequence[str]) -> Any:
    """Return the filled state without the null that represents the first missing mapping on the way."""
    missing = next((way[:depth] for depth in range(1, len(way)) if read_at(edited.written, way[:depth]) is MISSING), None)
    is_none = missing is not None and read_at(edited.filled, missing) is None
    return drop_at(edited.filled, missing) if missing is not None and is_none else edited.filled


def _begin(edited: Edited, way: Sequence[str]) -> Edited:
    """Write out the default of a list that is declared and left out."""
    filled = read_at(edited.filled, way)
    if read_at(edited.written, way) is MISSING and isinstance(filled, list):
        return replace(edited, written=put_at(edited.written, way, filled))
    return edited


def _append(edit: Append, edited: Edited, names: Mapping[str, Any]) -> Edited:
    way = split_pointer(edit.pointer)
    more = _read_each(edit, edit.each, names) if edit.each is not None else [edit.value.evaluate(names)] if edit.value is not None else []
    old = read_at(edited.written, way)
    if old is not MISSING and not isinstance(old, list):
        raise _refuse(edit, f"`{edit.pointer}` is not a list")
    if edit.archive and more:
        stood = () if old is MISSING else tuple(old)
        archive = Archive(edit.archive, edit.pointer, len(stood), (), (), appended=tuple(more), stood=stood)
        edited = replace(edited, archives=(*edited.archives, archive))
    if old is MISSING:
        return _put(edited, way, more)
    filled = read_at(edited.filled, way)
    return replace(edited, written=put_at(edited.written, way, [*old, *more]), filled=put_at(edited.filled, way, [*filled, *more]))


def _read_each(edit: Append, each: Expression, names: Mapping[str, Any]) -> list[Any]:
    value = each.evaluate(names)
    if not isinstance(value, list | tuple):
        what = f"`each` of `{edit.pointer}` must be a list, not {show_value(value)}"
        raise fail("PC0808", what, each.span, help="a single value goes by `to`")
    return list(value)


def _keep(edit: Keep, edited: Edited, names: Mapping[str, Any]) -> Edited:
    way = split_pointer(edit.pointer)
    written, filled = read_at(edited.written, way), read_at(edited.filled, way)
    if written is MISSING:
        return edited
    if not isinstance(written, list):
        raise _refuse(edit, f"`{edit.pointer}` is not a list")
    stays = _choose(edit, filled, names)
    if all(stays):
        return edited
    archives = (*edited.archives, _archive(edit, written, stays)) if edit.archive else edited.archives
    left = put_at(edited.written, way, _pick(written, stays)), put_at(edited.filled, way, _pick(filled, stays))
    return replace(edited, written=left[0], filled=left[1], archives=archives)


def _choose(edit: Keep, elements: Sequence[Any], names: Mapping[str, Any]) -> list[bool]:
    """Return for each element whether it stays."""
    if edit.where is not None:
        where = edit.where
        return [bool(where.evaluate({**names, "item": element})) for element in elements]
    assert edit.last is not None
    given = edit.last.evaluate(names)
    last = find_whole(given)
    if last is None or last < 0:
        message = f"`last` of `{edit.pointer}` must be a whole number from 0, not {show_value(given)}"
        raise fail("PC0808", message, edit.last.span, help="write how many of the newest elements stay, such as `last: 12`")
    return [place >= len(elements) - last for place in range(len(elements))]


def _pick(elements: Sequence[Any], stays: Sequence[bool]) -> list[Any]:
    return [element for element, stay in zip(elements, stays, strict=True) if stay]


def _archive(edit: Keep, elements: Sequence[Any], stays: Sequence[bool]) -> Archive:
    gone = tuple(element for element, stay in zip(elements, stays, strict=True) if not stay)
    return Archive(edit.archive, edit.pointer, len(elements), _list_ranges(stays), gone)


def _list_ranges(stays: Sequence[bool]) -> tuple[tuple[int, int], ...]:
    """Return the ranges of places that do not stay."""
    runs = [(stay, [place for place, _ in run]) for stay, run in groupby(enumerate(stays), key=lambda pair: pair[1])]
    return tuple((places[0], places[-1] + 1) for stay, places in runs if not stay)


def _refuse(edit: StateEdit, why: str) -> PromptcError:
    kind = type(edit).__name__.lower()
    return fail(
        "PC0807",
        f"promptc cannot make the edit `{kind}: {edit.pointer}`: {why}",
        edit.span,
        help="correct the pointer, correct the state, or give the edit a `when`",
    )


def make_diff(pack: Opened, done: OperationResult, raw: bytes, *, file: str) -> StateDiff:
    """Return the change that `done` makes to the state read as `raw`. `file` is the name of the file for the new state (empty: none)."""
    before = json.loads(raw.decode("utf-8-sig"))
    if not done.is_changed:
        return StateDiff(before, before, raw, False)
    archived = tuple([describe_archive(one, done, pack=pack.model, before=before, file=file) for one in done.archives])
    return StateDiff(before, done.value, format_state(done.value, raw), True, archived)


def format_state(value: Any, like: bytes) -> bytes:
    """Return `value` as JSON in UTF-8, in the layout of the bytes `like`.

    The layout is the indent or the single line, the spaces after commas and colons, and the last line end.
    """
    text = like.decode("utf-8-sig").strip(" \t\r\n")
    indent = _find_indent(text)
    close = indent is None and '": ' not in text and '", ' not in text and len(text) > 2
    separators = (",", ":") if close else (",", ": ") if indent is not None else (", ", ": ")
    end = b"\n" if like.endswith(b"\n") or not like.strip() else b""
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, allow_nan=False).encode() + end


def _find_indent(text: str) -> str | None:
    """Return the whitespace before the first key if the key is on a line of its own, or else None."""
    after = text[1:].lstrip(" ")
    if not after.startswith(("\n", "\r\n")):
        return None
    line = after.lstrip("\r\n")
    return line[: len(line) - len(line.lstrip(" \t"))]
