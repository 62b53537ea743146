"""The objects a template meets that are no data: loops, groups, modules, what is undefined, and the faults that using them raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from sys import _getframe

from promptc.diag.findings import name_kind
from promptc.diag.typed import Any, NoReturn, Self

_NOTHING = object()
TEMPLATE = "<template "
"""How the file names of generated code begin; the template's own name and `>` follow."""

_ARITHMETIC = "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos abs round"
_BOTH = f"{_ARITHMETIC} lt le gt ge getitem call int float index contains"
_STRICT = f"{_BOTH} iter str len eq ne bool"


class Group(tuple[Any, ...]):
    """A pair: what the group has in common (`grouper`), and its elements (`list`). Printed and compared as the pair it is."""

    __slots__ = ()

    @property
    def grouper(self) -> Any:
        """What the elements have in common."""
        return self[0]

    @property
    def list(self) -> Any:
        """The elements."""
        return self[1]


class Loop:
    """Iterates over pairs of an element and this. `length`, `last` and `nextitem` look ahead, as Jinja's do."""

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
        """How many elements."""
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
        """The turn, from 1."""
        return self.index0 + 1

    @property
    def revindex(self) -> int:
        """Turns to the end, this one included."""
        return self.length - self.index0

    @property
    def revindex0(self) -> int:
        """Turns to the end, without this one."""
        return self.length - self.index

    @property
    def first(self) -> bool:
        """Whether this is the first turn."""
        return self.index0 == 0

    @property
    def last(self) -> bool:
        """Whether this is the last turn."""
        return self._peek() is _NOTHING

    @property
    def depth(self) -> int:
        """Loops do not recurse."""
        return 1

    @property
    def depth0(self) -> int:
        """How deep the loop is, from 0."""
        return 0

    @property
    def previtem(self) -> Any:
        """The element before; undefined in the first turn."""
        return Missing("previtem", hint="there is no element before the first") if self.first else self._before

    @property
    def nextitem(self) -> Any:
        """The element after; undefined in the last turn."""
        after = self._peek()
        return Missing("nextitem", hint="there is no element after the last") if after is _NOTHING else after

    def cycle(self, first: Any, /, *rest: Any) -> Any:
        """One of the values, in turn."""
        values = (first, *rest)
        return values[self.index0 % len(values)]

    def changed(self, *values: Any) -> bool:
        """Whether the values differ from those of the last call. The caller pays for comparing them."""
        if self._changed == values:
            return False
        self._changed = values
        return True


class _Missing:
    __slots__ = ()


missing = _Missing()
"""Never seen by a template: reading a variable that holds it gives an undefined value."""


class Module:
    """What a template exports, as attributes, and the text it made on the way. Names with `_` are never exported."""

    __slots__ = ("exports", "name", "text")

    def __init__(self, name: str, text: str, exports: Mapping[str, Any]) -> None:
        self.name = name
        self.text = text
        self.exports = exports

    def read(self, name: str) -> Any:
        """What it exports under a name; undefined where there is none."""
        return self.exports[name] if name in self.exports else Missing(name, self)


def read_export(module: Module, name: str) -> Any:
    """What `from ... import name` binds."""
    if name in module.exports:
        return module.exports[name]
    return Missing(name, hint=f"the template `{module.name}` does not export `{name}`")


class Fault(Exception):
    """A finding without its place; `explain_error` adds that."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.help = help


class MissingFault(Fault):
    """An undefined value was used: `name` is not among the parts of `holder`, or of the names themselves when `of_names`.

    `place`: the template's name, and the line of the generated code where the value arose.
    """

    def __init__(self, name: object, holder: object, *, of_names: bool, place: tuple[str, int]) -> None:
        message = f"`{name}` is not known" if of_names else f"{name_kind(holder)} has no {name_part(name)}"
        super().__init__("PC0410" if of_names else "PC0411", message)
        self.name = name
        self.holder = holder
        self.of_names = of_names
        self.place = place


def name_part(name: object) -> str:
    """A key or place as it is told: never more than a line of it, and nothing of what is no data."""
    if isinstance(name, str):
        return f"`{name[:80]}`"
    return f"element {name}" if name.__class__ is int else f"key that is {name_kind(name)}"


def read_place() -> tuple[str, int]:
    """The name of the template that is running, and the line of its generated code."""
    frame: Any = _getframe(1)
    while frame is not None:
        file: str = frame.f_code.co_filename
        if file.startswith(TEMPLATE):
            return file[len(TEMPLATE) : -1], frame.f_lineno
        frame = frame.f_back
    return "", 1


class Missing:
    """Any use but `is defined` and `default` raises `MissingFault`, with the place where it arose. `hint` replaces its message."""

    __slots__ = ("name", "holder", "of_names", "hint", "place")

    def __init__(self, name: object, holder: object = None, *, of_names: bool = False, hint: str = "") -> None:
        self.name = name
        self.holder = holder
        self.of_names = of_names
        self.hint = hint
        self.place = read_place()

    def fail(self, *_: object, **__: object) -> NoReturn:
        """Raise what using the value means."""
        if self.hint:
            refuse("PC0411", self.hint)
        raise MissingFault(self.name, self.holder, of_names=self.of_names, place=self.place)

    __hash__ = fail


class Blank:
    """Prints as nothing, is false and holds nothing; any other use raises `Fault`: that of `absent`, where it stands for an undefined
    value."""

    __slots__ = ("absent",)

    def __init__(self, absent: Missing | None = None) -> None:
        self.absent = absent

    def fail(self, *_: object, **__: object) -> NoReturn:
        """Raise what using the value means."""
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
    """Raise the `Fault`."""
    raise Fault(code, message, help)


BLANK = Blank()


for _name in _BOTH.split():
    setattr(Blank, f"__{_name}__", Blank.fail)


for _name in _STRICT.split():
    setattr(Missing, f"__{_name}__", Missing.fail)
