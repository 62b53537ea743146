"""`promptc calibrate`: compares a provider's counts for renders of a pack with the estimates, and writes a file that the pack can name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from promptc.api import Pack
from promptc.cli.group import PACK, Command
from promptc.cli.request import check_apart, read_bytes
from promptc.cli.terminal import PLAIN, Paint, Reporter, clip_cells, escape_controls, read_width, show_text
from promptc.cli.views.drawing import Cell, render_bar, render_table, show_count, show_ratio, wrap
from promptc.diag.findings import (
    Diagnostic,
    PromptcError,
    Span,
    UsageError,
    join_names,
    shorten,
    show_plural,
    show_reason,
    show_share,
    suggest,
)
from promptc.diag.frozen import frozen
from promptc.diag.typed import Any
from promptc.files.atomic import write_file
from promptc.files.reading import check_pack_path, note_looks, read_inside
from promptc.frontend.json import load_json
from promptc.model.calibration import MOST_RATIO, Pair, group_pairs, is_day, is_name, measure, render_calibration
from promptc.model.messages import PROVIDERS
from promptc.model.pack import MILLION, CalibrationEntry, PackModel
from promptc.text.json import is_whole

_MOST_BYTES = 64_000_000
_MOST_LINES = 100_000
_MOST_REPORT = 8_000_000
_MOST_SHOWN = 20
_MOST_FAR = 5
_LARGEST = 999_999_999
_FAR = 2
"""A ratio is far from the rest if it is more than this many times the middle ratio, or less than this fraction of it."""

_BINS, _BAR = 8, 24
_DIGITS = 6
_KINDS = (
    ("prompt_tokens",),
    ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
    ("promptTokenCount",),
    ("prompt_token_count",),
    ("prompt_eval_count",),
)
"""The names of prompt tokens in the usage of services.

