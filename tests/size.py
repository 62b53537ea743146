"""How much of what could be tried a run tries: the share of a commit, all that CI runs, or the full size of `make prove`.

`PROMPTC_TESTS=ci` asks for what CI runs; `.ci/run` says so, and where `CI` is set it is so. What a run leaves out is told at its end.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

EXAMPLES = {"commit": 25, "ci": 100, "prove": 2000}
"""Examples that hypothesis draws for a property, unless the property says how many."""

PARTS, SMALL_PARTS = 3, 9
"""A commit tries a third of a table; and a ninth of the tries at one property, where each try by itself is dear."""
_SIZE, _PART = "PROMPTC_TESTS", "PROMPTC_TESTS_PART"


def choose(*, is_proof: bool) -> None:
    """Chooses the size of this run, and the part of a commit's run: another one every day. The workers of a run inherit both."""
    size = "prove" if is_proof else os.environ.get(_SIZE) or ("ci" if os.environ.get("CI") else "commit")
    assert size in EXAMPLES, f"{_SIZE} is one of: {', '.join(EXAMPLES)}"
    os.environ[_SIZE] = size
    os.environ.setdefault(_PART, str(datetime.now(UTC).toordinal() % SMALL_PARTS))


def read_size() -> str:
    """`commit`, `ci` or `prove`."""
    return os.environ[_SIZE]


def count_draws(full: int) -> int:
    """How many of a property's `full` draws this run makes: all to prove, a twentieth in CI, an eightieth for a commit; at least one."""
    return max(1, full * EXAMPLES[read_size()] // EXAMPLES["prove"])


def count_examples(wanted: int) -> int:
    """How many examples a property that asks for `wanted` gets: all, but for a commit a quarter, and 25 at least if it asks for so many."""
    return min(wanted, max(EXAMPLES["commit"], wanted // 4)) if read_size() == "commit" else wanted


def take_part(all_of_them: Sequence[Any], parts: int = PARTS) -> Sequence[Any]:
    """Every third (or ninth), beginning with the day's, for a commit; else all. Of fewer than there are parts one is taken."""
    if read_size() != "commit":
        return all_of_them
    first = int(os.environ[_PART]) % parts
    return all_of_them[first % max(1, len(all_of_them)) :: parts]


def describe() -> str:
    """What this run leaves out, and how to get it."""
    if read_size() != "commit":
        return f"size of this run: {read_size()}"
    part = int(os.environ[_PART])
    return (
        f"LEFT OUT, CI runs it ({_SIZE}=ci): three of four examples of each property, the attacks, tables, cases and dear tests but part "
        f"{part % PARTS + 1} of {PARTS}, what is dear to try (a case in another process, a kill before each call) but part "
        f"{part % SMALL_PARTS + 1} of {SMALL_PARTS} ({_PART}={part}), a second hash seed, command lines that differ in their state alone"
    )
