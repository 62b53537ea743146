"""Small things generated code asks for."""

from __future__ import annotations

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.functions import Namespace
from promptc.template.runtime.objects import Blank, Missing
from promptc.template.runtime.run import Run
from promptc.template.runtime.show import show

_CUT = frozenset({str, list, tuple, range})


def undefined(name: str) -> Missing:
    """What an unknown name gives."""
    return Missing(name, of_names=True)


def concat(run: Run, *values: Any) -> str:
    """`a ~ b`."""
    return run.join([show(run, value) for value in values])


def need_text(value: Any) -> str:
    """What `{% filter %}` and `{% call %}` print is a text."""
    if value.__class__ is str:
        return value
    if value.__class__ is Missing:
        value.fail()
    return refuse("PC0413", f"the block gives {name_kind(value)} and not a text", "end with a filter that gives a text: `| string`")


def cut_slice(run: Run, value: Any, start: Any, stop: Any, step: Any) -> Any:
    """`value[start:stop:step]`, paid for."""
    if value.__class__ not in _CUT and not isinstance(value, tuple):
        if value.__class__ is Missing or value.__class__ is Blank:
            value.fail()
        refuse("PC0414", f"{name_kind(value)} cannot be sliced", "slice a text or a list")
    run.take(1 + (len(value) >> 3))
    return value[start:stop:step]


def check_namespace(value: Any) -> None:
    """`set a.b` needs a namespace."""
    if value.__class__ is not Namespace:
        if value.__class__ is Missing:
            value.fail()
        refuse("PC0414", f"only a namespace can be given an attribute, not {name_kind(value)}", "`{% set ns = namespace(x=1) %}` first")


def spread(run: Run, values: Any) -> tuple[Any, ...]:
    """`*values` in a call."""
    if values.__class__ is Missing:
        values.fail()
    if values.__class__ is dict or values.__class__ is str or isinstance(values, list | tuple | range):
        run.take(len(values))
        return tuple(values)
    if not hasattr(values, "__next__"):
        refuse("PC0414", f"{name_kind(values)} is no list", "`*` takes a list")
    found = []
    for value in values:
        run.take(1)
        found.append(value)
    return tuple(found)


def spread_named(run: Run, values: Any) -> dict[str, Any]:
    """`**values` in a call."""
    if values.__class__ is Missing:
        values.fail()
    if values.__class__ is not dict or not all(name.__class__ is str for name in values):
        refuse("PC0414", f"{name_kind(values)} cannot name arguments", "`**` takes a mapping with texts as keys")
    run.take(len(values))
    return values