They are those of OpenAI, Anthropic (whose parts are added) and OpenAI Responses, Gemini, Gemini's library, and Ollama.
"""

_HELP = 'write, for example, `{"report": "r1.json", "usage": {"input_tokens": 812}, "model": "gpt-5.6", "at": "2026-11-24"}`'


class _NoPairError(Exception):
    """Raised for a line that is not a pair; its text is the reason."""


@frozen
class _Facts:
    """The facts of a report. `provider` is empty if the render was for no provider."""

    estimate: int
    provider: str


@frozen
class _Defaults:
    """The values for what a line leaves out."""

    provider: str | None
    model: str | None
    day: str | None


@click.command(
    "calibrate",
    cls=Command,
    examples=[
        ("Look at what the usage log says", "promptc calibrate packs/sentinel usage.jsonl"),
        ("Write the file that the pack names", "promptc calibrate . usage.jsonl -o usage.calibration.json"),
        ("Let 999 of 1,000 prompts fit", "promptc calibrate . usage.jsonl --quantile 0.999"),
        ("Say what the lines leave out", "promptc calibrate . log.jsonl --model qwen3 --date 2026-11-24"),
    ],
)
@PACK
@click.argument("usage", type=click.Path(allow_dash=True))
@click.option("--quantile", default="0.99", metavar="Q", help="The share of prompts that must fit, for example 0.999. [0.99]")
@click.option("--output", "-o", metavar="FILE", type=click.Path(), help="Write the calibration to FILE. [write nothing]")
@click.option("--provider", type=click.Choice(PROVIDERS), help="The provider of reports that name none.")
@click.option("--model", metavar="NAME", help="The model of lines that name none.")
@click.option("--date", "day", metavar="DAY", help="The day of lines that name none, for example 2026-11-24.")
@click.pass_obj
def calibrate_command(reporter: Reporter, /, pack: str, usage: str, quantile: str, output: str | None, **given: Any) -> int:
    """Measure how far the provider's own counts lie above the estimates of promptc.

    Each line of USAGE is a JSON object with the `report` of a render of PACK (the report, or the path of its file beside USAGE) and the
    `usage` that the provider returned. `provider`, `model` and `at` (a date) may stand beside them.

    promptc prints the ratio of reported to estimated tokens for each model. With `-o` it writes the ratios to a file. Name that file in
    the pack, and every render holds back that much: `tokenizer: {use: o200k_base, calibration: usage.calibration.json}`.

    promptc skips a line that it cannot use, and says why. The same lines in any order give the same file.
    """
    parts = _read_quantile(quantile)
    defaults = _read_defaults(**given)
    known = Pack.load(pack).model
    (pairs, unfit), looks = note_looks(lambda: _read_pairs(usage, known, defaults))
    check_apart({"-o": output}, looks)
    reporter.report([*unfit[:_MOST_SHOWN], *_summarise(unfit, usage)])
    if not pairs:
        message = f"no line of {usage} is a report of `{known.name}` with a usage"
        raise PromptcError([Diagnostic("PC0757", message, help=_HELP)])
    entries = measure(pairs, parts)
    show_text(_render(pairs, entries, parts, read_width(), reporter.choose_paint(sys.stdout)))
    if output is not None:
        write_file(output, render_calibration(entries, parts, known.counting.counter).encode())
        reporter.say(f"{show_plural(len(entries), 'entry', 'entries')} written to {escape_controls(output)}\n")
    return 0


def _read_quantile(given: str) -> int:
    """Return the quantile in parts of a million, parsed from its digits. Raises `UsageError` (PC0720)."""
    whole, _, rest = given.partition(".")
    if whole in ("", "0") and rest.isascii() and rest.isdigit() and len(rest) <= _DIGITS and int(rest):
        return int(rest.ljust(_DIGITS, "0"))
    help = "write the share of prompts that must fit, such as `--quantile 0.99`"
    raise UsageError([Diagnostic("PC0720", f"`{shorten(given)}` is not a number between 0 and 1 with at most {_DIGITS} digits", help=help)])


def _read_defaults(provider: str | None, model: str | None, day: str | None) -> _Defaults:
    if model is not None and not is_name(model):
        raise UsageError(
            [Diagnostic("PC0720", f"`{shorten(model)}` is not the name of a model", help="write, for example, `--model gpt-5.6`")]
        )
    if day is not None and not is_day(day):
        raise UsageError([Diagnostic("PC0720", f"`{shorten(day)}` is not a date", help="write, for example, `--date 2026-11-24`")])
    return _Defaults(provider, model, day)


# --- the lines ---


def _read_pairs(file: str, pack: PackModel, defaults: _Defaults) -> tuple[list[Pair], list[Diagnostic]]:
    """Return the pairs, and a finding for each line that is not a pair."""
    lines = read_bytes(file, "the usage", limit=_MOST_BYTES).splitlines()
    if len(lines) > _MOST_LINES:
        message = f"{file} has {show_count(len(lines))} lines, and promptc reads at most {show_count(_MOST_LINES)}"
        raise PromptcError([Diagnostic("PC0102", message, Span(file, _MOST_LINES + 1, 1), "leave out the oldest ones")])
    reader = _LineReader(Path(file).parent, pack, defaults)
    pairs, unfit = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            pairs.append(reader.read(line, number))
        except _NoPairError as wrong:
            unfit.append(Diagnostic("PC0758", f"line {number} is left out: {wrong}", Span(file, number, 1), _HELP, "warn"))
    return pairs, unfit


def _summarise(unfit: Sequence[Diagnostic], file: str) -> Iterator[Diagnostic]:
    more = len(unfit) - _MOST_SHOWN
    if more > 0:
        yield Diagnostic("PC0758", f"{show_plural(more, 'more line')} of {file} are left out", unfit[_MOST_SHOWN].span, level="warn")


class _LineReader:
    """Reads lines, and caches the facts of report files by their paths."""

    def __init__(self, folder: Path, pack: PackModel, defaults: _Defaults) -> None:
        self._folder = folder
        self._pack = pack
        self._defaults = defaults
        self._read: dict[str, _Facts | str] = {}

    def read(self, line: bytes, number: int) -> Pair:
        """Return the pair of a line. Raises `_NoPairError` if the line is not a pair."""
        value = _load_object(line, "it")
        facts = self._read_facts(value.get("report"))
        reported = _read_usage(value.get("usage"))
        if reported > MOST_RATIO * facts.estimate:
            raise _NoPairError(f"{reported} tokens are more than {MOST_RATIO} times the estimate of {facts.estimate}")
        provider = self._choose_provider(value.get("provider"), facts)
        return Pair(provider, self._choose_model(value.get("model")), facts.estimate, reported, self._choose_day(value.get("at")), number)

    def _choose_provider(self, given: Any, facts: _Facts) -> str:
        if given is not None and given not in PROVIDERS:
            raise _NoPairError(f"it names no provider that promptc knows: {suggest(str(given)[:40], PROVIDERS)}")
        if given is not None and facts.provider not in ("", given):
            raise _NoPairError(f"its usage is of {given}, and its report was made for {facts.provider}")
        found = given or facts.provider or self._defaults.provider
        if not found:
            raise _NoPairError('it names no provider, and its report was made for none: add `"provider"`, or give `--provider`')
        return str(found)

    def _choose_model(self, given: Any) -> str:
        found = self._defaults.model if given is None else given
        if found is None:
            raise _NoPairError('it names no model: add `"model"`, or give `--model`')
        if not is_name(found):
            raise _NoPairError("its `model` is not a name")
        return str(found)

    def _choose_day(self, given: Any) -> str:
        found = self._defaults.day if given is None else given
        if found is None:
            raise _NoPairError('it names no day: add `"at"`, or give `--date`')
        if not isinstance(found, str) or not is_day(found[:10]) or found[10:11] not in ("", "T", "t", " "):
            raise _NoPairError("its `at` is not a date such as 2026-11-24")
        return found[:10]

    def _read_facts(self, report: Any) -> _Facts:
        if isinstance(report, dict):
            return self._check_report(report)
        if not isinstance(report, str):
            raise _NoPairError("it has no `report`, which must be a report or the path of a report")
        if report not in self._read:
            try:
                self._read[report] = self._check_report(self._load_report(report))
            except _NoPairError as wrong:
                self._read[report] = str(wrong)
        found = self._read[report]
        if isinstance(found, str):
            raise _NoPairError(found)
        return found

    def _load_report(self, path: str) -> Mapping[str, Any]:
        shown = shorten(path)
        if check_pack_path(path):
            raise _NoPairError(f"`{shown}` is not the path of a file in the folder of USAGE")
        try:
            content = read_inside(self._folder, path, _MOST_REPORT)
        except (OSError, ValueError) as error:
            raise _NoPairError(f"`{shown}` cannot be read: {show_reason(error)}") from None
        return _load_object(content, f"`{shown}`")

    def _check_report(self, report: Mapping[str, Any]) -> _Facts:
        name, counter, overhead = report.get("pack"), report.get("counter"), report.get("overhead")
        if not isinstance(name, str) or not isinstance(counter, dict) or "tokens" not in report:
            raise _NoPairError("its `report` is not a report of a render")
        if name != self._pack.name:
            raise _NoPairError(f"its report is of the pack `{shorten(name)}`, not of `{self._pack.name}`")
        own = self._pack.counting.counter
        if (counter.get("name"), counter.get("digest")) != (own.name, own.digest):
            raise _NoPairError(f"its report was counted with another tokenizer than `{own.name}` as it is here")
        estimate = report["tokens"]
        if estimate is None:
            raise _NoPairError("its render did not fit, so there was no prompt")
        if not is_whole(estimate, 1, _LARGEST):
            raise _NoPairError("its report has no tokens")
        provider = overhead.get("provider") if isinstance(overhead, dict) else None
        return _Facts(estimate, provider if provider in PROVIDERS else "")


def _load_object(content: bytes, what: str) -> dict[str, Any]:
    try:
        value = load_json(content, "usage").value
    except PromptcError as error:
        raise _NoPairError(f"{what} is no JSON: {error.diagnostics[0].message}") from None
    if not isinstance(value, dict):
        raise _NoPairError(f"{what} is no JSON object")
    return value


def _read_usage(usage: Any) -> int:
    """Return the tokens of the prompt, as any of the known services reports them. Raises `_NoPairError`."""
    if not isinstance(usage, dict):
        raise _NoPairError("it has no `usage` object")
    found = {_sum_usage(usage, kind) for kind in _KINDS if usage.get(kind[0]) is not None}
    if not found:
        raise _NoPairError(f"its `usage` has none of {join_names(kind[0] for kind in _KINDS)}")
    if len(found) > 1:
        raise _NoPairError(f"its `usage` says two things: {' and '.join(map(str, sorted(found)))} tokens")
    (tokens,) = found
    if not tokens:
        raise _NoPairError("its `usage` reports no tokens of a prompt")
    return tokens


def _sum_usage(usage: Mapping[str, Any], kind: Sequence[str]) -> int:
    counts = [0 if usage.get(key) is None else usage[key] for key in kind]
    if not all(is_whole(one, 0, _LARGEST) for one in counts):
        raise _NoPairError(f"its `usage` has a `{kind[0]}` that is no number of tokens")
    return sum(counts)


# --- what is shown ---


def _render(pairs: Sequence[Pair], entries: Sequence[CalibrationEntry], quantile: int, width: int, paint: Paint = PLAIN) -> str:
    """Return a table of the entries, and the distribution of the ratios of each."""
    groups, share = group_pairs(pairs), show_share(quantile)
    rows = [["provider", "model", "pairs", "middle", share, "highest", "held back"]]
    for entry in entries:
        ratios = [one.ratio for one in groups[entry.provider, entry.model]]
        shown = [show_ratio(one) for one in (ratios[(len(ratios) - 1) // 2], entry.ratio, ratios[-1])]
        rows.append([entry.provider, escape_controls(entry.model), show_count(entry.pairs), *shown, _show_margin(entry)])
    room = width - sum(max(len(row[at]) + 2 for row in rows) for at in range(len(rows[0])) if at != 1)
    clipped = [[row[0], clip_cells(row[1], room), *row[2:]] for row in rows]
    cells: list[Sequence[Cell | str]] = [[Cell(one, "dim") for one in clipped[0]], *clipped[1:]]
    drawn = "".join(_draw_spread(groups[one.provider, one.model], one, share, width, paint) for one in entries)
    return render_table(cells, right=frozenset(range(2, len(rows[0]))), most=width, paint=paint) + drawn


def _draw_spread(pairs: Sequence[Pair], entry: CalibrationEntry, share: str, width: int, paint: Paint) -> str:
    """Return the number of pairs by ratio. Pairs that are far from the rest are listed by their lines."""
    middle = pairs[(len(pairs) - 1) // 2].ratio
    far = [one for one in pairs if one.ratio > _FAR * middle or one.ratio * _FAR < middle]
    near = [one.ratio for one in pairs if one.ratio * _FAR >= middle and one.ratio <= _FAR * middle]
    low, step = near[0], (near[-1] - near[0]) // _BINS + 1
    counts = [0] * ((near[-1] - low) // step + 1)
    for ratio in near:
        counts[(ratio - low) // step] += 1
    days = entry.first if entry.first == entry.last else f"{entry.first} to {entry.last}"
    title = f"reported / estimated, {entry.provider} {escape_controls(entry.model)}, {days}"
    rows: list[Sequence[Cell | str]] = []
    for at, count in enumerate(counts):
        first = low + at * step
        mark = f"{share} of the pairs are below or here" if first <= entry.ratio < first + step else ""
        bar = render_bar(count, 0, max(counts), _BAR).ljust(_BAR)
        rows.append([f"  {show_ratio(first)}", show_count(count), Cell(bar, "green"), Cell(mark, "dim")])
    table = render_table(rows, right=frozenset((0, 1)), most=40, paint=paint)
    return f"\n{paint.apply(clip_cells(title, width), 'bold')}\n{table}{_list_far(far, middle, width)}"


def _list_far(far: Sequence[Pair], middle: int, width: int) -> str:
    if not far:
        return ""
    worst = sorted(far, key=lambda one: (-max(one.ratio * MILLION // middle, middle * MILLION // one.ratio), one.line))[:_MOST_FAR]
    named = ", ".join(f"line {one.line} ({show_ratio(one.ratio)})" for one in worst)
    more = f" and {show_count(len(far) - len(worst))} more" if len(far) > len(worst) else ""
    text = f"{show_plural(len(far), 'pair')} far from the rest, not drawn: {named}{more}"
    return "".join(f"{line}\n" for line in wrap(text, width))


def _show_margin(entry: CalibrationEntry) -> str:
    """Return the share of a total that is held back, in per cent with one decimal place."""
    held = (MILLION - entry.hold_back(MILLION)) // (MILLION // 1000)
    return f"{held // 10}.{held % 10} %"
