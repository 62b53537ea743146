"""The types: sets of values that a name, a path or an expression of a pack may have, and the problems found with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Rule = Literal[
    "name",
    "part",
    "absent",
    "reads_none",
    "none",
    "prints_none",
    "holds_none",
    "kind",
    "some_kind",
    "never",
    "always",
    "unprintable",
    "argument",
    "given",
    "as_text",
]
"""The kinds of problems.

`name`: the name does not exist. `part`: no valid state has the part. `absent`: the value may be undefined. `reads_none`: the value may be
left out, and then reads as none. `none`: the value may be none, which stops the run. `prints_none`: the value may be none, which prints
as `None`. `holds_none`: the value is a list or a mapping with a part that may be none, and is printed whole. `kind`: the value has a
wrong type. `some_kind`: the value may have a wrong type. `never`: the value is compared with one that it never equals. `always`: the
value is tested for being defined, and always is. `unprintable`: a lazy sequence is printed. `argument`: a call cannot work with its
arguments. `given`: a key of the manifest cannot work with its value. `as_text`: a time is ordered as a text.
"""

Reason = Literal["closed", "optional", "undeclared", "unlike", "none", "left_out", "place", "empty", "given"]
Shape = Literal["list", "tuple", "lazy", "range"]
_SHAPES = {"list": "a list", "tuple": "a list", "lazy": "a sequence that is not a list yet", "range": "a range"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: its rule, its place, and its subject.

    `file` and `position` are arguments for `Place.make_span`. `subject` is the value as the author wrote it, empty if it is computed.
    `kind` is the value's type, or the member of the type that is wrong. `wants` says what the use accepts (`` `upper` takes a text ``).
    `gap` describes the missing part. `told` is the code, message and help of a run's failure (`argument`), or of the finding itself
    (`given`).
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
    """A set of values. It contains every value that is not known to be excluded."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class UnknownType(Type):
    """Any value: nothing is known about it."""


@dataclass(frozen=True, slots=True)
class TextType(Type):
    """A text of at most `characters` characters and `size` bytes of UTF-8 (None: no bound); `values` lists the possible texts, if known.

    `at` is the JSON pointer of the schema that sets no bound, or else of the text's source. `format` is the schema's `format`.
    """

    characters: int | None = None
    size: int | None = None
    values: frozenset[str] | None = None
    at: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class NumberType(Type):
    """A number from `least` to `most` (None: no bound). `whole`: the schema says that it is an integer, which includes 1.0."""

    whole: bool = False
    least: float | int | None = None
    most: float | int | None = None
    values: frozenset[float | int] | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class BoolType(Type):
    """True or false; `value` if only one of them is possible."""

    value: bool | None = None


@dataclass(frozen=True, slots=True)
class NoneType(Type):
    """None. `absent`: the schema declares the part, without requiring it or giving a default, so that a part left out reads as none.

    `at` is the JSON pointer of such a part. It stays where a test told the author that the part is always defined.
    """

    absent: bool = False
    at: str = ""


@dataclass(frozen=True, slots=True)
class UndefinedType(Type):
    """Undefined: any use except `is defined` and `default` stops the run.

    `reason` says why: no value may have the part (`closed`); the part may be left out (`optional`); the part may exist but is not declared
    (`undeclared`); its holder has no parts of that sort (`unlike`); its holder is none (`none`), because it is left out (`left_out`);
    a list is too short (`place`, `empty`); or the caller passes no value (`given`).
    `certain`: the value that was read can only be undefined. `read_at` is the file and the position of that read, `spelled` how it is
    written.
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
    """The value of an `if` without `else` inside `{{ }}` when the condition is false. It prints as nothing."""


@dataclass(frozen=True, slots=True)
class ListType(Type):
    """A sequence of `least` to `most` elements: those of `first`, then elements of type `element`.

    The shape `lazy` is a sequence that is made on demand and cannot be printed. `loose`: no valid state need have as few elements as
    `least`.
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
    """A mapping. `find` returns the type of a key, with an `UndefinedType` among its members if the key may be missing.

    `names` are the declared keys. `closed`: there are no others; if false, `rest` returns the type of the others.
    `at`: the JSON pointer of the schema, empty for a mapping that a template makes.
    """

    names: tuple[str, ...]
    find: Callable[[str], Type]
    rest: Callable[[], Type]
    closed: bool = True
    most: int | None = None
    at: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class OpaqueType(Type):
    """An object of the template language: a loop, macro, module or namespace.

    `find` returns the type of a part, and `call` the type of the result of a call.
    """

    what: str
    find: Callable[[str], Type]
    call: Callable[..., Type] | None = None


@dataclass(frozen=True, slots=True)
class UnionType(Type):
    """One of several types, none of which is itself a union; without members, no value.

    `sure`: each member occurs in some valid state, as far as the schema says.
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
    """Return the members of a union, or the type itself if it is no union."""
    return kind.members if isinstance(kind, UnionType) else (kind,)


def is_sure(kind: Type) -> bool:
    """Return whether each member of the type occurs in some valid state."""
    return not isinstance(kind, UnionType) or kind.sure


def text_of(*values: str) -> TextType:
    """Return the type of a text that is one of `values`."""
    return TextType(max(map(len, values)), max(len(value.encode("utf-8", "surrogatepass")) for value in values), frozenset(values))


def text_up_to(characters: int | None, at: str = "") -> TextType:
    """Return the type of texts of at most `characters` characters (None: no bound), four bytes each."""
    return TextType(characters, None if characters is None else 4 * characters, None, at)


def literal(value: object) -> Type:
    """Return the type of a constant; unknown for what is neither a text, a number, a truth value nor none."""
    if isinstance(value, bool):
        return BoolType(value)
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, int | float):
        return NumberType(isinstance(value, int), value, value, frozenset({value}))
    return NoneType() if value is None else UNKNOWN_TYPE


def make_mapping(fields: dict[str, Type], at: str = "") -> MappingType:
    """Return the type of mappings with exactly these keys."""
    names = tuple(fields)

    def find(name: str) -> Type:
        return fields.get(name) or UndefinedType("closed", name, names, "a mapping", at)

    return MappingType(names, find, lambda: NEVER, True, len(names), at)


_WORDS: dict[type[Type], str] = {
    TextType: "a string",
    NumberType: "a number",
    BoolType: "true or false",
    NoneType: "none",
    MappingType: "a mapping",
    UndefinedType: "undefined",
    BlankType: "nothing",
    UnknownType: "anything",
}


def name_type(kind: Type) -> str:
    """Return the type's name for an author: `a text or none`."""
    named = dict.fromkeys(_name_one(member) for member in list_members(kind))
    return " or ".join(named) or "nothing"


def _name_one(kind: Type) -> str:
    if isinstance(kind, ListType):
        return _SHAPES[kind.shape]
    return f"a {kind.what}" if isinstance(kind, OpaqueType) else _WORDS[type(kind)]
