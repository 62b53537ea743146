"""The body of Gemini's generateContent, as its JSON has it: names in camel case, the model in the address and not in the body."""

from collections.abc import Sequence

from promptc.diag.typed import Any
from promptc.passes.payload.message import ContentBlock, Message, PayloadRequest
from promptc.passes.payload.result_text import find_texts, render_result

_ROLES = {"assistant": "model", "user": "user"}


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
    return [{"text": block.text} if block.part is None else _write_part(block) for block in blocks]


def _write_part(block: ContentBlock) -> dict[str, Any]:
    part = block.part or {}
    if block.kind == "tool_use":
        return {"functionCall": {"id": part["id"], "name": part["name"], "args": part["input"]}}
    response = {"error" if part["is_error"] else "output": _find_output(part["content"])}
    return {"functionResponse": {"id": part["tool_use_id"], "name": part["name"], "response": response}}


def _find_output(content: Any) -> Any:
    """JSON as it is; what is text, as one text."""
    return render_result(content) if content is None or find_texts(content) is not None else content
