"""Every expression and template of a plan: what names it may read, and what its key takes of it (language.md §3).

`iter_texts` lists those of a render, `iter_operation_texts` those of a run of operations. `Takes` is what a key takes: a value that it
does not take stops the run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import floor, inf

from promptc.check.schema_types import SchemaTypes, follow_pointer, make_literal
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.model.messages import Append, Ask, Keep, Operation, Set, StateEdit
from promptc.model.pack import Assign, Band, Let, PackModel, Plan, list_steps
from promptc.model.section import (
    Evict,
    Fence,
    Items,
    Lower,
    Ranked,
    Recap,
    Replace,
    Retrieve,
    Section,
    Segments,
    Step,
    Trim,
    has_each,
    iter_expressions,
)
from promptc.model.sources import StateIndex, Store
from promptc.template.compile import Expression, Template
from promptc.template.types.algebra import element_type, join_members, join_types, map_members
from promptc.template.types.types import (
    BOOL_TYPE,
    NEVER,
    NONE_TYPE,
    NUMBER_TYPE,
    TEXT_TYPE,
    UNKNOWN_TYPE,
    WHOLE,
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
    make_mapping,
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
"""By what is wanted and what is given: an expression that turns one into the other."""

_PLURALS: dict[type[Type], str] = {
    TextType: "texts",
    NumberType: "numbers",
    BoolType: "true and false",
    NoneType: "none",
    MappingType: "mappings",
    ListType: "lists",
}

Names = Mapping[str, frozenset[str] | None]
"""The names that may be read; for each its parts, or None where the state or an expression decides them."""

_SECTION = frozenset({"id", "title", "role"})
_STRAIN = frozenset({"tier", "index", "percent"})
_READ = frozenset({"number", "anchor", "kept"})
_ITEM = _READ | {"id"}
_STEP = _ITEM | {"tokens", "chars", "form"}
_ROLE = "one of them for each item: `'assistant' if item.from == 'agent' else 'user'`"


@frozen(eq=False)
class Takes:
    """What a key takes. `accepts` tells of a kind that is no union whether some value of it may be taken; `goal` is what to turn others
    into, `example` how the key may be written.
    """

    wants: str
    accepts: Callable[[Type], bool]
    goal: Literal["list", "number", "whole", "text", "case"] = "text"
    example: str = ""

    def refuses(self, kind: Type) -> bool:
        """Whether no value of the kind is taken."""
        members = list_members(kind)
        return bool(members) and not any(self.accepts(member) for member in members)

    def describe(self, what: str, code: str, kind: Type, *, is_constant: bool) -> tuple[str, str]:
        """The message and the help for a key that is given a kind it refuses; `code` is the expression."""
        message = f"{what} gives {_show(kind, self)}, and it takes {self.wants}"
        member = list_members(kind)[0]
        form = "" if is_constant else self._choose_form(member)
        if form:
            shown = code if _PLAIN.fullmatch(code) else f"({code})"
            return message, f"write `{form.format(shown)}`{', where the text holds a number' if form == _PARSED else ''}"
        is_shown = self.example and (is_constant or self.goal == "case" or not isinstance(member, NumberType))
        return message, f"write {self.example}" if is_shown else "correct the path, or the schema"

    def _choose_form(self, member: Type) -> str:
        """How an expression of that kind is turned into what is taken; empty where no way is known."""
        if isinstance(member, TextType) and member.format == "date-time" and self.goal == "number":
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


ANYTHING = Takes("anything", lambda member: True)
"""A condition, or a value that is kept as it is."""


@frozen(eq=False)
class UsedText:
    """An expression or template as it is used: what the author calls it, the names it sees, and the section it belongs to.

    `types` are those of names that no schema of the state tells of, `holds` a condition under which alone it is evaluated. `takes`: what
    the key takes of an expression.
    """

    what: str
    code: Expression | Template
    names: Names
    section: Section | None = None
    types: Mapping[str, Type] = field(default_factory=dict)
    holds: Expression | None = None
    takes: Takes = ANYTHING


def _accept(*types: type[Type]) -> Callable[[Type], bool]:
    return lambda member: isinstance(member, (UnknownType, *types))


LIST = Takes("a list or none", _accept(ListType, NoneType), "list", "a list: `state.log`, or `[]` for one without elements")
EACH = Takes("a list", _accept(ListType), "list", "a list: `state.log`; a single value goes by `to`")


def _accept_whole(least: int | None) -> Callable[[Type], bool]:
    """Numbers of which one may be whole, and not under `least`."""
    return lambda member: isinstance(member, UnknownType) or (isinstance(member, NumberType) and _may_be_whole(member, least))


COUNT = Takes("a whole number from 0", _accept_whole(0), "whole", "a whole number such as `4`, or `state.depth`")
PLACE = Takes("a whole number", _accept_whole(None), "whole", "a whole number of the item: `item.turn`")
NUMBER = Takes("a number", _accept(NumberType), "number", "a number of what is read: `item.weight`")
KEY = Takes(
    "a text, a number, true, false or none", _accept(TextType, NumberType, BoolType, NoneType), "text", "a part of the item: `item.id`"
)
SORTED = Takes("a number, a text or none", _accept(TextType, NumberType, NoneType), "text", "a part of the item: `item.at`")


def _any_of(*ways: Callable[[Type], bool]) -> Callable[[Type], bool]:
    return lambda member: any(way(member) for way in ways)


_IDS = _any_of(_accept(TextType), _accept_whole(None))
DRAWN = Takes("a text or a whole number", _IDS, "text", "an id: `state.user.id`")


def _accept_list(accepts: Callable[[Type], bool]) -> Callable[[Type], bool]:
    """Lists of which an element may be taken. One that is always empty has none to refuse."""

    def judge(member: Type) -> bool:
        elements = list_members(join_members(member)) if isinstance(member, ListType) else ()
        return isinstance(member, ListType) and (not elements or any(map(accepts, elements)))

    return judge


REF = Takes("a text, a whole number, a list of these, or none", _any_of(_IDS, _accept(NoneType), _accept_list(_IDS)), "text",
            "an id: `state.scene.id`")  # fmt: skip
LOCALE = Takes("a text, a list of texts, or none", _any_of(_accept(TextType, NoneType), _accept_list(_accept(TextType, NoneType))), "text",
               "`\"'en'\"`, or `state.locale`")  # fmt: skip
TEXT_OR_NONE = Takes("a text or none", _accept(TextType, NoneType), "text", "a text of the state: `state.query`")


def _accept_part(member: Type) -> bool:
    """A part of a message: a mapping that may have a text as its `type`."""
    types = list_members(member.find("type")) if isinstance(member, MappingType) else ()
    may = (isinstance(one, TextType | UnknownType) or (isinstance(one, UndefinedType) and one.reason == "undeclared") for one in types)
    return isinstance(member, UnknownType) or any(may)


CONTENT = Takes("a text, or a list of parts such as `{type: text, text: Hello}`", _any_of(_accept(TextType), _accept_list(_accept_part)),
                "text", "a text of the item: `item.text`")  # fmt: skip


def one_of(names: Sequence[str], example: str = "", *, none: bool = False) -> Takes:
    """One of some texts, or with `none` also none."""

    def accepts(member: Type) -> bool:
        if isinstance(member, TextType):
            return member.values is None or not member.values.isdisjoint(names)
        return isinstance(member, UnknownType) or (none and isinstance(member, NoneType))

    shown = " or ".join(f"`{name}`" for name in names[:_CASES_SHOWN]) + (" …" if len(names) > _CASES_SHOWN else "")
    return Takes(shown + (", or none" if none else ""), accepts, "case", example)


def iter_operation_texts(pack: PackModel, state: Type) -> Iterator[UsedText]:
    """All that a run of any operation may evaluate. `state` is the kind of the pack's states."""
    for operation in pack.operations:
        yield from _iter_operation(operation, _list_names(pack), state)


