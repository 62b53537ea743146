"""`promptc tune`: finds budgets that keep more of many states, and writes them in place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import click

from promptc.api import Pack
from promptc.batch import iter_documents
from promptc.cli.commands.batch import open_states
from promptc.cli.group import PACK, Command, complete, read_count, take_request
from promptc.cli.interaction import Progress
from promptc.cli.options import RenderRequest, refuse_form
from promptc.cli.request import load_state_file, open_pack
from promptc.cli.terminal import PLAIN, STDIN, Paint, Reporter, Style, escape_controls, read_width
from promptc.cli.views.drawing import Cell, Page, Row, count_columns, render_bar, render_table, show_count, show_percent, wrap
from promptc.diag.findings import Diagnostic, PromptcError, UsageError, shorten, show_plural
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import TypeVar
from promptc.frontend.json import JsonDocument
from promptc.frontend.state import set_values
from promptc.golden.cases.discover import choose_places
from promptc.workshop.page import iter_cases
from promptc.workshop.splice import ChangedValue, SplicedFile, splice_manifest, write_values
from promptc.workshop.tune import (
    BudgetUse,
    Note,
    Suggestion,
    TotalSweep,
    TunedState,
    Tuner,
    Wishes,
    check_wishes,
    load_tuned,
    make_tuned,
    measure_state,
    measure_use,
    split_states,
    sweep_total,
)

_FOUND = 1
_WIDEST = 56
_JSON = ".json"
_LINES = (".jsonl", ".ndjson", ".parquet")
_SECTION = "sections."
_LONGEST = 3
_Made = TypeVar("_Made")


@frozen
class TuneView:
    """The effect of the budgets of a pack on the prompts of many states.

    `left_out` are the names of states that the pack refuses. `unfit` is the number of prompts that do not fit. `suggestion` is None if
    there are too few states to judge by; if `is_tried`, it has the values of the user.
    """

    pack: str
    states: int
    prompts: int
    left_out: tuple[str, ...]
    unfit: int
    wanted: int
    kept: int
    uses: tuple[BudgetUse, ...]
    totals: TotalSweep
    suggestion: Suggestion | None
    is_tried: bool


@click.command(
    "tune",
    cls=Command,
    examples=[
        ("See what is wasted and what is starved over the cases of a pack", "promptc tune packs/sentinel"),
        ("Over states of your own", "promptc tune packs/sentinel states.jsonl more/*.json"),
        (
            "Count lore three times, and leave the rules as they are",
            "promptc tune . log.jsonl --weight sections.lore=3 --pin sections.rules",
        ),
        ("Write what is suggested to the pack", "promptc tune . states.jsonl --write"),
        ("Fail in CI when other budgets would keep 5 % more", "promptc tune . states.jsonl --check 5"),
        ("Write a value of your own, comments kept", "promptc tune . --try sections.recent.budget=900 --write"),
    ],
)
@PACK
@click.argument("tuned", metavar="[STATES|CASES]...", shell_complete=complete, nargs=-1, type=click.Path(allow_dash=True))
@click.option(
    "--weight",
    "weights",
    shell_complete=complete,
    multiple=True,
    metavar="sections.ID=N",
    help="Count the content of this section N times.",
)
@click.option(
    "--pin",
    "pins",
    shell_complete=complete,
    multiple=True,
    metavar="PATH",
    help="Leave this budget as it is: sections.ID or pools.NAME. Of a section, lose nothing.",
)
@click.option("--total", callback=read_count, metavar="N", help="The total may change, too: up to N tokens.")
@click.option("--check", "most", type=click.IntRange(0), metavar="N", help="Fail if other budgets keep more than N % more.")
@click.option("--write", "is_written", is_flag=True, help="Write the values to the manifest, and change nothing else in it.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--width", callback=read_count, metavar="N", help="The width in columns. [the terminal, else 80]")
@take_request
@click.pass_obj
def tune_command(
    reporter: Reporter,
    pack: str,
    tuned: tuple[str, ...],
    request: RenderRequest,
    weights: tuple[str, ...],
    pins: tuple[str, ...],
    total: int | None,
    most: int | None,
    is_written: bool,
    as_json: bool,
    width: int | None,
) -> int:
    """Find budgets that keep more of what your states want.

    promptc renders all states, and shows which caps are never used, which sections are cut, and how much each total would keep. Then it
    tries other budgets on about half of the states. It shows those that keep more of the other states, too, and lose nothing that is
    pinned.

    STATES are JSON files, or files with a state on each line (.jsonl, or `-`). CASES are folders with cases, or names of cases. Without
    either, promptc takes the cases of PACK.

    `--write` writes what is suggested. With `--try`, your own values take the place of the search; without STATES or CASES they are
    written at once, and nothing is rendered.

    Exit codes: 0 done, 1 other budgets keep more (with `--check`).
    """
    page = Page(as_json, width or read_width(), reporter.choose_paint(sys.stdout))
    if request.tries and not tuned:
        _check_idle({"--weight": weights, "--pin": pins, "--total": total, "--check": most is not None}, request)
        _change(pack, request, reporter, page, is_written=is_written)
        return 0
    if total is not None and request.budget is not None:
        message = "`--budget` sets the total of every prompt, and `--total` lets the total of the file change"
        raise UsageError([Diagnostic("PC0720", message, help="give one of the two")])
    wishes = Wishes(_read_weights(weights), pins, total or 0)
    loaded = open_pack(reporter, pack, replace(request, tries=()))
    check_wishes(loaded, wishes)
    view = _tune(reporter, loaded, pack, tuned, request, wishes)
    page.show(view, render_tuning)
    found = view.suggestion
    if found is None and (most is not None or is_written):
        message = (
            f"the search needs states to find budgets and others to judge them, and {show_plural(view.states, 'state')} cannot be split"
        )
        raise UsageError([Diagnostic("PC0688", message, help="give at least two states that differ")])
    if is_written and found is not None and found.changes:
        reporter.say(_tell_written(write_values(pack, found.tries, models=request.models), is_written=True))
    elif is_written:
        reporter.say("nothing to write: no other budget keeps more\n")
    failed = list(_check_gate(found, most)) if most is not None and found is not None else []
    reporter.report(failed)
    return _FOUND if failed else 0


def _check_idle(judging: Mapping[str, object], request: RenderRequest) -> None:
    """Refuse options that are about prompts, where none is rendered. Raises `UsageError` (PC0720)."""
    asked = {
        "--budget": request.budget,
        "--model": request.model,
        "--variant": request.variants,
        "--patch": request.patches,
        "--format": request.format,
        "--set": request.changes,
        "--store": request.stores,
    }
    idle = next((name for name, given in {**judging, **asked}.items() if given), None)
    if idle is not None:
        message = f"`{idle}` is about prompts, and without STATES or CASES `--try` renders none"
        raise UsageError([Diagnostic("PC0720", message, help=f"name states or cases, or leave `{idle}` out")])


def _change(pack: str, request: RenderRequest, reporter: Reporter, page: Page, *, is_written: bool) -> None:
    """Write the tried values, or show the values that they would replace."""
    made = (write_values if is_written else splice_manifest)(pack, request.tries, models=request.models)
    page.show(made.changes, _render_changes)
    reporter.say(_tell_written(made, is_written=is_written))


def _render_changes(changes: Sequence[ChangedValue], width: int, paint: Paint) -> str:
    rows = [[escape_controls(text) for text in (one.path, f"{one.old or 'not set'} → {one.new}", one.at)] for one in changes]
    return render_table(rows, most=_WIDEST, paint=paint)


def _tell_written(made: SplicedFile, *, is_written: bool) -> str:
    name = escape_controls(made.name)
    if not made.changes:
        return f"nothing to change: `{name}` has these values\n"
    values = show_plural(len(made.changes), "value")
    return f"wrote {values} to `{name}`\n" if is_written else f"{values} would change in `{name}`: add `--write`\n"


def _read_weights(given: Sequence[str]) -> dict[str, int]:
    """Return weights by the ids of sections. Raises `UsageError` (PC0721) for a text that is not `sections.ID=N`."""
    weights = {}
    for one in given:
        path, _, number = one.partition("=")
        if not path.startswith(_SECTION) or not number.isascii() or not number.isdigit() or len(number) > _LONGEST:
            raise refuse_form("--weight", one, "sections.ID=N")
        weights[path.removeprefix(_SECTION)] = int(number)
    return weights


def _tune(reporter: Reporter, loaded: Pack, path: str, asked: Sequence[str], request: RenderRequest, wishes: Wishes) -> TuneView:
    given = list(_iter_tuned(loaded, path, asked, request))
    progress = Progress(reporter, "rendering")
    states, measured, left_out = list[TunedState](), [], list[str]()
    for done, (name, load) in enumerate(given, 1):
        try:
            one = load()
            measured.append(measure_state(one, loaded))
            states.append(one)
        except PromptcError:
            left_out.append(name)
        progress.note(done, len(given))
    progress.close()
    prompts = [one for prompts in measured for one in prompts]
    if not prompts:
        raise UsageError([Diagnostic("PC0688", "no state makes a prompt with this pack", help="name states, or cases that render")])
    budgets = sorted(one.budget for one in prompts)
    totals = _show_progress(
        reporter, "trying totals", lambda note: sweep_total(loaded, states, budgets[len(budgets) // 2], wishes.weights, note)
    )
    totals = replace(totals, spread=(budgets[0], budgets[-1]))
    tuner, suggestion = Tuner(loaded, path, states, measured, wishes), None
    if request.tries:
        suggestion = tuner.score(request.tries)
    elif all(split_states(measured)):
        suggestion = _show_progress(reporter, "trying budgets", tuner.search)
    return TuneView(
        f"{loaded.name} {loaded.model.version}",
        len(states),
        len(prompts),
        tuple(left_out),
        sum(one.tokens is None for one in prompts),
        sum(one.count_wanted(wishes.weights) for one in prompts),
        sum(one.count_kept(wishes.weights) for one in prompts),
        measure_use(loaded, measured),
        totals,
        suggestion,
        bool(request.tries),
    )


def _show_progress(reporter: Reporter, label: str, work: Callable[[Note], _Made]) -> _Made:
    progress = Progress(reporter, label)
    try:
        return work(progress.note)
    finally:
        progress.close()


def _iter_tuned(pack: Pack, path: str, asked: Sequence[str], request: RenderRequest) -> Iterator[tuple[str, Callable[[], TunedState]]]:
    """Yield the states of files in order, then those of cases by name, each with a function that loads it.

    The function raises what loading its state raises. A JSON file is loaded at once, so the iteration raises its errors, and those of
    reading any file.
    """

    def load_line(name: str, document: JsonDocument) -> TunedState:
        changed = set_values(document, request.changes) if request.changes else document
        return make_tuned(name, [pack.load_document(changed)], request.options)

    files = [one for one in asked if one == STDIN or one.endswith((_JSON, *_LINES))]
    for file in files:
        if file.endswith(_JSON):
            made = make_tuned(file, [load_state_file(pack, file, request)], request.options)
            yield file, partial(_give, made)
            continue
        shown = "stdin" if file == STDIN else file
        with open_states(file) as opened:
            for name, document in iter_documents(opened, shown):
                yield name, partial(load_line, name, document)
    others = [one for one in asked if one not in files] or ([] if files else [path])
    for case, _ in iter_cases(choose_places(others).places) if others else ():
        yield case.name, partial(load_tuned, case, pack)


def _give(made: TunedState) -> TunedState:
    return made


def _check_gate(found: Suggestion, most: int) -> Iterator[Diagnostic]:
    own, after = found.held
    if (after.kept - own.kept) * 100 > own.kept * most:
        more = show_count(after.kept - own.kept)
        message = (
            f"other budgets keep {more} of {show_count(own.wanted)} tokens more on held-out states, which is over {most} % of what is kept"
        )
        yield Diagnostic("PC0689", message, help="`promptc tune PACK STATES --write` writes them; `--pin` leaves a budget as it is")


# --- rendering ---


def render_tuning(view: TuneView, width: int, paint: Paint = PLAIN) -> str:
    """Return the budgets, the totals, and the suggestion."""
    head = f"{view.pack}: {show_plural(view.states, 'state')}, {show_plural(view.prompts, 'prompt')}"
    kept = f"{show_count(view.kept)} of {show_plural(view.wanted, 'token')}, {show_percent(view.kept, view.wanted)}"
    lines = [paint.apply(head, "bold"), f"content kept: {kept}"]
    if view.unfit:
        lines.append(f"{show_plural(view.unfit, 'prompt')} {'does' if view.unfit == 1 else 'do'} not fit; nothing of that is kept")
    if view.left_out:
        more = f" and {len(view.left_out) - 1} more" if len(view.left_out) > 1 else ""
        lines += wrap(
            f"{show_plural(len(view.left_out), 'state')} left out: the pack refuses {escape_controls(view.left_out[0])}{more}", width
        )
    blocks = (_render_uses(view.uses, width, paint), _render_totals(view.totals, width, paint), _render_suggestion(view, width, paint))
    return "".join(f"{line}\n" for line in lines) + "".join(f"\n{block}" for block in blocks)


def _render_uses(uses: Sequence[BudgetUse], width: int, paint: Paint) -> str:
    rows: list[Row] = [[Cell(one, "dim") for one in ("what a prompt wants", "cap", "most", "median", "kept", "cut in", "")]]
    for one in uses:
        name = f"pool {one.name}" if one.kind == "pool" else "total" if one.kind == "total" else one.name
        cap = "-" if one.cap is None else f"{show_count(one.cap)}{' ch' if one.unit == 'chars' else ''}"
        told = f"by {one.by}" if one.by else f"{show_count(one.wasted)} never wanted" if one.wasted else ""
        cells = (
            cap,
            show_count(one.most),
            show_count(one.median),
            show_percent(one.kept, one.wanted),
            show_count(one.cut) if one.cut else "",
        )
        style: Style | None = "bold" if one.kind != "section" else None
        rows.append([Cell(escape_controls(name), style), *cells, Cell(told, "yellow" if one.cut else "dim")])
    return render_table(rows, right=frozenset(range(1, 6)), most=max(20, width // 3), paint=paint)


def _render_totals(found: TotalSweep, width: int, paint: Paint) -> str:
    has_unfit = any(one.unfit for one in found.points)
    heads = ["total of all", "kept", "", "cut", *(["no fit"] if has_unfit else [])]
    cells = [
        [
            f"{show_count(one.budget)}{'*' if one.budget == found.own else ' '}",
            show_count(one.kept),
            show_percent(one.kept, found.wanted),
            show_count(one.cut),
            *([show_count(one.unfit)] if has_unfit else []),
        ]
        for one in found.points
    ]
    room = max(8, width - count_columns([heads, *cells]))
    rows: list[Row] = [[Cell(one, "dim") for one in heads]]
    for row, one in zip(cells, found.points, strict=True):
        rows.append([*row, Cell(render_bar(one.kept, found.wanted - one.kept, found.wanted, room), "green")])
    last = show_count(found.points[-1].budget)
    knee = f"knee: {show_count(found.knee)}, from there on no more is kept" if found.knee is not None else f"knee: none up to {last}"
    least, most = found.spread
    own = f"{show_count(found.own)} (*)"
    has = own if least == most else f"{show_count(least)} to {show_count(most)}, in the middle {own}, and here that of each row"
    note = "".join(f"{line}\n" for line in wrap(f"{knee}; the prompts have {has}", width))
    return render_table(rows, right=frozenset(range(len(heads))), most=width, paint=paint) + note


def _render_suggestion(view: TuneView, width: int, paint: Paint) -> str:
    found = view.suggestion
    if found is None:
        return "no budgets are suggested: that takes at least two states that differ\n"
    searched, judged = (show_plural(one[0].states, "state") for one in (found.trained, found.held))
    reasons = (
        *((f"{one.path} {one.old} → {one.new}", "which helps only the states that were searched") for one in found.unproven),
        *((f"{path} → {new}", "which would cost some state a prompt that fits, or something pinned") for path, new in found.lossy),
    )
    fixed = [f"not suggested: {escape_controls(one)}, {why}" for one, why in reasons]
    fixed += [f"left alone: {escape_controls(path)}, {escape_controls(why)}" for path, why in found.fixed]
    if not found.changes:
        lines = [
            paint.apply("no other budget keeps more", "bold"),
            f"searched on {searched}, and judged by {judged} that the search has not seen",
        ]
        return "".join(f"{part}\n" for line in [*lines, *fixed] for part in wrap(line, width))
    title = "tried" if view.is_tried else f"suggested, searched on {searched}"
    rows = [
        [escape_controls(text) for text in (one.path, f"{shorten(one.old) or 'not set'} → {shorten(one.new)}")] for one in found.changes
    ]
    table = f"{paint.apply(title, 'bold')}\n{render_table(rows, most=_WIDEST)}\n{_render_scores(found, view, paint)}"
    return table + "".join(f"{part}\n" for line in fixed for part in wrap(line, width))


def _render_scores(found: Suggestion, view: TuneView, paint: Paint) -> str:
    """Return what the held-out states keep with the budgets of the file and with the suggestion."""
    own, after = found.held
    heads = (show_plural(own.states, "state" if view.is_tried else "other state"), "file", "tried" if view.is_tried else "suggested", "")
    rows: list[Row] = [[Cell(one, "dim") for one in heads]]
    figures = [("content kept", own.kept, after.kept), ("tokens in all", own.tokens, after.tokens)]
    names = [name for name in after.sections if after.sections[name] != own.sections.get(name, 0)]
    figures += [(escape_controls(name), own.sections.get(name, 0), after.sections[name]) for name in names]
    for name, old, new in figures:
        rows.append([Cell(name, "bold" if name == "content kept" else None), show_count(old), show_count(new), _show_step(old, new)])
    return render_table(rows, right=frozenset((1, 2, 3)), most=_WIDEST, paint=paint)


def _show_step(old: int, new: int) -> str:
    """Return the change of a number in per cent with one decimal place, `new` if it was 0, or `=` if there is none."""
    if new and not old:
        return "new"
    tenths = (abs(new - old) * 1000 + old // 2) // max(1, old)
    return f"{'+' if new > old else '-'}{tenths // 10}.{tenths % 10} %" if new != old else "="
