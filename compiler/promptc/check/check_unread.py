"""State properties that nothing reads: a slip of the pen on the other side, or what a pack may leave out."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from promptc.check.kinds_at import find_kind_at
from promptc.check.operation_texts import iter_operation_texts
from promptc.check.registry import Configuration, list_configurations
from promptc.check.scopes import Scopes
from promptc.check.texts import UsedText, iter_texts
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.model.pack import PackModel
from promptc.template.types.algebra import find_part, join_members
from promptc.template.types.types import ListType, MappingType, Type, list_members

_SHOWN = 8
_DEEPEST = 12


def check_unread(pack: PackModel, looks: Sequence[Configuration], scopes: Scopes) -> Iterator[Diagnostic]:
    """One note that lists what the schema declares and no text of any combination reads."""
    read, whole = _collect(pack, looks, scopes)
    for asking in _iter_asked(pack):
        more, entire = _collect(asking, list_configurations(asking).loaded, Scopes(asking))
        read, whole = read | more, whole | entire
    found = list(dict.fromkeys(_iter_unread(scopes.state, "", read, whole, frozenset())))
    if not found:
        return
    names = ", ".join(f"`{path}`" for path, _ in found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
    message = (
        f"the pack reads nothing of these properties of the state: {names}"
        if len(found) > 1
        else f"the pack never reads {names} of the state"
    )
    place = pack.find_schema_place
    span = place(found[0][1].removeprefix("#")) if place is not None else pack.manifest.key_span("state")
    yield Diagnostic("PC0654", message, span, "nothing, if others use the state too; else take it out, or read it", "note")


def _collect(pack: PackModel, looks: Sequence[Configuration], scopes: Scopes) -> tuple[set[tuple[str, str]], set[str]]:
    read: set[tuple[str, str]] = set()
    whole: set[str] = set()
    passing = {id(let.value) for let in pack.lets}
    for look in looks:
        for text in iter_texts(pack, look.plan, look.combination.tier + 1):
            found = scopes.find(text)
            read |= found.read
            whole |= found.whole
            if found.kind is not None and id(text.code) not in passing and not _is_source(text):
                _note_whole(found.kind, whole, 0)
    for text in iter_operation_texts(pack, scopes.state):
        found = scopes.find(text)
        read |= found.read
        whole |= found.whole
        if found.kind is not None:
            _note_whole(found.kind, whole, 0)
    return read | set(_iter_edited(pack, scopes.state)), whole


def _iter_edited(pack: PackModel, state: Type) -> Iterator[tuple[str, str]]:
    """What operations edit is used as well."""
    for operation in pack.operations:
        for edit in operation.edits:
            kind, (_, *way) = state, edit.pointer.split("/")
            for part in way:
                yield from ((member.at, part) for member in list_members(kind) if isinstance(member, MappingType))
                kind = find_kind_at(kind, f"/{part}")


def _iter_asked(pack: PackModel) -> Iterator[PackModel]:
    """The packs of what operations ask, each once; those that do not load are told of elsewhere."""
    asks = {ask.pack: ask for operation in pack.operations for ask in operation.asks}
    for ask in asks.values():
        with suppress(PromptcError):
            yield ask.find_pack()


def _is_source(text: UsedText) -> bool:
    items = text.section.items if text.section is not None else None
    return items is not None and text.code is items.source


def _note_whole(kind: Type, whole: set[str], depth: int) -> None:
    """What an expression of the manifest gives is used as it is."""
    for member in list_members(kind):
        if isinstance(member, MappingType):
            whole.add(member.at)
        elif isinstance(member, ListType) and depth < _DEEPEST:
            _note_whole(join_members(member), whole, depth + 1)


def _iter_unread(kind: Type, path: str, read: set[tuple[str, str]], whole: set[str], above: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The properties, the outermost first; what stands in one that is not read is not told."""
    for member in list_members(kind):
        if isinstance(member, ListType):
            yield from _iter_unread(join_members(member), f"{path}[]", read, whole, above)
        elif isinstance(member, MappingType) and member.at.startswith("#") and member.at not in whole | above and len(above) < _DEEPEST:
            for name in member.names:
                inner = f"{path}.{name}" if path else name
                if (member.at, name) not in read:
                    yield inner, f"{member.at}/properties/{name.replace('~', '~0').replace('/', '~1')}"
                else:
                    yield from _iter_unread(find_part(member, name), inner, read, whole, above | {member.at})
