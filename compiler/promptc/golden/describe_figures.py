"""What a prompt came to, from its report: for the head of a failure."""

import os
from collections.abc import Mapping

from promptc.compare import has, is_count, is_list, is_mapping, is_pair, is_text, or_none, read_json, read_report
from promptc.diag.findings import PromptcError
from promptc.diag.frozen import as_plain
from promptc.diag.typed import Any
from promptc.golden.cases.case import INPUTS, Case, name_golden
from promptc.golden.judging.compare import read_golden
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
    report = read_report(_read(case, name_golden("report", turn)))
    if report is not None:
        return describe_figures(report)
    noted = read_json(_read(case, INPUTS))
    return read_figures(noted.get("figures")) if isinstance(noted, dict) else None


def write_figures(figures: Figures) -> dict[str, Any]:
    """As plain data, to be noted."""
    plain: dict[str, Any] = as_plain(figures)
    return plain


def read_figures(noted: Any) -> Figures | None:
    """What `write_figures` made; None for anything else."""
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


def _read(case: Case, name: str) -> bytes | None:
    """What stands beside the case; None where nothing does that can be read."""
    try:
        return read_golden(os.path.join(case.folder, name), name)
    except PromptcError:
        return None
