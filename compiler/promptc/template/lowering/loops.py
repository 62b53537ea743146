"""How a `for` uses its `loop`: not at all, only for counting, or as a value."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes
from jinja2.compiler import find_undeclared

COUNTS = frozenset("index index0 first last length revindex revindex0 depth depth0".split())
"""What plain counters can tell."""

NEEDS_LENGTH = frozenset("last length revindex revindex0".split())


def uses_loop(node: nodes.For) -> bool:
    """Whether the body knows `loop` (Jinja's rule)."""
    return "loop" in find_undeclared(node.iter_child_nodes(only=("body",)), ("loop",)) or any(
        block.scoped for block in node.find_all(nodes.Block)
    )


def find_counts(node: nodes.For) -> frozenset[str] | None:
    """What the body asks of `loop`, if plain counters can answer it all; else None."""
    found: set[str] = set()
    if any(node.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Block))):
        return None
    if any(name.name == "loop" and name.ctx != "load" for name in node.find_all(nodes.Name)):
        return None
    for use in _iter_uses(node.body):
        if use not in COUNTS:
            return None
        found.add(use)
    return frozenset(found)


def _iter_uses(body: list[nodes.Node]) -> Iterator[str]:
    """The attribute each read of `loop` asks for; `?` where `loop` itself is a value. A loop inside has its own in its body."""
    for node in body:
        yield from _iter_node(node)


def _iter_node(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == "loop":
        yield node.attr if node.ctx == "load" else "?"
    elif (isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr) and _is_loop(node.node.node)) or _is_loop(node):
        yield "?"
    elif isinstance(node, nodes.For):
        yield from _iter_node(node.iter)
        yield from _iter_uses(node.else_)
        if node.test is not None:
            yield from _iter_node(node.test)
    else:
        yield from _iter_uses(list(node.iter_child_nodes()))


def _is_loop(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "loop"
