"""What `promptc apply PACK OPERATION STATE` does, once its command line is read."""

import json
from collections.abc import Mapping, Sequence

from promptc.api import Pack
from promptc.cli.apply_asked import STDIN, ApplyAsked, EndpointAsked, OperationAsked
from promptc.cli.ask_model import ask_model
from promptc.cli.escape import escape_controls
from promptc.cli.keep_answers import keep_answers
from promptc.cli.read_bytes import read_bytes, read_first
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.cli.write_change import tell_change, write_change
from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.diag.typed import Any
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.operations.edits import make_diff
from promptc.operations.results import OperationResult, Request, StateDiff, find_operation
from promptc.operations.run import LONGEST_ANSWER, ask, run_operation
from promptc.operations.state_file import check_expected


def run_apply(reporter: Reporter, asked: ApplyAsked, operation: OperationAsked, endpoint: EndpointAsked | None) -> int:
    """Does the operation, or prints what it asks; the exit code. Raises `PromptcError`."""
    pack = Pack.load(asked.pack)
    find_operation(pack, operation.name)
    raw = read_bytes(asked.state, "the state", limit=MAX_STATE_BYTES)
    check_expected(asked.expected, pack.load_state(raw, name_state(asked)).digest, name_state(asked))
    answers = _read_answers(operation)
    if endpoint is not None:
        return _apply_asked(reporter, pack, asked, operation, endpoint, raw, answers)
    missing = ask(pack, raw, operation.name, operation.args, answers) if operation.has_model else ()
    if operation.are_requests_asked or (missing and not answers):
        _print_requests(reporter, pack, raw, operation, missing)
        return 0
    _refuse_missing(missing)
    _apply(reporter, pack, asked, operation, raw, answers)
    return 0


def name_state(asked: ApplyAsked) -> str:
    """What findings call the state."""
    return "stdin" if asked.state == STDIN else asked.state


def _apply_asked(
    reporter: Reporter,
    pack: Pack,
    asked: ApplyAsked,
    operation: OperationAsked,
    endpoint: EndpointAsked,
    raw: bytes,
    given: Mapping[str, str],
) -> int:
    """Asks without the lock, which others may want for as long as a model takes; then goes on if the state is still the one asked about."""
    answers = ask_model(reporter, pack, raw, operation, endpoint, given)
    digest = pack.load_state(raw, name_state(asked)).digest
    try:
        _apply(reporter, pack, _expect(asked, digest), operation, raw, answers)
    except DiskError as wrong:
        fresh = {name: text for name, text in answers.items() if name not in given}
        raise keep_answers(asked.state, fresh, wrong) if fresh and asked.state != STDIN else wrong from None
    return 0


def _expect(asked: ApplyAsked, digest: str) -> ApplyAsked:
    from promptc.diag.frozen import replace

    return replace(asked, expected=digest)


def _apply(reporter: Reporter, pack: Pack, asked: ApplyAsked, operation: OperationAsked, raw: bytes, answers: Mapping[str, str]) -> None:
    made: list[OperationResult] = []

    def make(read: bytes, file: str) -> StateDiff:
        """Of what the state is now, which may ask what it did not a moment ago."""
        done = run_operation(pack, read, operation.name, operation.args, answers, name=name_state(asked))
        check_expected(asked.expected, done.before, name_state(asked))
        if read != raw and operation.has_model and asked.expected is None:
            _refuse_missing(ask(pack, read, operation.name, operation.args, answers))
        made.append(done)
        return make_diff(pack, done, read, file=file)

    rewritten = write_change(asked, raw, make, purpose=operation.name)
    done = made[-1]
    reporter.report(done.warnings)
    if done.said and not asked.is_dry:
        reporter.say("".join(f"{escape_controls(line)}\n" for line in done.said.split("\n")))
    tell_change(reporter, asked, rewritten)


def _read_answers(operation: OperationAsked) -> dict[str, str]:
    """As texts, whatever the bytes are: what is no UTF-8, or too long, is a bad answer, and no failure."""
    answers = {}
    for name, file in operation.answers.items():
        data = read_first(file, f"the answer `{name}`", size=LONGEST_ANSWER + 1)
        answers[name] = data.decode(errors="surrogateescape")
    return answers


def _print_requests(reporter: Reporter, pack: Pack, raw: bytes, operation: OperationAsked, requests: Sequence[Request]) -> None:
    """With the digest of the state they are about, for `--if-state`."""
    shown = {
        "operation": operation.name,
        "state": pack.load_state(raw).digest,
        "requests": {one.name: _show_request(reporter, one, operation) for one in requests},
    }
    write_stdout((json.dumps(shown, ensure_ascii=False, indent=2) + "\n").encode())


def _show_request(reporter: Reporter, request: Request, operation: OperationAsked) -> dict[str, Any]:
    """The body; what is said of it is reported."""
    if operation.format == "messages":
        return {"messages": request.prompt.messages}
    payload = request.prompt.build_payload(operation.format, operation.model)
    reporter.report(payload.warnings)
    body: dict[str, Any] = payload.body
    return body


def _refuse_missing(missing: Sequence[Request]) -> None:
    if missing:
        named = ", ".join(f"`{one.name}`" for one in missing)
        flags = " ".join(f"--answer {one.name}=FILE" for one in missing)
        message = f"the operation also asks {named}, and there is no answer to {'it' if len(missing) == 1 else 'them'}"
        help = f"{flags}, or `--no-model`, which lets `else` stand; `--requests` prints what is to be asked"
        raise UsageError([Diagnostic("PC0828", message, help=help)])
