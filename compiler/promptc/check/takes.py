"""What the keys of a manifest accept from expressions: a `Takes` for each kind of key (`LIST`, `COUNT` ...).

`Takes.refuses` returns whether no value of a type is accepted, and `Takes.describe` the message and the help for it. The constants are at
the end of the module, after the functions that make them; `one_of` makes a `Takes` for keys that accept some texts only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import floor, inf

from promptc.diag.findings import show_value
from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal
from promptc.template.types.algebra import join_members
from promptc.template.types.types import (
    NEVER,
    NUMBER_TYPE,
    TEXT_TYPE,
    BoolType,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    TextType,
    Type,
    UndefinedType,
    UnknownType,
    list_members,
    name_type,
)

_CASES_SHOWN = 6
_LARGE = 10**15
_PLAIN = re.compile(r"[\w.]+")
_PARSED = "{} | int"

_FORMS: Mapping[tuple[str, type[Type]], str] = {
    **{("list", one): "[{}]" for one in (NumberType, BoolType)},
    ("list", TextType): "{}.splitlines()",
    ("list", NoneType): "{} | default([], true)",
    **{(goal, TextType): _PARSED for goal in ("number", "whole")},
    **{(goal, BoolType): "1 if {} else 0" for goal in ("number", "whole")},
    **{(goal, ListType): "{} | length" for goal in ("number", "whole")},
    **{(goal, NoneType): "{} | default(1, true)" for goal in ("number", "whole")},
    **{("text", one): "{} | string" for one in (NumberType, BoolType)},
    ("text", NoneType): "{} | default('', true)",
}
"""Expressions that convert a value, by what the key wants and the type that it gets."""

_PLURALS: dict[type[Type], str] = {
    TextType: "strings",
    NumberType: "numbers",
    BoolType: "true and false",
    NoneType: "none",
    MappingType: "mappings",
    ListType: "lists",
}


@frozen(eq=False)
class Takes:
    """What a key accepts.

    `accepts` returns, for a type that is not a union, whether some value of the type may be accepted. `goal` is what to convert other
    values to, and `example` shows how the key can be written.
    """

    wants: str
    accepts: Callable[[Type], bool]
    goal: Literal["list", "number", "whole", "text", "case"] = "text"
    example: str = ""

    def refuses(self, kind: Type) -> bool:
        """Return whether no value of the type is accepted."""
        members = list_members(kind)
        return bool(members) and not any(self.accepts(member) for member in members)

    def describe(self, what: str, code: str, kind: Type, *, is_constant: bool) -> tuple[str, str]:
        """Return the message and the help for a key that gets a type that it refuses; `code` is the expression."""
        message = f"{what} is {_show(kind, self)}, but must be {self.wants}"
        member = list_members(kind)[0]
        form = "" if is_constant else self._choose_form(member)
        if form:
            shown = code if _PLAIN.fullmatch(code) else f"({code})"
            return message, f"write `{form.format(shown)}`{' if the text holds a number' if form == _PARSED else ''}"
        is_shown = self.example and (is_constant or self.goal == "case" or not isinstance(member, NumberType))
        return message, f"write {self.example}" if is_shown else "correct the path, or the schema"

    def _choose_form(self, member: Type) -> str:
        """Return a format for converting an expression of this type to what the key accepts; empty if no conversion is known."""
        if isinstance(member, TextType) and member.format in ("date-time", "date") and self.goal == "number":
            return "{} | timestamp"
        if isinstance(member, MappingType) and self.goal != "list":
            names = sorted(member.names, key=lambda name: name != "id")
            part = next((name for name in names if name.isidentifier() and not self.refuses(member.find(name))), "")
            return f"{{}}.{part}" if part else ""
        if isinstance(member, MappingType):
            return "[{}]" if member.closed else "{}.values() | list"
        if isinstance(member, ListType) and self.goal == "text":
            return "{} | join(' ')" if all(isinstance(one, TextType) for one in list_members(join_members(member))) else ""
        if isinstance(member, NumberType) and self.goal == "whole":
            return "{} | round | int" if member.most is None or member.most >= 0 else ""
        return _FORMS.get((self.goal, type(member)), "")


def one_of(names: Sequence[str], example: str = "", *, none: bool = False) -> Takes:
    """Return a `Takes` that accepts one of some texts; with `none`, also none."""

    def accepts(member: Type) -> bool:
        if isinstance(member, TextType):
            return member.values is None or not member.values.isdisjoint(names)
        return isinstance(member, UnknownType) or (none and isinstance(member, NoneType))

    shown = " or ".join(f"`{name}`" for name in names[:_CASES_SHOWN]) + (" …" if len(names) > _CASES_SHOWN else "")
    return Takes(shown + (", or none" if none else ""), accepts, "case", example)


def _show(kind: Type, takes: Takes) -> str:
    """Return the type in words: a list by its elements if the key accepts other lists, and a number or a case by its values."""
    members = list_members(kind)
    if all(isinstance(one, ListType) for one in members) and takes.accepts(ListType(NEVER)):
        elements = [element for one in members if isinstance(one, ListType) for element in list_members(join_members(one))]
        return " or ".join(dict.fromkeys(f"a list of {_PLURALS.get(type(one), 'what has no kind')}" for one in elements))
    values = [_list_values(one, takes) for one in members]
    if all(values):
        shown = [value for some in values for value in some]
        return " or ".join(shown[:_CASES_SHOWN]) + (" …" if len(shown) > _CASES_SHOWN else "")
    return name_type(kind)


def _list_values(member: Type, takes: Takes) -> list[str]:
    if isinstance(member, NumberType) and takes.accepts(NUMBER_TYPE):
        return [*map(_spell, sorted(member.values))] if member.values is not None else [_show_range(member)]
    if isinstance(member, TextType) and takes.accepts(TEXT_TYPE):
        return [show_value(value) for value in sorted(member.values or ())]
    return []


def _spell(value: float | int) -> str:
    return str(value) if abs(value) < _LARGE else f"{'-' if value < 0 else ''}10^15 and more"


def _show_range(number: NumberType) -> str:
    least = f" from {_spell(number.least)}" if number.least is not None else ""
    most = f" {'to' if least else 'up to'} {_spell(number.most)}" if number.most is not None else ""
    return f"a number{least}{most}"


def _accept(*types: type[Type]) -> Callable[[Type], bool]:
    return lambda member: isinstance(member, (UnknownType, *types))


def _accept_whole(least: int | None) -> Callable[[Type], bool]:
    """Return a predicate for numbers that may be whole and at least `least`."""
    return lambda member: isinstance(member, UnknownType) or (isinstance(member, NumberType) and _may_be_whole(member, least))


def _may_be_whole(number: NumberType, least: int | None) -> bool:
    bounds = [one for one in (number.least, least) if one is not None]
    if number.values is not None:
        return any((isinstance(value, int) or value.is_integer()) and all(value >= one for one in bounds) for value in number.values)
    low = max(bounds, default=None)
    if low is None or number.most in (None, inf):
        return True
    return number.most != -inf and floor(number.most) >= low


def _any_of(*ways: Callable[[Type], bool]) -> Callable[[Type], bool]:
    return lambda member: any(way(member) for way in ways)


def _accept_list(accepts: Callable[[Type], bool]) -> Callable[[Type], bool]:
    """Return a predicate for lists of which an element may be accepted, or which are always empty."""

    def judge(member: Type) -> bool:
        elements = list_members(join_members(member)) if isinstance(member, ListType) else ()
        return isinstance(member, ListType) and (not elements or any(map(accepts, elements)))

    return judge


def _accept_part(member: Type) -> bool:
    """Return whether a value may be a part of a message: a mapping whose `type` may be a text."""
    types = list_members(member.find("type")) if isinstance(member, MappingType) else ()
    may = (isinstance(one, TextType | UnknownType) or (isinstance(one, UndefinedType) and one.reason == "undeclared") for one in types)
    return isinstance(member, UnknownType) or any(may)


ANYTHING = Takes("anything", lambda member: True)
"""For conditions, and for values that are kept as they are."""

LIST = Takes("a list or none", _accept(ListType, NoneType), "list", "a list: `state.log`, or `[]` for an empty list")
EACH = Takes("a list", _accept(ListType), "list", "a list: `state.log`; a single value goes by `to`")
SHOWN = Takes("a list or none", _accept(ListType, NoneType), "list", "the ids of the turn before: `state.shown.lore`")
COUNT = Takes("a whole number from 0", _accept_whole(0), "whole", "a whole number such as `4`, or `state.depth`")
CAP = Takes(
    "a whole number or none", _any_of(_accept_whole(None), _accept(NoneType)), "whole", "a whole number of the state: `state.npc_budget`"
)
MEDIA_TOKENS = Takes(
    "a whole number from 0, or none", _any_of(_accept_whole(0), _accept(NoneType)), "whole", "a whole number of the part: `part.tokens`"
)
PLACE = Takes("a whole number", _accept_whole(None), "whole", "a whole number of the item: `item.turn`")
NUMBER = Takes("a number", _accept(NumberType), "number", "a number of what is read: `item.weight`")
KEY = Takes(
    "a string, a number, true, false or none", _accept(TextType, NumberType, BoolType, NoneType), "text", "a part of the item: `item.id`"
)
SORTED = Takes("a number, a string or none", _accept(TextType, NumberType, NoneType), "text", "a part of the item: `item.at`")
_IDS = _any_of(_accept(TextType), _accept_whole(None))
DRAWN = Takes("a string or a whole number", _IDS, "text", "an id: `state.user.id`")
REF = Takes("a string, a whole number, a list of these, or none", _any_of(_IDS, _accept(NoneType), _accept_list(_IDS)), "text",
            "an id: `state.scene.id`")  # fmt: skip
_TEXTS = _any_of(_accept(TextType, NoneType), _accept_list(_accept(TextType, NoneType)))
LOCALE = Takes("a string, a list of strings, or none", _TEXTS, "text", "`\"'en'\"`, or `state.locale`")
QUERY = Takes("a string, a list of strings, or none", _TEXTS, "text", "a string of the state: `state.query`")
TEXT_OR_NONE = Takes("a string or none", _accept(TextType, NoneType), "text", "a string of the state: `state.query`")
CONTENT = Takes("a string, or a list of parts such as `{type: text, text: Hello}`", _any_of(_accept(TextType), _accept_list(_accept_part)),
                "text", "a string of the item: `item.text`")  # fmt: skip
