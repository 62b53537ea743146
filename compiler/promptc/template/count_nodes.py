"""How large a piece of a template is."""

from jinja2 import nodes


def count_nodes(node: nodes.Node) -> int:
    """How many steps evaluating `node` once takes: its nodes."""
    count = 0
    waiting = [node]
    while waiting:
        count += 1
        waiting.extend(waiting.pop().iter_child_nodes())
    return count
