"""The commands as click sees them: a group that imports a module when its command is called, the layout of help, and options from tables.

`take` and `take_request` add the options of `promptc.cli.options` to a command; `describe_usage` words the errors of click.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import click

from promptc.cache import find_exposed, find_folder, find_key_path
from promptc.cli.options import REQUEST, SETTINGS, WATCH, OptionSpec, is_count, make_request
from promptc.cli.terminal import write_stdout
from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.typed import Any
from promptc.model.pack import MANIFEST
from promptc.text.counters.bpe import VOCABULARIES, Vocabulary, vocabulary_path
from promptc.text.json import render_digest
from promptc.version import VERSION

GROUPS: dict[str, dict[str, str]] = {
    "Write a pack": {
        "init": "Create a new pack to start from.",
        "render": "Print the prompt that a pack makes from a state.",
        "batch": "Render many states to a file of rows.",
        "explain": "Show what each section holds, what was cut and why.",
        "serve": "Show a prompt in your browser while its pack changes.",
        "lsp": "Serve an editor: findings, hovers and completion.",
        "check": "Find mistakes in a pack, for every possible state.",
        "fmt": "Lay out the YAML files of a pack.",
        "tune": "Find budgets that keep more, and write them to the pack.",
        "diff": "Compare two prompts.",
        "matrix": "Compare what every case comes to, section by section.",
        "map": "Print a table of the sections of a pack.",
        "eval": "Evaluate an expression over a state.",
        "models": "List the models that a budget can follow.",
        "cache": "Measure how much of a session a provider's cache reuses.",
        "calibrate": "Measure how far a provider's counts lie above ours.",
    },
    "Test it": {
        "test": "Run cases, and compare each result with its golden.",
        "review": "Step through changed goldens: accept or reject each.",
        "pending": "List the goldens that wait for review.",
        "accept": "Accept pending goldens.",
        "reject": "Discard pending goldens.",
        "prune": "Delete the goldens that no case uses any more.",
    },
    "Change a state": {
        "apply": "Run an operation: checkpoint, compress, clear ...",
        "answer": "Check a model's answer before your program uses it.",
    },
    "Manage stored texts": {
        "index": "Build, query and measure retrieval indexes.",
        "segments": "Import, export, list and check stored segments.",
    },
    "Get help": {
        "help": "Show the help of a command.",
        "rule": "Explain a diagnostic code, for example PC0531.",
        "schema": "Print a JSON Schema.",
        "completion": "Print the script that completes commands in a shell.",
    },
}
COMMANDS: dict[str, str] = {name: what for commands in GROUPS.values() for name, what in commands.items()}
_HOMES = {
    **dict.fromkeys(("explain", "eval"), "render"),
    "fmt": "check",
    "matrix": "test",
    "lsp": "serve",
    **dict.fromkeys(("accept", "reject", "prune", "review"), "pending"),
    **dict.fromkeys(("init", "map", "rule", "schema", "completion", "help", "models"), "pack_info"),
}
"""The modules of the commands that share the module of another command."""

JUDGE = "promptc.judge"
"""The key of a context's `meta` for a function that is called with the context of a command before it runs; it raises to refuse it."""

RUN_AGAIN = "promptc.run_again"
"""The key of a context's `meta` for the function that runs a command with `--watch`, given the context and the run."""

CHANGED = "promptc.changed"
"""The key of a context's `meta` for the paths whose change made the command run again."""

_CONTEXT = {"terminal_width": 80, "max_content_width": 80}
_HELP = ("-h", "--help")
_OPTION_CELLS = 24
_COMMAND_CELLS = max(map(len, COMMANDS))

