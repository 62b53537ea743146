"""`promptc apply`: runs an operation on a state, lists the operations of a pack, or restores archived content.

`ask_model` gets answers, `write_change` writes the change of a state, and `tell_change` reports what was written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from threading import Timer

import click

from promptc.api import Pack
from promptc.cli.group import ARG, PACK, Command, complete, take
from promptc.cli.options import MODELS, refuse_form
from promptc.cli.request import read_bytes, read_first
from promptc.cli.terminal import STDIN, Reporter, escape_controls, show_json, write_stdout
from promptc.cli.views.difference import render_changes
from promptc.cli.views.drawing import render_table
from promptc.diag.findings import Diagnostic, DiskError, UsageError, shorten, show_plural
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.files.atomic import refuse_links, write_file
from promptc.files.paths import resolve_path
from promptc.files.reading import follow_link
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.model.messages import CHAT, FORMATS
from promptc.operations.archive import Written, list_archives, name_source, read_archive, write_archive
from promptc.operations.edits import make_diff
from promptc.operations.endpoint import Endpoint, ask_endpoint
from promptc.operations.restore import NO_NOTE, make_restoration, read_note
from promptc.operations.results import Archived, Listed, OperationResult, Request, StateDiff, choose_operation
from promptc.operations.run import ask, list_operations, restore_answers, run_operation
from promptc.operations.state_file import Rewritten, archive_folder, check_expected, rewrite_state
from promptc.passes.redact import LONGEST_ANSWER, restore_answer
from promptc.text.json import render_canonical_json, render_digest

_REQUESTS = tuple(name for name in FORMATS if name not in ("text", CHAT))
_LONGEST = 86_400
_FILE = click.Path(readable=False, allow_dash=True)  # a file that cannot be read is reported when it is read
_KEY = "OPENAI_API_KEY"
_PATIENCE = 0.5
_DIGITS = slice(len("sha256:"), len("sha256:") + 12)
Make = Callable[[bytes, str], StateDiff]
"""A function from a state's bytes and the name of the file for the new state (empty if there is none) to the change."""


def _read_seconds(ctx: click.Context, param: click.Parameter, given: str) -> float:
    """Parse a number of seconds up to a day."""
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
        run_apply_list(pack, *_take(words, 0, 1, "PACK --list [STATE]"), models=given["models"], is_json=is_json)
        return 0
    if restore:
        state, *archives = _take(words, 1, None, "PACK --restore STATE [ARCHIVE]...")
        run_restore(reporter, _read_asked(pack, str(state), given), [str(one) for one in archives])
        return 0
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
    run_apply(reporter, _read_asked(pack, str(state), given), operation, _read_endpoint(given))
    return 0


def _check_modes(is_list: bool, restore: bool, is_json: bool, given: dict[str, Any]) -> None:
    pairs = (
        (is_list and restore, "--list", "--restore"),
        (given["no_model"] and given["endpoint"] is not None, "--no-model", "--endpoint"),
        (given["no_model"] and given["requests"], "--no-model", "--requests"),
        (given["requests"] and given["endpoint"] is not None, "--requests", "--endpoint"),
    )
    for is_wrong, one, other in pairs:
        if is_wrong:
            raise _contradict(f"`{one}` cannot be combined with `{other}`")
    lacking = (
        (is_json and not is_list, "--json", "--list"),
        (given["endpoint"] is not None and given["model"] is None, "--endpoint", "--model"),
    )
    for is_wrong, one, needed in lacking:
        if is_wrong:
            raise _contradict(f"`{one}` needs `{needed}`", f"add `{needed}`, or remove `{one}`")


def _check_stdin(state: str, operation: OperationAsked) -> None:
    from_stdin = [f"the answer `{name}`" for name, file in operation.answers.items() if file == STDIN]
    from_stdin += ["the state"] if state == STDIN else []
    if len(from_stdin) > 1:
        raise _contradict(f"standard input cannot be {' and '.join(from_stdin)}", "name a file for one of them")


def _contradict(message: str, help: str = "remove one of them") -> UsageError:
    return UsageError([Diagnostic("PC0829", message, help=help)])


def _take(words: Sequence[str], least: int, most: int | None, shape: str) -> list[str | None]:
    """Return the arguments, padded with None up to `most`. Raises `UsageError` (PC0720) for a wrong number of arguments."""
    if len(words) < least or (most is not None and len(words) > most):
        raise UsageError([Diagnostic("PC0720", f"`promptc apply` takes {shape} here", help="see `promptc apply --help`")])
    return [*words, *[None] * ((most or 0) - len(words))]


