"""`promptc render`, as the library that reads command lines knows it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache

import click

from promptc.api import Pack
from promptc.cli.findings import Reporter
from promptc.cli.group import NO_CACHE, PACK, STATE, Command, read_count, takes_choice
from promptc.cli.request import RenderAsked, RenderRequest, compile_asked, find_selected, load_state_file, open_pack, run_render
from promptc.cli.terminal import find_width, write_stdout
from promptc.cli.views.drawing import Page
from promptc.diag.findings import Diagnostic, PromptcError, UsageError, count_noun
from promptc.model.state import State
from promptc.pipeline import Outcome
from promptc.text.json import render_canonical_json

_DOES_NOT_FIT = 3
_RANGE = re.compile(r"([1-9][0-9]{0,8}):([1-9][0-9]{0,8}):([1-9][0-9]{0,8})")
_LINES = re.compile(r"(?:(?P<message>0|[1-9][0-9]{0,8}):)?(?P<first>[1-9][0-9]{0,8})(?:-(?P<last>[1-9][0-9]{0,8}))?")
_NAME_MESSAGE = "such as `--source 0:12` for line 12 of the first message"
_MOST_LINES = 1000
_ALL = "all"
_MOST_POINTS = 1000


@click.command(
    "render",
    cls=Command,
    examples=[
        ("the prompt, as the pack says", "promptc render packs/sentinel state.json"),
        ("as messages, with an account of every token", "promptc render . state.json --format messages --report report.json"),
        ("the body of a request, ready to send", "promptc render . state.json --format anthropic --model claude-opus-5-5"),
        ("a smaller budget, another mood, a state from a pipe", "jq .last log.json | promptc render . - --budget 4000 --mood action"),
        ("one value of the state changed, into a file", "promptc render . state.json --set '/input=\"Why?\"' -o prompt.txt"),
    ],
)
@PACK
@STATE
@takes_choice
@click.option("--model", metavar="NAME", help="The model a provider's request names, with --format PROVIDER.")
@click.option("--only", multiple=True, metavar="SECTION", help="Print this section alone, of the whole render; may be given again.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write the prompt to FILE, whole or not at all.")
@click.option("--report", metavar="FILE", type=click.Path(), help="Write the report (JSON); also when the prompt does not fit.")
@NO_CACHE
@click.pass_obj
def render_command(
    reporter: Reporter,
    pack: str,
    state: str,
    asked: RenderRequest,
    model: str | None,
    only: tuple[str, ...],
    output: str | None,
    report: str | None,
    no_cache: bool,
) -> int:
    """Print the prompt that PACK makes of STATE.

    Text, a JSON array of messages, or the JSON body of a request to a provider. Nothing is printed when anything is wrong; when the
    content does not fit, the context meter on standard error shows what takes the room.
    """
    return run_render(reporter, RenderAsked(pack, state, asked, only, output, report, not no_cache, model))


class _Explain(Command):
    """`--sweep` takes a range, or nothing."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """A `--sweep` that no range follows means all budgets that tell something."""
        after = [*args[1:], ""]
        marked = [f"{one}={_ALL}" if one == "--sweep" and ":" not in after[at] else one for at, one in enumerate(args)]
        return super().parse_args(ctx, marked)


@click.command(
    "explain",
    cls=_Explain,
    examples=[
        ("the context meter: what each section holds, and every cut", "promptc explain packs/sentinel state.json"),
        ("everything that happened to one item, or to one section", "promptc explain packs/sentinel state.json --why recent/b233"),
        ("how a section came from its list to its items", "promptc explain packs/sentinel state.json --stages recent"),
        ("which template line and which keys of the state made line 12", "promptc explain packs/sentinel state.json --source 12"),
        ("which budget holds what", "promptc explain packs/sentinel state.json --sweep"),
        ("what a section costs the others", "promptc explain packs/sentinel state.json --without injected"),
    ],
)
@PACK
@STATE
@takes_choice
@click.option("--why", metavar="SECTION/ITEM", help="The whole story of one item, or of a section.")
@click.option("--stages", metavar="SECTION", help="Each stage of a section: what passed and what was left out.")
@click.option("--source", metavar="[MESSAGE:]N[-M]", help="What made line N of the output: template lines and keys of the state.")
@click.option("--sweep", metavar="[MIN:MAX:STEP]", help="What each section holds at each budget; all that tell something, or a range.")
@click.option("--without", multiple=True, metavar="SECTION", help="The render with and without a section; may be given again.")
@click.option("--json", "as_json", is_flag=True, help="Print the report, or what the other options ask for, as JSON.")
@click.option("--width", callback=read_count, metavar="N", help="Columns to use; the terminal's, else 80.")
@NO_CACHE
@click.pass_obj
def explain_command(
    reporter: Reporter,
    pack: str,
    state: str,
    asked: RenderRequest,
    why: str | None,
    stages: str | None,
    source: str | None,
    sweep: str | None,
    without: tuple[str, ...],
    as_json: bool,
    width: int | None,
    no_cache: bool,
) -> int:
    """Show what the prompt that PACK makes of STATE holds, what was cut and why.

    Also of a prompt that does not fit: then it shows what was tried, and how many tokens are missing.
    """
    _check_alone({"--why": why, "--stages": stages, "--source": source, "--sweep": sweep, "--without": without})
    with open_pack(pack, is_cached=not no_cache) as loaded:
        loaded_state = load_state_file(loaded, state, asked)
        page = Page(as_json, width or find_width(), reporter.choose_paint(sys.stdout))
        if sweep is not None:
            return _show_sweep(loaded, loaded_state, asked, sweep, page)
        outcome = compile_asked(loaded, loaded_state, asked)
        reporter.report(outcome.errors)
        if why is not None:
            _show_why(outcome, why, page)
        elif stages is not None:
            _show_stages(outcome, stages, page)
        elif source is not None:
            _show_source(outcome, source, page)
        elif without:
            outcome = _show_without(outcome, compile_asked(loaded, loaded_state, asked, without=without), without, page)
        else:
            _show_meter(outcome, page)
            reporter.report(outcome.warnings)
    return 0 if outcome.emitted is not None else _DOES_NOT_FIT


def _check_alone(views: Mapping[str, object]) -> None:
    given = [name for name, value in views.items() if value]
    if len(given) > 1:
        raise UsageError([Diagnostic("PC0721", f"`{given[0]}` and `{given[1]}` show different things", help="ask for one at a time")])


def _show_meter(outcome: Outcome, page: Page) -> None:
    from promptc.cli.views.meter import render_meter

    if page.as_json:
        write_stdout(f"{render_canonical_json(outcome.report)}\n".encode())
    else:
        page.show(outcome, render_meter)


def _show_why(outcome: Outcome, address: str, page: Page) -> None:
    from promptc.cli.views.story import describe_section, list_histories, render_histories

    section, slash, item = address.partition("/")
    selected = find_selected(outcome, section)
    stories = list_histories(outcome, selected, item) if slash else [describe_section(outcome, selected)]
    page.show(stories, render_histories)


def _show_stages(outcome: Outcome, section: str, page: Page) -> None:
    from promptc.cli.views.story import find_stages, has_pipeline, render_stages

    selected = find_selected(outcome, section)
    if has_pipeline(selected):
        page.show(find_stages(outcome, selected), render_stages)
    else:
        _show_why(outcome, section, page)


def _show_source(outcome: Outcome, given: str, page: Page) -> None:
    """Nothing for what does not fit: there is no output."""
    from promptc.cli.views.source import find_lines, render_lines
    from promptc.explain.output import LineTracer

    message, lines = _read_lines(given)
    if outcome.emitted is None:
        return
    tracer = LineTracer(outcome.fitted, outcome.emitted.parts)
    if (message is None) != (outcome.report["format"] == "text"):
        why, help = ("names a message of a text", "such as `--source 12`") if message is not None else ("names no message", _NAME_MESSAGE)
        raise UsageError([Diagnostic("PC0721", f"`--source {given}` {why}", help=help)])
    _check_there(given, message, lines[-1], tracer.count_messages(), tracer.count_lines(message or 0))
    page.show(find_lines(outcome, tracer, message or 0, lines), render_lines)


def _check_there(given: str, message: int | None, last: int, messages: int, lines: int) -> None:
    """Raises `UsageError` for what is behind the end."""
    if message is not None and message >= messages:
        there, noun = messages, "message"
    elif last > lines:
        there, noun = lines, "line"
    else:
        return
    raise UsageError(
        [
            Diagnostic(
                "PC0721", f"`--source {given}` is behind the end", help=f"there {'is' if there == 1 else 'are'} {count_noun(there, noun)}"
            )
        ]
    )


def _read_lines(given: str) -> tuple[int | None, range]:
    """The message, if one is named, and the lines of `[MESSAGE:]N[-M]`."""
    found = _LINES.fullmatch(given)
    first = int(found["first"]) if found is not None else 1
    lines = range(first, int(found["last"] or first) + 1) if found is not None else range(0)
    if found is None or not lines or len(lines) > _MOST_LINES:
        why = f"asks for more than {_MOST_LINES} lines" if lines else "is not of the form [MESSAGE:]N[-M]"
        raise UsageError([Diagnostic("PC0721", f"`--source {given}` {why}", help="such as `--source 12`, or `--source 12-14`")])
    return int(found["message"]) if found["message"] is not None else None, lines


def _show_without(before: Outcome, after: Outcome, names: Sequence[str], page: Page) -> Outcome:
    from promptc.cli.views.sweep import compare, render_comparison

    page.show(compare(names, before, after), render_comparison)
    return after


def _show_sweep(pack: Pack, state: State, asked: RenderRequest, given: str, page: Page) -> int:
    from promptc.cli.views.sweep import PLENTY, Point, describe_point, render_sweep, sweep_all, sweep_range

    budgets = _read_range(given)
    own = asked.budget or compile_asked(pack, state, asked).fitted.strained.selection.plan.budget.total

    @cache
    def render(budget: int) -> Point:
        return describe_point(compile_asked(pack, state, asked, budget=budget), budget)

    sweep = sweep_all(render, own) if not budgets else sweep_range(render, own, budgets)
    if sweep is None:
        raise PromptcError(compile_asked(pack, state, asked, budget=PLENTY).errors)
    page.show(sweep, render_sweep)
    return 0 if any(point.tokens is not None for point in sweep.points) else _DOES_NOT_FIT


def _read_range(given: str) -> list[int]:
    """The budgets of `MIN:MAX:STEP`; none for all."""
    if given == _ALL:
        return []
    found = _RANGE.fullmatch(given)
    low, high, step = (int(part) for part in found.groups()) if found is not None else (1, 0, 1)
    budgets = list(range(low, high + 1, step)[: _MOST_POINTS + 1])
    if not budgets or len(budgets) > _MOST_POINTS:
        why = f"holds more than {_MOST_POINTS} budgets" if budgets else "is not of the form MIN:MAX:STEP"
        raise UsageError([Diagnostic("PC0721", f"`--sweep {given}` {why}", help="such as `--sweep 2000:8000:500`")])
    return budgets
