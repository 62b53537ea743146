"""Every expression and template of a plan: the names that it may read, what its key accepts (contract.md §3), and what it sees.

`iter_texts` yields those of a render, `iter_operation_texts` those of operations, and `iter_edit_values` those whose value is written to
the state. `Scopes` covers one pack: it has the types of the names of each text, and the conditions that hold when it is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from promptc.check import takes as keys
from promptc.check.schema_types import SchemaTypes, drop_places, follow_pointer, make_item_type, make_literal
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any
from promptc.model.messages import Append, Ask, Keep, Operation, Set, StateEdit
from promptc.model.pack import Assign, Band, Let, PackModel, Plan, list_steps
from promptc.model.section import (
    TOOL_NAME,
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
from promptc.template.types.algebra import element_type, join_types, keep_members
from promptc.template.types.infer import InferredTypes, add_name, infer_types, read_code, suppose, weigh_bytes
from promptc.template.types.trials import Trials
from promptc.template.types.types import (
    BOOL_TYPE,
    NONE_TYPE,
    TEXT_TYPE,
    UNKNOWN_TYPE,
    WHOLE,
    ListType,
    NumberType,
    Type,
    UnknownType,
    list_members,
    make_mapping,
    text_of,
)
from promptc.template.types.walk import Cost, Scope

Names = Mapping[str, frozenset[str] | None]
"""The names that a text may read, each with its parts, or with None if the state or an expression decides its parts."""

_SECTION = frozenset({"id", "title", "role"})
_STRAIN = frozenset({"tier", "index", "percent"})
_READ = frozenset({"number", "anchor", "kept"})
_ITEM = _READ | {"id"}
_STEP = _ITEM | {"tokens", "chars", "form", "held"}
_OF_SECTIONS = ("strain", "selected", "section")
_ROLE = "one of them for each item: `'assistant' if item.from == 'agent' else 'user'`"
_SOURCE_TAKES = {"items.from": keys.LIST, "retrieve.query": keys.QUERY, "retrieve.version": keys.TEXT_OR_NONE}

_COUNT = NumberType(True, 0)
_PARTS: dict[str, Type] = {
    **dict.fromkeys(("title", "id", "role", "tier"), TEXT_TYPE),
    **dict.fromkeys(("number", "index"), WHOLE),
    **dict.fromkeys(("tokens", "chars", "form", "percent"), _COUNT),
    **dict.fromkeys(("anchor", "kept", "held"), BOOL_TYPE),
}

PARTED = ("variant", "strain", "selected", "section", "this")
"""The compiler's own names whose parts are known. A gap in one of them has that name as its place."""

_NAMES: dict[str, Type] = {"text": TEXT_TYPE, "removed": NumberType(True, 0), "items": ListType(UNKNOWN_TYPE)}


@frozen(eq=False)
class UsedText:
    """An expression or template as it is used: its name for the author, the names that it sees, and the section to which it belongs.

    `types` are the types of names that are not in the schema of the state, and `holds` is a condition under which alone the text is
    evaluated. `takes` is what the key accepts from an expression.
    """

    what: str
    code: Expression | Template
    names: Names
    section: Section | None = None
    types: Mapping[str, Type] = field(default_factory=dict)
    holds: Expression | None = None
    takes: keys.Takes = keys.ANYTHING

    @property
    def is_joint(self) -> bool:
        """Whether the text belongs to a step of several sections, of which `section` is one."""
        return "section" in self.types


def iter_operation_texts(pack: PackModel, state: Type) -> Iterator[UsedText]:
    """Yield all texts that a run of any operation may evaluate. `state` is the type of the pack's states."""
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


def _make_types(operation: Operation, asked: int) -> dict[str, Type]:
    """Return the types of `args`, and of `answers` after the first `asked` asks."""
    args = make_mapping({name: _make_argument_type(default) for name, default in operation.args.items()})
    return {"args": args, "answers": _make_answers_type(operation, asked)}


def _make_argument_type(default: Any) -> Type:
    """Return the type of an argument: any value of the default's kind."""
    if default is None or isinstance(default, dict):
        return UNKNOWN_TYPE
    if isinstance(default, bool):
        return BOOL_TYPE
    if isinstance(default, list):
        return ListType(UNKNOWN_TYPE)
    return TEXT_TYPE if isinstance(default, str) else WHOLE if isinstance(default, int) else make_literal(0.5)


