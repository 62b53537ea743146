"""The methods of texts, mappings and lists a template may call, each paid for before it works."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.judged import blame_method
from promptc.template.runtime.methods_of_text import TEXT_METHODS
from promptc.template.runtime.objects import Missing
from promptc.template.runtime.payments import check_key, pay_search
from promptc.template.runtime.run import Run

Method = Callable[..., Any]


def call_method(run: Run, value: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """`value.name(*args, **kwargs)`, for a kind and a name that `METHODS` has."""
    methods = METHODS.get(value.__class__, {})
    if name not in methods:
        refuse("PC0409", f"`.{name}` is not a method a template may call on {name_kind(value)}")
    try:
        return methods[name](run, value, *args, **kwargs)
    except (TypeError, ValueError):
        for arg in (*args, *kwargs.values()):
            if arg.__class__ is Missing:
                arg.fail()
        blame_method(value.__class__, name, args, kwargs, run.limits)
        raise


def _find_value(run: Run, holder: Any, key: Any, default: Any = None, /) -> Any:
    run.take(1)
    return holder.get(check_key(key), default)


def _view_items(run: Run, holder: Any) -> Any:
    return holder.items()


def _view_keys(run: Run, holder: Any) -> Any:
    return holder.keys()


def _view_values(run: Run, holder: Any) -> Any:
    return holder.values()


def _count_value(run: Run, values: Any, sought: Any, /) -> int:
    pay_search(run, sought, values)
    found: int = values.count(sought)
    return found


def _find_place(run: Run, values: Any, sought: Any, /, *bounds: Any) -> int:
    pay_search(run, sought, values)
    place: int = values.index(sought, *bounds)
    return place


_OF_LIST: dict[str, Method] = {"count": _count_value, "index": _find_place}
_OF_MAPPING: dict[str, Method] = {"get": _find_value, "items": _view_items, "keys": _view_keys, "values": _view_values}

METHODS: dict[type, dict[str, Method]] = {str: TEXT_METHODS, dict: _OF_MAPPING, list: _OF_LIST, tuple: _OF_LIST}
"""What may be called, by kind and name: functions `(run, value, *args, **kwargs)`."""

for _methods in METHODS.values():
    for _name, _method in _methods.items():
        _method.__qualname__ = _name  # what Python's messages about arguments call it
