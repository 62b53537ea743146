"""The operators of values: `a.b`, `a[b]`, calls, comparisons, slices, printing, arithmetic, and `%` on a text.

They know data, and the few things that the template's own objects offer. A method can be called, but is never a value. `show` returns the
text of a value, `plain` its plain data. Arithmetic bounds the size of its result, and pays for it, before it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne

from promptc.diag.findings import UNMADE, name_kind
from promptc.diag.typed import Any, NoReturn
from promptc.template.allow import CYCLER_METHODS, DICT_NAMES, LIST_METHODS, LOOP_METHODS, LOOP_NAMES, MAPPING_METHODS, TEXT_METHODS
from promptc.template.runtime.callables import CHAT_FUNCTIONS, FUNCTIONS, BlockCall, Clock, Cycler, Joiner, Macro, Namespace, TemplateBlocks
from promptc.template.runtime.methods import call_method
from promptc.template.runtime.objects import Blank, Group, Loop, Missing, Module, refuse
from promptc.template.runtime.run import (
    LISTS,
    NUMBERS,
    SCALARS,
    UNDEFINED,
    Run,
    check_defined,
    check_depth,
    check_key,
    pay_pair,
    pay_parts,
    pay_search,
)

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
_SEQUENCES = frozenset({str, list, tuple, Group, range})
_PLACES: frozenset[Any] = frozenset({int, bool})
_CALLABLE: tuple[Callable[..., Any], ...] = (*FUNCTIONS.values(), *CHAT_FUNCTIONS.values())
Reader = Callable[[Any], Any]
_SEARCHES = {"in": True, "notin": False}
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {"eq": eq, "ne": ne, "lt": lt, "lteq": le, "gt": gt, "gteq": ge}
_NAMED_KEYS = {None: "null", True: "true", False: "false"}
_CUT = frozenset({str, list, tuple, range})
_JOINED: dict[type, type] = {str: str, list: list, tuple: tuple, Group: tuple}
_SPEC = re.compile(r"%(?:\([^()]*\))?[-#0 +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)", re.S)


def read_attribute(holder: Any, name: str) -> Any:
    """Return `holder.name`, or an undefined value if there is no such part. Raises `Fault` (PC0409) for a method."""
    kind = holder.__class__
    if kind is dict:
        return _read_key(holder, name)
    if kind is Missing:
        holder.fail()
    if kind is Blank:
        holder.fail()
    if kind is Namespace or kind is Module or kind is TemplateBlocks:
        return holder.read(name)
    if name in _ATTRIBUTES.get(kind, ()):
        return getattr(holder, name)
    if name in _METHODS.get(kind, ()):
        _refuse_method(name, f"call it: `.{name}(...)`")
    return Missing(name, holder)


def _read_key(holder: dict[str, Any], name: str) -> Any:
    if name in DICT_NAMES:
        _refuse_method(name, f"write `['{name}']` for the key" + (f", or `.{name}()` to call it" if name in MAPPING_METHODS else ""))
    return holder[name] if name in holder else Missing(name, holder)


def _refuse_method(name: str, hint: str) -> None:
    refuse("PC0409", f"`.{name}` is a method and not a value", hint)


def read_item(holder: Any, key: Any) -> Any:
    """Return `holder[key]` for a key or an index, or an undefined value if there is no such part."""
    kind = holder.__class__
    if kind is dict:
        check_key(key)
        return holder[key] if key in holder else Missing(key, holder)
    if kind in _SEQUENCES and key.__class__ in _PLACES:
        return holder[key] if -len(holder) <= key < len(holder) else Missing(key, holder)
    if kind is Missing or kind is Blank:
        holder.fail()
    if key.__class__ is str and kind not in _OF_DATA:
        return read_attribute(holder, key)
    check_key(key)
    return Missing(key, holder)


def read_attribute_loosely(holder: Any, name: str) -> Any:
    """Return `holder.name` in a chat template.

    A method comes before a key of its name. If there is no such part, the result prints as nothing.
    """
    kind = holder.__class__
    if kind is dict and name in DICT_NAMES and name not in MAPPING_METHODS:
        return Blank(Missing(name, holder))
    return HeldMethod(holder, name) if kind in _OF_DATA and name in _METHODS[kind] else soften(read_attribute(holder, name))


def read_item_loosely(holder: Any, key: Any) -> Any:
    """Return `holder[key]` in a chat template.

    A key comes before a method of its name. If there is no such part, the result prints as nothing.
    """
    kind = holder.__class__
    if key.__class__ is str and kind in _OF_DATA and not (kind is dict and key in holder):
        return read_attribute_loosely(holder, key)
    if key.__class__ not in SCALARS and kind in _OF_DATA:
        return Blank(Missing(key, holder))  # no mapping has such a key, and no text or list such a place
    return soften(read_item(holder, key))


class HeldMethod:
    """A method that a chat template uses as a value. As in Jinja, `x.items` is one, and so is `x['items']` if `x` has no such key."""

    __slots__ = ("holder", "name")

    def __init__(self, holder: Any, name: str) -> None:
        self.holder = holder
        self.name = name


def call_value(run: Run, callee: Any, /, *args: Any, **named: Any) -> Any:
    """Return `callee(...)` of a macro, a block, a joiner or an allowed function. Raises `Fault` (PC0409) for any other value."""
    kind = callee.__class__
    if kind is Macro:
        return callee.call(args, named)
    if kind is BlockCall:
        if args or named:
            refuse("PC0424", "a block takes no arguments", "use a macro")
        return callee.call()
    if kind is Joiner:
        return callee()
    if kind is HeldMethod:
        return call_method(run, callee.holder, callee.name, args, named)
    if kind is Clock:
        return callee.call(*args, **named)
    if kind is Missing or kind is Blank:
        callee.fail()
    if callee.__class__ is _FUNCTION and callee in _CALLABLE:
        return _call_function(run, callee, args, named)
    return refuse("PC0409", f"{name_kind(callee)} cannot be called", "leave the `()` out")


def _call_function(run: Run, function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    try:
        return function(run, *args, **named)
    except (TypeError, ValueError):
        from promptc.template import signatures  # late: only a refused call needs the table of signatures

        name = function.__qualname__
        signatures.raise_wrong(signatures.FUNCTIONS.get(name) or signatures.CHAT[name], args, named, run.limits)
        raise


_FUNCTION = type(read_item)


def call_part(run: Run, holder: Any, name: str, /, *args: Any, **named: Any) -> Any:
    """Return `holder.name(...)`: the result of an allowed method, or of whatever `holder.name` is."""
    kind = holder.__class__
    if kind is str and name == "format" and run.lenient:
        return _fill_fields(run, holder, args, named)
    if kind in _OF_DATA and (kind is not dict or name in MAPPING_METHODS):
        return call_method(run, holder, name, args, named)
    if kind in _OWN_METHODS and name in _METHODS[kind]:
        pay_parts(run, args)
        try:
            return getattr(holder, name)(*args, **named)
        except TypeError:
            from promptc.template import signatures  # late, as above

            signatures.raise_wrong(signatures.LOOP_METHODS[name], args, named, run.limits)
            raise
    return call_value(run, read_attribute(holder, name), *args, **named)


def _fill_fields(run: Run, text: str, args: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Return `text.format(...)` in a chat template. Raises `Fault` (PC0414) for a field that does more than name a value."""
    from string import Formatter  # late: few templates format

    run.take(1 + len(text))
    fields = [(name, layout or conversion) for _, name, layout, conversion in Formatter().parse(text) if name is not None]
    if any(more or not (name.isidentifier() or name.isdecimal() or not name) for name, more in fields):
        refuse("PC0414", "a field of `format` reads a part of a value, or lays it out", "write fields such as `{}`, `{0}` and `{name}`")
    shown, told = [show(run, one) for one in args], {name: show(run, one) for name, one in named.items()}
    run.make(len(text) + len(fields) * max(map(len, (*shown, *told.values(), ""))))
    try:
        return text.format(*shown, **told)
    except LookupError:
        return refuse("PC0414", "a field of `format` has no value", "give a value for each field of the text")


