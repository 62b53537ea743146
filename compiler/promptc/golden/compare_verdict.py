"""What differs in the goldens of a verdict, prompts section by section."""

import os
from collections.abc import Iterator

from promptc.compare import Difference
from promptc.files.reading import read_file
from promptc.golden.cases.case import name_golden
from promptc.golden.compare_outputs import PROMPTS, GoldenOutput, compare_outputs
from promptc.golden.read_plain import MAX_PLAIN_BYTES
from promptc.golden.verdict import GoldenDifference, Verdict


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
