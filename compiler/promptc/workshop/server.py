"""The page of `promptc serve` over HTTP, for one person on this machine and nobody else.

Every address begins with a random token, so no other page can guess one. The host and the origin of each request are checked as well, and
no foreign page may read an answer. The page runs only its own scripts and styles. Only POST requests of the page write: `golden` writes
goldens, and `write` writes the values that are tried, if the page says that the user has confirmed it.
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

from promptc.diag.findings import Diagnostic, DiskError, PromptcError, show_reason
from promptc.diag.typed import Any
from promptc.files.reading import Look, is_still
from promptc.golden.verdicts.pending import accept_golden, reject_golden
from promptc.workshop.page import PAGE, Bench, Settle, read_web
from promptc.workshop.view import Known, View
from promptc.workshop.watch import iter_events

HOST = socket.inet_ntoa(socket.INADDR_LOOPBACK.to_bytes(4, "big"))
"""The loopback address of this machine."""

_LOGGING = {"version": 1, "disable_existing_loggers": False, "loggers": {"asyncio": {"level": "CRITICAL"}}}
"""Without this, asyncio logs each connection for which there is no file descriptor left."""

MOST_BYTES = 64_000
"""The limit for the body of a request, in bytes."""

_BACKLOG = 64
"""The most connections that wait to be accepted."""

_PAUSE = 15.0
"""Seconds between two keep-alive lines of an open event stream."""

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
_VERBS: Mapping[str, Settle] = {"accept": accept_golden, "reject": reject_golden}
_NOTHING = (404, "there is nothing here")
_OTHERS = (403, "another page may not ask this one")
Act = Callable[[Mapping[str, Any]], View]


class Events:
    """Notifies open pages of changes, by a number that grows with each change. Any thread may call `tell`."""

    def __init__(self) -> None:
        self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Event] = set()

    def tell(self) -> None:
        """Notify all open pages that files have changed."""
        self._count += 1
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for one in self._waiting:
            one.set()

    async def iter_lines(self) -> AsyncIterator[bytes]:
        """Yield the event stream of one page: an event for each change, and keep-alive lines in between."""
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
    """The web application that serves the files of the page and answers its requests."""

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
            "golden": lambda asked: bench.settle(str(asked["path"]), str(asked["digest"]), _VERBS[asked["verb"]]),
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
        """Forget what was read from files, and notify the open pages. Any thread may call it."""
        with self._lock:
            self._bench.forget()
        self._events.tell()

    def list_looks(self) -> tuple[Look, ...]:
        """Return the looks at the disk since files last changed. The page shows what they saw."""
        with self._lock:
            return self._bench.list_looks()

    def has_changed(self, looks: Sequence[Look]) -> bool:
        """Return whether any of these looks would see something else now."""
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
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
            return _refuse(400, "the request does not have the form that the page gives it")
        return _answer(json.dumps(found).encode(), "application/json")

    def _do(self, do: Act, asked: Any) -> View:
        """Run one act at a time, because a case changes the working directory of the process."""
        with self._lock:
            try:
                return do(asked)
            except PromptcError as error:
                return self._bench.describe_failure(error, asked)

    def _describe(self, asked: Mapping[str, Any]) -> View:
        """Return a view, together with the known values that the page does not have yet."""
        self._known.renew()
        return {**self._bench.describe(asked, self._known), "known": self._known.tell(asked.get("known"))}

    def _find_fault(self, request: Request) -> tuple[int, str] | None:
        """Return the status and message with which to refuse a request, or None. Checks the host, the token and the origin."""
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
    """Return the digest of what the page showed. Raises `ValueError` if the user has not confirmed the change."""
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
        """Open the port; 0 means any free port. Raises `DiskError` (PC0723) if the port cannot be opened."""
        token = secrets.token_urlsafe(24)
        self._bench = bench
        self._app = PageApp(bench, token)
        self._socket = _open_socket(port)
        self.address = f"http://{HOST}:{self._socket.getsockname()[1]}/{token}/"
        config = uvicorn.Config(
            self._app.app,
            log_level="critical",
            log_config=_LOGGING,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            date_header=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until an interrupt or `stop`. Open pages are notified when a file of the pack or of a state changes."""
        gc.set_threshold(20_000, 20, 100)  # collect less often: most objects of a render are freed by reference counting
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
        """Stop the server. Call it from another thread."""
        self._server.should_exit = True

    def _watch(self, ended: threading.Event) -> None:
        """Watch the files that were read, and start again when more files are read.

        A second look at the files finds changes that were made before the watch began.
        """
        while not ended.is_set():
            looks = self._app.list_looks()
            for at, has_changed in enumerate(iter_events(looks, ended)):
                if has_changed or (at == 0 and self._app.has_changed(looks)):
                    self._app.renew()
                    break
                if self._app.list_looks() != looks:
                    break


def _open_socket(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY only if the protocol is given
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # on Windows, it would let two programs share a port
        found.bind((HOST, port))
        found.listen()
    except OSError as wrong:
        found.close()
        why = f"the port {port} of this machine cannot be served: {show_reason(wrong)}"
        raise DiskError([Diagnostic("PC0723", why, help="leave `--port` out, and a free one is taken")]) from None
    return found
