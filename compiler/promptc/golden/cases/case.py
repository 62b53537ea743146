"""A case as its `case.yaml` describes it, the outcome of running it, and the names of the files next to it (contract.md §14).

`Case` is one folder, `CaseOutcome` the outcome of one turn, `Figures` the figures of a prompt. `read_plain` reads any file that a case
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail, show_reason
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.files.reading import IrregularError, LinkError, TooLongError, read_file
from promptc.model.state import Node
from promptc.pipeline import Outcome

_TURN = re.compile(r"golden\.([0-9]+)\.")

CaseKind = Literal["render", "session", "apply", "recall", "check", "run"]
"""What a case does.

It renders a state (`state`) or several in turn (`states`), runs an operation (`apply`), sends queries with known answers to an index
(`recall`), checks its pack (`check`), or calls a command line (`run`).
"""

GOLDENS: Mapping[str, str] = {
    "text": "golden.txt",
    "messages": "golden.messages.json",
    "payload": "golden.payload.json",
    "report": "golden.report.json",
    "state": "golden.state.json",
    "archive": "golden.archive.jsonl",
    "diagnostics": "golden.diagnostics.txt",
}
"""The file of each kind of golden, next to `case.yaml`, in the order in which they are compared."""

PENDING = ".new"
"""The suffix of the name of a pending golden: `golden.txt.new`, next to `golden.txt`."""

INPUTS = "golden.inputs.json"
"""The file that records from which inputs a case's goldens were made, and their figures (decision 19). It is never compared."""

Report = Mapping[str, Any]

MAX_PLAIN_BYTES = 96_000_000
"""The most bytes that are read of a file of a case, of a golden or of a state."""

_LINK = "put the file itself there"
_KINDS = {name: kind for kind, name in GOLDENS.items()}


@frozen
class GivenState:
    """One state of a case.

    `base` is its file, relative to the case's folder (None: the state of the turn before). `changes` are JSON pointers with the values to
    set, in order.
    """

    base: str | None
    changes: tuple[tuple[str, Any], ...] = ()


@frozen(eq=False)
class Case:
    """One case. `root`, `folder` and `fence` are absolute. A case is run in `root`, and findings show paths relative to it.

    `name` identifies the case in reports and on the command line: its folder from the root, without a leading `fixtures/` or `packs/`.
    Nothing that the case names lies outside `fence`. `file` is its `case.yaml` and `pack` its pack, from the root. `states` has one entry
    for a render, one a turn for a session, and at most one for an operation. A case is run only if the extras in `requires` are installed.
    `flags` are the options of the render (`with`), `given` the circumstances, `expect` the claims, each as plain data. `node` is the whole
    file with the places of its values.
    """

    name: str
    root: str
    folder: str
    file: str
    pack: str
    kind: CaseKind
    title: str
    golden: tuple[str, ...]
    node: Node = field(repr=False)
    states: tuple[GivenState, ...] = ()
    carry: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    flags: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    expect: Mapping[str, Any] = field(default_factory=dict)
    asked: Any = None
    fence: str = ""

    @property
    def exit(self) -> int:
        """The exit code that is expected."""
        return int(self.expect.get("exit", 0))

    def list_goldens(self) -> tuple[tuple[str, int, str], ...]:
        """Return kind, turn and file name of every golden that the case declares.

        The turn is 0 except in a session, whose goldens have their turn (from 1) in their names: `golden.2.txt`.
        """
        turns = range(1, len(self.states) + 1) if self.kind == "session" else (0,)
        return tuple((kind, turn, name_golden(kind, turn)) for turn in turns for kind in GOLDENS if kind in self.golden)


