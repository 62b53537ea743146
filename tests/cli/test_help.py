"""`--help` of every command is a golden, fits 80 columns, and ends in examples that the command line can read."""

import re
import shlex

import click
import pytest

from promptc.cli.group import COMMANDS, LATER, MEANT, Command, CommandGroup, group

_EXAMPLE = re.compile(r"^  ((?:jq \S+ \S+ \| )?promptc .*)$", re.MULTILINE)


def _list_commands(group=group, before=()):
    """Every command as its words, those inside others too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        words, found = (*before, name), group.get_command(context, name)
        yield " ".join(words)
        if isinstance(found, click.Group):
            yield from _list_commands(found, words)


ALL = tuple(_list_commands())


@pytest.mark.parametrize("command", [*ALL, ""])
def test_help_is_the_golden(command, run, golden):
    done = run(*command.split(), "--help")
    assert done.code == 0 and not done.err
    assert max(map(len, done.out.splitlines())) <= 80
    golden(f"help_{command.replace(' ', '_') or 'promptc'}.txt", done.out)


def test_no_command_shows_the_help(run):
    assert run() == run("--help") == run("-h") == run("help")


@pytest.mark.parametrize("command", ALL)
def test_help_of_a_command_is_its_help(command, run):
    assert run("help", *command.split()) == run(*command.split(), "--help")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("help rendr", ("`rendr`", "did you mean `render`?")),
        ("help index biuld", ("`index biuld`", "did you mean `build`?")),
        ("help render more", ("`render more`", "`promptc help` lists the commands")),
        ("help doctor", ("this version has no command `doctor` yet",)),
        ("lint", ("did you mean `check`?",)),
        ("serve pack --budget 3", ("there is no option `--budget`", "an option of `promptc render`", "promptc serve --help` lists")),
        ("index build . --set a=1", ("there is no option `--set`", "promptc index build --help` lists")),
        ("version", ("did you mean `promptc --version`?",)),
        ("pc0531", ("`promptc rule PC0531` explains",)),
    ],
)
def test_a_command_that_is_not_there(words, says, run):
    done = run(*words.split())
    assert done.code == 2 and not done.out
    assert all(one in done.err for one in says), done.err


def test_what_other_tools_say_names_our_commands():
    assert {MEANT[word].split()[0] for word in MEANT} <= {*COMMANDS, "promptc"}
    assert not set(MEANT) & {*COMMANDS, *LATER}


@pytest.mark.parametrize("command", ALL)
def test_the_examples_of_the_help_can_be_read(command, run):
    """Parsed, not run: every option and argument in them is known."""
    lines = _EXAMPLE.findall(run(*command.split(), "--help").out.partition("\nExamples:\n")[2])
    assert lines
    for line in lines:
        found, context, rest = group, click.Context(group), _split(line)
        while isinstance(found, click.Group):
            name, found, rest = found.resolve_command(context, rest)
            assert found is not None
            made = found.make_context(name, list(rest), parent=context, resilient_parsing=True)
            context, rest = made, list(rest)


@pytest.mark.parametrize("made", [Command("one"), CommandGroup(name="some", commands={}, home="")])
def test_what_asks_for_help_is_called_the_same_whoever_asked_first(made):
    """click keeps the option that the first context made: one without our settings would take `-h` from every help after it."""
    for context in (click.Context(made), click.Context(made, help_option_names=["--aid"])):
        assert made.get_help_option(context).opts == ["-h", "--help"]


def _find_command(words):
    found = group
    for word in words:
        found = found.get_command(click.Context(found), word)
    return found


def _split(line):
    """The arguments of the first `promptc` in a line of shell."""
    words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
    words = shlex.split(line) if not set(words) & {"|", ">", "&&"} else words
    after = words[words.index("promptc") + 1 :]
    return after[: next((at for at, word in enumerate(after) if word in ("|", ">", "&&")), len(after))]


def test_every_command_is_listed_and_can_be_loaded():
    context = click.Context(group)
    for name in COMMANDS:
        found = group.get_command(context, name)
        assert found is not None and found.name == name and found.help
    assert group.get_command(context, "nothing") is None


def test_every_option_says_what_it_is_for():
    context = click.Context(group)
    commands = [group, *(_find_command(words.split()) for words in ALL)]
    assert all(param.help for found in commands for param in found.get_params(context) if isinstance(param, click.Option))
