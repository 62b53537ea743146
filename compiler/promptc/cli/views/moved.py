"""Failures that one cause brought about, told once: the first as it is, the others in a line each."""

from collections.abc import Iterable, Iterator, Sequence

from promptc.cli.escape import escape_controls
from promptc.cli.paint import Paint
from promptc.cli.views.figures import show_plural
from promptc.cli.views.verdict import DIFFERS, Print, render_verdict
from promptc.diag.frozen import replace
from promptc.golden.judging.compare import Figures, Verdict

_MOST = 40
"""Lines of cases; a report in JSON has all."""


def group_moved(verdicts: Iterable[Verdict]) -> list[list[Verdict]]:
    """The verdicts by what moved them (`Verdict.moved_by`), in the order of the first of each; one without stands alone."""
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
    """The verdict with what is told of one that is not the first: without the bytes of goldens."""
    return replace(verdict, differences=tuple(replace(one, old=None, new=b"", ranges=()) for one in verdict.differences))


def render_moved(group: Sequence[Verdict], shape: str, paint: Paint, print_found: Print, width: int = 80) -> str:
    """The first as `render_verdict` has it, with the others under it."""
    first, *others = group
    text = render_verdict(first, shape, paint, print_found, width)
    if not others:
        return text
    goldens = show_plural(sum(len(one.differences) for one in group), "golden")
    head = f"  {show_plural(len(others), 'more case')} with the same cause, {goldens} in all:"
    lines = [head, *(line for one in others[:_MOST] for line in _render_other(one, _measure(others[:_MOST]), paint))]
    if len(others) > _MOST:
        lines.append(f"    … and {len(others) - _MOST:,} more; `promptc pending` lists what can be reviewed")
    return text.rstrip("\n") + "\n" + "".join(f"{line}\n" for line in (*lines, ""))


def _measure(some: Sequence[Verdict]) -> int:
    return max(len(escape_controls(one.name)) for one in some)


def _render_other(verdict: Verdict, length: int, paint: Paint) -> Iterator[str]:
    """Its name, which goldens, and what its prompt comes to where that is another; then each claim that does not hold."""
    kinds = ", ".join(dict.fromkeys(one.kind for one in verdict.differences))
    told = [escape_controls(verdict.name).ljust(length), kinds, *_iter_figures(verdict.before, verdict.after)]
    yield f"    {'  '.join(told)}".rstrip()
    for one in verdict.findings:
        if one.code not in DIFFERS:
            yield f"      {paint.apply(one.code, 'red')} {escape_controls(one.message.partition(chr(10))[0])}"


def _iter_figures(before: Figures | None, after: Figures | None) -> Iterator[str]:
    if before is None or after is None:
        return
    if None not in (before.tokens, after.tokens) and before.tokens != after.tokens:
        yield f"{before.tokens:,} → {after.tokens:,} tokens"
    if before.tier != after.tier and after.tier:
        yield f"tier {escape_controls(before.tier or 'none')} → {escape_controls(after.tier)}"
    had = [(name, item) for name, items in before.items.items() for item in items]
    has = [(name, item) for name, items in after.items.items() for item in items]
    for what, count in (("dropped", len(set(had) - set(has))), ("gained", len(set(has) - set(had)))):
        if count:
            yield f"{what} {count:,}"
