"""A pack over many budgets."""

from collections.abc import Iterable

import promptc
from promptc.diag.findings import FitError


def check_growth(pack: promptc.Pack, state: promptc.State, budgets: Iterable[int]) -> None:
    """From the first of the rising budgets that fits there is no error, no prompt over it, and no item of a smaller prompt is missing."""
    kept: set[tuple[str, str]] | None = None
    for budget in budgets:
        try:
            report = pack.render(state, budget=budget).report
        except FitError:
            assert kept is None, f"an error at {budget}, and none at a smaller budget"
            continue
        items = {(section["id"], item["id"]) for section in report["sections"] for item in section["items"]}
        assert report["tokens"] <= budget
        assert kept is None or kept <= items, f"lost at {budget}: {kept - items}"
        kept = items
    assert kept
