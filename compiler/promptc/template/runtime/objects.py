"""The objects of a template that are not data: loops, groups, modules and undefined values; and the faults that their use raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from sys import _getframe

from promptc.diag.findings import name_kind
from promptc.diag.typed import Any, NoReturn, Self

_NOTHING = object()
TEMPLATE = "<template "
"""The prefix of the file names of generated code. The template's own name and `>` follow."""

_ARITHMETIC = "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos abs round"
_BOTH = f"{_ARITHMETIC} lt le gt ge getitem call int float index contains"
_STRICT = f"{_BOTH} iter str len eq ne bool"


class Group(tuple[Any, ...]):
    """A pair of a key that the elements share (`grouper`) and the elements (`list`). Prints and compares as that pair."""

    __slots__ = ()

    @property
    def grouper(self) -> Any:
        """The key that the elements share."""
        return self[0]

    @property
    def list(self) -> Any:
        """The elements."""
        return self[1]


class Loop:
    """An iterator over pairs of an element and this object. As in Jinja, `length`, `last` and `nextitem` look ahead."""

    __slots__ = ("_after", "_before", "_changed", "_current", "_length", "_values", "_waiting", "index0")

    def __init__(self, values: Any) -> None:
        self.index0 = -1
        self._values = values
        self._waiting: Iterator[Any] = iter(values)
        self._length = -1
        self._after = self._before = self._current = self._changed = _NOTHING

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[Any, Self]:
        if self._after is not _NOTHING:
            value, self._after = self._after, _NOTHING
        else:
            value = next(self._waiting)
        self.index0 += 1
        self._before, self._current = self._current, value
        return value, self

    def _peek(self) -> Any:
        if self._after is _NOTHING:
            self._after = next(self._waiting, _NOTHING)
        return self._after

    @property
    def length(self) -> int:
        """The number of elements."""
        if self._length < 0:
            if hasattr(self._values, "__len__"):
                self._length = len(self._values)
            else:
                rest = list(self._waiting)
                self._waiting = iter(rest)
                self._length = len(rest) + self.index + (self._after is not _NOTHING)
        return self._length

    @property
    def index(self) -> int:
        """The number of the iteration, from 1."""
        return self.index0 + 1

    @property
    def revindex(self) -> int:
        """The number of iterations left, including this one."""
        return self.length - self.index0

    @property
    def revindex0(self) -> int:
        """The number of iterations left, without this one."""
        return self.length - self.index

    @property
    def first(self) -> bool:
        """Whether this is the first iteration."""
        return self.index0 == 0

    @property
    def last(self) -> bool:
        """Whether this is the last iteration."""
        return self._peek() is _NOTHING

    @property
    def depth(self) -> int:
        """The depth of the loop, from 1. It is always 1, since loops do not recurse."""
        return 1

    @property
    def depth0(self) -> int:
        """The depth of the loop, from 0. It is always 0, since loops do not recurse."""
        return 0

    @property
    def previtem(self) -> Any:
        """The previous element; undefined in the first iteration."""
        return Missing("previtem", hint="there is no element before the first") if self.first else self._before

    @property
    def nextitem(self) -> Any:
        """The next element; undefined in the last iteration."""
        after = self._peek()
        return Missing("nextitem", hint="there is no element after the last") if after is _NOTHING else after

    def cycle(self, first: Any, /, *rest: Any) -> Any:
        """Return one of the values, in turn by the iteration."""
        values = (first, *rest)
        return values[self.index0 % len(values)]

    def changed(self, *values: Any) -> bool:
        """Return whether the values differ from those of the last call. The caller pays for the comparison."""
        if self._changed == values:
            return False
        self._changed = values
        return True


class _Missing:
    __slots__ = ()


missing = _Missing()
"""The value of a variable that is not set. No template sees it: reading such a variable results in an undefined value."""


