"""The messages of a request body, and how each provider writes it (docs/reference/payloads.md).

`read_messages` splits a prompt into messages of blocks, `arrange` puts them in the order and the roles that a provider accepts, and one
`write_...` function for each kind of API returns the body. `checks` verifies that they are valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.model.media import DETAILS, MEDIA_KINDS, CountedMedia, is_media, list_media, split_counted
from promptc.model.messages import Provider
from promptc.model.pack import Response
from promptc.model.section import Section, Tool
from promptc.passes.assemble import Emitted
from promptc.passes.fit.result import Part
from promptc.passes.items.render import join_counted
from promptc.passes.layout.layout import Layout
from promptc.text.characters import is_blank
from promptc.text.json import render_canonical_json

_ROLES = {"assistant": "model", "user": "user"}
BREAKPOINT = {"mode": "explicit"}
_LIMITS = {"openai": "max_completion_tokens", "openai-compatible": "max_tokens"}
"""The name of the reply's limit: OpenAI renamed it, and other servers may not know the new name."""

_LEVELS = {name: f"MEDIA_RESOLUTION_{level}" for name, level in zip(DETAILS, ("LOW", "MEDIUM", "HIGH", "ULTRA_HIGH"), strict=False)}
"""Gemini's names of the details; `auto` is its default."""

_SOUNDS = {"audio/mpeg": "mp3", "audio/wav": "wav"}
_UNTITLED, _PDF = "document", ".pdf"
_TOOL_PARTS = {"assistant": "tool_use", "user": "tool_result"}
_BETWEEN = "\n\n"


@frozen(eq=False)
class ContentBlock:
    """A run of a message: `text`, or a `part` that is not text (tool_use, tool_result, thinking, media).

    `media` are the counts of its pictures, documents and sounds: of such a part itself, or of those that a tool returned in a result.
    `ends` is the section whose cache breakpoint comes after the block (empty: none), `place` where the pack declares it, and `prefix` the
    tokens of the whole request up to there. `continues` says that the block continues the text of the previous block, which was split by a
    breakpoint. `parts` are the prompt's parts that it is made of, and `counted` is its content that is counted as text, whatever a provider
    accepts of it.
    """

    text: str = ""
    part: Mapping[str, Any] | None = None
    media: tuple[CountedMedia, ...] = ()
    ends: str = ""
    prefix: int = 0
    continues: bool = False
    place: Span | None = None
    parts: tuple[Part, ...] = ()
    counted: str = ""

    @property
    def kind(self) -> str:
        """`text`, or the part's type."""
        return "text" if self.part is None else str(self.part.get("type"))

    @property
    def is_content(self) -> bool:
        """True if the block belongs to the texts of a message, for a provider that separates content from turns of tools."""
        return self.part is None or self.kind in MEDIA_KINDS


@frozen(eq=False)
class Message:
    """One message. The texts of its blocks, joined, are its content.

    `name` is its name in findings, `span` where the pack declares it, and `speaker` the name of who speaks (empty: none).
    """

    role: str
    blocks: tuple[ContentBlock, ...]
    name: str = ""
    span: Span | None = None
    speaker: str = ""

    @property
    def head(self) -> dict[str, str]:
        """The role, and the name of who speaks, as most services spell them."""
        return {"role": self.role, **({"name": self.speaker} if self.speaker else {})}

    def has(self, kind: str) -> bool:
        """Return whether any block is of this kind."""
        return any(block.kind == kind for block in self.blocks)


@frozen
class ReplyLimits:
    """The tokens of the reply (None if the manifest reserves none), and those of the reply and the prompt together.

    `span` is where the manifest declares them.
    """

    reply: int | None
    context: int
    span: Span | None = None


@frozen(eq=False)
class PayloadRequest:
    """The inputs of a body: `system` is the text that a provider takes apart from the messages."""

    messages: tuple[Message, ...]
    system: tuple[ContentBlock, ...]
    tools: tuple[Tool, ...]
    response: Response | None
    provider: Provider
    limits: ReplyLimits
    model: str | None