def make_reader(run: Run, attribute: Any, default: Any = None) -> Reader:
    """Return a function that reads the part of a value that `attribute` names.

    Dots separate nested parts, and digits between dots are indexes. None names the value itself. A part that does not exist is `default`,
    or undefined if that is None.
    """
    parts = _split(attribute)
    if default is None and len(parts) == 1:
        return _build_single(run, parts[0])
    if default is None and len(parts) == 2:
        return _build_double(run, parts[0], parts[1])
    run.take(len(parts))

    def read(value: Any) -> Any:
        run.take(4 * len(parts))
        for part in parts:
            value = read_part(run, value, part)
            if default is not None and value.__class__ in UNDEFINED:
                value = default
        return value

    return read


def make_readers(run: Run, attribute: Any) -> list[Reader]:
    """Return the readers of several parts, whose names are separated by commas."""
    names = attribute.split(",") if attribute.__class__ is str else [attribute]
    run.take(len(names))
    return [make_reader(run, name) for name in names]


def _build_single(run: Run, part: Any) -> Reader:
    def read(value: Any) -> Any:
        return value[part] if value.__class__ is dict and part in value else read_part(run, value, part)

    check_key(part)
    return read


def _build_double(run: Run, outer: Any, inner: Any) -> Reader:
    def read(value: Any) -> Any:
        if value.__class__ is dict and outer in value:
            held = value[outer]
            if held.__class__ is dict and inner in held:
                return held[inner]
        return read_part(run, read_part(run, value, outer), inner)

    check_key(outer)
    check_key(inner)
    return read


