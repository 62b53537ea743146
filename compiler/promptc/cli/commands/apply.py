"""`promptc apply`: does an operation on a state, lists the operations there are, or puts back what was archived.

What is asked of a model and what is written is done by `promptc.cli.commands.apply_io`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from promptc.api import Pack
from promptc.cli.commands.apply_io import (
    STDIN,
    ApplyAsked,
    EndpointAsked,
    OperationAsked,
    ask_model,
    keep_answers,
    name_file,
    read_answer_files,
    read_answers,
    read_args,
    show_path,
    tell_change,
    write_change,
)
from promptc.cli.findings import Reporter
from promptc.cli.group import ARG, PACK, Command, complete, take
from promptc.cli.options import MODELS
from promptc.cli.request import read_bytes
from promptc.cli.terminal import escape_controls, show_json, write_stdout
from promptc.cli.views.drawing import render_table, show_plural
from promptc.diag.findings import Diagnostic, DiskError, UsageError
from promptc.diag.frozen import replace
from promptc.diag.typed import Any
from promptc.files.reading import follow_link
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.model.messages import CHAT, FORMATS
from promptc.operations.archive import list_archives, name_source, read_archive
from promptc.operations.edits import make_diff
from promptc.operations.restore import NO_NOTE, make_restoration, read_note
from promptc.operations.results import Archived, Listed, OperationResult, Request, StateDiff, choose_operation
from promptc.operations.run import ask, list_operations, run_operation
from promptc.operations.state_file import archive_folder, check_expected
from promptc.text.json import render_canonical_json

_REQUESTS = tuple(name for name in FORMATS if name not in ("text", CHAT))
_LONGEST = 86_400
_FILE = click.Path(readable=False, allow_dash=True)  # what cannot be read is told when it is read


def _read_seconds(ctx: click.Context, param: click.Parameter, given: str) -> float:
    """A number of seconds up to a day."""
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= _LONGEST:
        raise click.BadParameter(f"`{given}` is not a number of seconds from 0 to {_LONGEST}", ctx, param)
    return seconds


@click.command(
    "apply",
    cls=Command,
    examples=[
        ("List the operations, and which are due", "promptc apply packs/sentinel --list state.json"),
        ("Print what to ask a model", "promptc apply . checkpoint state.json > asked.json"),
        ("Run the operation with the model's answer", "promptc apply . checkpoint state.json --answer digest=digest.md"),
        ("Let promptc ask a server", "promptc apply . compress s.json --endpoint http://localhost:1234 --model gemma"),
        ("See what would change without a model", "promptc apply . checkpoint state.json --no-model --dry-run"),
        ("Put back everything that was archived", "promptc apply . --restore state.json"),
    ],
)
@PACK
@click.argument("words", shell_complete=complete, nargs=-1, metavar="OPERATION STATE", type=_FILE)
@click.option("--list", "is_list", is_flag=True, help="List the operations of PACK. With a STATE, mark those that are due.")
@click.option("--json", "is_json", is_flag=True, help="Print the list as JSON.")
@ARG
@click.option(
    "--answer",
    "answers",
    shell_complete=complete,
    multiple=True,
    metavar="NAME=FILE",
    help="The answer to a question. `-` reads standard input.",
)
@click.option("--no-model", is_flag=True, help="Ask no model: each open question takes its `else`.")
@click.option("--requests", is_flag=True, help="Print the open questions, and write nothing.")
@click.option(
    "--format", type=click.Choice(_REQUESTS), default="messages", metavar="FORMAT", help=f"The format of requests: {', '.join(_REQUESTS)}."
)
@click.option("--endpoint", metavar="URL", help="Ask this OpenAI-compatible server. Needs the extra `llm`.")
@click.option("--model", metavar="NAME", help="The model to ask, or to name in requests.")
@take(MODELS)
@click.option("--key-env", metavar="VARIABLE", help="The environment variable with the key. [OPENAI_API_KEY]")
@click.option("--timeout", callback=_read_seconds, default="60", metavar="SECONDS", help="The time limit of each try. [60]")
@click.option("--strict", is_flag=True, help="Fail if the server gives no answer. Do not take `else`.")
@click.option("--archive", metavar="DIR", type=_FILE, help="The folder for archives. [STATE.archive, with -o FILE.archive]")
@click.option("--restore", is_flag=True, help="Put archives back: --restore STATE [ARCHIVE]... [all of them]")
@click.option("--if-state", metavar="DIGEST", help="Run only if the state still has this digest (sha256:...).")
@click.option("--wait", callback=_read_seconds, default="30", metavar="SECONDS", help="How long to wait for another process. [30]")
@click.option("--dry-run", is_flag=True, help="Show what would change, and write nothing.")
@click.option("-o", "--output", metavar="FILE", type=_FILE, help="Write the new state to FILE, and leave STATE as it is.")
@click.pass_obj
def apply_command(
    reporter: Reporter, /, pack: str, words: tuple[str, ...], is_list: bool, restore: bool, is_json: bool, **given: Any
) -> int:
    """Run an operation of PACK on STATE, for example checkpoint, compress or clear.

    promptc locks STATE, archives what leaves it, and replaces the file in one step. With `-`, it reads the state from standard input and
    prints the new one.

    Some operations ask a model. Then promptc prints the requests as JSON and changes nothing. Run the command again with an `--answer`, or
    add `--endpoint` or `--no-model`. If an answer fails its check, promptc warns and takes the pack's `else`.
    """
    _check_modes(is_list, restore, is_json, given)
    if is_list:
        return run_apply_list(pack, *_take(words, 0, 1, "PACK --list [STATE]"), models=given["models"], is_json=is_json)
    if restore:
        state, *archives = _take(words, 1, None, "PACK --restore STATE [ARCHIVE]...")
        return run_restore(reporter, _read_asked(pack, str(state), given), [str(one) for one in archives])
    name, state = _take(words, 2, 2, "PACK OPERATION STATE")
    operation = OperationAsked(
        str(name),
        read_args(given["args"]),
        read_answer_files(given["answers"]),
        has_model=not given["no_model"],
        are_requests_asked=given["requests"],
        format=given["format"],
        model=given["model"],
    )
    _check_stdin(str(state), operation)
    return run_apply(reporter, _read_asked(pack, str(state), given), operation, _read_endpoint(given))


def _check_modes(is_list: bool, restore: bool, is_json: bool, given: dict[str, Any]) -> None:
    pairs = (
        (is_list and restore, "--list", "--restore"),
        (is_json and not is_list, "--json", "no --list"),
        (given["no_model"] and given["endpoint"] is not None, "--no-model", "--endpoint"),
        (given["no_model"] and given["requests"], "--no-model", "--requests"),
        (given["requests"] and given["endpoint"] is not None, "--requests", "--endpoint"),
        (given["endpoint"] is not None and given["model"] is None, "--endpoint", "no --model"),
    )
    for is_wrong, one, other in pairs:
        if is_wrong:
            raise _contradict(f"`{one}` does not go with {f'`{other}`' if other.startswith('--') else other}")


def _check_stdin(state: str, operation: OperationAsked) -> None:
    from_stdin = [f"the answer `{name}`" for name, file in operation.answers.items() if file == STDIN]
    from_stdin += ["the state"] if state == STDIN else []
    if len(from_stdin) > 1:
        raise _contradict(f"standard input cannot be {' and '.join(from_stdin)}")


def _contradict(message: str) -> UsageError:
    return UsageError([Diagnostic("PC0829", message, help="remove one of them, or add what is missing")])


def _take(words: Sequence[str], least: int, most: int | None, shape: str) -> list[str | None]:
    """The arguments, filled up to `most`."""
    if len(words) < least or (most is not None and len(words) > most):
        raise UsageError([Diagnostic("PC0720", f"`promptc apply` takes {shape} here", help="see `promptc apply --help`")])
    return [*words, *[None] * ((most or 0) - len(words))]


def _read_asked(pack: str, state: str, given: dict[str, Any]) -> ApplyAsked:
    output, archive = given["output"], given["archive"]
    if output is not None and output != STDIN and state != STDIN and Path(output).exists() and Path(output).samefile(state):
        raise _contradict("`-o` names the state itself, which is replaced without it")
    return ApplyAsked(
        pack,
        state,
        output,
        Path(archive) if archive is not None else None,
        given["if_state"],
        given["wait"],
        given["dry_run"],
        given["models"],
    )


def _read_endpoint(given: dict[str, Any]) -> EndpointAsked | None:
    if given["endpoint"] is None:
        return None
    return EndpointAsked(given["endpoint"], given["model"], given["key_env"], given["timeout"], given["strict"])


def run_apply_list(path: str, state: str | None, *, models: str | None, is_json: bool) -> int:
    """Prints the operations, and which are due where there is a state. Raises `PromptcError`."""
    pack = Pack.load(path, models=models)
    raw = read_bytes(state, "the state", limit=MAX_STATE_BYTES) if state is not None else None
    loaded = pack.load_state(raw, "stdin" if state == "-" else str(state)) if raw is not None else None
    listed = list_operations(pack, loaded)
    write_stdout((_render_json(listed, state is not None) if is_json else _render(listed, pack.name)).encode())
    return 0


def _render_json(listed: tuple[Listed, ...], is_judged: bool) -> str:
    shown = [
        {
            "name": one.name,
            "title": one.title,
            "args": dict(one.args),
            "asks": list(one.asks),
            "due": one.is_due if is_judged else None,
        }
        for one in listed
    ]
    return show_json(shown)


def _render(listed: tuple[Listed, ...], name: str) -> str:
    if not listed:
        return f"{name} has no operations\n"
    rows = []
    for one in listed:
        rows.append([one.name, "due" if one.is_due else "", escape_controls(one.title)])
        told = [f"--arg {name}={escape_controls(render_canonical_json(value))}" for name, value in one.args.items()]
        told += [f"asks {', '.join(one.asks)}"] if one.asks else []
        rows += [["", "", text] for text in told]
    return render_table(rows, most=72)


def run_restore(reporter: Reporter, asked: ApplyAsked, names: Sequence[str]) -> int:
    """Puts back what the archives hold, those named or all of the state's; the exit code. Raises `PromptcError`."""
    pack = Pack.load(asked.pack, models=asked.models)
    raw = read_bytes(asked.state, "the state", limit=MAX_STATE_BYTES)
    check_expected(asked.expected, pack.load_state(raw, asked.shown).digest, asked.shown)
    paths = _sort([Path(follow_link(name)) for name in names]) if names else list_archives(_choose_folder(asked))
    archives = [(path, read_archive(path)) for path in paths]
    own = archives if names else [(path, one) for path, one in archives if _is_of(one, pack, asked)]
    reporter.report([_warn(path, one, pack) for path, one in own if one.pack != pack.name])
    counts: tuple[int, ...] = ()
    stuck: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()

    def make(read: bytes, _file: str) -> StateDiff:
        nonlocal counts, stuck, unsure
        check_expected(asked.expected, pack.load_state(read, asked.shown).digest, asked.shown)
        note = NO_NOTE if asked.state == STDIN else read_note(Path(os.path.realpath(asked.state)), read)
        files = [path.name for path, _ in own]
        change, counts = make_restoration(pack, read, [one for _, one in own], name=asked.shown, note=note, files=files)
        stuck, unsure = change.stuck, change.unsure
        return change

    rewritten = write_change(asked, raw, make, purpose="restore")
    for (path, one), count in zip(own, counts, strict=True):
        if count:
            told = "taken away from" if one.appended or one.absent else "put back at"
            told = f"{'the value' if one.replaced else show_plural(count, 'element')} {told} {one.pointer}"
            reporter.say(f"{show_path(path)}: {told}\n" if not asked.is_dry else "")
    reporter.report([_warn_stuck(*own[at]) for at in stuck])
    reporter.report([_warn_unsure(*archive, count) for archive, count in zip(own, unsure, strict=True) if count])
    if len(own) < len(archives):
        reporter.say(f"{show_plural(len(archives) - len(own), 'archive')} of other states left; name them to restore them\n")
    tell_change(reporter, asked, rewritten)
    return 0


