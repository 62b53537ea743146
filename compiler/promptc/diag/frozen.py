"""Frozen values: what `@dataclass(frozen=True, slots=True)` offers, at a fortieth of its cost when a module is imported.

A render that starts a process pays for every class that it imports. `dataclasses` writes and compiles source for each (0.5 ms a class,
after 14 ms of its own). Here all classes share the same few functions. The types are in `frozen.pyi`.
"""

from _operator import attrgetter

_MISSING = object()
_MUTABLE = frozenset((list, dict, set))
_MANY = 256
"""The number of values of a class after which the class gets its own `__init__`."""


class _Field:
    __slots__ = ("compare", "default", "default_factory", "repr")

    def __init__(self, default, default_factory, repr, compare):
        self.default = default
        self.default_factory = default_factory
        self.repr = repr
        self.compare = compare


_PLAIN = _Field(_MISSING, _MISSING, True, True)


def field(*, default=_MISSING, default_factory=_MISSING, repr=True, compare=True):
    """Return the settings of a field: its default, made anew by a `default_factory`, and whether it is shown and compared."""
    return _Field(default, default_factory, repr, compare)


def frozen(cls=None, /, *, eq=True):
    """Return the class with its annotated names as fields, after those of its base.

    Fields are slots, which `__init__` sets once, by position or by name. Values are equal if their classes and their compared fields are,
    and are hashed by these fields. With `eq=False`, a value is only equal to itself. Values are pickled by their fields. Setting or
    deleting a field raises `AttributeError`. A mutable default (a list, dict or set) raises `TypeError`. `__match_args__` has all fields in
    order. `__post_init__`, `kw_only` and `ClassVar` are not supported, since nothing here uses them.
    """
    return _freeze(cls, eq) if cls is not None else lambda decorated: _freeze(decorated, eq)


def replace(value, /, **changes):
    """Return `value` with other values for the named fields. Raises `TypeError` for a name that is not a field."""
    kind = value.__class__
    fresh = [changes.pop(name) if name in changes else getattr(value, name) for name in kind.__match_args__]
    if changes:
        raise TypeError(f"{kind.__qualname__} has no field {next(iter(changes))!r}")
    return kind(*fresh)