def _make_answers_type(operation: Operation, asked: int, *, sure: Sequence[int] = ()) -> Type:
    """Return the type of `answers` after the first `asked` asks. Answers that are not there yet or were not requested are none.

    `sure` are the indexes of asks whose answers are certainly there.
    """
    types = {}
    for place, ask in enumerate(operation.asks):
        kind = _make_answer_type(ask) if place < asked else NONE_TYPE
        types[ask.name] = join_types(kind, NONE_TYPE) if ask.when is not None and place not in sure and place < asked else kind
    return make_mapping(types)


def _make_answer_type(ask: Ask) -> Type:
    schema = ask.check.schema if ask.check is not None else None
    return drop_places(SchemaTypes(schema.schema).make((), (schema.schema,))) if schema is not None else TEXT_TYPE


def _iter_ask(operation: Operation, place: int, names: Names) -> Iterator[UsedText]:
    """Yield the texts of an ask. Claims see the answer that they check, and those before it."""
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
    """Return a text of an edit. If the edit has a `when`, optional answers count as given, as the condition can check for them."""
    when = operation.edits[place].when
    asks = operation.asks
    answered = {**types, "answers": _make_answers_type(operation, len(asks), sure=range(len(asks)))} if when is not None else types
    takes = {"each": keys.EACH, "last": keys.COUNT}.get(key, keys.ANYTHING)
    return UsedText(f"`{key}` of `{operation.name}.edits[{place}]`", code, names, types=answered, holds=when, takes=takes)


def _list_names(pack: PackModel) -> Names:
    return {"state": None, **dict.fromkeys(let.name for let in pack.lets), "args": None, "answers": None}


def iter_edit_values(pack: PackModel, operation: Operation) -> Iterator[tuple[StateEdit, UsedText]]:
    """Yield each edit that writes a value to the state, with the expression of the value."""
    names, types = _list_names(pack), _make_types(operation, len(operation.asks))
    for place, edit in enumerate(operation.edits):
        code = edit.value if isinstance(edit, Set | Append) else None
        code = edit.each if code is None and isinstance(edit, Append) else code
        if code is not None:
            key = "each" if isinstance(edit, Append) and edit.each is not None else "to"
            yield edit, _make_edit_text(operation, place, key, code, names, types)


def iter_texts(pack: PackModel, plan: Plan, tiers: int) -> Iterator[UsedText]:
    """Yield all texts that a render of `plan` may evaluate with the first `tiers` tiers in force, those of the whole pack first."""
    yield from _iter_pack(pack)
    names = _list_bound(pack)
    steps = list_steps(pack.strain.tiers[:tiers])[0] if pack.strain is not None else ()
    earlier: list[str] = []
    for section in plan.sections:
        seen = {**names, "strain": _STRAIN, "selected": frozenset(earlier), "section": _SECTION}
        yield from _iter_section(section, seen, pack.stores)
        if pack.visible is not None and section.items is not None:
            yield UsedText(f"`visible`, asked of the items of `{section.id}`,", pack.visible, {**names, "item": None}, section)
        for step in (*section.overflow, *(one for one in (*plan.list_shared_steps(), *steps) if section.id in one.sections)):
            yield from _iter_step(step, section, seen, plan)
        earlier.append(section.id)


def _iter_pack(pack: PackModel) -> Iterator[UsedText]:
    names: Names = {"state": None, **dict.fromkeys(pack.given)}
    for one in pack.asserts:
        yield UsedText("`that` of an assert", one.that, names)
        yield UsedText("`else` of an assert", one.otherwise, names)
    for let in pack.lets:
        yield _make_let(let, names)
        names = {**names, let.name: None}
    for place, axis in enumerate(pack.axes):
        earlier = frozenset(other.name for other in pack.axes[:place])
        example = f"`default: {axis.cases[0]}`, for values that name no case"
        takes = keys.ANYTHING if axis.default is not None else keys.one_of(axis.cases, example)
        yield UsedText(f"`select` of `{axis.name}`", axis.select, {**names, "variant": earlier}, takes=takes)
    yield from _iter_strain(pack)
    yield from _iter_indexes(pack)


def _make_let(let: Let, names: Names) -> UsedText:
    if isinstance(let.value, Band):
        return UsedText(f"`let.{let.name}.band`", let.value.value, names, takes=keys.NUMBER)
    if isinstance(let.value, Assign):
        return UsedText(f"`let.{let.name}.assign`", let.value.value, names, takes=keys.DRAWN)
    return UsedText(f"`let.{let.name}`", let.value, names)


