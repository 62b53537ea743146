"""The body of Anthropic's messages."""

from collections.abc import Sequence

from promptc.diag.typed import Any
from promptc.passes.payload.message import ContentBlock, PayloadRequest
from promptc.passes.payload.result_text import find_texts, render_result


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
        body["system"] = _write_content(request.system)
    body["messages"] = [{"role": one.role, "content": _write_content(one.blocks)} for one in request.messages]
    return body


def _write_content(blocks: Sequence[ContentBlock]) -> str | list[dict[str, Any]]:
    """A single text as such, else blocks."""
    if len(blocks) == 1 and blocks[0].part is None and not blocks[0].ends:
        return blocks[0].text
    return [_write_block(block) for block in blocks]


def _write_block(block: ContentBlock) -> dict[str, Any]:
    written = {"type": "text", "text": block.text} if block.part is None else _write_part(dict(block.part))
    return {**written, "cache_control": {"type": "ephemeral"}} if block.ends else written


def _write_part(part: dict[str, Any]) -> dict[str, Any]:
    """What a tool gave stays a list where it is one of text parts; else it is one text."""
    if part["type"] != "tool_result":
        return part
    texts = find_texts(part["content"])
    content = [{"type": "text", "text": text} for text in texts] if texts else render_result(part["content"])
    is_error = {"is_error": True} if part["is_error"] else {}
    return {"type": "tool_result", "tool_use_id": part["tool_use_id"], "content": content, **is_error}
