"""The body of OpenAI's chat completions, and of the many servers that speak it: LM Studio, OpenRouter, vLLM, llama.cpp."""

from collections.abc import Iterator, Sequence

from promptc.diag.typed import Any
from promptc.model.pack import Tool
from promptc.passes.payload.message import ContentBlock, Message, PayloadRequest
from promptc.passes.payload.result_text import render_result
from promptc.text.json import render_canonical_json

BREAKPOINT = {"mode": "explicit"}
_LIMITS = {"openai": "max_completion_tokens", "openai-compatible": "max_tokens"}
"""What the limit of the reply is called: OpenAI gave it a new name, which other servers may not know."""


def write_openai(request: PayloadRequest) -> dict[str, Any]:
    """`POST /v1/chat/completions`."""
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


def describe_function(tool: Tool) -> dict[str, Any]:
    """A tool as a function with its parameters."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}


def _iter_openai_messages(message: Message) -> Iterator[dict[str, Any]]:
    """A message is several where it holds results: each of them is one of the role `tool`."""
    for block in message.blocks:
        if block.part is not None and block.kind == "tool_result":
            content = _write_openai_content([ContentBlock(render_result(block.part["content"]), ends=block.ends)])
            yield {"role": "tool", "tool_call_id": block.part["tool_use_id"], "content": content}
    texts = [block for block in message.blocks if block.part is None]
    calls = [_write_openai_call(block) for block in message.blocks if block.kind == "tool_use"]
    if calls:
        yield {"role": message.role, "content": _write_openai_content(texts) if texts else None, "tool_calls": calls}
    elif texts:
        yield {"role": message.role, "content": _write_openai_content(texts)}


def _write_openai_content(texts: Sequence[ContentBlock]) -> str | list[dict[str, Any]]:
    """One text as such; parts where there are several or a breakpoint stands behind one."""
    if len(texts) == 1 and not texts[0].ends:
        return texts[0].text
    return [_write_openai_text(block) for block in texts]


def _write_openai_text(block: ContentBlock) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "text", "text": block.text}
    return {**text, "prompt_cache_breakpoint": dict(BREAKPOINT)} if block.ends else text


def _write_openai_call(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    function = {"name": part["name"], "arguments": render_canonical_json(part["input"])}
    return {"id": part["id"], "type": "function", "function": function}
