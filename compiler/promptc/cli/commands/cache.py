"""`promptc cache`: measures what a provider's cache saves over the turns of a session, what breaks it, and which edits help."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import click

from promptc.api import Pack
from promptc.cli.group import PACK, Command, read_count, take_request
from promptc.cli.interaction import Progress
from promptc.cli.options import RenderRequest
from promptc.cli.request import compile_request, open_pack, read_bytes
from promptc.cli.terminal import PLAIN, STDIN, Paint, Reporter, clip_cells, escape_controls, read_width, write_stdout
from promptc.cli.views.drawing import Cell, Page, Row, count_columns, render_table, show_count, show_percent, wrap
from promptc.cli.views.meter import WIDTH, draw_rows
from promptc.diag.findings import Diagnostic, FitError, PromptcError, Span, UsageError, show_plural
from promptc.diag.frozen import frozen, replace
from promptc.economy import (
    Break,
    Flap,
    Kind,
    ReadRequest,
    Trial,
    Turn,
    account_turns,
    check_carried,
    find_break,
    iter_carried,
    list_flaps,
    list_trials,
    measure_cost,
    measure_share,
    read_request,
)
from promptc.frontend.json import MAX_STATE_BYTES
from promptc.frontend.output import load_provider
from promptc.frontend.state import Change
from promptc.model.messages import PROVIDERS
from promptc.model.state import State
from promptc.pipeline import Outcome

_BELOW = 1
_MOST_TURNS = 2_000
_MOST_BYTES = 1 << 30
_TRIED = 60
"""The most turns that an edit is tried on; they are the last ones."""

_SHOWN = 20
"""The most rows of a table of turns."""

_TRIALS = 8
_ROUNDS = 5
"""The most edits that are combined."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_SESSION = "give the states of a session, one file for each turn, in order; or a file with one state per line: `--session talk.jsonl`"


@frozen(eq=False)
class _TurnState:
    """The state of a turn: its name in findings, its bytes, and the loaded state.

    The loaded state has no values from the turn before.
    """

    name: str
    raw: bytes
    state: State

    def load(self, pack: Pack, changes: Sequence[Change], carried: tuple[Change, ...]) -> State:
        """Return the state with the values that are carried over from the turn before."""
        return pack.load_state(self.raw, self.name, changes=(*changes, *carried)) if carried else self.state


@frozen
class TurnView:
    """A turn, from 1. `broke` is None for the first turn, and for a turn that begins with the whole turn before."""

    turn: int
    state: str
    tokens: int
    same: int
    read: int
    written: int
    cost: int | None
    broke: Break | None


@frozen
class CauseView:
    """A cause that ended the common beginning: in how many turns, and the `first` of them with an item."""

    turns: int
    first: int
    section: str
    item: str
    what: Kind
    why: str
    at: str
    tier: str


@frozen
class TrialView:
    """An edit that helps: the keys to write, their place, and its effect on the turns that it was tried on.

    `reuse` and `cost` are in per cent of those turns, and `tokens` is their sum. Each is a pair: without and with the edit.
    """

    edit: str
    at: str
    patch: str
    reuse: tuple[int, int]
    cost: tuple[int | None, int | None]
    tokens: tuple[int, int]


@frozen
class FiguresView:
    """The figures of a session, as in `SessionView`. `flaps` is their number."""

    reuse: int
    least: int
    read: int
    written: int
    tokens: int
    cost: int | None
    flaps: int


@frozen
class SessionView:
    """The whole account of a session.

    `reuse` is the share, in per cent, of the tokens from the second turn on that begin as the turn before. `least` is the worst turn's
    share. `cost` is in per cent of the same session without a cache, or None if no price is known. `without` has the figures of the
    session without the `tried` values. It is None if nothing is tried, or if the session cannot be rendered without those values.
    """

    pack: str
    format: str
    model: str | None
    as_of: str
    gap: int
    reuse: int
    least: int
    read: int
    written: int
    tokens: int
    cost: int | None
    turns: tuple[TurnView, ...]
    causes: tuple[CauseView, ...]
    flaps: tuple[Flap, ...]
    trials: tuple[TrialView, ...] = ()
    together: tuple[TrialView, ...] = ()
    tried: tuple[str, ...] = ()
    without: FiguresView | None = None

    @property
    def figures(self) -> FiguresView:
        """The figures of the session, without its turns."""
        return FiguresView(self.reuse, self.least, self.read, self.written, self.tokens, self.cost, len(self.flaps))