@frozen(eq=False)
class CaseOutcome:
    """The outcome of one render, check, operation or command.

    `exit` is the exit code that its command would have. A value that does not exist is None: `text`, `messages` and `payload` after an
    error; `state` and `archive` (its bytes) unless an operation was run. `read_report` builds the report when it is called, since a case
    without a golden of the report and without a claim about it does not need it; after an error it returns a report only if the content
    does not fit. `read_facts` returns at least its `strain`, `variants`, `flags`, and the states of its sections. `compiled` is the source
    of both, for a prompt that was emitted. `figures` are further numbers or names that a case of this kind makes claims about: `fallback`,
    `recall`.
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
class CaseRun:
    """A case that was run: the outcome of each turn (one turn unless it is a session), and figures between turns.

    - `reuse`: for each turn from the second, the share of its tokens, in whole per cent, that are its common prefix with the turn before.
    - `changes`: how often the tier changed.
    - `flaps`: what came back, each with its turn.
    - `cost`: the cost in per cent of the session without a cache, or None if no price is known.
    """

    turns: tuple[CaseOutcome, ...]
    reuse: tuple[int, ...] = ()
    changes: int = 0
    flaps: tuple[str, ...] = ()
    cost: int | None = None


@frozen(eq=False)
class Figures:
    """The figures of a prompt, for the head of a failure: of the prompt that its golden was accepted with, or of the present one.

    `pressure` is (spent, allowed). `variants` are the cases chosen on each axis (including `mood`). `items` are the ids by section, in
    order, and `sections` what each holds of the total. `reuse` is the least reuse of all turns of a session, in per cent, or else None. If
    only a golden's own text is known, without a note or a report, only `tokens` is set.
    """

    tokens: int | None = None
    tier: str | None = None
    pressure: tuple[int, int] | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, int] = field(default_factory=dict)
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reuse: int | None = None


class CaseError(PromptcError):
    """The case itself is broken, independent of what its pack makes of its state, and whatever it expects."""


def is_golden(name: str) -> bool:
    """Return whether promptc writes files of that name next to a case: goldens, also of a session's turns, the note, and pending ones."""
    plain = name.removesuffix(PENDING)
    return plain == INPUTS or bool(read_golden_name(plain)[0])


def is_pending(name: str) -> bool:
    """Return whether a golden of that name is pending."""
    return name.endswith(PENDING)


def name_golden(kind: str, turn: int = 0) -> str:
    """Return the file name of a golden of that kind. For a turn of a session it contains the number of the turn."""
    plain = GOLDENS[kind]
    return plain.replace("golden.", f"golden.{turn}.", 1) if turn else plain


def read_golden_name(name: str) -> tuple[str, int]:
    """Return the kind and the turn (0 outside sessions) of the golden with that file name: the inverse of `name_golden`.

    The kind is empty if no golden has such a name.
    """
    turn = _TURN.match(name)
    return _KINDS.get(_TURN.sub("golden.", name, count=1), ""), int(turn[1]) if turn is not None else 0


def read_plain(path: str, shown: str, limit: int, span: Span | None = None) -> bytes:
    """Return the bytes of the regular file at `path`, which findings call `shown`. `span` is the place that names the file.

    Raises `CaseError` if there is no such file (PC0902) or it cannot be read (PC0903), and `PromptcError` (PC0102) if it has more than
    `limit` bytes.
    """
    try:
        return read_file(path, limit)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise fail_case("PC0902", f"there is no file `{shown}`", span, help="write the path relative to the folder of the case") from None
    except (IrregularError, LinkError) as wrong:
        help = _LINK if isinstance(wrong, LinkError) else ""
        raise fail_case("PC0902", f"`{shown}`: {wrong.strerror}", span, help=help) from None
    except TooLongError:
        raise fail("PC0102", f"the file has more than {limit:,} bytes, and promptc reads no more", Span(shown, 1, 1)) from None
    except OSError as wrong:
        raise refuse_reading(shown, wrong, span) from None


def refuse_reading(shown: str, wrong: OSError, span: Span | None = None) -> CaseError:
    """Return the error for a file that exists but cannot be read."""
    return fail_case("PC0903", f"cannot read `{shown}`: {show_reason(wrong)}", span)


def fail_case(code: str, message: str, span: Span | None = None, *, help: str = "") -> CaseError:
    """Return an error with a single finding, for the caller to raise."""
    return CaseError([Diagnostic(code, message, span, help)])
