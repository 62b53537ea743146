"""`promptc test` and `promptc matrix`.

`test` runs cases, reports their verdicts as they end, finds what moved the failed ones, and writes reports. `matrix` shows the tokens of
their prompts by section, next to those of another pack, another revision or tried values.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from shlex import quote

import click

from promptc.cache import Cache, open_cache
from promptc.cli.commands.diff import extract_pack
from promptc.cli.group import CHANGED, PACK, Command, complete, read_count, take
from promptc.cli.interaction import Progress
from promptc.cli.options import NO_CACHE, TRY, WATCH, is_in_ci, read_tries
from promptc.cli.reports import KINDS, WHOLE, render_matrix_as
from promptc.cli.shell import CaseShell
from promptc.cli.terminal import Reporter, escape_controls, read_width, show_text, write_stdout
from promptc.cli.views.difference import render_matrix
from promptc.cli.views.drawing import Page, render_table, show_count
from promptc.cli.views.verdict import SHAPES, count_lacking, group_moved, lighten, render_moved, show_lacking
from promptc.compare import CaseFigures, Held, Matrix, MatrixRow
from promptc.diag.findings import Diagnostic, PromptcError, UsageError, join_names, show_plural
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any
from promptc.explain.items import count_tokens_held, list_items
from promptc.files.atomic import write_file
from promptc.files.paths import resolve_path
from promptc.files.reading import leave_looks, list_stamps, read_stamp
from promptc.frontend.manifest import manifest_path
from promptc.golden.cases.case import GOLDENS, PENDING, Case, CaseOutcome
from promptc.golden.cases.confine import choose_pack, choose_root, locate_pack
from promptc.golden.cases.discover import CaseFolder, CaseFolders, check_met, choose_places, load_meant, match_names
from promptc.golden.cause import CauseFinder
from promptc.golden.inputs import Passes, load_touched
from promptc.golden.running.environment import list_lacking
from promptc.golden.running.resources import SuiteResources
from promptc.golden.running.run import run_case
from promptc.golden.verdicts.judge import JudgedCases, Suite, break_place, check_tries, run_suite
from promptc.golden.verdicts.pending import note_cause
from promptc.golden.verdicts.verdict import GoldenDifference, Verdict, rebase_verdict
from promptc.workers import count_processors

_DIFFERS = 1
_DISK = 4
_CLAIM = "PC0924"
_WIDEST = 48
"""The most cells of a column of the summary, so that the summary fits 80."""

_SUMMARY = "GITHUB_STEP_SUMMARY"
FORMATS = (*SHAPES, *KINDS)
_MATRIX = ("table", "markdown", "html", "csv", "json")
_COUNTED = ("failed", "new", "obsolete", "broken", "skipped")


@click.command(
    "test",
    cls=Command,
    examples=[
        ("Run all cases", "promptc test"),
        ("Run the cases of one pack, and print one line for each failure", "promptc test packs/sentinel --format concise"),
        ("Run some cases by name", "promptc test -k 'strain and not messages'"),
        ("Run only what has changed since it last passed", "promptc test --changed"),
        ("Run again whenever a file changes, what it concerns first", "promptc test --watch"),
        ("Run only what a branch touches, as CI does", "promptc test --since origin/main --ci"),
        ("See which goldens an edit would change, without making it", "promptc test packs/sentinel --try sections.recent.budget=900"),
        (
            "Report to GitHub, to a build server and to a pull request",
            "promptc test --format github --report junit=out.xml --report markdown=pr.md",
        ),
    ],
)
@click.argument("cases", shell_complete=complete, nargs=-1, type=click.Path())
@click.option(
    "-k", "expression", shell_complete=complete, metavar="EXPR", help="Only cases whose name matches: words, *, and, or, not, ( )."
)
@click.option("-j", "--jobs", callback=read_count, metavar="N", help="The number of processes. [one for each processor]")
@click.option("--changed", is_flag=True, help="Only cases that have changed since they last passed.")
@click.option("--since", metavar="REV", help="Only cases whose files differ from this git revision.")
@click.option(
    "--ci", is_flag=True, help="Write nothing, and fail for new, pending or unused goldens. On by default where the variable CI is set."
)
@take(TRY)
@click.option("--no-skip", is_flag=True, help="Fail for cases that are skipped because an extra is missing.")
@take(WATCH)
@click.option("--no-cache", is_flag=True, help="Do not use the cache: run every case, and keep nothing.")
@click.option("--format", type=click.Choice(FORMATS), default="full", help="How to print the results. [full]")
@click.option(
    "--report", "reports", multiple=True, metavar="KIND=FILE", help="Also write the results to a file, for example junit=out.xml."
)
@click.pass_obj
def test_command(
    reporter: Reporter,
    /,
    cases: tuple[str, ...],
    expression: str | None,
    jobs: int | None,
    changed: bool,
    since: str | None,
    ci: bool,
    no_skip: bool,
    no_cache: bool,
    format: str,
    reports: tuple[str, ...],
    **given: Any,
) -> int:
    """Run cases, and compare each result with its golden.

    Without CASES, promptc looks in the folders `fixtures` and `packs`, or else in the current folder. It skips a case that passed before
    and has not changed since.

    A result that differs is written beside its golden, for `promptc review`. The test never changes a golden. With `--try` nothing is
    written at all: the differences are shown, and every case is run.

    Exit codes: 0 all cases pass or are skipped, 1 a case fails, 2 there is no case.
    """
    is_ci = ci or is_in_ci()
    wanted = [(format, ""), *_read_reports(reports)]
    tries = read_tries(given[TRY.key])
    if tries and changed:
        message = "`--changed` asks what has passed before, and nothing of `--try` is remembered"
        raise UsageError([Diagnostic("PC0720", message, help="leave `--changed` out")])
    cache = None if no_cache or tries else open_cache()
    found = _choose(cases, expression, cache)
    reporter.report(check_tries(found.places, tries))
    touched = load_touched(since, os.getcwd()) if since is not None else None  # noqa: PTH109
    suite = Suite(
        CaseShell(),
        "try" if tries else "compare" if is_ci else "write",
        cache,
        touched=touched,
        is_whole=not (found.is_filtered or changed or since is not None or tries),
        only_changed=changed,
        with_passed=any(kind in WHOLE for kind, _ in wanted),
        may_skip=not no_skip,
        tries=tries,
    )
    told: list[Verdict] = []
    telling = _Telling(reporter, format, told if len(wanted) > 1 or format in KINDS else None)
    tally = leave_looks(lambda: _run(reporter, found, suite, jobs or count_processors(), telling))
    check_met(found.places, tally.packs)
    for kind, path in wanted:
        _report(kind, path, told, tally, is_ci=is_ci)
    if format in SHAPES:
        table = _render_counts(tally) + "\n" if format == "full" and tally.is_odd else ""
        show_text(f"{table}{_sum_up(tally)}\n")
    else:
        reporter.say(_sum_up(tally) + "\n")
    _give_hints(reporter, tally, tries)
    return tally.choose_exit(is_ci)


def _choose(cases: Sequence[str], expression: str | None, cache: Cache | None) -> CaseFolders:
    """Return the requested cases; with `--watch`, in the order of `_look_after`."""
    found = choose_places(cases, match_names(expression) if expression is not None else None)
    changed = click.get_current_context().meta.get(CHANGED)
    return found if changed is None else replace(found, places=_look_after(found.places, changed, cache))


def _look_after(places: Sequence[CaseFolder], changed: Sequence[str], cache: Cache | None) -> tuple[CaseFolder, ...]:
    """Return the cases with those first that a change concerns.

    Also look at all inputs of the cases, so that `--watch` knows where they are: the runs look at copies, in other processes.
    """
    known: dict[str, Passes] = {}
    paths, made = list(map(resolve_path, changed)), {place.folder: _list_inputs(place, known, cache) for place in places}
    folders = {*(one for inner, _ in made.values() for one in inner), *(place.top for place in places if place.top)}
    for folder in sorted(one for one in folders if not any(str(above) in folders for above in Path(one).parents)):
        list_stamps(folder, PENDING)
    for file in sorted({one for _, files in made.values() for one in files}):
        read_stamp(file)
    return tuple(sorted(places, key=lambda one: _rank(one.folder, made[one.folder], paths)))


def _rank(folder: str, made: tuple[list[str], list[str]], changed: Sequence[Path]) -> int:
    """Return how close a case is to the change: 0 if it is in its folder, 1 if it is in another input, or else 2."""
    if any(path.is_relative_to(folder) for path in changed):
        return 0
    return 1 if any(path.is_relative_to(one) for some in made for one in some for path in changed) else 2


def _list_inputs(place: CaseFolder, known: dict[str, Passes], cache: Cache | None) -> tuple[list[str], list[str]]:
    """Return the folders of a case and of its packs, and the files that it names as far as they are known."""
    root = choose_root(place.folder)
    if root not in known and cache is not None:
        known[root] = Passes(cache, root)
    packs, files = known[root].list_inputs(place.folder) if root in known else ([f"{root}/{choose_pack(place.folder, root)}"], [])
    return [place.folder, *(str(resolve_path(manifest_path(Path(one)).parent)) for one in packs)], files


class _Telling:
    """Prints verdicts in the format `shape`, and keeps them in `kept` for reports.

    Failures with the same cause are collected and printed together at the end, or when the run is cut off. A verdict without a known cause
    is printed at once.
    """

    def __init__(self, reporter: Reporter, shape: str, kept: list[Verdict] | None) -> None:
        self._reporter = reporter
        self._shape = shape
        self._kept = kept
        self._waiting: list[Verdict] = []
        self._known: set[str] = set()

    def tell(self, verdicts: Sequence[Verdict], progress: Progress) -> None:
        """Print the verdicts, or collect them for the end."""
        if self._kept is not None:
            self._kept.extend(verdicts)
        if self._shape not in SHAPES:
            return
        quiet = ("passed", "skipped") if self._shape == "full" else ("passed",)
        for one in verdicts:
            if one.moved_by:
                self._waiting.append(lighten(one) if one.moved_by in self._known else one)
                self._known.add(one.moved_by)
            elif one.status not in quiet:
                self._print([one], progress)

    def end(self, progress: Progress) -> None:
        """Print the collected verdicts."""
        for group in group_moved(self._waiting):
            self._print(group, progress)

    def _print(self, group: Sequence[Verdict], progress: Progress) -> None:
        text = render_moved(group, self._shape, self._reporter.choose_paint(sys.stdout), self._reporter.render, read_width())
        if text:
            progress.close()
            show_text(text)


def _read_reports(given: Sequence[str]) -> list[tuple[str, str]]:
    """Return kinds and files. Raises `UsageError` (PC0721) for a text that is not KIND=FILE."""
    found = []
    for one in given:
        kind, _, path = one.partition("=")
        if kind not in KINDS or not path:
            help = f"such as `--report junit=out.xml`; the kinds are {join_names(KINDS)}"
            raise UsageError([Diagnostic("PC0721", f"`--report {one}` is not of the form KIND=FILE", help=help)])
        found.append((kind, path))
    return found


def _report(kind: str, path: str, verdicts: Sequence[Verdict], tally: _Tally, *, is_ci: bool) -> None:
    """Write one report to its file or to standard output; for `github`, also append a summary to the step's summary if there is one."""
    if kind not in KINDS:
        return
    from promptc.cli.reports import render_report, render_summary

    text = render_report(kind, verdicts, tally.counts, is_ci=is_ci).encode("utf-8", "backslashreplace")
    if path:
        write_file(path, text)
    else:
        write_stdout(text)
    summary = os.environ.get(_SUMMARY) if kind == "github" else None
    if summary:
        with contextlib.suppress(OSError), open(summary, "ab") as file:  # noqa: PTH123
            file.write(render_summary(verdicts, tally.counts).encode("utf-8", "backslashreplace"))


