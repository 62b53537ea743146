"""The keys of a manifest that belong to the language, apart from those an author chose."""

from collections.abc import Iterator

from promptc.model.state import Node

_BY_NAME = frozenset(
    (
        "let",
        "of",
        "sections",
        "patches",
        "variants",
        "cases",
        "watch",
        "caps",
        "stores",
        "indexes",
        "defaults",
        "operations",
        "args",
        "asks",
    )
)
"""Keys whose mapping is by names of the author's: a section may be called `tools`, a `let` `template`."""


def iter_keys(manifest: Node) -> Iterator[tuple[Node, str, Node]]:
    """Every key of the language with the mapping that holds it and its value, at any depth, in the file's order.

    `manifest` has its sections by id (`index_sections`).
    """
    return _iter_keys(manifest, is_by_name=False)


def _iter_keys(node: Node, *, is_by_name: bool) -> Iterator[tuple[Node, str, Node]]:
    if isinstance(node.value, dict):
        for key, value in node.value.items():
            if not is_by_name:
                yield node, key, value
            yield from _iter_keys(value, is_by_name=not is_by_name and key in _BY_NAME)
    elif isinstance(node.value, tuple):
        for value in node.value:
            yield from _iter_keys(value, is_by_name=False)
