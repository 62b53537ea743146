"""`promptc render`, `promptc explain` and `promptc eval`: the prompt, the story behind it, and the value of an expression in it.

A plain `promptc render` does not pass through this module: it is parsed without click, and done in `promptc.cli.request`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from shlex import quote

import click

from promptc.api import Pack, choose_format
from promptc.cli.group import PACK, STATE, Command, complete, read_count, take, take_request
from promptc.cli.interaction import Progress
from promptc.cli.options import NO_CACHE, RENDER, REQUEST, WATCH, RenderRequest, make_render
from promptc.cli.request import DOES_NOT_FIT, compile_request, load_selected, load_state_file, open_pack, run_render
from promptc.cli.terminal import Reporter, read_width, show_json, write_stdout
from promptc.cli.views.difference import (
    PLENTY,
    Point,
    Subject,
    Sweep,
    ValuePoint,
    ValueSweep,
    compare,
    describe_point,
    describe_value,
    draw_values,
    render_comparison,
    render_sweep,
    render_sweep_csv,
    render_values,
    render_values_csv,
    sweep_all,
    sweep_between,
    sweep_given,
    sweep_near,
    sweep_range,
    sweep_values,
)
from promptc.cli.views.drawing import Page
from promptc.diag.findings import Diagnostic, PromptcError, Source, UsageError, count_noun, shorten, suggest
from promptc.diag.typed import Any
from promptc.model.stages import RenderOptions
from promptc.model.state import State
from promptc.passes.bind import bind, list_names
from promptc.passes.fit.steps import list_step_names
from promptc.passes.strain import name_tier, strain
from promptc.pipeline import Outcome
from promptc.template.compile import Expression
from promptc.template.place import Place
from promptc.template.runtime.run import RUN
from promptc.text.counters.counter import Meter
from promptc.text.json import render_canonical_json

_RANGE = re.compile(r"(0|[1-9][0-9]{0,8}):([1-9][0-9]{0,8}):([1-9][0-9]{0,8})")
_FROM_TO = re.compile(r"(0|[1-9][0-9]{0,8})\.\.([1-9][0-9]{0,8})")
_SWEPT = frozenset(
    "promptc name version extends tokenizer limits budget models define let asserts visible redact stores indexes tools response sections"
    " patches variants strain pools truncate output operations".split()
)
"""The first keys of a `--sweep` path without a range: all but `state`, as in `state.json`. Any other word after `--sweep` is the pack or
the state."""
_LINES = re.compile(r"(?:(?P<message>0|[1-9][0-9]{0,8}):)?(?P<first>[1-9][0-9]{0,8})(?:-(?P<last>[1-9][0-9]{0,8}))?")
_NAME_MESSAGE = "such as `--source 0:12` for line 12 of the first message"
_MOST_LINES = 1000
_ALL = "all"
_MOST_POINTS = 1000
_MOST_VALUES = 200
"""The most values of a key: the pack is compiled for each."""

_EXPRESSION = "expression"
_LATE = frozenset(("strain", "selected", "section", "item", "this", "group"))
"""Names that are unknown before sections are selected."""


@click.command(
    "render",
    cls=Command,
    examples=[
        ("Print the prompt", "promptc render packs/sentinel state.json"),
        (
            "Print messages, and write a report that accounts for every token",
            "promptc render . state.json --format messages --report report.json",
        ),
        ("Print the body of a request to a provider", "promptc render . state.json --format anthropic --model claude-opus-5-5"),
        (
            "Read the state from a pipe, with a smaller budget and another mood",
            "jq .last log.json | promptc render . - --budget 4000 --mood action",
        ),
        ("Print the prompt again whenever the pack or the state changes", "promptc render . state.json --watch"),
        (
            "Change one value of the state, and write the prompt to a file",
            "promptc render . state.json --set '/input=\"Why?\"' -o prompt.txt",
        ),
    ],
)
@PACK
@STATE
@take(*REQUEST, *RENDER)
@click.pass_obj
def render_command(reporter: Reporter, /, pack: str, state: str, **given: Any) -> int:
    """Print the prompt that PACK makes from STATE.

    The pack chooses the format: text or messages. `--format` overrides it. The name of a provider prints the JSON body of a request.

    If something is wrong, render prints no prompt. If the content does not fit its budget, a meter on standard error shows which section
    takes the room.
    """
    return run_render(reporter, make_render(pack, state, given))


class _Explain(Command):
    """The command `explain`, whose `--sweep` accepts a range, a path, or nothing."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. A `--sweep` without a range or a path means all informative budgets."""
        after = [*args[1:], ""]
        marked = [f"{one}={_ALL}" if one == "--sweep" and not _is_swept(after[at]) else one for at, one in enumerate(args)]
        return super().parse_args(ctx, marked)


