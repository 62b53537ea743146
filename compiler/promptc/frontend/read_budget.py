"""Sizes and budgets out of a manifest that has the schema's shape."""

from fractions import Fraction

from promptc.diag.typed import Any
from promptc.model.section import Budget, Ratio, Size, TotalBudget
from promptc.model.state import Node


def read_ratio(node: Node) -> Ratio:
    """A number from its decimal text, exactly."""
    return Ratio(node.value) if isinstance(node.value, int) else _make_ratio(Fraction(node.raw))


def read_size(node: Node) -> Size:
    """`n`, `{tokens: n}`, `{chars: n}` or `"15%"`."""
    if isinstance(node.value, str):
        return Size(_make_ratio(Fraction(node.value.removesuffix("%").strip()) / 100), "share")
    if isinstance(node.value, dict):
        unit, amount = next(iter(node.value.items()))
        return Size(read_ratio(amount), "chars" if unit == "chars" else "tokens")
    return Size(read_ratio(node), "tokens")


def read_budget(node: Node) -> Budget:
    """A section's budget: a size, or `{min, max, grow, over}`; `{tokens: n}` and `{chars: n}` may carry `over` too."""
    if not isinstance(node.value, dict):
        return Budget(node.span, cap=read_size(node))
    over: Any = str(node.value["over"].value) if "over" in node.value else "error"
    for unit in ("tokens", "chars"):
        if unit in node.value:
            return Budget(node.span, cap=Size(read_ratio(node.value[unit]), "chars" if unit == "chars" else "tokens"), over=over)
    least, most, grow = node.get("min"), node.get("max"), node.get("grow")
    return Budget(
        node.span,
        cap=read_size(most) if most else None,
        min=read_size(least) if least else None,
        grow=read_ratio(grow) if grow else Ratio(0),
        over=over,
    )


def read_total(node: Node) -> TotalBudget:
    """The whole's budget: a number, or `{context, reserve}`."""
    if isinstance(node.value, dict):
        reserve = node.get("reserve")
        return TotalBudget(int(node.value["context"].value), int(reserve.value) if reserve else None, node.span)
    return TotalBudget(int(node.value), None, node.span)


def _make_ratio(exact: Fraction) -> Ratio:
    return Ratio(exact.numerator, exact.denominator)
