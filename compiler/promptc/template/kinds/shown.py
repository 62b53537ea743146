"""What a text is made of, so that two of them can be compared."""

from jinja2 import nodes

from promptc.template.kinds.trees import CompiledText, load_trees
from promptc.template.types.expressions import find_key

_KEEPING = frozenset(
    ("capitalize", "d", "default", "indent", "join", "json", "lower", "normalize", "one_line", "string", "title", "tojson", "trim",
     "truncate", "truncate_at", "upper", "wordwrap")
)  # fmt: skip
"""Filters that show the value they are given, in another form."""


def spell_tree(code: CompiledText) -> str:
    """A text without what makes no difference: spacing in its tags, comments. Equal for two texts that always put out the same."""
    return repr(sorted(load_trees(code).items()))


def find_shown(code: CompiledText) -> tuple[str, ...] | None:
    """The path a template puts out as its whole content, with no more than a label or heading above or before it; None for all others."""
    parts = [part for node in load_trees(code)[""].body for part in _list_parts(node)]
    values = [part for part in parts if not isinstance(part, nodes.TemplateData)]
    if len(values) != 1 or not isinstance(values[0], nodes.Expr):
        return None
    at = parts.index(values[0])
    before, after = (_join(parts[:at]), _join(parts[at + 1 :]))
    return _find_path(values[0]) if not after.strip() and _is_label(before) else None


def _list_parts(node: nodes.Node) -> list[nodes.Node]:
    """What a statement puts out; an `if` without `else` puts out what stands in it."""
    if isinstance(node, nodes.Output):
        return list(node.nodes)
    if isinstance(node, nodes.If) and not node.else_ and not node.elif_:
        return [part for inner in node.body for part in _list_parts(inner)]
    return [node]


def _join(parts: list[nodes.Node]) -> str:
    return "".join(part.data for part in parts if isinstance(part, nodes.TemplateData))


def _is_label(text: str) -> bool:
    said = text.rstrip(" ")
    return not said or said.endswith((":", "\n"))


def _find_path(node: nodes.Node) -> tuple[str, ...] | None:
    while isinstance(node, nodes.Filter) and node.name in _KEEPING and node.node is not None:
        node = node.node
    if isinstance(node, nodes.Name):
        return (node.name,)
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        holder, key = _find_path(node.node), find_key(node)
        return (*holder, key) if holder is not None and isinstance(key, str) else None
    return None
