"""A command line that cannot be read, as a finding."""

import click

from promptc.diag.findings import Diagnostic, suggest


def describe_usage(error: click.UsageError) -> Diagnostic:
    """The finding of an unknown command or option, a missing argument or a value that does not do."""
    return Diagnostic("PC0720", _find_message(error), help=_find_suggestion(error) or _point_to_help(error))


def _find_message(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        return f"there is no option `{error.option_name}`"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{_name(error.param)} is missing"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{_name(error.param)}: {_soften(error.message)}"
    return _soften(error.message)


def _find_suggestion(error: click.UsageError) -> str:
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
