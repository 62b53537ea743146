"""Servers that answer, are slow, refuse, break off or are none: a text, or a finding in bounded time."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from promptc.diag.findings import DiskError, UsageError
from promptc.operations import endpoint as module
from promptc.operations.endpoint import Endpoint, ask_endpoint

BODY = {"messages": [{"role": "user", "content": "Where is the key?"}]}
KEY = "sk-very-secret"


def _answer(text):
    return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})


class _Server:
    """A local server whose answers are functions of the handler, or a status and a body; the last one is repeated."""

    def __init__(self, *answers):
        self.seen, self.answers = [], list(answers)
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.seen.append((self.path, dict(self.headers), json.loads(body)))
                given = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                if callable(given):
                    given(self)
                    return
                status, text, *headers = given
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("localhost", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://localhost:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.setattr(module, "_PAUSE", 0.001)
    started = []

    def start(*answers):
        started.append(_Server(*answers))
        return started[-1]

    yield start
    for server in started:
        server.http.shutdown()
        server.http.server_close()


def _ask(server, **named):
    notices = []
    return ask_endpoint(Endpoint(server.url, "small", KEY, **named), BODY, notices.append), notices


def _fail(server, **named):
    with pytest.raises(DiskError) as raised:
        _ask(server, **named)
    (found,) = raised.value.diagnostics
    assert KEY not in f"{found.message}{found.help}"
    return found.code, found.message


def test_the_text_of_the_answer(serve):
    server = serve(_answer("Under the stone."))
    assert _ask(server) == ("Under the stone.", [])
    path, headers, body = server.seen[0]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert body == {**BODY, "model": "small"}


def test_no_key_no_header_and_a_whole_address_is_taken(serve):
    server = serve(_answer("x"))
    assert ask_endpoint(Endpoint(f"{server.url}/chat/completions", "m"), BODY, lambda _: None) == "x"
    assert "Authorization" not in server.seen[0][1] and server.seen[0][0] == "/v1/chat/completions"


def test_text_in_parts(serve):
    parts = {"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}
    assert _ask(serve((200, json.dumps(parts))))[0] == "ab"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(status, serve):
    server = serve((status, '{"error": {"message": "busy"}}'), _answer("now"))
    text, notices = _ask(server)
    assert text == "now" and len(server.seen) == 2
    assert len(notices) == 1 and f"HTTP {status}" in notices[0] and "busy" in notices[0] and "trying again" in notices[0]


def test_it_waits_as_long_as_it_is_asked_to_but_not_for_long(serve, monkeypatch):
    slept = []
    monkeypatch.setattr(module, "sleep", slept.append)
    assert _ask(serve((429, "", ("Retry-After", "7")), _answer("now")))[0] == "now"
    assert slept == [7.0]
    patient = serve((429, "", ("Retry-After", "3600")))
    assert _fail(patient)[0] == "PC0832" and len(patient.seen) == 1 and slept == [7.0]
    assert module._read_wait("Wed, 21 Oct 2015 07:28:00 GMT") == module._read_wait("soon") == module._read_wait("-3") == 0
    assert module._read_wait("Wed, 21 Oct 2099 07:28:00 GMT") > 1000


def test_what_fails_forever_is_given_up(serve):
    server = serve((500, "<html>"))
    code, message = _fail(server)
    assert code == "PC0832" and "HTTP 500" in message and len(server.seen) == module.TRIES


REFUSALS = [(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), (404, {"error": "no such model"}), (307, {})]


@pytest.mark.parametrize(("status", "body"), REFUSALS)
def test_what_will_not_pass_is_not_tried_again(status, body, serve):
    server = serve((status, json.dumps(body), ("Location", "http://elsewhere.example/")))
    code, message = _fail(server)
    assert code == "PC0832" and f"HTTP {status}" in message and len(server.seen) == 1


@pytest.mark.parametrize(
    "body",
    ["<html>", "[]", "{}", '{"choices": []}', '{"choices": [{"message": {"content": null}}]}',
     '{"choices": [{"message": {"content": " "}}]}',
     '{"choices": [{"message": "x"}]}', "[" * 100_000, '{"choices": [{"message": {"content": null, "refusal": "no"}}]}'],
)  # fmt: skip
def test_an_answer_that_is_none(body, serve):
    assert _fail(serve((200, body)))[0] == "PC0833"


def test_a_server_that_does_not_answer_is_given_up(serve):
    """It would not answer before this test is over."""
    is_over = threading.Event()
    code, message = _fail(serve(lambda _: is_over.wait(60)), timeout=0.3)
    assert code == "PC0831" and "0.3 seconds" in message and not is_over.is_set()
    is_over.set()


def test_a_trickle_is_given_up(serve):
    """It would go on until this test is over."""
    is_over = threading.Event()

    def trickle(handler):
        handler.send_response(200)
        handler.end_headers()
        while not is_over.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    assert _fail(serve(trickle), timeout=0.3)[0] == "PC0831"
    is_over.set()


def test_a_cut_connection_is_tried_again(serve):
    def cut(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"{")
        handler.close_connection = True

    assert _ask(serve(cut, _answer("whole")))[0] == "whole"
    server = serve(cut)
    assert _fail(server)[0] == "PC0831" and len(server.seen) == module.TRIES


def test_a_body_without_end_is_not_read_to_its_end(serve, monkeypatch):
    monkeypatch.setattr(module, "MAX_ANSWER", 100_000)
    sent = 0

    def flood(handler):
        nonlocal sent
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(10_000):
                sent += handler.wfile.write(b" " * 10_000)
        except OSError:
            return

    assert _fail(serve(flood))[0] == "PC0833"
    assert sent < 50_000_000


def test_nobody_there(monkeypatch):
    monkeypatch.setattr(module, "_PAUSE", 0.001)
    with pytest.raises(DiskError, match="PC0831"):
        ask_endpoint(Endpoint("http://localhost:1/v1", "m"), BODY, lambda _: None)
    with pytest.raises(DiskError, match="PC0831"):
        ask_endpoint(Endpoint("http://[::bad/v1", "m"), BODY, lambda _: None)


def test_secrets_of_an_address_are_not_shown():
    endpoint = Endpoint("https://me:hunter2@api.example/v1/?api-key=hunter2", "m", KEY)
    assert endpoint.shown == "https://api.example/v1/chat/completions"
    assert endpoint.address == "https://me:hunter2@api.example/v1/chat/completions?api-key=hunter2"
    assert KEY not in repr(endpoint)


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(UsageError, match="PC0830") as raised:
        ask_endpoint(Endpoint("http://localhost:1/v1", "m"), BODY, lambda _: None)
    assert "promptc-compiler[llm]" in raised.value.diagnostics[0].help