def _split(attribute: Any) -> list[Any]:
    if attribute is None:
        return []
    if attribute.__class__ is str:
        return [int(part) if part.isdigit() else part for part in attribute.split(".")]
    return [attribute]


def read_part(run: Run, value: Any, part: Any) -> Any:
    """Return `value[part]` for a key, an index, or a name of a group or namespace; an undefined value if there is no such part."""
    kind = value.__class__
    if kind is dict:
        return value[part] if check_key(part) in value else _lack(run, part, value)
    if kind in UNDEFINED:
        return value[part]
    if kind is Namespace and part.__class__ is str:
        return value.read(part)
    if kind is Group and part in ("grouper", "list"):
        return getattr(value, part)
    if kind in _SEQUENCES and part.__class__ in _PLACES and -len(value) <= part < len(value):
        return value[part]
    return _lack(run, part, value)


def _lack(run: Run, part: Any, value: Any) -> Any:
    found = Missing(part, value)
    return Blank(found) if run.lenient else found


def compare(run: Run, name: str, left: Any, right: Any) -> bool:
    """Return the result of one of Jinja's operators: eq ne lt lteq gt gteq in notin."""
    if name in _SEARCHES:
        return contains(run, right, left) is _SEARCHES[name]
    first, second = left.__class__, right.__class__
    if first not in SCALARS or second not in SCALARS or (first is str and second is str):
        if second is Missing:
            right.fail()
        pay_pair(run, left, right)
    return _OPERATORS[name](left, right)


def contains(run: Run, holder: Any, sought: Any) -> bool:
    """Return the result of `sought in holder`."""
    if holder.__class__ in SCALARS and holder.__class__ is not str:
        refuse("PC0414", f"nothing can be in {name_kind(holder)}", "look in a list, a mapping or a string")
    if holder.__class__ is Blank:
        return False
    if hasattr(holder, "__len__"):
        pay_search(run, sought, holder)
        return sought in holder
    return _is_among(run, sought, holder)


def _is_among(run: Run, sought: Any, values: Any) -> bool:
    if not hasattr(values, "__iter__"):
        refuse_part(values)
    for value in values:
        run.take(2)
        pay_pair(run, sought, value)
        if value is sought or value == sought:
            return True
    return False


