"""Constants that stand in a text."""

from dataclasses import dataclass

from jinja2 import nodes


@dataclass(frozen=True, slots=True)
class Computed:
    """What is no constant."""


COMPUTED = Computed()


def find_written(node: nodes.Node) -> object:
    """The text, number, truth or none an expression is written as; `COMPUTED` for all others."""
    if isinstance(node, nodes.Const):
        return node.value if node.value is None or isinstance(node.value, str | int | float) else COMPUTED
    if isinstance(node, nodes.Neg) and isinstance(node.node, nodes.Const) and type(node.node.value) in (int, float):
        return -node.node.value
    return COMPUTED
