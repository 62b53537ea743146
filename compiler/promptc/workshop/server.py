"""The page of `promptc serve` over HTTP: to one person on this machine, and to nobody else.

Every address begins with a random token, so no other page can name one; the host and the origin of a request are checked as well, and no
page that is not ours may read an answer. The page runs no script and no style but its own files. Only a POST of the page writes: `golden`
goldens, and `write` the values that are tried, where the page says that it was told to.
"""

from __future__ import annotations

import asyncio
import gc
import hmac
import json
import os
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from promptc.diag.findings import Diagnostic, DiskError, PromptcError
from promptc.diag.typed import Any
from promptc.files.reading import Look, is_still
from promptc.workshop.page import PAGE, Bench, read_web
from promptc.workshop.view import Known, View
from promptc.workshop.watch import iter_events

HOST = socket.inet_ntoa(socket.INADDR_LOOPBACK.to_bytes(4, "big"))
"""This machine, as only it calls itself."""

MOST_BYTES = 64_000
"""Bytes of a request's body."""

_PAUSE = 15.0
"""Seconds between two signs of life of an open stream of events."""

_TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_NOTHING = (404, "there is nothing here")
_OTHERS = (403, "another page may not ask this one")
Act = Callable[[Mapping[str, Any]], View]


class Events:
    """What open pages are told: a number that grows with every change. Any thread may `tell`."""

    def __init__(self) -> None:
        self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Event] = set()

    def tell(self) -> None:
        """The files are others now."""
        self._count += 1
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for one in self._waiting:
            one.set()

    async def iter_lines(self) -> AsyncIterator[bytes]:
        """The stream of one page: a line a change, and a sign of life in between."""
        self._loop, own = asyncio.get_running_loop(), asyncio.Event()
        self._waiting.add(own)
        try:
            yield b"retry: 500\n\n"
            while True:
                try:
                    await asyncio.wait_for(own.wait(), _PAUSE)
                    own.clear()
                    yield b"data: %d\n\n" % self._count
                except TimeoutError:
                    yield b": here\n\n"
        finally:
            self._waiting.discard(own)


class PageApp:
    """Answers requests."""

    def __init__(self, bench: Bench, token: str) -> None:
        self._shown = read_web()
        self._token = token
        self._bench = bench
        self._events = Events()
        self._known = Known()
        self._lock = threading.Lock()
        self._acts: dict[str, Act] = {
            "start": lambda _: bench.describe_start(),
            "view": self._describe,
            "check": bench.check,
            "trace": lambda asked: bench.trace(asked["asked"], int(asked["message"]), int(asked["line"])),
            "compare": lambda asked: bench.compare(asked["old"], asked["new"]),
            "session": bench.measure_session,
            "goldens": lambda _: bench.list_goldens(),
            "golden": lambda asked: bench.settle(str(asked["path"]), str(asked["digest"]), str(asked["verb"])),
            "preview": bench.preview,
            "write": lambda asked: bench.write(asked, _confirm(asked)),
        }
        self.app = Starlette(
            routes=[
                Route("/{token}/", self._show, methods=["GET"]),
                Route("/{token}/{name}", self._show, methods=["GET"]),
                Route("/{token}/{name}", self._act, methods=["POST"]),
            ]
        )

    def renew(self) -> None:
        """Files have changed: what was read of them is forgotten, and pages are told. Any thread may call it."""
        with self._lock:
            self._bench.forget()
        self._events.tell()

    def list_looks(self) -> tuple[Look, ...]:
        """What was read since files changed, and of what the page shows something."""
        with self._lock:
            return self._bench.list_looks()

    def has_changed(self, looks: Sequence[Look]) -> bool:
        """Whether something else would be read now."""
        with self._lock:
            return not all(map(is_still, looks))

    async def _show(self, request: Request) -> Response:
        name = request.path_params.get("name", PAGE)
        fault = self._find_fault(request)
        if fault is None and name == "events":
            return StreamingResponse(self._events.iter_lines(), headers=_HEADERS, media_type="text/event-stream")
        if fault is None and name not in self._shown:
            fault = _NOTHING
        return _refuse(*fault) if fault is not None else _answer(self._shown[name], _TYPES[name.rpartition(".")[2]])

    async def _act(self, request: Request) -> Response:
        fault, body = self._find_fault(request), b""
        do = self._acts.get(request.path_params["name"])
        if fault is not None or do is None:
            return _refuse(*(fault or _NOTHING))
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return _refuse(413, "the request is too long")
        try:
            asked = json.loads(body)
            found = await run_in_threadpool(self._do, do, asked)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            return _refuse(400, "the request does not have the form that the page gives it")
        return _answer(json.dumps(found).encode(), "application/json")

    def _do(self, do: Act, asked: Any) -> View:
        """One at a time: a case has the working folder to itself."""
        with self._lock:
            try:
                return do(asked)
            except PromptcError as error:
                return self._bench.describe_failure(error, asked)

    def _describe(self, asked: Mapping[str, Any]) -> View:
        """With the values that the page has not been told before."""
        self._known.renew()
        return {**self._bench.describe(asked, self._known), "known": self._known.tell(asked.get("known"))}

    def _find_fault(self, request: Request) -> tuple[int, str] | None:
        """Who asks, by which name, and from where."""
        host, port = request.headers.get("host", ""), request.scope["server"][1]
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
        if host not in (f"{HOST}:{port}", f"localhost:{port}"):
            return 421, "this page is served under the address that `promptc serve` printed"
        if not hmac.compare_digest(request.path_params["token"].encode("utf-8", "surrogatepass"), self._token.encode()):
            return _NOTHING
        is_read = request.method in ("GET", "HEAD")
        if origin != f"http://{host}" and not (origin is None and is_read):
            return _OTHERS
        return _OTHERS if site != "same-origin" and not (is_read and site == "none") else None