def plain(run: Run, value: Any, depth: int = 0) -> Any:
    """Return the value as plain data: its sequences as lists, its keys as JSON writes them. What is plain already is returned unchanged.

    Raises `Fault` for anything that is not data, and for an undefined value what its use raises.
    """
    run.take(12)
    kind = value.__class__
    if kind in SCALARS:
        return value
    depth = check_depth(depth)
    if kind is dict:
        made = {name_key(run, key): plain(run, part, depth) for key, part in value.items()}
        return value if all(map(_is_same, value.items(), made.items())) else made
    if kind is Missing or kind is Blank:
        value.fail()
    if not hasattr(value, "__iter__"):
        refuse_part(value)
    parts = list(value)
    plains = [plain(run, part, depth) for part in parts]
    return value if kind is list and all(map(_is, parts, plains)) else plains


def _is(one: Any, other: Any) -> bool:
    return one is other


def _is_same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    return one[0] is other[0] and one[1] is other[1]


def name_key(run: Run, key: Any) -> str:
    """Return the key of a mapping as JSON writes it."""
    if key.__class__ is str:
        return key
    return show(run, key) if key.__class__ in (int, float) else _NAMED_KEYS[key]


def undefined(name: str) -> Missing:
    """Return the undefined value of an unknown name."""
    return Missing(name, of_names=True)


def soften(value: Any) -> Any:
    """Return the value, or in place of an undefined one, a value that prints as nothing."""
    return Blank(value) if value.__class__ is Missing else value


def concat(run: Run, *values: Any) -> str:
    """Return `a ~ b`, for any number of values."""
    return run.join([show(run, value) for value in values])


def need_text(value: Any) -> str:
    """Return the result of a `{% filter %}` or `{% call %}` block. Raises `Fault` (PC0413) if it is not a text."""
    if value.__class__ is str:
        return value
    if value.__class__ is Missing:
        value.fail()
    return refuse("PC0413", f"the block gives {name_kind(value)} and not a string", "end with a filter that gives a string: `| string`")


def cut_slice(run: Run, value: Any, start: Any, stop: Any, step: Any) -> Any:
    """Return `value[start:stop:step]`, paid for."""
    if value.__class__ not in _CUT and not isinstance(value, tuple):
        if value.__class__ is Missing or value.__class__ is Blank:
            value.fail()
        refuse("PC0414", f"{name_kind(value)} cannot be sliced", "slice a string or a list")
    run.take(1 + (len(value) >> 3))
    return value[start:stop:step]


def need_namespace(value: Any) -> dict[str, Any]:
    """Return the parts of `a` in `{% set a.b = ... %}`. Raises `Fault` (PC0414) if it is anything but a namespace."""
    if value.__class__ is not Namespace:
        if value.__class__ is Missing:
            value.fail()
        refuse(
            "PC0414", f"only a namespace can be given an attribute, not {name_kind(value)}", "write `{% set ns = namespace(x=1) %}` first"
        )
    return value.values


def spread(run: Run, values: Any) -> tuple[Any, ...]:
    """Return the arguments that `*values` passes in a call."""
    if values.__class__ is Missing:
        values.fail()
    if values.__class__ is dict or values.__class__ is str or isinstance(values, list | tuple | range):
        run.take(len(values))
        return tuple(values)
    if not hasattr(values, "__next__"):
        refuse("PC0414", f"{name_kind(values)} is not a list", "give `*` a list")
    found = []
    for value in values:
        run.take(1)
        found.append(value)
    return tuple(found)


def spread_named(run: Run, values: Any) -> dict[str, Any]:
    """Return the arguments that `**values` passes in a call."""
    if values.__class__ is Missing:
        values.fail()
    if values.__class__ is not dict or not all(name.__class__ is str for name in values):
        refuse("PC0414", f"{name_kind(values)} cannot name arguments", "give `**` a mapping with strings as keys")
    run.take(len(values))
    return values


def show(run: Run, value: Any) -> str:
    """Return the text that a value prints as.
    Texts, numbers, true, false, none, ranges, and lists and mappings of them can be printed; an `if` without `else` prints as nothing.
    Anything else would print an address, the inside of the compiler, or `Undefined`. It raises `Fault`, and an undefined value
    `MissingFault`.
    """
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind is int:
        if value.bit_length() > 64:
            run.take(value.bit_length() >> 3)
        return str(value)
    if kind in SCALARS or kind is range:
        return str(value)
    if kind is Blank:
        return ""
    if kind is Missing:
        value.fail()
    run.make(weigh(run, value).characters)
    made = str(value)
    run.make(len(made))
    return made


