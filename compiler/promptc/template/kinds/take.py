"""Who takes what: whether a use of a value suits its kind."""

from dataclasses import dataclass

from promptc.template.kinds.kind import Blank, Gap, Kind, List, Mapping, Nothing, Number, Text, Thing, Truth, Unknown, list_members

Kinds = tuple[type[Kind], ...]


@dataclass(frozen=True, slots=True)
class Taker:
    """A use of a value: the kinds it is meant for, those it bears without failing though it makes no sense of them, and how that is said.

    All other kinds stop the run. `lazy`: it takes what is not made yet; `gap`: what is undefined; `none`: what reads as none.
    """

    wants: str
    good: Kinds
    bears: Kinds = ()
    lazy: bool = True
    gap: bool = False
    none: bool = False


SCALARS: Kinds = (Text, Number, Truth)
ALL: Kinds = (Text, Number, Truth, Nothing, List, Mapping, Thing)
LISTED: Kinds = (List, Mapping, Thing)

ANY = Taker("anything", ALL, gap=True, none=True)
VALUE = Taker("a value", ALL)
ASKED = Taker("a value", ALL, none=True)
PRINTED = Taker("a value that can be printed", (Text, Number, Truth, Nothing, List, Mapping), lazy=False)
ONLY_TEXT = Taker("a text", (Text,), (Number, Truth, Nothing, List, Mapping), lazy=False)
STRICT_TEXT = Taker("a text", (Text,))
SHOWN_TEXT = Taker("a text", SCALARS, (Nothing, List, Mapping), lazy=False)
NUMBERS = Taker("a number", (Number, Truth))
PARSED = Taker("a number, or a text that holds one", (Number, Truth, Text), (Nothing, List, Mapping), lazy=False)
SIZED = Taker("a number", (Number, Truth, Text))
ITERATED = Taker("a list", LISTED, (Text,))
SEQUENCE = Taker("a list or a text", (*LISTED, Text))
COUNTED = Taker("a list, a mapping or a text", (List, Mapping, Text, Thing), lazy=False)
MAPPED = Taker("a mapping", (Mapping,))
SLICED = Taker("a list or a text", (List, Text), lazy=False)
PARTED = Taker("a mapping", ALL, lazy=False, none=True)


def suits(member: Kind, taker: Taker) -> str:
    """`good`, `bears` or `fails`, for one member of a kind."""
    if isinstance(member, Unknown | Blank):
        return "good"
    if isinstance(member, Gap):
        return "good" if taker.gap else "fails"
    if isinstance(member, List) and member.shape == "lazy" and not taker.lazy:
        return "fails"
    if isinstance(member, taker.good):
        return "good"
    return "bears" if isinstance(member, taker.bears) else "fails"


def find_failing(kind: Kind, taker: Taker) -> tuple[list[Kind], list[Kind]]:
    """The members that stop the run, and those that make no sense to it."""
    members = list_members(kind)
    failing = [member for member in members if suits(member, taker) == "fails"]
    return failing, [member for member in members if suits(member, taker) == "bears"]
