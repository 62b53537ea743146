"""The types that providers publish in their own Python SDKs, as judges of request bodies.

A body is refused for a key that its type does not have, for one that is missing and for a value of another type. What a type takes is
read back from it and compared: types that are dictionaries drop keys they do not know, and a wrong key would pass otherwise.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

MODELS = {
    "openai": "gpt-5.6",
    "openai-responses": "gpt-5.6",
    "openai-compatible": "qwen3",
    "anthropic": "claude-opus-5-5",
    "gemini": "gemini-3-pro",
    "ollama": "llama3.3",
}
"""A model of each provider; of OpenAI's, one that takes cache breakpoints."""


class RefusedError(Exception):
    """The published type does not take the body."""


def check_published(provider: str, body: Mapping[str, Any]) -> None:
    """Raises `RefusedError` for a body that is not of the provider's type. Of a body without a model none is asked."""
    given = dict(body)
    if not any(given.get(key) for key in ("messages", "input", "contents")):
        raise RefusedError("there are no messages")
    if provider != "gemini":
        given.setdefault("model", MODELS[provider])
    try:
        read = _READERS[provider](given)
    except ValueError as wrong:
        raise RefusedError(str(wrong)) from wrong
    if read != given:
        raise RefusedError("\n".join(_iter_differences(given, read, "")))


def _read_openai(body: Mapping[str, Any]) -> Any:
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    return _read_typed(CompletionCreateParamsNonStreaming, body)


def _read_responses(body: Mapping[str, Any]) -> Any:
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

    return _read_typed(ResponseCreateParamsNonStreaming, body)


def _read_anthropic(body: Mapping[str, Any]) -> Any:
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    return _read_typed(MessageCreateParamsNonStreaming, body)


def _read_gemini(body: Mapping[str, Any]) -> Any:
    """Of what its SDK sends only the parts are types; they forbid keys they do not know."""
    from google.genai import types

    models = {
        "contents": list[types.Content],
        "systemInstruction": types.Content,
        "tools": list[types.Tool],
        "generationConfig": types.GenerationConfig,
    }
    strange = set(body) - set(models)
    if strange:
        raise ValueError(f"not in a request: {sorted(strange)}")
    read = {key: _adapt(models[key]).validate_python(value) for key, value in body.items()}
    written = {key: _adapt(models[key]).dump_python(value, by_alias=True, exclude_unset=True, mode="json") for key, value in read.items()}
    parts = [part for content in written.get("contents", ()) for part in content.get("parts", ())]
    shown = [inner for one in parts for inner in one.get("functionResponse", {}).get("parts", ())]
    for part in (*parts, *shown):
        if "inlineData" in part:  # the SDK writes the alphabet for URLs, of which the service reads both
            part["inlineData"]["data"] = part["inlineData"]["data"].replace("-", "+").replace("_", "/")
    return written


def _read_ollama(body: Mapping[str, Any]) -> Any:
    """Its types read any key of a tool's schema that they know and drop the others, so schemas are judged by the shape alone. Pictures are
    wrapped as its client does before it judges them.
    """
    from ollama._types import ChatRequest, Image, Message, Options

    if any("images" in one for one in body["messages"]):
        wrap = lambda one: {**one, "images": [Image(value=picture) for picture in one["images"]]} if "images" in one else one  # noqa: E731
        body = {**body, "messages": [wrap(one) for one in body["messages"]]}

    known = {key for key in ChatRequest.model_fields if key not in ("messages", "options", "tools")}
    read = ChatRequest.model_validate(body)
    written = read.model_dump(exclude_unset=True, include=known, by_alias=True)
    written["messages"] = [Message.model_validate(one).model_dump(exclude_unset=True) for one in body.get("messages", ())]
    if "options" in body:
        written["options"] = Options.model_validate(body["options"]).model_dump(exclude_unset=True)
    if "tools" in body:
        for tool in read.tools or ():
            if tool.function is None or not tool.function.name or tool.function.parameters is None:
                raise ValueError("a tool is {type, function: {name, description, parameters}}")
        written["tools"] = body["tools"]
    return written


_READERS = {
    "openai": _read_openai,
    "openai-responses": _read_responses,
    "openai-compatible": _read_openai,
    "anthropic": _read_anthropic,
    "gemini": _read_gemini,
    "ollama": _read_ollama,
}


@cache
def _adapt(kind: Any) -> Any:
    return TypeAdapter(kind)


def _read_typed(kind: Any, body: Mapping[str, Any]) -> Any:
    return _settle(_adapt(kind).validate_python(body))


def _settle(value: Any) -> Any:
    """What is validated while it is walked, walked."""
    if isinstance(value, Mapping):
        return {key: _settle(one) for key, one in value.items()}
    if isinstance(value, list) or (isinstance(value, Iterator) and not isinstance(value, str)):
        return [_settle(one) for one in value]
    return value


def _iter_differences(given: Any, read: Any, at: str) -> Iterator[str]:
    if isinstance(given, dict) and isinstance(read, dict):
        for key in dict.fromkeys((*given, *read)):
            yield from _iter_differences(given.get(key), read.get(key), f"{at}/{key}")
    elif isinstance(given, list) and isinstance(read, list) and len(given) == len(read):
        for place, (one, other) in enumerate(zip(given, read, strict=True)):
            yield from _iter_differences(one, other, f"{at}/{place}")
    elif given != read:
        yield f"{at}: {given!r} is read as {read!r}"