def _iter_operation(operation: Operation, names: Names, state: Type) -> Iterator[UsedText]:
    if operation.when is not None:
        bare = {name: parts for name, parts in names.items() if name != "answers"}
        yield UsedText(f"`when` of `{operation.name}`", operation.when, bare, types=_make_types(operation, 0))
    for place in range(len(operation.asks)):
        yield from _iter_ask(operation, place, names)
    types = _make_types(operation, len(operation.asks))
    for place, edit in enumerate(operation.edits):
        yield from _iter_edit(operation, place, edit, names, types, state)
    if operation.say is not None:
        removed = make_mapping({name: NumberType(True, 0) for name in operation.archives})
        yield UsedText(f"`say` of `{operation.name}`", operation.say, {**names, "removed": None}, types={**types, "removed": removed})


# --- the types of arguments and answers ---


def _make_types(operation: Operation, asked: int) -> dict[str, Type]:
    """The types of `args`, and of `answers` when so many asks are answered."""
    args = make_mapping({name: _make_argument_type(default) for name, default in operation.args.items()})
    return {"args": args, "answers": _make_answers_type(operation, asked)}


def _make_argument_type(default: Any) -> Type:
    """Any value of the default's kind may be given."""
    if default is None or isinstance(default, dict):
        return UNKNOWN_TYPE
    if isinstance(default, bool):
        return BOOL_TYPE
    if isinstance(default, list):
        return ListType(UNKNOWN_TYPE)
    return TEXT_TYPE if isinstance(default, str) else WHOLE if isinstance(default, int) else make_literal(0.5)


