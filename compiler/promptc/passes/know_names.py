"""Which parts of the state made the values that templates are given by name."""

from collections.abc import Mapping

from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.pack import Axis, Let
from promptc.model.stages import Bound
from promptc.model.state import Pointers as StatePointers
from promptc.template.compile import Expression
from promptc.template.place import Pointers, TraceContext
from promptc.template.tracing import trace_expression


def know_names(bound: Bound, pointers: StatePointers) -> TraceContext:
    """Of the `let` names and the variants. `strain`, `selected`, `section` and `this` are the compiler's own: no key made them."""
    known = TraceContext(pointers.find, {}, {})
    names = {name: value for name, value in bound.names.items() if name == "state" or name.startswith("__") or name in bound.pack.given}
    for let in bound.pack.lets:
        known = know_value(known, let.name, _find_expression(let), names)
        names[let.name] = bound.names[let.name]
    chosen: Mapping[str, Any] = bound.names["variant"]
    names["variant"] = chosen
    return replace(known, parts={id(chosen): {axis.name: _trace_case(axis, chosen, names, known) for axis in bound.pack.axes}})


def _trace_case(axis: Axis, chosen: Mapping[str, Any], names: Mapping[str, Any], known: TraceContext) -> Pointers:
    """None for a case that was asked for, or is the default."""
    return trace_expression(axis.select, names, known) if axis.select.evaluate(names) == chosen[axis.name] else ()


def know_value(known: TraceContext, name: str, expression: Expression, names: Mapping[str, Any]) -> TraceContext:
    """With the value of one more name, which an expression gave."""
    return replace(known, named={**known.named, name: trace_expression(expression, names, known)})


def _find_expression(let: Let) -> Expression:
    return let.value if isinstance(let.value, Expression) else let.value.value
