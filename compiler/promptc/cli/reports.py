"""Verdicts as Markdown: a comment on a pull request, or a step's summary."""

import re
from collections.abc import Callable, Mapping, Sequence

from promptc.cli.findings import render_diagnostics
from promptc.cli.views.figures import show_plural
from promptc.cli.views.lacking import count_lacking, show_lacking
from promptc.cli.views.moved import group_moved
from promptc.golden.judging.compare import Figures, Verdict

MARK = "<!-- promptc -->"
"""The first line, by which a comment is found again and replaced."""

MOST_CHARACTERS = 60_000
"""A comment on GitHub holds 65 536."""

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~@])")
_FENCE = "```"
_SHOWN_IDS = 4

Explain = Callable[[Sequence[Verdict]], str]


def render_markdown(verdicts: Sequence[Verdict], counts: Mapping[str, int], explain: Explain, most: int = MOST_CHARACTERS) -> str:
    """A headline, a table of what is not as it was, and what `explain` says of each, those that one cause moved together; not longer than
    `most` characters, those left out counted.
    """
    told = [one for one in verdicts if one.status not in ("passed", "skipped")]
    total = sum(counts.values())
    head = f"{MARK}\n### promptc: {_sum_up(told, total - counts.get('skipped', 0))}\n{_render_skipped(verdicts, counts)}"
    if not told:
        return head
    rows = ["| case | | tokens | tier | items |", "| --- | --- | --- | --- | --- |", *map(_render_row, told)]
    text = head + "\n" + _take(rows, most // 2) + "\n"
    left = 0
    for group in group_moved(told):
        block = _render_details(group, explain)
        if len(text) + len(block) > most - 80:
            left += len(group)
        else:
            text += block
    return text + (f"\n… and the details of {left} more, in the log.\n" if left else "")


def _sum_up(told: Sequence[Verdict], total: int) -> str:
    if not told:
        return f"all {total:,} prompts are what they were"
    counts = [(status, sum(one.status == status for one in told)) for status in ("failed", "broken", "new", "obsolete")]
    return f"{', '.join(f'{count:,} {status}' for status, count in counts if count)} of {total:,}"


def _render_skipped(verdicts: Sequence[Verdict], counts: Mapping[str, int]) -> str:
    """How many were skipped, and what would have them run."""
    skipped = counts.get("skipped", 0)
    return f"\n{skipped:,} skipped (`{_escape_code(show_lacking(count_lacking(verdicts)))}`)\n" if skipped else ""


def _take(rows: Sequence[str], most: int) -> str:
    """As many rows as there is room for."""
    kept: list[str] = []
    length = 0
    for row in rows:
        length += len(row) + 1
        if length > most:
            return "".join(f"{one}\n" for one in kept) + f"\n… and {len(rows) - len(kept)} more.\n"
        kept.append(row)
    return "".join(f"{one}\n" for one in kept)


def _render_row(verdict: Verdict) -> str:
    before, after = verdict.before, verdict.after
    cells = (
        f"`{_escape_code(verdict.name)}`",
        verdict.status,
        _show_tokens(before, after),
        _show_tier(before, after),
        _show_items(before, after),
    )
    return "| " + " | ".join(cells) + " |"


def _show_tokens(before: Figures | None, after: Figures | None) -> str:
    if after is None or after.tokens is None:
        return ""
    if before is None or before.tokens is None or before.tokens == after.tokens:
        return f"{after.tokens:,}"
    return f"{before.tokens:,} → {after.tokens:,} ({after.tokens - before.tokens:+,})"


def _show_tier(before: Figures | None, after: Figures | None) -> str:
    if after is None or after.tier is None:
        return ""
    old = before.tier if before is not None else None
    return _escape_markdown(after.tier if old in (None, after.tier) else f"{old} → {after.tier}")


def _show_items(before: Figures | None, after: Figures | None) -> str:
    if before is None or after is None:
        return ""
    had = [f"{name}/{item}" for name, items in before.items.items() for item in items]
    has = [f"{name}/{item}" for name, items in after.items.items() for item in items]
    gone, come = [one for one in had if one not in set(has)], [one for one in has if one not in set(had)]
    return " ".join(_show_some(sign, some) for sign, some in (("-", gone), ("+", come)) if some)


def _show_some(sign: str, names: Sequence[str]) -> str:
    shown = ", ".join(f"`{_escape_code(name)}`" for name in names[:_SHOWN_IDS])
    return f"{sign}{len(names)}: {shown}{' …' if len(names) > _SHOWN_IDS else ''}"


def _render_details(group: Sequence[Verdict], explain: Explain) -> str:
    verdict = group[0]
    text = explain(group) or render_diagnostics(verdict.findings)
    fence = _FENCE
    while fence in text:
        fence += "`"
    title = (
        f" and {show_plural(len(group) - 1, 'more case')}" if group[1:] else f": {_escape_markdown(verdict.title)}" if verdict.title else ""
    )
    return f"<details><summary>{_escape_markdown(verdict.name)}{title}</summary>\n\n{fence}diff\n{text.rstrip()}\n{fence}\n\n</details>\n"


def _escape_markdown(text: str) -> str:
    """Text that Markdown and HTML leave alone, and that calls nobody."""
    return _ACTIVE.sub(lambda found: {"<": "&lt;", ">": "&gt;", "@": "&#64;"}.get(found[1], f"\\{found[1]}"), " ".join(text.split()))


def _escape_code(text: str) -> str:
    """Inside single backticks, in a table."""
    return " ".join(text.split()).replace("`", "'").replace("|", "\\|")
