"""What a line of a manifest, or of a state, is called."""

from promptc.diag.findings import PromptcError
from promptc.frontend.yaml import load_yaml
from promptc.model.state import Node

_MANIFESTS = (".yaml", ".yml", ".json")


def name_key(path: str, text: str, line: int, column: int, *, is_whole: bool = False) -> str:
    """The keys that lead to what stands at a place of the file, from 0 (`sections.recent.budget`); empty where the file is no YAML, or
    cannot be read. `is_whole` tells that an entry of a list which begins there is meant, not the first of its keys.
    """
    if not path.endswith(_MANIFESTS):
        return ""
    try:
        root = load_yaml(text.encode(), path, "")
    except PromptcError:
        return ""
    return ".".join(_find_keys(root, line + 1, column + 1, is_whole))


def find_name(entry: object) -> str:
    """What an entry of a list calls itself, empty where it has no name."""
    for key in ("id", "name"):
        named = entry.get(key) if isinstance(entry, dict) else None
        named = named.value if isinstance(named, Node) else named
        if isinstance(named, str | int):
            return str(named)
    return ""


def _find_keys(node: Node, line: int, column: int, is_whole: bool) -> list[str]:
    """The keys down to the last one that begins at or before the place."""
    if isinstance(node.value, dict):
        inner = [(node.key_span(key), key, value) for key, value in node.items()]
    elif isinstance(node.value, tuple):
        inner = [(value.span, find_name(value.value) or str(at), value) for at, value in enumerate(node.value)]
    else:
        return []
    passed = [(name, value) for span, name, value in inner if (span.line, span.column) <= (line, column)]
    if not passed:
        return []
    name, value = passed[-1]
    is_it = is_whole and isinstance(node.value, tuple) and (value.span.line, value.span.column) == (line, column)
    return [name] if is_it else [name, *_find_keys(value, line, column, is_whole)]
