"""Verdicts and findings for other programs: JSON, JUnit for build servers, SARIF, GitHub commands, and Markdown for a pull request.

`render_report` returns the report of a kind, and `render_summary` the Markdown of a step. `render_sarif` and `render_github` take findings
only. `render_matrix_as` returns the figures of many cases as Markdown, HTML, CSV or JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from string import Template
from types import MappingProxyType
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from promptc.cli.terminal import PLAIN, describe_diagnostic, escape_controls, hide_passwords, hide_secrets, render_diagnostics, show_json
from promptc.cli.views.difference import show_held, show_step
from promptc.cli.views.drawing import render_csv
from promptc.cli.views.verdict import (
    Told,
    count_lacking,
    group_moved,
    list_said,
    list_told,
    name_alike,
    render_moved,
    say_moved,
    show_lacking,
    show_reason,
)
from promptc.compare import CaseFigures, Held, Matrix, MatrixRow
from promptc.diag.findings import Diagnostic, Level, Span, find_code, show_plural
from promptc.diag.frozen import as_plain
from promptc.diag.typed import Any
from promptc.golden.cases.case import Figures
from promptc.golden.verdicts.verdict import Verdict
from promptc.version import VERSION

KINDS = ("json", "junit", "sarif", "github", "markdown")
WHOLE = ("json", "junit")
"""The kinds of reports that include cases that passed."""

_WIDTH = 100
_MOST_OF_SUMMARY = 900_000
"""The most characters of a summary; GitHub accepts 1 MiB for a step."""

_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/])")
"""The drive of an absolute path on Windows."""

_UNFIT = re.compile("[\ufffe\uffff]")
_TOLD = ("failed", "new", "obsolete", "skipped")
_LEVELS: dict[Level, str] = {"error": "error", "warn": "warning", "note": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"
_COMMANDS: dict[Level, str] = {"error": "error", "warn": "warning", "note": "notice"}
MOST_ANNOTATIONS = 10
"""GitHub shows at most this many annotations of each level for a step, and silently drops the rest."""

MARK = "<!-- promptc -->"
"""The first line of a comment, by which a later run finds and replaces it."""

MOST_CHARACTERS = 60_000
"""The most characters of a comment; GitHub accepts 65 536."""

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~@])")
_FENCE = "```"
_SHOWN_IDS = 4
_MOST_RELATED = 100
"""Code scanning shows at most this many related places of a result."""

Explain = Callable[[Sequence[Verdict]], str]


def render_report(kind: str, verdicts: Sequence[Verdict], counts: Mapping[str, int], *, is_ci: bool) -> str:
    """Return the whole report.

    `verdicts` are the verdicts to report, in order. `counts` is the number of cases of each status.
    """
    match kind:
        case "json":
            return render_json(verdicts, counts)
        case "junit":
            return render_junit(verdicts, is_ci=is_ci)
        case "sarif":
            told = list_told(verdicts)
            return render_sarif((one.found for one in told), [one.goldens for one in told])
        case "github":
            return render_github((one.found for one in list_told(verdicts)), "the step's summary")
        case _:
            return render_markdown(verdicts, counts, _explain)


def render_summary(verdicts: Sequence[Verdict], counts: Mapping[str, int]) -> str:
    """Return the Markdown that GitHub shows below a run, within the limit of a step's summary."""

    return render_markdown(verdicts, counts, _explain, _MOST_OF_SUMMARY)


def _explain(group: Sequence[Verdict]) -> str:
    return render_moved(group, "full", PLAIN, render_diagnostics, _WIDTH)


def render_json(verdicts: Sequence[Verdict], counts: Mapping[str, int]) -> str:
    """Return the counts, every verdict, and each cause with the cases that it moved.

    The report does not depend on when or how the cases were run.
    """
    causes = [_describe_cause(group) for group in group_moved(verdicts) if group[0].moved_by]
    whole = {"promptc": VERSION, "counts": dict(counts), "causes": causes, "cases": [_describe_verdict(one) for one in verdicts]}
    return show_json(whole)


def _describe_cause(group: Sequence[Verdict]) -> dict[str, Any]:
    goldens = [one.path for verdict in group for one in verdict.differences]
    reasons = [*map(show_reason, group[0].cause)] or list_said(group[0])
    return {"cause": reasons, "cases": [one.name for one in group], "goldens": goldens}


