"""The names of `typing` that the compiler uses, without its 8 ms: at run time they only have to be there. Their meaning is in `typed.pyi`.

`NamedTuple` is the one that does something.
"""

from _collections import _tuplegetter

_MISSING = object()


class _Form:
    """A name that may be subscripted and joined by `|` wherever an annotation or an alias is evaluated."""

    __slots__ = ()

    def __getitem__(self, args):
        return self

    def __or__(self, other):
        return self

    __ror__ = __or__


Any = _Form()
ClassVar = _Form()
Literal = _Form()
NoReturn = _Form()
Self = _Form()
IO = _Form()
TextIO = _Form()


class Protocol:
    """A base class for what is known by what it offers. It may be subscripted; nothing is checked at run time."""

    __slots__ = ()

    def __class_getitem__(cls, args):
        return cls


class Generic(Protocol):
    """A base class with type parameters, which mean nothing at run time."""

    __slots__ = ()


def TypeVar(name, *bounds, **settings):
    """A type parameter: nothing at run time."""
    return _Form()


def cast(kind, value):
    """`value`."""
    return value


def overload(function):
    """Nothing: the last definition is the one that is called."""
    return function


def final(decorated):
    """`decorated`: only a type checker minds."""
    return decorated


class _TupleMaker(type):
    """Turns a class's annotations into a tuple's named places. Slimmer than `collections.namedtuple`, which compiles source for each."""

    def __new__(mcls, name, bases, space):
        if not bases:
            return super().__new__(mcls, name, bases, space)
        made = type(name, (tuple,), {**space, "__slots__": ()})
        names = tuple(made.__annotations__)
        made._defaults = {each: getattr(made, each) for each in names if each in space}
        made._fields = made.__match_args__ = names
        for place, each in enumerate(names):
            setattr(made, each, _tuplegetter(place, None))
        for each, function in _TUPLE.items():
            if each not in space:
                setattr(made, each, function)
        return made


class NamedTuple(metaclass=_TupleMaker):
    """A tuple whose places have names: a class of annotated names, with defaults and methods if it likes."""


def _new_tuple(kind, /, *args, **given):
    if given or len(args) != len(kind._fields):
        args = _arrange(kind, args, given)
    return tuple.__new__(kind, args)


def _arrange(kind, args, given):
    if len(args) > len(kind._fields):
        raise TypeError(f"{kind.__qualname__} takes {len(kind._fields)} values, but {len(args)} were given")
    values = list(args)
    for name in kind._fields[len(args) :]:
        value = given.pop(name, kind._defaults.get(name, _MISSING))
        if value is _MISSING:
            raise TypeError(f"{kind.__qualname__} needs a value for {name!r}")
        values.append(value)
    if given:
        raise TypeError(f"{kind.__qualname__} has no place {next(iter(given))!r}, or was given it twice")
    return values


def _replace_in_tuple(self, /, **changes):
    kind = self.__class__
    values = [changes.pop(name) if name in changes else value for name, value in zip(kind._fields, self, strict=True)]
    return _new_tuple(kind, *values, **changes)


def _show_tuple(self):
    return f"{self.__class__.__name__}({', '.join([f'{name}={value!r}' for name, value in zip(self._fields, self, strict=True)])})"


def _reduce_tuple(self):
    return self.__class__, tuple(self)


_TUPLE = {"__new__": _new_tuple, "_replace": _replace_in_tuple, "__repr__": _show_tuple, "__reduce__": _reduce_tuple}