def _is_swept(word: str) -> bool:
    return not word.startswith("-") and (
        ":" in word or "=" in word or re.match(r"[0-9]+\.\.", word) is not None or re.split(r"[.\[]", word)[0] in _SWEPT
    )


@click.command(
    "explain",
    cls=_Explain,
    examples=[
        ("Show the context meter: what each section holds, and every cut", "promptc explain packs/sentinel state.json"),
        ("Show everything that happened to one item", "promptc explain packs/sentinel state.json --why recent/b233"),
        ("Follow a section from its list to the items in the prompt", "promptc explain packs/sentinel state.json --stages recent"),
        ("Find the template and the state keys behind line 12", "promptc explain packs/sentinel state.json --source 12"),
        ("Show it again whenever the pack or the state changes", "promptc explain packs/sentinel state.json --watch"),
        ("Draw a picture for your documentation", "promptc explain packs/sentinel state.json --svg > meter.svg"),
        ("Compare what fits at different budgets", "promptc explain packs/sentinel state.json --sweep"),
        ("Find the cap from which on a section loses nothing", "promptc explain packs/sentinel state.json --sweep sections.recent.budget"),
        ("Draw that as a chart", "promptc explain . state.json --sweep sections.chat.budget --svg > chart.svg"),
        ("See what the other sections gain without this one", "promptc explain packs/sentinel state.json --without injected"),
    ],
)
@PACK
@STATE
@take_request
@click.option("--why", shell_complete=complete, metavar="SECTION/ITEM", help="Tell the whole story of one item or section.")
@click.option("--stages", shell_complete=complete, metavar="SECTION", help="Show each stage of a section: what passed, what was left out.")
@click.option("--source", metavar="[MESSAGE:]N[-M]", help="Show which template and state keys made line N of the output.")
@click.option(
    "--sweep",
    shell_complete=complete,
    metavar="[RANGE|PATH[=RANGE]]",
    help="Show what fits at different budgets, or what a section holds at different values of a key. RANGE is MIN:MAX:STEP, or MIN..MAX.",
)
@click.option(
    "--without",
    shell_complete=complete,
    multiple=True,
    metavar="SECTION",
    help="Compare with a prompt that leaves this section out. Repeat it for more.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--svg", "as_svg", is_flag=True, help="Print the meter, or the sweep of a key, as an SVG picture.")