def _describe_verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "status": verdict.status,
        "title": verdict.title,
        "file": verdict.file,
        "pack": verdict.pack,
        "findings": [describe_diagnostic(one) for one in (*_list_refusals(verdict), *verdict.findings)],
        "differences": [{"kind": one.kind, "golden": one.path, "pending": one.pending or None} for one in verdict.differences],
        "before": as_plain(verdict.before),
        "after": as_plain(verdict.after),
        "cause": list(map(show_reason, verdict.cause)),
        "lacking": list(verdict.lacking),
    }


def _list_refusals(verdict: Verdict) -> list[Diagnostic]:
    return [one for one in verdict.found if one.level == "error"] if verdict.refusal is not None else []


def render_junit(verdicts: Sequence[Verdict], *, is_ci: bool) -> str:
    """Return a test suite for each pack, in the order of the verdicts, with a test case for each verdict.

    A broken case is an error. A new or obsolete verdict is a failure in CI, and skipped elsewhere. A skipped case is skipped. Times are in
    seconds.
    """
    suites: dict[str, list[Verdict]] = {}
    for one in verdicts:
        suites.setdefault(one.name.partition("/")[0], []).append(one)
    alike = {id(one): group for group in group_moved(verdicts) for one in group}
    inner = "".join(_render_suite(name, some, is_ci, alike) for name, some in suites.items())
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="promptc" {_count_verdicts(verdicts, is_ci)}>\n{inner}</testsuites>\n'


def _render_suite(name: str, verdicts: Sequence[Verdict], is_ci: bool, alike: Mapping[int, Sequence[Verdict]]) -> str:
    inner = "".join(_render_case(one, is_ci, alike[id(one)]) for one in verdicts)
    return f"  <testsuite name={_quote(name)} {_count_verdicts(verdicts, is_ci)}>\n{inner}  </testsuite>\n"


def _count_verdicts(verdicts: Sequence[Verdict], is_ci: bool) -> str:
    tags = [_choose_tag(one, is_ci) for one in verdicts]
    counts = [
        ("tests", len(tags)),
        ("failures", tags.count("failure")),
        ("errors", tags.count("error")),
        ("skipped", tags.count("skipped")),
    ]
    shown = " ".join(f'{name}="{count}"' for name, count in counts)
    return f'{shown} time="{_show_time(sum(one.microseconds for one in verdicts))}"'


def _choose_tag(verdict: Verdict, is_ci: bool) -> str:
    if verdict.status == "broken":
        return "error"
    if verdict.status not in _TOLD:
        return ""
    return "failure" if verdict.status == "failed" or (is_ci and verdict.status != "skipped") else "skipped"


def _render_case(verdict: Verdict, is_ci: bool, alike: Sequence[Verdict]) -> str:
    """Return a test case. `alike` are the verdicts with the same cause, including this one."""
    suite, _, name = verdict.name.partition("/")
    head = f"    <testcase classname={_quote(suite)} name={_quote(name or suite)} file={_quote(verdict.file)}"
    head += f' time="{_show_time(verdict.microseconds)}"'
    tag = _choose_tag(verdict, is_ci)
    if not tag:
        return f"{head}/>\n"
    if verdict.status == "skipped":
        return f"{head}>\n      <skipped message={_quote(_explain_skip(verdict))}/>\n    </testcase>\n"
    told = list_told([verdict])
    said = "; ".join(_say_told(one) for one in told) or verdict.status
    type = f" type={_quote(told[0].found.code if told else verdict.status)}" if tag != "skipped" else ""
    shown = render_diagnostics([*(one.found for one in told), *(golden for one in told for golden in one.goldens)])
    others = name_alike([one.name for one in alike if one is not verdict])
    text = escape(_escape_unfit(shown + (f"{others}\n" if others else "")))
    return f"{head}>\n      <{tag} message={_quote(hide_passwords(said))}{type}>{text}</{tag}>\n    </testcase>\n"


def _say_told(told: Told) -> str:
    """Return a line with the cause and its place; for a refused render, also with the error that refused it."""
    first = told.found.message.partition("\n")[0]
    if not told.is_moved:
        return first
    return f"{first}; {say_moved([told.verdict])}" if told.verdict.refusal is not None else say_moved([told.verdict])


def _explain_skip(verdict: Verdict) -> str:
    (found,) = verdict.findings
    return f"{found.message}: {found.help}"


def _show_time(microseconds: int) -> str:
    return f"{microseconds // 1_000_000}.{microseconds % 1_000_000:06}"


def _quote(text: str) -> str:
    return quoteattr(_escape_unfit(text).replace("\n", " "))


def _escape_unfit(text: str) -> str:
    """Return the text with escapes for control characters, bidirectional marks, and what else XML cannot contain. Line ends stay."""
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", _escape_lines(text))


