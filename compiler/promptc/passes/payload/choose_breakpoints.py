"""Which cache breakpoints a request holds: what the provider takes, the last ones first."""

from collections.abc import Iterable, Sequence

from promptc.diag.findings import Diagnostic, count_noun
from promptc.diag.frozen import replace
from promptc.model.messages import Provider
from promptc.passes.payload.message import ContentBlock, Message

_HELD_BY = {
    "anthropic": ("text", "tool_use", "tool_result"),
    "openai": ("text", "tool_result"),
    "openai-responses": ("text", "tool_result"),
}
"""By provider, the kinds of blocks that a breakpoint can stand behind."""


def choose_breakpoints(
    messages: Sequence[Message], system: Sequence[ContentBlock], provider: Provider, model: str | None
) -> tuple[tuple[Message, ...], tuple[ContentBlock, ...], tuple[Diagnostic, ...]]:
    """The messages and the system text with the breakpoints that stay, and what was left out (PC0565, PC0566) or does nothing (PC0567).

    A provider without breakpoints is no finding, nor is one whose models differ as long as no model is named.
    """
    asked = [block for block in (*system, *_iter_blocks(messages)) if block.ends]
    if not asked:
        return tuple(messages), tuple(system), ()
    if not provider.breakpoints.takes(model):
        told = (_tell_model(asked, provider, model),) if provider.breakpoints.count and model is not None else ()
        return _clear(messages, set()), _clear_blocks(system, set()), told
    held = [block for block in asked if _is_held(block, messages, provider)]
    kept = held[-provider.breakpoints.count :]
    found = (*_tell_unheld(asked, held), *_tell_many(held, kept, provider), *_tell_short(kept, provider, model))
    ids = {id(block) for block in kept}
    return _clear(messages, ids), _clear_blocks(system, ids), found


def _iter_blocks(messages: Sequence[Message]) -> Iterable[ContentBlock]:
    return (block for message in messages for block in message.blocks)


def _is_held(block: ContentBlock, messages: Sequence[Message], provider: Provider) -> bool:
    """Whether the place can hold one. The answers of a model are plain text in OpenAI's responses."""
    if block.kind not in _HELD_BY[provider.name]:
        return False
    return provider.name != "openai-responses" or not any(one.role == "assistant" and block in one.blocks for one in messages)


def _clear(messages: Sequence[Message], kept: set[int]) -> tuple[Message, ...]:
    return tuple(replace(one, blocks=_clear_blocks(one.blocks, kept)) for one in messages)


def _clear_blocks(blocks: Sequence[ContentBlock], kept: set[int]) -> tuple[ContentBlock, ...]:
    """What was cut for a breakpoint that does not stay is one text again."""
    cleared: list[ContentBlock] = []
    for block in blocks:
        one = replace(block, ends="") if block.ends and id(block) not in kept else block
        if one.continues and cleared and not cleared[-1].ends:
            cleared[-1] = replace(one, text=cleared[-1].text + one.text, continues=cleared[-1].continues)
        else:
            cleared.append(one)
    return tuple(cleared)


def _tell_model(asked: Sequence[ContentBlock], provider: Provider, model: str) -> Diagnostic:
    what = f"{_name(asked)}: `{model}` takes none; {provider.title}'s models do from {provider.breakpoints.models[0]} on"
    return Diagnostic("PC0566", what, asked[0].place, "the prompt is the same, but not cached from there; name a newer model", "warn")


def _tell_unheld(asked: Sequence[ContentBlock], held: Sequence[ContentBlock]) -> Iterable[Diagnostic]:
    for block in asked:
        if block not in held:
            what = "an answer of the model" if block.part is None else f"a part of the kind `{block.kind}`"
            help = "end the section before it in text or in a tool's result"
            yield Diagnostic("PC0566", f"{_name([block])}: none can stand behind {what}", block.place, help, "warn")


def _tell_many(held: Sequence[ContentBlock], kept: Sequence[ContentBlock], provider: Provider) -> Iterable[Diagnostic]:
    gone = held[: len(held) - len(kept)]
    if gone:
        what = f"{_name(gone)}: {provider.title} takes {len(kept)}, the last ones stay"
        yield Diagnostic("PC0565", what, gone[0].place, "take `cache` off sections that change together with a later one", "warn")


def _name(blocks: Sequence[ContentBlock]) -> str:
    return f"no cache breakpoint is set behind {_list_sections(blocks)}"


def _list_sections(blocks: Sequence[ContentBlock]) -> str:
    return ", ".join(f"`{block.ends}`" for block in blocks)


def _tell_short(kept: Sequence[ContentBlock], provider: Provider, model: str | None) -> Iterable[Diagnostic]:
    least = provider.breakpoints.find_minimum(model)
    short = [block for block in kept if block.prefix < least]
    if short:
        most = count_noun(max(block.prefix for block in short), "token")
        what = f"nothing is cached up to the end of {_list_sections(short)}: {most} stand there at most"
        why = f"{model or provider.title} caches from {least} on"
        yield Diagnostic("PC0567", f"{what}, and {why}", short[0].place, "put `cache` on a later section", "warn")