@frozen
class _Tally:
    """The counts of the verdicts, and the first names of cases that can be accepted."""

    passed: int = 0
    known: int = 0
    unchanged: int = 0
    failed: int = 0
    new: int = 0
    obsolete: int = 0
    broken: int = 0
    unwritten: int = 0
    skipped: int = 0
    lacking: Mapping[str, int] = field(default_factory=dict)
    packs: frozenset[str] = frozenset()
    pending: tuple[str, ...] = ()
    differing: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    claims: int = 0

    def add(self, judged: JudgedCases) -> _Tally:
        counts = {status: sum(one.status == status for one in judged.verdicts) for status in _COUNTED}
        pending = [one.name for one in judged.verdicts if any(difference.pending for difference in one.differences)]
        return _Tally(
            self.passed + judged.passed,
            self.known + judged.known,
            self.unchanged + judged.unchanged,
            self.failed + counts["failed"],
            self.new + counts["new"],
            self.obsolete + counts["obsolete"],
            self.broken + counts["broken"],
            self.unwritten + sum(one.is_unwritten for one in judged.verdicts),
            self.skipped + counts["skipped"],
            count_lacking(judged.verdicts, self.lacking),
            self.packs | judged.packs,
            (*self.pending, *pending)[:2],
            _count_kinds(self.differing, (one for verdict in judged.verdicts for one in verdict.differences if one.old is not None)),
            _count_kinds(self.missing, (one for verdict in judged.verdicts for one in verdict.differences if one.old is None)),
            self.claims + sum(found.code == _CLAIM for one in judged.verdicts for found in one.findings),
        )

    @property
    def is_odd(self) -> bool:
        """Whether a case differs from what was accepted, or could not be judged."""
        return bool(self.failed or self.broken or self.new or self.obsolete)

    @property
    def counts(self) -> dict[str, int]:
        """The number of cases of each status."""
        names = ("passed", *_COUNTED)
        return {name: getattr(self, name) for name in names} | {"unchanged": self.unchanged}

    def choose_exit(self, is_ci: bool) -> int:
        if self.unwritten:
            return _DISK
        return _DIFFERS if self.failed or self.broken or (is_ci and (self.new or self.obsolete)) else 0