def _confirm(asked: Mapping[str, Any]) -> str:
    """The digest of what the page showed. `ValueError` where nobody has said that it shall be written."""
    if asked["confirmed"] is not True:
        raise ValueError("nobody has confirmed it")
    return str(asked["digest"])


def _answer(content: bytes, kind: str, status: int = 200) -> Response:
    return Response(content, status, headers=_HEADERS, media_type=kind)


def _refuse(status: int, why: str) -> Response:
    return _answer(f"{why}\n".encode(), "text/plain; charset=utf-8", status)


class PageServer:
    """Serves the page of a bench at `address` until it is stopped."""

    def __init__(self, bench: Bench, port: int = 0) -> None:
        """Raises `DiskError` (PC0723) for a port that cannot be served."""
        token = secrets.token_urlsafe(24)
        self._bench = bench
        self._app = PageApp(bench, token)
        self._socket = _open_socket(port)
        self.address = f"http://{HOST}:{self._socket.getsockname()[1]}/{token}/"
        config = uvicorn.Config(
            self._app.app,
            log_level="critical",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Until an interrupt, or `stop`. A change of a file of the pack or of a state is told to open pages."""
        gc.set_threshold(20_000, 20, 100)  # what a render leaves goes by itself
        ended = threading.Event()
        watching = threading.Thread(target=self._watch, args=(ended,), daemon=True)
        watching.start()
        try:
            with self._socket:
                self._server.run([self._socket])
        finally:
            ended.set()
            watching.join()

    def stop(self) -> None:
        """From another thread."""
        self._server.should_exit = True

    def _watch(self, ended: threading.Event) -> None:
        """What was read is watched, and what is read later from then on. What changed before it was watched is found by another look."""
        while not ended.is_set():
            looks = self._app.list_looks()
            for at, has_changed in enumerate(iter_events(looks, ended)):
                if has_changed or (at == 0 and self._app.has_changed(looks)):
                    self._app.renew()
                    break
                if self._app.list_looks() != looks:
                    break


def _open_socket(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio lets only a socket that says so send at once
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # elsewhere two programs could have one port
        found.bind((HOST, port))
        found.listen()
    except OSError as wrong:
        found.close()
        why = f"the port {port} of this machine cannot be served: {wrong.strerror or wrong}"
        raise DiskError([Diagnostic("PC0723", why, help="leave `--port` out, and a free one is taken")]) from None
    return found