@click.option("--csv", "as_csv", is_flag=True, help="Print a sweep as CSV.")
@click.option("--width", callback=read_count, metavar="N", help="The width in columns. [the terminal, else 80]")
@take(WATCH, NO_CACHE)
@click.pass_obj
def explain_command(
    reporter: Reporter,
    pack: str,
    state: str,
    request: RenderRequest,
    why: str | None,
    stages: str | None,
    source: str | None,
    sweep: str | None,
    without: tuple[str, ...],
    as_json: bool,
    as_svg: bool,
    as_csv: bool,
    width: int | None,
    no_cache: bool,
) -> int:
    """Show how PACK spends its tokens on STATE: what each section holds, what was cut, and why.

    It also explains a prompt that does not fit: what was tried, and how many tokens are missing.
    """
    views = {"--why": why, "--stages": stages, "--source": source, "--sweep": sweep, "--without": without}
    is_value = sweep is not None and sweep != _ALL and not sweep[:1].isdigit()
    _check_alone({**views, "--svg": as_svg and not is_value})
    _check_alone({"--svg": as_svg, "--json": as_json, "--csv": as_csv})
    if as_csv and sweep is None:
        raise UsageError([Diagnostic("PC0721", "`--csv` prints a sweep", help="add `--sweep`")])
    with open_pack(reporter, pack, request, is_cached=not no_cache) as loaded:
        loaded_state = load_state_file(loaded, state, request)
        page = Page(as_json, width or read_width(), reporter.choose_paint(sys.stdout))
        if sweep is not None and is_value:
            swept = _ValueRender(reporter, loaded, loaded_state, request, sweep)
            return _show_values(swept, page, as_svg=as_svg, as_csv=as_csv)
        if sweep is not None:
            return _show_sweep(loaded, loaded_state, request, sweep, page, as_csv=as_csv)
        outcome = compile_request(loaded, loaded_state, request)
        reporter.report(outcome.errors)
        if why is not None:
            _show_why(outcome, why, page)
        elif stages is not None:
            _show_stages(outcome, stages, page)
        elif source is not None:
            _show_source(outcome, source, page)
        elif without:
            outcome = _show_without(outcome, compile_request(loaded, loaded_state, request, without=without), without, page)
        else:
            _show_meter(outcome, page, as_svg)
            reporter.report(outcome.warnings)
    return 0 if outcome.emitted is not None else DOES_NOT_FIT


def _check_alone(views: Mapping[str, object]) -> None:
    given = [name for name, value in views.items() if value]
    if len(given) > 1:
        raise UsageError([Diagnostic("PC0721", f"`{given[0]}` and `{given[1]}` show different things", help="ask for one at a time")])


def _show_meter(outcome: Outcome, page: Page, as_svg: bool) -> None:
    from promptc.cli.views.meter import render_meter, render_svg

    if as_svg:
        write_stdout(render_svg(outcome).encode())
        return
    if page.as_json:
        told = {"slack": [one.described for one in outcome.slack]} if outcome.slack else {}
        write_stdout(f"{render_canonical_json({**outcome.report, **told})}\n".encode())
    else:
        page.show(outcome, partial(render_meter, slack=outcome.slack))


def _show_why(outcome: Outcome, address: str, page: Page) -> None:
    from promptc.cli.views.story import describe_section, list_histories, render_histories

    section, slash, item = address.partition("/")
    selected = load_selected(outcome, section)
    stories = list_histories(outcome, selected, item) if slash else [describe_section(outcome, selected)]
    page.show(stories, render_histories)


def _show_stages(outcome: Outcome, section: str, page: Page) -> None:
    from promptc.cli.views.story import has_pipeline, list_stages, render_stages

    selected = load_selected(outcome, section)
    if has_pipeline(selected):
        page.show(list_stages(outcome, selected), render_stages)
    else:
        _show_why(outcome, section, page)


def _show_source(outcome: Outcome, given: str, page: Page) -> None:
    """Show the source of lines of the output; nothing if the content does not fit, because there is no output."""
    from promptc.cli.views.story import render_lines
    from promptc.explain.output import LineTracer, describe_lines

    message, lines = _read_lines(given)
    if outcome.emitted is None:
        return
    tracer = LineTracer(outcome.fitted, outcome.emitted.parts)
    if (message is None) != (outcome.account["format"] == "text"):
        why, help = ("names a message of a text", "such as `--source 12`") if message is not None else ("names no message", _NAME_MESSAGE)
        raise UsageError([Diagnostic("PC0721", f"`--source {given}` {why}", help=help)])
    _check_there(given, message, lines[-1], tracer.count_messages(), tracer.count_lines(message or 0))
    page.show(describe_lines(outcome.fitted, tracer, message or 0, lines), render_lines)


