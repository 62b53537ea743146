"""`promptc answer`: checks a model's answer against the pack by the code of `promptc apply --answer`, and reports every finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote

import click

from promptc.api import Pack
from promptc.blockmap import make_choice
from promptc.cli.commands.apply import read_answer_file, read_answer_files, read_answers, read_args
from promptc.cli.commands.check import print_findings
from promptc.cli.group import ARG, PACK, Command, complete, take
from promptc.cli.options import MODELS, MOOD, PATCH, VARIANT, make_request
from promptc.cli.request import read_bytes
from promptc.cli.terminal import STDIN, Reporter, write_stdout
from promptc.diag.findings import Diagnostic, Span, UsageError, count_noun, join_names, suggest
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any
from promptc.frontend.json import MAX_STATE_BYTES, load_json
from promptc.frontend.state import StateSchema, load_state_schema
from promptc.model.messages import AnswerCheck, Ask, Operation
from promptc.model.pack import Response
from promptc.model.stages import RenderOptions
from promptc.operations.results import choose_operation
from promptc.operations.run import STANDS_IN, begin_operation, check_answer, check_args, check_asked, check_claims, run_operation
from promptc.passes.bind import bind
from promptc.passes.redact import restore
from promptc.text.counters.counter import Meter

_FILE = click.Path(readable=False, allow_dash=True)  # a file that cannot be read is reported when it is read
_FINDINGS = 1
_REFUSALS = ("PC0800", "PC0809")
"""The codes for an answer that an operation rejects, and for an answer that it does not ask for."""


@frozen
class _Asked:
    """The parsed command line. `answers` are the files with answers to other asks."""

    pack: str
    operation: str | None
    file: str
    ask: str | None
    state: str | None
    args: dict[str, Any]
    answers: dict[str, str]
    variants: dict[str, str]
    patches: tuple[str, ...]
    schema: str | None
    originals: Mapping[str, str] | None
    models: str | None

    @property
    def shown(self) -> str:
        """The name of the answer in findings."""
        return _name(self.file)


@frozen(eq=False)
class _TakenAnswer:
    """An answer that passes its check: its text and its value."""

    text: str
    value: Any


@click.command(
    "answer",
    cls=Command,
    examples=[
        ("Check the answer to a prompt", "promptc answer packs/tidepool answer.json"),
        ("Check it as another mood wants it", "promptc answer packs/tidepool answer.json --mood action"),
        ("Check the answer to an operation", "promptc answer packs/sentinel checkpoint digest.json"),
        ("Check its claims about the state, too", "promptc answer . checkpoint digest.json --state state.json"),
        ("Put back what `redact` hid, and print the answer", "promptc answer . answer.txt --restore redactions.json"),
        ("Print findings for a program", "promptc answer packs/tidepool answer.json --format json"),
    ],
)
@PACK
@click.argument("answered", shell_complete=complete, nargs=-1, metavar="[OPERATION] FILE", type=_FILE)
@click.option("--state", metavar="STATE", type=_FILE, help="The state that the question was made from. Needed to check claims.")
@click.option("--ask", shell_complete=complete, metavar="NAME", help="The question of OPERATION that FILE answers. [the first]")
@ARG
@click.option(
    "--answer",
    "answers",
    shell_complete=complete,
    multiple=True,
    metavar="NAME=FILE",
    help="The answer to an earlier question. [its `else`]",
)
@click.option("--schema", metavar="FILE", type=_FILE, help="Check against this JSON Schema instead of the pack's `response`.")
@click.option("--restore", metavar="MAP", type=_FILE, help="Put back what placeholders stand for: the file of `render --redactions`.")
@take(MODELS, VARIANT, MOOD, PATCH)
@click.option("--format", type=click.Choice(("text", "json", "sarif", "github")), default="text", help="How to print findings. [text]")
@click.pass_obj
def answer_command(reporter: Reporter, /, pack: str, answered: tuple[str, ...], format: str, **given: Any) -> int:
    """Check a model's answer, before your program uses it.

    Without OPERATION, promptc checks FILE against the `response` of PACK. With OPERATION, it checks FILE against the `check` of the
    operation's question: schema, headings, length and claims. JSON may stand in a Markdown fence.

    With `--restore`, promptc puts back what the placeholders of `redact` stand for, checks the result, and prints it.

    Each finding names its line in FILE. With `--state`, promptc also tries the operation in memory, and refuses an answer that the
    operation cannot use.

    Exit codes: 0 accepted, 1 refused.
    """
    asked = _read_asked(pack, answered, given)
    if asked.originals is not None and format != "text":
        raise UsageError([Diagnostic("PC0829", "`--restore` prints the answer, not its findings", help="leave out `--format`")])
    text, found = _check_response(asked) if asked.operation is None else _check_operation(asked)
    is_refused = any(one.level == "error" for one in found)
    if asked.originals is None or is_refused:
        print_findings(reporter, found, (), format)
    else:
        reporter.report(found)
        write_stdout(text.encode("utf-8", "surrogateescape"))
    return _FINDINGS if is_refused else 0


def _read_asked(pack: str, words: Sequence[str], given: dict[str, Any]) -> _Asked:
    if len(words) not in (1, 2):
        raise UsageError([Diagnostic("PC0720", "`promptc answer` takes PACK [OPERATION] FILE", help="see `promptc answer --help`")])
    operation, file = (None, words[0]) if len(words) == 1 else words
    names = ("ask", "args", "answers")
    chosen = next((name.rstrip("s") for name in names if given[name]), None)
    if operation is None and chosen is not None:
        raise UsageError([Diagnostic("PC0829", f"`--{chosen}` goes with an OPERATION", help="name the operation before the FILE")])
    request = make_request({"variant": given["variant"], "mood": given["mood"], "patch": given["patch"]})
    if operation is not None and (request.variants or request.patches or given["schema"]):
        help = "leave out `--variant`, `--mood`, `--patch` and `--schema`"
        raise UsageError([Diagnostic("PC0829", "an operation says itself what it asks for", help=help)])
    args, answers = read_args(given["args"]), read_answer_files(given["answers"])
    files = [file, given["state"], *answers.values()]
    if files.count(STDIN) > 1:
        raise UsageError([Diagnostic("PC0829", "standard input cannot be two files", help="name a file for one of them")])
    return _Asked(
        pack,
        operation,
        file,
        given["ask"],
        given["state"],
        args,
        answers,
        request.variants,
        request.patches,
        given["schema"],
        _read_originals(given["restore"]) if given["restore"] is not None else None,
        given["models"],
    )


def _read_originals(file: str) -> dict[str, str]:
    """Return the originals by their placeholders, from a file that `promptc render --redactions` wrote."""
    value = load_json(read_bytes(file, "the redactions", limit=MAX_STATE_BYTES), file).value
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        help = "name the file that `promptc render --redactions FILE` wrote"
        raise UsageError([Diagnostic("PC0829", f"`{file}` does not say what placeholders stand for", Span(file, 1, 1), help)])
    return value


def _read_text(asked: _Asked, check: AnswerCheck | None) -> str:
    """Return the answer, with its placeholders restored if that is requested."""
    text = read_answer_file(asked.file)
    if asked.originals is None:
        return text
    return restore(text, asked.originals, is_json=check is not None and check.schema is not None)


def _check_response(asked: _Asked) -> tuple[str, Sequence[Diagnostic]]:
    """Check the answer against the response of the pack; return its text and the findings."""
    pack = Pack.load(asked.pack, models=asked.models)
    asking = [one.name for one in pack.model.operations if one.asks]
    if asked.file in asking and not Path(asked.file).exists():
        help = f"`promptc answer {quote(asked.pack)} {quote(asked.file)} FILE`"
        raise UsageError([Diagnostic("PC0720", f"`{asked.file}` is an operation, and no FILE is named", help=help)])
    if asked.schema is not None:
        check = AnswerCheck(
            Span(asked.schema, 1, 1),
            load_state_schema(read_bytes(asked.schema, "the schema", limit=MAX_STATE_BYTES), asked.schema, Span(asked.schema, 1, 1)),
        )
    else:
        response = _find_response(pack, asked)
        if response is None and asked.originals is not None:
            return _read_text(asked, None), ()
        if response is None:
            raise _refuse(pack, asking)
        check = AnswerCheck(response.span, StateSchema(response.schema, (), b""))
    text = _read_text(asked, check)
    return text, check_answer(text, check, Meter(pack.model.counting.counter), asked.shown)[1]


def _refuse(pack: Pack, asking: Sequence[str]) -> UsageError:
    ways = [f"name the operation that asks, of {join_names(asking)}, before the file"] if asking else []
    ways += ["declare `response: schemas/turn.json`", "name a schema: `--schema turn.json`"]
    return UsageError([Diagnostic("PC0816", f"`{pack.name}` declares no `response`", help="; or ".join(ways))])


def _find_response(pack: Pack, asked: _Asked) -> Response | None:
    """Return the response of the case that the command line or the state chooses, or None if it has none.

    Without a choice, the default (or the first) case of each axis counts.
    """
    if asked.state is not None:
        state = pack.load_state(_read_state(asked.state), _name(asked.state))
        options = RenderOptions(variants=asked.variants, patches=asked.patches)
        choice = bind(pack.model, state, Meter(pack.model.counting.counter), options).choice
    else:
        choice = make_choice(pack.model, asked.variants, asked.patches)
    return pack.model.load_plan(choice).response


def _check_operation(asked: _Asked) -> tuple[str, Sequence[Diagnostic]]:
    pack = Pack.load(asked.pack, models=asked.models)
    operation = choose_operation(pack, asked.operation or "")
    check_args(operation, asked.args)
    check_asked(operation, asked.answers)
    ask = _choose_ask(operation, asked.ask)
    text = _read_text(asked, ask.check)
    value, found = check_answer(text, ask.check, Meter(pack.model.counting.counter), asked.shown)
    if found:
        return text, found
    if asked.state is None:
        return text, tuple(_iter_unjudged(ask))
    return text, _check_against_state(pack, operation, ask, asked, _TakenAnswer(text, value))


def _choose_ask(operation: Operation, name: str | None) -> Ask:
    known = [one.name for one in operation.asks]
    found = operation.find_ask(name) if name is not None else next(iter(operation.asks), None)
    if found is None:
        what = f"`{operation.name}` has no ask `{name}`" if known else f"`{operation.name}` asks nothing"
        raise UsageError(
            [Diagnostic("PC0806", what, operation.span, suggest(name or "", known) if known else "it has no answers to check")]
        )
    return found


def _check_against_state(pack: Pack, operation: Operation, ask: Ask, asked: _Asked, given: _TakenAnswer) -> Sequence[Diagnostic]:
    """Return the claims that do not hold, or if all hold, the reason why the operation refuses the answer.

    The operation is tried in memory.
    """
    raw, name = _read_state(str(asked.state)), _name(str(asked.state))
    answers = {**read_answers(asked.answers), ask.name: given.text}
    begun = begin_operation(pack, raw, operation.name, asked.args, answers, name=name)
    for earlier in operation.asks[: operation.asks.index(ask)]:
        if earlier.is_asked(begun.names):
            begun = begun.take(earlier.name, begun.answer(earlier.name).value)
    broken = check_claims(ask, given.value, begun.names) if ask.is_asked(begun.names) else ()
    if broken:
        return broken
    done = run_operation(pack, raw, operation.name, asked.args, answers, name=name)
    told = [one for one in done.warnings if one.code in _REFUSALS and f"`{ask.name}`" in one.message]
    if ask.name not in done.fallbacks:
        return told
    return [replace(one, message=one.message.replace(STANDS_IN, ""), level="error") for one in told]


def _iter_unjudged(ask: Ask) -> Iterator[Diagnostic]:
    claims = ask.check.claims if ask.check is not None else ()
    if claims:
        message = f"{count_noun(len(claims), 'claim')} of `{ask.name}` {'is' if len(claims) == 1 else 'are'} not tested: there is no state"
        yield Diagnostic("PC0817", message, claims[0].span, "name the state that the answer is about: `--state state.json`", "note")


def _read_state(file: str) -> bytes:
    return read_bytes(file, "the state", limit=MAX_STATE_BYTES)


def _name(file: str) -> str:
    return "stdin" if file == STDIN else file
