"""Printed bodies, sent by the providers' own clients to a server on this machine: what arrives is what was printed."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from promptc.cli.main import main
from tests.published import MODELS

REPLY = "The gate stays shut."
REPLIES: dict[str, Any] = {
    "/v1/chat/completions": {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.6",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": REPLY}}],
    },
    "/v1/responses": {
        "id": "1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5.6",
        "output": [
            {
                "id": "2",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": REPLY, "annotations": []}],
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    },
    "/v1/messages": {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": REPLY}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "/v1beta/models/gemini-3-pro:generateContent": {"candidates": [{"content": {"role": "model", "parts": [{"text": REPLY}]}}]},
    "/api/chat": {"model": "llama3.3", "done": True, "message": {"role": "assistant", "content": REPLY}},
}


class _Server(ThreadingHTTPServer):
    """Keeps what it is sent, and answers as the provider of that address would."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("localhost", 0), _Answer)
        self.arrived: list[tuple[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}"


class _Answer(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        self.server.arrived.append((self.path, json.loads(raw)))
        answer = json.dumps(REPLIES[self.path]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    monkeypatch.setenv("NO_PROXY", "localhost")
    with _Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


TOOLS = ("fixtures/gatehouse/base", "fixtures/gatehouse/base/state.json")
PICTURES = ("fixtures/album/base", "fixtures/album/base/photos.json")
both = pytest.mark.parametrize("given", [TOOLS, PICTURES], ids=["tools", "pictures"])


def _print(provider: str, capfdbinary: pytest.CaptureFixture[bytes], given: tuple[str, str]) -> Any:
    """The body that the command line prints of a pack: one has everything but pictures, the other those."""
    line = ["render", *given, "--quiet"]
    assert main([*line, "--format", provider, "--model", MODELS[provider]]) == 0
    return json.loads(capfdbinary.readouterr().out)


@both
def test_openai_chat(server: _Server, capfdbinary: pytest.CaptureFixture[bytes], given: tuple[str, str]) -> None:
    from openai import OpenAI

    body = _print("openai", capfdbinary, given)
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        answer = client.chat.completions.create(**body)
    assert answer.choices[0].message.content == REPLY
    assert server.arrived == [("/v1/chat/completions", body)]


@both
def test_openai_responses(server: _Server, capfdbinary: pytest.CaptureFixture[bytes], given: tuple[str, str]) -> None:
    from openai import OpenAI

    body = _print("openai-responses", capfdbinary, given)
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        answer = client.responses.create(**body)
    assert answer.output_text == REPLY
    assert server.arrived == [("/v1/responses", body)]


@both
def test_anthropic(server: _Server, capfdbinary: pytest.CaptureFixture[bytes], given: tuple[str, str]) -> None:
    from anthropic import Anthropic

    body = _print("anthropic", capfdbinary, given)
    with Anthropic(base_url=server.url, api_key="none", max_retries=0) as client:
        answer = client.messages.create(**body)
    assert answer.content[0].text == REPLY
    assert server.arrived == [("/v1/messages", body)]


@both
def test_gemini(server: _Server, capfdbinary: pytest.CaptureFixture[bytes], given: tuple[str, str]) -> None:
    """Its client takes the parts of a body and puts them together itself: an independent maker of the same JSON."""
    from google import genai
    from google.genai import types

    body = _print("gemini", capfdbinary, given)
    config = types.GenerateContentConfig.model_validate(
        {**body["generationConfig"], **{key: body[key] for key in ("systemInstruction", "tools") if key in body}}
    )
    with genai.Client(api_key="none", http_options=types.HttpOptions(base_url=server.url, api_version="v1beta")) as client:
        contents = [types.Content.model_validate(one) for one in body["contents"]]
        answer = client.models.generate_content(model=MODELS["gemini"], contents=contents, config=config)
    assert answer.text == REPLY
    ((_, arrived),) = server.arrived
    arrived["systemInstruction"].pop("role", None)  # the client adds `user`, which the service does not ask for
    for part in (part for one in arrived["contents"] for part in one["parts"] if "inlineData" in part):
        held = part["inlineData"]
        held["data"] = held["data"].replace("-", "+").replace("_", "/")  # the service reads both alphabets, and either name
        held["mimeType"] = held.pop("mime_type")
    for tool in arrived["tools"][0]["functionDeclarations"] if "tools" in body else ():
        tool["parametersJsonSchema"] = tool.pop("parameters_json_schema")  # JSON of protocol buffers may have either name
    assert arrived == body


@both
def test_ollama(server: _Server, capfdbinary: pytest.CaptureFixture[bytes], given: tuple[str, str]) -> None:
    """Its client drops of a tool's schema what it does not know; the service itself takes any."""
    from ollama import Client

    body = _print("ollama", capfdbinary, given)
    client = Client(host=server.url)
    answer = client.chat(**body)
    client._client.close()
    assert answer.message.content == REPLY
    ((_, arrived),) = server.arrived
    assert arrived.pop("stream") is False
    if not arrived["tools"]:
        del arrived["tools"]
    for message in arrived["messages"]:
        message.setdefault("content", "")  # the client leaves out what is empty
    for sent, printed in zip(arrived.get("tools", ()), body.get("tools", ()), strict=True):
        schema = printed["function"]["parameters"]
        kept = sent["function"].pop("parameters")
        assert kept["type"] == "object" and set(kept.get("properties") or ()) == set(schema.get("properties", ()))
        del printed["function"]["parameters"]
    assert arrived == body
