"""A state's bytes or dict, checked against the pack's schema, defaults filled in."""

from collections.abc import Mapping, Sequence

from promptc.diag.findings import PromptcError, fail
from promptc.diag.typed import Any
from promptc.frontend.json import JsonDocument, load_json, load_plain
from promptc.frontend.state import StateSchema
from promptc.model.state import LazyDigest, State
from promptc.text.json import render_digest


def load_state(given: bytes | Mapping[str, Any], schema: StateSchema | None, name: str, changes: Sequence[tuple[str, str]] = ()) -> State:
    """The state with `changes` made, ready to render. Raises `PromptcError` with every finding of the reading, or of the validation."""
    document = load_plain(given, name) if not isinstance(given, bytes) and not changes else None
    if document is not None and isinstance(document.value, dict) and (schema is None or schema.is_valid(document)):
        return _fill(document, schema)
    document = load_json(given if isinstance(given, bytes) else _dump(given), name)
    if changes:
        from promptc.frontend.set_values import set_values

        document = set_values(document, changes)
    return load_document(document, schema)


def load_document(document: JsonDocument, schema: StateSchema | None) -> State:
    """The state of a JSON text that was read. Raises `PromptcError` with every finding of the validation."""
    if not isinstance(document.value, dict):
        raise fail("PC0390", "a state is a mapping (a JSON object)", document.span(""), help="enclose it in `{ }`")
    found = schema.check(document) if schema is not None else []
    if found:
        raise PromptcError(found)
    return _fill(document, schema)


def _fill(document: JsonDocument, schema: StateSchema | None) -> State:
    value = schema.fill(document.value) if schema is not None else document.value
    late = LazyDigest(render_digest(document.canonical)) if document.is_rendered else LazyDigest(render=lambda: document.canonical)
    return State(value, late, document.source.name)


def _dump(given: Mapping[str, Any]) -> bytes:
    import json

    try:
        return json.dumps(given, ensure_ascii=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise fail(
            "PC0391", f"the state is not plain JSON: {error}", help="pass dicts, lists, strings, numbers, booleans and None"
        ) from error
