"""Whether an expression's value is a part of what it was given, as it stands: then it need not be walked, however long it is."""

from jinja2 import nodes

_PASSING = frozenset("select reject selectattr rejectattr sort first last default d list reverse unique min max".split())
_FRESH = (nodes.Const, nodes.Compare, nodes.Test, nodes.Not, nodes.Concat, nodes.Sub, nodes.Div, nodes.FloorDiv, nodes.Neg, nodes.Pos)


def is_settled(node: nodes.Node) -> bool:
    """True when the value can only be a scalar, a part of the names, or a sequence of such parts that is made on the way."""
    if isinstance(node, (nodes.Name, nodes.Getattr, *_FRESH)):
        return True
    if isinstance(node, nodes.List):
        return all(isinstance(item, nodes.Const) for item in node.items)
    if isinstance(node, nodes.Getitem):
        return is_settled(node.node)
    if isinstance(node, nodes.And | nodes.Or | nodes.Add | nodes.Mul):
        return is_settled(node.left) and is_settled(node.right)
    if isinstance(node, nodes.CondExpr):
        return is_settled(node.expr1) and (node.expr2 is None or is_settled(node.expr2))
    if isinstance(node, nodes.Filter) and node.name in _PASSING and node.node is not None:
        return is_settled(node.node) and all(map(is_settled, node.args))
    return False
