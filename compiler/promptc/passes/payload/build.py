"""Messages in the order and the roles that a provider takes: the folds of docs/payloads.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.model.messages import Provider
from promptc.model.pack import Response, Tool
from promptc.model.section import Section
from promptc.passes.assemble import Emitted
from promptc.passes.fit.result import Fitted, Part
from promptc.passes.layout.layout import Layout
from promptc.text.characters import is_blank
from promptc.text.json import render_canonical_json

_TOOL_PARTS = {"assistant": "tool_use", "user": "tool_result"}
_BETWEEN = "\n\n"


def arrange(
    messages: Sequence[Message], provider: Provider
) -> tuple[tuple[Message, ...], tuple[ContentBlock, ...], tuple[Diagnostic, ...]]:
    """The messages, the blocks of what stands apart from them, and warnings of what moved (PC0564, PC0569)."""
    named = [replace(one, role="system") if one.role not in provider.roles else one for one in messages]
    found: list[Diagnostic] = []
    system: Sequence[Message] = ()
    if provider.system == "apart":
        found += _warn_moved(named, provider)
        system = [one for one in named if one.role == "system"]
        named = [one for one in named if one.role != "system"]
    elif provider.system == "first" and len(named) > 1 and _is_plain_system(named[0]):
        system, named = named[:1], named[1:]
    joined = tuple(_join_tools(named))
    found += [_warn_late(one) for one in joined if _is_late(one)]
    return tuple(_put_results_first(one) for one in joined), tuple(_iter_system(system)), tuple(found)


def _is_plain_system(message: Message) -> bool:
    """Whether it may stand where no breakpoint can."""
    return message.role == "system" and not any(block.ends for block in message.blocks)


def _warn_moved(messages: Sequence[Message], provider: Provider) -> Iterator[Diagnostic]:
    first = next((place for place, one in enumerate(messages) if one.role != "system"), len(messages))
    moved = [one for one in messages[first:] if one.role == "system"]
    if moved:
        names = ", ".join(dict.fromkeys(one.name for one in moved))
        yield Diagnostic(
            "PC0564",
            f"{names} moves in front of all messages: {provider.title} takes system text only there",
            moved[0].span,
            "give it the role `user`, or put it before the conversation",
            "warn",
        )


def _iter_system(messages: Sequence[Message]) -> Iterator[ContentBlock]:
    """What were messages of their own stay a blank line apart; it opens the later one, so that the earlier does not change by it."""
    for place, message in enumerate(messages):
        first, *rest = message.blocks
        yield replace(first, text=_BETWEEN + first.text) if place else first
        yield from rest


def _join_tools(messages: Sequence[Message]) -> Iterator[Message]:
    """Neighbours of one role that both hold uses, or results, as one message: providers want all results of a turn in one."""
    held: Message | None = None
    for message in messages:
        kind = _TOOL_PARTS.get(message.role, "")
        if held is not None and held.role == message.role and kind and held.has(kind) and message.has(kind):
            held = replace(held, blocks=held.blocks + message.blocks)
            continue
        if held is not None:
            yield held
        held = message
    if held is not None:
        yield held


def _is_late(message: Message) -> bool:
    kinds = [block.kind for block in message.blocks]
    return "tool_result" in kinds and kinds != sorted(kinds, key=_is_other)


def _is_other(kind: str) -> bool:
    return kind != "tool_result"


def _put_results_first(message: Message) -> Message:
    """Sorted by that alone: else the order stays."""
    if not _is_late(message):
        return message
    return replace(message, blocks=tuple(sorted(message.blocks, key=lambda block: _is_other(block.kind))))


def _warn_late(message: Message) -> Diagnostic:
    return Diagnostic(
        "PC0569",
        f"the tool results of {message.name} move in front of its text: a result directly follows its use",
        message.span,
        "put results before text in the state",
        "warn",
    )


def read_messages(fitted: Fitted, emitted: Emitted) -> tuple[Message, ...]:
    """The messages in order. The texts of a message's blocks, joined, equal its content to the byte; a list of parts is a block each."""
    layout = fitted.layout
    sections = {section.id: section for section in layout.sections}
    last = {part.section: part for part in emitted.parts}
    ends = {id(part): sections[name] for name, part in last.items() if sections[name].cache}
    messages = []
    for index, parts in groupby(emitted.parts, key=lambda part: part.message):
        given, own = emitted.messages[index], list(parts)
        blocks = tuple(_iter_blocks(own, ends)) if isinstance(given["content"], str) else _list_parts(given["content"], own, ends)
        messages.append(Message(str(given["role"]), blocks, _name(own, layout), _find_section(own, sections).span))
    return tuple(_measure(messages, layout)) if ends else tuple(messages)