def _read_asked(pack: str, state: str, given: dict[str, Any]) -> ApplyAsked:
    output, archive = given["output"], given["archive"]
    if output is not None and output != STDIN and state != STDIN and Path(output).exists() and Path(output).samefile(state):
        raise _contradict("`-o` names the state itself, which is replaced without it", "remove `-o`, or name another file")
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


def run_apply_list(path: str, state: str | None, *, models: str | None, is_json: bool) -> None:
    """Print the operations and, given a state, which of them are due. Raises `PromptcError`."""
    pack = Pack.load(path, models=models)
    raw = read_bytes(state, "the state", limit=MAX_STATE_BYTES) if state is not None else None
    loaded = pack.load_state(raw, "stdin" if state == "-" else str(state)) if raw is not None else None
    listed = list_operations(pack, loaded)
    write_stdout((_render_json(listed, state is not None) if is_json else _render(listed, pack.name)).encode())


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
        told = [f"--arg {quote(f'{name}={escape_controls(render_canonical_json(value))}')}" for name, value in one.args.items()]
        told += [f"asks {', '.join(one.asks)}"] if one.asks else []
        rows += [["", "", text] for text in told]
    return render_table(rows, most=72)


def run_restore(reporter: Reporter, asked: ApplyAsked, names: Sequence[str]) -> None:
    """Restore the content of the named archives, or of all archives of the state. Raises `PromptcError`."""
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


def _is_of(archived: Archived, pack: Pack, asked: ApplyAsked) -> bool:
    """Return whether the archive belongs to the state: several states can share a folder."""
    source = "" if asked.state == STDIN else os.path.basename(os.path.realpath(asked.state))  # noqa: PTH119  as `rewrite_state` names it
    return archived.pack == pack.name and archived.file in map(name_source, (source, name_file(asked)))


def _warn(path: Path, archived: Archived, pack: Pack) -> Diagnostic:
    message = f"the archive `{show_path(path)}` comes from the pack `{archived.pack}`, not `{pack.name}`"
    return Diagnostic("PC0834", message, help="restore it with the pack that wrote it, unless you meant to use this one", level="warn")


def _warn_stuck(path: Path, archived: Archived) -> Diagnostic:
    message = f"`{show_path(path)}` was not restored: `{archived.pointer}` has changed since `{archived.operation}` wrote it"
    help = "restore its later archives first, or remove the value from the file by hand"
    return Diagnostic("PC0840", message, help=help, level="warn")


def _warn_unsure(path: Path, archived: Archived, count: int) -> Diagnostic:
    some = f"{count} of {show_plural(len(archived.elements), 'element')}"
    message = f"{some} in `{show_path(path)}` were not restored: `{archived.pointer}` has equal ones, which may be others"
    help = "compare the file with the list, and add what is missing by hand: no note next to the state says which they are"
    return Diagnostic("PC0840", message, help=help, level="warn")


def _choose_folder(asked: ApplyAsked) -> Path:
    if asked.archive is not None:
        return asked.archive
    if asked.state == STDIN:
        message = "a state from standard input has no archives next to it"
        raise UsageError([Diagnostic("PC0827", message, help="name the archives, or their folder: `--archive DIR`")])
    return archive_folder(Path(os.path.realpath(asked.state)))


