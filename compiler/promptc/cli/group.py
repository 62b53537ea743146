"""The commands for click: the group, whose modules are loaded when a command is called, how help reads, and options made from tables.

`take` and `take_request` give a command the options of `promptc.cli.options`; `describe_usage` words what click refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path

import click

from promptc.cache import find_exposed, find_folder, find_key_path
from promptc.cli.options import REQUEST, SETTINGS, OptionSpec, is_count, make_request
from promptc.cli.terminal import write_stdout
from promptc.diag.findings import Diagnostic, UsageError, suggest
from promptc.diag.typed import Any
from promptc.text.counters.bpe import VOCABULARIES, Vocabulary, vocabulary_path
from promptc.text.json import render_digest
from promptc.version import VERSION

COMMANDS: dict[str, str] = {
    "render": "Print the prompt that a pack makes of a state.",
    "explain": "Show what the prompt holds, what was cut and why.",
    "review": "Go through pending goldens, one by one.",
    "pending": "List the goldens that wait for a review.",
    "accept": "Accept pending goldens.",
    "reject": "Reject pending goldens.",
    "prune": "Remove the goldens that no case asks for.",
    "diff": "Show what differs between two prompts.",
    "check": "Look for what is wrong or doubtful in a pack.",
    "test": "Run cases and compare what comes out with their goldens.",
    "eval": "Evaluate an expression over a state.",
    "answer": "Check what a model answered, by the pack's own checks.",
    "apply": "Do an operation on a state: checkpoint, compress, clear ...",
    "map": "Print the block map of a pack: what each section is made of.",
    "rule": "Explain a diagnostic code.",
    "schema": "Print a JSON Schema.",
    "index": "Build, ask and judge the retrieval indexes of a pack.",
    "segments": "Import, export, list and check stored segments.",
    "init": "Make a new pack to start from.",
    "completion": "Print the completion script of a shell.",
}
_HOMES = {
    **dict.fromkeys(("explain", "eval"), "render"),
    **dict.fromkeys(("accept", "reject", "prune"), "pending"),
    **dict.fromkeys(("init", "map", "rule", "schema", "completion"), "pack_info"),
}
"""The modules of commands that stand in another's."""

JUDGE = "promptc.judge"
"""Under this name a context may hold what is called with that of a command before it is run, and raises where it may not be."""

_CONTEXT = {"terminal_width": 80, "max_content_width": 80}
_HELP = ("-h", "--help")
_OPTION_CELLS = 30

_ARGUMENTS = {
    "patterns": "Cases, such as tavern/*, or paths of goldens.",
    "old": "A pack, a state or a prompt.",
    "new": "Another one.",
    "cases": "Folders with cases, packs, or names of cases.",
    "packs": "Packs: their files or folders, or a folder with packs in it.",
    "pack": "A pack: its file, or a folder with a pack.yaml.",
    "state": "A state: a JSON file, or `-` for standard input.",
    "words": "What PACK can do (--list names it), then a JSON file or `-`.",
    "answered": "What PACK can do, if that asks; then the answer, or `-`.",
    "expression": "As in a pack, such as state.player.name.",
    "code": "The code of a finding, such as PC0531, or the first digits of a family: PC05.",
    "kind": "pack, state (of PACK), report, segments or case.",
    "folder": "Where to make it; its name becomes the pack's.",
    "shell": "bash, zsh or fish.",
    "index": "An index that the pack declares.",
    "query": "What is looked for.",
    "source": "A YAML file with segments, or a folder of Markdown and YAML files.",
    "queries": "A TSV file: query, expected (FILE#HEADING, || between any of several).",
}
LATER = frozenset("batch cache doctor serve tune".split())
"""Commands that docs/contract.md names among those that are not there yet."""

_ALIKE = 0.8
"""How alike a command must be to be meant: `tune` is not `prune`."""

PACK = click.argument("pack", type=click.Path())
STATE = click.argument("state", type=click.Path(allow_dash=True))