def _iter_strain(pack: PackModel) -> Iterator[UsedText]:
    if pack.strain is None:
        return
    names = _list_bound(pack)
    if pack.strain.previous is not None:
        takes = keys.one_of([tier.name for tier in pack.strain.tiers], "the tier of the last render, or `none` before the first", none=True)
        yield UsedText("`strain.previous`", pack.strain.previous, names, takes=takes)
    for name, template in pack.strain.watch:
        yield UsedText(f"`strain.watch.{name}`", template, {**names, "before": None, "after": None})


def _list_bound(pack: PackModel) -> Names:
    given = (*pack.given, *(let.name for let in pack.lets))
    return {"state": None, **dict.fromkeys(given), "variant": frozenset(axis.name for axis in pack.axes)}


def _iter_indexes(pack: PackModel) -> Iterator[UsedText]:
    """Yield the texts of indexes over lists in the state."""
    names = _list_bound(pack)
    for index in pack.indexes:
        if isinstance(index, StateIndex):
            what = f"of the index `{index.name}`"
            yield UsedText(f"`from` {what}", index.source, names, takes=keys.LIST)
            if index.id is not None:
                yield UsedText(f"`id` {what}", index.id, {**names, "item": None}, takes=keys.KEY)
            yield UsedText(f"the text {what}", index.text, {**names, "item": None})


