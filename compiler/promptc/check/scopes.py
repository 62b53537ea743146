"""What each text of a pack sees: the types of its names, and the conditions that hold when it is evaluated. `Scopes` covers one pack."""

from __future__ import annotations

from promptc.check.schema_types import SchemaTypes, make_item_type
from promptc.check.texts import UsedText
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.pack import Assign, Band, Let, PackModel
from promptc.model.section import Items, Retrieve, Section, Segments, iter_expressions
from promptc.model.sources import StateIndex
from promptc.template.compile import Expression
from promptc.template.types.algebra import element_type, keep_members
from promptc.template.types.infer import InferredTypes, add_name, infer_types, read_code, suppose, weigh_bytes
from promptc.template.types.trials import Trials
from promptc.template.types.types import (
    BOOL_TYPE,
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
