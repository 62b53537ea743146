"""A verdict on a case, as `promptc test` prints it."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from promptc.cli.escape import escape_controls
from promptc.cli.paint import Paint, Style
from promptc.cli.views.difference import render_sections
from promptc.cli.views.figures import show_count, show_ids, show_percent
from promptc.cli.views.wrap import wrap
from promptc.compare import Difference
from promptc.diag.findings import Diagnostic
from promptc.golden.judging.compare import Figures, GoldenDifference, Verdict, compare_verdict

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
"""Lines of a difference; `promptc review` shows all."""

DIFFERS = ("PC0920", "PC0921")
"""Findings that are no more than a golden that differs, or is missing."""

_INDENT = "  "
_CAUSE = "cause: "


def render_verdict(verdict: Verdict, shape: str, paint: Paint, print_found: Print, width: int = 80) -> str:
    """`full`: a head, what changed in figures, every finding, each golden's difference by section and word, and the cause, where it is
    known. `concise`: a line for each finding.

    `print_found` is asked to print whatever is told, findings that a difference stands for apart.
    """
    lines = _render_full(verdict, paint, print_found, width) if shape == "full" else _render_concise(verdict, paint, print_found)
    return "".join(f"{line}\n" for line in lines)


def _render_concise(verdict: Verdict, paint: Paint, print_found: Print) -> Iterator[str]:
    print_found(verdict.findings)
    for one in verdict.findings:
        first = one.message.partition("\n")[0]
        place = f"{one.span}: " if one.span is not None else ""
        yield f"{_head(verdict, paint)}  {escape_controls(f'{place}{one.code} {first}')}"


def _head(verdict: Verdict, paint: Paint) -> str:
    word, style = _WORDS[verdict.status]
    return f"{paint.apply(word, style)} {paint.apply(escape_controls(verdict.name), 'bold')}"


def _render_full(verdict: Verdict, paint: Paint, print_found: Print, width: int) -> Iterator[str]:
    yield _head(verdict, paint) + (f"  {escape_controls(verdict.title)}" if verdict.title else "")
    yield from (f"  {line}" for line in _render_figures(verdict))
    shown = print_found(verdict.findings) if verdict.status != "failed" else print_found(_leave_out(verdict))
    yield from _indent(shown)
    if verdict.found and verdict.status == "failed":
        yield "  the render said:"
        yield from _indent(print_found(verdict.found))
    for one, found in compare_verdict(verdict) if verdict.status == "failed" else ():
        yield from (f"{_INDENT}{line}".rstrip() for line in _render_difference(one, found, paint, width - len(_INDENT)))
    yield from (f"{_INDENT}{line}" for line in _render_cause(verdict, paint, width - len(_INDENT)))
    yield ""


def _leave_out(verdict: Verdict) -> Sequence[Diagnostic]:
    """The findings whose difference is not shown below."""
    return [one for one in verdict.findings if one.code not in DIFFERS]


def _indent(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


def _render_difference(one: GoldenDifference, found: Difference, paint: Paint, width: int) -> Iterator[str]:
    yield paint.apply(escape_controls(one.path), "bold")
    lines = render_sections(found, width, paint).removesuffix("\n").split("\n")
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"… {show_count(len(lines) - _SHOWN)} more lines; `promptc review` shows all"


def _render_cause(verdict: Verdict, paint: Paint, width: int) -> Iterator[str]:
    for line in verdict.cause:
        first, *more = wrap(escape_controls(line), width - len(_CAUSE), 0)
        yield paint.apply(_CAUSE, "cyan") + first
        yield from (" " * len(_CAUSE) + one for one in more)


def _render_figures(verdict: Verdict) -> Iterator[str]:
    """Tokens, tier, pressure, choices and reuse, then each section whose items or tokens are others."""
    before, after = verdict.before, verdict.after
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
    if before is not None:
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