def _iter_section(section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    yield from _iter_keys(section, names, ("when", section.when), ("header", section.header))
    yield from _iter_keys(section, names, ("the text", section.text))
    if section.budget is not None and section.budget.source is not None:
        bound = {name: parts for name, parts in names.items() if name not in _OF_SECTIONS}
        yield from _iter_keys(section, bound, ("budget.from", section.budget.source), takes=keys.CAP)
    yield from _iter_fence(section.fence, section, {**names, "selected": frozenset()})
    if section.items is not None:
        yield from _iter_items(section.items, section, names, stores)


def _iter_keys(
    section: Section, names: Names, *codes: tuple[str, Expression | Template | None], takes: keys.Takes = keys.ANYTHING
) -> Iterator[UsedText]:
    for key, code in codes:
        if code is not None:
            shown = key.removeprefix("items.") if section.is_tools else key
            yield UsedText(f"{shown if ' ' in shown else f'`{shown}`'} of `{section.id}`", code, names, section, takes=takes)


def _iter_fence(fence: Fence | None, section: Section, names: Names) -> Iterator[UsedText]:
    if fence is not None:
        yield from _iter_keys(section, names, ("fence", fence.open), ("fence", fence.close))


def _iter_items(items: Items, section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    window, group = items.window, items.group
    last = window.last if window is not None and not isinstance(window.last, int) else None
    yield from _iter_source(items.source, section, names, stores)
    yield from _iter_keys(section, names, ("window.last", last), takes=keys.COUNT)
    yield from _iter_keys(section, names, ("freeze.shown", items.freeze.shown if items.freeze else None), takes=keys.SHOWN)
    if has_each(items.source):
        names = {**names, "each": None}
    yield from _iter_reading(items, section, names)
    arranged = {**names, "item": None, "this": _ITEM}
    yield from _iter_keys(section, arranged, ("freeze.late", items.freeze.late if items.freeze else None))
    is_name = items.tool is not None and items.id is not None and items.id.text == TOOL_NAME
    yield from _iter_keys(section, arranged, ("the name of a tool" if is_name else "items.id", items.id), takes=keys.KEY)
    yield from _iter_keys(section, arranged, *(("sort", key.by) for key in items.sort), takes=keys.SORTED)
    yield from _iter_keys(section, arranged, ("dedupe.by", items.dedupe.by if items.dedupe else None), takes=keys.KEY)
    yield from _iter_keys(section, arranged, ("limit_per.by", items.limit_per.by if items.limit_per else None), takes=keys.KEY)
    grouped = {**arranged, "this": _READ} if window is not None and window.whole == "group" else arranged
    yield from _iter_keys(section, grouped, ("group.by", group.by if group else None), takes=keys.KEY)
    yield from _iter_keys(section, {**names, "group": None}, ("group.header", group.header if group else None))
    shown = {**arranged, "group": None}
    yield from _iter_keys(section, shown, ("tally", items.tally), takes=keys.KEY)
    yield from _iter_keys(section, shown, *(("the text of an item", form) for form in items.forms))
    message = items.message
    if message is not None:
        yield from _iter_keys(section, shown, ("message.role", message.role), takes=keys.one_of(message.roles, _ROLE))
        yield from _iter_keys(section, shown, ("message.content", message.content), takes=keys.CONTENT)
        yield from _iter_keys(section, shown, ("message.name", message.name), takes=keys.TEXT_OR_NONE)
        tokens = message.media.tokens if message.media is not None else None
        yield from _iter_keys(section, {**shown, "part": None}, ("media.tokens", tokens), takes=keys.MEDIA_TOKENS)
    yield from _iter_keys(section, shown, ("trim_each.marker", items.trim_each.marker if items.trim_each else None))
    yield from _iter_fence(items.fence, section, shown)


def _iter_source(source: Expression | Segments | Retrieve, section: Section, names: Names, stores: Sequence[Store]) -> Iterator[UsedText]:
    """Yield the texts of a source. `where` and `boost` see each row or chunk, and all but `segments.each` see an element of it."""
    if isinstance(source, Segments):
        yield from _iter_keys(section, names, ("segments.each", source.each), takes=keys.LIST)
        inner = {**names, "each": None} if source.each is not None else names
        store = next((one for one in stores if one.name == source.store), None)
        locale, version = source.locale or (store.locale if store else None), source.version or (store.version if store else None)
        yield from _iter_keys(section, inner, ("segments.ref", source.ref), takes=keys.REF)
        yield from _iter_keys(section, inner, ("segments.locale", locale), takes=keys.LOCALE)
        yield from _iter_keys(section, inner, ("segments.version", version), takes=keys.TEXT_OR_NONE)
        yield from _iter_keys(section, {**inner, "item": None}, ("segments.where", source.where))
    else:
        inner = {**names, "item": None}
        for key, code in iter_expressions(source):
            seen = inner if key in ("retrieve.where", "retrieve.boost") else names
            yield from _iter_keys(section, seen, (key, code), takes=_SOURCE_TAKES.get(key, keys.ANYTHING))


def _iter_reading(items: Items, section: Section, names: Names) -> Iterator[UsedText]:
    """Yield the texts that are evaluated while the list is read, before its items have ids."""
    read = {**names, "item": None, "this": _READ}
    yield from _iter_keys(section, read, ("items.where", items.where))
    yield from _iter_keys(section, read, ("items.number", items.number), takes=keys.PLACE)
    if items.anchors is not None:
        yield from _iter_keys(section, read, ("anchors.where", items.anchors.where))
        yield from _iter_keys(section, names, ("anchors.last", items.anchors.last), takes=keys.COUNT)
    for matches in items.keep:
        yield from _iter_keys(section, read, ("keep.where", matches.where))
        yield from _iter_keys(section, names, ("keep.last", matches.last), takes=keys.COUNT)


def _iter_step(step: Step, section: Section, names: Names, plan: Plan) -> Iterator[UsedText]:
    """Yield the texts of a step for one of its sections.

    If the step has several sections, a text sees the `section` values of all of them, as it is evaluated for each.
    """
    for text in _iter_step_texts(step, section, names):
        if len(step.sections) == 1:
            yield text
        else:
            what = f"{text.what}, asked of the items of `{section.id}`,"
            yield UsedText(what, text.code, text.names, section, _make_section_types(step, plan), text.holds, text.takes)


def _make_section_types(step: Step, plan: Plan) -> dict[str, Type]:
    named = [section for section in plan.sections if section.id in step.sections]
    return {"section": make_mapping({key: text_of(*(getattr(one, key) for one in named)) for key in sorted(_SECTION)}, "section")}


def _iter_step_texts(step: Step, section: Section, names: Names) -> Iterator[UsedText]:
    source = section.source
    each = {**names, "item": None, "this": _STEP, "group": None}
    if source is not None and has_each(source):
        each["each"] = None
    label = step.label
    if isinstance(step, Ranked):
        yield from _iter_step_keys(section, each, label, *(("order", one) for one in step.order))
    if isinstance(step, Ranked | Lower):
        yield from _iter_step_keys(section, each, label, ("by", step.by), takes=keys.NUMBER)
    if isinstance(step, Evict):
        yield from _iter_step_keys(section, {**names, "removed": None}, label, ("marker", step.marker))
    if isinstance(step, Trim):
        yield from _iter_step_keys(section, names, label, ("marker", step.marker))
    if isinstance(step, Recap):
        yield from _iter_step_keys(section, each, label, ("where", step.where))
    if isinstance(step, Recap | Replace):
        yield from _iter_step_keys(section, {**names, "items": None, "text": None}, label, ("template", step.template))


def _iter_step_keys(
    section: Section, names: Names, label: str, *codes: tuple[str, Expression | Template | None], takes: keys.Takes = keys.ANYTHING
) -> Iterator[UsedText]:
    for key, code in codes:
        if code is not None:
            yield UsedText(f"`{key}` of `{label}`", code, names, section, takes=takes)


class Scopes:
    """The scopes of one pack's texts. A text in a scope is inferred once, however many combinations share it."""

    def __init__(self, pack: PackModel, cost: Cost = weigh_bytes, trials: Trials | None = None) -> None:
        """Bind the names of the pack.

        `cost` weighs constant texts. `trials`, the allowance for trial runs, is shared by the scopes of one check.
        """
        self._pack = pack
        self._cost = cost
        self._trials = trials if trials is not None else Trials()
        self._cases = {axis.name: text_of(*axis.cases) for axis in pack.axes if axis.cases}
        self._tiers = text_of(*(tier.name for tier in pack.strain.tiers)) if pack.strain is not None else TEXT_TYPE
        self._found: dict[tuple[Any, ...], tuple[object, InferredTypes]] = {}
        types = SchemaTypes(pack.schema) if pack.schema is not None else None
        self.state = types.make_state() if types is not None else UNKNOWN_TYPE
        self._bare = add_name(Scope({}), "state", self.state)
        for name in pack.given:
            self._bare = add_name(self._bare, name, UNKNOWN_TYPE)
        self._bound = self._bind(pack)

    def infer(self, text: UsedText) -> InferredTypes:
        """Return what is known of a text where it is used."""
        section = text.section
        items = section.items if section is not None else None
        key = (
            id(text.code),
            tuple(sorted((name, tuple(sorted(parts)) if parts is not None else None) for name, parts in text.names.items())),
            (section.id, section.title, section.role) if section is not None else text.what,
            id(section.when) if section is not None else None,
            (id(items.source), id(items.where), id(items.group.by if items.group is not None else None)) if items is not None else None,
        )
        if key not in self._found:
            self._found[key] = (text, infer_types(read_code(text.code), self.make_scope(text), self._cost, self._trials))
        return self._found[key][1]

    def make_scope(self, text: UsedText) -> Scope:
        """Return the scope of a text: its names, and what holds whenever the text is evaluated."""
        if text.section is None:
            return self._make_scope_of_pack(text)
        section = text.section
        scope = self._add(self._bound, text)
        held = section.fence is not None and text.code in (section.fence.open, section.fence.close)
        if section.when is not None and text.code is not section.when and not held:
            scope = _suppose(section.when, scope)
        return self._add_item(scope, text, section, section.items) if section.items is not None else scope

    # --- names of the pack ---

    def _bind(self, pack: PackModel) -> Scope:
        """Return the scope with the state, what the asserts prove of it, and the values of `let`."""
        scope = self._bare
        for one in pack.asserts:
            if one.level == "error":
                scope = suppose(read_code(one.that), scope)
        for let in pack.lets:
            kind, code = self._infer_let(let, scope)
            scope = add_name(scope, let.name, kind, read_code(code) if code is not None else None)
        return scope

    def _infer_let(self, let: Let, scope: Scope) -> tuple[Type, Expression | None]:
        if isinstance(let.value, Band):
            return text_of(*(label for _, label in let.value.bounds)), None
        if isinstance(let.value, Assign):
            return text_of(*(label for label, _ in let.value.weights)), None
        return infer_types(read_code(let.value), scope, self._cost, self._trials).kind or UNKNOWN_TYPE, let.value

    # --- one text ---

    def _make_scope_of_pack(self, text: UsedText) -> Scope:
        failing = next((one for one in self._pack.asserts if one.otherwise is text.code), None)
        if failing is not None:
            return suppose(read_code(failing.that), self._bare, truth=False)
        if any(one.that is text.code for one in self._pack.asserts):
            return self._bare
        index = next((one for one in self._pack.indexes if isinstance(one, StateIndex) and text.code in (one.id, one.text)), None)
        if index is not None:
            return add_name(self._bound, "item", self._make_element(self._bound, index.source))
        known = {name: bound for name, bound in self._bound.names.items() if name in text.names}
        scope = self._add(Scope(known, self._bound.facts, self._bound.doubts, self._bound.dead), text)
        return _suppose(text.holds, scope) if text.holds is not None else scope

    def _add(self, scope: Scope, text: UsedText) -> Scope:
        """Add the compiler's own names to a scope."""
        for name, parts in text.names.items():
            if name in text.types:
                scope = add_name(scope, name, text.types[name])
            elif parts is not None:
                scope = add_name(scope, name, make_mapping({part: self._make_part(name, part, text) for part in sorted(parts)}, name))
            elif name not in scope.names:
                scope = add_name(scope, name, _NAMES.get(name, UNKNOWN_TYPE) if name not in ("before", "after") else self._tiers)
        return scope

    def _make_part(self, name: str, part: str, text: UsedText) -> Type:
        if name == "section" and text.section is not None:
            section = text.section
            return text_of({"id": section.id, "title": section.title, "role": section.role}[part])
        if name == "variant":
            return self._cases.get(part, TEXT_TYPE)
        if (name, part) == ("strain", "tier"):
            return self._tiers
        if (name, part) == ("strain", "index"):
            return NumberType(True, 0, max(0, len(self._pack.strain.tiers) - 1) if self._pack.strain is not None else 0)
        return _COUNT if name == "selected" else _PARTS[part]

    def _add_item(self, scope: Scope, text: UsedText, section: Section, items: Items) -> Scope:
        if isinstance(items.source, Segments) and "each" in text.names:
            scope = add_name(scope, "each", self._make_element(scope, items.source.each))
        if text.code is items.source or not {"item", "group", "items"} & text.names.keys():
            return scope
        visible = self._pack.visible
        asked = text.code is visible or any(text.code is one for _, one in iter_expressions(items.source))
        inner = add_name(scope, "item", self._make_item(scope, items, asked=asked))
        if visible is not None and text.code is not visible:
            inner = _suppose(visible, inner)
        if items.where is not None and text.code is not items.where and not asked:
            inner = _suppose(items.where, inner)
        element = inner.facts.get(("item",), inner.names["item"].kind)
        if "items" in text.names:
            scope = add_name(scope, "items", ListType(element, 0, None, (), "list", True))
        if "item" in text.names:
            scope = inner if "items" not in text.names else scope
        if "group" in text.names and items.group is not None and text.code is not items.group.by:
            found = infer_types(read_code(items.group.by), inner, self._cost, self._trials).kind or UNKNOWN_TYPE
            scope = add_name(scope, "group", found)
        return scope

    def _make_item(self, scope: Scope, items: Items, *, asked: bool) -> Type:
        """Return the type of an item: an element of the list, a row of a store or a chunk of an index."""
        if isinstance(items.source, Expression):
            return self._make_element(scope, items.source)
        named = items.source.indexes if isinstance(items.source, Retrieve) else ()
        own = [one for one in self._pack.indexes if one.name in named]
        listed = [self._make_element(self._bound, one.source) if isinstance(one, StateIndex) else one for one in own]
        return make_item_type(items.source, listed, asked=asked)

    def _make_element(self, scope: Scope, source: Expression | None) -> Type:
        """Return the type of the elements of a list. It is unknown if the value may be no list, which the rules on keys report."""
        if source is None:
            return UNKNOWN_TYPE
        found = infer_types(read_code(source), scope, self._cost, self._trials).kind or UNKNOWN_TYPE
        is_known = not any(isinstance(one, UnknownType) for one in list_members(found))
        lists = keep_members(found, lambda member: isinstance(member, ListType))
        return element_type(lists) if is_known and list_members(lists) else UNKNOWN_TYPE


def _suppose(condition: Expression, scope: Scope) -> Scope:
    """Return the scope in which a condition of the manifest holds.

    If the condition never holds, return `scope` itself, as the texts that depend on the condition are checked anyway. Nothing is learned
    about `this`, which means something else inside the condition.
    """
    found = suppose(read_code(condition), scope)
    if found.dead:
        return scope
    return replace(found, facts={path: kind for path, kind in found.facts.items() if path[0] != "this"})