def _sort(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the paths without duplicates, the newest first if the system knows their times."""
    known = {resolve_path(path): path for path in paths}
    return tuple(sorted(known.values(), key=lambda path: (-_read_time(path), str(path))))


def _read_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):
        return 0


def run_apply(reporter: Reporter, asked: ApplyAsked, operation: OperationAsked, endpoint: EndpointAsked | None) -> None:
    """Run the operation, or print its requests. Raises `PromptcError`."""
    pack = Pack.load(asked.pack, models=asked.models)
    choose_operation(pack, operation.name)
    raw = read_bytes(asked.state, "the state", limit=MAX_STATE_BYTES)
    check_expected(asked.expected, pack.load_state(raw, asked.shown).digest, asked.shown)
    answers = restore_answers(pack, raw, operation.name, operation.args, read_answers(operation.answers), name=asked.shown)
    if endpoint is not None:
        _apply_asked(reporter, pack, asked, operation, endpoint, raw, answers)
        return
    missing = ask(pack, raw, operation.name, operation.args, answers) if operation.has_model else ()
    if operation.are_requests_asked or (missing and not answers):
        _print_requests(reporter, pack, raw, operation, missing)
        return
    _refuse_missing(missing)
    _apply(reporter, pack, asked, operation, raw, answers)


def _apply_asked(
    reporter: Reporter,
    pack: Pack,
    asked: ApplyAsked,
    operation: OperationAsked,
    endpoint: EndpointAsked,
    raw: bytes,
    given: Mapping[str, str],
) -> None:
    """Ask the model, then run the operation if the state has not changed since.

    The state is not locked during the questions, because others may need it for as long as a model takes.
    """
    answers = ask_model(reporter, pack, raw, operation, endpoint, given)
    digest = pack.load_state(raw, asked.shown).digest
    try:
        _apply(reporter, pack, replace(asked, expected=digest), operation, raw, answers)
    except DiskError as wrong:
        fresh = {name: text for name, text in answers.items() if name not in given}
        raise keep_answers(asked.state, fresh, wrong) if fresh and asked.state != STDIN else wrong from None


def _apply(reporter: Reporter, pack: Pack, asked: ApplyAsked, operation: OperationAsked, raw: bytes, answers: Mapping[str, str]) -> None:
    made: list[OperationResult] = []

    def make(read: bytes, file: str) -> StateDiff:
        """Run the operation on the current state, which may ask for more than before."""
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
    """Print the requests with the digest of their state, for `--if-state`.

    Warnings from rendering and building the requests are reported once.
    """
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


# --- questions and changes ---


def ask_model(
    reporter: Reporter, pack: Pack, raw: bytes, operation: OperationAsked, asked: EndpointAsked, answers: Mapping[str, str]
) -> dict[str, str]:
    """Return the given answers and the model's answers to the other questions.

    If the server has no answer to a question, the answer is missing: that is a warning, or with `--strict` a `DiskError`. The questions are
    asked one by one, because a later question may contain an earlier answer. After half a second of waiting, a message says so.
    """
    endpoint = open_endpoint(asked)
    found, skipped = dict(answers), set[str]()
    while True:
        left = [one for one in ask(pack, raw, operation.name, operation.args, found) if one.name not in skipped]
        if not left:
            return found
        try:
            prompt, answer = left[0].prompt, _ask(reporter, endpoint, left[0])
            found[left[0].name] = restore_answer(answer, prompt.redactions, is_json=prompt.response is not None)
        except DiskError as wrong:
            if asked.is_strict:
                raise
            skipped.add(left[0].name)
            reporter.report(replace(one, level="warn") for one in wrong.diagnostics)


def open_endpoint(asked: EndpointAsked) -> Endpoint:
    """Return the server with its key. Raises `UsageError` (PC0721) for an invalid URL, a missing key or one that cannot be sent."""
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
    """Write each answer to `<state>.answers/<name>.<digest>.txt`, and return the error with the flags to continue with them.

    Returns the error unchanged if the answers cannot be written.
    """
    try:
        files = [f"--answer {name}={quote(str(path))}" for name, path in _write(Path(os.path.realpath(state)), answers)]
    except (OSError, DiskError):
        return wrong
    kept = f"the answers are kept; continue with {' '.join(files)}"
    return type(wrong)([*(_with(one, kept) for one in wrong.diagnostics)])


def _write(state: Path, answers: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    folder = state.with_name(f"{state.name}.answers")
    encoded = {name: text.encode("utf-8", "surrogatepass") for name, text in answers.items()}
    paths = {name: folder / f"{name}.{render_digest(data)[_DIGITS]}.txt" for name, data in encoded.items()}
    refuse_links(state.parent, (f"{folder.name}/{path.name}" for path in paths.values()))
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, path in paths.items():
        write_file(str(path), encoded[name])
        yield name, path


def _with(found: Diagnostic, help: str) -> Diagnostic:
    return replace(found, help=f"{found.help}; {help}" if found.help else help)


def write_change(asked: ApplyAsked, raw: bytes, make: Make, *, purpose: str) -> Rewritten:
    """Make the change and write it, archives first.

    In place, the change is made under the lock from the current content of the file. For an output, it is made from `raw`. A dry run writes
    nothing. Raises what `make` and `rewrite_state` raise, `DiskError` (PC0725), and `UsageError` (PC0827) if there is no folder for the
    archives.
    """
    if asked.is_dry:
        change = make(raw, name_file(asked))
        if change.archived:
            _choose_archives(asked)
        return Rewritten(change, ())
    if asked.is_in_place:
        return rewrite_state(asked.state, lambda read, path: make(read, path.name), folder=asked.archive, wait=asked.wait, purpose=purpose)
    return _write_elsewhere(asked, make(raw, name_file(asked)))


def tell_change(reporter: Reporter, asked: ApplyAsked, rewritten: Rewritten) -> None:
    """Report what was written, with counts; for a dry run, print what would change."""
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
        return f"what was at {archived.pointer}" if archived.elements else f"the note that nothing was at {archived.pointer}"
    return show_plural(len(archived.elements), "element")


def show_path(path: Path) -> str:
    """Return the path, relative to the current folder if it is inside that folder."""
    here = Path.cwd()
    return escape_controls(str(path.relative_to(here) if path.is_relative_to(here) else path))


def name_file(asked: ApplyAsked) -> str:
    """Return the name of the file for the new state, or an empty string for standard output."""
    goal = asked.output if asked.output is not None else asked.state
    return "" if goal == STDIN else os.path.basename(os.path.realpath(goal))  # noqa: PTH119  as `rewrite_state` names it


def _write_elsewhere(asked: ApplyAsked, change: StateDiff) -> Rewritten:
    goal = asked.output if asked.output is not None else STDIN
    like = Path(asked.state) if asked.state != STDIN else None
    archives: list[Written] = []
    _check_folder(goal)
    if change.archived:
        folder = _choose_archives(asked)
        archives = [write_archive(folder, one, like=like, wait=asked.wait) for one in change.archived]
    if goal == STDIN:
        write_stdout(change.data)
    else:
        write_file(goal, change.data)
    return Rewritten(change, tuple(archives))


def _check_folder(goal: str) -> None:
    """Refuse a missing folder of the new state's file, before an archive would create it."""
    if goal != STDIN and not Path(os.path.realpath(goal)).parent.is_dir():
        message = f"cannot write `{goal}`: there is no such folder"
        raise DiskError([Diagnostic("PC0725", message, help="name a file in a folder that exists")])


def _choose_archives(asked: ApplyAsked) -> Path:
    """Return the folder of the archives: the folder that was named, or a folder next to the file."""
    if asked.archive is not None:
        return asked.archive
    goal = asked.output if asked.output is not None else asked.state
    if goal == STDIN:
        message = "the operation archives what it removes, but a state on standard output has no folder for the archives"
        raise UsageError([Diagnostic("PC0827", message, help="name a folder: `--archive DIR`")])
    return archive_folder(Path(os.path.realpath(goal)))


@frozen
class ApplyAsked:
    """An operation or a restore: its state, its output, and how many seconds to wait for the lock.

    `archive` is the folder of archives. `expected` is the digest that the state must have, or None for any. `models` is the user's table of
    models.
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
        """The name of the state in findings."""
        return "stdin" if self.state == STDIN else self.state

    @property
    def is_in_place(self) -> bool:
        """Whether the state's own file is replaced."""
        return self.state != STDIN and self.output is None


@frozen
class OperationAsked:
    """An operation with its arguments and the sources of its answers.

    `answers` are files by the names of the asks. `format` and `model` are for printed requests.
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
    """A server to ask. `key_env` is the environment variable that has its key.

    If `is_strict`, a missing answer is a failure.
    """

    url: str
    model: str
    key_env: str | None
    timeout: float
    is_strict: bool


def read_args(given: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `--arg NAME=JSON`. Raises `UsageError` (PC0721) for a text of another form or a repeated name."""
    args: dict[str, Any] = {}
    for name, value in _read_pairs(given, "--arg", "NAME=JSON", "argument").items():
        try:
            args[name] = json.loads(value)
        except (ValueError, RecursionError):
            help = "a string is in double quotes, such as '\"calm\"'"
            raise UsageError([Diagnostic("PC0721", f"the value of `--arg {shorten(f'{name}={value}')}` is not JSON", help=help)]) from None
    return args


def read_answer_files(given: Sequence[str]) -> dict[str, str]:
    """Return the files of `--answer NAME=FILE`. Raises `UsageError` (PC0721) for a text of another form or a repeated name."""
    return _read_pairs(given, "--answer", "NAME=FILE", "answer")


def _read_pairs(given: Sequence[str], option: str, shape: str, what: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name or not value:
            raise refuse_form(option, one, shape)
        if name in pairs:
            raise UsageError([Diagnostic("PC0721", f"the {what} `{shorten(name)}` is given twice", help="give it once")])
        pairs[name] = value
    return pairs


def read_answers(files: Mapping[str, str]) -> dict[str, str]:
    """Read the answers to asks, by their names."""
    return {name: read_answer_file(file, f"the answer `{name}`") for name, file in files.items()}


def read_answer_file(file: str, what: str = "the answer") -> str:
    """Read an answer as text, whatever its bytes are. Invalid UTF-8 or too long a text is a bad answer, not a failure."""
    return read_first(file, what, size=LONGEST_ANSWER + 1).decode(errors="surrogateescape")