def _run(reporter: Reporter, found: CaseFolders, suite: Suite, jobs: int, telling: _Telling) -> _Tally:
    """Run the cases, and print their verdicts above the progress bar, with paths relative to the working folder."""
    tally, done, here = _Tally(), 0, os.getcwd()  # noqa: PTH109
    progress = Progress(reporter, "cases")
    try:
        with CauseFinder(CaseShell(), suite.cache) as causes:
            for judged in run_suite(found.places, suite, jobs=jobs):
                tally, done = tally.add(judged), done + judged.places
                explained = [one if suite.tries else causes.explain(one) for one in judged.verdicts]
                for one in explained:
                    note_cause(one)
                telling.tell([rebase_verdict(one, here) for one in explained], progress)
                progress.note(done, len(found.places))
    finally:
        telling.end(progress)
        progress.close()
    return tally


def _count_kinds(before: Mapping[str, int], goldens: Iterable[GoldenDifference]) -> dict[str, int]:
    """Return how many goldens of each kind there are, in the order of comparison. The counts of `before` are added."""
    kinds = [one.kind for one in goldens]
    counts = {kind: before.get(kind, 0) + kinds.count(kind) for kind in GOLDENS}
    return {kind: count for kind, count in counts.items() if count}


def _render_counts(tally: _Tally) -> str:
    """Return a table of the counts: with the kinds of goldens that differ or are missing, and the missing extras."""
    differing, missing = (", ".join(f"{count:,} {kind}" for kind, count in kinds.items()) for kinds in (tally.differing, tally.missing))
    rows = [
        ("passed", tally.passed, ""),
        ("failed", tally.failed, ""),
        ("  goldens that differ", sum(tally.differing.values()), differing),
        ("  claims that do not hold", tally.claims, ""),
        ("broken", tally.broken, ""),
        ("new", tally.new, ""),
        ("  goldens not there yet", sum(tally.missing.values()), missing),
        ("obsolete", tally.obsolete, ""),
        ("skipped", tally.skipped, ""),
        *((f"  for want of {name}", count, "") for name, count in tally.lacking.items()),
        ("left out as unchanged", tally.unchanged, ""),
    ]
    shown = [[word, show_count(count), why] for word, count, why in rows if count or word == "passed"]
    return render_table(shown, right=frozenset({1}), most=_WIDEST)


