"""The actions of cases on the command line and the library: `CaseShell` runs them, and `CommandJudge` says which commands are allowed.

A case only looks (docs/explanation/trust.md, "Cases"): it writes no file, asks no server, and reads no variable but its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from io import BytesIO, TextIOWrapper
from posixpath import basename

import click
from click.core import ParameterSource

from promptc.api import Pack
from promptc.cli.run import run_judged
from promptc.cli.terminal import Reporter, render_diagnostics
from promptc.diag.findings import Diagnostic, PromptcError
from promptc.diag.typed import Any, Literal
from promptc.golden.cases.case import Case, CaseError, CaseOutcome, fail_case
from promptc.golden.cases.confine import confine
from promptc.golden.running.environment import WRITING, CaseEnvironment, prepare_case
from promptc.golden.running.resources import SuiteResources
from promptc.model.pack import MANIFEST
from promptc.operations.archive import render_archive
from promptc.operations.edits import make_diff
from promptc.operations.run import ask, restore_answers, run_operation

Holds = Literal["nothing", "file", "output", "named_file", "store", "compared"]
"""The kinds of values.

`nothing` is a value that is not opened, `file` a file or a folder, `output` a file that is written, or `-`. `named_file` is `NAME=FILE`,
`store` the address of a store with or without a name, and `compared` `REV:FILE` or a file.
"""

_RENDER: Mapping[str, Holds] = {
    "pack": "file",
    "state": "file",
    "models": "file",
    **dict.fromkeys(("budget", "model", "variant", "mood", "patch", "format", "set", "try", "no_cache"), "nothing"),
    "store": "store",
}
_STORE: Mapping[str, Holds] = {"pack": "file", "store": "nothing", "url": "store", "table": "nothing"}
_CHOSEN = ("variant", "mood", "patch")
_ASKED = ("index", "query", "wanted", "top", "floor", "as_json")
_INDEX: Mapping[str, Holds] = {"pack": "file", **dict.fromkeys(_ASKED, "nothing"), "state": "file"}


def _plain(*names: str) -> Mapping[str, Holds]:
    return dict.fromkeys(names, "nothing")


# Command → its parameters, by click's names, with the kinds of their values. All other commands and parameters are refused.
_ALLOWED: Mapping[str, Mapping[str, Holds]] = {
    "render": {**_RENDER, **_plain("only")},
    "batch": {**_RENDER, "states": "file", "output": "output", **_plain("jobs", "on_error", "resume", "force")},
    "explain": {**_RENDER, **_plain("why", "stages", "source", "sweep", "without", "as_json", "as_csv", "width")},
    "eval": {**_RENDER, **_plain("expression", "section", "item")},
    "diff": {**_RENDER, "old": "compared", "new": "compared", "states": "file", **_plain("stat", "style", "as_json", "width")},
    "matrix": {
        **dict.fromkeys(("pack", "cases", "against"), "file"),
        **_plain("try", "expression", "changed", "format", "width", "no_cache"),
    },
    "tune": {
        **{key: value for key, value in _RENDER.items() if key not in ("state", "no_cache")},
        "tuned": "file",
        **_plain("weights", "pins", "total", "most", "as_json", "width"),
    },
    "check": {"packs": "file", "models": "file", "store": "store", **_plain("model", "format", "is_diff", "sources", "strict")},
    "map": {"pack": "file", **_plain("format", "variant", "mood", "patch")},
    "schema": {"pack": "file", **_plain("kind")},
    "models": {"models": "file", **_plain("names", "format")},
    "cache": {
        **{key: value for key, value in _RENDER.items() if key not in ("state", "no_cache")},
        **dict.fromkeys(("turns", "session"), "file"),
        **_plain("carry", "gap", "min_reuse", "max_flaps", "max_cost", "no_trials", "as_json", "width"),
    },
    "calibrate": {**dict.fromkeys(("pack", "usage"), "file"), **_plain("quantile", "provider", "model", "day")},
    "rule": _plain("code", "is_all", "format"),
    "index query": _INDEX,
    "index eval": {**_INDEX, "queries": "file", **_plain("cap", "min_recall", "section", "columns", "floors")},
    "index status": _INDEX,
    "index build": _INDEX,
    "segments list": {**_STORE, **_plain("scope", "as_json")},
    "segments check": {**_STORE, **_plain("format")},
    "segments export": {**_STORE, "output": "file", **_plain("scope", "force")},
    "segments import": {**_STORE, "source": "file", **_plain("prune")},
    "answer": {
        **dict.fromkeys(("pack", "answered", "state", "schema", "models"), "file"),
        "answers": "named_file",
        **_plain("ask", "args", *_CHOSEN, "format"),
    },
    "apply": {
        **dict.fromkeys(("pack", "words", "archive", "models"), "file"),
        "output": "output",
        "answers": "named_file",
        **_plain(
            "is_list", "is_json", "args", "no_model", "requests", "format", "model", "strict", "restore", "if_state", "wait", "dry_run"
        ),
    },
}
_STDIN = "-"
_SERVER = "\0"
"""The stand-in for the path of a server; no path is equal to it."""

_SQLITE = "sqlite:"
_SEEN = frozenset(
    (
        *("APPDATA", "COLUMNS", "DATA_GYM_CACHE_DIR", "HOME", "LANG", "LANGUAGE", "LOCALAPPDATA", "NO_COLOR", "PATH", "PROMPTC_CACHE"),
        *("SYSTEMROOT", "TEMP", "TERM", "TIKTOKEN_CACHE_DIR", "TMP", "TMPDIR", "USERPROFILE", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
    )
)
"""The variables that a command of a case sees besides the case's own."""

