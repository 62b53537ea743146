"""The body of OpenAI's chat completions, and of the many servers that speak it: LM Studio, OpenRouter, vLLM, llama.cpp."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptc.diag.typed import Any
from promptc.model.pack import Tool
from promptc.passes.payload.build import ContentBlock, Message, PayloadRequest, find_texts, join_texts, render_result
from promptc.text.json import render_canonical_json

_ROLES = {"assistant": "model", "user": "user"}
BREAKPOINT = {"mode": "explicit"}
_LIMITS = {"openai": "max_completion_tokens", "openai-compatible": "max_tokens"}
"""What the limit of the reply is called: OpenAI gave it a new name, which other servers may not know."""


def write_anthropic(request: PayloadRequest) -> dict[str, Any]:
    """`POST /v1/messages`. Breakpoints are `cache_control` of the block they stand behind; tools come first in what is cached."""
    body: dict[str, Any] = {"model": request.model} if request.model is not None else {}
    if request.limits.reply is not None:
        body["max_tokens"] = request.limits.reply
    if request.response is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.response.schema}}
    if request.tools:
        body["tools"] = [tool.counted for tool in request.tools]
    if request.system:
        body["system"] = _write_anthropic_content(request.system)
    body["messages"] = [{"role": one.role, "content": _write_anthropic_content(one.blocks)} for one in request.messages]
    return body


def _write_anthropic_content(blocks: Sequence[ContentBlock]) -> str | list[dict[str, Any]]:
    """A single text as such, else blocks."""
    if len(blocks) == 1 and blocks[0].part is None and not blocks[0].ends:
        return blocks[0].text
    return [_write_block(block) for block in blocks]


def _write_block(block: ContentBlock) -> dict[str, Any]:
    written = {"type": "text", "text": block.text} if block.part is None else _write_anthropic_part(dict(block.part))
    return {**written, "cache_control": {"type": "ephemeral"}} if block.ends else written


def _write_anthropic_part(part: dict[str, Any]) -> dict[str, Any]:
    """What a tool gave stays a list where it is one of text parts; else it is one text."""
    if part["type"] != "tool_result":
        return part
    texts = find_texts(part["content"])
    content = [{"type": "text", "text": text} for text in texts] if texts else render_result(part["content"])
    is_error = {"is_error": True} if part["is_error"] else {}
    return {"type": "tool_result", "tool_use_id": part["tool_use_id"], "content": content, **is_error}


def write_gemini(request: PayloadRequest) -> dict[str, Any]:
    """`POST /v1beta/models/MODEL:generateContent`."""
    body: dict[str, Any] = {}
    config = _write_config(request)
    if config:
        body["generationConfig"] = config
    if request.tools:
        declared = [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.input_schema} for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declared}]
    if request.system:
        body["systemInstruction"] = {"parts": _write_parts(request.system)}
    body["contents"] = [_write_message(one) for one in request.messages]
    return body


def _write_config(request: PayloadRequest) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if request.limits.reply is not None:
        config["maxOutputTokens"] = request.limits.reply
    if request.response is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = request.response.schema
    return config


def _write_message(message: Message) -> dict[str, Any]:
    return {"role": _ROLES[message.role], "parts": _write_parts(message.blocks)}


def _write_parts(blocks: Sequence[ContentBlock]) -> list[dict[str, Any]]:
    return [{"text": block.text} if block.part is None else _write_gemini_part(block) for block in blocks]


def _write_gemini_part(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    if block.kind == "tool_use":
        return {"functionCall": {"id": part["id"], "name": part["name"], "args": part["input"]}}
    response = {"error" if part["is_error"] else "output": _find_output(part["content"])}
    return {"functionResponse": {"id": part["tool_use_id"], "name": part["name"], "response": response}}


def _find_output(content: Any) -> Any:
    """JSON as it is; what is text, as one text."""
    return render_result(content) if content is None or find_texts(content) is not None else content


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
    body["messages"] = [one for message in request.messages for one in _iter_ollama_messages(message)]
    return body


def _iter_ollama_messages(message: Message) -> Iterator[dict[str, Any]]:
    """As in OpenAI's, but arguments are a mapping and a result names its tool."""
    for block in message.blocks:
        if block.part is not None and block.kind == "tool_result":
            yield {"role": "tool", "tool_name": block.part["name"], "content": render_result(block.part["content"])}
    text = join_texts([block.text for block in message.blocks if block.part is None])
    calls = [_write_ollama_call(block) for block in message.blocks if block.kind == "tool_use"]
    if calls:
        yield {"role": message.role, "content": text, "tool_calls": calls}
    elif text:
        yield {"role": message.role, "content": text}


def _write_ollama_call(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    return {"function": {"name": part["name"], "arguments": part["input"]}}


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
        yield _write_result(block) if block.kind == "tool_result" else _write_responses_call(block)
    yield from _iter_text(message.role, texts)


def _iter_text(role: str, texts: Sequence[ContentBlock]) -> Iterator[dict[str, Any]]:
    if not texts:
        return
    if role == "assistant":
        yield {"role": role, "content": join_texts([block.text for block in texts])}
    else:
        yield {"role": role, "content": _write_responses_content(texts)}


def _write_responses_content(texts: Sequence[ContentBlock]) -> str | list[dict[str, Any]]:
    if len(texts) == 1 and not texts[0].ends:
        return texts[0].text
    return [_write_responses_text(block) for block in texts]


def _write_responses_text(block: ContentBlock) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "input_text", "text": block.text}
    return {**text, "prompt_cache_breakpoint": dict(BREAKPOINT)} if block.ends else text


def _write_responses_call(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    return {"type": "function_call", "call_id": part["id"], "name": part["name"], "arguments": render_canonical_json(part["input"])}


def _write_result(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    output = _write_responses_content([ContentBlock(render_result(part["content"]), ends=block.ends)])
    return {"type": "function_call_output", "call_id": part["tool_use_id"], "output": output}


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
