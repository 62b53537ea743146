"""`promptc batch`: renders a file of states to a file of rows, shows its progress, and sums up the outcome."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from promptc.batch import Batch, BatchProgress, OnError, count_states, run_batch
from promptc.cli.group import PACK, Command, read_count, take, take_request
from promptc.cli.interaction import Progress
from promptc.cli.options import NO_CACHE, RenderRequest
from promptc.cli.terminal import STDIN, Reporter, escape_controls
from promptc.diag.findings import Diagnostic, DiskError, UsageError, show_plural, show_reason
from promptc.diag.typed import IO
from promptc.files.reading import follow_link, open_given
from promptc.workers import count_processors

_FAILED = 1
_ON_ERROR: tuple[OnError, ...] = ("quarantine", "skip", "fail")


@click.command(
    "batch",
    cls=Command,
    examples=[
        ("Render every state of a file, on all processors", "promptc batch packs/sentinel states.jsonl -o prompts.jsonl"),
        ("Go on after the machine went down", "promptc batch packs/sentinel states.jsonl -o prompts.jsonl --resume"),
        ("Stop at the first state that has no prompt", "promptc batch . states.jsonl -o prompts.jsonl --on-error fail"),
        ("Make the bodies of requests to a provider", "promptc batch . states.jsonl -o bodies.jsonl --format openai"),
    ],
)
@PACK
@click.argument("states", type=click.Path(allow_dash=True))
@click.option("--output", "-o", required=True, metavar="OUT", type=click.Path(), help="The file to write.")
@click.option("-j", "--jobs", callback=read_count, metavar="N", help="The number of processes. [one for each processor]")
@click.option(
    "--on-error", type=click.Choice(_ON_ERROR), default="quarantine", help="What to do with a state that has no prompt. [quarantine]"
)
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--force", is_flag=True, help="Replace OUT, or begin a run that was stopped again.")
@take(NO_CACHE)
@take_request
@click.pass_obj
def batch_command(
    reporter: Reporter,
    pack: str,
    states: str,
    output: str,
    jobs: int | None,
    on_error: OnError,
    resume: bool,
    force: bool,
    no_cache: bool,
    request: RenderRequest,
) -> int:
    """Render many states to a file of rows.

    Each line of STATES is a state as JSON, or {"id": ..., "state": ...}. Each line of OUT is the row of a state, in the same order: its
    prompt, its tokens, and what was cut. The rows are the same for any number of processes.

    A state without a prompt goes to a file beside OUT, such as out.quarantine.jsonl, with its findings. `skip` leaves it out, `fail` stops
    the run.

    OUT appears when all rows are there. Until then they are in OUT.part. If the run is stopped, even by a power cut, `--resume` goes on.

    Exit codes: 0 every state has a prompt, 1 some have none.
    """
    if resume and force:
        raise UsageError([Diagnostic("PC0720", "`--resume` continues a run, and `--force` starts it over", help="give one of the two")])
    batch = Batch(
        pack,
        follow_link(output),
        request.options,
        request.changes,
        request.models,
        on_error,
        "resume" if resume else "replace" if force else "refuse",
        jobs or count_processors(),
        not no_cache,
        request.tries,
    )
    _check_apart(batch, states)
    with open_states(states) as opened:
        name = "stdin" if states == STDIN else states
        return _look(reporter, batch, opened, name) if batch.is_resumed_whole else _run(reporter, batch, opened, name)


def _check_apart(batch: Batch, states: str) -> None:
    """Raise `UsageError` (PC0720) if the run would write to the file of the states."""
    written = [Path(one) for one in batch.files] if states != STDIN and Path(states).exists() else []
    same = next((one for one in written if one.exists() and one.samefile(states)), None)
    if same is not None:
        message = f"`-o {batch.output}` writes to `{same}`, which is the file of the states, too"
        raise UsageError([Diagnostic("PC0720", message, help="name another file after `-o`")])


def _look(reporter: Reporter, batch: Batch, states: IO[bytes], name: str) -> int:
    """Say that there is nothing to resume. The exit code is that of the run which wrote the rows."""
    reporter.say(f"`{escape_controls(batch.output)}` is whole: there is nothing to resume\n")
    with open_states(batch.output) as rows:
        failed = max(0, count_states(states, name) - count_states(rows, batch.output))
    reporter.say(_tell_failed(batch, failed))
    return _FAILED if failed else 0


def _run(reporter: Reporter, batch: Batch, states: IO[bytes], name: str) -> int:
    """Run the batch, with findings above the progress bar. If the run stops, say that its finished work is kept."""
    line = Progress(reporter, "rows")

    def note(done: BatchProgress, total: int) -> None:
        line.note(done.mark.offset, total, done.rendered + done.failed)

    def tell(found: Sequence[Diagnostic]) -> None:
        if found:
            line.close()
            reporter.report(found)

    done = None
    try:
        done = run_batch(batch, states, name, note=note, tell=tell)
    finally:
        line.close()
        if done is None and Path(batch.journal).exists():
            reporter.say("hint: what was done is kept; run the same command with `--resume` to continue\n")
    reporter.say(_sum_up(batch, done))
    return _FAILED if done.failed else 0


def _sum_up(batch: Batch, done: BatchProgress) -> str:
    told = f"{show_plural(done.rendered, 'row')} written to {escape_controls(batch.output)}\n"
    told += _tell_failed(batch, done.failed)
    if done.warned:
        told += f"{show_plural(done.warned, 'row')} with a warning, listed under `diagnostics`\n"
    return told


def _tell_failed(batch: Batch, failed: int) -> str:
    if not failed:
        return ""
    where = f"in {escape_controls(batch.aside)}" if Path(batch.aside).exists() else "left out"
    return f"{show_plural(failed, 'state')} without a prompt {'is' if failed == 1 else 'are'} {where}\n"


@contextmanager
def open_states(name: str) -> Iterator[IO[bytes]]:
    """Yield a file of states, or standard input for `-`, which stays open afterwards.

    Raises `DiskError` (PC0724) if the file cannot be read.
    """
    if name == STDIN:
        yield sys.stdin.buffer
        return
    try:
        opened = open_given(name)
    except (OSError, ValueError) as wrong:
        reason = show_reason(wrong)
        help = "name a file of JSON lines, or `-` for standard input"
        raise DiskError([Diagnostic("PC0724", f"cannot read the states {name}: {reason}", help=help)]) from wrong
    with opened:
        yield opened
