"""The types of values before there are any: what a name, a path or an expression of a pack may be, and the problems found with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Rule = Literal[
    "name", "part", "absent", "reads_none", "none", "kind", "some_kind", "never", "always", "unprintable", "argument", "given", "as_text"
]
"""`name`: nothing has the name. `part`: no valid state has the part. `absent`: it may be undefined. `reads_none`: it may be left out,
and then is none. `none`: it may be none, and the run then fails. `kind`: it is of the wrong kind; `some_kind`: it may be. `never`: it is
compared with what it never is. `always`: it is asked whether it is defined, and always is. `unprintable`: what is not made yet is
printed. `argument`: a call cannot work with what it is given. `given`: a key of the manifest cannot. `as_text`: a time is put in order
as a text."""

Reason = Literal["closed", "optional", "undeclared", "unlike", "none", "left_out", "place", "empty", "given"]
Shape = Literal["list", "tuple", "lazy", "range"]
_SHAPES = {"list": "a list", "tuple": "a list", "lazy": "a sequence that is not a list yet", "range": "a range"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: its rule, its place, and what it is about.

    `file` and `position` are what `Place.make_span` takes. `subject` is the value as the author wrote it (empty where it is computed),
    `kind` its kind or the member of it that is wrong, `wants` what takes it (`` `upper` takes a text ``), `gap` what is missing.
    `told`: of an `argument`, the code, the message and the help that a run would fail with; of what is `given`, those it has.
    """

    rule: Rule
    file: str
    position: int
    subject: str
    kind: Type
    wants: str = ""
    gap: UndefinedType | None = None
    known: tuple[str, ...] = ()
    told: tuple[str, str, str] | None = None


class Type:
    """A set of values. What is not known to be excluded belongs to it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class UnknownType(Type):
    """Anything: nothing is said about it."""


@dataclass(frozen=True, slots=True)
class TextType(Type):
    """A text of at most `characters` characters and `size` bytes of UTF-8 (None: no bound); `values` where they are listed.

    `at` is the JSON pointer of the schema that gives no bound, or else where the text comes from. `format` is what the schema says of it.
    """

    characters: int | None = None
    size: int | None = None
    values: frozenset[str] | None = None
    at: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class NumberType(Type):
    """A number from `least` to `most` (None: no bound). `whole`: an integer by the schema, which 1.0 is, too."""

    whole: bool = False
    least: float | int | None = None
    most: float | int | None = None
    values: frozenset[float | int] | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class BoolType(Type):
    """True or false; `value` where only one of them can be."""

    value: bool | None = None


@dataclass(frozen=True, slots=True)
class NoneType(Type):
    """None. `absent`: the schema declares it and neither requires it nor gives a default, so it reads as none where it is left out."""

    absent: bool = False
    at: str = ""


@dataclass(frozen=True, slots=True)
class UndefinedType(Type):
    """Undefined: any use but `is defined` and `default` stops the run.

    `reason`: nothing may have the part (`closed`), it may be left out (`optional`), it may be there and is not declared (`undeclared`),
    what it is read of has no parts like that (`unlike`), or is none (`none`; `left_out`: because it is left out), a list is too short
    (`place`, `empty`), or the caller gives no value (`given`). `certain`: where it was read, it could be nothing else; `read_at`: the
    file and the place of that, `spelled` how it is written.
    """

    reason: Reason = "closed"
    part: str = ""
    known: tuple[str, ...] = ()
    holder: str = ""
    at: str = ""
    certain: bool = False
    read_at: tuple[str, int] | None = None
    spelled: str = ""


@dataclass(frozen=True, slots=True)
class BlankType(Type):
    """What an `if` without `else` gives inside `{{ }}`: it prints as nothing."""


@dataclass(frozen=True, slots=True)
class ListType(Type):
    """A sequence of `least` to `most` elements: those of `first`, then elements of kind `element`.

    `lazy`: made when it is asked for, and not printable. `loose`: it need not be able to be as short as `least`.
    """

    element: Type
    least: int = 0
    most: int | None = None
    first: tuple[Type, ...] = ()
    shape: Shape = "list"
    loose: bool = False
    at: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class MappingType(Type):
    """A mapping. `find` gives the kind of a key, with an `UndefinedType` in it where the key may be missing; `names` are the declared keys.

    `closed`: there are no others; otherwise `rest` gives their kind. `at`: the JSON pointer of the schema, empty for what a template makes.
    """

    names: tuple[str, ...]
    find: Callable[[str], Type]
    rest: Callable[[], Type]
    closed: bool = True
    most: int | None = None
    at: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class OpaqueType(Type):
    """An object of the template's own: a loop, macro, module, namespace. `find` gives its parts, `call` what calling it gives."""

    what: str
    find: Callable[[str], Type]
    call: Callable[..., Type] | None = None


@dataclass(frozen=True, slots=True)
class UnionType(Type):
    """One of several kinds, none of which is a union; without members, no value at all.

    `sure`: for each member there is a valid state that has it, as far as the schema's own words go.
    """

    members: tuple[Type, ...] = ()
    sure: bool = True


UNKNOWN_TYPE = UnknownType()
NEVER = UnionType()
NONE_TYPE = NoneType()
BOOL_TYPE = BoolType()
TEXT_TYPE = TextType()
NUMBER_TYPE = NumberType()
WHOLE = NumberType(whole=True)


def list_members(kind: Type) -> tuple[Type, ...]:
    """The kinds that a kind consists of: itself where it is no union."""
    return kind.members if isinstance(kind, UnionType) else (kind,)


def is_sure(kind: Type) -> bool:
    """True when each member can be met in a valid state."""
    return not isinstance(kind, UnionType) or kind.sure


def text_of(*values: str) -> TextType:
    """The kind of texts that are known."""
    return TextType(max(map(len, values)), max(len(value.encode("utf-8", "surrogatepass")) for value in values), frozenset(values))


def text_up_to(characters: int | None, at: str = "") -> TextType:
    """A text of at most so many characters; one takes at most four bytes."""
    return TextType(characters, None if characters is None else 4 * characters, None, at)


def make_mapping(fields: dict[str, Type], at: str = "") -> MappingType:
    """A mapping of exactly these keys."""
    names = tuple(fields)

    def find(name: str) -> Type:
        return fields.get(name) or UndefinedType("closed", name, names, "a mapping", at)

    return MappingType(names, find, lambda: NEVER, True, len(names), at)


_WORDS: dict[type[Type], str] = {
    TextType: "a text",
    NumberType: "a number",
    BoolType: "true or false",
    NoneType: "none",
    MappingType: "a mapping",
    UndefinedType: "undefined",
    BlankType: "nothing",
    UnknownType: "anything",
}


def name_type(kind: Type) -> str:
    """A kind as it is told to an author: `a text or none`."""
    named = dict.fromkeys(_name_one(member) for member in list_members(kind))
    return " or ".join(named) or "nothing"


def _name_one(kind: Type) -> str:
    if isinstance(kind, ListType):
        return _SHAPES[kind.shape]
    return f"a {kind.what}" if isinstance(kind, OpaqueType) else _WORDS[type(kind)]
