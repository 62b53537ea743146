"""What a changed line of a manifest, or of a state, is called."""

from promptc.diag.errors import PromptcError
from promptc.diag.frozen import replace
from promptc.frontend.yaml_io import load_yaml
from promptc.golden.list_changes import Change
from promptc.model.node import Node

_MANIFESTS = (".yaml", ".yml", ".json")


def name_key(change: Change, text: str) -> Change:
    """The change with the keys that lead to its line in front of what it says (`sections.recent.budget: 3500 → 900`); as it was where the
    file is no YAML, or cannot be read.
    """
    if not change.path.endswith(_MANIFESTS):
        return change
    try:
        root = load_yaml(text.encode(), change.path, "")
    except PromptcError:
        return change
    keys = _find_keys(root, change.line, change.column)
    return replace(change, what=f"{'.'.join(keys)}: {change.what}") if keys else change


def _find_keys(node: Node, line: int, column: int) -> list[str]:
    """The keys down to the last one that begins at or before the place."""
    if isinstance(node.value, dict):
        inner = [(node.key_span(key), key, value) for key, value in node.items()]
    elif isinstance(node.value, tuple):
        inner = [(value.span, _name(value, at), value) for at, value in enumerate(node.value)]
    else:
        return []
    passed = [(name, value) for span, name, value in inner if (span.line, span.column) <= (line, column)]
    return [passed[-1][0], *_find_keys(passed[-1][1], line, column)] if passed else []


def _name(entry: Node, at: int) -> str:
    """An entry of a list: what it calls itself, else its place."""
    for key in ("id", "name"):
        named = entry.get(key) if isinstance(entry.value, dict) else None
        if named is not None and isinstance(named.value, str | int):
            return str(named.value)
    return str(at)
