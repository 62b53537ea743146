"""Runs a command line and assigns an exit code to every way it can end.

`run_command` runs a command line that a person typed, `run_judged` the command line of a case.
"""

import os
from collections.abc import Callable, Sequence

from promptc.cli.options import read_render, read_settings
from promptc.cli.terminal import STDIN, Reporter, discard_output, escape_controls, write_stderr
from promptc.diag.findings import PromptcError, UsageError
from promptc.diag.typed import Any

BUG = 70
INTERRUPTED = 130
_COMPLETE = "_PROMPTC_COMPLETE"
_HOW_TO_REPORT = """\
    Please report it where you got promptc from: the command you ran, what `promptc --version` prints, the pack and the state
    if you may share them, and what the same command prints with `--traceback`.
"""


def run(given: Sequence[str]) -> int:
    """Run the command and return its exit code. Every failure is reported on standard error.

    The codes are 0 done, 1 findings, 2 usage, 3 an invalid pack, template or state or content that cannot fit, 4 disk, 70 a bug in promptc,
    130 interrupted, 143 terminated.
    """
    reporter = Reporter(read_settings(given))
    try:
        return _settle(reporter, lambda: run_command(given, reporter))
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as asked:  # raised on SIGTERM
        return int(asked.code or 0)
    except BrokenPipeError:
        discard_output()
        return 0


def _settle(reporter: Reporter, act: Callable[[], int]) -> int:
    """Run `act` and return its exit code; report a failure.

    Interrupts, requests to end and broken pipes propagate to the caller.
    """
    try:
        return act()
    except PromptcError as error:
        reporter.report(error.diagnostics)
        return error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        return _report_system(error, reporter)
    except Exception as error:  # noqa: BLE001  the only place: an exception that arrives here is a bug of promptc
        _report_bug(error, reporter)
        return BUG


def run_command(given: Sequence[str], reporter: Reporter) -> int:
    """Run the command and return its own exit code.

    Raises `PromptcError` if it fails, and `UsageError` if the command line itself is wrong.
    """
    command = read_render(given) if _COMPLETE not in os.environ else None
    if command is None:
        return _end_in_order(lambda: _run_any(given, reporter))
    from promptc.cli.request import run_render

    if command.writes_files:
        return _end_in_order(lambda: run_render(reporter, command))
    return run_render(reporter, command)


def _end_in_order(act: Callable[[], int]) -> int:
    """Run `act`, in which SIGTERM is a `SystemExit` with code 143. So every `finally` cleans up, and nothing stays half written.

    The code is 143, too, if a library takes the `SystemExit` for an interrupt or the end of its own loop.
    """
    import signal
    import threading

    asked: list[int] = []

    def leave(number: int, _: object) -> None:
        asked.append(128 + number)
        raise SystemExit(asked[0])

    before = signal.getsignal(signal.SIGTERM)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        return act()
    signal.signal(signal.SIGTERM, leave)
    try:
        code = act()
    except KeyboardInterrupt:
        if not asked:
            raise
        code = INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
    return asked[0] if asked else code


def run_judged(given: Sequence[str], reporter: Reporter, judge: Any) -> int:
    """Run the command of a case (`cli/shell.py`) through click and return its exit code.

    `judge` is called with the context of the parsed command before the command runs. It also judges the words before they are parsed, and
    the end of the run, and raises if the case must not do that.
    """
    judge.judge_words(given)
    code = _run_any(given, reporter, judge)
    judge.judge_end()
    return code


