"""The verdict on a case as `promptc test` prints it (`render_verdict`), and the screen of `promptc review` (`render_page`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from promptc.cli.terminal import CLEAR, Paint, Style, clip_cells, escape_controls, hide_passwords
from promptc.cli.views.difference import DifferenceStyle, render_difference, render_sections
from promptc.cli.views.drawing import fold_lines, show_count, show_ids, show_percent, wrap
from promptc.compare import Difference
from promptc.diag.findings import Diagnostic, Span, show_plural, sort_diagnostics
from promptc.diag.frozen import frozen, replace
from promptc.golden.cases.case import Figures
from promptc.golden.running.environment import EXTRAS, render_install
from promptc.golden.verdicts.pending import PendingGolden, Seen
from promptc.golden.verdicts.verdict import GoldenDifference, Mover, Verdict, compare_verdict

_MOST = 40
"""The most lines of cases. A JSON report has all."""

SHAPES = ("full", "concise")
Print = Callable[[Iterable[Diagnostic]], str]

_WORDS: dict[str, tuple[str, Style]] = {
    "failed": ("FAILED", "red"),
    "broken": ("BROKEN", "red"),
    "new": ("NEW", "yellow"),
    "obsolete": ("OBSOLETE", "yellow"),
    "skipped": ("SKIPPED", "yellow"),
    "passed": ("passed", "green"),
}
_SHOWN = 40
"""The most lines of a difference; `promptc review` shows all."""

_MOST_SAID = 3
"""The most errors of a render that are shown if there is no room for all."""

_MOVED = "PC0920"
_BROKEN_CLAIM = "PC0924"
DIFFERS = (_MOVED, "PC0921")
"""The codes of findings that only say that a golden differs or is missing."""

_INDENT = "  "
_CAUSE = "cause: "
_KEYS = "a accept  r reject  s skip  u undo  d {style}  g alike  e edit  ? help  q quit"
_LEAST = 5
"""The lines of a difference that must fit before empty lines are added."""

_NAMED = 4
"""The most names in one line of the cases that the same edit moved."""

_MOST_HEAD = 3
_SHARE = 5
"""The keys get at most one of this many lines of the screen; `?` lists all of them."""

HELP = """\
  a          accept: this is the golden from now on
  r          reject: remove what is pending, the golden stays
  s, Enter   skip to the next one; it stays pending
  b          back to the one before
  u          undo the last accept or reject
  d          show words, lines, the old text, the new text
  g          accept every pending golden with the same change
  e          open the pending file in $VISUAL or $EDITOR
  space      the next screen of a long difference, arrow up the one before
  q          quit; what was not settled stays pending
"""


def count_lacking(verdicts: Iterable[Verdict], before: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return how many cases each missing extra caused to be skipped, in the order of EXTRAS; extras with no such case are left out.

    The counts of `before` are added.
    """
    counts = {name: (before or {}).get(name, 0) for name in EXTRAS}
    for name in (name for one in verdicts for name in one.lacking if one.status == "skipped"):
        counts[name] += 1
    return {name: count for name, count in counts.items() if count}


def show_lacking(counts: Mapping[str, int]) -> str:
    """Return the missing extras, with the number of cases of each if there are several, and the command that installs them."""
    named = ", ".join(f"{count:,} {name}" for name, count in counts.items()) if len(counts) > 1 else "".join(counts)
    return f"{named}: {render_install(counts)}"


def group_moved(verdicts: Iterable[Verdict]) -> list[list[Verdict]]:
    """Return the verdicts in groups with the same cause (`Verdict.moved_by`), in the order of each group's first verdict.

    A verdict without a cause is a group of its own.
    """
    groups: list[list[Verdict]] = []
    known: dict[str, list[Verdict]] = {}
    for one in verdicts:
        group = known.get(one.moved_by)
        if group is not None:
            group.append(one)
            continue
        groups.append([one])
        if one.moved_by:
            known[one.moved_by] = groups[-1]
    return groups


def lighten(verdict: Verdict) -> Verdict:
    """Return the verdict without the bytes of its goldens. The rest is enough to show a verdict that is not the first of its group."""
    return replace(verdict, differences=tuple(replace(one, old=None, new=b"") for one in verdict.differences))


