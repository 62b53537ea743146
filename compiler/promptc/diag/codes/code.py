"""What is written down about a diagnostic code."""

from dataclasses import dataclass

from promptc.diag.diagnostic import Level


@dataclass(frozen=True, slots=True)
class Code:
    """A code's name, one-line summary, why it is a finding, a bad example, and how to mend it."""

    name: str
    level: Level
    summary: str
    why: str
    bad: str
    fix: str