@frozen(eq=False)
class Payload:
    """A request body, its inputs, and the warnings found while it was made."""

    body: dict[str, Any]
    request: PayloadRequest
    warnings: tuple[Diagnostic, ...] = ()


def read_messages(layout: Layout, emitted: Emitted) -> tuple[Message, ...]:
    """Return the messages in order.

    The texts of a message's blocks, joined, equal its content to the byte. Of a content that is a list of parts, each part is a block.
    """
    sections = {section.id: section for section in layout.sections}
    last = {part.section: part for part in emitted.parts}
    ends = {id(part): sections[name] for name, part in last.items() if sections[name].cache}
    messages = []
    for index, parts in groupby(emitted.parts, key=lambda part: part.message):
        given, own = emitted.messages[index], list(parts)
        blocks = tuple(_iter_blocks(own, ends)) if isinstance(given["content"], str) else _list_parts(given["content"], own, ends)
        name, span = _name(own, layout), sections[own[0].section].span
        messages.append(Message(str(given["role"]), blocks, name, span, given.get("name", "")))
    return tuple(_measure(messages, layout, emitted.tools)) if ends else tuple(messages)


def _iter_blocks(parts: Sequence[Part], ends: Mapping[int, Section]) -> Iterator[ContentBlock]:
    held: list[Part] = []
    is_cut = False
    for part in parts:
        held.append(part)
        if id(part) in ends:
            end = ends[id(part)]
            yield replace(_make_text(held), ends=end.id, continues=is_cut, place=end.span)
            held, is_cut = [], True
    if held:
        yield replace(_make_text(held), continues=is_cut)


def _make_text(parts: Sequence[Part]) -> ContentBlock:
    text = "".join([part.text for part in parts])
    return ContentBlock(text, parts=tuple(parts), counted=text)


def _list_parts(content: Sequence[Mapping[str, Any]], parts: Sequence[Part], ends: Mapping[int, Section]) -> tuple[ContentBlock, ...]:
    """Return the blocks of a list of parts. A section's breakpoint ends its last message, so it comes after the last part."""
    counted = split_counted(content, next((part.item.item.media for part in parts if part.item is not None), ()))
    own = tuple(parts)
    blocks = [
        ContentBlock(parts=own, counted=join_counted([part]), **_read_part(part, media))
        for part, media in zip(content, counted, strict=True)
    ]
    end = next((ends[id(part)] for part in parts if id(part) in ends), None)
    if end is not None:
        blocks[-1] = replace(blocks[-1], ends=end.id, place=end.span)
    return tuple(blocks)


def _read_part(part: Mapping[str, Any], media: tuple[CountedMedia, ...]) -> dict[str, Any]:
    return {"text": str(part["text"])} if part.get("type") == "text" else {"part": part, "media": media}


def _name(parts: Sequence[Part], layout: Layout) -> str:
    first = next((part for part in parts if part.item is not None), parts[0])
    if first.section in layout.each and first.item is not None:
        return f"item `{first.item.item.id}` of `{first.section}`"
    return ", ".join(f"`{name}`" for name in dict.fromkeys(part.section for part in parts))


def _measure(messages: Sequence[Message], layout: Layout, tools: Sequence[Tool]) -> Iterator[Message]:
    """Yield the messages with the tokens up to each breakpoint in this order; they are an estimate if the provider counts differently."""
    meter = layout.meter
    units = (layout.costs.prompt + layout.count_offered(meter.count, tools)) * meter.counter.unit
    for message in messages:
        units += layout.count_message(message.role, message.speaker)
        blocks = []
        for block in message.blocks:
            units += sum(one.tokens for one in block.media) * meter.counter.unit + meter.count(block.counted)
            blocks.append(replace(block, prefix=meter.tokens(units)) if block.ends else block)
        yield replace(message, blocks=tuple(blocks))


