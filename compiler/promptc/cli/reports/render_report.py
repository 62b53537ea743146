"""A report on a run of cases, in one of the shapes that other programs read."""

from collections.abc import Mapping, Sequence

from promptc.cli.findings import render_diagnostics
from promptc.cli.paint import PLAIN
from promptc.cli.views.moved import render_moved
from promptc.diag.findings import Diagnostic
from promptc.golden.judging.compare import Verdict

_WIDTH = 100


def render_report(kind: str, verdicts: Sequence[Verdict], counts: Mapping[str, int], *, is_ci: bool) -> str:
    """The whole report. `counts` are how many cases passed, failed, and so on; `verdicts` those that are told, in order."""
    match kind:
        case "json":
            from promptc.cli.reports.json_report import render_json

            return render_json(verdicts, counts)
        case "junit":
            from promptc.cli.reports.junit import render_junit

            return render_junit(verdicts, is_ci=is_ci)
        case "sarif":
            from promptc.cli.reports.sarif import render_sarif

            return render_sarif(_list_findings(verdicts))
        case "github":
            from promptc.cli.reports.github import render_github

            return render_github(_list_findings(verdicts), "the step's summary")
        case _:
            from promptc.cli.reports import render_markdown

            return render_markdown(verdicts, counts, _explain)


def render_summary(verdicts: Sequence[Verdict], counts: Mapping[str, int]) -> str:
    """What GitHub shows below a run: the Markdown, as long as a step's summary may be."""
    from promptc.cli.reports import render_markdown

    return render_markdown(verdicts, counts, _explain, _MOST)


_MOST = 900_000
"""Characters; GitHub takes 1 MiB of a step."""


def _list_findings(verdicts: Sequence[Verdict]) -> list[Diagnostic]:
    return [found for one in verdicts for found in one.findings]


def _explain(group: Sequence[Verdict]) -> str:
    return render_moved(group, "full", PLAIN, render_diagnostics, _WIDTH)
