"""What an unknown name, key or attribute gives, and what an `if` without `else` gives."""

from __future__ import annotations

from collections.abc import Iterator
from sys import _getframe

from promptc.diag.typed import Any, NoReturn
from promptc.diag.value import name_kind
from promptc.template.runtime.fault import Fault, refuse

TEMPLATE = "<template "
"""How the file names of generated code begin; the template's own name and `>` follow."""


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


def find_place() -> tuple[str, int]:
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
        self.place = find_place()

    def fail(self, *_: object, **__: object) -> NoReturn:
        """Raise what using the value means."""
        if self.hint:
            refuse("PC0411", self.hint)
        raise MissingFault(self.name, self.holder, of_names=self.of_names, place=self.place)

    __hash__ = fail


class Blank:
    """Prints as nothing, is false and holds nothing; any other use raises `Fault`."""

    __slots__ = ()

    def fail(self, *_: object, **__: object) -> NoReturn:
        """Raise what using the value means."""
        refuse("PC0421", "an `if` without `else` gave nothing", "say what it is otherwise: `... else none`")

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


BLANK = Blank()

_ARITHMETIC = "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos abs round"
_BOTH = f"{_ARITHMETIC} lt le gt ge getitem call int float index contains"
_STRICT = f"{_BOTH} iter str len eq ne bool"

for _name in _STRICT.split():
    setattr(Missing, f"__{_name}__", Missing.fail)
for _name in _BOTH.split():
    setattr(Blank, f"__{_name}__", Blank.fail)