def arrange(
    messages: Sequence[Message], provider: Provider, model: str | None
) -> tuple[tuple[Message, ...], tuple[ContentBlock, ...], tuple[Diagnostic, ...]]:
    """Return the messages, the system blocks that are apart from them, and warnings about what moved (PC0564, PC0569)."""
    named = [replace(one, role="system") if one.role not in provider.roles else one for one in messages]
    found: list[Diagnostic] = []
    system: Sequence[Message] = ()
    if provider.system == "apart":
        system, named, late = _set_apart(named, takes_late=provider.takes_late_system(model))
        found += late.iter_warnings(provider)
    elif provider.system == "first" and len(named) > 1 and _is_plain_system(named[0]):
        system, named = named[:1], named[1:]
    joined = tuple(_join_tools(named, provider))
    found += [_warn_late(one) for one in joined if _is_late(one)]
    return tuple(_put_results_first(one) for one in joined), tuple(_iter_system(system)), tuple(found)


def _is_plain_system(message: Message) -> bool:
    """Return whether this is a system message without a breakpoint, which may be placed where no breakpoint can be."""
    return message.role == "system" and not any(block.ends for block in message.blocks)


@frozen(eq=False)
class _Moved:
    """System messages that are not where the prompt has them: those before all others, and those after the user's next messages."""

    front: tuple[Message, ...]
    behind: tuple[Message, ...]

    def iter_warnings(self, provider: Provider) -> Iterator[Diagnostic]:
        for moved, where, there in (
            (self.front, "before all messages", "there"),
            (self.behind, "after the next message of the user", "directly after one, followed by an answer or by nothing"),
        ):
            if moved:
                names = ", ".join(dict.fromkeys(one.name for one in moved))
                what = f"{names} moves {where}: {provider.title} takes system text only {there}"
                help = "give it the role `user`, or put it before the conversation"
                yield Diagnostic("PC0564", what, moved[0].span, help, "warn")


def _set_apart(messages: Sequence[Message], *, takes_late: bool) -> tuple[list[Message], list[Message], _Moved]:
    """Return the system messages that are apart, the other messages, and what moved.

    A model that `takes_late` system messages takes them where a run of user messages ends, and never two in a row.
    """
    first = next((place for place, one in enumerate(messages) if one.role != "system"), len(messages))
    apart, behind = list(messages[:first]), []
    if not takes_late:
        late = [one for one in messages[first:] if one.role == "system"]
        return [*apart, *late], [one for one in messages[first:] if one.role != "system"], _Moved(tuple(late), ())
    placed: list[Message] = []
    waiting: list[tuple[Message, int]] = []
    for one in (*messages[first:], None):
        if one is not None and one.role == "system":
            waiting.append((one, len(placed)))
        elif (one is None or one.role != "user") and waiting and placed[-1].role == "user":
            behind += [late for late, at in waiting if at < len(placed)]
            late = [each for each, _ in waiting]
            placed.append(replace(late[0], blocks=tuple(_iter_system(late))))
            waiting = []
        if one is not None and one.role != "system":
            placed.append(one)
    left = tuple(late for late, _ in waiting)
    return [*apart, *left], placed, _Moved(left, tuple(behind))


def _iter_system(messages: Sequence[Message]) -> Iterator[ContentBlock]:
    """Yield the blocks of system messages, with a blank line between messages.

    The blank line begins the later message, so the earlier one does not change because of it.
    """
    for place, message in enumerate(messages):
        first, *rest = message.blocks
        yield replace(first, text=_BETWEEN + first.text) if place else first
        yield from rest


def _join_tools(messages: Sequence[Message], provider: Provider) -> Iterator[Message]:
    """Yield the messages; adjacent ones of one role that both contain uses, or results, become one.

    Providers require all results of a turn in one message. If a use must directly follow the user, it joins what the model said before it.
    """
    held: Message | None = None
    for message in messages:
        kind = _TOOL_PARTS.get(message.role, "")
        is_said = provider.tool_uses == "after_user" and message.role == "assistant"
        if held is not None and held.role == message.role and kind and message.has(kind) and (is_said or held.has(kind)):
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
    """Sort the results first; all other blocks keep their order."""
    if not _is_late(message):
        return message
    return replace(message, blocks=tuple(sorted(message.blocks, key=lambda block: _is_other(block.kind))))


