"""Verdicts as JSON, for programs."""

import json
from collections.abc import Mapping, Sequence

from promptc.cli.findings import describe_diagnostic
from promptc.cli.views.moved import group_moved
from promptc.diag.frozen import as_plain
from promptc.diag.typed import Any
from promptc.golden.judging.compare import Verdict
from promptc.version import VERSION


def render_json(verdicts: Sequence[Verdict], counts: Mapping[str, int]) -> str:
    """The counts, every verdict, and the causes with the cases each moved: the same whenever and however the cases were run."""
    causes = [_describe_cause(group) for group in group_moved(verdicts) if group[0].moved_by]
    whole = {"promptc": VERSION, "counts": dict(counts), "causes": causes, "cases": [_describe(one) for one in verdicts]}
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def _describe_cause(group: Sequence[Verdict]) -> dict[str, Any]:
    goldens = [one.path for verdict in group for one in verdict.differences]
    return {"cause": list(group[0].cause), "cases": [one.name for one in group], "goldens": goldens}


def _describe(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "status": verdict.status,
        "title": verdict.title,
        "file": verdict.file,
        "pack": verdict.pack,
        "findings": [describe_diagnostic(one) for one in verdict.findings],
        "differences": [{"kind": one.kind, "golden": one.path, "pending": one.pending or None} for one in verdict.differences],
        "before": as_plain(verdict.before),
        "after": as_plain(verdict.after),
        "cause": list(verdict.cause),
        "lacking": list(verdict.lacking),
    }