_FIRST = frozenset(one.partition(" ")[0] for one in _ALLOWED)
_HELP = f"a case may call {', '.join(f'`{one}`' for one in _ALLOWED)}; an operation is a case of its own: `apply:`"
_LOOKS = "leave it out: a case writes no file, asks no server and reads only its own variables"


class CaseShell:
    """Runs what cases ask for. It has no state, so it can be pickled."""

    def render_diagnostics(self, found: Sequence[Diagnostic]) -> str:
        """Return findings as they are printed, without colours."""
        return render_diagnostics(found)

    def run_command(self, case: Case, there: CaseEnvironment) -> CaseOutcome:
        """Run the case's command line, and return its exit code, its findings and its output.

        The command sees none of the caller's variables but those that every program needs. Raises `CaseError` (PC0750, PC0751) for a
        command that a case must not run.
        """
        with _hiding_variables(case.given.get("environment", {})):
            return self._run(partial(run_judged, case.asked, judge=CommandJudge(case, there)))

    def _run(self, run: Callable[[Reporter], int]) -> CaseOutcome:
        reporter = _Recorder()
        printed = BytesIO()
        try:
            with contextlib.redirect_stdout(TextIOWrapper(printed, encoding="utf-8", write_through=True)) as stream:
                code = run(reporter)
                stream.flush()
                return CaseOutcome(code, tuple(reporter.found), text=printed.getvalue().decode("utf-8", "replace"))
        except CaseError:
            raise
        except PromptcError as error:
            return CaseOutcome(error.exit_code, error.diagnostics)

    def apply(self, pack: Pack, state: bytes, case: Case, answers: Mapping[str, str], name: str) -> CaseOutcome:
        """Run the operation of the case on a state that findings call `name`.

        In the outcome, `text` is the operation's message, and `messages` are the messages of its requests, each with the name of its ask.
        `state` is the new state, and `archive` the bytes of its archive files, one after another. Raises `PromptcError` if the operation
        fails.
        """
        operation, args = case.asked["operation"], case.asked.get("args", {})
        answers = restore_answers(pack, state, operation, args, answers, name=name)
        done = run_operation(pack, state, operation, args, answers, name=name)
        change = make_diff(pack, done, state, file=basename(name))
        return CaseOutcome(
            0,
            done.warnings,
            text=f"{done.said}\n" if done.said else "",
            messages=tuple(_iter_messages(pack, state, operation, args, answers)),
            state=done.value,
            archive=b"".join(map(render_archive, change.archived)),
            figures={"fallback": done.fallbacks},
        )

    def surround(self, case: Case, resources: SuiteResources) -> AbstractContextManager[CaseEnvironment]:
        """Return a context manager that sets up the circumstances of a case."""
        return prepare_case(case, resources)