def _run_any(given: Sequence[str], reporter: Reporter, judge: Any = None) -> int:
    import click

    from promptc.cli.group import JUDGE, RUN_AGAIN, describe_usage, group

    if _COMPLETE in os.environ and judge is None:
        from promptc.cli.completion import answer_shell

        return answer_shell(group, os.environ[_COMPLETE])
    try:
        with group.make_context("promptc", list(given) or ["--help"], obj=reporter) as context:
            context.meta[RUN_AGAIN] = lambda command, act: _run_again(reporter, command, act)
            if judge is not None:
                context.meta[JUDGE] = judge
            return int(group.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.UsageError as error:
        raise UsageError([describe_usage(error)]) from error


def _run_again(reporter: Reporter, command: Any, act: Callable[[], int | None]) -> int:
    """Run a click command with `--watch`. Raises `UsageError` (PC0744) if the command must not run twice."""
    from promptc.cli.group import CHANGED
    from promptc.cli.interaction import watch_runs
    from promptc.cli.request import reuse_packs
    from promptc.diag.findings import Diagnostic

    params = command.params
    written = [one for one in map(params.get, ("output", "report", "redactions")) if one]
    written += [one.partition("=")[2] for one in params.get("reports", ())]
    once = next((one for one in params.values() if isinstance(one, str) and one not in written and _ends(one)), None)
    wrong = f"reads {'standard input' if once == STDIN else f'`{once}`'}, which ends" if once else ""
    help = f"name a file in place of `{once}`"
    if params.get("is_fix"):
        wrong, help = "changes what it watches with `--fix`", "leave `--fix` out: `--diff` shows what it would do"
    if wrong:
        raise UsageError([Diagnostic("PC0744", f"`promptc {command.info_name} --watch` {wrong}", help=help)])

    def run(changed: Sequence[str]) -> int:
        command.meta[CHANGED] = tuple(changed)
        return _settle(reporter, lambda: int(act() or 0))

    return reuse_packs(lambda: watch_runs(reporter, run, written))


def _ends(name: str) -> bool:
    """Return whether a file can be read only once, or has no content of its own: standard input, a pipe, a device."""
    from pathlib import Path

    return name == STDIN or (Path(name).exists() and not Path(name).is_file() and not Path(name).is_dir())


def _report_system(error: OSError, reporter: Reporter) -> int:
    """Report what the system refuses anywhere in a run, such as a name that is too long or one file more. Return the exit code."""
    import errno

    from promptc.diag.findings import Diagnostic, DiskError

    scarce = ("EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EAGAIN", "EBADF")
    if isinstance(error.filename, str) and error.strerror:
        message, help = f"cannot use `{error.filename[:200]}`: {error.strerror}", "give a path that exists and that you may use"
    elif isinstance(error, FileNotFoundError) and not _has_folder():
        message, help = "the current folder was removed", "change to a folder that exists: `cd /`"
    elif isinstance(error, FileNotFoundError) and "temporary" in str(error.strerror):
        message, help = str(error.strerror)[:200], "name a folder that exists and that you may write to: `TMPDIR=FOLDER`"
    elif errno.errorcode.get(error.errno or 0) in scarce:
        discard_output()  # what the system did not take would fail again at the end
        message, help = f"the system refuses: {error.strerror}", "free what it names, or raise the limit: `ulimit -a` shows the limits"
    else:
        _report_bug(error, reporter)
        return BUG
    failed = DiskError([Diagnostic("PC0154", message, help=help)])
    reporter.report(failed.diagnostics)
    if reporter.settings.with_traceback:
        import traceback

        write_stderr("".join(traceback.format_exception(error)))
    return failed.exit_code


def _has_folder() -> bool:
    try:
        os.getcwd()  # noqa: PTH109  pathlib takes longer to import than a render may
    except FileNotFoundError:
        return False
    return True


def _report_bug(error: Exception, reporter: Reporter) -> None:
    import json
    import traceback
    from pathlib import Path

    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}"[:400]
    place = f"{Path(last.filename).name}:{last.lineno}"
    trace = "".join(traceback.format_exception(error)) if reporter.settings.with_traceback else ""
    if reporter.settings.diagnostics == "json":
        write_stderr(json.dumps({"code": "bug", "level": "error", "message": what, "place": place, "traceback": trace or None}) + "\n")
    else:
        write_stderr(f"this is a bug in promptc, not in your pack or state: {escape_controls(what)} ({place})\n{_HOW_TO_REPORT}{trace}")