def render_moved(group: Sequence[Verdict], shape: str, paint: Paint, print_found: Print, width: int = 80) -> str:
    """Return the text of a group of verdicts.

    `full` shows the first verdict as `render_verdict` does, and lists the others under it. `concise` has one entry for each element of
    `list_told`.
    """
    if shape == "concise":
        return _join(_render_concise(group, paint))
    first, *others = group
    text = render_verdict(first, paint, print_found, width)
    if not others:
        return text
    count = sum(len(one.differences) for one in group)
    goldens = f", {show_plural(count, 'golden')} in all" if count else ""
    head = f"  {show_plural(len(others), 'more case')} with the same cause{goldens}:"
    length = _measure(others[:_MOST])
    lines = [head, *(line for one in others[:_MOST] for line in _render_other(one, _list_own(one, first, DIFFERS), length, paint, width))]
    if len(others) > _MOST:
        lines.append(f"    … and {len(others) - _MOST:,} more; `promptc pending` lists what can be reviewed")
    return text.rstrip("\n") + "\n" + _join((*lines, ""))


def _join(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _measure(some: Sequence[Verdict]) -> int:
    return max(len(escape_controls(one.name)) for one in some)


def _render_other(verdict: Verdict, found: Sequence[Diagnostic], length: int, paint: Paint, width: int) -> Iterator[str]:
    """Yield the name of a verdict with its kinds of goldens and its changed figures, then its other findings."""
    yield from wrap(_show_other(verdict, length), width, 2 * len(_INDENT))
    for one in found:
        yield f"      {paint.apply(one.code, 'red')} {escape_controls(one.message.partition(chr(10))[0])}"


def _list_own(verdict: Verdict, first: Verdict, without: Collection[str]) -> list[Diagnostic]:
    """Return the findings to show for a verdict in addition to those of the first verdict with its cause.

    Leaves out the codes `without`, and the broken claim if the same error refused both renders.
    """
    is_same = verdict.refusal is not None and first.refusal is not None and verdict.refusal.code == first.refusal.code
    return [one for one in verdict.findings if one.code not in without and not (is_same and one.code == _BROKEN_CLAIM)]


def _show_other(verdict: Verdict, length: int) -> str:
    kinds = ", ".join(dict.fromkeys(one.kind for one in verdict.differences))
    told = [escape_controls(verdict.name).ljust(length), *([kinds] if kinds else []), *_iter_figures(verdict.before, verdict.after)]
    return "  ".join(told).rstrip()


def _iter_figures(before: Figures | None, after: Figures | None) -> Iterator[str]:
    if before is None or after is None:
        return
    if after.tokens is None or before.tokens is None:
        yield from ["no prompt"] if before.tokens is not None else []
        return
    if before.tokens != after.tokens:
        yield f"{before.tokens:,} → {after.tokens:,} tokens"
    if not before.sections:
        return
    if before.tier != after.tier and after.tier:
        yield f"tier {escape_controls(before.tier or 'none')} → {escape_controls(after.tier)}"
    for name in dict.fromkeys((*before.items, *after.items)):
        had, has = set(before.items.get(name, ())), set(after.items.get(name, ()))
        told = [f"{what} {count:,}" for what, count in (("dropped", len(had - has)), ("gained", len(has - had))) if count]
        if told:
            yield f"{escape_controls(name)} {' and '.join(told)}"


def render_verdict(verdict: Verdict, paint: Paint, print_found: Print, width: int = 80) -> str:
    """Return a head, the changed figures, every finding, each golden's difference by section and word, and the cause if known.

    `print_found` renders findings; a finding whose difference is shown is left out.
    """
    return _join(_render_full(verdict, paint, print_found, width))


def _render_concise(group: Sequence[Verdict], paint: Paint) -> Iterator[str]:
    for told in list_told(group):
        first, *more = told.found.message.split("\n")
        yield f"{_head(told.verdict, paint)}  {escape_controls(f'{_show_place(told.found)}{told.found.code} {first}')}"
        yield from (f"    {escape_controls(line)}" for line in more if told.is_moved)


@frozen
class Told:
    """A finding on a case, for outputs without room for differences.

    A finding that says what moved goldens (`is_moved`) stands in for the findings on these `goldens`.
    """

    verdict: Verdict
    found: Diagnostic
    is_moved: bool = False
    goldens: tuple[Diagnostic, ...] = ()


def list_told(verdicts: Iterable[Verdict]) -> list[Told]:
    """Return the findings to report, with shared causes first.

    An edit that moved goldens is reported once for all of them, at its place. An error that refused renders is reported once for all of
    them. Every other finding follows.
    """
    groups = group_moved(verdicts)
    moved = (_tell_moved(group) for group in groups if group[0].cause or group[0].refusal or _list_moved(group))
    others = (Told(one, found) for group in groups for one in group for found in _list_own(one, group[0], (_MOVED,)))
    return [*moved, *others]


def _list_moved(group: Sequence[Verdict]) -> tuple[Diagnostic, ...]:
    return tuple(found for one in group for found in one.findings if found.code == _MOVED)


def _tell_moved(group: Sequence[Verdict]) -> Told:
    """Return a finding that says how many goldens of which cases moved, what moved them, and the old and new figures."""
    first, goldens = group[0], _list_moved(group)
    if first.refusal is not None:
        return Told(first, _tell_refused(group, first.refusal), is_moved=True, goldens=goldens)
    spans = (*(one.span for one in first.cause), *(one.span for one in goldens))
    span = next((one for one in spans if one is not None), None)
    told = (say_moved(group, span), *list_said(first), *_iter_moved(group))
    message = "\n".join(escape_controls(line) for line in told)
    return Told(first, Diagnostic(_MOVED if goldens else _BROKEN_CLAIM, message, span), is_moved=True, goldens=goldens)


def _tell_refused(group: Sequence[Verdict], refusal: Diagnostic) -> Diagnostic:
    """Return the error that refused the renders, at its place and with its help, extended by the known cause and the cases."""
    others = list_said(replace(group[0], found=tuple(one for one in group[0].found if one != refusal)))
    told = (hide_passwords(refusal.message.partition("\n")[0]), say_moved(group), *others, *_iter_moved(group))
    return replace(refusal, message="\n".join(escape_controls(line) for line in told))


def _show_place(found: Diagnostic) -> str:
    return f"{found.span}: " if found.span is not None else ""


def list_said(verdict: Verdict) -> list[str]:
    """Return the first errors of the render, which say why there is no prompt; empty if it has no errors."""
    errors = [one for one in verdict.found if one.level == "error"]
    return [
        hide_passwords(f"the render said: {_show_place(one)}{one.code} {one.message.partition(chr(10))[0]}") for one in errors[:_MOST_SAID]
    ]


def say_moved(group: Sequence[Verdict], at: Span | None = None) -> str:
    """Return a line: how many goldens of which cases differ, and the cause. The place of an edit is omitted if it is `at`."""
    count = len(_list_moved(group))
    whose, kinds = f"{len(group):,} cases", ""
    if not group[1:]:
        whose = f"`{group[0].name}`"
        kinds = f" ({', '.join(dict.fromkeys(one.kind for one in group[0].differences if one.old is not None))})"
    differs = f"{show_plural(count, 'golden')} of {whose} {'differs' if count == 1 else 'differ'}{kinds}"
    fails = f"{whose} {'fail' if group[1:] else 'fails'}"
    reasons = "; ".join(show_reason(one, at) for one in group[0].cause)
    return f"{escape_controls(differs if count else fails)}{f', {_CAUSE}{reasons}' if reasons else ''}"


def show_reason(one: Mover, at: Span | None = None) -> str:
    """Return a line with the cause. Its place is omitted if it is `at`."""
    return escape_controls(hide_passwords(one.what if one.span is not None and one.span == at else str(one)))


def _iter_moved(group: Sequence[Verdict]) -> Iterator[str]:
    """Yield all figures of a single case, or a line for each of several cases."""
    if not group[1:]:
        yield from _render_figures(group[0].before, group[0].after)
        return
    length = _measure(group[:_MOST])
    yield from (_show_other(one, length) for one in group[:_MOST])
    if len(group) > _MOST:
        yield f"… and {len(group) - _MOST:,} more"


def _head(verdict: Verdict, paint: Paint) -> str:
    word, style = _WORDS[verdict.status]
    return f"{paint.apply(word, style)} {paint.apply(escape_controls(verdict.name), 'bold')}"


def _render_full(verdict: Verdict, paint: Paint, print_found: Print, width: int) -> Iterator[str]:
    yield _head(verdict, paint) + (f"  {escape_controls(verdict.title)}" if verdict.title else "")
    yield from (part for line in _render_figures(verdict.before, verdict.after) for part in wrap(line, width, len(_INDENT)))
    if verdict.refusal is not None:
        yield from _indent(print_found(sort_diagnostics(verdict.found)))
    is_shown_below = DIFFERS if verdict.status == "failed" else ()
    yield from _indent(print_found([one for one in verdict.findings if one.code not in is_shown_below]))
    if verdict.found and verdict.status == "failed" and verdict.refusal is None:
        yield "  the render said:"
        yield from _indent(print_found(verdict.found))
    for one, found in compare_verdict(verdict) if verdict.status == "failed" else ():
        yield from (f"{_INDENT}{line}".rstrip() for line in _render_difference(one, found, paint, width - len(_INDENT)))
    yield from (f"{_INDENT}{line}" for line in _render_cause(verdict.cause, paint, width - len(_INDENT)))
    yield ""


def _indent(text: str) -> list[str]:
    return [f"{_INDENT}{line}" for line in text.splitlines()]


def _render_difference(one: GoldenDifference, found: Difference, paint: Paint, width: int) -> Iterator[str]:
    yield paint.apply(escape_controls(one.path), "bold")
    lines = render_sections(found, width, paint).removesuffix("\n").split("\n")
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"… {show_count(len(lines) - _SHOWN)} more lines; `promptc review` shows all"


def _render_cause(cause: Sequence[Mover], paint: Paint, width: int) -> Iterator[str]:
    for one in cause:
        first, *more = wrap(show_reason(one), width - len(_CAUSE), 0)
        yield paint.apply(_CAUSE, "cyan") + first
        yield from (" " * len(_CAUSE) + line for line in more)


def _render_figures(before: Figures | None, after: Figures | None) -> Iterator[str]:
    """Yield tokens, tier, pressure, choices and reuse, then each section whose items or tokens changed."""
    if after is None:
        return
    told = [_show_change("tokens", _show_tokens(before), _show_tokens(after)) + _show_step(before, after)]
    told += [_show_change("tier", (before.tier or "") if before else "", after.tier)] if after.tier is not None else []
    told += (
        [_show_change("pressure", _show_pressure(before), _show_pressure(after))]
        if after.pressure is not None and after.pressure[1]
        else []
    )
    for axis, case in after.variants.items():
        told.append(_show_change(axis, before.variants.get(axis, "") if before else "", case))
    if after.reuse is not None:
        told.append(_show_change("reuse", _show_reuse(before), _show_reuse(after)))
    yield " · ".join(told)
    if before is not None and before.sections and after.tokens is not None:
        yield from _render_sections(before, after)


def _show_change(what: str, old: str, new: str) -> str:
    shown = f"{escape_controls(old)} → {escape_controls(new)}" if old and old != new else escape_controls(new)
    return f"{what} {shown}"


def _show_tokens(figures: Figures | None) -> str:
    if figures is None:
        return ""
    return show_count(figures.tokens) if figures.tokens is not None else "none"


def _show_step(before: Figures | None, after: Figures) -> str:
    if before is None or before.tokens is None or after.tokens is None or before.tokens == after.tokens:
        return ""
    return f" ({after.tokens - before.tokens:+,})"


def _show_pressure(figures: Figures | None) -> str:
    return show_percent(*figures.pressure) if figures is not None and figures.pressure is not None else ""


def _show_reuse(figures: Figures | None) -> str:
    return f"{figures.reuse} %" if figures is not None and figures.reuse is not None else ""


def _render_sections(before: Figures, after: Figures) -> Iterator[str]:
    names = [*after.sections, *(name for name in before.sections if name not in after.sections)]
    for name in names:
        old, new = before.sections.get(name, 0), after.sections.get(name, 0)
        had, has = before.items.get(name, ()), after.items.get(name, ())
        gone, come = [one for one in had if one not in has], [one for one in has if one not in had]
        if old != new or gone or come:
            items = [f"dropped {show_ids(gone)}"] if gone else []
            items += [f"gained {show_ids(come)}"] if come else []
            tokens = f"{show_count(old)} → {show_count(new)}" if old != new else show_count(new)
            yield "  ".join([escape_controls(name), tokens, *items])


@frozen
class Screen:
    """The terminal: columns, rows, colours."""

    width: int
    height: int
    paint: Paint


@frozen
class ReviewPlace:
    """The position of a review: golden `at` of `count` (from 1), the style, and the first line shown.

    `said` is a message to show. `alike` is a line with the other cases that the same edit moved.
    """

    at: int
    count: int
    style: DifferenceStyle = "words"
    line: int = 0
    said: str = ""
    alike: str = ""


@frozen
class VerdictLayout:
    """The lines on the screen, folded to its width. `room` lines of the body are shown, starting at `line`."""

    top: tuple[str, ...]
    body: tuple[str, ...]
    bottom: tuple[str, ...]
    room: int
    line: int

    def measure(self) -> tuple[int, int]:
        """Return the number of lines of the body, and how many of them a full screen shows."""
        return len(self.body), max(1, self.room - 1)


def render_page(pending: PendingGolden, shown: Seen | str, place: ReviewPlace, screen: Screen) -> str:
    """Return the whole screen, never higher than the terminal. A longer difference ends with the number of lines that follow."""
    page = lay_out(pending, shown, place, screen)
    body = page.body[page.line :]
    if len(body) > page.room:
        body = body[: page.measure()[1]] if page.room else ()
        left = len(page.body) - page.line - len(body)
        more = (screen.paint.apply(clip_cells(f"    … {left} more lines: space", screen.width), "dim"),) if page.room > 1 else ()
        body = (*body, *more)
    return CLEAR + "\n".join([*page.top, *body, *page.bottom])


def lay_out(pending: PendingGolden, shown: Seen | str, place: ReviewPlace, screen: Screen) -> VerdictLayout:
    """Return the layout. A message takes room from the difference, and is cut in its middle if there is too little."""
    paint, width = screen.paint, screen.width
    head = f"[{place.at}/{place.count}] {escape_controls(pending.case)}  {pending.status}  {escape_controls(pending.path)}"
    top = (*fold_lines(paint.apply(head, "bold"), width)[: max(1, min(_MOST_HEAD, screen.height // _SHARE))], *_warn(shown, screen))
    keys = fold_lines(paint.apply(_KEYS.format(style=place.style), "dim"), width)[: max(1, screen.height // _SHARE)]
    said = [part for line in place.said.split("\n") for part in fold_lines(escape_controls(line), width)] if place.said else []
    said = _cut_middle(said, max(1, screen.height - len(top) - len(keys)))
    spare = max(0, screen.height - len(top) - len(said) - len(keys))
    gap = [""] if spare >= _LEAST + 2 else []
    text = shown if isinstance(shown, str) else _render_seen(shown, place, screen)
    return VerdictLayout((*top, *gap), tuple(fold_lines(text, width)), (*gap, *said, *keys), spare - 2 * len(gap), place.line)


def _render_seen(shown: Seen, place: ReviewPlace, screen: Screen) -> str:
    """Return the cause, the other cases that it moved, the figures if the difference has no facts, and the difference."""
    lines = [*_render_cause(shown.cause, screen.paint, screen.width), *([place.alike] if place.alike else [])]
    lines += [] if shown.found.facts else _render_figures(shown.before, shown.after)
    return _join((*lines, *([""] if lines else []))) + render_difference(shown.found, screen.width, screen.paint, place.style)


def name_alike(names: Sequence[str]) -> str:
    """Return a line with the other cases that the same edit moved; empty if there are none."""
    shown = [escape_controls(one) for one in names[:_NAMED]]
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return f"with the same cause: {', '.join([*shown, *more])}" if names else ""


def _warn(shown: Seen | str, screen: Screen) -> list[str]:
    """Return a warning if the golden was made from files that have changed since."""
    if isinstance(shown, str) or not shown.stale:
        return []
    first, more = escape_controls(shown.stale[0]), f" and {len(shown.stale) - 1} more" if len(shown.stale) > 1 else ""
    return fold_lines(screen.paint.apply(f"made of {first}{more} as it was: run `promptc test`", "yellow"), screen.width)[:_MOST_HEAD]


def _cut_middle(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 2], "    …", lines[-1]][-most:]
