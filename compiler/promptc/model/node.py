"""A manifest as read: plain values that know their place."""

from collections.abc import Iterator, Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any

_NONE: Mapping[str, Span] = {}


@frozen(eq=False)
class Node:
    """A YAML value, its place, and the folder that paths in it are relative to.

    `value` is a dict of Nodes, a tuple of Nodes, or a str, int, float, bool or None. `raw` is a scalar's own text
    (thresholds and percents are read from it), `keys` tells where each key of a mapping stands.
    Two Nodes are equal only if they are the same object.
    """

    value: Any
    span: Span
    folder: str
    raw: str = ""
    keys: Mapping[str, Span] = _NONE

    def get(self, key: str) -> "Node | None":
        """The value of `key` in a mapping, or None when it is not there; a null is a Node."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """The entries of a mapping, in the file's order; nothing for other kinds."""
        return iter(self.value.items() if isinstance(self.value, dict) else ())

    def key_span(self, key: str) -> Span:
        """The place of `key`, or of the mapping when it has none of its own."""
        return self.keys.get(key, self.span)

    def plain(self) -> Any:
        """The value without places: dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, tuple):
            return [node.plain() for node in self.value]
        return self.value