_ARGUMENTS = {
    "patterns": "A case such as tavern/*, or the path of a golden or a folder.",
    "old": "A pack, a state or a prompt.",
    "new": "The one to compare it with.",
    "cases": "A folder with cases, a pack, or the name of a case.",
    "packs": "A pack, or a folder with packs in it.",
    "files": "A YAML file, or a folder with YAML files in it; or `-`.",
    "pack": "The pack: a folder with a pack.yaml, or the YAML file itself.",
    "state": "The state: a JSON file, or `-` for standard input.",
    "states": "A file with one state on each line as JSON, or `-`.",
    "shown": "JSON files with states, folders with cases, or names of cases.",
    "tuned": "JSON files, files of JSON lines, folders with cases, or names of cases.",
    "turns": "The states of the session in order: a JSON file a turn.",
    "usage": "A file of JSON lines, or `-`: a report and a usage in each.",
    "words": "An operation of PACK (see --list), then the state or `-`.",
    "answered": "The answer, or `-`. If an operation asked for it, name that first.",
    "expression": "An expression as in a pack, for example state.player.name.",
    "names": "A model such as gpt-4o, or the beginning of its name.",
    "code": "A code such as PC0531, or the first digits of a family: PC05.",
    "kind": "pack, state, report, segments or case.",
    "folder": "The folder to create. The pack gets its name.",
    "shell": "bash, zsh, fish or powershell.",
    "index": "An index that PACK declares.",
    "query": "The text to search for.",
    "source": "A YAML file with segments, or a folder of Markdown and YAML files.",
    "queries": "A TSV file with the columns query and expected. `expected` is FILE#HEADING, or several with `||` between them.",
    "asked": "A command, for example render or index build.",
}
LATER = frozenset(("doctor",))
"""The commands that docs/contract.md lists as not yet available."""

MEANT = {
    **dict.fromkeys(("compile", "build", "prompt", "generate"), "render"),
    **dict.fromkeys(("lint", "validate", "verify"), "check"),
    "format": "fmt",
    **dict.fromkeys(("new", "create"), "init"),
    **dict.fromkeys(("approve", "update"), "accept"),
    "compare": "diff",
    **dict.fromkeys(("why", "meter", "inspect"), "explain"),
    "version": "promptc --version",
}
"""The commands that other tools' names mean."""

_ALIKE = 0.8
"""The similarity that a known command needs to be suggested: `tune` is not `prune`."""


def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Complete a value that a pack, a state or a folder of cases offers. The completion module is imported only when a shell asks."""
    from promptc.cli.completion import list_values

    return list_values(ctx, param, incomplete)


def choose_pack_here(asked: str) -> str:
    """Return the current folder for the command `asked`, which names no pack. Raises `UsageError` (PC0720) if it has no manifest."""
    if not Path(MANIFEST).is_file():
        help = f"name a pack, for example `{asked} my-pack`, or change to the folder of one"
        raise UsageError([Diagnostic("PC0720", f"no pack is named, and the current folder has no `{MANIFEST}`", help=help)])
    return os.curdir


def _choose_pack(ctx: click.Context, param: click.Parameter, given: Any) -> Any:
    if given or ctx.resilient_parsing:
        return given
    found = choose_pack_here(ctx.command_path)
    return (found,) if param.nargs == -1 else found


PACK = click.argument("pack", type=click.Path())
PACK_OR_HERE = click.argument("pack", metavar="[PACK]", required=False, type=click.Path(), callback=_choose_pack)
"""A pack that may be omitted if it is the only argument; the default is the current folder."""

PACKS_OR_HERE = click.argument("packs", metavar="[PACK]...", nargs=-1, type=click.Path(), callback=_choose_pack)
FILES_OR_HERE = click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(allow_dash=True), callback=_choose_pack)
STATE = click.argument("state", type=click.Path(allow_dash=True))
ARG = click.option(
    "--arg", "args", shell_complete=complete, multiple=True, metavar="NAME=JSON", help="An argument of the operation. Repeat it for more."
)


# --- options and arguments of commands ---


def take(*options: OptionSpec) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds options of a table to a command. The command receives their values by their keys."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = click.option(*_list_names(option), **_describe(option))(function)
        return function

    return add


def take_request(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a render to a command, which receives their values as `request`."""

    @wraps(function)
    def call(*arguments: Any, **given: Any) -> Any:
        asked = {option.key: given.pop(option.key) for option in REQUEST}
        return function(*arguments, request=make_request(asked), **given)

    return take(*REQUEST)(call)


