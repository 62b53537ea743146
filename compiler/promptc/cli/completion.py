"""`promptc completion`."""

import click
from click.shell_completion import get_completion_class

from promptc.cli.group import Command, group
from promptc.cli.terminal import write_stdout

_VARIABLE = "_PROMPTC_COMPLETE"
_SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    cls=Command,
    examples=[
        ("for bash, from ~/.bashrc", 'eval "$(promptc completion bash)"'),
        ("for fish", "promptc completion fish > ~/.config/fish/completions/promptc.fish"),
    ],
)
@click.argument("shell", metavar="SHELL", type=click.Choice(_SHELLS))
def command(shell: str) -> int:
    """Print the script that makes SHELL complete commands, options, files and codes."""
    found = get_completion_class(shell)
    assert found is not None
    write_stdout((found(group, {}, "promptc", _VARIABLE).source() + "\n").encode())
    return 0
