"""What running a case came to."""

from collections.abc import Callable, Mapping, Sequence

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.pipeline import Outcome

Report = Mapping[str, Any]


@frozen(eq=False)
class CaseOutcome:
    """What one render, check, operation or command gave.

    `exit` is the code its command would have ended with. Where there is none of a thing it is None: on an error `text`, `messages` and
    `payload`; `state` and `archive` (its bytes) but for an operation. `read_report` builds the report when it is asked for, since a case
    that has no golden of it and claims nothing about it does not need it; of an error it gives one for what cannot be fitted only.
    `read_facts` gives at least its `strain`, `variants`, `flags`, and the states of its sections.
    `compiled` is what both are made of, of a prompt that was emitted.
    `figures` are what a case of its kind claims numbers or names about besides the report: `fallback`, `recall`.
    """

    exit: int
    found: tuple[Diagnostic, ...] = ()
    text: str | None = None
    messages: Sequence[Mapping[str, Any]] | None = None
    tokens: int | None = None
    payload: Mapping[str, Any] | None = None
    state: Any = None
    archive: bytes | None = None
    read_report: Callable[[], Report | None] = field(default=lambda: None, repr=False)
    read_facts: Callable[[], Report | None] = field(default=lambda: None, repr=False)
    compiled: Outcome | None = field(default=None, repr=False)
    figures: Mapping[str, Any] = field(default_factory=dict)


@frozen(eq=False)
class Ran:
    """A case that was run: the outcome of each turn (one, but of a session), and what holds between turns.

    `reuse`: per turn from the second the share of its tokens, in whole per cent, in which it begins as the turn before did; `changes`:
    how often the tier changed.
    """

    turns: tuple[CaseOutcome, ...]
    reuse: tuple[int, ...] = ()
    changes: int = 0