def read_count(ctx: click.Context, param: click.Parameter, given: str | None) -> int | None:
    """Parse a whole number from 1, or return None if none is given."""
    if given is None:
        return None
    if not is_count(given):
        raise click.BadParameter(f"`{given}` is not a whole number from 1 to 999999999", ctx, param)
    return int(given)


def _make_settings() -> list[click.Option]:
    """Return the settings as options for the help and the parser only: `read_settings` reads their values."""
    return [click.Option(_list_names(option), expose_value=False, **_describe(option)) for option in SETTINGS]


def _list_names(option: OptionSpec) -> list[str]:
    return [option.short, option.name] if option.short else [option.name]


def _describe(option: OptionSpec) -> dict[str, Any]:
    """Return the arguments that make an option in click."""
    told: dict[str, Any] = {"help": option.help, "metavar": option.metavar, "multiple": option.is_multiple}
    if option.is_declared:
        told["shell_complete"] = complete
    if option.type == "flag":
        told["is_flag"] = True
    elif option.type == "count":
        told["callback"] = read_count
    elif option.choices or option.type == "path":
        told["type"] = click.Choice(option.choices) if option.choices else click.Path()
    return told


# --- commands, and how their help reads ---


class _Helping(click.Command):
    """A command or a group, with the settings that every command accepts, and with examples at the end of its help.

    It has the same help options in every context: click makes the option once and caches it.
    """

    def __init__(self, *arguments: Any, examples: Sequence[tuple[str | None, str]] = (), **named: Any) -> None:
        named.setdefault("context_settings", _CONTEXT)
        super().__init__(*arguments, **named)
        self._examples = examples
        self._settings = _make_settings()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the own parameters, the settings, then `--help`."""
        own = super().get_params(ctx)
        return [*own[: len(self.params)], *self._settings, *own[len(self.params) :]]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, each under its purpose."""
        _write_examples(self._examples, formatter)

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the long and the short name of `--help`."""
        return list(_HELP)


class Command(_Helping):
    """A command that `JUDGE` may refuse and `--watch` repeats, and whose help describes its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words of the command. An option without its value knows then which command it is of.

        Raises `UsageError` (PC0720) for an empty path. It mostly comes from a variable of the shell that is not set, and does not mean the
        current folder, in which some commands write.
        """
        try:
            words, _, _ = self.make_parser(ctx).parse_args(list(args))
            for param in self.params:
                word = words.get(str(param.name))
                if isinstance(param.type, click.Path) and "" in (word if isinstance(word, tuple | list) else (word,)):
                    message = f"{_name(param)} is empty"
                    raise UsageError([Diagnostic("PC0720", message, help="name a file or a folder; `.` is the current folder")])
            return super().parse_args(ctx, args)
        except click.BadOptionUsage as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command if the judge of the context (`JUDGE`) allows it; with `--watch`, repeatedly."""
        ctx.meta.get(JUDGE, _allow)(ctx)
        run = partial(super().invoke, ctx)
        return ctx.meta[RUN_AGAIN](ctx, run) if ctx.params.pop(WATCH.key, False) else run()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's arguments, its own options, and a pointer to the options of every command."""
        named = [
            (param.make_metavar(ctx).strip("[].").removesuffix("]").replace("]", ""), _describe_argument(param))
            for param in self.params
            if isinstance(param, click.Argument)
        ]
        if named:
            with formatter.section("Arguments"):
                formatter.write_dl(named)
        _write_options(self.params, ctx, formatter)
        _point_to_settings(formatter)


def _describe_argument(param: click.Argument) -> str:
    told = _ARGUMENTS[str(param.name)]
    return f"{told} [the current folder]" if param.callback is _choose_pack else told