def _warn_late(message: Message) -> Diagnostic:
    return Diagnostic(
        "PC0569",
        f"the tool results of {message.name} move before its text: a result must directly follow its use",
        message.span,
        "put results before text where your program writes the state",
        "warn",
    )


def find_texts(content: Any) -> list[str] | None:
    """Return the texts of a list of text parts without blank ones, or None for anything else."""
    if not isinstance(content, list | tuple):
        return None
    texts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content]
    if any(not isinstance(text, str) for text in texts):
        return None
    return [text for text in texts if isinstance(text, str) and not is_blank(text)]


def render_result(content: Any) -> str:
    """Return a text as it is, text parts joined by line ends, any other value as canonical JSON, and nothing for null."""
    if isinstance(content, str):
        return content
    texts = find_texts(content)
    if texts is not None:
        return "\n".join(texts)
    return "" if content is None else render_canonical_json(content)


def iter_shown(block: ContentBlock) -> Iterator[ContentBlock]:
    """Yield the texts and media that a tool returned, each as a block; nothing for a result without media."""
    part = block.part or {}
    counted = iter(block.media)
    for one in part["content"] if block.kind == "tool_result" and list_media(part) else ():
        if is_media(one):
            yield ContentBlock(part=one, media=tuple(islice(counted, 1)))
        elif not is_blank(one["text"]):
            yield ContentBlock(one["text"])


def read_told(part: Mapping[str, Any]) -> Any:
    """Return what a tool returned, without its media."""
    content = part["content"]
    return [one for one in content if not is_media(one)] if list_media(part) else content


def join_texts(texts: Sequence[str]) -> str:
    """Join the texts of one message with line ends, which is how they are counted, for a provider that accepts a single text."""
    return "\n".join(texts)


def describe_function(tool: Tool) -> dict[str, Any]:
    """Return a tool as a function with its parameters."""
    return {"name": tool.name, **tool.said, "parameters": tool.input_schema}


