"""From messages to a request body that its provider accepts.

`build_payload` checks tools, parts and turns (`check_...`), reduces parts to the keys that have a meaning, places cache breakpoints
(`choose_breakpoints`), and calls the provider's writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, count_noun, fail, join_names, show_value
from promptc.diag.frozen import as_plain, frozen, replace
from promptc.diag.typed import Any
from promptc.model.media import DETAILS, MEDIA_KINDS, is_media, list_media
from promptc.model.messages import CHAT, Provider
from promptc.model.pack import Response
from promptc.model.section import Tool
from promptc.passes.payload.bodies import (
    ContentBlock,
    Message,
    Payload,
    PayloadRequest,
    ReplyLimits,
    arrange,
    write_anthropic,
    write_chat,
    write_gemini,
    write_ollama,
    write_openai,
    write_responses,
)

_WRITERS: Mapping[str, Callable[[PayloadRequest], dict[str, Any]]] = {
    "openai": write_openai,
    "openai-responses": write_responses,
    "openai-compatible": write_openai,
    "anthropic": write_anthropic,
    "gemini": write_gemini,
    "ollama": write_ollama,
    CHAT: write_chat,
}
_ABSENT = "`promptc explain` says which sections are absent"

_KEYS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **dict.fromkeys(MEDIA_KINDS, ("user", {"source": Mapping})),
    "tool_use": ("assistant", {"id": str, "name": str, "input": Mapping}),
    "tool_result": ("user", {"tool_use_id": str}),
    "thinking": ("assistant", {"thinking": str, "signature": str}),
    "redacted_thinking": ("assistant", {"data": str}),
}
"""By kind: the role whose messages contain it, and its required keys with the types of their values."""

_THOUGHTS = ("thinking", "redacted_thinking")
_SPELLED: Mapping[Any, str] = {str: "a string", Mapping: "a mapping"}
_BEFORE = "put each use before its result, with the same id in both"
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST = 64

_SAID: Mapping[str, tuple[str, str, str]] = {
    "unanswered": (
        "PC0571",
        "the tool use {id} has no result, and other content follows",
        "add its result, or leave the use out with `where`",
    ),
    "missing": (
        "PC0571",
        "the tool use {id} has no result, and another use of its message has one",
        "wait until the state holds all results of a message, or add one that says `cancelled`",
    ),
    "late": (
        "PC0571",
        "the result of the tool use {id} does not directly follow it",
        "put all results of a message directly after it, before anything else",
    ),
    "used twice": ("PC0572", "a second tool use has the id {id}", "give each tool use its own id, and write the same id in its result"),
    "answered twice": ("PC0572", "the tool use {id} has a second result", "leave one of them out"),
    "unled": (
        "PC0575",
        "the tool use {id} does not directly follow a message of the user",
        "cut whole turns: `items: {group: {by: item.turn}}` with `evict: {whole: group}`; or put a section of the role `user` before it",
    ),
}
"""By kind of problem: the code, the message, and the help."""

_OPENAI = ("openai", "openai-responses")
_MAKERS: Mapping[str, tuple[str, ...] | None] = {"gpt-oss": None, "gpt-": _OPENAI, "claude-": ("anthropic",), "gemini-": ("gemini",)}
"""By the beginning of a model's name: the only providers that have it, or None if anybody may serve it."""

_MADE = (*_OPENAI, "anthropic")
"""The providers that only have models of their own, and whose bodies name one."""

_HELD_BY = {
    "anthropic": ("text", "image", "document", "tool_use", "tool_result"),
    "openai": ("text", *MEDIA_KINDS, "tool_result"),
    "openai-responses": ("text", *MEDIA_KINDS, "tool_result"),
}
"""By provider, the kinds of blocks that a breakpoint can follow."""


