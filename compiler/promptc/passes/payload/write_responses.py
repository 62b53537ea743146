"""The body of OpenAI's responses."""

from collections.abc import Iterator, Sequence

from promptc.diag.typed import Any
from promptc.passes.payload.bodies import BREAKPOINT, describe_function
from promptc.passes.payload.message import ContentBlock, Message, PayloadRequest
from promptc.passes.payload.result_text import join_texts, render_result
from promptc.text.json import render_canonical_json


def write_responses(request: PayloadRequest) -> dict[str, Any]:
    """`POST /v1/responses`. `instructions` is the first system message; the rest keep their roles and places in `input`."""
    body: dict[str, Any] = {"model": request.model} if request.model is not None else {}
    if request.limits.reply is not None:
        body["max_output_tokens"] = request.limits.reply
    if request.response is not None:
        body["text"] = {"format": {"type": "json_schema", "name": request.response.name, "schema": request.response.schema}}
    if request.tools:
        body["tools"] = [{"type": "function", **describe_function(tool), "strict": False} for tool in request.tools]
    if request.system:
        body["instructions"] = "".join(block.text for block in request.system)
    body["input"] = [one for message in request.messages for one in _iter_input(message)]
    return body


def _iter_input(message: Message) -> Iterator[dict[str, Any]]:
    """Runs of text are messages; uses and results are items of their own, in order."""
    texts: list[ContentBlock] = []
    for block in message.blocks:
        if block.part is None:
            texts.append(block)
            continue
        yield from _iter_text(message.role, texts)
        texts = []
        yield _write_result(block) if block.kind == "tool_result" else _write_call(block)
    yield from _iter_text(message.role, texts)


def _iter_text(role: str, texts: Sequence[ContentBlock]) -> Iterator[dict[str, Any]]:
    if not texts:
        return
    if role == "assistant":
        yield {"role": role, "content": join_texts([block.text for block in texts])}
    else:
        yield {"role": role, "content": _write_content(texts)}


def _write_content(texts: Sequence[ContentBlock]) -> str | list[dict[str, Any]]:
    if len(texts) == 1 and not texts[0].ends:
        return texts[0].text
    return [_write_text(block) for block in texts]


def _write_text(block: ContentBlock) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "input_text", "text": block.text}
    return {**text, "prompt_cache_breakpoint": dict(BREAKPOINT)} if block.ends else text


def _write_call(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    return {"type": "function_call", "call_id": part["id"], "name": part["name"], "arguments": render_canonical_json(part["input"])}


def _write_result(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    output = _write_content([ContentBlock(render_result(part["content"]), ends=block.ends)])
    return {"type": "function_call_output", "call_id": part["tool_use_id"], "output": output}