def _check_there(given: str, message: int | None, last: int, messages: int, lines: int) -> None:
    """Raise `UsageError` (PC0721) for a message or a line after the end."""
    if message is not None and message >= messages:
        there, noun = messages, "message"
    elif last > lines:
        there, noun = lines, "line"
    else:
        return
    raise UsageError(
        [
            Diagnostic(
                "PC0721", f"`--source {given}` is past the end", help=f"there {'is' if there == 1 else 'are'} {count_noun(there, noun)}"
            )
        ]
    )


def _read_lines(given: str) -> tuple[int | None, range]:
    """Return the message (None if none is named) and the lines of `[MESSAGE:]N[-M]`. Raises `UsageError` (PC0721)."""
    found = _LINES.fullmatch(given)
    first = int(found["first"]) if found is not None else 1
    lines = range(first, int(found["last"] or first) + 1) if found is not None else range(0)
    if found is None or not lines or len(lines) > _MOST_LINES:
        why = f"asks for more than {_MOST_LINES} lines" if lines else "is not of the form [MESSAGE:]N[-M]"
        raise UsageError([Diagnostic("PC0721", f"`--source {given}` {why}", help="such as `--source 12`, or `--source 12-14`")])
    return int(found["message"]) if found["message"] is not None else None, lines


def _show_without(before: Outcome, after: Outcome, names: Sequence[str], page: Page) -> Outcome:
    page.show(compare(names, before, after), render_comparison)
    return after


def _show_sweep(pack: Pack, state: State, request: RenderRequest, given: str, page: Page, *, as_csv: bool) -> int:
    ends, budgets = _FROM_TO.fullmatch(given), _read_range(given)
    own = request.budget or compile_request(pack, state, request).fitted.strained.selection.bound.budget.total

    @cache
    def render(budget: int) -> Point:
        return describe_point(compile_request(pack, state, request, budget=budget), budget)

    if ends is not None:
        sweep: Sweep | None = sweep_between(render, own, budgets[0], budgets[-1])
    else:
        sweep = sweep_range(render, own, budgets) if budgets else sweep_all(render, own)
    if sweep is None:
        raise PromptcError(compile_request(pack, state, request, budget=PLENTY).errors)
    if as_csv:
        write_stdout(render_sweep_csv(sweep).encode())
    else:
        page.show(sweep, render_sweep)
    return 0 if any(point.tokens is not None for point in sweep.points) else DOES_NOT_FIT


def _read_range(given: str) -> list[int]:
    """Return the budgets of `MIN:MAX:STEP`, the two of `MIN..MAX`, or an empty list for all. Raises `UsageError` (PC0721)."""
    if given == _ALL:
        return []
    found, ends = _RANGE.fullmatch(given), _FROM_TO.fullmatch(given)
    low, high, step = (int(part) for part in found.groups()) if found is not None else (1, 0, 1)
    if ends is not None:
        low, high = int(ends[1]), int(ends[2])
        step = max(1, high - low)
    budgets = list(range(low, high + 1, step)[: _MOST_POINTS + 1]) if low else []
    if not budgets or len(budgets) > _MOST_POINTS:
        why = f"holds more than {_MOST_POINTS} budgets" if budgets else "is not of the form MIN:MAX:STEP or MIN..MAX"
        raise UsageError([Diagnostic("PC0721", f"`--sweep {given}` {why}", help="such as `--sweep 2000:8000:500`")])
    return budgets