def _escape_lines(text: str) -> str:
    return "\n".join(map(escape_controls, text.split("\n")))


def render_sarif(
    found: Iterable[Diagnostic],
    goldens: Sequence[Sequence[Diagnostic]] = (),
    fixes: Mapping[Diagnostic, Any] = MappingProxyType({}),
) -> str:
    """Return one run with a result for each finding, in the given order, and a rule for each code.

    Files are relative to the folder that promptc runs in, and columns count code points. `goldens` has, for each finding, the findings on
    goldens that it stands in for. `fixes` are the changes of `promptc check --fix`, by finding.
    """
    given = list(found)
    results = [hide_secrets(one) for one in given]
    codes = sorted({one.code for one in results})
    described = [_describe_result(one, codes) for one in results]
    for result, related in zip(described, goldens, strict=False):
        if related:
            result["relatedLocations"] = [_describe_related(number, one) for number, one in enumerate(related[:_MOST_RELATED], 1)]
    for result, one in zip(described, given, strict=True):
        if one in fixes:
            result["fixes"] = [_describe_fix(one, fixes[one].change)]
    run = {
        "tool": {"driver": {"name": "promptc", "version": VERSION, "rules": [_describe_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": described,
    }
    return show_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _describe_rule(name: str) -> dict[str, Any]:
    code = find_code(name)
    if code is None:
        return {"id": name}
    return {
        "id": name,
        "shortDescription": {"text": code.summary},
        "fullDescription": {"text": code.why},
        "helpUri": code.url,
        "help": {"text": code.fix + (f"\nWrite instead:\n{code.good}" if code.good else "")},
        "defaultConfiguration": {"level": _LEVELS[code.level]},
    }


def _describe_result(one: Diagnostic, codes: Sequence[str]) -> dict[str, Any]:
    text = _escape_sarif(one.message + (f"\nhelp: {one.help}" if one.help else ""))
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": codes.index(one.code),
        "level": _LEVELS[one.level],
        "message": {"text": text},
        "partialFingerprints": {"promptc/v1": _digest(one)},
    }
    if one.span is not None and one.span.file:
        result["locations"] = [_describe_place(one.span)]
    return result


def _describe_fix(one: Diagnostic, change: Any) -> dict[str, Any]:
    made = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": edit.new},
        }
        for edit in change.edits
    ]
    place = _describe_place(Span(change.file, 1, 1))["physicalLocation"]["artifactLocation"]
    text = f"take out what {one.code} is about: every prompt stays the same"
    return {"description": {"text": text}, "artifactChanges": [{"artifactLocation": place, "replacements": made}]}


def _describe_place(span: Span) -> dict[str, Any]:
    uri = quote(span.file.replace("\\", "/").encode("utf-8", "surrogatepass"))
    drive = _DRIVE.match(span.file)
    place = {"uri": f"file:///{drive[0]}{uri[len(quote(drive[0])) :]}"} if drive else {"uri": uri, "uriBaseId": _ROOT}
    region = {"startLine": max(span.line, 1), "startColumn": max(span.column, 1)}
    return {"physicalLocation": {"artifactLocation": place, "region": region}}


def _describe_related(number: int, one: Diagnostic) -> dict[str, Any]:
    """Return a golden that an edit moved, as the place where it differs."""
    place = _describe_place(one.span) if one.span is not None and one.span.file else {}
    return {"id": number, **place, "message": {"text": _escape_sarif(hide_secrets(one).message)}}


