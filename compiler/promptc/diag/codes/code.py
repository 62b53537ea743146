"""What is written down about a diagnostic code."""

from promptc.diag.findings import Level
from promptc.diag.frozen import frozen


@frozen
class Code:
    """A code's name, one-line summary, why it is a finding, a bad example, and how to mend it."""

    name: str
    level: Level
    summary: str
    why: str
    bad: str
    fix: str
