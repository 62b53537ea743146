"""Answers of a server that speaks the OpenAI API."""

import json
from collections.abc import Callable, Mapping
from time import monotonic, sleep

from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.text.characters import is_blank

TRIES = 4
MAX_ANSWER = 8_000_000
"""The most bytes of a response that is read."""

_PAUSE = 0.5
_LONGEST_PAUSE = 20.0
_SHOWN = 300
_MAY_PASS = frozenset((408, 409, 425, 429))


@frozen
class Endpoint:
    """A server and a model.

    `url` is the base URL of the API, such as `https://api.openai.com/v1`. `key` is sent to it and never shown. `timeout` is in seconds, for
    one try.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0

    @property
    def address(self) -> str:
        """The URL of the chat completions."""
        plain, mark, query = self.url.partition("?")
        plain = plain.rstrip("/")
        return f"{plain if plain.endswith('/chat/completions') else plain + '/chat/completions'}{mark}{query}"

    @property
    def shown(self) -> str:
        """The URL without the parts that may be secret."""
        scheme, _, rest = self.address.partition("?")[0].partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def ask_endpoint(endpoint: Endpoint, body: Mapping[str, Any], notice: Callable[[str], None]) -> str:
    """Return the text with which the model answers the request `body`: messages and further parameters, to which the model is added.

    Failures that may pass (no connection, 408, 409, 425, 429, and from 500 on) are tried at most TRIES times, as long as the server asks to
    wait at most 20 seconds; `notice` receives a message before each new try. Raises `DiskError` (PC0831, PC0832 or PC0833) with the last
    failure, and `UsageError` (PC0830) without httpx.
    """
    try:
        import httpx
    except ImportError:
        help = "run `pip install 'promptc-compiler[llm]'`, or take answers from files: `--answer NAME=FILE`"
        raise UsageError([Diagnostic("PC0830", "promptc needs the package httpx to ask a model", help=help)]) from None
    with httpx.Client(timeout=endpoint.timeout, follow_redirects=False) as client:
        for turn in range(TRIES):
            tried = _try(client, endpoint, {**body, "model": endpoint.model})
            if tried.wait is None or turn == TRIES - 1:
                break
            pause = max(tried.wait, _PAUSE * 2**turn)
            if pause > _LONGEST_PAUSE:
                break
            notice(f"{endpoint.shown}: {tried.reason}; trying again in {pause:g} s")
            sleep(pause)
    if tried.code:
        raise DiskError([Diagnostic(tried.code, f"{endpoint.shown}: {tried.reason}", help=_HELP[tried.code])])
    return tried.text


@frozen
class _Tried:
    """One try: the text, or a code and a reason. `wait` is None unless the failure may pass, after at least so many seconds."""

    text: str = ""
    code: str = ""
    reason: str = ""
    wait: float | None = None


def _try(client: Any, endpoint: Endpoint, body: Mapping[str, Any]) -> _Tried:
    import httpx

    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    try:
        with client.stream("POST", endpoint.address, json=body, headers=headers) as response:
            content = _read(response, monotonic() + endpoint.timeout)
    except httpx.ConnectTimeout:
        return _Tried(code="PC0831", reason=f"no connection within {endpoint.timeout:g} seconds", wait=0)
    except (httpx.TimeoutException, TimeoutError):
        return _Tried(code="PC0831", reason=f"no answer within {endpoint.timeout:g} seconds")
    except httpx.TransportError as wrong:
        return _Tried(code="PC0831", reason=_shorten(str(wrong), endpoint) or type(wrong).__name__, wait=0)
    except (httpx.InvalidURL, httpx.HTTPError) as wrong:
        return _Tried(code="PC0831", reason=_shorten(str(wrong), endpoint))
    if not response.is_success:
        return _refuse(response, content or b"", endpoint)
    if content is None:
        return _Tried(code="PC0833", reason=f"the response is longer than {MAX_ANSWER:,} bytes")
    return _read_answer(content)


def _read(response: Any, deadline: float) -> bytes | None:
    """Return the body, or None if it is too long. Raises `TimeoutError` if it arrives past the deadline."""
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if size > MAX_ANSWER:
            return None
        if monotonic() > deadline:
            raise TimeoutError
        parts.append(part)
    return b"".join(parts)


def _refuse(response: Any, content: bytes, endpoint: Endpoint) -> _Tried:
    """Return the failure with the message of the server."""
    status = response.status_code
    try:
        said = json.loads(content)
        error = said.get("error", said.get("message", "")) if isinstance(said, dict) else ""
        told = str(error.get("message", "")) if isinstance(error, dict) else str(error)
    except (ValueError, RecursionError):
        told = ""
    told = _shorten(told, endpoint)
    reason = f"HTTP {status} {response.reason_phrase}".strip() + (f": {told}" if told else "")
    may_pass = status in _MAY_PASS or status >= 500
    return _Tried(code="PC0832", reason=reason, wait=_read_wait(response.headers.get("retry-after", "")) if may_pass else None)


def _read_wait(given: str) -> float:
    """Return the seconds of a Retry-After header; 0 if it has none that can be parsed."""
    try:
        return max(0.0, float(given)) if given else 0.0
    except ValueError:
        pass
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(given)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0


def _read_answer(content: bytes) -> _Tried:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return _Tried(code="PC0833", reason="the response is not JSON")
    try:
        message = answer["choices"][0]["message"]
        text = message.get("content")
    except (AttributeError, IndexError, KeyError, TypeError):
        return _Tried(code="PC0833", reason="the response has no `choices[0].message`")
    if isinstance(text, list):
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    if not isinstance(text, str) or is_blank(text):
        refusal = str(message.get("refusal") or "")[:_SHOWN]
        return _Tried(code="PC0833", reason=f"the model refuses: {refusal}" if refusal else "the message holds no text")
    return _Tried(text=text)


def _shorten(told: str, endpoint: Endpoint) -> str:
    """Return a message as one line, without the key, in case the server repeats it."""
    line = " ".join(told.split())
    line = line.replace(endpoint.key, "[key]") if endpoint.key else line
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} …"


_HELP = {
    "PC0831": "start the server, name its URL, or allow more time: `--timeout SECONDS`",
    "PC0832": "check the key (`--key-env`), the name of the model (`--model`) and your limits",
    "PC0833": "name the URL of an OpenAI-compatible API, which often ends in `/v1`",
}
