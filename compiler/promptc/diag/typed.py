"""Stand-ins for the names of `typing` that the compiler uses, since importing `typing` takes 8 ms. Their types are in `typed.pyi`.

At run time the names only have to exist. `NamedTuple` is the only one that does something.
"""

from _collections import _tuplegetter

_MISSING = object()
_MANY = 256
"""The number of tuples of a class after which the class gets its own `__new__`."""


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


def final(decorated):
    """Return `decorated`. Only type checkers use the mark."""
    return decorated


class _TupleMaker(type):
    """A metaclass that turns annotations into the named places of a tuple. `collections.namedtuple` compiles source for each class."""

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
        made._made = [0]
        return made


class NamedTuple(metaclass=_TupleMaker):
    """A tuple whose places have names. A subclass has annotated names, and may have defaults and methods."""


def _new_tuple(kind, /, *args, **given):
    made = kind._made
    made[0] += 1
    if made[0] == _MANY and kind.__new__ is _new_tuple:
        kind.__new__ = _write_new(kind)
    if given or len(args) != len(kind._fields):
        args = _arrange(kind, args, given)
    return tuple.__new__(kind, args)


def _write_new(kind):
    """Return a `__new__` for one class, which is several times as fast if places are named or left out.

    It refuses what the shared one refuses. It costs as much as some dozen tuples, so a class only gets it after many were made.
    """
    names = kind._fields
    space = {"_missing": _MISSING, "_new": tuple.__new__, "_shared": _new_tuple}
    space |= {f"_default_{name}": kind._defaults.get(name, _MISSING) for name in names}
    places = "".join([f"{name}, " for name in names])
    missing = "".join([f" or {name} is _missing" for name in names if name not in kind._defaults])
    exec(
        f"def __new__(_kind, /, {''.join([f'{name}=_default_{name}, ' for name in names])}*_rest, **_more):\n"
        f"    if _rest:\n"
        f"        return _shared(_kind, {places}*_rest, **_more)\n"
        f"    if _more{missing}:\n"
        f"        given = zip({names!r}, ({places}))\n"
        f"        return _shared(_kind, **{{name: value for name, value in given if value is not _missing}}, **_more)\n"
        f"    return _new(_kind, ({places}))\n",
        space,
    )  # safe: the source contains nothing but names of places
    return space["__new__"]


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