def build_payload(
    messages: Sequence[Message],
    tools: Sequence[Tool],
    response: Response | None,
    *,
    provider: Provider,
    limits: ReplyLimits,
    model: str | None = None,
) -> Payload:
    """Return the body as an independent value, with its keys always in the same order.

    Texts and their order are those of the messages, except for the folds that docs/reference/payloads.md lists. Of the parts of messages,
    only the keys of their kinds are passed on.

    Raises `PromptcError`: PC0528 for a tool with the name of the provider's search tool, PC0560 if a message is missing that the provider
    needs, PC0562 for parts it cannot accept, PC0570 for names of tools it refuses, PC0589 for media it cannot accept.
    """
    checked, found = check_parts(messages, provider)
    found += _check_names(tools, provider)
    if any(one.level == "error" for one in found):
        raise PromptcError(one for one in found if one.level == "error")
    found += check_uses(messages)
    arranged, system, moved = arrange(checked, provider, model)
    found += check_turns(arranged, checked, provider)
    _check_messages(arranged, system, provider)
    kept, system, unheld = choose_breakpoints(arranged, system, provider, model)
    request = PayloadRequest(kept, system, tuple(tools), response, provider, limits, model)
    found += [*moved, *unheld, *_check_limit(provider, limits), *_check_maker(provider, limits, model)]
    return Payload(as_plain(_WRITERS[provider.name](request)), request, tuple(found))


def _check_maker(provider: Provider, limits: ReplyLimits, model: str | None) -> Iterator[Diagnostic]:
    """Warn about a model that only another provider has. A gateway's name before the model says that somebody else answers."""
    name = model or ""
    own = next((makers for brand, makers in _MAKERS.items() if name.startswith(brand)), None)
    if own is not None and provider.name in _MADE and provider.name not in own:
        message = f"the request to {provider.title} names `{name}`, which {provider.title} does not have"
        help = f"name a model for it: `output: {{models: {{{provider.name}: ...}}}}`, or `--model`"
        yield Diagnostic("PC0599", message, limits.span, help, "warn")


def _check_names(tools: Sequence[Tool], provider: Provider) -> list[Diagnostic]:
    found = [*_check_searching(tools, provider)]
    if provider.tool_names == "any":
        return found
    what = f"{provider.title} accepts no tool whose name begins with a digit or a hyphen"
    help = "give the tool a name that begins with a letter or `_`"
    bad = [one for one in tools if one.name[0] in "0123456789-"]
    return [*found, *(Diagnostic("PC0570", f"the tool `{one.name}`: {what}", one.span, help) for one in bad)]


def _check_searching(tools: Sequence[Tool], provider: Provider) -> Iterator[Diagnostic]:
    """Yield an error for a tool that has the same name as the tool that searches deferred tools."""
    taken = dict(provider.search.body).get("name") if provider.search is not None and any(one.is_deferred for one in tools) else None
    for one in tools:
        if one.name == taken:
            message = f"the tool `{one.name}` needs another name: {provider.title} uses this name for the tool that searches deferred tools"
            yield Diagnostic("PC0528", message, one.span, "give the tool another name")


def _check_messages(messages: Sequence[Message], system: Sequence[ContentBlock], provider: Provider) -> None:
    if not messages and not system:
        raise fail("PC0560", f"the prompt is empty, and {provider.title} needs a message", help=_ABSENT)
    if provider.needs_user and not any(one.role == "user" for one in messages):
        what = f"the prompt has no message of the role `user`, and {provider.title} needs one"
        raise fail("PC0560", what, help=f"write `role: user` on a section; {_ABSENT}")


def _check_limit(provider: Provider, limits: ReplyLimits) -> tuple[Diagnostic, ...]:
    if limits.reply is not None or not provider.needs_limit:
        return ()
    what = f"{provider.title} needs a limit for the reply, and the manifest reserves nothing for it"
    return (
        Diagnostic(
            "PC0563",
            what,
            limits.span,
            "write a `reserve`, such as `budget: {context: 16000, reserve: 3000}`, or add `max_tokens` yourself",
            "warn",
        ),
    )


def check_parts(messages: Sequence[Message], provider: Provider) -> tuple[tuple[Message, ...], list[Diagnostic]]:
    """Return the messages with their parts as they may be passed on, and findings.

    The findings are errors about wrong parts (PC0562, PC0589), and warnings about names and thoughts that were left out (PC0536, PC0568).
    Only the keys of its kind are passed on of a part, so the state never adds a key to a request. Messages with nothing left are removed.
    """
    found: list[Diagnostic] = []
    used: set[str] = set()
    for message in messages:
        for block in message.blocks:
            if block.part is not None:
                found += _judge(block.part, message, used)
                found += _judge_media(block, message, provider)
    if provider.name_tokens is None and any(one.speaker for one in messages):
        found.append(_warn_names([one for one in messages if one.speaker], provider))
        messages = [replace(one, speaker="") for one in messages]
    if not provider.keeps_thinking:
        messages, left_out = _leave_out_thoughts(messages)
        found += [_warn_thoughts(left_out, provider)] if left_out else []
    return tuple(_reduce(messages)), found