class _Recorder(Reporter):
    """A reporter that collects findings instead of printing them to standard error."""

    found: list[Diagnostic]

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "found", [])

    def report(self, found: Iterable[Diagnostic]) -> None:
        self.found.extend(found)

    def say(self, text: str) -> None:
        """Ignore the message: hints are for the person who runs a command."""

    def render(self, found: Iterable[Diagnostic]) -> str:
        kept = list(found)
        self.found.extend(kept)
        return super().render(kept)


@contextlib.contextmanager
def _hiding_variables(own: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    for name in before.keys() - own.keys():
        if name not in _SEEN and not name.startswith("LC_"):
            del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(before)


class CommandJudge:
    """Judges a command of a case before it runs. Its call receives click's context of the parsed command.

    Raises `CaseError` for a command that a case must not run: PC0751 for the command or an option, PC0750 for a path outside the fence of
    its environment. Commands that write run only in a copy.
    """

    def __init__(self, case: Case, environment: CaseEnvironment) -> None:
        self._span = case.node.value["run"].span
        self._environment = environment
        self._is_copy = environment.root != case.root
        self._is_asked = False

    def judge_words(self, words: Sequence[str]) -> None:
        """Refuse a line whose first word is not an allowed command, before it is parsed. Not even its help is shown."""
        if words[0] not in _FIRST:
            raise self._refuse(words[0])

    def judge_end(self) -> None:
        """Refuse a line that ended before its command ran, as with `--help`: it has looked at nothing."""
        if not self._is_asked:
            raise fail_case("PC0751", "the line ends before its command is run: a case shows no help", self._span, help=_LOOKS)

    def _refuse(self, name: str) -> CaseError:
        return fail_case("PC0751", f"a case may not call `promptc {name}`", self._span, help=_HELP)

    def __call__(self, context: click.Context) -> None:
        """Judge the command and all values from its command line or from variables."""
        self._is_asked = True
        name = context.command_path.partition(" ")[2]
        allowed = _ALLOWED.get(name)
        if allowed is None or (name.split()[0] in WRITING and not self._is_copy):
            raise self._refuse(name)
        confine(".", self._environment.root, self._environment.fence, self._span)
        for parameter, value in context.params.items():
            if context.get_parameter_source(parameter) is ParameterSource.DEFAULT:
                continue
            if parameter not in allowed:
                option = next((max(one.opts, key=len) for one in context.command.params if one.name == parameter), parameter)
                raise fail_case("PC0751", f"a case may not call `promptc {name}` with `{option}`", self._span, help=_LOOKS)
            values = [str(one) for one in value] if isinstance(value, tuple | list) else [str(value)]
            for one in values if allowed[parameter] != "nothing" else ():
                self._judge_paths(_LISTS[allowed[parameter]](one))

    def _judge_paths(self, paths: Sequence[str]) -> None:
        for path in paths:
            if path == _STDIN:
                raise fail_case("PC0751", "a case has no standard input: `-` names none", self._span)
            if path == _SERVER:
                raise fail_case("PC0751", "a case asks no server: its stores are files", self._span, help="`sqlite:segments.db`")
            confine(path, self._environment.root, self._environment.fence, self._span)


def _list_files(url: str) -> tuple[str]:
    """Return the path in `sqlite:PATH` or `NAME=sqlite:PATH`, or `_SERVER` for another address."""
    named = url if url.startswith(_SQLITE) else url.partition("=")[2]
    return (named.removeprefix(_SQLITE) if named.startswith(_SQLITE) else _SERVER,)


_LISTS: Mapping[Holds, Callable[[str], Sequence[str]]] = {
    "file": lambda one: (one, f"{one}/{MANIFEST}") if one != _STDIN else (one,),
    "output": lambda one: (one,) if one != _STDIN else (),
    "named_file": lambda one: (one.partition("=")[2],),
    "compared": lambda one: (one, one.partition(":")[2] or one),
    "store": _list_files,
}


def _iter_messages(
    pack: Pack, state: bytes, operation: str, args: Mapping[str, Any], answers: Mapping[str, str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of each question, as it is asked after the earlier ones are answered."""
    given: dict[str, str] = {}
    while requests := [one for one in ask(pack, state, operation, args, given) if one.name not in given]:
        yield from ({"ask": requests[0].name, **message} for message in requests[0].prompt.messages)
        given[requests[0].name] = answers.get(requests[0].name, "")
