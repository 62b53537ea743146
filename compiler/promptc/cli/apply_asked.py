"""What a command line asks of `promptc apply`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from promptc.diag.findings import Diagnostic, UsageError
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any

STDIN = "-"


@frozen
class ApplyAsked:
    """An operation or a restore: on which state, where to, and how long to wait for its lock. `archive` is the folder of archives,
    `expected` the digest that the state must have; none: any.
    """

    pack: str
    state: str
    output: str | None
    archive: Path | None
    expected: str | None
    wait: float
    is_dry: bool

    @property
    def is_in_place(self) -> bool:
        """Whether the state's own file is to be replaced."""
        return self.state != STDIN and self.output is None


@frozen
class OperationAsked:
    """Which operation, with which arguments; where its answers come from. `answers` are the files by the names of the asks; `format`
    is what requests are printed in, for which `model`.
    """

    name: str
    args: Mapping[str, Any]
    answers: Mapping[str, str]
    has_model: bool
    are_requests_asked: bool
    format: str
    model: str | None = None


@frozen
class EndpointAsked:
    """A server to ask. `key_env` names the environment variable that holds its key; `is_strict`: no answer is a failure."""

    url: str
    model: str
    key_env: str | None
    timeout: float
    is_strict: bool


def read_args(given: Sequence[str]) -> dict[str, Any]:
    """The arguments of `--arg NAME=JSON`. `UsageError` (PC0721) for what is not of that form."""
    args: dict[str, Any] = {}
    for one in given:
        name, value = _split(one, "--arg", "NAME=JSON")
        try:
            args[name] = json.loads(value)
        except (ValueError, RecursionError):
            help = "a text stands in double quotes, such as '\"calm\"'"
            raise UsageError([Diagnostic("PC0721", f"the value of `--arg {one}` is not JSON", help=help)]) from None
    return args


def read_answer_files(given: Sequence[str]) -> dict[str, str]:
    """The files of `--answer NAME=FILE`. `UsageError` (PC0721) for what is not of that form, and for an answer given twice."""
    files: dict[str, str] = {}
    for one in given:
        name, file = _split(one, "--answer", "NAME=FILE")
        if name in files:
            raise UsageError([Diagnostic("PC0721", f"the answer `{name}` is given twice", help="give it once")])
        files[name] = file
    return files


def _split(given: str, option: str, shape: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name or not value:
        raise UsageError([Diagnostic("PC0721", f"`{option} {given}` is not of the form {shape}", help=f"`{option} {shape}`, with an `=`")])
    return name, value
