"""What `a.b`, `a[b]`, `a(...)` and `a.b(...)` give: data, and the little the template's own objects offer. Never a method as a value."""

from __future__ import annotations

from collections.abc import Callable

from promptc.diag.typed import Any
from promptc.diag.value import name_kind
from promptc.template.allow import CYCLER_METHODS, DICT_NAMES, LIST_METHODS, LOOP_METHODS, LOOP_NAMES, MAPPING_METHODS, TEXT_METHODS
from promptc.template.runtime.callables import BlockCall, TemplateBlocks
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.functions import FUNCTIONS, Cycler, Joiner, Namespace
from promptc.template.runtime.group import Group
from promptc.template.runtime.judged import blame_function, blame_loop
from promptc.template.runtime.loop import Loop
from promptc.template.runtime.macro import Macro
from promptc.template.runtime.methods import call_method
from promptc.template.runtime.module import Module
from promptc.template.runtime.objects import BLANK, Blank, Missing
from promptc.template.runtime.payments import check_key, pay_parts
from promptc.template.runtime.run import Run

_ATTRIBUTES: dict[type, frozenset[str]] = {
    Loop: LOOP_NAMES,
    Cycler: frozenset({"current"}),
    Group: frozenset({"grouper", "list"}),
    BlockCall: frozenset({"super"}),
}
_METHODS: dict[type, frozenset[str]] = {
    str: TEXT_METHODS,
    dict: MAPPING_METHODS,
    list: LIST_METHODS,
    tuple: LIST_METHODS,
    Loop: LOOP_METHODS,
    Cycler: CYCLER_METHODS,
}
_OWN_METHODS = frozenset({Loop, Cycler})
_OF_DATA = frozenset({str, dict, list, tuple})


def find_attribute(holder: Any, name: str) -> Any:
    """`holder.name`; undefined where there is none."""
    kind = holder.__class__
    if kind is dict:
        return _find_key(holder, name)
    if kind is Missing:
        holder.fail()
    if kind is Blank:
        BLANK.fail()
    if kind is Namespace or kind is Module or kind is TemplateBlocks:
        return holder.find(name)
    if name in _ATTRIBUTES.get(kind, ()):
        return getattr(holder, name)
    if name in _METHODS.get(kind, ()):
        _refuse_method(name, f"call it: `.{name}(...)`")
    return Missing(name, holder)


def _find_key(holder: dict[str, Any], name: str) -> Any:
    if name in DICT_NAMES:
        _refuse_method(name, f"write `['{name}']` for the key" + (f", or `.{name}()` to call it" if name in MAPPING_METHODS else ""))
    return holder[name] if name in holder else Missing(name, holder)


def _refuse_method(name: str, hint: str) -> None:
    refuse("PC0409", f"`.{name}` is a method and not a value", hint)


def find_item(holder: Any, key: Any) -> Any:
    """`holder[key]`: a key or a place; undefined where there is none."""
    kind = holder.__class__
    if kind is dict:
        check_key(key)
        return holder[key] if key in holder else Missing(key, holder)
    if kind in _SEQUENCES and key.__class__ in _PLACES:
        return holder[key] if -len(holder) <= key < len(holder) else Missing(key, holder)
    if kind is Missing or kind is Blank:
        holder.fail()
    if key.__class__ is str and kind not in _OF_DATA:
        return find_attribute(holder, key)
    check_key(key)
    return Missing(key, holder)


_SEQUENCES = frozenset({str, list, tuple, Group, range})
_PLACES: frozenset[Any] = frozenset({int, bool})


def call_value(run: Run, callee: Any, /, *args: Any, **named: Any) -> Any:
    """`callee(...)`: a macro, a block, or a function of the list."""
    kind = callee.__class__
    if kind is Macro:
        return callee.call(args, named)
    if kind is BlockCall:
        if args or named:
            refuse("PC0424", "a block takes no arguments", "use a macro")
        return callee.call()
    if kind is Joiner:
        return callee()
    if kind is Missing or kind is Blank:
        callee.fail()
    if callee.__class__ is _FUNCTION and callee in _CALLABLE:
        return _call_function(run, callee, args, named)
    return refuse("PC0409", f"{name_kind(callee)} cannot be called", "leave the `()` out")


def _call_function(run: Run, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    try:
        return function(run, *args, **named)
    except (TypeError, ValueError):
        blame_function(function.__qualname__, args, named, run.limits)
        raise


_FUNCTION = type(find_item)
_CALLABLE: tuple[Callable[..., Any], ...] = tuple(FUNCTIONS.values())


def call_part(run: Run, holder: Any, name: str, /, *args: Any, **named: Any) -> Any:
    """`holder.name(...)`: a method of the lists, or whatever `holder.name` is."""
    kind = holder.__class__
    if kind in _OF_DATA and (kind is not dict or name in MAPPING_METHODS):
        return call_method(run, holder, name, args, named)
    if kind in _OWN_METHODS and name in _METHODS[kind]:
        pay_parts(run, args)
        try:
            return getattr(holder, name)(*args, **named)
        except TypeError:
            blame_loop(name, args, named, run.limits)
            raise
    return call_value(run, find_attribute(holder, name), *args, **named)