class CommandGroup(_Helping, click.Group):
    """A group that imports a command only when it is called.

    `commands` maps each name to a summary. `home` returns the module that has the command as `<name>_command`.
    """

    def __init__(self, *, commands: Mapping[str, str], home: Callable[[str], str], **named: Any) -> None:
        super().__init__(**named)
        self._table = commands
        self._home = home

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(self._table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return the command of that name, or None if there is no such command."""
        if name not in self._table:
            return None
        command: click.Command = getattr(import_module(self._home(name)), f"{name}_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as click does. Raises `UsageError` (PC0720) if it is unknown, with promptc's own wording."""
        if args and args[0] not in self._table and not args[0].startswith("-"):
            asked = f"{ctx.info_name} {args[0]}" if ctx.parent is not None else args[0]
            raise UsageError([refuse(asked, args[0], self._table)])
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete a command from the table, without an import of the command."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=what) for name, what in self._table.items() if name.startswith(incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands from the table, without importing them. Only the top group explains the options of every command."""
        groups = GROUPS if self._table is COMMANDS else {"Commands": self._table}
        for title, commands in groups.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_spacing=2 + _COMMAND_CELLS - max(map(len, commands)))
        if ctx.parent is None:
            _write_options(self.get_params(ctx), ctx, formatter)
        else:
            _point_to_settings(formatter)


def _allow(_: click.Context) -> None:
    """Allow every command, as for a person at a terminal."""


def refuse(asked: str, word: str, known: Mapping[str, str] = MappingProxyType({})) -> Diagnostic:
    """Return the finding for an unknown command. `word` is the part of it that is not among the `known` ones."""
    there = "`promptc help` lists the commands"
    if asked in LATER:
        return Diagnostic("PC0720", f"this version has no command `{asked}` yet", help=there)
    meant = MEANT.get(asked, "")
    if re.fullmatch(r"(?i)PC\d{4}", asked):
        there = f"`promptc rule {asked.upper()}` explains that code"
    elif meant:
        there = f"did you mean `{meant}`?"
    return Diagnostic("PC0720", f"there is no command `{asked}`", help=suggest(word, known, cutoff=_ALIKE) or there)


def _write_options(params: Sequence[click.Parameter], ctx: click.Context, formatter: click.HelpFormatter) -> None:
    options = [param for param in params if isinstance(param, click.Option)]
    rows = [row for option in options if (row := option.get_help_record(ctx)) is not None]
    if rows:
        with formatter.section("Options"):
            formatter.write_dl(rows, col_max=_OPTION_CELLS)


def _point_to_settings(formatter: click.HelpFormatter) -> None:
    """Write where the options of every command are explained; listing them here would drown the command's own."""
    with formatter.section("Global options"):
        names = ", ".join(option.name for option in SETTINGS)
        formatter.write(f"  {names}, --help: see `promptc help`.\n")


def _write_examples(examples: Sequence[tuple[str | None, str]], formatter: click.HelpFormatter) -> None:
    if examples:
        with formatter.section("Examples"):
            for purpose, line in examples:
                formatter.write(f"  # {purpose}\n  {line}\n" if purpose else f"  {line}\n")


def print_version(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
    """Print promptc's version and the digest of every vocabulary, then exit.

    A vocabulary table that is missing or not the one that was shipped is reported in place of its digest. A line for each cache folder that
    others can write says that the cache is off.
    """
    if is_asked and not ctx.resilient_parsing:
        write_stdout("".join(f"{line}\n" for line in _iter_lines()).encode())
        ctx.exit()


group = CommandGroup(
    name="promptc",
    commands=COMMANDS,
    home=lambda name: f"promptc.cli.commands.{_HOMES.get(name, name)}",
    help="""\
promptc makes a prompt from a pack and a state, and keeps it within a token budget.

A pack is a folder with a pack.yaml: it says which sections a prompt has, and what to cut first. A state is a JSON file: it says what is
known now. The prompt goes to standard output. Errors and warnings go to standard error.

Exit codes: 0 done, 1 findings, 2 wrong usage, 3 the pack or state is invalid or does not fit, 4 a file cannot be read or written,
70 a bug in promptc, 130 interrupted.""",
    examples=[
        ("Create a pack, and look at its first prompt", "promptc init my-pack"),
        (None, "promptc render my-pack my-pack/state.json"),
        (None, "promptc explain my-pack my-pack/state.json"),
        ("Read more about a command, or about an error", "promptc help render"),
        (None, "promptc rule PC0531"),
    ],
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=print_version,
            help="Print the version, and the digests of the vocabularies.",
        )
    ],
)


