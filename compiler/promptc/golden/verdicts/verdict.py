"""Goldens, compared byte by byte with the outcome of a case, and the verdict on a case.

`render_goldens` renders what the goldens should contain, `compare_goldens` returns those that differ, `compare_verdict` how they differ.
`describe_figures` returns the figures of a prompt, `find_figures` those of when its goldens were accepted. `rebase_verdict` makes
the paths of a verdict relative to another folder.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from promptc.compare import (
    Difference,
    Side,
    compare_sides,
    has,
    is_count,
    is_list,
    is_mapping,
    is_messages,
    is_pair,
    is_text,
    or_none,
    read_held,
    read_json,
    read_report,
    read_side,
)
from promptc.diag.findings import Diagnostic, PromptcError, Span
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.files.reading import read_file
from promptc.golden.cases.case import INPUTS, MAX_PLAIN_BYTES, Case, CaseOutcome, CaseRun, Figures, fail_case, name_golden, refuse_reading
from promptc.golden.cases.confine import show_path
from promptc.golden.inputs import render_json_file
from promptc.text.diff import count_alike

PROMPTS = ("text", "messages")

_MOVING = ("digests", "tries", "counter.digest", "sections.items.at", "sections.source.indexes.fingerprint", "cuts.at", "warnings.at")
"""The parts of a report with digests, places in source files, and what was tried.

An edit that does not affect a prompt may change them.
"""

_EMPTY = {
    "text": "the case makes no text",
    "messages": "the case makes no messages",
    "payload": "the case makes no body of a request",
    "report": "the case makes no report",
    "state": "only an operation writes a state",
    "archive": "only an operation archives something",
}
"""Why a run has nothing for a kind of golden."""

_LINK = "put the file itself there: promptc writes goldens in place"
_QUOTED = re.compile("`([^`\n]+)`")
Print = Callable[[Sequence[Diagnostic]], str]

Status = Literal["passed", "failed", "new", "obsolete", "broken", "skipped"]
"""The status of a case.

