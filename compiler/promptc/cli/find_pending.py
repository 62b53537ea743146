"""The pending goldens that a command line names."""

import os
from collections.abc import Sequence

from promptc.diag.diagnostic import Diagnostic
from promptc.diag.errors import UsageError
from promptc.diag.suggest import suggest
from promptc.golden.list_pending import list_pending, matches
from promptc.golden.pending import Pending

_HERE = "."
ONLY = ("new", "changed")


def find_pending(patterns: Sequence[str], *, folder: str | None, only: str | None) -> list[Pending]:
    """Those whose case or path a pattern matches (all without patterns), in order; `only` those that are `new`, or `changed`.

    `UsageError` (PC0943) for a pattern that matches none.
    """
    found = [one for one in list_pending([folder or _HERE]) if only is None or one.status == only]
    for pattern in patterns:
        if not any(matches(one, [pattern]) for one in found):
            near = suggest(pattern, sorted({one.case for one in found})) or "`promptc pending` lists them"
            help = near if found else "nothing is pending: `promptc test` writes what differs"
            raise UsageError([Diagnostic("PC0943", f"no pending golden is `{pattern}`", help=help)])
    return [one for one in found if matches(one, patterns)]


def refuse_in_ci() -> None:
    """Raises `UsageError` (PC0944) where `CI` is set to anything but nothing, `0` or `false`."""
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        help = "accept it where you work, read the difference, and commit it"
        raise UsageError([Diagnostic("PC0944", "goldens are accepted by people, and `CI` is set", help=help)])