def _escape_sarif(text: str) -> str:
    """Return a message without control characters, placeholders and embedded links (SARIF 2.1.0, §3.11.5 and §3.11.6).

    Braces are doubled. A bracket is literal unless it is part of `[text](address)`, so a space breaks that: some viewers take no escapes.
    """
    return _escape_lines(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _digest(one: Diagnostic) -> str:
    """Return a digest that identifies the alert: the same finding in the same file has the same digest on any line."""
    file = one.span.file if one.span is not None else ""
    excerpt = one.span.excerpt.strip() if one.span is not None else ""
    return sha256("\0".join((one.code, file, one.message, excerpt)).encode("utf-8", "replace")).hexdigest()[:32]


def render_github(found: Iterable[Diagnostic], where: str = "the log") -> str:
    """Return a command for each finding, errors first.

    If a level has more findings than GitHub shows, its last command says how many are missing, and that `where` has them all.
    """
    by_level: dict[Level, list[Diagnostic]] = {level: [] for level in _COMMANDS}
    for one in found:
        by_level[one.level].append(hide_secrets(one))
    return "".join(_render_annotations(level, some, where) for level, some in by_level.items())


def _render_annotations(level: Level, found: list[Diagnostic], where: str) -> str:
    if len(found) <= MOST_ANNOTATIONS:
        return "".join(map(_render_annotation, found))
    rest = f"::{_COMMANDS[level]} title=promptc::and {len(found) - MOST_ANNOTATIONS + 1} more; {where} has them all\n"
    return "".join(map(_render_annotation, found[: MOST_ANNOTATIONS - 1])) + rest


def _render_annotation(one: Diagnostic) -> str:
    place = [f"file={_escape_value(one.span.file)}", f"line={one.span.line}", f"col={one.span.column}"] if one.span is not None else []
    settings = ",".join([*place, f"title={_escape_value(f'promptc {one.code}')}"])
    text = one.message + (f"\nhelp: {one.help}" if one.help else "")
    return f"::{_COMMANDS[one.level]} {settings}::{_escape_github(text)}\n"


def _escape_github(text: str) -> str:
    return _escape_lines(text).replace("%", "%25").replace("\n", "%0A")


def _escape_value(text: str) -> str:
    return _escape_github(escape_controls(text)).replace(":", "%3A").replace(",", "%2C")


def render_markdown(verdicts: Sequence[Verdict], counts: Mapping[str, int], explain: Explain, most: int = MOST_CHARACTERS) -> str:
    """Return a headline, a table of the cases that changed, and the text of `explain` for each group with the same cause.

    The result has at most `most` characters, and counts what it leaves out.
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
    """Return the number of skipped cases, and the command that would let them run; empty if there are none."""
    skipped = counts.get("skipped", 0)
    return f"\n{skipped:,} skipped ({_render_code(show_lacking(count_lacking(verdicts)))})\n" if skipped else ""


def _take(rows: Sequence[str], most: int) -> str:
    """Return as many rows as fit into `most` characters, and the number of the rest."""
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
        _render_code(verdict.name),
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
    if before is None or after is None or not before.sections:
        return ""
    had = [f"{name}/{item}" for name, items in before.items.items() for item in items]
    has = [f"{name}/{item}" for name, items in after.items.items() for item in items]
    gone, come = [one for one in had if one not in set(has)], [one for one in has if one not in set(had)]
    return " ".join(_show_some(sign, some) for sign, some in (("-", gone), ("+", come)) if some)


def _show_some(sign: str, names: Sequence[str]) -> str:
    shown = ", ".join(map(_render_code, names[:_SHOWN_IDS]))
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
    """Return text that Markdown and HTML show literally, and that mentions nobody."""
    shown = escape_controls(" ".join(text.split()))
    return _ACTIVE.sub(lambda found: {"<": "&lt;", ">": "&gt;", "@": "&#64;"}.get(found[1], f"\\{found[1]}"), shown)


def _render_code(text: str) -> str:
    """Return text as code, also in a table. Backticks cannot hold a backtick, nor a backslash before a `|` in a table."""
    shown = escape_controls(text)
    return f"<code>{_escape_markdown(shown)}</code>" if set(shown) & set("`\\|") else f"`{shown}`"


# --- many cases ---


def render_matrix_as(kind: str, found: Matrix) -> str:
    """Return a matrix as `markdown`, `html`, `csv` or `json`. Names of cases and tried values are escaped as plain text."""
    if kind == "json":
        return show_json(as_plain(found))
    if kind == "csv":
        return _render_matrix_csv(found)
    return _render_matrix_markdown(found) if kind == "markdown" else _render_matrix_html(found)


def _title_matrix(found: Matrix) -> str:
    return f"{found.pack}, {show_plural(len(found.rows), 'row')}" + (f", against {found.against}" if found.against else "")


def _render_matrix_markdown(found: Matrix) -> str:
    """Return a table. A cell that differs shows the difference."""
    lines = [f"**{_escape_markdown(_title_matrix(found))}**", ""]
    lines += [f"- tried: {_render_code(one)}" for one in found.tried] + ([""] if found.tried else [])
    heads = _list_heads(found)
    sides = ["---" if one in ("case", "tier") else "---:" for one in heads]
    lines += [f"| {' | '.join(map(_escape_markdown, heads))} |", f"| {' | '.join(sides)} |"]
    for row in (*found.rows, total := found.total):
        name = _render_code(row.name) if row is not total else "**total**"
        cells = [f"{shown} ({step})" if step else shown for shown, step, _ in _list_cells(row, found)]
        lines.append(f"| {' | '.join([name, *map(_escape_markdown, cells)])} |")
    return "\n".join([*lines, "", "Tokens, and after a / how many items were cut.", ""])


def _list_heads(found: Matrix) -> list[str]:
    return ["case", *(["tier"] if found.has_tiers else []), "total", *found.sections]


def _list_cells(row: MatrixRow, found: Matrix) -> list[tuple[str, str, str]]:
    """Return the cells of a row, one for each head after the name."""
    return _list_all_cells(row, found)[0 if found.has_tiers else 1 :]


def _list_all_cells(row: MatrixRow, found: Matrix) -> list[tuple[str, str, str]]:
    """Return the cells of a row: tier, total and sections.

    A cell is the text, the difference, and its style: `up` for more, `down` for less, `bad` for a refused render.
    """
    new, old = row.new, row.old
    blank = ("", "", "")
    if new is None or new.refused:
        was = f"was {show_held(Held(old.tokens, old.cut))}" if old is not None and not old.refused else ""
        return [blank, (new.refused if new is not None else "-", was, "bad"), *(blank for _ in found.sections)]
    pairs = [(Held(new.tokens, new.cut), Held(old.tokens, old.cut) if old is not None else None)]
    pairs += [(new.read(name), old.read(name) if old is not None else None) for name in found.sections]
    if old is not None and old.refused:
        tier: tuple[str, str, str] = (new.strain or "", "", "")
        return [tier, (show_held(pairs[0][0]), f"was {old.refused}", ""), *((show_held(held), "", "") for held, _ in pairs[1:])]
    is_other = old is not None and old.strain != new.strain
    return [(new.strain or "", f"was {old.strain}" if old is not None and is_other else "", ""), *(_show_pair(*pair) for pair in pairs)]


def _show_pair(new: Held, old: Held | None) -> tuple[str, str, str]:
    if old is None:
        return show_held(new), "", ""
    return show_held(new), show_step(old, new), "up" if new.tokens > old.tokens else "down" if new.tokens < old.tokens else ""


def _render_matrix_html(found: Matrix) -> str:
    """Return a self-contained page without scripts."""
    rows = [_render_matrix_row(row, found) for row in (*found.rows, found.total)]
    notes = [f"<p>tried: <code>{_spell(one)}</code></p>" for one in found.tried]
    notes.append("<p>Tokens, and after a / how many items were cut.</p>")
    names, tier = _list_heads(found), 1 if found.has_tiers else None
    heads = "".join(f'<th scope="col"{" class=t" if at == tier else ""}>{_spell(name)}</th>' for at, name in enumerate(names))
    page = Template(Path(__file__).with_name("matrix.html").read_text(encoding="utf-8"))
    title, body = _spell(_title_matrix(found)), "\n".join(rows[:-1])
    return page.substitute(title=title, notes="\n".join(notes), heads=heads, rows=body, foot=rows[-1])


def _render_matrix_row(row: MatrixRow, found: Matrix) -> str:
    cells = []
    for at, (shown, step, style) in enumerate(_list_cells(row, found)):
        told = f'<small class="{style}">{_spell(step)}</small>' if step else ""
        cells.append(f"<td{' class=t' if found.has_tiers and not at else ''}>{_spell(shown)}{told}</td>")
    return f'<tr><th scope="row">{_spell(row.name)}</th>{"".join(cells)}</tr>'


def _spell(text: str) -> str:
    """Return text as HTML on one line, with control characters and bidirectional marks escaped."""
    return escape(escape_controls(text), {'"': "&quot;", "'": "&#39;"})


def _render_matrix_csv(found: Matrix) -> str:
    """Return a line for each row as a whole (with an empty section) and for each of its sections; the totals come last."""
    heads = ["case", "turn", "section", "tier", "tokens", "cut", "refused"]
    heads += [f"old_{name}" for name in heads[3:]] if found.against else []
    rows: list[list[str | int | None]] = []
    for row in (*found.rows, found.total):
        for name in ("", *found.sections):
            figures = [_list_figures(one, name) for one in (row.new, *([row.old] if found.against else []))]
            rows.append([row.case, row.turn or None, name, *(cell for one in figures for cell in one)])
    return render_csv(heads, rows)


def _list_figures(figures: CaseFigures | None, section: str) -> list[str | int | None]:
    if figures is None or figures.refused:
        return [None, None, None, figures.refused if figures is not None else None]
    held = figures.read(section) if section else Held(figures.tokens, figures.cut)
    return [figures.strain, held.tokens, held.cut, None]
