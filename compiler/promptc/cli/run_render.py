"""What `promptc render` does, once its command line is read."""

from promptc.api import Pack, Prompt
from promptc.cli.asked import RenderAsked
from promptc.cli.compile_asked import compile_asked, load_state_file, open_pack
from promptc.cli.reporter import Reporter
from promptc.cli.streams import write_stdout
from promptc.pipeline import Outcome

_DOES_NOT_FIT = 3


def run_render(reporter: Reporter, given: RenderAsked) -> int:
    """Prints the prompt; the exit code. Raises `PromptcError`."""
    with open_pack(given.pack, is_cached=given.is_cached) as pack:
        return _render(reporter, pack, given)


def _render(reporter: Reporter, pack: Pack, given: RenderAsked) -> int:
    outcome = compile_asked(pack, load_state_file(pack, given.state, given.asked), given.asked)
    data = _encode(Prompt(outcome), given.only) if outcome.emitted is not None else b""
    if given.report is not None:
        _write_report(given.report, outcome)
    if outcome.emitted is None:
        return _tell_what_is_missing(reporter, outcome)
    if given.output is not None:
        from promptc.cli.write_file import write_file

        write_file(given.output, data)
    else:
        write_stdout(data)
    reporter.report(outcome.warnings)
    if given.only and not data.strip(b"[]\n"):
        reporter.say(f"nothing of {', '.join(given.only)} is in the prompt; `promptc explain ... --why {given.only[0]}` tells why\n")
    return 0


def _encode(prompt: Prompt, only: tuple[str, ...]) -> bytes:
    """The bytes to print: of the whole prompt, or of some sections."""
    if prompt.format == "text":
        return (prompt.find_section(*only) if only else prompt.text).encode()
    import json

    messages = prompt.find_messages(*only) if only else prompt.messages
    return (json.dumps(messages, ensure_ascii=False, indent=2) + "\n").encode()


def _write_report(path: str, outcome: Outcome) -> None:
    from promptc.cli.write_file import write_file
    from promptc.text.canonical import render_canonical_json

    write_file(path, f"{render_canonical_json(outcome.report)}\n".encode())


def _tell_what_is_missing(reporter: Reporter, outcome: Outcome) -> int:
    from promptc.cli.views.meter import render_meter

    reporter.report((*outcome.warnings, *outcome.errors))
    reporter.say("\n" + render_meter(outcome))
    return _DOES_NOT_FIT
