"""What a prompt came to, from its report: for the head of a failure."""

import json
import os
from collections.abc import Mapping

from promptc.diag.errors import PromptcError
from promptc.diag.frozen import as_plain
from promptc.diag.typed import Any
from promptc.golden.case import INPUTS, Case, name_golden
from promptc.golden.compare_goldens import read_golden
from promptc.golden.verdict import Figures


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


def find_figures(case: Case, turn: int = 0) -> Figures | None:
    """Those its goldens were accepted with: of the golden of the report, else as they were noted then. None where neither tells."""
    report = _read(case, name_golden("report", turn))
    if report is not None:
        return describe_figures(report)
    noted = (_read(case, INPUTS) or {}).get("figures")
    return read_figures(noted) if isinstance(noted, dict) else None


def write_figures(figures: Figures) -> dict[str, Any]:
    """As plain data, to be noted."""
    plain: dict[str, Any] = as_plain(figures)
    return plain


def read_figures(noted: Mapping[str, Any]) -> Figures | None:
    """What `write_figures` made; None for anything else."""
    try:
        pressure = noted["pressure"]
        return Figures(
            tokens=noted["tokens"],
            tier=noted["tier"],
            pressure=(int(pressure[0]), int(pressure[1])) if pressure else None,
            variants=dict(noted["variants"]),
            sections=dict(noted["sections"]),
            items={str(name): tuple(ids) for name, ids in noted["items"].items()},
            reuse=noted["reuse"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None


def _read(case: Case, name: str) -> dict[str, Any] | None:
    """A JSON mapping beside the case; None where there is none that can be read."""
    path = os.path.join(case.folder, name)
    try:
        value = json.loads(read_golden(path, name) or b"null")
    except (PromptcError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