def _judge(part: Mapping[str, Any], message: Message, used: set[str]) -> Iterator[Diagnostic]:
    kind = str(part.get("type"))
    role, keys = _KEYS[kind]
    if message.role != role:
        yield _refuse(message, f"a `{kind}` in a message of the role `{message.role}`", f"it is in a message of the role `{role}`")
    for key, wanted in keys.items():
        if not isinstance(part.get(key), wanted) or (kind not in _THOUGHTS and part[key] == ""):
            what = f"whose `{key}` must be {_SPELLED[wanted]}, not {show_value(part[key])}" if key in part else f"without `{key}`"
            yield _refuse(
                message,
                f"a `{kind}` {what}",
                f"write {_SPELLED[wanted]} under `{key}`" if key in part else f"give the `{kind}` the keys {join_names(keys)}",
            )
    if kind == "tool_use":
        used.add(str(part.get("id")))
    elif kind == "tool_result" and isinstance(of := part.get("tool_use_id"), str) and of and of not in used:
        yield _refuse(message, f"a result of the tool use {show_value(of)}, which does not come before it", _BEFORE)


def _judge_media(block: ContentBlock, message: Message, provider: Provider) -> Iterator[Diagnostic]:
    """Yield an error for each picture, document and sound that the provider does not accept with its source, media type and detail."""
    part = block.part or {}
    for place, one in enumerate(list_media(part)):
        detail = block.media[place].detail if place < len(block.media) else None
        found = _find_untaken(one, detail, provider, in_result=one is not part)
        if found is not None:
            what, help = found
            yield Diagnostic("PC0589", f"{message.name}: {provider.title} {what}", message.span, help)


def _find_untaken(part: Mapping[str, Any], detail: str | None, provider: Provider, *, in_result: bool) -> tuple[str, str] | None:
    """Return what the provider does not accept about the part, and the help; None if it accepts the part."""
    kind, source = str(part["type"]), part["source"]
    taken, media_type = provider.find_media(kind, in_result=in_result), source.get("media_type", "")
    where = " in the result of a tool" if in_result else ""
    if taken is None and in_result:
        known = [name for name, _ in provider.result_media]
        there = f"it takes {join_names(known)} there; " if known else ""
        return f"accepts no {kind}{where}", f"{there}put the {kind} into a message of the user after the results, and say so in the result"
    if taken is None:
        known = [name for name, _ in provider.media]
        help = f"it takes {join_names(known)}; describe the rest in words" if known else "describe in words what it shows"
        return f"accepts no part of the kind `{kind}`", help
    if source["type"] not in taken.by:
        return f"accepts no {kind} by URL{where}", "give its bytes: `source: {type: base64, media_type: …, data: …}`"
    if media_type and media_type not in taken.types:
        return f"accepts no {kind} of the type `{media_type}`{where}", f"it takes {join_names(taken.types)}"
    if provider.name == "gemini" and not media_type:
        return "needs the type of what a URL leads to", "write `media_type` in the `source` of the part"
    if provider.name.startswith("openai") and detail == "medium":
        return "has no detail `medium`", f"write one of {join_names([name for name in DETAILS if name != 'medium'])}"
    return None


def _refuse(message: Message, what: str, help: str) -> Diagnostic:
    return Diagnostic("PC0562", f"{message.name} has {what}", message.span, help)


def _leave_out_thoughts(messages: Sequence[Message]) -> tuple[Sequence[Message], list[Message]]:
    """Return the messages without thoughts, and those that had any. A breakpoint after a thought moves to what is left before it."""
    kept, met = [], []
    for message in messages:
        blocks = [block for block in message.blocks if block.kind not in _THOUGHTS]
        if len(blocks) == len(message.blocks):
            kept.append(message)
            continue
        met.append(message)
        end = message.blocks[-1]
        if blocks and end.ends:
            blocks[-1] = replace(blocks[-1], ends=end.ends, prefix=end.prefix, place=end.place)
        if blocks:
            kept.append(replace(message, blocks=tuple(blocks)))
    return kept, met


