"""Rules on operations: what they read, what they write to the state and where, and the packs of their asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from promptc.check.configurations import Configurations
from promptc.check.rules.reads import Describer, iter_wrong
from promptc.check.schema_types import SchemaTypes, follow_pointer
from promptc.check.texts import Scopes, UsedText, iter_edit_values, iter_operation_texts
from promptc.diag.findings import Diagnostic, PromptcError, suggest
from promptc.model.messages import Append, Ask, Keep, Operation, Set, StateEdit
from promptc.model.pack import Choice, PackModel
from promptc.template.compile import Template
from promptc.template.types.algebra import element_type, keep_members
from promptc.template.types.types import (
    NEVER,
    UNKNOWN_TYPE,
    BlankType,
    ListType,
    NumberType,
    TextType,
    Type,
    UndefinedType,
    UnknownType,
    list_members,
    name_type,
)

_OF_THE_WHOLE = frozenset({"PC0642", "PC0654"})
"""Codes about the states of a pack. They are not reported for the packs of asks, which share the states of the pack that asks."""


def check_operations(
    pack: PackModel, configurations: Configurations, check: Callable[[PackModel], Iterable[Diagnostic]]
) -> Iterator[Diagnostic]:
    """Report faults of operations.

    These are texts with faulty reads or types, pointers that the state's schema does not have, values that it refuses, and all findings
    that `check` returns for the packs of asks.
    """
    if not pack.operations:
        return
    scopes = configurations.facts.scopes
    describer = Describer(pack)
    for text in iter_operation_texts(pack, scopes.state):
        yield from iter_wrong(text, scopes, describer, ())
    if pack.schema is not None:
        schema = SchemaTypes(pack.schema).make((), (pack.schema,))
        for operation in pack.operations:
            yield from _check_edits(pack, operation, schema, scopes)
    yield from _check_packs(pack, check)


# --- edits ---


def _check_edits(pack: PackModel, operation: Operation, schema: Type, scopes: Scopes) -> Iterator[Diagnostic]:
    values = {id(edit): text for edit, text in iter_edit_values(pack, operation)}
    for edit in operation.edits:
        target = follow_pointer(schema, edit.pointer)
        gaps = [member for member in list_members(target) if isinstance(member, UndefinedType)]
        there = keep_members(target, lambda member: not isinstance(member, UndefinedType))
        if there == NEVER:
            yield _describe_gap(edit, next((gap for gap in gaps if gap.reason != "optional"), UndefinedType()))
        elif any(gap.reason == "undeclared" for gap in gaps) and all(isinstance(one, UnknownType) for one in list_members(there)):
            message = f"`{_name(edit)}` edits a path that the state's schema does not declare"
            help = suggest(gaps[0].part, gaps[0].known)
            yield Diagnostic("PC0811", message, edit.span, help or "declare it in the schema", "warn")
        else:
            yield from _check_value(edit, there, values.get(id(edit)), scopes)


def _describe_gap(edit: StateEdit, gap: UndefinedType) -> Diagnostic:
    help = suggest(gap.part, gap.known) or "declare it in the schema"
    return Diagnostic("PC0811", f"`{_name(edit)}` edits a path that no valid state has", edit.span, help)


def _name(edit: StateEdit) -> str:
    return f"{type(edit).__name__.lower()}: {edit.pointer}"


def _check_value(edit: StateEdit, target: Type, text: UsedText | None, scopes: Scopes) -> Iterator[Diagnostic]:
    if isinstance(edit, Append | Keep):
        lists = keep_members(target, lambda member: isinstance(member, ListType | UnknownType))
        if lists == NEVER:
            message = f"`{_name(edit)}` needs a list, but by the state's schema it is {name_type(target)}"
            yield Diagnostic("PC0812", message, edit.span, "correct the pointer" + (", or use `set`" if isinstance(edit, Append) else ""))
            return
        target = element_type(lists) if not any(isinstance(one, UnknownType) for one in list_members(lists)) else UNKNOWN_TYPE
    if text is None or not isinstance(edit, Set | Append):
        return
    kind = scopes.infer(text).kind or UNKNOWN_TYPE
    if text.takes.refuses(kind):
        return  # reported for the text itself
    if isinstance(edit, Append) and edit.each is not None:
        kind = element_type(kind)
    members = [one for one in list_members(kind) if not isinstance(one, UndefinedType | BlankType)]
    if members and not any(_may_suit(one, other) for one in members for other in list_members(target)):
        what = "puts" if isinstance(edit, Set) else "appends"
        message = f"`{_name(edit)}` {what} {_show(kind)}, but the state's schema requires {_show(target)} there"
        yield Diagnostic(
            "PC0812", message, text.code.span if not isinstance(text.code, Template) else edit.span, "correct the value, or the schema"
        )


def _may_suit(value: Type, target: Type) -> bool:
    """Return whether a value of one type may be of the other. Lists, mappings and patterns are not compared: they may."""
    if isinstance(value, UnknownType) or isinstance(target, UnknownType):
        return True
    if type(value) is not type(target):
        return False
    if isinstance(value, TextType | NumberType) and isinstance(target, TextType | NumberType):
        given, known = value.values, target.values
        return given is None or known is None or bool(set(given) & set(known))
    return True


def _show(kind: Type) -> str:
    values = [one.values if isinstance(one, TextType) else None for one in list_members(kind)]
    if all(values):
        return " or ".join(f"`{value}`" for value in sorted({value for some in values for value in some or ()})[:6])
    return name_type(kind)


def _check_packs(pack: PackModel, check: Callable[[PackModel], Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    met: set[str] = set()
    for operation in pack.operations:
        for ask in operation.asks:
            yield from _check_answer(ask)
            if ask.pack not in met:
                met.add(ask.pack)
                try:
                    asking: PackModel = ask.load_pack()
                except PromptcError as error:
                    yield from error.diagnostics
                else:
                    if pack.visible is not None and asking.visible is None:
                        yield _describe_shown(ask, "visible", "`visible: true` lets it see everything")
                    if pack.redact and not asking.redact:
                        yield _describe_shown(ask, "redact", "such as that of this pack")
                    yield from (found for found in check(asking) if found.code not in _OF_THE_WHOLE)


def _describe_shown(ask: Ask, key: str, example: str) -> Diagnostic:
    message = f"`{ask.pack}` may show what this pack hides: it has no `{key}` of its own"
    return Diagnostic("PC0666", message, ask.span, f"give it a `{key}` of its own; {example}", "warn")


def _check_answer(ask: Ask) -> Iterator[Diagnostic]:
    """Report an ask whose pack requests an answer by a schema, but which does not validate it: no provider enforces all of a schema."""
    if ask.check is not None and ask.check.schema is not None:
        return
    with suppress(PromptcError):  # reported for the pack itself
        if ask.load_pack().load_plan(Choice()).response is not None:
            message = f"`{ask.pack}` asks for an answer that matches its `response` schema, but `{ask.name}` accepts any text"
            help = "check the answer against the same schema: `check: {schema: …}`, with the file that `response` names"
            yield Diagnostic("PC0813", message, ask.span, help, "warn")
