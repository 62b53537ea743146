"""What a case may have a command line do: look (docs/trust.md, "Cases")."""

from collections.abc import Callable, Mapping, Sequence

import click
from click.core import ParameterSource

from promptc.diag.typed import Literal
from promptc.golden.case import Case, CaseError, fail_case
from promptc.golden.confine import MANIFEST, confine
from promptc.golden.environment import WRITING, CaseEnvironment

Holds = Literal["nothing", "file", "output", "named_file", "store", "compared"]
"""What a value is: nothing that is opened; a file or folder; one that is made, or `-`; `NAME=FILE`; the address of a store, with a name or
without; `REV:FILE` or a file."""

_RENDER: Mapping[str, Holds] = {
    "pack": "file",
    "state": "file",
    **dict.fromkeys(("budget", "variant", "mood", "patch", "format", "set", "no_cache"), "nothing"),
    "store": "store",
}
_STORE: Mapping[str, Holds] = {"pack": "file", "store": "nothing", "url": "store", "table": "nothing"}
_ASKED = ("index", "query", "wanted", "top", "floor", "as_json")
_INDEX: Mapping[str, Holds] = {"pack": "file", **dict.fromkeys(_ASKED, "nothing"), "state": "file"}


def _plain(*names: str) -> Mapping[str, Holds]:
    return dict.fromkeys(names, "nothing")


# Command → its parameters, by click's names for them, with what their values are. What is not here is refused.
_ALLOWED: Mapping[str, Mapping[str, Holds]] = {
    "render": {**_RENDER, **_plain("model", "only")},
    "explain": {**_RENDER, **_plain("why", "stages", "source", "sweep", "without", "as_json", "width")},
    "eval": {**_RENDER, **_plain("expression", "section", "item")},
    "diff": {**_RENDER, "old": "compared", "new": "compared", "states": "file", **_plain("stat", "style", "as_json", "width")},
    "check": {"packs": "file", "store": "store", **_plain("format", "sources", "strict")},
    "map": {"pack": "file", **_plain("format", "variant", "mood", "patch")},
    "schema": {"pack": "file", **_plain("kind")},
    "rule": _plain("code", "is_all", "format"),
    "index query": _INDEX,
    "index eval": {**_INDEX, "queries": "file", **_plain("cap", "min_recall")},
    "index status": _INDEX,
    "index build": _INDEX,
    "segments list": {**_STORE, **_plain("scope", "as_json")},
    "segments check": {**_STORE, **_plain("format")},
    "segments export": {**_STORE, "output": "file", **_plain("scope", "force")},
    "segments import": {**_STORE, "source": "file", **_plain("prune")},
    "apply": {
        **dict.fromkeys(("pack", "words", "archive"), "file"),
        "output": "output",
        "answers": "named_file",
        **_plain(
            "is_list", "is_json", "args", "no_model", "requests", "format", "model", "strict", "restore", "if_state", "wait", "dry_run"
        ),
    },
}
_FIRST = frozenset(one.partition(" ")[0] for one in _ALLOWED)
_HELP = f"a case may call {', '.join(f'`{one}`' for one in _ALLOWED)}; an operation is a case of its own: `apply:`"
_LOOKS = "a case looks: it writes no file, asks no server and reads no variable but its own"


class CommandJudge:
    """Called with click's context of a command that was read and is about to be run. Raises `CaseError` for one that a case may not call:
    PC0751 for the command or one of its options, PC0750 for a path outside `there.fence`. What writes is run in a copy alone.
    """

    def __init__(self, case: Case, environment: CaseEnvironment) -> None:
        self._span = case.node.value["run"].span
        self._environment = environment
        self._is_copy = environment.root != case.root
        self._is_asked = False

    def judge_words(self, words: Sequence[str]) -> None:
        """Before they are read: the first word is a command of the list, and no option. Nothing of another is run, not even its help."""
        if words[0] not in _FIRST:
            raise self._refuse(words[0])

    def judge_end(self) -> None:
        """After all: a line that was read and ended ahead of its command, as `--help` does, has looked at nothing."""
        if not self._is_asked:
            raise fail_case("PC0751", "the line ends before its command is run: a case shows no help", self._span, help=_LOOKS)

    def _refuse(self, name: str) -> CaseError:
        return fail_case("PC0751", f"a case may not call `promptc {name}`", self._span, help=_HELP)

    def __call__(self, context: click.Context) -> None:
        """Judges the command and all that was given to it, by the command line or by a variable."""
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


_STDIN = "-"
_SERVER = "\0"
"""In place of a path: what no path is."""


def _find_file(url: str) -> tuple[str]:
    """Of `sqlite:PATH`, or of that behind a name."""
    named = url if url.startswith(_SQLITE) else url.partition("=")[2]
    return (named.removeprefix(_SQLITE) if named.startswith(_SQLITE) else _SERVER,)


_SQLITE = "sqlite:"
_LISTS: Mapping[Holds, Callable[[str], Sequence[str]]] = {
    "file": lambda one: (one, f"{one}/{MANIFEST}") if one != _STDIN else (one,),
    "output": lambda one: (one,) if one != _STDIN else (),
    "named_file": lambda one: (one.partition("=")[2],),
    "compared": lambda one: (one, one.partition(":")[2] or one),
    "store": _find_file,
}
