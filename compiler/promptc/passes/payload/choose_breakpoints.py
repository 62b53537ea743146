"""Which cache breakpoints a request holds: what the provider takes, the last ones first."""

from collections.abc import Iterable, Sequence

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.frozen import replace
from promptc.diag.plural import count_noun
from promptc.model.provider import Provider
from promptc.passes.payload.message import Block, Message

_HELD_BY = {
    "anthropic": ("text", "tool_use", "tool_result"),
    "openai": ("text", "tool_result"),
    "openai-responses": ("text", "tool_result"),
}
"""By provider, the kinds of blocks that a breakpoint can stand behind."""


def choose_breakpoints(
    messages: Sequence[Message], system: Sequence[Block], provider: Provider, model: str | None
) -> tuple[tuple[Message, ...], tuple[Block, ...], tuple[Diagnostic, ...]]:
    """The messages and the system text with the breakpoints that stay, and what was left out (PC0565, PC0566) or does nothing (PC0567).

    A provider without breakpoints, or a named model that takes none, is no finding: nothing is lost but speed.
    """
    asked = [block for block in (*system, *_iter_blocks(messages)) if block.ends]
    if not asked:
        return tuple(messages), tuple(system), ()
    if not provider.breakpoints.takes(model):
        is_asked = provider.breakpoints.count and model is None
        return _clear(messages, set()), _clear_blocks(system, set()), (_ask_for_model(asked, provider),) if is_asked else ()
    held = [block for block in asked if _is_held(block, messages, provider)]
    kept = held[-provider.breakpoints.count :]
    found = (*_tell_unheld(asked, held), *_tell_many(held, kept, provider), *_tell_short(kept, provider, model))
    ids = {id(block) for block in kept}
    return _clear(messages, ids), _clear_blocks(system, ids), found


def _iter_blocks(messages: Sequence[Message]) -> Iterable[Block]:
    return (block for message in messages for block in message.blocks)


def _is_held(block: Block, messages: Sequence[Message], provider: Provider) -> bool:
    """Whether the place can hold one. The answers of a model are plain text in OpenAI's responses."""
    if block.kind not in _HELD_BY[provider.name]:
        return False
    return provider.name != "openai-responses" or not any(one.role == "assistant" and block in one.blocks for one in messages)


def _clear(messages: Sequence[Message], kept: set[int]) -> tuple[Message, ...]:
    return tuple(replace(one, blocks=_clear_blocks(one.blocks, kept)) for one in messages)


def _clear_blocks(blocks: Sequence[Block], kept: set[int]) -> tuple[Block, ...]:
    """What was cut for a breakpoint that does not stay is one text again."""
    cleared: list[Block] = []
    for block in blocks:
        one = replace(block, ends="") if block.ends and id(block) not in kept else block
        if one.continues and cleared and not cleared[-1].ends:
            cleared[-1] = replace(one, text=cleared[-1].text + one.text, continues=cleared[-1].continues)
        else:
            cleared.append(one)
    return tuple(cleared)


def _ask_for_model(asked: Sequence[Block], provider: Provider) -> Diagnostic:
    first = provider.breakpoints.models[0]
    names = ", ".join(f"`{block.ends}`" for block in asked)
    what = f"no cache breakpoint is set behind {names}: {provider.title} takes them from the model {first} on"
    return Diagnostic("PC0566", what, help="name the model with `--model`", level="warn")


def _tell_unheld(asked: Sequence[Block], held: Sequence[Block]) -> Iterable[Diagnostic]:
    for block in asked:
        if block not in held:
            what = f"the cache breakpoint behind `{block.ends}` is left out: none can stand behind {_describe(block)}"
            yield Diagnostic("PC0566", what, help="end the section before it in text or in a tool's result", level="warn")


def _describe(block: Block) -> str:
    return "an answer of the model" if block.part is None else f"a part of the kind `{block.kind}`"


def _tell_many(held: Sequence[Block], kept: Sequence[Block], provider: Provider) -> Iterable[Diagnostic]:
    gone = held[: len(held) - len(kept)]
    if gone:
        names = ", ".join(f"`{block.ends}`" for block in gone)
        what = f"the cache breakpoint behind {names} is left out: {provider.title} takes {len(kept)}, the last ones stay"
        yield Diagnostic("PC0565", what, help="take `cache` off sections that change together with a later one", level="warn")


def _tell_short(kept: Sequence[Block], provider: Provider, model: str | None) -> Iterable[Diagnostic]:
    least = provider.breakpoints.find_minimum(model)
    for block in kept:
        if block.prefix < least:
            what = f"the cache breakpoint behind `{block.ends}` does nothing: {count_noun(block.prefix, 'token')} up to there"
            why = f"{model or provider.title} caches from {least} on"
            yield Diagnostic("PC0567", f"{what}, and {why}", help="put it behind a later section", level="warn")