def _make_answers_type(operation: Operation, asked: int, *, sure: Sequence[int] = ()) -> Type:
    """An answer that is not there yet, or not asked for, is none. `sure` are the places of those that are."""
    types = {}
    for place, ask in enumerate(operation.asks):
        kind = _make_answer_type(ask) if place < asked else NONE_TYPE
        types[ask.name] = join_types(kind, NONE_TYPE) if ask.when is not None and place not in sure and place < asked else kind
    return make_mapping(types)


def _make_answer_type(ask: Ask) -> Type:
    schema = ask.check.schema if ask.check is not None else None
    return _unplace(SchemaTypes(schema.schema).make((), (schema.schema,))) if schema is not None else TEXT_TYPE


def _unplace(kind: Type) -> Type:
    """The kind without places in its schema, which would be taken for places in the state's."""
    return map_members(kind, _unplace_one)


def _unplace_one(kind: Type) -> Type:
    match kind:
        case MappingType():
            find, rest = kind.find, kind.rest
            return MappingType(kind.names, lambda name: _unplace(find(name)), lambda: _unplace(rest()), kind.closed, kind.most)
        case ListType():
            first = tuple(map(_unplace, kind.first))
            return ListType(_unplace(kind.element), kind.least, kind.most, first, kind.shape, kind.loose)
        case TextType():
            return TextType(kind.characters, kind.size, kind.values)
        case NumberType():
            return NumberType(kind.whole, kind.least, kind.most, kind.values)
        case NoneType():
            return NoneType(kind.absent)
        case UndefinedType():
            return UndefinedType(kind.reason, kind.part, kind.known, kind.holder)
        case _:
            return kind


def _iter_ask(operation: Operation, place: int, names: Names) -> Iterator[UsedText]:
    """Claims see the answer they are about, and those before it."""
    ask, types = operation.asks[place], _make_types(operation, place)
    answered = {**types, "answers": _make_answers_type(operation, place + 1, sure=(place,))}
    name = f"{operation.name}.asks.{ask.name}"
    if ask.when is not None:
        yield UsedText(f"`when` of `{name}`", ask.when, names, types=types)
    yield UsedText(f"`else` of `{name}`", ask.otherwise, names, types=types, holds=ask.when)
    for claim in ask.check.claims if ask.check is not None else ():
        yield UsedText(f"`that` of `{name}`", claim.that, names, types=answered, holds=ask.when)
        yield UsedText(f"`else` of a claim of `{name}`", claim.otherwise, names, types=answered, holds=ask.when)