class Module:
    """The exports of a template, as attributes, and the text that it rendered. Names that begin with `_` are never exported."""

    __slots__ = ("exports", "name", "text")

    def __init__(self, name: str, text: str, exports: Mapping[str, Any]) -> None:
        self.name = name
        self.text = text
        self.exports = exports

    def read(self, name: str) -> Any:
        """Return the value that the module exports under a name, or an undefined value if it does not export the name."""
        return self.exports[name] if name in self.exports else Missing(name, self)


def read_export(module: Module, name: str) -> Any:
    """Return the value that `from ... import name` binds, or an undefined value if the module does not export the name."""
    if name in module.exports:
        return module.exports[name]
    return Missing(name, hint=f"the template `{module.name}` does not export `{name}`")


class Fault(Exception):
    """A finding without its place, which `explain_error` adds."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.help = help


class MissingFault(Fault):
    """Raised when an undefined value is used: `holder` has no part `name` or, with `of_names`, no variable has that name.

    `place` is the name of the template, and the line of the generated code at which the value arose.
    """

    def __init__(self, name: object, holder: object, *, of_names: bool, place: tuple[str, int]) -> None:
        message = f"`{name}` is not defined" if of_names else f"{name_kind(holder)} has no {name_part(name)}"
        super().__init__("PC0410" if of_names else "PC0411", message)
        self.name = name
        self.holder = holder
        self.of_names = of_names
        self.place = place


def name_part(name: object) -> str:
    """Return a key or an index as messages show it: at most 80 characters of a text, and of what is not data only the kind."""
    if isinstance(name, str):
        return f"`{name[:80]}`"
    return f"element {name}" if name.__class__ is int else f"key that is {name_kind(name)}"


def read_place() -> tuple[str, int]:
    """Return the name of the template that is running and the line of its generated code, or `("", 1)` if none is running."""
    frame: Any = _getframe(1)
    while frame is not None:
        file: str = frame.f_code.co_filename
        if file.startswith(TEMPLATE):
            return file[len(TEMPLATE) : -1], frame.f_lineno
        frame = frame.f_back
    return "", 1


class Missing:
    """An undefined value. Any use but `is defined` and `default` raises `MissingFault`, with the place at which the value arose.

    With a `hint`, it raises a `Fault` (PC0411) with that message instead.
    """

    __slots__ = ("name", "holder", "of_names", "hint", "place")

    def __init__(self, name: object, holder: object = None, *, of_names: bool = False, hint: str = "") -> None:
        self.name = name
        self.holder = holder
        self.of_names = of_names
        self.hint = hint
        self.place = read_place()

    def fail(self, *_: object, **__: object) -> NoReturn:
        """Raise the fault of using this value."""
        if self.hint:
            refuse("PC0411", self.hint)
        raise MissingFault(self.name, self.holder, of_names=self.of_names, place=self.place)

    __hash__ = fail


class Blank:
    """A value that prints as nothing, is false and is empty. Any other use raises `Fault`.

    The fault is that of the undefined value `absent`, if this object replaces one, or else that of an `if` without `else` (PC0421).
    """

    __slots__ = ("absent",)

    def __init__(self, absent: Missing | None = None) -> None:
        self.absent = absent

    def fail(self, *_: object, **__: object) -> NoReturn:
        """Raise the fault of using this value."""
        if self.absent is not None:
            self.absent.fail()
        refuse("PC0421", "this `if` has no `else`, and its condition does not hold", "add an `else`, such as `else none`")

    def __str__(self) -> str:
        return ""

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Blank

    def __hash__(self) -> int:
        return 0


def refuse(code: str, message: str, help: str = "") -> NoReturn:
    """Raise a `Fault`."""
    raise Fault(code, message, help)


BLANK = Blank()


for _name in _BOTH.split():
    setattr(Blank, f"__{_name}__", Blank.fail)


for _name in _STRICT.split():
    setattr(Missing, f"__{_name}__", Missing.fail)
