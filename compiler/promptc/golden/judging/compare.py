"""Goldens, held against what came out."""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, Span
from promptc.diag.typed import Any
from promptc.files.reading import read_file
from promptc.golden.case_error import fail_case
from promptc.golden.cases.case import Case
from promptc.golden.find_home import show_path
from promptc.golden.outcome import CaseOutcome, Ran
from promptc.golden.read_plain import MAX_PLAIN_BYTES, refuse_reading
from promptc.golden.verdict import GoldenDifference

_MOVING = ("digests", "counter.digest", "sections.items.at", "sections.source.indexes.fingerprint", "cuts.at", "warnings.at")
"""Where a report has digests, and places in source files: an edit that changes nothing of a prompt, such as a comment, changes them."""

_LINK = "goldens are files that are written in place: put the file itself there"

Print = Callable[[Sequence[Diagnostic]], str]


def render_goldens(case: Case, ran: Ran, print_found: Print) -> dict[str, bytes]:
    """What the goldens that the case asks for would have to be, by their names, in order. `print_found` is how findings are printed."""
    found = ((kind, _find_turn(ran, turn), name) for kind, turn, name in case.list_goldens())
    return {name: render_golden(kind, outcome, print_found) if outcome is not None else b"" for kind, outcome, name in found}


def compare_goldens(case: Case, ran: Ran, made: Mapping[str, bytes]) -> list[GoldenDifference]:
    """Every golden the case asks for that is missing, or differs by a byte from what was `made`, in order.

    Raises `CaseError`: PC0903 for a golden that cannot be read, PC0906 for one that is a link or no file.
    """
    differences = []
    for kind, turn, name in case.list_goldens():
        path = f"{case.folder}{os.sep}{name}"
        old = read_golden(path, show_path(path, case.root))
        if old != made[name]:
            outcome = _find_turn(ran, turn)
            ranges = tuple(_iter_ranges(outcome)) if kind == "text" and outcome is not None else ()
            differences.append(GoldenDifference(kind, show_path(path, case.root), old, made[name], turn=turn, ranges=ranges))
    return differences


def _find_turn(ran: Ran, turn: int) -> CaseOutcome | None:
    return ran.turns[max(turn - 1, 0)] if turn <= len(ran.turns) else None


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


def leave_moving(report: Mapping[str, Any] | None) -> Any:
    """The golden form of a report: all that a render did, without digests and without places in source files."""
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


def read_golden(path: str, shown: str) -> bytes | None:
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
        raise fail_case("PC0906", f"the golden `{shown}` is no regular file", help=_LINK)
    try:
        return read_file(path, MAX_PLAIN_BYTES)
    except OSError as wrong:
        raise refuse_reading(shown, wrong) from None


def describe_difference(case: Case, difference: GoldenDifference) -> Diagnostic:
    """A finding: PC0921 for a golden that is missing, PC0920 at the first line that differs."""
    if difference.old is None:
        return Diagnostic("PC0921", f"there is no golden `{difference.path}` yet", _find_claim(case, difference.kind))
    old, new = difference.old.split(b"\n"), difference.new.split(b"\n")
    line = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    excerpt = old[line][:400].decode("utf-8", "replace") if line < len(old) else ""
    return Diagnostic("PC0920", f"the golden of {difference.kind} is not what comes out", Span(difference.path, line + 1, 1, excerpt))


def _find_claim(case: Case, kind: str) -> Span:
    claims = case.node.get("golden")
    found = [node.span for node in (claims.value if claims is not None else ()) if node.value == kind]
    return found[0] if found else case.node.span


def _iter_ranges(outcome: CaseOutcome) -> Iterator[tuple[str, int, int]]:
    try:
        report = outcome.read_report()
    except PromptcError:
        return
    for section in (report or {}).get("sections", ()):
        if section.get("range") and len(section["range"]) == 2:
            yield section["id"], section["range"][0], section["range"][1]


def _render_json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