def _iter_edit(
    operation: Operation, place: int, edit: StateEdit, names: Names, types: Mapping[str, Type], state: Type
) -> Iterator[UsedText]:
    if edit.when is not None:
        yield UsedText(f"`when` of `{operation.name}.edits[{place}]`", edit.when, names, types=types)
    codes: dict[str, Expression | Template | None] = {}
    if isinstance(edit, Set):
        codes = {"to": edit.value}
    elif isinstance(edit, Append):
        codes = {"to": edit.value, "each": edit.each}
    elif isinstance(edit, Keep):
        codes = {"last": edit.last}
        if edit.where is not None:
            element = element_type(follow_pointer(state, edit.pointer))
            yield _make_edit_text(
                operation, place, "where", edit.where, {**names, "item": None}, {**types, "item": element or UNKNOWN_TYPE}
            )
    for key, code in codes.items():
        if code is not None:
            yield _make_edit_text(operation, place, key, code, names, types)


def _make_edit_text(
    operation: Operation, place: int, key: str, code: Expression | Template, names: Names, types: Mapping[str, Type]
) -> UsedText:
    """Where an edit has a `when`, what is asked only sometimes is taken as answered: its condition says so, in its own words."""
    when = operation.edits[place].when
    asks = operation.asks
    answered = {**types, "answers": _make_answers_type(operation, len(asks), sure=range(len(asks)))} if when is not None else types
    takes = {"each": EACH, "last": COUNT}.get(key, ANYTHING)
    return UsedText(f"`{key}` of `{operation.name}.edits[{place}]`", code, names, types=answered, holds=when, takes=takes)


def _list_names(pack: PackModel) -> dict[str, frozenset[str] | None]:
    return {"state": None, **dict.fromkeys(let.name for let in pack.lets), "args": None, "answers": None}


def iter_edit_values(pack: PackModel, operation: Operation) -> Iterator[tuple[StateEdit, UsedText]]:
    """Each edit that puts a value into the state, with the expression of that value."""
    names, types = _list_names(pack), _make_types(operation, len(operation.asks))
    for place, edit in enumerate(operation.edits):
        code = edit.value if isinstance(edit, Set | Append) else None
        code = edit.each if code is None and isinstance(edit, Append) else code
        if code is not None:
            key = "each" if isinstance(edit, Append) and edit.each is not None else "to"
            yield edit, _make_edit_text(operation, place, key, code, names, types)


def iter_texts(pack: PackModel, plan: Plan, tiers: int) -> Iterator[UsedText]:
    """All texts that a render of `plan`, with so many tiers in force, may evaluate; those of the pack as a whole first."""
    yield from _iter_pack(pack)
    names = _list_bound(pack)
    steps = list_steps(pack.strain.tiers[:tiers])[0] if pack.strain is not None else ()
    earlier: list[str] = []
    for section in plan.sections:
        seen = {**names, "strain": _STRAIN, "selected": frozenset(earlier), "section": _SECTION}
        yield from _iter_section(section, seen, pack.stores)
        for step in (*section.overflow, *(one for one in (*plan.truncate, *steps) if one.section == section.id)):
            yield from _iter_step(step, section, seen)
        earlier.append(section.id)


def _iter_pack(pack: PackModel) -> Iterator[UsedText]:
    names: dict[str, frozenset[str] | None] = {"state": None, **dict.fromkeys(pack.given)}
    for one in pack.asserts:
        yield UsedText("`that` of an assert", one.that, names)
        yield UsedText("`else` of an assert", one.otherwise, names)
    for let in pack.lets:
        yield _make_let(let, dict(names))
        names[let.name] = None
    for place, axis in enumerate(pack.axes):
        earlier = frozenset(other.name for other in pack.axes[:place])
        takes = ANYTHING if axis.default is not None else one_of(axis.cases, f"`default: {axis.cases[0]}`, for all that name no case")
        yield UsedText(f"`select` of `{axis.name}`", axis.select, {**names, "variant": earlier}, takes=takes)
    yield from _iter_strain(pack)
    yield from _iter_indexes(pack)


def _make_let(let: Let, names: Names) -> UsedText:
    if isinstance(let.value, Band):
        return UsedText(f"`let.{let.name}.band`", let.value.value, names, takes=NUMBER)
    if isinstance(let.value, Assign):
        return UsedText(f"`let.{let.name}.assign`", let.value.value, names, takes=DRAWN)
    return UsedText(f"`let.{let.name}`", let.value, names)


