"""The body of Ollama's chat."""

from collections.abc import Iterator

from promptc.diag.typed import Any
from promptc.passes.payload.bodies import describe_function
from promptc.passes.payload.message import ContentBlock, Message, PayloadRequest
from promptc.passes.payload.result_text import join_texts, render_result


def write_ollama(request: PayloadRequest) -> dict[str, Any]:
    """`POST /api/chat`. `num_ctx` is the manifest's context: Ollama's own default is small, and it cuts in silence."""
    body: dict[str, Any] = {"model": request.model} if request.model is not None else {}
    body["options"] = {"num_ctx": request.limits.context}
    if request.limits.reply is not None:
        body["options"]["num_predict"] = request.limits.reply
    if request.response is not None:
        body["format"] = request.response.schema
    if request.tools:
        body["tools"] = [{"type": "function", "function": describe_function(tool)} for tool in request.tools]
    body["messages"] = [one for message in request.messages for one in _iter_messages(message)]
    return body


def _iter_messages(message: Message) -> Iterator[dict[str, Any]]:
    """As in OpenAI's, but arguments are a mapping and a result names its tool."""
    for block in message.blocks:
        if block.part is not None and block.kind == "tool_result":
            yield {"role": "tool", "tool_name": block.part["name"], "content": render_result(block.part["content"])}
    text = join_texts([block.text for block in message.blocks if block.part is None])
    calls = [_write_call(block) for block in message.blocks if block.kind == "tool_use"]
    if calls:
        yield {"role": message.role, "content": text, "tool_calls": calls}
    elif text:
        yield {"role": message.role, "content": text}


def _write_call(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    return {"function": {"name": part["name"], "arguments": part["input"]}}
