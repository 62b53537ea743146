"""`promptc apply`."""

from collections.abc import Sequence
from pathlib import Path

import click

from promptc.cli.apply_asked import STDIN, ApplyAsked, EndpointAsked, OperationAsked, read_answer_files, read_args
from promptc.cli.group import Command
from promptc.cli.options import PACK
from promptc.cli.reporter import Reporter
from promptc.cli.run_apply import run_apply
from promptc.cli.run_apply_list import run_apply_list
from promptc.cli.run_restore import run_restore
from promptc.diag.findings import Diagnostic, UsageError
from promptc.diag.typed import Any
from promptc.model.messages import FORMATS

_REQUESTS = tuple(name for name in FORMATS if name != "text")
_LONGEST = 86_400
_FILE = click.Path(readable=False, allow_dash=True)  # what cannot be read is told when it is read


def _read_seconds(ctx: click.Context, param: click.Parameter, given: str) -> float:
    """A number of seconds up to a day."""
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= _LONGEST:
        raise click.BadParameter(f"`{given}` is no number of seconds from 0 to {_LONGEST}", ctx, param)
    return seconds


@click.command(
    "apply",
    cls=Command,
    examples=[
        ("what there is, and what is due", "promptc apply packs/sentinel --list state.json"),
        ("what it would ask a model", "promptc apply . checkpoint state.json > asked.json"),
        ("the operation with the model's answer", "promptc apply . checkpoint state.json --answer digest=digest.md"),
        ("asking a server", "promptc apply . compress s.json --endpoint http://localhost:1234 --model gemma"),
        ("without a model; what would change", "promptc apply . checkpoint state.json --no-model --dry-run"),
        ("everything that was archived, back where it was", "promptc apply . --restore state.json"),
    ],
)
@PACK
@click.argument("words", nargs=-1, metavar="OPERATION STATE", type=_FILE)
@click.option("--list", "is_list", is_flag=True, help="List the operations of PACK; with a STATE also which are due.")
@click.option("--json", "is_json", is_flag=True, help="The list as JSON.")
@click.option("--arg", "args", multiple=True, metavar="NAME=JSON", help="An argument of the operation, in place of its default.")
@click.option("--answer", "answers", multiple=True, metavar="NAME=FILE", help="The answer to what it asks; `-` for standard input.")
@click.option("--no-model", is_flag=True, help="Ask nothing: what is not answered takes its `else`.")
@click.option("--requests", is_flag=True, help="Print what is still to be asked, even with answers; write nothing.")
@click.option("--format", type=click.Choice(_REQUESTS), default="messages", metavar="FORMAT", help=f"Of requests: {', '.join(_REQUESTS)}.")
@click.option("--endpoint", metavar="URL", help="Ask this OpenAI-compatible server (needs the extra llm).")
@click.option("--model", metavar="NAME", help="The model to ask there, or that requests of a FORMAT name.")
@click.option("--key-env", metavar="VARIABLE", help="Where the server's key is in the environment. [OPENAI_API_KEY]")
@click.option("--timeout", callback=_read_seconds, default="60", metavar="SECONDS", help="How long a try may take. [60]")
@click.option("--strict", is_flag=True, help="Fail where the server has no answer, in place of taking `else`.")
@click.option("--archive", metavar="DIR", type=_FILE, help="Where archives are kept. [STATE.archive; with -o FILE.archive]")
@click.option("--restore", is_flag=True, help="Put back what is archived: --restore STATE [ARCHIVE]...; all without ARCHIVE.")
@click.option("--if-state", metavar="DIGEST", help="Only if the state still has this digest (sha256:...).")
@click.option(
    "--wait", callback=_read_seconds, default="30", metavar="SECONDS", help="How long to wait for another that changes STATE. [30]"
)
@click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
@click.option("-o", "--output", metavar="FILE", type=_FILE, help="Write the new state here, and leave STATE.")
@click.pass_obj
def command(reporter: Reporter, /, pack: str, words: tuple[str, ...], is_list: bool, restore: bool, is_json: bool, **given: Any) -> int:
    """Do an operation that PACK declares on STATE: checkpoint, compress, clear ...

    STATE is replaced whole or not at all, under a lock; `-` takes it from standard input and prints the new one. What leaves it is archived
    first. An operation that asks a model prints its requests as JSON, unless it is given answers, an endpoint or --no-model. An answer that
    fails its check is a warning, and the pack's own `else` stands for it.
    """
    _check_modes(is_list, restore, is_json, given)
    if is_list:
        return run_apply_list(pack, *_take(words, 0, 1, "PACK --list [STATE]"), is_json=is_json)
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
    return UsageError([Diagnostic("PC0829", message, help="leave out one, or add what is missing")])


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
        pack, state, output, Path(archive) if archive is not None else None, given["if_state"], given["wait"], given["dry_run"]
    )


def _read_endpoint(given: dict[str, Any]) -> EndpointAsked | None:
    if given["endpoint"] is None:
        return None
    return EndpointAsked(given["endpoint"], given["model"], given["key_env"], given["timeout"], given["strict"])