- `passed`: every claim holds and every golden is equal.
- `failed`: a claim does not hold, or a golden differs.
- `new`: every claim holds and no golden differs, but one does not exist yet.
- `obsolete`: a golden that no case declares.
- `broken`: the case cannot be run or judged: its file is wrong, its state or pack does not exist, or a golden is a link.
- `skipped`: the case was not run, since an extra that it requires is not installed.
"""

_is_noted = has(
    {
        "tokens": or_none(is_count),
        "tier": or_none(is_text),
        "pressure": or_none(is_pair),
        "variants": is_mapping(is_text),
        "sections": is_mapping(is_count),
        "items": is_mapping(is_list(is_text)),
        "reuse": or_none(is_count),
    }
)


@frozen(eq=False)
class GoldenOutput:
    """The bytes of a golden, and those of the report of the same side, if there is one."""

    content: bytes = field(repr=False)
    report: bytes | None = field(default=None, repr=False)


@frozen(eq=False)
class GoldenDifference:
    """A golden that differs from the outcome.

    `path` and `pending` are from the root; `pending` is empty if nothing was written (in CI, or after an error). `old` is None if the
    golden does not exist. `turn` is the turn of a session, or else 0.
    """

    kind: str
    path: str
    old: bytes | None = field(repr=False)
    new: bytes = field(repr=False)
    pending: str = ""
    turn: int = 0


@frozen
class Mover:
    """The cause of a difference, in a line: an edit, with its place in the edited file, or another explanation."""

    what: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"{self.span} {self.what}" if self.span is not None else self.what


@frozen(eq=False)
class Verdict:
    """The verdict on one case, or on one golden that no case declares (`obsolete`; its `name` is that of its folder).

    `root` and `folder` are absolute. `file` is the case's `case.yaml` from the root, or the obsolete golden. `findings` say all that is
    wrong, in order, each with its place if it has one: PC0920 to PC0924 for differences, and the errors of a broken case. `found` are the
    findings of the render itself, if a claim does not hold; `refusal` is the finding that refused the render, if all other failures follow
    from it. `before` is None if no golden reveals the earlier figures.

    `is_known` says that nothing was run, since all inputs are those of a run that passed. `is_unwritten` says that a pending golden could
    not be written. `lacking` are the missing extras for which the case was skipped. `made` are the rendered goldens by their names; a
    worker does not return them. `cause` is what caused a difference, if that was searched and found (all entries together). `moved_by` is
    equal for verdicts with the same cause, and empty without one. Verdicts can be pickled.
    """

    name: str
    status: Status
    root: str
    folder: str
    file: str
    title: str = ""
    pack: str = ""
    findings: tuple[Diagnostic, ...] = ()
    differences: tuple[GoldenDifference, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    refusal: Diagnostic | None = None
    before: Figures | None = None
    after: Figures | None = None
    cause: tuple[Mover, ...] = ()
    moved_by: str = ""
    is_known: bool = False
    is_unwritten: bool = False
    lacking: tuple[str, ...] = ()
    microseconds: int = 0
    made: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def fails(self) -> bool:
        """True if a run with this verdict ends with exit code 1 everywhere. A new or obsolete golden fails in CI only."""
        return self.status in ("failed", "broken")


def render_goldens(case: Case, ran: CaseRun, print_found: Print) -> dict[str, bytes]:
    """Render the goldens that the case declares, by their names, in order. `print_found` prints findings."""
    found = ((kind, _find_turn(ran, turn), name) for kind, turn, name in case.list_goldens())
    return {name: render_golden(kind, outcome, print_found) if outcome is not None else b"" for kind, outcome, name in found}


def check_goldens(case: Case, ran: CaseRun) -> None:
    """Check that the run made something for every kind of golden. Raises `CaseError` (PC0901): an empty golden is equal to any other.

    Nothing is wrong with a kind that a refused render would have made, since that is for the claims to judge.
    """
    made = [kind for kind in (*_EMPTY, "diagnostics") if any(_has_made(kind, turn) for turn in ran.turns)]
    empty = next((kind for kind in case.golden if kind not in made), None)
    if empty is None or ran.turns[-1].exit != case.exit:
        return
    help = f"choose one of {', '.join(f'`{kind}`' for kind in made)}"
    if empty == "payload" and case.kind in ("render", "session"):
        help = f"{help}; for the body of a request, add `with: {{format: openai}}` or another provider"
    raise fail_case("PC0901", f"the golden `{empty}` would hold nothing: {_EMPTY[empty]}", _claim_span(case, empty), help=help)


def _has_made(kind: str, outcome: CaseOutcome) -> bool:
    match kind:
        case "report":
            return outcome.read_report() is not None
        case "diagnostics":
            return True
        case _:
            return getattr(outcome, kind) is not None


def _find_turn(ran: CaseRun, turn: int) -> CaseOutcome | None:
    return ran.turns[max(turn - 1, 0)] if turn <= len(ran.turns) else None


def compare_goldens(case: Case, made: Mapping[str, bytes]) -> list[GoldenDifference]:
    """Return every golden of the case that is missing, or differs by a byte from `made`, in order.

    Raises `CaseError` for a golden that cannot be read (PC0903), and for a link or anything else but a regular file (PC0906).
    """
    differences = []
    for kind, turn, name in case.list_goldens():
        path = f"{case.folder}{os.sep}{name}"
        old = _read_golden(path, show_path(path, case.root))
        if old != made[name]:
            differences.append(GoldenDifference(kind, show_path(path, case.root), old, made[name], turn=turn))
    return differences


def _read_golden(path: str, shown: str) -> bytes | None:
    """Return the bytes of a golden, or None if it does not exist. Raises `CaseError` as `compare_goldens` does."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    except OSError as wrong:
        raise refuse_reading(shown, wrong) from None
    if stat.S_ISLNK(mode):
        raise fail_case("PC0906", f"the golden `{shown}` is a link", help=_LINK)
    if not stat.S_ISREG(mode):
        raise fail_case("PC0906", f"the golden `{shown}` is not a regular file", help=_LINK)
    try:
        return read_file(path, MAX_PLAIN_BYTES)
    except OSError as wrong:
        raise refuse_reading(shown, wrong) from None


def compare_verdict(verdict: Verdict) -> Iterator[tuple[GoldenDifference, Difference]]:
    """Yield every golden that exists and differs, with its differences.

    A prompt is compared by sections if its report is a golden, too, and describes it; anything else is compared as a whole. A report next
    to a prompt that differs is left out: the figures show what the report adds to the prompt.
    """
    shown = {one.turn for one in verdict.differences if one.kind in PROMPTS and one.old is not None}
    for one in verdict.differences:
        if one.old is not None and not (one.kind == "report" and one.turn in shown):
            reports = (_find_report(verdict, one, is_new=is_new) for is_new in (False, True))
            old, new = (GoldenOutput(content, report) for content, report in zip((one.old, one.new), reports, strict=True))
            yield one, compare_outputs(one.kind, old, new)


