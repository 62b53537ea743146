"""What `a.b`, `a[b]` and the `a.b` of `a.b(...)` give: data, and the little the template's own objects offer. Never a method as a value."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from jinja2 import Undefined
from jinja2.filters import _GroupTuple
from jinja2.runtime import BlockReference, LoopContext, TemplateReference
from jinja2.utils import Namespace, missing

from promptc.template.allowed import (
    CYCLER_METHODS,
    DICT_NAMES,
    LIST_METHODS,
    LOOP_METHODS,
    LOOP_NAMES,
    MAPPING_METHODS,
    TEXT_METHODS,
    WHY_NOT,
)
from promptc.template.fault import refuse
from promptc.template.functions import Cycler
from promptc.template.methods import BOUNDED_METHODS
from promptc.template.module import Module
from promptc.template.payments import check_key
from promptc.template.undefined import Missing

_MAPPINGS = frozenset({dict, MappingProxyType})
_ATTRIBUTES: dict[type, frozenset[str]] = {
    LoopContext: LOOP_NAMES,
    Cycler: frozenset({"current"}),
    _GroupTuple: frozenset({"grouper", "list"}),
    BlockReference: frozenset({"super"}),
}
_METHODS: dict[type, frozenset[str]] = {
    str: TEXT_METHODS,
    dict: MAPPING_METHODS,
    MappingProxyType: MAPPING_METHODS,
    list: LIST_METHODS,
    tuple: LIST_METHODS,
    LoopContext: LOOP_METHODS,
    Cycler: CYCLER_METHODS,
}


def find_attribute(obj: Any, name: str) -> Any:
    """`obj.name`; undefined where there is none."""
    kind = type(obj)
    if kind is Missing or kind is Undefined:
        return obj[name]
    if kind in _MAPPINGS or isinstance(obj, Mapping):
        if name in DICT_NAMES:
            _refuse_method(name, f"write `['{name}']` for the key" + (f", or `.{name}()` to call it" if name in MAPPING_METHODS else ""))
        return obj[name] if name in obj else Missing(obj=obj, name=name)
    if kind is Module:
        return obj[name] if name in obj else Missing(obj=obj, name=name)
    if kind is Namespace or name in _ATTRIBUTES.get(kind, ()):
        found = getattr(obj, name, missing)
        return Missing(obj=obj, name=name) if found is missing else found
    if kind is TemplateReference:
        return _find_block(obj, name)
    if name in _METHODS.get(kind, ()):
        _refuse_method(name, f"call it: `.{name}(...)`")
    return Missing(obj=obj, name=name)


def _find_block(obj: Any, name: str) -> Any:
    try:
        return obj[name]
    except KeyError:
        return Missing(f"there is no block `{name}`")


def _refuse_method(name: str, hint: str) -> None:
    refuse("PC0409", f"`.{name}` is a method and not a value", hint)


def find_item(obj: Any, key: Any) -> Any:
    """`obj[key]`: a key or a place; undefined where there is none."""
    if type(obj) is LoopContext:
        return find_attribute(obj, str(key))
    try:
        return obj[check_key(key)]
    except (TypeError, LookupError):
        return _find_own(obj, key)


def _find_own(obj: Any, key: Any) -> Any:
    if isinstance(key, str) and type(obj) in (Namespace, _GroupTuple, Cycler):
        return find_attribute(obj, key)
    return Missing(obj=obj, name=key)


def find_method(obj: Any, name: str) -> Any:
    """What `obj.name(...)` calls: a method of the lists, or whatever `obj.name` is."""
    kind = type(obj)
    if name in _METHODS.get(kind, ()):
        return partial(BOUNDED_METHODS[name], obj) if kind is str and name in BOUNDED_METHODS else getattr(obj, name)
    if kind in (str, list, tuple):
        refuse("PC0409", f"`.{name}` is not a method a template may call", WHY_NOT.get(name, ""))
    return find_attribute(obj, name)