def _sum_up(tally: _Tally) -> str:
    counts = [(tally.failed, "failed"), (tally.broken, "broken"), (tally.new, "new"), (tally.obsolete, "obsolete")]
    known = f" ({tally.known:,} unchanged since)" if tally.known else ""
    told = [f"{tally.passed:,} passed{known}", *(f"{count:,} {word}" for count, word in counts if count)]
    told += [f"{tally.skipped:,} skipped ({show_lacking(tally.lacking)})"] if tally.skipped else []
    told += [f"{tally.unchanged:,} left out as unchanged"] if tally.unchanged else []
    return ", ".join(told)


def _give_hints(reporter: Reporter, tally: _Tally, tries: Sequence[tuple[str, str]]) -> None:
    if tries:
        options = join_names(f"--try {quote(f'{path}={text}')}" for path, text in tries)
        reporter.say(f"nothing was written: this is the result of {options}\n")
    if tally.pending:
        first = escape_controls(quote(tally.pending[0]))
        reporter.say(f"hint: `promptc review` shows what is pending; `promptc accept {first}` accepts one\n")
    if tally.obsolete:
        reporter.say(f"hint: `promptc prune` removes {show_plural(tally.obsolete, 'golden')} that no case asks for\n")


# --- matrix ---


@click.command(
    "matrix",
    cls=Command,
    examples=[
        ("See what every case of a pack comes to", "promptc matrix packs/sentinel"),
        ("See what an edit would change, case by case", "promptc matrix packs/sentinel --try sections.recent.budget=900"),
        ("Compare with the last commit, and show what differs alone", "promptc matrix packs/sentinel --rev HEAD --changed"),
        ("Compare with another pack, for some cases", "promptc matrix packs/new fixtures/old --against packs/old -k strain"),
        ("Write a page for a pull request", "promptc matrix . --rev origin/main --format html > matrix.html"),
    ],
)
@PACK
@click.argument("cases", shell_complete=complete, nargs=-1, type=click.Path())
@take(TRY, NO_CACHE)
@click.option("--rev", metavar="REV", help="Compare with the pack of this git revision.")
@click.option("--against", metavar="PACK", type=click.Path(), help="Compare with another pack.")
@click.option(
    "-k", "expression", shell_complete=complete, metavar="EXPR", help="Only cases whose name matches: words, *, and, or, not, ( )."
)
@click.option("--changed", is_flag=True, help="Only cases and sections that differ.")
@click.option("--format", type=click.Choice(_MATRIX), default="table", help="How to print it. [table]")
@click.option("--width", callback=read_count, metavar="N", help="The width in columns. [the terminal, else 80]")
@click.pass_obj
def matrix_command(
    reporter: Reporter,
    /,
    pack: str,
    cases: tuple[str, ...],
    rev: str | None,
    against: str | None,
    expression: str | None,
    changed: bool,
    format: str,
    width: int | None,
    no_cache: bool,
    **given: Any,
) -> int:
    """Print what every case of PACK comes to: its tokens by section, what was cut, and the strain tier.

    Without CASES, promptc takes the cases of PACK. CASES may be folders with cases, or names of cases: PACK renders them whatever pack
    they name. They may be a pack, too: then PACK renders the cases of that one. A session has a row for each turn.

    With `--try`, PACK with what is tried stands beside PACK as it is. With `--rev` or `--against`, it stands beside that.
    """
    if rev is not None and against is not None:
        raise UsageError([Diagnostic("PC0720", "`--rev` and `--against` compare with different packs", help="give one of the two")])
    tries = read_tries(given[TRY.key])
    if changed and not (tries or rev is not None or against is not None):
        help = "add `--try`, `--rev` or `--against`"
        raise UsageError([Diagnostic("PC0720", "`--changed` shows what differs, and there is nothing to compare with", help=help)])
    places = choose_places(cases or (pack,), match_names(expression) if expression is not None else None).places
    with ExitStack() as stack:
        cache = None if no_cache else open_cache()
        other = _Side(stack, pack, SuiteResources(cache), title="the file") if tries and rev is None and against is None else None
        own = _Side(stack, pack, SuiteResources(cache, tries, other.resources if other is not None else None))
        reporter.report(own.pack.model.remarks)
        if rev is not None:
            other = _Side(stack, extract_pack(rev, pack, stack), SuiteResources(cache), title=f"{rev}:{pack}")
        elif against is not None:
            other = _Side(stack, against, SuiteResources(cache))
        found = _measure(reporter, own, other, _iter_loaded(reporter, places))
    found = found.differing if changed else found
    if format == "table":
        Page(False, width or read_width(), reporter.choose_paint(sys.stdout)).show(found, render_matrix)
    else:
        write_stdout(render_matrix_as(format, found).encode("utf-8", "backslashreplace"))
    return 0