def list_tools(request: PayloadRequest, written: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tools of the request as they are `written`, with the tool that searches deferred tools before the first of those."""
    first = next((place for place, one in enumerate(request.tools) if one.is_deferred), None)
    if first is None or request.provider.search is None:
        return list(written)
    return [*written[:first], dict(request.provider.search.body), *written[first:]]


def write_anthropic(request: PayloadRequest) -> dict[str, Any]:
    """Return the body of `POST /v1/messages`.

    A breakpoint is the `cache_control` of the block that it follows; tools come first in what is cached.
    """
    body: dict[str, Any] = {"model": request.model} if request.model is not None else {}
    if request.limits.reply is not None:
        body["max_tokens"] = request.limits.reply
    if request.response is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.response.schema}}
    if request.tools:
        body["tools"] = list_tools(request, [tool.definition for tool in request.tools])
    if request.system:
        body["system"] = _write_anthropic_content(request.system)
    body["messages"] = [{"role": one.role, "content": _write_anthropic_content(one.blocks)} for one in request.messages]
    return body


def _write_anthropic_content(blocks: Sequence[ContentBlock]) -> str | list[dict[str, Any]]:
    """Return a single text as such, anything else as blocks."""
    if len(blocks) == 1 and blocks[0].part is None and not blocks[0].ends:
        return blocks[0].text
    return [_write_block(block) for block in blocks]


def _write_block(block: ContentBlock) -> dict[str, Any]:
    written: dict[str, Any] = {"type": "text", "text": block.text} if block.part is None else _write_anthropic_part(dict(block.part))
    if shown := [_write_block(one) for one in iter_shown(block)]:
        written["content"] = shown
    return {**written, "cache_control": {"type": "ephemeral"}} if block.ends else written


def _write_anthropic_part(part: dict[str, Any]) -> dict[str, Any]:
    """Return the written part; the content of a result is a list for text parts (media are added later), or else one text."""
    if part["type"] != "tool_result":
        source = part.get("source", {})
        return {**part, "source": {"type": "url", "url": source["url"]}} if source.get("type") == "url" else part
    texts = find_texts(part["content"])
    content = [{"type": "text", "text": text} for text in texts] if texts else render_result(part["content"])
    is_error = {"is_error": True} if part["is_error"] else {}
    return {"type": "tool_result", "tool_use_id": part["tool_use_id"], "content": content, **is_error}


def write_gemini(request: PayloadRequest) -> dict[str, Any]:
    """Return the body of `POST /v1beta/models/MODEL:generateContent`."""
    body: dict[str, Any] = {}
    config = _write_config(request)
    if config:
        body["generationConfig"] = config
    if request.tools:
        declared = [{"name": tool.name, **tool.said, "parametersJsonSchema": tool.input_schema} for tool in request.tools]
        body["tools"] = [{"functionDeclarations": declared}]
    if request.system:
        body["systemInstruction"] = {"parts": _write_parts(request.system)}
    body["contents"] = [{"role": _ROLES[one.role], "parts": _write_parts(one.blocks)} for one in request.messages]
    return body


def _write_config(request: PayloadRequest) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if request.limits.reply is not None:
        config["maxOutputTokens"] = request.limits.reply
    if request.response is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = request.response.schema
    return config


def _write_parts(blocks: Sequence[ContentBlock]) -> list[dict[str, Any]]:
    return [{"text": block.text} if block.part is None else _write_gemini_part(block) for block in blocks]


def _write_gemini_part(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    if block.kind in MEDIA_KINDS:
        return _write_gemini_media(block)
    if block.kind == "tool_use":
        return {"functionCall": {"id": part["id"], "name": part["name"], "args": part["input"]}}
    response = {"error" if part["is_error"] else "output": _read_output(read_told(part))}
    shown = [_write_gemini_media(one) for one in iter_shown(block) if one.part is not None]
    more = {"parts": shown} if shown else {}
    return {"functionResponse": {"id": part["tool_use_id"], "name": part["name"], "response": response, **more}}


def _write_gemini_media(block: ContentBlock) -> dict[str, Any]:
    source = (block.part or {})["source"]
    level = _LEVELS.get(_find_detail(block) or "auto")
    asked = {"mediaResolution": {"level": level}} if level is not None else {}
    if source["type"] == "base64":
        return {"inlineData": {"mimeType": source["media_type"], "data": source["data"]}, **asked}
    return {"fileData": {"mimeType": source["media_type"], "fileUri": source["url"]}, **asked}


def _find_detail(block: ContentBlock) -> str | None:
    """Return how closely the model is requested to look at the media, or None."""
    return block.media[0].detail if block.media else None


def _read_output(content: Any) -> Any:
    """Return JSON as it is, and text as one text."""
    return render_result(content) if content is None or find_texts(content) is not None else content


def write_ollama(request: PayloadRequest) -> dict[str, Any]:
    """Return the body of `POST /api/chat`.

    `num_ctx` is the manifest's context: Ollama's own default is small, and it truncates silently.
    """
    body: dict[str, Any] = {"model": request.model} if request.model is not None else {}
    body["options"] = {"num_ctx": request.limits.context}
    if request.limits.reply is not None:
        body["options"]["num_predict"] = request.limits.reply
    if request.response is not None:
        body["format"] = request.response.schema
    if request.tools:
        body["tools"] = [{"type": "function", "function": _describe_ollama_function(tool)} for tool in request.tools]
    body["messages"] = [one for message in request.messages for one in _iter_ollama_messages(message)]
    return body


def _describe_ollama_function(tool: Tool) -> dict[str, Any]:
    """Return a tool as a function. Ollama reads each property as a mapping, so `true` and `false` become mappings that say the same."""
    properties = tool.input_schema.get("properties")
    if not isinstance(properties, Mapping) or all(isinstance(one, Mapping) for one in properties.values()):
        return describe_function(tool)
    said: dict[bool, dict[str, Any]] = {True: {}, False: {"not": {}}}
    mapped = {name: said[one] if isinstance(one, bool) else one for name, one in properties.items()}
    return describe_function(replace(tool, input_schema={**tool.input_schema, "properties": mapped}))


def _iter_ollama_messages(message: Message) -> Iterator[dict[str, Any]]:
    """Yield messages as for OpenAI, except that arguments are a mapping and a result names its tool."""
    for block in message.blocks:
        if block.part is not None and block.kind == "tool_result":
            shown = [one.part["source"]["data"] for one in iter_shown(block) if one.part is not None]
            told = {"role": "tool", "tool_name": block.part["name"], "content": render_result(read_told(block.part))}
            yield {**told, **({"images": shown} if shown else {})}
    text = join_texts([block.text for block in message.blocks if block.part is None])
    calls = [_write_ollama_call(block) for block in message.blocks if block.kind == "tool_use"]
    images = [block.part["source"]["data"] for block in message.blocks if block.part is not None and block.kind in MEDIA_KINDS]
    if calls:
        yield {"role": message.role, "content": text, "tool_calls": calls}
    elif text or images:
        yield {"role": message.role, "content": text, **({"images": images} if images else {})}


def _write_ollama_call(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    return {"function": {"name": part["name"], "arguments": part["input"]}}


def write_chat(request: PayloadRequest) -> dict[str, Any]:
    """Return the messages and tools for a chat template, as local servers pass them: arguments as a mapping, and None for no tools."""
    tools = [{"type": "function", "function": describe_function(tool)} for tool in request.tools]
    return {"messages": [one for message in request.messages for one in _iter_chat_messages(message)], "tools": tools or None}


def _iter_chat_messages(message: Message) -> Iterator[dict[str, Any]]:
    for block in message.blocks:
        if block.part is not None and block.kind == "tool_result":
            part = block.part
            yield {"role": "tool", "tool_call_id": part["tool_use_id"], "name": part["name"], "content": render_result(part["content"])}
    text = join_texts([block.text for block in message.blocks if block.part is None])
    calls = [
        {"id": block.part["id"], "type": "function", **_write_ollama_call(block)}
        for block in message.blocks
        if block.part is not None and block.kind == "tool_use"
    ]
    if calls or text:
        yield {**message.head, "content": text, **({"tool_calls": calls} if calls else {})}


def write_openai(request: PayloadRequest) -> dict[str, Any]:
    """Return the body of `POST /v1/chat/completions`."""
    body: dict[str, Any] = {"model": request.model} if request.model is not None else {}
    if request.limits.reply is not None:
        body[_LIMITS[request.provider.name]] = request.limits.reply
    if request.response is not None:
        schema = {"name": request.response.name, "schema": request.response.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.tools:
        body["tools"] = [{"type": "function", "function": describe_function(tool)} for tool in request.tools]
    body["messages"] = [one for message in request.messages for one in _iter_openai_messages(message)]
    return body


def _iter_openai_messages(message: Message) -> Iterator[dict[str, Any]]:
    """Yield the messages; one with results becomes several, because each result is a message of the role `tool`."""
    for block in message.blocks:
        if block.part is not None and block.kind == "tool_result":
            content = _write_content([ContentBlock(render_result(block.part["content"]), ends=block.ends)], "text", _write_openai_media)
            yield {"role": "tool", "tool_call_id": block.part["tool_use_id"], "content": content}
    texts = [block for block in message.blocks if block.is_content]
    calls = [_write_openai_call(block) for block in message.blocks if block.kind == "tool_use"]
    if calls:
        yield {**message.head, "content": _write_content(texts, "text", _write_openai_media) if texts else None, "tool_calls": calls}
    elif texts:
        yield {**message.head, "content": _write_content(texts, "text", _write_openai_media)}


def _write_content(
    texts: Sequence[ContentBlock], type: str, write_media: Callable[[Mapping[str, Any], str | None], dict[str, Any]]
) -> str | list[dict[str, Any]]:
    """Return a single text as such, or parts if there are several or a breakpoint follows one. `type` is that of a part of text."""
    if len(texts) == 1 and not texts[0].ends and texts[0].part is None:
        return texts[0].text
    parts = []
    for block in texts:
        written = {"type": type, "text": block.text} if block.part is None else write_media(block.part, _find_detail(block))
        parts.append({**written, "prompt_cache_breakpoint": dict(BREAKPOINT)} if block.ends else written)
    return parts


def _write_openai_media(part: Mapping[str, Any], detail: str | None) -> dict[str, Any]:
    source = part["source"]
    if part["type"] == "image":
        asked = {"detail": detail} if detail is not None else {}
        return {"type": "image_url", "image_url": {"url": _write_url(source), **asked}}
    if part["type"] == "audio":
        return {"type": "input_audio", "input_audio": {"data": source["data"], "format": _SOUNDS[source["media_type"]]}}
    return {"type": "file", "file": {"filename": _name_file(part), "file_data": _write_url(source)}}


def _name_file(part: Mapping[str, Any]) -> str:
    """Return the name of a document. OpenAI reads from its ending what kind of file it is, and refuses a name without one."""
    title = str(part.get("title") or _UNTITLED)
    return title if title.lower().endswith(_PDF) else title + _PDF


def _write_url(source: Mapping[str, str]) -> str:
    """Return a URL as it is, and bytes as a data URL."""
    return source["url"] if source["type"] == "url" else f"data:{source['media_type']};base64,{source['data']}"


def _write_openai_call(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    function = {"name": part["name"], "arguments": render_canonical_json(part["input"])}
    return {"id": part["id"], "type": "function", "function": function}


def write_responses(request: PayloadRequest) -> dict[str, Any]:
    """Return the body of `POST /v1/responses`.

    `instructions` is the first system message; the others keep their roles and places in `input`.
    """
    body: dict[str, Any] = {"model": request.model} if request.model is not None else {}
    if request.limits.reply is not None:
        body["max_output_tokens"] = request.limits.reply
    if request.response is not None:
        body["text"] = {"format": {"type": "json_schema", "name": request.response.name, "schema": request.response.schema}}
    if request.tools:
        body["tools"] = list_tools(request, [_write_responses_tool(tool) for tool in request.tools])
    if request.system:
        body["instructions"] = "".join(block.text for block in request.system)
    body["input"] = [one for message in request.messages for one in _iter_input(message)]
    return body


def _write_responses_tool(tool: Tool) -> dict[str, Any]:
    deferred = {"defer_loading": True} if tool.is_deferred else {}
    return {"type": "function", **describe_function(tool), "strict": False, **deferred}


def _iter_input(message: Message) -> Iterator[dict[str, Any]]:
    """Yield runs of text as messages, and uses and results as items of their own, in order."""
    texts: list[ContentBlock] = []
    for block in message.blocks:
        if block.is_content:
            texts.append(block)
            continue
        yield from _iter_text(message.role, texts)
        texts = []
        yield _write_result(block) if block.kind == "tool_result" else _write_responses_call(block)
    yield from _iter_text(message.role, texts)


def _iter_text(role: str, texts: Sequence[ContentBlock]) -> Iterator[dict[str, Any]]:
    if not texts:
        return
    if role == "assistant":
        yield {"role": role, "content": join_texts([block.text for block in texts])}
    else:
        yield {"role": role, "content": _write_content(texts, "input_text", _write_responses_media)}


def _write_responses_media(part: Mapping[str, Any], detail: str | None) -> dict[str, Any]:
    source = part["source"]
    if part["type"] == "image":
        return {"type": "input_image", "detail": detail or "auto", "image_url": _write_url(source)}
    if source["type"] == "url":
        return {"type": "input_file", "file_url": source["url"]}
    return {"type": "input_file", "filename": _name_file(part), "file_data": _write_url(source)}


def _write_responses_call(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    return {"type": "function_call", "call_id": part["id"], "name": part["name"], "arguments": render_canonical_json(part["input"])}


def _write_result(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    shown = list(iter_shown(block)) or [ContentBlock(render_result(part["content"]))]
    output = _write_content([*shown[:-1], replace(shown[-1], ends=block.ends)], "input_text", _write_responses_media)
    return {"type": "function_call_output", "call_id": part["tool_use_id"], "output": output}