class Weight:
    """The size of a value: its parts and characters, each counted as often as it occurs, and how deep its lists nest."""

    __slots__ = ("parts", "characters", "depth")

    def __init__(self) -> None:
        self.parts = 0
        self.characters = 0
        self.depth = 0


def weigh(run: Run, value: Any) -> Weight:
    """Return the weight of plain data, and pay four steps for each part. Raises `Fault` for anything else."""
    weight = Weight()
    level = [value]
    while level:
        run.take(4 * len(level))
        weight.depth = check_depth(weight.depth)
        weight.parts += len(level)
        inner: list[Any] = []
        for part in level:
            kind = part.__class__
            if kind is str:
                run.take(len(part) >> 4)
                weight.characters += len(part) * (1 if part.isprintable() else 4 if part.isascii() else 10)
            elif kind in LISTS:
                run.take(len(part) >> 3)
                inner.extend(part)
            elif kind is dict:
                run.take(len(part) >> 2)
                inner.extend(part)
                inner.extend(part.values())
            elif kind not in SCALARS and kind is not range:
                refuse_part(part)
        level = inner
    return weight


def refuse_part(part: Any) -> None:
    """Raise the fault of a part that is not data."""
    if part.__class__ is Missing:
        part.fail()
    if part.__class__ in UNDEFINED:
        refuse("PC0411", "a list or mapping that is printed holds an undefined value", "leave it out, or give it a value with `else`")
    what = name_kind(part)
    refuse("PC0413", f"{what} cannot be printed", "add `| list`" if what == UNMADE else "print a value of the data")


def add(run: Run, left: Any, right: Any) -> Any:
    """Return `left + right` of numbers, texts or lists."""
    first, second = left.__class__, right.__class__
    if first in NUMBERS and second in NUMBERS:
        return bound_number(run, left + right)
    if first in _JOINED and _JOINED[first] is _JOINED.get(second):
        _pay_sequence(run, left, len(left) + len(right))
        return left + right
    return _refuse("+", left, right)


def need_plain(run: Run, value: Any) -> Any:
    """Return a value that Jinja would escape as HTML, because a chat template puts it into a text of `safe` or `escape`.

    A text without special characters is the same either way. Any other text, and a list, raises `Fault` (PC0414), since the result would
    differ from what others render.
    """
    if value.__class__ is str:
        run.take(1 + (len(value) >> 4))
    if not _MARKUP.isdisjoint(value) if value.__class__ is str else value.__class__ in (list, tuple, dict):
        refuse("PC0414", "Jinja escapes what is put into a text of `safe` or `escape`", "join with `~`, or leave `safe` out")
    return value


_MARKUP = frozenset("&<>'\"")


def _pay_sequence(run: Run, sequence: Any, size: int) -> None:
    """Pay for a text or list of that size. An element of a list takes as much memory as eight characters."""
    run.make(size)
    if sequence.__class__ is not str:
        run.take(size >> 1)


def subtract(run: Run, left: Any, right: Any) -> Any:
    """Return `left - right`."""
    _check_numbers("-", left, right)
    return bound_number(run, left - right)


def multiply(run: Run, left: Any, right: Any) -> Any:
    """Return `left * right` of numbers, or a text or list repeated."""
    first, second = left.__class__, right.__class__
    if first in NUMBERS and second in NUMBERS:
        return bound_number(run, left * right)
    sequence, times = (left, right) if first in _JOINED else (right, left)
    kind = sequence.__class__
    if kind not in _JOINED or times.__class__ not in (int, bool):
        _refuse("*", left, right)
    _pay_sequence(run, sequence, len(sequence) * max(times, 0))
    return left * right


def divide(run: Run, left: Any, right: Any) -> Any:
    """Return `left / right`, which is never an integer."""
    _check_numbers("/", left, right)
    return bound_number(run, left / right)


