"""Goldens, held against what came out, byte by byte; and what a verdict on a case tells.

`render_goldens` makes what the goldens would have to be, `compare_goldens` tells which differ, `compare_verdict` what differs in them.
`describe_figures` tells what a prompt came to, `find_figures` what it came to when its goldens were accepted.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence

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
    read_json,
    read_report,
    read_side,
)
from promptc.diag.findings import Diagnostic, PromptcError, Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.files.reading import read_file
from promptc.golden.cases.case import INPUTS, MAX_PLAIN_BYTES, Case, CaseOutcome, CaseRun, Figures, fail_case, name_golden, refuse_reading
from promptc.golden.cases.confine import show_path

PROMPTS = ("text", "messages")

_MOVING = ("digests", "tries", "counter.digest", "sections.items.at", "sections.source.indexes.fingerprint", "cuts.at", "warnings.at")
"""Where a report has digests, places in source files, and what was tried: an edit that changes nothing of a prompt changes them."""

_LINK = "put the file itself there: promptc writes goldens in place"
Print = Callable[[Sequence[Diagnostic]], str]

Status = Literal["passed", "failed", "new", "obsolete", "broken", "skipped"]
"""`passed`: all that is expected holds and every golden is equal. `failed`: something expected does not hold, or a golden differs.
`new`: all holds and nothing differs, but a golden is not there yet. `obsolete`: a golden that no case asks for. `broken`: the case cannot
be run, or not be judged: its file is wrong, its state or pack is not there, a golden is a link. `skipped`: it was not run, as an extra that
it requires is not installed."""

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
    """The bytes of a golden, and those of the report of the same side, where there is one."""

    content: bytes = field(repr=False)
    report: bytes | None = field(default=None, repr=False)


@frozen(eq=False)
class GoldenDifference:
    """A golden that is not what came out. `path` and `pending` are from the root; `pending` is empty where nothing was written (in CI, or
    where it could not be). `old` is None for a golden that is not there. `ranges` are, of a text, the byte ranges of each section in `new`;
    `turn` is that of a session, else 0."""

    kind: str
    path: str
    old: bytes | None = field(repr=False)
    new: bytes = field(repr=False)
    pending: str = ""
    turn: int = 0
    ranges: tuple[tuple[str, int, int], ...] = ()


@frozen
class Mover:
    """What brought a difference about, in a line: an edit, with the place in the file that was edited, or what else explains it."""

    what: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"{self.span} {self.what}" if self.span is not None else self.what


@frozen(eq=False)
class Verdict:
    """What came of one case, or of one golden that no case asks for (`obsolete`; its `name` is that of the folder it lies in).

    `root` and `folder` are absolute, `file` is the case's `case.yaml` from the root (of an obsolete golden: that golden). `findings` say
    all that is wrong, in order, each with its place where it has one: PC0920 to PC0924 for what differs, and whatever made a case broken.
    `found` are the findings of the render itself, where it was not to have any that it had; `refusal` is the one that refused it, where
    what else is wrong follows from that. `before` is None where no golden tells.
    `is_known` tells that nothing was run: all inputs are those of a run that passed; `is_unwritten` that a pending golden could not be
    written. `lacking` are the extras for want of which it is not run. `made` is what came out, by the names of the goldens asked for; no
    worker hands it over. `cause` tells what brought a difference about, where that was looked for and found (all of it together);
    `moved_by` is equal for verdicts that have the same cause, and empty for those without. Pickles.
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
        """Whether a run with this verdict in it ends with exit code 1, wherever it runs. What is new or obsolete fails in CI only."""
        return self.status in ("failed", "broken")


def render_goldens(case: Case, ran: CaseRun, print_found: Print) -> dict[str, bytes]:
    """What the goldens that the case asks for would have to be, by their names, in order. `print_found` is how findings are printed."""
    found = ((kind, _find_turn(ran, turn), name) for kind, turn, name in case.list_goldens())
    return {name: render_golden(kind, outcome, print_found) if outcome is not None else b"" for kind, outcome, name in found}


def _find_turn(ran: CaseRun, turn: int) -> CaseOutcome | None:
    return ran.turns[max(turn - 1, 0)] if turn <= len(ran.turns) else None


def compare_goldens(case: Case, ran: CaseRun, made: Mapping[str, bytes]) -> list[GoldenDifference]:
    """Every golden the case asks for that is missing, or differs by a byte from what was `made`, in order.

    Raises `CaseError`: PC0903 for a golden that cannot be read, PC0906 for one that is a link or no file.
    """
    differences = []
    for kind, turn, name in case.list_goldens():
        path = f"{case.folder}{os.sep}{name}"
        old = _read_golden(path, show_path(path, case.root))
        if old != made[name]:
            outcome = _find_turn(ran, turn)
            ranges = tuple(_iter_ranges(outcome)) if kind == "text" and outcome is not None else ()
            differences.append(GoldenDifference(kind, show_path(path, case.root), old, made[name], turn=turn, ranges=ranges))
    return differences


def _read_golden(path: str, shown: str) -> bytes | None:
    """The bytes of a golden, None where there is none. Raises `CaseError`, see `compare_goldens`."""
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