class _ValueRender:
    """Renders of one state with many values of a key of the manifest. `given` is `PATH[=RANGE]`."""

    def __init__(self, reporter: Reporter, pack: Pack, state: State, request: RenderRequest, given: str) -> None:
        from promptc.frontend.manifest import find_value  # imported late: it imports all the code that compiles a pack

        self.path, _, self.range = given.partition("=")
        if self.path in dict(request.tries):
            why = f"`--sweep` and `--try` set the same value, `{shorten(self.path)}`"
            raise UsageError([Diagnostic("PC0721", why, help="leave the `--try` out: the sweep shows its value, too")])
        self.state, self.request = state, request
        self._reporter, self._pack = reporter, pack
        self._points: dict[int, ValuePoint] = {}
        self._progress = Progress(reporter, "values")
        self.node = find_value(pack.model.manifest, self.path)
        self.own = compile_request(pack, state, request)
        self.subject = self._choose_subject()

    def _choose_subject(self) -> Subject:
        """Return the subject of the key, according to the beginning of its path."""
        plan = self.own.fitted.strained.selection.plan
        first, _, rest = self.path.partition(".")
        name = re.split(r"[.\[]", rest)[0]
        pool = next((one for one in plan.pools if first == "pools" and one.name == name), None)
        if pool is not None:
            return Subject(f"pools.{name}", pool.sections)
        sections = tuple(one["id"] for one in self.own.account["sections"])
        return Subject(name, (name,)) if first == "sections" and name in sections else Subject("", sections)

    def __call__(self, value: int) -> ValuePoint:
        """Return the point at a value; each point is rendered once.

        Raises `PromptcError` for a value that the schema or the pack refuses.
        """
        if value not in self._points:
            with self._pack.tried(((self.path, str(value)),)) as pack:
                if not self._points:
                    self._reporter.report(pack.model.remarks)
                self._points[value] = describe_value(compile_request(pack, self.state, self.request), value, self.subject)
            self._progress.note(len(self._points), 0)
        return self._points[value]

    def sweep(self) -> ValueSweep:
        """Return the whole sweep. Raises `UsageError` (PC0721) for an invalid range."""
        node, total = self.node, self.own.fitted.strained.selection.bound.total
        value = node.value if node is not None and type(node.value) is int else None
        written = "" if node is None else render_canonical_json(node.plain())
        own = describe_value(self.own, value, self.subject)
        report = self.own.account
        empty = ValueSweep(self.path, f"{report['pack']} {report['version']}", total, self.subject, written, own, (), None)
        try:
            if not self.range:
                return sweep_near(self, empty, self._choose_least(), total if self.subject.name else max(total, 2 * own.wanted))
            low, high, step = self._read_range()
            return sweep_given(self, empty, range(low, high + 1, step)) if step else sweep_values(self, empty, low, high)
        finally:
            self._progress.close()

    def _choose_least(self) -> int:
        """Return 0 if the pack accepts that value, or 1 if not."""
        try:
            self(0)
        except PromptcError:
            return 1
        return 0

    def _read_range(self) -> tuple[int, int, int]:
        """Return the first and the last value, and the step between values (0 if it is not given)."""
        steps, ends = _RANGE.fullmatch(self.range), _FROM_TO.fullmatch(self.range)
        found = steps or ends
        low, high, step = (*map(int, found.groups()), 0)[:3] if found is not None else (1, 0, 0)
        if low >= high or (step and (high - low) // step >= _MOST_VALUES):
            why = f"holds more than {_MOST_VALUES} values" if low < high else "has no range of the form MIN..MAX or MIN:MAX:STEP"
            help = f"such as `--sweep {quote(self.path)}=100..2000`"
            raise UsageError([Diagnostic("PC0721", f"`--sweep {self.path}={self.range}` {why}", help=help)])
        return low, high, step


def _show_values(render: _ValueRender, page: Page, *, as_svg: bool, as_csv: bool) -> int:
    sweep = render.sweep()
    if as_svg or as_csv:
        write_stdout((draw_values(sweep) if as_svg else render_values_csv(sweep)).encode())
    else:
        page.show(sweep, render_values)
    return 0 if any(one.total is not None for one in sweep.points) else DOES_NOT_FIT


@click.command(
    "eval",
    cls=Command,
    examples=[
        ("Print a value of the state, with defaults filled in", "promptc eval packs/sentinel state.json state.window"),
        ("List who spoke", "promptc eval . state.json 'state.turns | map(attribute=\"who\") | unique'"),
        ("Use the names that the expressions of a section see", "promptc eval . state.json '[strain.tier, selected]' --section input"),
        ("Try a condition on one item", "promptc eval . state.json 'this.tokens > 120' --item recent/b233"),
    ],
)
@PACK
@STATE
@click.argument("expression")
@take_request
@click.option("--section", shell_complete=complete, metavar="SECTION", help="Add the names of this section: strain, selected, section.")
@click.option("--item", shell_complete=complete, metavar="SECTION/ITEM", help="Add the names of this item: item, this, group.")
@click.pass_obj
def eval_command(
    reporter: Reporter, pack: str, state: str, expression: str, request: RenderRequest, section: str | None, item: str | None
) -> int:
    """Evaluate EXPRESSION over STATE, and print the value as JSON.

    The expression can use the same names as an expression in PACK: `state`, what the pack declares under `define` and `let`, `variant`,
    and `strain`.
    """
    from promptc.template.lower.module import load_expression  # late: it loads Jinja, which no other command here needs at once

    loaded = open_pack(reporter, pack, request)
    loaded_state = load_state_file(loaded, state, request)
    try:
        source = Source(_EXPRESSION, expression.encode().decode())
    except UnicodeEncodeError:
        raise UsageError([Diagnostic("PC0721", "the expression is not UTF-8", help="write it in UTF-8")]) from None
    compiled = load_expression(source.text, Place(source.span(1, 1), True, definitions=loaded.model.definitions))
    names = _load_names(loaded, loaded_state, request, compiled, section, item)
    value = compiled.evaluate(names)
    write_stdout(show_json(value).encode())
    return 0


def _load_names(
    pack: Pack, state: State, request: RenderRequest, expression: Expression, section: str | None, item: str | None
) -> Mapping[str, Any]:
    """Return the names that the expression sees.

    Only what the expression reads is run, so that an expression can show why the rest fails.
    """
    reads = {path[0] for path in expression.reads}
    meter = Meter(pack.model.counting.counter)
    if section is None and item is None and reads <= {"state"}:
        return {"state": state.value, RUN: pack.model.open_account()}
    if section is not None or item is not None:
        return _list_scope(compile_request(pack, state, request), section, item)
    shape, provider = choose_format(request.format)
    options = RenderOptions(request.budget, request.variants, request.patches, shape, provider=provider, model=request.model)
    bound = bind(pack.model, state, meter, options)
    tiers = bound.pack.strain.tiers if bound.pack.strain is not None else ()
    late = _LATE | {"variant"} if any(tier.cases for tier in tiers) else _LATE
    if not reads & late:
        return bound.names
    strained = strain(bound)
    selected = {one.section.id: len(one.items) for one in strained.selection.sections}
    shown = name_tier(bound.pack.strain, strained.tier, strained.pressure.percent)
    return {**strained.selection.bound.names, "strain": shown, "selected": selected}


def _list_scope(outcome: Outcome, section: str | None, item: str | None) -> Mapping[str, Any]:
    """Return the names that the expressions of a section see, or those that its steps see at a selected item."""
    name, _, id = item.partition("/") if item is not None else (section or "", "", "")
    selected = load_selected(outcome, name)
    if item is None:
        return list_names(outcome.fitted.strained.selection, selected.section)
    found = next((one for one in selected.items if one.id == id), None)
    if found is None:
        help = suggest(id, [one.id for one in selected.items])
        raise UsageError([Diagnostic("PC0726", f"`{name}` selected no item `{id}`", help=help)])
    return list_step_names(outcome.fitted.strained.selection, selected.section, found)
