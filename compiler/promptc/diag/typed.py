"""Stand-ins for the names of `typing` that the compiler uses, since importing `typing` takes 8 ms. Their types are in `typed.pyi`.

At run time the names only have to exist. `NamedTuple` is the only one that does something.
"""

from collections import namedtuple


class _Form:
    """A name that can be subscripted and joined by `|` when an annotation or an alias is evaluated."""

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
    """A base class for structural types. It can be subscripted, and nothing is checked at run time."""

    __slots__ = ()

    def __class_getitem__(cls, args):
        return cls


class Generic(Protocol):
    """A base class with type parameters, which mean nothing at run time."""

    __slots__ = ()


def TypeVar(name, *bounds, **settings):
    """Return a placeholder for a type parameter, which means nothing at run time."""
    return _Form()


def cast(kind, value):
    """Return `value`."""
    return value


class _TupleMaker(type):
    """A metaclass that makes a `collections.namedtuple` of annotations, as `typing` does."""

    def __new__(mcls, name, bases, space):
        made = super().__new__(mcls, name, (), space)
        if not bases:
            return made
        names = tuple(made.__annotations__)
        defaults = [space[each] for each in names if each in space]
        base = namedtuple(name, names, defaults=defaults, module=made.__module__)
        return type(name, (base,), {"__slots__": (), **{each: value for each, value in space.items() if each not in names}})


class NamedTuple(metaclass=_TupleMaker):
    """A tuple whose places have names. A subclass has annotated names, and may have defaults and methods."""
