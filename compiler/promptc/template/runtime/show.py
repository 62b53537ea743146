"""How a value is printed: as Jinja prints it, or not at all."""

from __future__ import annotations

from promptc.diag.typed import Any
from promptc.diag.value import UNMADE, name_kind
from promptc.template.runtime.fault import refuse
from promptc.template.runtime.objects import Blank, Missing
from promptc.template.runtime.payments import LISTS, SCALARS, UNDEFINED, check_depth
from promptc.template.runtime.run import Run


def show(run: Run, value: Any) -> str:
    """The text of a value, paid for.

    Texts, numbers, true, false, none, ranges; lists and mappings of them; the nothing of an `if` without `else`. All else would print
    an address, the inside of the compiler, or `Undefined`: it raises `Fault`, and an undefined value `MissingFault`.
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
    run.make(weigh(run, value, 4).characters)
    made = str(value)
    run.make(len(made))
    return made


class Weight:
    """How much there is in a value: parts and characters, a part that is met twice counted twice, and how deep its lists nest."""

    __slots__ = ("parts", "characters", "depth")

    def __init__(self) -> None:
        self.parts = 0
        self.characters = 0
        self.depth = 0


def weigh(run: Run, value: Any, price: int) -> Weight:
    """The weight of plain data, `price` steps paid for each part. All else raises `Fault`."""
    weight = Weight()
    level = [value]
    while level:
        run.take(price * len(level))
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
    """Raise what is wrong with a part that is no data."""
    if part.__class__ is Missing:
        part.fail()
    if part.__class__ in UNDEFINED:
        refuse("PC0411", "a list or mapping that is printed holds an undefined value", "leave it out, or give it a value with `else`")
    what = name_kind(part)
    refuse("PC0413", f"{what} cannot be printed", "add `| list`" if what == UNMADE else "print a value of the data")