def _iter_ranges(outcome: CaseOutcome) -> Iterator[tuple[str, int, int]]:
    try:
        report = outcome.read_report()
    except PromptcError:
        return
    for section in (report or {}).get("sections", ()):
        if section.get("range") and len(section["range"]) == 2:
            yield section["id"], section["range"][0], section["range"][1]


def compare_verdict(verdict: Verdict) -> Iterator[tuple[GoldenDifference, Difference]]:
    """Every golden that is there and differs, with what differs in it. A prompt is compared by its sections where its report is a golden,
    too, and describes it; anything else as a whole. A report beside a prompt that differs is left out: of what it tells the prompt does
    not show, the figures are told.
    """
    shown = {one.turn for one in verdict.differences if one.kind in PROMPTS and one.old is not None}
    for one in verdict.differences:
        if one.old is not None and not (one.kind == "report" and one.turn in shown):
            reports = (_find_report(verdict, one, is_new=is_new) for is_new in (False, True))
            old, new = (GoldenOutput(content, report) for content, report in zip((one.old, one.new), reports, strict=True))
            yield one, compare_outputs(one.kind, old, new)


def _find_report(verdict: Verdict, prompt: GoldenDifference, *, is_new: bool) -> bytes | None:
    """The report of that side: of the verdict where it differs, else the golden, which is that of both."""
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
    """What differs. Prompts are compared section by section where their own reports describe them, anything else as a whole.

    Bytes that differ give a difference that is not empty.
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
    """Bytes that are no UTF-8 stay apart from all others."""
    return read_side(content.decode("utf-8", "surrogateescape"), None)


def _read_text(content: bytes, report: dict[str, Any] | None) -> Side:
    try:
        return read_side(content.decode(), report)
    except UnicodeDecodeError:
        return _read_whole(content)


def describe_figures(report: Mapping[str, Any] | None, reuse: int | None = None) -> Figures | None:
    """The figures of a report; None where there is none."""
    if report is None:
        return None
    pressure = report.get("pressure", {}).get("before")
    sections = report.get("sections", ())
    return Figures(
        tokens=report.get("tokens"),
        tier=report.get("strain"),
        pressure=(pressure[0], pressure[1]) if pressure else None,
        variants=dict(report.get("variants", {})),
        sections={one["id"]: one["tokens"] for one in sections},
        items={one["id"]: tuple(item["id"] for item in one.get("items", ())) for one in sections},
        reuse=reuse,
    )


def find_figures(folder: str, turn: int = 0) -> Figures | None:
    """Those the goldens of the case in that folder were accepted with: of the golden of the report, else as they were noted then. None
    where neither tells.
    """
    report = read_report(_read_figures(folder, name_golden("report", turn)))
    if report is not None:
        return describe_figures(report)
    noted = read_json(_read_figures(folder, INPUTS))
    return read_figures(noted.get("figures")) if isinstance(noted, dict) else None


def _read_figures(folder: str, name: str) -> bytes | None:
    """What stands beside the case; None where nothing does that can be read."""
    try:
        return _read_golden(os.path.join(folder, name), name)
    except PromptcError:
        return None


def read_figures(noted: Any) -> Figures | None:
    """The figures that were noted as plain data; None for anything else."""
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
    """The bytes of the golden of that kind."""
    match kind:
        case "text":
            return (outcome.text or "").encode()
        case "messages":
            return _render_json(list(outcome.messages or ()))
        case "report":
            return _render_json(leave_moving(outcome.read_report()))
        case "payload":
            return _render_json(outcome.payload)
        case "state":
            return _render_json(outcome.state)
        case "archive":
            return outcome.archive or b""
        case _:
            return print_found(outcome.found).encode()


def _render_json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def leave_moving(report: Mapping[str, Any] | None) -> Any:
    """The golden form of a report: all that a render did, without digests, without places in source files, and without what was tried."""
    whole: Any = report
    for way in _MOVING:
        whole = _leave(whole, way.split("."))
    return whole


def _leave(value: Any, way: Sequence[str]) -> Any:
    """Without what that way leads to; it goes through lists."""
    if isinstance(value, list | tuple):
        return [_leave(one, way) for one in value]
    if not isinstance(value, Mapping) or way[0] not in value:
        return value
    first, *rest = way
    return {key: _leave(one, rest) if key == first else one for key, one in value.items() if key != first or rest}


def describe_difference(case: Case, difference: GoldenDifference) -> Diagnostic:
    """A finding: PC0921 for a golden that is missing, PC0920 at the first line that differs."""
    if difference.old is None:
        return Diagnostic("PC0921", f"there is no golden `{difference.path}` yet", _claim_span(case, difference.kind))
    old, new = difference.old.split(b"\n"), difference.new.split(b"\n")
    line = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    excerpt = old[line][:400].decode("utf-8", "replace") if line < len(old) else ""
    return Diagnostic("PC0920", f"the golden of {difference.kind} is not what comes out", Span(difference.path, line + 1, 1, excerpt))


def _claim_span(case: Case, kind: str) -> Span:
    claims = case.node.get("golden")
    found = [node.span for node in (claims.value if claims is not None else ()) if node.value == kind]
    return found[0] if found else case.node.span
