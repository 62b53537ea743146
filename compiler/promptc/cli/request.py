"""What `promptc render` does, once its command line is read."""

from promptc.api import Pack
from promptc.cli.asked import RenderAsked
from promptc.cli.compile_asked import compile_asked, load_state_file, open_pack
from promptc.cli.reporter import Reporter
from promptc.cli.terminal import write_stdout
from promptc.diag.findings import Diagnostic, UsageError
from promptc.diag.typed import Any
from promptc.diag.value import join_names
from promptc.model.messages import PROVIDERS
from promptc.pipeline import Outcome
from promptc.prompt import Prompt

_DOES_NOT_FIT = 3


def run_render(reporter: Reporter, given: RenderAsked) -> int:
    """Prints the prompt; the exit code. Raises `PromptcError`."""
    _check_asked(given)
    with open_pack(given.pack, is_cached=given.is_cached) as pack:
        return _render(reporter, pack, given)


def _check_asked(given: RenderAsked) -> None:
    """`UsageError` for options that do not go together (PC0708, PC0709)."""
    provider = given.asked.format if given.asked.format in PROVIDERS else None
    if provider is not None and given.only:
        help = "use `--format text` or `--format messages` with `--only`"
        raise UsageError([Diagnostic("PC0708", f"`--only` prints sections, and `--format {provider}` a whole request body", help=help)])
    if provider is None and given.model is not None:
        help = f"add `--format` with one of {join_names(PROVIDERS)}"
        raise UsageError([Diagnostic("PC0709", "`--model` stands in a request body, and no provider is asked for", help=help)])


def _render(reporter: Reporter, pack: Pack, given: RenderAsked) -> int:
    outcome = compile_asked(pack, load_state_file(pack, given.state, given.asked), given.asked)
    data, said = _encode(Prompt(outcome), given) if outcome.emitted is not None else (b"", ())
    if given.report is not None:
        _write_report(given.report, outcome)
    if outcome.emitted is None:
        return _tell_what_is_missing(reporter, outcome)
    if given.output is not None:
        from promptc.files.atomic import write_file

        write_file(given.output, data)
    else:
        write_stdout(data)
    reporter.report((*outcome.warnings, *said))
    if given.only and not data.strip(b"[]\n"):
        reporter.say(f"nothing of {join_names(given.only)} is in the prompt; `promptc explain ... --why {given.only[0]}` tells why\n")
    return 0


def _encode(prompt: Prompt, given: RenderAsked) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """The bytes to print: of the whole prompt, of some sections, or of a request body, with what was said while that was made."""
    if prompt.format == "text":
        return (prompt.find_section(*given.only) if given.only else prompt.text).encode(), ()
    if prompt.provider is None:
        return _encode_json(prompt.find_messages(*given.only) if given.only else prompt.messages), ()
    payload = prompt.build_payload(prompt.provider, given.model)
    return _encode_json(payload.body), payload.warnings


def _encode_json(value: Any) -> bytes:
    import json

    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _write_report(path: str, outcome: Outcome) -> None:
    from promptc.files.atomic import write_file
    from promptc.text.json import render_canonical_json

    write_file(path, f"{render_canonical_json(outcome.report)}\n".encode())


def _tell_what_is_missing(reporter: Reporter, outcome: Outcome) -> int:
    from promptc.cli.views.meter import render_meter

    reporter.report((*outcome.warnings, *outcome.errors))
    reporter.say("\n" + render_meter(outcome))
    return _DOES_NOT_FIT