# --- options and arguments of commands ---


def take(*options: OptionSpec) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes options of a table those of a command, which is given their values by their keys."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = click.option(*_list_names(option), **_describe(option))(function)
        return function

    return add


def take_request(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a render; the function is given what they ask for as `request`."""

    @wraps(function)
    def call(*arguments: Any, **given: Any) -> Any:
        asked = {option.key: given.pop(option.key) for option in REQUEST}
        return function(*arguments, request=make_request(asked), **given)

    return take(*REQUEST)(call)


def read_count(ctx: click.Context, param: click.Parameter, given: str | None) -> int | None:
    """Reads a whole number from 1, or none where none was given."""
    if given is None:
        return None
    if not is_count(given):
        raise click.BadParameter(f"`{given}` is not a whole number from 1 to 999999999", ctx, param)
    return int(given)


def _make_settings() -> list[click.Option]:
    """For the help and the parser alone: `read_settings` reads their values."""
    return [click.Option(_list_names(option), expose_value=False, **_describe(option)) for option in SETTINGS]


def _list_names(option: OptionSpec) -> list[str]:
    return [option.short, option.name] if option.short else [option.name]


def _describe(option: OptionSpec) -> dict[str, Any]:
    """How click is told of it."""
    told: dict[str, Any] = {"help": option.help, "metavar": option.metavar, "multiple": option.is_multiple}
    if option.type == "flag":
        told["is_flag"] = True
    elif option.type == "count":
        told["callback"] = read_count
    elif option.choices or option.type == "path":
        told["type"] = click.Choice(option.choices) if option.choices else click.Path()
    return told


# --- commands, and how their help reads ---


class _Helping(click.Command):
    """Its help is asked for by the same names whatever the context: the option is made for the first one, and kept."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Both names."""
        return list(_HELP)


class Command(_Helping):
    """A command whose help ends in examples, and that takes the settings every command takes."""

    def __init__(self, *arguments: Any, examples: Sequence[tuple[str, str]] = (), **named: Any) -> None:
        named.setdefault("context_settings", _CONTEXT)
        super().__init__(*arguments, **named)
        self._examples = examples
        self._settings = _make_settings()

    def invoke(self, ctx: click.Context) -> Any:
        """Runs it as it was read, if whoever asked for it may (`JUDGE`)."""
        ctx.meta.get(JUDGE, _allow)(ctx)
        return super().invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own, the settings, then `--help`."""
        own = super().get_params(ctx)
        return [*own[: len(self.params)], *self._settings, *own[len(self.params) :]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its arguments, its own options, and the options of every command."""
        named = [
            (param.make_metavar(ctx).strip("[].").removesuffix("]").replace("]", ""), _ARGUMENTS[str(param.name)])
            for param in self.params
            if isinstance(param, click.Argument)
        ]
        if named:
            with formatter.section("Arguments"):
                formatter.write_dl(named)
        _write_options("Options", self.params, ctx, formatter)
        _write_options("Everywhere", [one for one in self.get_params(ctx) if one not in self.params], ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, each under what it is for."""
        _write_examples(self._examples, formatter)


class CommandGroup(_Helping, click.Group):
    """Commands, without loading one before it is called: `commands` gives for each name what it does, `home` the module that has it as
    `<name>_command`.
    """

    def __init__(
        self, *, commands: Mapping[str, str], home: Callable[[str], str], examples: Sequence[tuple[str, str]] = (), **named: Any
    ) -> None:
        named.setdefault("context_settings", _CONTEXT)
        super().__init__(**named)
        self._table = commands
        self._home = home
        self._examples = examples

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the help."""
        return list(self._table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, loaded now; None when there is none."""
        if name not in self._table:
            return None
        command: click.Command = getattr(import_module(self._home(name)), f"{name}_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As the library does it, with our words for an unknown one."""
        if args and args[0] not in self._table and not args[0].startswith("-"):
            asked = f"{ctx.info_name} {args[0]}" if ctx.parent is not None else args[0]
            raise UsageError([_refuse(asked, args[0], self._table)])
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own, the settings, then `--help`."""
        own = super().get_params(ctx)
        return [*own[: len(self.params)], *_make_settings(), *own[len(self.params) :]]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the table: nothing is loaded."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._table.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, each under what it is for."""
        _write_examples(self._examples, formatter)


def _allow(_: click.Context) -> None:
    """For whoever types a command."""


def _refuse(asked: str, word: str, known: Mapping[str, str]) -> Diagnostic:
    """What is said of a command that is not there."""
    there = "`promptc --help` lists those there are"
    if asked in LATER:
        return Diagnostic("PC0720", f"there is no command `{asked}` in this version yet", help=there)
    return Diagnostic("PC0720", f"there is no command `{asked}`", help=suggest(word, known, cutoff=_ALIKE) or there)


def _write_options(title: str, params: Sequence[click.Parameter], ctx: click.Context, formatter: click.HelpFormatter) -> None:
    options = [param for param in params if isinstance(param, click.Option)]
    rows = [row for option in options if (row := option.get_help_record(ctx)) is not None]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows, col_max=_OPTION_CELLS)


def _write_examples(examples: Sequence[tuple[str, str]], formatter: click.HelpFormatter) -> None:
    if examples:
        with formatter.section("Examples"):
            for purpose, line in examples:
                formatter.write(f"  # {purpose}\n  {line}\n")


def print_version(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
    """Prints promptc's version and every vocabulary's digest, or what is wrong with the table that lies there, and why nothing is
    cached where others could write the cache; then ends.
    """
    if is_asked and not ctx.resilient_parsing:
        write_stdout("".join(f"{line}\n" for line in _iter_lines()).encode())
        ctx.exit()


group = CommandGroup(
    name="promptc",
    commands=COMMANDS,
    home=lambda name: f"promptc.cli.commands.{_HOMES.get(name, name)}",
    help="""\
A compiler for prompts: of a pack (how a prompt is made) and a state (what is known now) it makes one prompt within its token budget.

PACK is a file or a folder with a pack.yaml, STATE a JSON file or `-` for standard input. What was asked for goes to standard output,
findings go to standard error.

Exit codes: 0 done, 1 findings, 2 usage, 3 the pack, a template or the state is invalid or cannot fit, 4 disk, 70 a bug in promptc,
130 interrupted.""",
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=print_version,
            help="Print the version and the vocabularies' digests.",
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
    """The finding of an unknown command or option, a missing argument or a value that does not do."""
    return Diagnostic("PC0720", _word_message(error), help=_suggest_name(error) or _point_to_help(error))


def _word_message(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        return f"there is no option `{error.option_name}`"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{_name(error.param)} is missing"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{_name(error.param)}: {_soften(error.message)}"
    return _soften(error.message)


def _suggest_name(error: click.UsageError) -> str:
    if isinstance(error, click.BadParameter) and error.param is not None and isinstance(error.param.type, click.Choice):
        return _keep_guess(suggest(error.message.partition("'")[2].partition("'")[0], list(error.param.type.choices)))
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return ""
    known = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts if name.startswith("--")]
    return _keep_guess(suggest(error.option_name, known))


def _keep_guess(suggestion: str) -> str:
    """A guess as it is; a list of what is known says less than the help."""
    return suggestion if suggestion.startswith("did you mean") else ""


def _point_to_help(error: click.UsageError) -> str:
    return f"`{error.ctx.command_path if error.ctx is not None else 'promptc'} --help` tells what it takes"


def _name(param: click.Parameter) -> str:
    return f"`{max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name}`"


def _soften(message: str) -> str:
    """The library's sentence, in the manner of all findings: no capital, no full stop."""
    return message[:1].lower() + message[1:].removesuffix(".")
