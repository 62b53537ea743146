"""What `promptc apply` is asked, and its ways out: a server that answers questions, the state's file, its archives.

`ask_model` gets answers, `write_change` writes the change that a state is given, and `tell_change` says what was written.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Timer

from promptc.api import Pack
from promptc.cli.findings import Reporter
from promptc.cli.options import refuse_form
from promptc.cli.request import read_first
from promptc.cli.terminal import escape_controls, write_stdout
from promptc.cli.views.difference import render_changes
from promptc.cli.views.drawing import show_plural
from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.files.atomic import write_file
from promptc.operations.archive import Written, write_archive
from promptc.operations.endpoint import Endpoint, ask_endpoint
from promptc.operations.results import Archived, Request, StateDiff
from promptc.operations.run import LONGEST_ANSWER, ask
from promptc.operations.state_file import Rewritten, archive_folder, rewrite_state
from promptc.text.json import render_digest

_KEY = "OPENAI_API_KEY"
_PATIENCE = 0.5
_DIGITS = slice(len("sha256:"), len("sha256:") + 12)
Make = Callable[[bytes, str], StateDiff]
"""From a state's bytes, and the name of the file that will hold the new one (empty: none), to the change."""

STDIN = "-"


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
            found[left[0].name] = left[0].prompt.restore(_ask(reporter, endpoint, left[0]))
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


def keep_answers(state: str, answers: Mapping[str, str], wrong: DiskError) -> DiskError:
    """Writes each answer to `<state>.answers/<name>.<digest>.txt`, and gives the error with the flags that go on with them."""
    try:
        files = [f"--answer {name}={shlex.quote(str(path))}" for name, path in _write(Path(os.path.realpath(state)), answers)]
    except OSError:
        return wrong
    except DiskError:
        return wrong
    kept = f"the answers are kept; go on with {' '.join(files)}"
    return type(wrong)([*(_with(one, kept) for one in wrong.diagnostics)])


def _write(state: Path, answers: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    folder = state.with_name(f"{state.name}.answers")
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, text in answers.items():
        data = text.encode("utf-8", "surrogatepass")
        path = folder / f"{name}.{render_digest(data)[_DIGITS]}.txt"
        write_file(str(path), data)
        yield name, path


def _with(found: Diagnostic, help: str) -> Diagnostic:
    return replace(found, help=f"{found.help}; {help}" if found.help else help)


def write_change(asked: ApplyAsked, raw: bytes, make: Make, *, purpose: str) -> Rewritten:
    """Makes the change and writes it, archives first: in place under the lock, of what the file holds then; else of `raw`, to the output.

    Nothing is written where only what would change is asked for. Raises what `make` and `rewrite_state` raise, `DiskError` (PC0725), and
    `UsageError` (PC0827) where there is nowhere to archive.
    """
    if asked.is_dry:
        change = make(raw, name_file(asked))
        if change.archived:
            _choose_folder(asked)
        return Rewritten(change, ())
    if asked.is_in_place:
        return rewrite_state(asked.state, lambda read, path: make(read, path.name), folder=asked.archive, wait=asked.wait, purpose=purpose)
    return _write_elsewhere(asked, make(raw, name_file(asked)))


def tell_change(reporter: Reporter, asked: ApplyAsked, rewritten: Rewritten) -> None:
    """What was written, with counts; what would be, on standard output."""
    change = rewritten.change
    if asked.is_dry:
        shown = render_changes(change)
        write_stdout(shown.encode() if change.is_changed else f"{escape_controls(asked.state)} would stay as it is\n".encode())
        return
    goal = escape_controls(asked.output or asked.state)
    if not change.is_changed:
        reporter.say(f"{goal}: nothing to change\n" if asked.is_in_place else "")
        return
    reporter.say("" if goal == STDIN else f"{goal}\n{render_changes(change)}")
    for archive, archived in zip(rewritten.archives, change.archived, strict=True):
        was = "" if archive.is_new else "was archived before: "
        reporter.say(f"{was}{_tell_archived(archived)} in {show_path(archive.path)}\n")


def _tell_archived(archived: Archived) -> str:
    if archived.appended:
        return f"what was appended to {archived.pointer}"
    if archived.replaced:
        return f"what stood at {archived.pointer}" if archived.elements else f"that nothing stood at {archived.pointer}"
    return show_plural(len(archived.elements), "element")


def show_path(path: Path) -> str:
    """From the folder one is in, where it is below that."""
    here = Path.cwd()
    return escape_controls(str(path.relative_to(here) if path.is_relative_to(here) else path))


def name_file(asked: ApplyAsked) -> str:
    """The name of the file that will hold the new state; empty where it is none."""
    goal = asked.output if asked.output is not None else asked.state
    return "" if goal == STDIN else os.path.basename(os.path.realpath(goal))  # noqa: PTH119  as `rewrite_state` names it


def _write_elsewhere(asked: ApplyAsked, change: StateDiff) -> Rewritten:
    goal = asked.output if asked.output is not None else STDIN
    like = Path(asked.state) if asked.state != STDIN else None
    archives: list[Written] = []
    _check_folder(goal)
    if change.archived:
        folder = _choose_folder(asked)
        archives = [write_archive(folder, one, like=like, wait=asked.wait) for one in change.archived]
    if goal == STDIN:
        write_stdout(change.data)
    else:
        write_file(goal, change.data)
    return Rewritten(change, tuple(archives))


def _check_folder(goal: str) -> None:
    """Before an archive makes the folder that the new state's file lacks."""
    if goal != STDIN and not Path(os.path.realpath(goal)).parent.is_dir():
        message = f"cannot write `{goal}`: there is no such folder"
        raise DiskError([Diagnostic("PC0725", message, help="name a file in a folder that exists")])


def _choose_folder(asked: ApplyAsked) -> Path:
    """Of the archives: the one that was named, else beside the file."""
    if asked.archive is not None:
        return asked.archive
    goal = asked.output if asked.output is not None else asked.state
    if goal == STDIN:
        message = "the operation archives what it removes, and a state on standard output has no folder for that"
        raise UsageError([Diagnostic("PC0827", message, help="name a folder: `--archive DIR`")])
    return archive_folder(Path(os.path.realpath(goal)))


@frozen
class ApplyAsked:
    """An operation or a restore: on which state, where to, and how long to wait for its lock. `archive` is the folder of archives,
    `expected` the digest that the state must have; none: any. `models` is a table of models of the user's.
    """

    pack: str
    state: str
    output: str | None
    archive: Path | None
    expected: str | None
    wait: float
    is_dry: bool
    models: str | None = None

    @property
    def shown(self) -> str:
        """What findings call the state."""
        return "stdin" if self.state == STDIN else self.state

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


def read_answers(files: Mapping[str, str]) -> dict[str, str]:
    """Read the answers to asks, by their names."""
    return {name: read_answer_file(file, f"the answer `{name}`") for name, file in files.items()}


def read_answer_file(file: str, what: str = "the answer") -> str:
    """Read an answer as text, whatever its bytes are: what is no UTF-8, or too long, is a bad answer, and no failure."""
    return read_first(file, what, size=LONGEST_ANSWER + 1).decode(errors="surrogateescape")


def _split(given: str, option: str, shape: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name or not value:
        raise refuse_form(option, given, shape)
    return name, value