def floor_divide(run: Run, left: Any, right: Any) -> Any:
    """Return `left // right`, rounded down."""
    _check_numbers("//", left, right)
    return bound_number(run, left // right)


def modulo(run: Run, left: Any, right: Any) -> Any:
    """Return `left % right`: the remainder of a division, or a text with its places filled."""
    if left.__class__ is str:
        return format_percent(run, left, right)
    _check_numbers("%", left, right)
    return bound_number(run, left % right)


def power(run: Run, left: Any, right: Any) -> Any:
    """Return `left ** right`."""
    _check_numbers("**", left, right)
    if left.__class__ is int and right.__class__ is int and left.bit_length() * right > 2 * run.limits.bits and left not in (-1, 1):
        _refuse_size(run)
    return bound_number(run, left**right)


def negate(run: Run, value: Any) -> Any:
    """Return `-value`."""
    _check_number("-", value)
    return -value


def positive(run: Run, value: Any) -> Any:
    """Return `+value`."""
    _check_number("+", value)
    return +value


def bound_number(run: Run, value: Any) -> Any:
    """Return the number. Raises `Fault` (PC0416) if it is too large, not finite or complex."""
    kind = value.__class__
    if kind is int:
        if value.bit_length() > run.limits.bits:
            _refuse_size(run)
    elif kind is float:
        if value - value != 0.0:
            refuse("PC0416", f"the number {value} cannot be written in JSON", "use smaller numbers")
    elif kind is complex:
        refuse("PC0416", "a number below zero has no root", "test first: `a >= 0`")
    return value


def _refuse_size(run: Run) -> NoReturn:
    refuse("PC0416", f"this number has more than {run.limits.bits} bits", "use smaller numbers")


def format_percent(run: Run, pattern: str, values: Any) -> str:
    """Return `pattern % values`, as Python formats it. Widths and precisions are at most `Limits.width`, and never read from the values."""
    run.take(1 + (len(pattern) >> 2))
    specs = stretch = 0
    for spec in _SPEC.finditer(pattern):
        specs += 1
        stretch = max(stretch, _check_spec(run, spec))
    run.take(4 * specs)
    longest = _count_longest(run, values)
    run.make(len(pattern) + specs * max(longest * stretch, run.limits.width if specs else 0))
    made: str = pattern % values
    return made


def _check_spec(run: Run, spec: re.Match[str]) -> int:
    """Return the factor by which a conversion may lengthen a value.

    Raises `Fault` for a conversion that is too wide (PC0430) or not allowed (PC0424).
    """
    most = run.limits.width
    for width in spec.group(1, 2):
        if width == "*" or (width and (len(width) > 6 or int(width) > most)):
            refuse("PC0430", f"`{spec.group()[:40]}` pads to more than {most} characters", "use a smaller width, or raise `limits.width`")
    if spec.group(3) == "c":
        refuse("PC0424", "promptc has no `%c`", "use `%s`")
    return 10 if spec.group(3) in "ra" else 1


def _count_longest(run: Run, values: Any) -> int:
    if isinstance(values, tuple):
        return max((len(show(run, value)) for value in values), default=0)
    return len(show(run, values))


def _check_numbers(sign: str, left: Any, right: Any) -> None:
    if left.__class__ not in NUMBERS or right.__class__ not in NUMBERS:
        _refuse(sign, left, right)


def _check_number(sign: str, value: Any) -> None:
    if value.__class__ not in NUMBERS:
        check_defined(value)
        refuse("PC0414", f"`{sign}` does not work with {name_kind(value)}", _ask(value))


def _refuse(sign: str, left: Any, right: Any) -> NoReturn:
    check_defined(left)
    check_defined(right)
    hint = "join strings with `~`" if sign == "+" and str in (left.__class__, right.__class__) else _ask(left, right)
    refuse("PC0414", f"`{sign}` does not work with {name_kind(left)} and {name_kind(right)}", hint)


def _ask(*values: Any) -> str:
    if any(value is None for value in values):
        return "ask for none first, or give a value with `default(..., true)`"
    return "add `| list`" if UNMADE in map(name_kind, values) else "compare and count like with like"
