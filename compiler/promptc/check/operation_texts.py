"""The expressions and templates of operations, with what they may read (language.md §9)."""

from collections.abc import Iterator, Mapping, Sequence

from promptc.check.kinds_at import find_kind_at
from promptc.check.literal_kinds import find_literal
from promptc.check.schema_types import StateKinds
from promptc.check.takes import ANYTHING, COUNT, EACH
from promptc.check.texts import Names, UsedText
from promptc.diag.typed import Any
from promptc.model.messages import Append, Ask, Keep, Operation, Set, StateEdit
from promptc.model.pack import PackModel
from promptc.template.compile import Expression, Template
from promptc.template.types.algebra import find_element, join_types, map_members
from promptc.template.types.types import (
    BOOL_TYPE,
    NONE_TYPE,
    TEXT_TYPE,
    UNKNOWN_TYPE,
    WHOLE,
    ListType,
    MappingType,
    NoneType,
    NumberType,
    TextType,
    Type,
    UndefinedType,
    make_mapping,
)


def iter_operation_texts(pack: PackModel, state: Type) -> Iterator[UsedText]:
    """All that a run of any operation may evaluate. `state` is the kind of the pack's states."""
    for operation in pack.operations:
        yield from _iter_operation(operation, _list_names(pack), state)


def iter_edit_values(pack: PackModel, operation: Operation) -> Iterator[tuple[StateEdit, UsedText]]:
    """Each edit that puts a value into the state, with the expression of that value."""
    names, kinds = _list_names(pack), _find_kinds(operation, len(operation.asks))
    for place, edit in enumerate(operation.edits):
        code = edit.value if isinstance(edit, Set | Append) else None
        code = edit.each if code is None and isinstance(edit, Append) else code
        if code is not None:
            key = "each" if isinstance(edit, Append) and edit.each is not None else "to"
            yield edit, _make_edit_text(operation, place, key, code, names, kinds)


def _list_names(pack: PackModel) -> dict[str, frozenset[str] | None]:
    return {"state": None, **dict.fromkeys(let.name for let in pack.lets), "args": None, "answers": None}


def _iter_operation(operation: Operation, names: Names, state: Type) -> Iterator[UsedText]:
    if operation.when is not None:
        bare = {name: parts for name, parts in names.items() if name != "answers"}
        yield UsedText(f"`when` of `{operation.name}`", operation.when, bare, kinds=_find_kinds(operation, 0))
    for place in range(len(operation.asks)):
        yield from _iter_ask(operation, place, names)
    kinds = _find_kinds(operation, len(operation.asks))
    for place, edit in enumerate(operation.edits):
        yield from _iter_edit(operation, place, edit, names, kinds, state)
    if operation.say is not None:
        removed = make_mapping({name: NumberType(True, 0) for name in operation.archives})
        yield UsedText(f"`say` of `{operation.name}`", operation.say, {**names, "removed": None}, kinds={**kinds, "removed": removed})


def _iter_ask(operation: Operation, place: int, names: Names) -> Iterator[UsedText]:
    """Claims see the answer they are about, and those before it."""
    ask, kinds = operation.asks[place], _find_kinds(operation, place)
    answered = {**kinds, "answers": _find_answers(operation, place + 1, sure=(place,))}
    name = f"{operation.name}.asks.{ask.name}"
    if ask.when is not None:
        yield UsedText(f"`when` of `{name}`", ask.when, names, kinds=kinds)
    yield UsedText(f"`else` of `{name}`", ask.otherwise, names, kinds=kinds, holds=ask.when)
    for claim in ask.check.claims if ask.check is not None else ():
        yield UsedText(f"`that` of `{name}`", claim.that, names, kinds=answered, holds=ask.when)
        yield UsedText(f"`else` of a claim of `{name}`", claim.otherwise, names, kinds=answered, holds=ask.when)


def _iter_edit(
    operation: Operation, place: int, edit: StateEdit, names: Names, kinds: Mapping[str, Type], state: Type
) -> Iterator[UsedText]:
    if edit.when is not None:
        yield UsedText(f"`when` of `{operation.name}.edits[{place}]`", edit.when, names, kinds=kinds)
    codes: dict[str, Expression | Template | None] = {}
    if isinstance(edit, Set):
        codes = {"to": edit.value}
    elif isinstance(edit, Append):
        codes = {"to": edit.value, "each": edit.each}
    elif isinstance(edit, Keep):
        codes = {"last": edit.last}
        if edit.where is not None:
            element = find_element(find_kind_at(state, edit.pointer))
            yield _make_edit_text(
                operation, place, "where", edit.where, {**names, "item": None}, {**kinds, "item": element or UNKNOWN_TYPE}
            )
    for key, code in codes.items():
        if code is not None:
            yield _make_edit_text(operation, place, key, code, names, kinds)


def _make_edit_text(
    operation: Operation, place: int, key: str, code: Expression | Template, names: Names, kinds: Mapping[str, Type]
) -> UsedText:
    """Where an edit has a `when`, what is asked only sometimes is taken as answered: its condition says so, in its own words."""
    when = operation.edits[place].when
    answered = (
        {**kinds, "answers": _find_answers(operation, len(operation.asks), sure=range(len(operation.asks)))} if when is not None else kinds
    )
    takes = {"each": EACH, "last": COUNT}.get(key, ANYTHING)
    return UsedText(f"`{key}` of `{operation.name}.edits[{place}]`", code, names, kinds=answered, holds=when, takes=takes)


# --- the kinds of arguments and answers ---


def _find_kinds(operation: Operation, asked: int) -> dict[str, Type]:
    """Of `args`, and of `answers` when so many asks are answered."""
    args = make_mapping({name: _find_arg(default) for name, default in operation.args.items()})
    return {"args": args, "answers": _find_answers(operation, asked)}


def _find_arg(default: Any) -> Type:
    """Any value of the default's kind may be given."""
    if default is None or isinstance(default, dict):
        return UNKNOWN_TYPE
    if isinstance(default, bool):
        return BOOL_TYPE
    if isinstance(default, list):
        return ListType(UNKNOWN_TYPE)
    return TEXT_TYPE if isinstance(default, str) else WHOLE if isinstance(default, int) else find_literal(0.5)


def _find_answers(operation: Operation, asked: int, *, sure: Sequence[int] = ()) -> Type:
    """An answer that is not there yet, or not asked for, is none. `sure` are the places of those that are."""
    kinds = {}
    for place, ask in enumerate(operation.asks):
        kind = _find_answer(ask) if place < asked else NONE_TYPE
        kinds[ask.name] = join_types(kind, NONE_TYPE) if ask.when is not None and place not in sure and place < asked else kind
    return make_mapping(kinds)


def _find_answer(ask: Ask) -> Type:
    schema = ask.check.schema if ask.check is not None else None
    return _unplace(StateKinds(schema.schema).make((), (schema.schema,))) if schema is not None else TEXT_TYPE


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