def _iter_strain(pack: PackModel) -> Iterator[UsedText]:
    if pack.strain is None:
        return
    names = _list_bound(pack)
    if pack.strain.previous is not None:
        takes = one_of([tier.name for tier in pack.strain.tiers], "the tier of the last render, or `none` before the first", none=True)
        yield UsedText("`strain.previous`", pack.strain.previous, names, takes=takes)
    for name, template in pack.strain.watch:
        yield UsedText(f"`strain.watch.{name}`", template, {**names, "before": None, "after": None})


def _list_bound(pack: PackModel) -> dict[str, frozenset[str] | None]:
    names: dict[str, frozenset[str] | None] = {"state": None, **dict.fromkeys(pack.given), **dict.fromkeys(let.name for let in pack.lets)}
    return {**names, "variant": frozenset(axis.name for axis in pack.axes)}


def _iter_indexes(pack: PackModel) -> Iterator[UsedText]:
    """The texts of indexes over lists in the state."""
    names = _list_bound(pack)
    for index in pack.indexes:
        if isinstance(index, StateIndex):
            what = f"of the index `{index.name}`"
            yield UsedText(f"`from` {what}", index.source, names, takes=LIST)
            if index.id is not None:
                yield UsedText(f"`id` {what}", index.id, {**names, "item": None}, takes=KEY)
            yield UsedText(f"the text {what}", index.text, {**names, "item": None})