def _is_of(archived: Archived, pack: Pack, asked: ApplyAsked) -> bool:
    """Several states may share a folder."""
    source = "" if asked.state == STDIN else os.path.basename(os.path.realpath(asked.state))  # noqa: PTH119  as `rewrite_state` names it
    return archived.pack == pack.name and archived.file in map(name_source, (source, name_file(asked)))


def _warn(path: Path, archived: Archived, pack: Pack) -> Diagnostic:
    message = f"the archive `{show_path(path)}` comes from the pack `{archived.pack}`, not `{pack.name}`"
    return Diagnostic("PC0834", message, help="restore it with the pack that wrote it, unless you mean this", level="warn")


def _warn_stuck(path: Path, archived: Archived) -> Diagnostic:
    message = f"`{show_path(path)}` was not restored: `{archived.pointer}` has changed since `{archived.operation}` wrote it"
    help = "restore the later archives of it first, or take the value out of the file by hand"
    return Diagnostic("PC0840", message, help=help, level="warn")


def _warn_unsure(path: Path, archived: Archived, count: int) -> Diagnostic:
    some = f"{count} of {show_plural(len(archived.elements), 'element')}"
    message = f"{some} in `{show_path(path)}` were not restored: `{archived.pointer}` has equal ones, which may be others"
    help = "compare the file with the list, and add what is missing by hand: no note beside the state tells which they are"
    return Diagnostic("PC0840", message, help=help, level="warn")