def _find_report(verdict: Verdict, prompt: GoldenDifference, *, is_new: bool) -> bytes | None:
    """Return the report of that side: from the verdict if it differs, or else the golden, which is the same for both sides."""
    if prompt.kind not in PROMPTS:
        return None
    for one in verdict.differences:
        if one.kind == "report" and one.turn == prompt.turn:
            return one.new if is_new else one.old
    try:
        return read_file(os.path.join(verdict.folder, name_golden("report", prompt.turn)), MAX_PLAIN_BYTES)
    except OSError:
        return None


def compare_outputs(kind: str, old: GoldenOutput, new: GoldenOutput) -> Difference:
    """Return the differences. Prompts are compared section by section if their reports describe them, anything else as a whole.

    Different bytes never give an empty difference.
    """
    found = compare_sides(_read(kind, old), _read(kind, new))
    if found.is_empty and old.content != new.content:
        return compare_sides(_read_whole(old.content), _read_whole(new.content))
    return found


def _read(kind: str, output: GoldenOutput) -> Side:
    if kind not in PROMPTS:
        return _read_whole(output.content)
    known = read_report(output.report)
    messages: Any = read_json(output.content) if kind == "messages" else None
    if is_messages(messages):
        return read_side(messages, known)
    return _read_whole(output.content) if kind == "messages" else _read_text(output.content, known)


def _read_whole(content: bytes) -> Side:
    """Return bytes as one whole. Bytes that are not UTF-8 remain distinct."""
    return read_side(content.decode("utf-8", "surrogateescape"), None)


def _read_text(content: bytes, report: dict[str, Any] | None) -> Side:
    try:
        return read_side(content.decode(), report)
    except UnicodeDecodeError:
        return _read_whole(content)


def describe_figures(report: Mapping[str, Any] | None, reuse: int | None = None) -> Figures | None:
    """Return the figures of a report, or None without a report."""
    if report is None:
        return None
    pressure = report.get("pressure", {}).get("before")
    sections = report.get("sections", ())
    return Figures(
        tokens=report.get("tokens"),
        tier=report.get("strain"),
        pressure=(pressure[0], pressure[1]) if pressure else None,
        variants=dict(report.get("variants", {})),
        sections={one["id"]: read_held(one) for one in sections},
        items={one["id"]: tuple(item["id"] for item in one.get("items", ())) for one in sections},
        reuse=reuse,
    )


def find_figures(folder: str, turn: int = 0) -> Figures | None:
    """Return the figures with which the goldens of the case in `folder` were accepted, or None if they are unknown.

    They come from the golden of the report, or else from the note.
    """
    report = read_report(_read_figures(folder, name_golden("report", turn)))
    if report is not None:
        return describe_figures(report)
    noted = read_json(_read_figures(folder, INPUTS))
    return read_figures(noted.get("figures")) if isinstance(noted, dict) else None


def _read_figures(folder: str, name: str) -> bytes | None:
    """Return a file next to the case, or None if it cannot be read."""
    try:
        return _read_golden(os.path.join(folder, name), name)
    except PromptcError:
        return None


def read_figures(noted: Any) -> Figures | None:
    """Return the figures in a note's plain data, or None for anything else."""
    if not _is_noted(noted):
        return None
    return Figures(
        tokens=noted["tokens"],
        tier=noted["tier"],
        pressure=(noted["pressure"][0], noted["pressure"][1]) if noted["pressure"] else None,
        variants=noted["variants"],
        sections=noted["sections"],
        items={name: tuple(ids) for name, ids in noted["items"].items()},
        reuse=noted["reuse"],
    )


def render_golden(kind: str, outcome: CaseOutcome, print_found: Print) -> bytes:
    """Return the bytes of the golden of that kind."""
    match kind:
        case "text":
            return (outcome.text or "").encode()
        case "messages":
            return render_json_file(list(outcome.messages or ()))
        case "report":
            return render_json_file(leave_moving(outcome.read_report()))
        case "payload":
            return render_json_file(outcome.payload)
        case "state":
            return render_json_file(outcome.state)
        case "archive":
            return outcome.archive or b""
        case _:
            return print_found(outcome.found).encode()


def leave_moving(report: Mapping[str, Any] | None) -> Any:
    """Return the golden form of a report: everything a render did, without digests, places in source files, and what was tried."""
    whole: Any = report
    for way in _MOVING:
        whole = _leave(whole, way.split("."))
    return whole


def _leave(value: Any, way: Sequence[str]) -> Any:
    """Return the value without what the keys lead to. Lists are passed through."""
    if isinstance(value, list | tuple):
        return [_leave(one, way) for one in value]
    if not isinstance(value, Mapping) or way[0] not in value:
        return value
    first, *rest = way
    return {key: _leave(one, rest) if key == first else one for key, one in value.items() if key != first or rest}


