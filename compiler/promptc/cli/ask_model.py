"""The questions of an operation, put to a server."""

import os
from collections.abc import Mapping
from threading import Timer

from promptc.api import Pack
from promptc.cli.apply_asked import EndpointAsked, OperationAsked
from promptc.cli.escape import escape_controls
from promptc.cli.reporter import Reporter
from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.diag.frozen import replace
from promptc.operations.endpoint import Endpoint, ask_endpoint
from promptc.operations.results import Request
from promptc.operations.run import ask

_KEY = "OPENAI_API_KEY"
_PATIENCE = 0.5


def ask_model(
    reporter: Reporter, pack: Pack, raw: bytes, operation: OperationAsked, asked: EndpointAsked, answers: Mapping[str, str]
) -> dict[str, str]:
    """The answers, those that were given and those of the model. One is missing where the server has none to give: that is a warning, or
    with `--strict` a `DiskError`.

    Asked one by one, since a later question may hold an earlier answer. After half a second it is told what is waited for.
    """
    endpoint = open_endpoint(asked)
    found, skipped = dict(answers), set[str]()
    while True:
        left = [one for one in ask(pack, raw, operation.name, operation.args, found) if one.name not in skipped]
        if not left:
            return found
        try:
            found[left[0].name] = _ask(reporter, endpoint, left[0])
        except DiskError as wrong:
            if asked.is_strict:
                raise
            skipped.add(left[0].name)
            reporter.report(replace(one, level="warn") for one in wrong.diagnostics)


def open_endpoint(asked: EndpointAsked) -> Endpoint:
    """The server with its key. `UsageError` (PC0721) for a URL or a key that cannot be sent."""
    if not asked.url.startswith(("http://", "https://")):
        help = "such as `--endpoint http://localhost:1234/v1`"
        raise UsageError([Diagnostic("PC0721", "the URL of `--endpoint` begins neither with http:// nor with https://", help=help)])
    key = os.environ.get(asked.key_env or _KEY, "").strip()
    if asked.key_env and not key:
        raise UsageError([Diagnostic("PC0721", f"`--key-env {asked.key_env}`: the environment has no such variable", help="export it")])
    if not (key.isascii() and key.isprintable()):
        raise UsageError([Diagnostic("PC0721", f"the key in `{asked.key_env or _KEY}` holds characters that cannot be sent")])
    return Endpoint(asked.url, asked.model, key, asked.timeout)


def _ask(reporter: Reporter, endpoint: Endpoint, request: Request) -> str:
    def tell(text: str) -> None:
        reporter.say(f"{escape_controls(text)}\n")

    payload = request.prompt.build_payload("openai-compatible", endpoint.model)
    reporter.report(payload.warnings)
    waiting = Timer(
        _PATIENCE, tell, [f"waiting for {endpoint.model} at {endpoint.shown}: {request.name}, {request.prompt.tokens:,} tokens"]
    )
    waiting.daemon = True
    waiting.start()
    try:
        return ask_endpoint(endpoint, payload.body, tell)
    finally:
        waiting.cancel()