class _Side:
    """A pack that renders the cases, with its tried values."""

    def __init__(self, stack: ExitStack, path: str, resources: SuiteResources, *, title: str = "") -> None:
        """Load the pack, and raise what that raises. The `resources` are released when the stack is closed."""
        self.title = title or path
        self.path = locate_pack(path)
        self.resources = stack.enter_context(resources)
        self.pack = self.resources.load_pack(os.getcwd(), path)  # noqa: PTH109

    def measure(self, case: Case) -> list[CaseFigures]:
        """Return the figures of the turns of a case, up to the first turn that is refused."""
        own = locate_pack(case.pack, case.root)
        case = case if own == self.path else replace(case, pack=self.path)
        try:
            ran = run_case(case, self.resources, CaseShell())
        except PromptcError as wrong:
            return [CaseFigures(refused=wrong.diagnostics[0].code)]
        return [_read_figures(turn) for turn in ran.turns]


def _read_figures(turn: CaseOutcome) -> CaseFigures:
    if turn.compiled is None:
        return CaseFigures(refused=next((one.code for one in turn.found if one.level == "error"), ""))
    made, facts = turn.compiled, turn.compiled.facts
    cuts = [one for _, run in made.fitted.iter_runs() for one in run.applied]
    sections = {
        one["id"]: Held(count_tokens_held(made.fitted, one["id"]), len(list_items([cut for cut in cuts if cut.section == one["id"]])))
        for one in facts["sections"]
    }
    return CaseFigures(made.tokens or 0, facts["strain"], sections)