@click.command(
    "cache",
    cls=Command,
    examples=[
        ("See what each turn of a session begins with", "promptc cache . turn_1.json turn_2.json turn_3.json"),
        ("Ask what the session costs with a provider", "promptc cache . turns/*.json --format anthropic --model claude-opus-5-5"),
        ("Read a session from one file, a state a line", "promptc cache packs/sentinel --session talk.jsonl"),
        ("Fail in CI when a prompt is no longer reused", "promptc cache . turns/*.json --min-reuse 80 --max-flaps 0"),
        ("Draw the session", "promptc cache . turns/*.json --svg > session.svg"),
        ("See what an edit of your own would save", "promptc cache . turns/*.json --try 'truncate=[recent, facts]'"),
    ],
)
@PACK
@click.argument("turns", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--session", metavar="FILE", type=click.Path(), help="Read the states of the session from this file: a JSON object a line.")
@click.option(
    "--carry",
    metavar="POINTER",
    multiple=True,
    help="Put into the next state what a turn hands on: at /strain its tier, or what a list shows, where `freeze` reads that.",
)
@click.option("--gap", callback=read_count, metavar="MINUTES", help="The time from one turn to the next. [1]")
@click.option("--min-reuse", callback=read_count, metavar="N", help="Fail if less than N % of the tokens begin as the turn before.")
@click.option("--max-flaps", metavar="N", type=click.IntRange(0), help="Fail if tiers and items come back more often than this.")
@click.option("--max-cost", callback=read_count, metavar="N", help="Fail if the session costs more than N % of one without a cache.")
@click.option("--no-trials", is_flag=True, help="Do not look for edits that would help.")
@click.option("--svg", "as_svg", is_flag=True, help="Print the session as an SVG picture.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--width", callback=read_count, metavar="N", help="The width in columns. [the terminal, else 80]")
@take_request
@click.pass_obj
def cache_command(
    reporter: Reporter,
    pack: str,
    turns: tuple[str, ...],
    request: RenderRequest,
    session: str | None,
    carry: tuple[str, ...],
    gap: int | None,
    min_reuse: int | None,
    max_flaps: int | None,
    max_cost: int | None,
    no_trials: bool,
    as_svg: bool,
    as_json: bool,
    width: int | None,
) -> int:
    """Measure how much of each prompt a provider can reuse from the turns before.

    TURNS are the states of one session in order, at least two. promptc renders each and compares the request with the one before: how many
    tokens they begin with in common, and what ended that. With `--format` and `--model` it also tells what the provider's cache reads and
    writes, and what the session costs beside one without a cache.

    Then promptc tries edits of the pack on the same session, and lists those that help. With `--try` it accounts your own edit, and shows
    its figures beside those of the file.

    Exit codes: 0 if all gates hold, 1 if one does not, 2 or more for an error.
    """
    if as_svg and as_json:
        raise UsageError([Diagnostic("PC0721", "`--svg` and `--json` print different things", help="ask for one at a time")])
    loaded = open_pack(reporter, pack, request)
    asked = _Session(tuple(_load_states(loaded, turns, session, request.changes)), request, carry)
    if len(asked.turns) < 2:
        raise UsageError([Diagnostic("PC0733", f"a session has at least two turns, and {len(asked.turns)} is given", help=_SESSION)])
    requests = _render(reporter, loaded, asked)
    if carry:
        untried = open_pack(reporter, pack, replace(request, tries=())) if request.tries else loaded
        unread = list(check_carried(carry, untried.model, (one.outcome for one in requests), word="--carry"))
        if unread:
            raise UsageError(unread)
    view = _describe(loaded, asked, requests, gap or 1)
    if request.tries:
        view = replace(view, tried=loaded.model.tries, without=_measure_without(reporter, pack, asked, gap or 1))
    if not no_trials and not as_svg:
        view = _add_trials(reporter, loaded, view, asked, requests)
    page = Page(as_json, width or read_width(), reporter.choose_paint(sys.stdout))
    if as_svg:
        write_stdout(_draw_session(view).encode())
    else:
        page.show(view, render_session)
    failed = list(_check_gates(view, min_reuse, max_flaps, max_cost))
    reporter.report(failed)
    return _BELOW if failed else 0


# --- the session ---


def _load_states(pack: Pack, turns: Sequence[str], session: str | None, changes: Sequence[Change]) -> Iterator[_TurnState]:
    """Yield the states in order: the files first, then the lines of the session. Raises `UsageError` (PC0733) for too many turns."""
    lines = read_bytes(session, "the session", limit=_MOST_BYTES).splitlines() if session is not None else []
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if len(numbered) + len(turns) > _MOST_TURNS:
        count = show_count(len(numbered) + len(turns))
        message = f"the session has {count} turns, and promptc compares at most {show_count(_MOST_TURNS)}"
        raise UsageError([Diagnostic("PC0733", message, help="give the last ones")])
    for name in turns:
        raw = read_bytes(name, "the state", limit=MAX_STATE_BYTES)
        shown = "stdin" if name == STDIN else name
        yield _TurnState(shown, raw, pack.load_state(raw, shown, changes=changes))
    for number, line in numbered:
        name = f"{session}:{number}"
        if len(line) > MAX_STATE_BYTES:
            message = f"the state has {show_count(len(line))} bytes, and promptc reads at most {show_count(MAX_STATE_BYTES)}"
            raise PromptcError([Diagnostic("PC0102", message, Span(name, 1, 1))])
        yield _TurnState(name, line, pack.load_state(line, name, changes=changes))


@frozen(eq=False)
class _Session:
    """The turns and the options of their renders. `carry` are the pointers in a state that receive values from the turn before."""

    turns: Sequence[_TurnState]
    request: RenderRequest
    carry: tuple[str, ...]

    def iter_outcomes(self, pack: Pack) -> Iterator[tuple[_TurnState, Outcome]]:
        """Render each turn. Raises `PromptcError` for an invalid state or pack."""
        carried: dict[str, str] = {}
        for turn in self.turns:
            outcome = compile_request(pack, turn.load(pack, self.request.changes, tuple(carried.items())), self.request)
            carried.update(iter_carried(outcome, self.carry))
            yield turn, outcome


def _render(reporter: Reporter, pack: Pack, session: _Session) -> list[ReadRequest]:
    progress = Progress(reporter, "rendering")
    requests: list[ReadRequest] = []
    for turn, outcome in session.iter_outcomes(pack):
        if outcome.emitted is None:
            progress.close()
            raise FitError((_tell_turn(one, len(requests) + 1, turn.name) for one in outcome.errors), outcome.report)
        requests.append(read_request(outcome))
        progress.note(len(requests), len(session.turns))
    progress.close()
    return requests


def _measure_without(reporter: Reporter, path: str, session: _Session, gap: int) -> FiguresView | None:
    """Return the figures of the file itself, or None if a turn is invalid or does not fit without the tried values."""
    asked = replace(session.request, tries=())
    try:
        loaded = open_pack(reporter, path, asked)
        turns = tuple(replace(one, state=loaded.load_state(one.raw, one.name, changes=asked.changes)) for one in session.turns)
        own = _Session(turns, asked, session.carry)
        return _describe(loaded, own, _render(reporter, loaded, own), gap).figures
    except PromptcError:
        return None


def _tell_turn(found: Diagnostic, turn: int, name: str) -> Diagnostic:
    return Diagnostic(found.code, f"{found.message} (turn {turn}, {name})", found.span, found.help, found.level)


def _describe(pack: Pack, session: _Session, requests: Sequence[ReadRequest], gap: int) -> SessionView:
    turns, asked = account_turns(requests, gap), session.request
    broke = [None, *(find_break(before, after) for before, after in pairwise(requests))]
    provider = load_provider(asked.format) if asked.format in PROVIDERS else None
    rows = tuple(
        TurnView(at + 1, session.turns[at].name, one.tokens, one.same, one.read, one.written, one.cost, broke[at])
        for at, one in enumerate(turns)
    )
    layout = requests[0].outcome.fitted.layout
    return SessionView(
        pack=f"{pack.name} {pack.model.version}",
        format=provider.title if provider is not None else layout.format,
        model=asked.model if provider is not None else None,
        as_of=provider.as_of if provider is not None else "",
        gap=gap,
        reuse=_measure_reuse(turns),
        least=min(one.share for one in turns[1:]),
        read=sum(one.read for one in turns),
        written=sum(one.written for one in turns),
        tokens=sum(one.tokens for one in turns),
        cost=measure_cost(turns),
        turns=rows,
        causes=tuple(_list_causes(rows)),
        flaps=tuple(Flap(one.turn + 1, one.what) for one in list_flaps(requests)),
    )


def _measure_reuse(turns: Sequence[Turn]) -> int:
    return measure_share(sum(one.same for one in turns[1:]), sum(one.tokens for one in turns[1:]))


def _list_causes(turns: Sequence[TurnView]) -> Iterator[CauseView]:
    """Yield the causes, the most frequent first. Causes with the same frequency keep the order of their first turns."""
    broken = [(one.turn, one.broke) for one in turns if one.broke is not None]
    counted = Counter(found.cause for _, found in broken)
    for cause, count in counted.most_common():
        first, found = next((turn, found) for turn, found in broken if found.cause == cause)
        yield CauseView(count, first, found.section, found.item, found.what, found.why, found.at, found.tier)


# --- edits ---


def _add_trials(reporter: Reporter, pack: Pack, view: SessionView, session: _Session, requests: Sequence[ReadRequest]) -> SessionView:
    """Return the account with the edits that help on the last turns.

    They are listed alone, best first, and combined, each tried in addition to those before. Each is tried as if it were written in the
    file: variants, patches and tiers apply on top. A better edit costs less or, if no price is known, has a longer common beginning.
    """
    tried, last = replace(session, turns=session.turns[-_TRIED:]), list(requests[-_TRIED:])
    own = best = account_turns(last, view.gap)
    chosen: list[Trial] = []
    alone: tuple[TrialView, ...] = ()
    together: list[TrialView] = []
    while len(together) < _ROUNDS:
        progress = Progress(reporter, "trying edits" if not together else f"trying edits with {show_plural(len(together), 'other')}")
        known = {one.target for one in chosen}
        trials = [one for one in list_trials(last) if one.target not in known]
        found = []
        for place, one in enumerate(trials, 1):
            edited = _try(pack, [*chosen, one], tried)
            turns = account_turns(edited, view.gap) if edited else []
            if edited and _score(turns) < _score(best):
                found.append((_score(turns), place, one, edited, turns))
            progress.note(place, len(trials))
        progress.close()
        found.sort(key=lambda entry: entry[:2])
        if not together:
            alone = tuple(_describe_trial(one, own, turns) for _, _, one, _, turns in found[:_TRIALS])
        if not found:
            break
        _, _, one, last, best = found[0]
        chosen.append(one)
        together.append(_describe_trial(one, own, best))
    return replace(view, trials=alone, together=tuple(together) if len(together) > 1 else ())


def _try(pack: Pack, trials: Sequence[Trial], session: _Session) -> list[ReadRequest] | None:
    """Return the requests with these edits, or None if they cannot be rendered with them."""
    found = []
    try:
        for _, outcome in session.iter_outcomes(pack.tried((), [one.patch for one in trials])):
            if outcome.emitted is None:
                return None
            found.append(read_request(outcome))
    except PromptcError:
        return None
    return found


def _score(turns: Sequence[Turn]) -> tuple[int, int]:
    """Return the cost, then the tokens that do not begin as the turn before; less is better.

    Both are shares of the session's own tokens, so an edit is not better just because it cuts more.
    """
    cost, whole = measure_cost(turns), sum(one.tokens for one in turns[1:])
    paid = sum(one.cost or 0 for one in turns) * 1000 // max(1, sum(one.tokens for one in turns)) if cost is not None else 0
    return paid, 1000 * sum(one.tokens - one.same for one in turns[1:]) // max(1, whole)


def _describe_trial(trial: Trial, own: Sequence[Turn], turns: Sequence[Turn]) -> TrialView:
    return TrialView(
        trial.edit,
        trial.at,
        trial.patch,
        (_measure_reuse(own), _measure_reuse(turns)),
        (measure_cost(own), measure_cost(turns)),
        (sum(one.tokens for one in own), sum(one.tokens for one in turns)),
    )


# --- gates ---


def _check_gates(view: SessionView, least: int | None, flaps: int | None, most: int | None) -> Iterator[Diagnostic]:
    if least is not None and view.reuse < least:
        worst = min(view.turns[1:], key=lambda one: (measure_share(one.same, one.tokens), one.turn))
        why = f"; turn {worst.turn} broke it most: {worst.broke.describe()}" if worst.broke is not None else ""
        yield Diagnostic(
            "PC0734",
            f"{view.reuse} % of the tokens repeat the beginning of the turn before, and at least {least} % are required{why}",
            help=_HELP,
        )
    if flaps is not None and len(view.flaps) > flaps:
        first = view.flaps[0]
        message = f"{show_plural(len(view.flaps), 'flap')}, and at most {flaps} are allowed; the first is {first.what} in turn {first.turn}"
        yield Diagnostic(
            "PC0735", message, help="give the tier a lower `leave`, so that it ends later; or give the list a `window` with a `step`"
        )
    if most is not None and view.cost is None:
        help = "name them, for example `--format anthropic --model claude-opus-5-5`"
        raise UsageError([Diagnostic("PC0721", "`--max-cost` needs the prices of a provider and a model", help=help)])
    if most is not None and view.cost is not None and view.cost > most:
        message = f"the session costs {view.cost} % of one without a cache, and at most {most} % are allowed"
        yield Diagnostic("PC0736", message, help=_HELP)


_HELP = "`promptc cache` lists edits that help"


# --- rendering ---


def _title(view: SessionView) -> str:
    model = f" for {view.model}" if view.model is not None else ""
    return f"{view.pack} as {view.format}{model}, {len(view.turns)} turns, {show_plural(view.gap, 'minute')} apart"


def render_session(view: SessionView, width: int, paint: Paint = PLAIN) -> str:
    """Return the account as text."""
    lines = [paint.apply(_title(view), "bold"), *_iter_summary(view), "", *_iter_strip(view, width)]
    text = "".join(f"{line}\n" for line in lines)
    return text + _render_turns(view, width, paint) + _render_causes(view, width, paint) + _render_trials(view, width, paint)


def _iter_summary(view: SessionView) -> Iterator[str]:
    for one in view.tried:
        yield f"tried: {escape_controls(one)}"
    if view.without is not None:
        yield from _iter_beside(view, view.without)
        return
    if view.tried:
        yield "without that the session cannot be rendered"
    yield f"{view.reuse} % of the tokens begin as the turn before, {view.least} % in the worst turn"
    if view.as_of:
        yield (
            f"the cache reads {show_percent(view.read, view.tokens)} of {show_count(view.tokens)} tokens, "
            f"and writes {show_percent(view.written, view.tokens)}"
        )
    if view.cost is not None:
        yield f"the session costs {view.cost} % of one without a cache (rules of {view.as_of})"
    elif view.as_of and view.model is None:
        yield "name the model with `--model` to see what that costs"


def _iter_beside(view: SessionView, without: FiguresView) -> Iterator[str]:
    """Yield the figures of the file next to those with the tried values."""
    old, new = without, view.figures
    rows = [("begins as the turn before", *(f"{one.reuse} %" for one in (old, new)))]
    rows += [("  in the worst turn", *(f"{one.least} %" for one in (old, new)))]
    rows += [("tokens of all turns", *(show_count(one.tokens) for one in (old, new)))]
    if view.as_of:
        rows += [("  read from the cache", *(show_percent(one.read, one.tokens) for one in (old, new)))]
        rows += [("  written to it", *(show_percent(one.written, one.tokens) for one in (old, new)))]
    if old.cost is not None and new.cost is not None:
        rows += [("cost, of one without a cache", *(f"{one.cost} %" for one in (old, new)))]
    rows += [("flaps", *(show_count(one.flaps) for one in (old, new)))]
    yield ""
    yield from render_table([["", "file", "tried"], *rows], right=frozenset((1, 2)), most=WIDTH).splitlines()
    if view.cost is not None:
        yield f"rules of {view.as_of}"
    elif view.as_of and view.model is None:
        yield "name the model with `--model` to see what that costs"


def _iter_strip(view: SessionView, width: int) -> Iterator[str]:
    """Yield lines with a cell for each turn, whose height is the share that begins as the turn before."""
    cells = "".join(_EIGHTHS[8 * one.same // max(1, one.tokens)] if at else "·" for at, one in enumerate(view.turns))
    room = max(20, width - 8)
    for start in range(0, len(cells), room):
        yield f"{'reuse' if not start else f'{start + 1:>5,}'}  {cells[start : start + room]}"


def _draw_session(view: SessionView) -> str:
    """Return an SVG with a row for each turn: how much of it begins as the turn before, and what ended that."""
    rows = [(str(one.turn), one.same, one.tokens, one.broke.describe() if one.broke is not None else "") for one in view.turns]
    return draw_rows([_title(view), *_iter_summary(view)], ("as the turn before", "new"), rows)


def _render_turns(view: SessionView, width: int, paint: Paint) -> str:
    """Return a row for each turn; of many turns, only the worst ones, in order."""
    told = sorted(
        sorted(view.turns[1:], key=lambda one: (measure_share(one.same, one.tokens), one.turn))[:_SHOWN], key=lambda one: one.turn
    )
    heads = ["turn", "tokens", "same", *(["read", "written"] if view.as_of else [])]
    rows: list[Row] = [[Cell(one, "dim") for one in (*heads, "what ended the common beginning")]]
    numbers = [[str(one.turn), *map(show_count, (one.tokens, one.same, *((one.read, one.written) if view.as_of else ())))] for one in told]
    room = width - count_columns([heads, *numbers])
    for one, shown in zip(told, numbers, strict=True):
        rows.append([*shown, clip_cells(escape_controls(one.broke.describe()), room) if one.broke is not None else Cell("nothing", "dim")])
    more = len(view.turns) - 1 - len(told)
    note = f"{show_plural(more, 'turn')} with more in common: `--json` has all\n" if more > 0 else ""
    return "\n" + render_table(rows, right=frozenset(range(len(heads))), most=width, paint=paint) + note


def _render_causes(view: SessionView, width: int, paint: Paint) -> str:
    lines = []
    if view.causes:
        lines += ["", paint.apply("what ended it, most often first", "bold")]
    for one in view.causes[:_TRIALS]:
        told = escape_controls(Break(one.section, "", one.what, one.why, one.at, one.tier).describe())
        item = f", first {escape_controls(one.item)} in turn {one.first}" if one.item else f", first in turn {one.first}"
        lines += wrap(f"{show_plural(one.turns, 'turn')}: {told}{item}{f' ({one.at})' if one.at else ''}", width, 2)
    if view.flaps:
        lines += ["", paint.apply(show_plural(len(view.flaps), "flap"), "bold")]
        lines += wrap(", ".join(f"{escape_controls(one.what)} in turn {one.turn}" for one in view.flaps[:_TRIALS]), width, 2)
    return "".join(f"{line}\n" for line in lines)


def _render_trials(view: SessionView, width: int, paint: Paint) -> str:
    tried = f", tried on the last {_TRIED} turns" if len(view.turns) > _TRIED else ""
    text = ""
    if view.trials:
        text += f"\n{paint.apply(f'edits that help{tried}', 'bold')}\n" + _render_edits(view, view.trials, width, paint)
    if view.together:
        text += f"\n{paint.apply('together, one after the other', 'bold')}\n" + _render_edits(view, view.together, width, paint)
    return text


def _render_edits(view: SessionView, trials: Sequence[TrialView], width: int, paint: Paint) -> str:
    has_cost = view.cost is not None
    heads = ["  reuse", *(["cost"] if has_cost else []), "tokens"]
    numbers = [[f"{one.reuse[1]} %", *([f"{one.cost[1]} %"] if has_cost else []), _show_change(*one.tokens)] for one in trials]
    room = width - count_columns([heads, *numbers])
    rows: list[Row] = [[Cell(one, "dim") for one in (*heads, "edit")]]
    for one, shown in zip(trials, numbers, strict=True):
        rows.append([*shown, clip_cells(f"{one.edit} ({one.at.rpartition('/')[2]})", room)])
    return render_table(rows, right=frozenset(range(len(heads))), most=width, paint=paint)


def _show_change(before: int, after: int) -> str:
    """Return the change of the tokens in per cent, or `=` if there is none."""
    change = (abs(after - before) * 100 + before // 2) // max(1, before)
    return f"{'+' if after > before else '-'}{change} %" if change else "="