def _choose_folder(asked: ApplyAsked) -> Path:
    if asked.archive is not None:
        return asked.archive
    if asked.state == STDIN:
        message = "a state from standard input has no archives beside it"
        raise UsageError([Diagnostic("PC0827", message, help="name the archives, or their folder: `--archive DIR`")])
    return archive_folder(Path(os.path.realpath(asked.state)))


def _sort(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The newest first, where the system knows; each once."""
    known = {path.resolve(): path for path in paths}
    return tuple(sorted(known.values(), key=lambda path: (-_read_time(path), str(path))))


def _read_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


def run_apply(reporter: Reporter, asked: ApplyAsked, operation: OperationAsked, endpoint: EndpointAsked | None) -> int:
    """Does the operation, or prints what it asks; the exit code. Raises `PromptcError`."""
    pack = Pack.load(asked.pack, models=asked.models)
    choose_operation(pack, operation.name)
    raw = read_bytes(asked.state, "the state", limit=MAX_STATE_BYTES)
    check_expected(asked.expected, pack.load_state(raw, asked.shown).digest, asked.shown)
    answers = read_answers(operation.answers)
    if endpoint is not None:
        return _apply_asked(reporter, pack, asked, operation, endpoint, raw, answers)
    missing = ask(pack, raw, operation.name, operation.args, answers) if operation.has_model else ()
    if operation.are_requests_asked or (missing and not answers):
        _print_requests(reporter, pack, raw, operation, missing)
        return 0
    _refuse_missing(missing)
    _apply(reporter, pack, asked, operation, raw, answers)
    return 0


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
    digest = pack.load_state(raw, asked.shown).digest
    try:
        _apply(reporter, pack, replace(asked, expected=digest), operation, raw, answers)
    except DiskError as wrong:
        fresh = {name: text for name, text in answers.items() if name not in given}
        raise keep_answers(asked.state, fresh, wrong) if fresh and asked.state != STDIN else wrong from None
    return 0


def _apply(reporter: Reporter, pack: Pack, asked: ApplyAsked, operation: OperationAsked, raw: bytes, answers: Mapping[str, str]) -> None:
    made: list[OperationResult] = []

    def make(read: bytes, file: str) -> StateDiff:
        """Of what the state is now, which may ask what it did not a moment ago."""
        done = run_operation(pack, read, operation.name, operation.args, answers, name=asked.shown)
        check_expected(asked.expected, done.before, asked.shown)
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


def _print_requests(reporter: Reporter, pack: Pack, raw: bytes, operation: OperationAsked, requests: Sequence[Request]) -> None:
    """With the digest of the state they are about, for `--if-state`. What was said while they were rendered and made is reported once."""
    made = {one.name: _make_body(one, operation) for one in requests}
    reporter.report(dict.fromkeys(found for _, said in made.values() for found in said))
    shown = {
        "operation": operation.name,
        "state": pack.load_state(raw).digest,
        "requests": {name: body for name, (body, _) in made.items()},
    }
    write_stdout(show_json(shown).encode())


def _make_body(request: Request, operation: OperationAsked) -> tuple[Mapping[str, Any], Sequence[Diagnostic]]:
    if operation.format == "messages":
        return {"messages": request.prompt.messages}, request.prompt.warnings
    payload = request.prompt.build_payload(operation.format, operation.model)
    return payload.body, payload.warnings


def _refuse_missing(missing: Sequence[Request]) -> None:
    if missing:
        named = ", ".join(f"`{one.name}`" for one in missing)
        flags = " ".join(f"--answer {one.name}=FILE" for one in missing)
        message = f"the operation also asks {named}, and you gave no answer to {'it' if len(missing) == 1 else 'them'}"
        help = f"add {flags}, or `--no-model` to use each `else`; `--requests` prints what is still to be asked"
        raise UsageError([Diagnostic("PC0828", message, help=help)])