def _iter_loaded(reporter: Reporter, places: Sequence[CaseFolder]) -> Iterator[Case | None]:
    """Yield the cases that render, and None for each case that is left out. Errors in a case are reported.

    Raises `UsageError` (PC0907) for a requested pack that has no cases.
    """
    met: set[str] = set()
    for place in places:
        try:
            case = load_meant(place)
        except PromptcError as wrong:
            reporter.report(rebase_verdict(break_place(place, wrong.diagnostics), str(Path.cwd())).findings)
            yield None
            continue
        if case is not None:
            met.add(locate_pack(case.pack, case.root))
            yield case if case.kind in ("render", "session") and not list_lacking(case.requires) else None
    check_met(places, met)


def _measure(reporter: Reporter, own: _Side, other: _Side | None, loaded: Iterable[Case | None]) -> Matrix:
    cases = list(loaded)
    asked = sorted((case for case in cases if case is not None), key=lambda case: (case.name, case.folder))
    progress, rows = Progress(reporter, "cases"), list[MatrixRow]()
    for done, case in enumerate(asked, 1):
        new, old = own.measure(case), other.measure(case) if other is not None else []
        for turn, (one, before, _) in enumerate(zip_longest(new, old, case.states), 1):
            rows.append(MatrixRow(case.name, turn if case.kind == "session" else 0, one, before))
        progress.note(done, len(asked))
    progress.close()
    names = [name for row in rows for one in (row.new, row.old) if one is not None for name in one.sections]
    ordered = [*own.pack.model.sections, *(other.pack.model.sections if other is not None else ())]
    sections = tuple(name for name in dict.fromkeys(ordered) if name in names)
    model = own.pack.model
    title = other.title if other is not None else ""
    return Matrix(f"{model.name} {model.version}", model.tries, title, sections, tuple(rows), len(cases) - len(asked))