def _iter_blocks(parts: Sequence[Part], ends: Mapping[int, Section]) -> Iterator[ContentBlock]:
    texts: list[str] = []
    is_cut = False
    for part in parts:
        texts.append(part.text)
        if id(part) in ends:
            end = ends[id(part)]
            yield ContentBlock("".join(texts), ends=end.id, continues=is_cut, place=end.span)
            texts, is_cut = [], True
    if texts:
        yield ContentBlock("".join(texts), continues=is_cut)


def _list_parts(content: Sequence[Mapping[str, Any]], parts: Sequence[Part], ends: Mapping[int, Section]) -> tuple[ContentBlock, ...]:
    """The breakpoint of a section ends its last message, so it stands behind the last part."""
    blocks = [ContentBlock(str(part["text"])) if part.get("type") == "text" else ContentBlock(part=part) for part in content]
    end = next((ends[id(part)] for part in parts if id(part) in ends), None)
    if end is not None:
        blocks[-1] = replace(blocks[-1], ends=end.id, place=end.span)
    return tuple(blocks)


def _name(parts: Sequence[Part], layout: Layout) -> str:
    first = next((part for part in parts if part.item is not None), parts[0])
    if first.section in layout.each and first.item is not None:
        return f"item `{first.item.item.id}` of `{first.section}`"
    return ", ".join(f"`{name}`" for name in dict.fromkeys(part.section for part in parts))


def _find_section(parts: Sequence[Part], sections: Mapping[str, Section]) -> Section:
    return sections[parts[0].section]


def _measure(messages: Sequence[Message], layout: Layout) -> Iterator[Message]:
    """The messages with the tokens up to each breakpoint, in this order: an estimate where the provider counts otherwise."""
    meter, units = layout.meter, layout.fixed
    for message in messages:
        units += layout.count_message(message.role)
        blocks = []
        for block in message.blocks:
            units += meter.count(block.text if block.part is None else render_canonical_json(block.part))
            blocks.append(replace(block, prefix=meter.tokens(units)) if block.ends else block)
        yield replace(message, blocks=tuple(blocks))


@frozen(eq=False)
class ContentBlock:
    """A run of a message: `text`, or a `part` that is none (tool_use, tool_result, thinking).

    `ends` is the section whose cache breakpoint stands behind it (empty: none), `place` where the pack declares that, `prefix` the tokens
    of the whole request up to there.
    `continues` tells that it goes on with the text of the block before, which a breakpoint cut.
    """

    text: str = ""
    part: Mapping[str, Any] | None = None
    ends: str = ""
    prefix: int = 0
    continues: bool = False
    place: Span | None = None

    @property
    def kind(self) -> str:
        """`text`, or the part's type."""
        return "text" if self.part is None else str(self.part.get("type"))


@frozen(eq=False)
class Message:
    """One message. The texts of its blocks, joined, are its content. `name` is what findings call it, `span` where the pack declares it."""

    role: str
    blocks: tuple[ContentBlock, ...]
    name: str = ""
    span: Span | None = None

    def has(self, kind: str) -> bool:
        """Whether any of its blocks is of that kind."""
        return any(block.kind == kind for block in self.blocks)


@frozen
class ReplyLimits:
    """Tokens: of the reply (None where the manifest reserves none), and of the reply with the prompt. `span` is where that is declared."""

    reply: int | None
    context: int
    span: Span | None = None


@frozen(eq=False)
class PayloadRequest:
    """What a body is made of: `system` holds the text that stands apart from the messages."""

    messages: tuple[Message, ...]
    system: tuple[ContentBlock, ...]
    tools: tuple[Tool, ...]
    response: Response | None
    provider: Provider
    limits: ReplyLimits
    model: str | None


@frozen(eq=False)
class Payload:
    """A request body, and what was said while it was made."""

    body: dict[str, Any]
    warnings: tuple[Diagnostic, ...] = ()


def find_texts(content: Any) -> list[str] | None:
    """The texts of a list of text parts, those of white space left out; None for anything else."""
    if not isinstance(content, list | tuple):
        return None
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content]
    if any(not isinstance(text, str) for text in texts):
        return None
    return [text for text in texts if isinstance(text, str) and not is_blank(text)]


def render_result(content: Any) -> str:
    """A text as it is, text parts a line end apart, any other value as canonical JSON, nothing for null."""
    if isinstance(content, str):
        return content
    texts = find_texts(content)
    if texts is not None:
        return "\n".join(texts)
    return "" if content is None else render_canonical_json(content)


def join_texts(texts: Sequence[str]) -> str:
    """Texts of one message where a provider takes a single one: a line end apart, which is how they are counted."""
    return "\n".join(texts)
