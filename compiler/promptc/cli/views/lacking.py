"""Extras that are not installed, for want of which cases are skipped."""

from collections.abc import Iterable, Mapping

from promptc.golden.cases.environment import EXTRAS, render_install
from promptc.golden.judging.compare import Verdict


def count_lacking(verdicts: Iterable[Verdict], before: Mapping[str, int] | None = None) -> dict[str, int]:
    """How many cases each extra keeps from being run, in the order of EXTRAS; those that were counted `before` come on top."""
    counts = {name: (before or {}).get(name, 0) for name in EXTRAS}
    for name in (name for one in verdicts for name in one.lacking if one.status == "skipped"):
        counts[name] += 1
    return {name: count for name, count in counts.items() if count}


def show_lacking(counts: Mapping[str, int]) -> str:
    """Which extras, for how many cases each where there are several, and the command that installs them."""
    named = ", ".join(f"{count:,} {name}" for name, count in counts.items()) if len(counts) > 1 else "".join(counts)
    return f"{named}: {render_install(counts)}"
