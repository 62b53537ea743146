"""The messages of a prompt as neutral values: cut where a section with a cache breakpoint ends."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.model.section import Section
from promptc.passes.assemble import Emitted, Part
from promptc.passes.fit.fit import Fitted
from promptc.passes.layout.layout import Layout
from promptc.passes.payload.message import ContentBlock, Message
from promptc.text.json import render_canonical_json


def read_messages(fitted: Fitted, emitted: Emitted) -> tuple[Message, ...]:
    """The messages in order. The texts of a message's blocks, joined, equal its content to the byte; a list of parts is a block each."""
    frame = fitted.frame
    sections = {section.id: section for section in frame.sections}
    last = {part.section: part for part in emitted.parts}
    ends = {id(part): sections[name] for name, part in last.items() if sections[name].cache}
    messages = []
    for index, parts in groupby(emitted.parts, key=lambda part: part.message):
        given, own = emitted.messages[index], list(parts)
        blocks = tuple(_iter_blocks(own, ends)) if isinstance(given["content"], str) else _list_parts(given["content"], own, ends)
        messages.append(Message(str(given["role"]), blocks, _name(own, frame), _find_section(own, sections).span))
    return tuple(_measure(messages, frame)) if ends else tuple(messages)


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


def _name(parts: Sequence[Part], frame: Layout) -> str:
    first = next((part for part in parts if part.item is not None), parts[0])
    if first.section in frame.each and first.item is not None:
        return f"item `{first.item.item.id}` of `{first.section}`"
    return ", ".join(f"`{name}`" for name in dict.fromkeys(part.section for part in parts))


def _find_section(parts: Sequence[Part], sections: Mapping[str, Section]) -> Section:
    return sections[parts[0].section]


def _measure(messages: Sequence[Message], frame: Layout) -> Iterator[Message]:
    """The messages with the tokens up to each breakpoint, in this order: an estimate where the provider counts otherwise."""
    meter, units = frame.meter, frame.fixed
    for message in messages:
        units += frame.count_message(message.role)
        blocks = []
        for block in message.blocks:
            units += meter.count(block.text if block.part is None else render_canonical_json(block.part))
            blocks.append(replace(block, prefix=meter.tokens(units)) if block.ends else block)
        yield replace(message, blocks=tuple(blocks))