def describe_differences(case: Case, differences: Sequence[GoldenDifference]) -> Iterator[Diagnostic]:
    """Yield a finding for each golden that differs, and one for all missing goldens of a kind: a session has one for each turn."""
    missing: dict[str, list[str]] = {}
    for one in differences:
        if one.old is None:
            missing.setdefault(one.kind, []).append(one.path)
    for one in differences:
        if one.old is not None:
            yield _describe_difference(one, one.old)
        elif one.path == missing[one.kind][0]:
            *more, last = missing[one.kind]
            shown = (
                f"there is no golden `{last}` yet"
                if not more
                else f"there are no goldens `{more[0]}` to `{last}` yet, {len(more) + 1} in all"
            )
            yield Diagnostic("PC0921", shown, _claim_span(case, one.kind))


def _describe_difference(difference: GoldenDifference, golden: bytes) -> Diagnostic:
    """Return PC0920 at the first line that differs."""
    old, new = golden.split(b"\n"), difference.new.split(b"\n")
    line = count_alike(old, new)
    excerpt = old[line][:400].decode("utf-8", "replace") if line < len(old) else ""
    return Diagnostic("PC0920", f"the golden of {difference.kind} is not what comes out", Span(difference.path, line + 1, 1, excerpt))


def _claim_span(case: Case, kind: str) -> Span:
    claims = case.node.get("golden")
    found = [node.span for node in (claims.value if claims is not None else ()) if node.value == kind]
    return found[0] if found else case.node.span


# --- paths ---


def rebase_verdict(verdict: Verdict, folder: str) -> Verdict:
    """Return the verdict with all paths relative to the absolute `folder` instead of the case's root.

    These are the paths of its file, goldens, findings and cause; names of cases stay. In a message, a text in backticks counts as a path if
    it is in the case's folder or exists. In a help, which may say what to write in a file of the pack, only the arguments of a command do.
    """
    if verdict.root == folder:
        return verdict
    rebase = _Rebase(verdict, folder)
    return replace(
        verdict,
        file=rebase.path(verdict.file),
        findings=tuple(map(rebase.finding, verdict.findings)),
        differences=tuple(map(rebase.difference, verdict.differences)),
        found=tuple(map(rebase.finding, verdict.found)),
        refusal=rebase.finding(verdict.refusal) if verdict.refusal is not None else None,
        cause=tuple(map(rebase.reason, verdict.cause)),
    )


class _Rebase:
    def __init__(self, verdict: Verdict, folder: str) -> None:
        self._root = verdict.root
        self._folder = folder
        self._inside = f"{os.path.relpath(verdict.folder, verdict.root)}/".replace(os.sep, "/")

    def path(self, path: str) -> str:
        """Return the path relative to the folder. A text that is not a path, such as `--set /a`, is unchanged."""
        if not path or path.startswith("-") or "\n" in path:
            return path
        return os.path.relpath(Path(self._root, path), self._folder).replace(os.sep, "/")

    def finding(self, found: Diagnostic) -> Diagnostic:
        message, help = _QUOTED.sub(self._quoted, found.message), _QUOTED.sub(self._command, found.help)
        return replace(found, message=message, span=self._span(found.span), help=help)

    def difference(self, one: GoldenDifference) -> GoldenDifference:
        return replace(one, path=self.path(one.path), pending=self.path(one.pending))

    def reason(self, one: Mover) -> Mover:
        return replace(one, span=self._span(one.span))

    def _span(self, span: Span | None) -> Span | None:
        return replace(span, file=self.path(span.file)) if span is not None else None

    def _quoted(self, quoted: re.Match[str]) -> str:
        text = quoted[1]
        is_path = text.startswith(self._inside) or ("/" in text and os.path.lexists(Path(self._root, text)))
        return f"`{self.path(text)}`" if is_path and not text.startswith("/") else self._command(quoted)

    def _command(self, quoted: re.Match[str]) -> str:
        """Return a command that a finding says to run. A word without a slash and a dot is the name of something, not a path."""
        try:
            words = shlex.split(quoted[1]) if quoted[1].startswith("promptc ") else []
        except ValueError:
            return quoted[0]
        paths = [one for one in words if ("/" in one or "." in one) and os.path.lexists(Path(self._root, one))]
        return f"`{shlex.join(self.path(one) if one in paths else one for one in words)}`" if paths else quoted[0]
