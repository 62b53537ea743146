"""The states of a case: a file with changes to it, and what findings say of either."""

import os
from collections.abc import Iterable

from promptc.diag.findings import Diagnostic, Span, UsageError
from promptc.diag.frozen import replace
from promptc.frontend.json import JsonDocument
from promptc.frontend.json_places import set_values
from promptc.golden.case_error import CaseError
from promptc.golden.cases.case import Case
from promptc.golden.cases.confine import confine
from promptc.golden.cases.environment import CaseEnvironment
from promptc.golden.find_home import show_path
from promptc.model.state import Node
from promptc.text.json import render_json_line

_SET = "--set "


def read_state(case: Case, turn: int, there: CaseEnvironment, before: JsonDocument | None = None) -> JsonDocument:
    """The state of a turn (from 0) as JSON, with its changes made and those of `with: {set}`; `before` is that of the turn before it.

    Findings of a value that was changed are placed in the `case.yaml`. Raises `PromptcError` for a file that is no JSON, `CaseError` for
    one that is not there and for a change that leads nowhere (PC0904).
    """
    one = case.states[turn]
    if one.base is None:
        assert before is not None
        document = before
    else:
        folder = os.path.normpath(os.path.join(there.root, os.path.relpath(case.folder, case.root)))
        path = confine(one.base, folder, there.fence, _find_node(case, turn).span)
        shown = show_path(os.path.normpath(os.path.join(case.folder, one.base)), case.root)
        document = there.shelf.load_state(path, shown, _find_node(case, turn).span)
    changes = [*one.changes, *case.flags.get("set", {}).items()]
    if not changes:
        return document
    try:
        return set_values(document, [(pointer, render_json_line(value)) for pointer, value in changes])
    except UsageError as error:
        raise CaseError(place_changes(error.diagnostics, case, turn)) from error


def place_changes(found: Iterable[Diagnostic], case: Case, turn: int) -> list[Diagnostic]:
    """The findings, those of a changed value at the place in `case.yaml` where it is given."""
    return [_place(one, case, turn) for one in found]


def _place(found: Diagnostic, case: Case, turn: int) -> Diagnostic:
    message = found.message.replace(f"`{_SET}", "`set: ")
    if found.code == "PC0722":
        pointer = found.message.removeprefix(f"`{_SET}").partition("`")[0]
        return replace(found, code="PC0904", message=message, span=_find_change(case, turn, pointer) or found.span)
    if found.span is None or not found.span.file.startswith(_SET):
        return found
    span = _find_change(case, turn, found.span.file[len(_SET) :])
    at = f" (turn {turn + 1})" if case.kind == "session" else ""
    return replace(found, span=span or found.span, message=f"{message}{at}")


def _find_change(case: Case, turn: int, pointer: str) -> Span | None:
    if turn and pointer == case.carry:
        carried: Node = case.node.value["carry"]
        return carried.span
    return next((node.value[pointer].span for node in _iter_changes(case, turn) if pointer in node.value), None)


def _iter_changes(case: Case, turn: int) -> Iterable[Node]:
    """The mappings of changes, the one that counts first."""
    for holder in (case.node.get("with"), _find_node(case, turn)):
        changes = holder.get("set") if holder is not None else None
        if changes is not None:
            yield changes


def _find_node(case: Case, turn: int) -> Node:
    """Where the case names the state of a turn."""
    node: Node = case.node.value["apply"] if case.kind == "apply" else case.node
    if case.kind == "session":
        found: Node = node.value["states"].value[turn]
        return found
    return node.value["state"]  # type: ignore[no-any-return]