def _warn_names(messages: Sequence[Message], provider: Provider) -> Diagnostic:
    what = f"the name of {messages[0].name}{_count(messages)} is left out: {provider.title} does not accept names"
    help = "write who speaks into the text: `content: item.by ~ ': ' ~ item.content`"
    return Diagnostic("PC0536", what, messages[0].span, help, "warn")


def _warn_thoughts(messages: Sequence[Message], provider: Provider) -> Diagnostic:
    more = f" and {len(messages) - 1} more" if len(messages) > 1 else ""
    return Diagnostic(
        "PC0568",
        f"the thinking in {messages[0].name}{more} is left out: {provider.title} accepts no thinking of another model",
        messages[0].span,
        "leave `thinking` out of the `parts` of `items.message`: the budget counts it although it is not sent",
        "warn",
    )


def _reduce(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages with reduced parts; a result gets the `name` of its tool from the last use of its id.

    It is the last one because some servers number their uses anew in every turn.
    """
    names: dict[str, str] = {}
    for message in messages:
        if all(block.part is None for block in message.blocks):
            yield message
            continue
        for block in message.blocks:
            if block.part is not None and block.kind == "tool_use":
                names[str(block.part.get("id"))] = str(block.part.get("name"))
        yield replace(message, blocks=tuple(_reduce_block(block, names) for block in message.blocks))


def _reduce_block(block: ContentBlock, names: Mapping[str, str]) -> ContentBlock:
    part = block.part
    if part is None or block.kind not in _KEYS:
        return block
    own = _reduce_part(part)
    if block.kind == "tool_result":
        own |= {
            "name": names.get(str(part.get("tool_use_id")), ""),
            "content": [_reduce_part(one) if is_media(one) else one for one in part["content"]]
            if list_media(part)
            else part.get("content"),
            "is_error": part.get("is_error") is True,
        }
    return replace(block, part=own)


def _reduce_part(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(part["type"])
    titled = ("title",) if kind in MEDIA_KINDS and "title" in part else ()
    return {"type": kind, **{key: part.get(key) for key in (*_KEYS[kind][1], *titled)}}


def check_uses(messages: Sequence[Message]) -> Iterator[Diagnostic]:
    """Yield warnings about parts as the state has them; only the first of each kind, with the number of others.

    They are about names of tools that no service accepts (PC0573), and about an `is_error` that is neither true nor false, which is left
    out (PC0574).
    """
    blocks = [(message, block) for message in messages for block in message.blocks if block.part is not None]
    named = [(message, block) for message, block in blocks if block.kind == "tool_use" and not _is_name(_find(block, "name"))]
    marked = [(message, block) for message, block in blocks if block.kind == "tool_result" and not _is_truth(_find(block, "is_error"))]
    if named:
        message, block = named[0]
        what = f"the tool use {show_value(_find(block, 'id'))} has the name {show_value(_find(block, 'name'))}"
        said = f"{message.name}: {what}{_count(named)}; providers refuse that"
        help = f"use only A-Z, a-z, 0-9, `_` and `-`, at most {_LONGEST} of them"
        yield Diagnostic("PC0573", said, message.span, help, "warn")
    if marked:
        message, block = marked[0]
        of, mark = show_value(_find(block, "tool_use_id")), show_value(_find(block, "is_error"))
        what = f"`is_error` of the result of {of} must be true or false, not {mark}"
        yield Diagnostic("PC0574", f"{message.name}: {what}{_count(marked)}: it is left out", message.span, "write true or false", "warn")


def _find(block: ContentBlock, key: str) -> object:
    return (block.part or {}).get(key)


def _is_name(name: object) -> bool:
    return not isinstance(name, str) or (len(name) <= _LONGEST and _NAME.issuperset(name))


def _is_truth(mark: object) -> bool:
    return mark is None or isinstance(mark, bool)


def _count(met: Sequence[object]) -> str:
    return f" ({len(met) - 1} more like it)" if len(met) > 1 else ""


@frozen(eq=False)
class _Met:
    """A use or a result that is refused: the problem (a key of `_SAID`), the block, and its id."""

    what: str
    block: ContentBlock
    id: str


def check_turns(messages: Sequence[Message], given: Sequence[Message], provider: Provider) -> Iterator[Diagnostic]:
    """Yield warnings about `messages`, arranged as the provider accepts them; only the first of each kind, with the number of others.

    They are about uses without a result although other content or another use's result follows, and results that do not directly follow
    their use (PC0571); about two uses or two results of one id (PC0572); and about uses without a message of the user before them, if the
    provider needs one (PC0575).

    A message of uses at the end without a result so far is a turn in progress. `given` are the messages before they were joined, by which
    findings name them.
    """
    owners = {id(block): message for message in given for block in message.blocks}
    met = [*_iter_unanswered(messages), *_iter_repeated(messages, provider)]
    met += _iter_unled(messages) if provider.tool_uses == "after_user" else ()
    for what in _SAID:
        own = [one for one in met if one.what == what]
        if own:
            yield _describe(own, owners[id(own[0].block)], provider)


def _iter_unanswered(messages: Sequence[Message]) -> Iterator[_Met]:
    """Yield uses without a result directly after them, or the result if it comes late.

    A result is searched up to the next use of its id: a later one belongs to that use.
    """
    for place, message in enumerate(messages):
        if not message.has("tool_use"):
            continue
        behind = messages[place + 1 :]
        directly = {_read_id(block) for one in behind[:1] for block in one.blocks if block.kind == "tool_result"}
        goes_on = len(behind) > 1 or any(block.kind != "tool_result" for one in behind for block in one.blocks)
        for block in message.blocks if behind else ():
            name = _read_id(block)
            if block.kind == "tool_use" and name not in directly:
                late = _find_result(name, behind)
                missing = _Met("unanswered" if goes_on else "missing", block, name)
                yield missing if late is None else _Met("late", late, name)


def _find_result(name: str, messages: Sequence[Message]) -> ContentBlock | None:
    blocks = (block for message in messages for block in message.blocks if block.kind in ("tool_use", "tool_result"))
    first = next((block for block in blocks if _read_id(block) == name), None)
    return first if first is not None and first.kind == "tool_result" else None


def _iter_repeated(messages: Sequence[Message], provider: Provider) -> Iterator[_Met]:
    """Yield second uses and second results of an id.

    If a provider lets ids be reused, a second use is yielded only if the first has no result yet.
    """
    used: set[str] = set()
    answered: set[str] = set()
    for block in (block for message in messages for block in message.blocks):
        name = _read_id(block)
        if block.kind == "tool_use":
            if name in used and (provider.tool_ids == "once" or name not in answered):
                yield _Met("used twice", block, name)
            used.add(name)
            answered.discard(name)
        elif block.kind == "tool_result":
            if name in answered:
                yield _Met("answered twice", block, name)
            answered.add(name)


def _iter_unled(messages: Sequence[Message]) -> Iterator[_Met]:
    """Yield the first use of each message that does not directly follow a message of the user."""
    roles = ["", *(one.role for one in messages)]
    for before, message in zip(roles, messages, strict=False):
        use = next((block for block in message.blocks if block.kind == "tool_use"), None)
        if use is not None and before != "user":
            yield _Met("unled", use, _read_id(use))


def _read_id(block: ContentBlock) -> str:
    part = block.part or {}
    return str(part.get("id") if block.kind == "tool_use" else part.get("tool_use_id"))


def _describe(met: Sequence[_Met], owner: Message, provider: Provider) -> Diagnostic:
    code, said, help = _SAID[met[0].what]
    who = f"{provider.title} refuses" if met[0].what == "unled" else "providers refuse"
    more = f" ({len(met) - 1} more like it)" if len(met) > 1 else ""
    message = f"{owner.name}: {said.format(id=show_value(met[0].id))}{more}; {who} that"
    return Diagnostic(code, message, owner.span, help, "warn")


def choose_breakpoints(
    messages: Sequence[Message], system: Sequence[ContentBlock], provider: Provider, model: str | None
) -> tuple[tuple[Message, ...], tuple[ContentBlock, ...], tuple[Diagnostic, ...]]:
    """Return the messages and the system text with the breakpoints that stay, and warnings.

    The warnings are about breakpoints that are left out (PC0565, PC0566) or have no effect (PC0567). A provider without breakpoints is not
    reported, nor is one whose models differ as long as no model is named.
    """
    asked = [block for block in (*system, *(block for message in messages for block in message.blocks)) if block.ends]
    if not asked:
        return tuple(messages), tuple(system), ()
    if not provider.breakpoints.takes(model):
        told = (_warn_model(asked, provider, model),) if provider.breakpoints.count and model is not None else ()
        return _clear(messages, set()), _clear_blocks(system, set()), told
    held = [block for block in asked if _is_held(block, messages, provider)]
    kept = held[-provider.breakpoints.count :]
    found = (*_warn_unheld(asked, held), *_warn_many(held, kept, provider), *_warn_short(kept, provider, model))
    ids = {id(block) for block in kept}
    return _clear(messages, ids), _clear_blocks(system, ids), found


def _is_held(block: ContentBlock, messages: Sequence[Message], provider: Provider) -> bool:
    """Return whether a breakpoint can follow the block.

    In OpenAI's Responses API, a model's answers are plain text, which no breakpoint can follow.
    """
    if block.kind not in _HELD_BY[provider.name]:
        return False
    return provider.name != "openai-responses" or not any(one.role == "assistant" and block in one.blocks for one in messages)


def _clear(messages: Sequence[Message], kept: set[int]) -> tuple[Message, ...]:
    return tuple(replace(one, blocks=_clear_blocks(one.blocks, kept)) for one in messages)


def _clear_blocks(blocks: Sequence[ContentBlock], kept: set[int]) -> tuple[ContentBlock, ...]:
    """Drop the breakpoints that do not stay, and join the text that was split for them."""
    cleared: list[ContentBlock] = []
    for block in blocks:
        one = replace(block, ends="") if block.ends and id(block) not in kept else block
        if one.continues and cleared and not cleared[-1].ends:
            first = cleared[-1]
            text, counted = first.text + one.text, first.counted + one.counted
            cleared[-1] = replace(one, text=text, continues=first.continues, parts=first.parts + one.parts, counted=counted)
        else:
            cleared.append(one)
    return tuple(cleared)


def _warn_model(asked: Sequence[ContentBlock], provider: Provider, model: str) -> Diagnostic:
    what = f"{_name(asked)}: `{model}` supports none, and {provider.title}'s models do only from {provider.breakpoints.models[0]} on"
    help = "name a newer model with `--model`; the prompt itself is the same, only without this cache breakpoint"
    caching = provider.choose_caching(model)
    if caching.by == "prefix" and caching.models:
        help = f"nothing has to change: `{model}` finds the common beginning of two prompts by itself"
    return Diagnostic("PC0566", what, asked[0].place, help, "warn")


def _warn_unheld(asked: Sequence[ContentBlock], held: Sequence[ContentBlock]) -> Iterable[Diagnostic]:
    for block in asked:
        if block not in held:
            what = "an answer of the model" if block.part is None else f"a part of the kind `{block.kind}`"
            help = "end the section before it in text or in a tool's result"
            yield Diagnostic("PC0566", f"{_name([block])}: none can follow {what}", block.place, help, "warn")


def _warn_many(held: Sequence[ContentBlock], kept: Sequence[ContentBlock], provider: Provider) -> Iterable[Diagnostic]:
    gone = held[: len(held) - len(kept)]
    if gone:
        what = f"{_name(gone)}: {provider.title} takes {len(kept)}, and promptc keeps the last ones"
        yield Diagnostic("PC0565", what, gone[0].place, "remove `cache` from sections that change together with a later one", "warn")


def _name(blocks: Sequence[ContentBlock]) -> str:
    return f"no cache breakpoint is set after {_list_sections(blocks)}"


def _list_sections(blocks: Sequence[ContentBlock]) -> str:
    return ", ".join(f"`{block.ends}`" for block in blocks)


def _warn_short(kept: Sequence[ContentBlock], provider: Provider, model: str | None) -> Iterable[Diagnostic]:
    least = provider.breakpoints.choose_minimum(model)
    short = [block for block in kept if block.prefix < least]
    if short:
        most = count_noun(max(block.prefix for block in short), "token")
        what = f"nothing is cached up to the end of {_list_sections(short)}: the prompt has at most {most} up to there"
        why = f"{model or provider.title} caches only {least} tokens or more"
        yield Diagnostic("PC0567", f"{what}, and {why}", short[0].place, "move `cache: true` to a later section", "warn")
