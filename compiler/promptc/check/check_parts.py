"""`items.message.parts` against the schema, and against what a request can hold."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.scopes import Scopes
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic
from promptc.diag.value import join_names
from promptc.model.pack import PackModel
from promptc.model.section import HALVES, PART_KINDS, MessageForm, Section, find_part_kind
from promptc.template.types.algebra import find_element
from promptc.template.types.types import NEVER, ListType, MappingType, TextType, Type, UndefinedType, UnknownType, list_members


def check_parts(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Contents of which no part can ever pass, kinds that stop every render they come to, one half of a tool's turn without the other."""
    scopes = Scopes(pack)
    return merge_configurations(looks, lambda look: _iter_look(pack, look, scopes))


def _iter_look(pack: PackModel, look: Configuration, scopes: Scopes) -> Iterator[Diagnostic]:
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        section = text.section
        message = section.items.message if section is not None and section.items is not None else None
        if section is None or message is None or text.code is not message.content:
            continue
        yield from _judge_names(section, message)
        kind = scopes.find(text).kind
        if kind is not None and not text.takes.refuses(kind):
            yield from _judge_kind(section, message, kind)


def _judge_names(section: Section, message: MessageForm) -> Iterator[Diagnostic]:
    for kind in message.parts:
        if find_part_kind(kind) not in PART_KINDS:
            what = f"`parts` of `{section.id}` names `{kind}`, which no request can hold: an item with one stops the render"
            yield Diagnostic("PC0691", what, message.span, f"known: {join_names(PART_KINDS)}; leave others out", "warn")
    for kind in message.parts:
        if kind not in HALVES or kind in message.passing:
            continue
        (other,) = HALVES - {kind}
        what = f"`parts` of `{section.id}` names `{kind}` without `{other}`: neither passes, since no service takes one without the other"
        yield Diagnostic("PC0692", what, message.span, f"name `{other}` as well, or leave `{kind}` out", "warn")


def _judge_kind(section: Section, message: MessageForm, kind: Type) -> Iterator[Diagnostic]:
    """Of a content that may be text, the lists alone."""
    lists = [member for member in list_members(kind) if isinstance(member, ListType) and member.most != 0]
    elements = [element for element in map(find_element, lists) if element != NEVER]
    types = [_list_types(element) for element in elements]
    if not elements or any(one is None for one in types):
        return
    met = sorted({name for one in types for name in one or ()})
    if any(find_part_kind(name) in message.passing for name in met):
        return
    named = f"their types are {join_names(met)}" if met else "they have no `type`"
    what = f"by the schema `parts` of `{section.id}` lets no part of `{message.content.text.strip()}` pass: {named}"
    yield Diagnostic("PC0690", what, message.span, f"`parts` is {join_names(message.parts)}: name the kinds that the state has", "warn")


def _list_types(element: Type) -> set[str] | None:
    """The types that elements may have; None where there may be others."""
    found: set[str] = set()
    for member in list_members(element):
        types = list_members(member.find("type")) if isinstance(member, MappingType) else ()
        if isinstance(member, UnknownType) or any(_is_open(type) for type in types):
            return None
        found |= {name for type in types if isinstance(type, TextType) for name in type.values or ()}
    return found


def _is_open(type: Type) -> bool:
    """Whether it may be any text."""
    if isinstance(type, TextType):
        return type.values is None
    return isinstance(type, UnknownType) or (isinstance(type, UndefinedType) and type.reason == "undeclared")