def as_plain(value):
    """Return `value` with every frozen value in it as a dict of its fields, at any depth of tuples, lists and dicts.

    Tuples become lists.
    """
    kind = value.__class__
    if hasattr(kind, "_frozen_fields"):
        return {name: as_plain(getattr(value, name)) for name in kind.__match_args__}
    if isinstance(value, (list, tuple)):
        return [as_plain(one) for one in value]
    return {key: as_plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def _freeze(cls, eq):
    own = tuple(cls.__annotations__)
    space = dict(cls.__dict__)
    space.pop("__dict__", None)
    space.pop("__weakref__", None)
    fields = dict(getattr(cls, "_frozen_fields", ()))
    inherited = tuple(fields)
    for name in own:
        given = space.pop(name, _MISSING)
        if given.__class__ in _MUTABLE:
            raise TypeError(f"{cls.__qualname__}.{name} would be one {given.__class__.__name__} for all: use field(default_factory=...)")
        fields[name] = _PLAIN if given is _MISSING else given if given.__class__ is _Field else _Field(given, _MISSING, True, True)
    names = tuple(fields)
    space["__slots__"] = tuple([name for name in own if name not in inherited])
    space["__match_args__"] = names
    space["_frozen_fields"] = fields
    space["_frozen_values"] = _make_reader(names)
    space.update(_SHARED_EQUAL if eq else _SHARED)
    if eq:
        compared = tuple([name for name in names if fields[name].compare])
        space["_frozen_compared"] = space["_frozen_values"] if compared == names else _make_reader(compared)
    written = cls.__dict__
    space.update([(name, written[name]) for name in _OWN if written.get(name) is not None])
    made = type(cls)(cls.__name__, cls.__bases__, space)
    made.__qualname__ = cls.__qualname__
    made._frozen_made = [0]
    made._frozen_writers = tuple([getattr(made, name).__set__ for name in names])
    return made


def _make_reader(names):
    """Return a function that returns these fields of a value as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda value: (getattr(value, names[0]),)) if names else lambda value: ()


def _init(self, /, *args, **given):
    kind = self.__class__
    made = kind._frozen_made
    made[0] += 1
    if made[0] == _MANY and kind.__dict__.get("__init__") is _init:
        kind.__init__ = _write_init(kind)
    writers = kind._frozen_writers
    if given or len(args) != len(writers):
        args = _arrange(kind, args, given)
    for write, value in zip(writers, args):  # noqa: B905  equal in length by now, and `strict` would cost on every value made
        write(self, value)


def _write_init(kind):
    """Return an `__init__` for one class, which takes at most a third of the time, and refuses what the shared one refuses.

    It costs as much as some dozen values, so a class only gets it after many were made.
    """
    fields, names = kind._frozen_fields, kind.__match_args__
    space = {"_missing": _MISSING, "_arrange": _arrange, "_default": _default, "_kind": kind, "_fields": fields}
    space |= {f"_write_{name}": write for name, write in zip(names, kind._frozen_writers, strict=True)}
    space |= {f"_default_{name}": fields[name].default for name in names}
    taken = "".join(f", {name}=_default_{name}" for name in names)
    lines = [f"def __init__(self, /{taken}, *_rest, **_more):"]
    lines.append(f"    if _rest or _more: _arrange(_kind, ({', '.join([*names, '*_rest'])},), _more)")
    for name in names:
        if fields[name].default is _MISSING:
            lines.append(f"    if {name} is _missing: {name} = _default(_kind, {name!r}, _fields[{name!r}])")
        lines.append(f"    _write_{name}(self, {name})")
    exec("\n".join(lines), space)  # safe: the source contains nothing but names of fields
    return space["__init__"]


def _arrange(kind, args, given):
    """Return the value of every field in order: those given by position and by name, and the defaults."""
    fields = kind._frozen_fields
    if len(args) > len(fields):
        raise TypeError(f"{kind.__qualname__} takes {len(fields)} values, but {len(args)} were given")
    rest = kind.__match_args__[len(args) :]
    values = [*args, *[given.pop(name) if name in given else _default(kind, name, fields[name]) for name in rest]]
    if given:
        name = next(iter(given))
        raise TypeError(f"{kind.__qualname__} " + (f"was given {name!r} twice" if name in fields else f"has no field {name!r}"))
    return values


def _default(kind, name, field):
    if field.default is not _MISSING:
        return field.default
    if field.default_factory is not _MISSING:
        return field.default_factory()
    raise TypeError(f"{kind.__qualname__} needs a value for {name!r}")


def _equal(self, other):
    kind = self.__class__
    if other.__class__ is not kind:
        return NotImplemented
    read = kind._frozen_compared
    return read(self) == read(other)


def _hash(self):
    return hash(self.__class__._frozen_compared(self))


def _repr(self):
    kind = self.__class__
    shown = [f"{name}={getattr(self, name)!r}" for name, field in kind._frozen_fields.items() if field.repr]
    return f"{kind.__qualname__}({', '.join(shown)})"


def _refuse_set(self, name, value):
    raise AttributeError(f"cannot assign to field {name!r}")


def _refuse_delete(self, name):
    raise AttributeError(f"cannot delete field {name!r}")


def _reduce(self):
    kind = self.__class__
    return kind, kind._frozen_values(self)


_SHARED = {"__init__": _init, "__repr__": _repr, "__setattr__": _refuse_set, "__delattr__": _refuse_delete, "__reduce__": _reduce}
_SHARED_EQUAL = {**_SHARED, "__eq__": _equal, "__hash__": _hash}
_OWN = frozenset(("__repr__", "__eq__", "__hash__", "__reduce__"))
"""The methods that a class may define itself, in place of the shared ones."""