def _iter_lines() -> Iterator[str]:
    yield f"promptc {VERSION}"
    for name, vocabulary in VOCABULARIES.items():
        yield f"{name} {_read_digest(name, vocabulary)}"
    folders = (find_folder(), find_key_path())
    exposed = [find_exposed(folder) for folder in folders if folder] if all(folders) else []
    yield from (f"cache off: others can write `{one}`; `chmod go-w` mends that" for one in dict.fromkeys(exposed) if one)


def _read_digest(name: str, vocabulary: Vocabulary) -> str:
    try:
        found = render_digest(Path(vocabulary_path(name)).read_bytes())
    except OSError:
        return "missing"
    return f"sha256:{vocabulary.sha256}" if found == f"sha256:{vocabulary.table}" else f"{found} (another was shipped)"


# --- what click refuses ---


def describe_usage(error: click.UsageError) -> Diagnostic:
    """Return the finding for an unknown command or option, a missing argument or an invalid value."""
    return Diagnostic("PC0720", _word_message(error), help=_suggest_name(error) or _point_to_help(error))


def _word_message(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        return f"there is no option `{error.option_name}`"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{_name(error.param)} is missing"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{_name(error.param)}: {_soften(error.message)}"
    if isinstance(error, click.BadOptionUsage) and error.ctx is not None and "requires" in error.message:
        option = next((one for one in error.ctx.command.get_params(error.ctx) if error.option_name in one.opts), None)
        return f"`{error.option_name}` needs a value: `{error.option_name} {option.make_metavar(error.ctx)}`" if option else error.message
    if error.ctx is not None and (extra := error.message.partition("unexpected extra argument")[2]):
        takes = " ".join(one for one in error.ctx.command.collect_usage_pieces(error.ctx) if one != "[OPTIONS]")
        return f"`{extra.partition('(')[2].rstrip(')')}` is too much: `{error.ctx.command_path}` takes {takes or 'options alone'}"
    return _soften(error.message)


def _suggest_name(error: click.UsageError) -> str:
    if isinstance(error, click.BadParameter) and error.param is not None and isinstance(error.param.type, click.Choice):
        return _keep_guess(suggest(error.message.partition("'")[2].partition("'")[0], list(error.param.type.choices)))
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return ""
    command, root = error.ctx.command, error.ctx.find_root().command
    for name in ("render", "explain", "check", "test"):
        other = root.get_command(error.ctx, name) if isinstance(root, CommandGroup) else None
        if other is not None and error.option_name in _list_options(other, error.ctx):
            return f"it is an option of `promptc {name}`; `{error.ctx.command_path} --help` lists those of this command"
    return _keep_guess(suggest(error.option_name, _list_options(command, error.ctx)))


def _list_options(command: click.Command, ctx: click.Context) -> list[str]:
    return [name for param in command.get_params(ctx) for name in param.opts if name.startswith("--")]


def _keep_guess(suggestion: str) -> str:
    """Return a single guess, or nothing for a list of known names: the help says more than the list."""
    return suggestion if suggestion.startswith("did you mean") else ""


def _point_to_help(error: click.UsageError) -> str:
    return f"`{error.ctx.command_path if error.ctx is not None else 'promptc'} --help` says what it accepts"


def _name(param: click.Parameter) -> str:
    return f"`{max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name}`"


def _soften(message: str) -> str:
    """Return click's sentence in the style of all findings: no capital, no full stop."""
    return message[:1].lower() + message[1:].removesuffix(".")
