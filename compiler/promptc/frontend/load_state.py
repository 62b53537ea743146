"""A state's bytes or dict, checked against the pack's schema, defaults filled in."""

from collections.abc import Mapping, Sequence

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import PromptcError, fail
from promptc.diag.typed import Any
from promptc.frontend.json_io import load_json
from promptc.frontend.state_schema import StateSchema
from promptc.model.state import State
from promptc.text.digest import render_digest


def load_state(given: bytes | Mapping[str, Any], schema: StateSchema | None, name: str, changes: Sequence[tuple[str, str]] = ()) -> State:
    """The state with `changes` made, ready to render. Raises `PromptcError` with every finding of the reading, or of the validation."""
    document = load_json(given if isinstance(given, bytes) else _dump(given), name)
    if changes:
        from promptc.frontend.set_values import set_values

        document = set_values(document, changes)
    if not isinstance(document.value, dict):
        raise fail("PC0390", "a state is a mapping (a JSON object)", document.span(""), help="enclose it in `{ }`")
    warnings: list[Diagnostic] = []
    value = document.value
    if schema is not None:
        found = schema.check(document)
        if any(one.level == "error" for one in found):
            raise PromptcError(found)
        warnings = list(found)
        value = schema.fill(value)
    return State(value, render_digest(document.canonical), name, tuple(warnings))


def _dump(given: Mapping[str, Any]) -> bytes:
    import json

    try:
        return json.dumps(given, ensure_ascii=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise fail(
            "PC0391", f"the state is not plain JSON: {error}", help="pass dicts, lists, strings, numbers, booleans and None"
        ) from error