def _iter_section(section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    yield from _make(section, names, ("when", section.when), ("header", section.header))
    yield from _make(section, names, ("the text", section.text))
    yield from _iter_fence(section.fence, section, {**names, "selected": frozenset()})
    if section.items is not None:
        yield from _iter_items(section.items, section, names, stores)


def _make(section: Section, names: Names, *codes: tuple[str, Expression | Template | None], takes: Takes = ANYTHING) -> Iterator[UsedText]:
    for key, code in codes:
        if code is not None:
            yield UsedText(f"{key if ' ' in key else f'`{key}`'} of `{section.id}`", code, names, section, takes=takes)


def _iter_fence(fence: Fence | None, section: Section, names: Names) -> Iterator[UsedText]:
    if fence is not None:
        yield from _make(section, names, ("fence", fence.open), ("fence", fence.close))


def _iter_items(items: Items, section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    window, group = items.window, items.group
    last = window.last if window is not None and not isinstance(window.last, int) else None
    yield from _iter_source(items.source, section, names, stores)
    yield from _make(section, names, ("window.last", last), takes=COUNT)
    if has_each(items.source):
        names = {**names, "each": None}
    yield from _iter_reading(items, section, names)
    arranged = {**names, "item": None, "this": _ITEM}
    yield from _make(section, arranged, ("items.id", items.id), takes=KEY)
    yield from _make(section, arranged, *(("sort", key.by) for key in items.sort), takes=SORTED)
    yield from _make(section, arranged, ("dedupe.by", items.dedupe.by if items.dedupe else None), takes=KEY)
    yield from _make(section, arranged, ("limit_per.by", items.limit_per.by if items.limit_per else None), takes=KEY)
    grouped = {**arranged, "this": _READ} if window is not None and window.whole == "group" else arranged
    yield from _make(section, grouped, ("group.by", group.by if group else None), takes=KEY)
    yield from _make(section, {**names, "group": None}, ("group.header", group.header if group else None))
    shown = {**arranged, "group": None}
    yield from _make(section, shown, ("tally", items.tally), takes=KEY)
    yield from _make(section, shown, *(("the text of an item", form) for form in items.forms))
    message = items.message
    if message is not None:
        yield from _make(section, shown, ("message.role", message.role), takes=one_of(message.roles, _ROLE))
        yield from _make(section, shown, ("message.content", message.content), takes=CONTENT)
    yield from _make(section, shown, ("trim_each.marker", items.trim_each.marker if items.trim_each else None))
    yield from _iter_fence(items.fence, section, shown)


def _iter_source(source: Expression | Segments | Retrieve, section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    """The texts that a source is asked: `where` and `boost` see each row or chunk, all but `each` an element of that."""
    if isinstance(source, Segments):
        yield from _make(section, names, ("segments.each", source.each), takes=LIST)
        inner = {**names, "each": None} if source.each is not None else names
        store = next((one for one in stores if one.name == source.store), None)
        locale, version = source.locale or (store.locale if store else None), source.version or (store.version if store else None)
        yield from _make(section, inner, ("segments.ref", source.ref), takes=REF)
        yield from _make(section, inner, ("segments.locale", locale), takes=LOCALE)
        yield from _make(section, inner, ("segments.version", version), takes=TEXT_OR_NONE)
        yield from _make(section, {**inner, "item": None}, ("segments.where", source.where))
    else:
        inner = {**names, "item": None}
        for key, code in iter_expressions(source):
            seen = inner if key in ("retrieve.where", "retrieve.boost") else names
            yield from _make(section, seen, (key, code), takes=_TAKES.get(key, ANYTHING))


_TAKES = {"items.from": LIST, "retrieve.query": TEXT_OR_NONE, "retrieve.version": TEXT_OR_NONE}


def _iter_reading(items: Items, section: Section, names: Names) -> Iterator[UsedText]:
    """The texts that are evaluated while the list is read, before items have their ids."""
    read = {**names, "item": None, "this": _READ}
    yield from _make(section, read, ("items.where", items.where))
    yield from _make(section, read, ("items.number", items.number), takes=PLACE)
    if items.anchors is not None:
        yield from _make(section, read, ("anchors.where", items.anchors.where))
        yield from _make(section, names, ("anchors.last", items.anchors.last), takes=COUNT)
    for matches in items.keep:
        yield from _make(section, read, ("keep.where", matches.where))
        yield from _make(section, names, ("keep.last", matches.last), takes=COUNT)


def _iter_step(step: Step, section: Section, names: Names) -> Iterator[UsedText]:
    source = section.items.source if section.items is not None else None
    each = {**names, "item": None, "this": _STEP, "group": None}
    if source is not None and has_each(source):
        each["each"] = None
    label = step.label
    if isinstance(step, Ranked):
        yield from _make_step(section, each, label, *(("order", one) for one in step.order))
    if isinstance(step, Ranked | Lower):
        yield from _make_step(section, each, label, ("by", step.by), takes=NUMBER)
    if isinstance(step, Evict):
        yield from _make_step(section, {**names, "removed": None}, label, ("marker", step.marker))
    if isinstance(step, Trim):
        yield from _make_step(section, names, label, ("marker", step.marker))
    if isinstance(step, Recap):
        yield from _make_step(section, each, label, ("where", step.where))
    if isinstance(step, Recap | Replace):
        yield from _make_step(section, {**names, "items": None, "text": None}, label, ("template", step.template))


def _make_step(
    section: Section, names: Names, label: str, *codes: tuple[str, Expression | Template | None], takes: Takes = ANYTHING
) -> Iterator[UsedText]:
    for key, code in codes:
        if code is not None:
            yield UsedText(f"`{key}` of `{label}`", code, names, section, takes=takes)


def _may_be_whole(number: NumberType, least: int | None) -> bool:
    bounds = [one for one in (number.least, least) if one is not None]
    if number.values is not None:
        return any(_is_whole(value) and all(value >= one for one in bounds) for value in number.values)
    low = max(bounds, default=None)
    if low is None or number.most in (None, inf):
        return True
    return number.most != -inf and floor(number.most) >= low


def _is_whole(value: float | int) -> bool:
    return isinstance(value, int) or value.is_integer()


def _show(kind: Type, takes: Takes) -> str:
    """The kind as it is told: a list by what is in it where the key takes others, a number or a case by its values."""
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
        return [f"`{value:.60}`" for value in sorted(member.values or ())]
    return []


def _spell(value: float | int) -> str:
    return str(value) if abs(value) < _LARGE else f"{'-' if value < 0 else ''}10^15 and more"


def _show_range(number: NumberType) -> str:
    least = f" from {_spell(number.least)}" if number.least is not None else ""
    most = f" {'to' if least else 'up to'} {_spell(number.most)}" if number.most is not None else ""
    return f"a number{least}{most}"
