"""A case as its `case.yaml` tells it, what came of running it, and the names of the files beside it (contract.md §14).

`Case` is one folder, `CaseOutcome` what one turn of it gave, `Figures` what a prompt came to. `read_plain` reads whatever a case names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.files.reading import IrregularError, LinkError, TooLongError, read_file
from promptc.model.state import Node
from promptc.pipeline import Outcome

_TURN = re.compile(r"golden\.([0-9]+)\.")

CaseKind = Literal["render", "session", "apply", "recall", "check", "run"]
"""What a case does: renders a state (`state`), or one after the other (`states`), runs an operation (`apply`), asks an index queries
whose answers are known (`recall`), checks its pack (`check`), or calls a command line (`run`)."""

GOLDENS: Mapping[str, str] = {
    "text": "golden.txt",
    "messages": "golden.messages.json",
    "payload": "golden.payload.json",
    "report": "golden.report.json",
    "state": "golden.state.json",
    "archive": "golden.archive.jsonl",
    "diagnostics": "golden.diagnostics.txt",
}
"""The file of each kind of golden, beside `case.yaml`, in the order in which they are compared."""

PENDING = ".new"
"""The ending of the name of a golden that is pending: `golden.txt.new`, beside `golden.txt`."""

INPUTS = "golden.inputs.json"
"""The file that tells from which inputs a case's goldens were made, and what they came to (decision 19). Never compared."""

Report = Mapping[str, Any]

MAX_PLAIN_BYTES = 96_000_000
"""Bytes of the longest file that is read of a case, a golden or a state."""

_LINK = "put the file itself there"
_KINDS = {name: kind for kind, name in GOLDENS.items()}


@frozen
class GivenState:
    """One state of a case: `base` is its file, relative to the case's folder (none: the state of the turn before), and `changes` JSON
    pointers with the values to put there, in order."""

    base: str | None
    changes: tuple[tuple[str, Any], ...] = ()


@frozen(eq=False)
class Case:
    """One folder. `root`, `folder` and `fence` are absolute; all that findings show is relative to `root`, where a case is run. Nothing
    that the case names lies outside `fence`.

    `name` is what it is called in reports and asked for by: its folder from the root, without a leading `fixtures/` or `packs/`.
    `file` is its `case.yaml` from the root. `pack` is a path from the root. `states` has one entry for a render, one a turn for a
    session, at most one for an operation. `requires` are the extras without which it is not run. `flags` are those of `render` (`with`),
    `given` its circumstances, `expect` its claims, each as plain data; `node` is the whole file with the place of everything in it.
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
        """Kind, turn and file name of every golden the case asks for. The turn is 0 but in a session, whose goldens have their turn (from
        1) in their names: `golden.2.txt`."""
        turns = range(1, len(self.states) + 1) if self.kind == "session" else (0,)
        return tuple((kind, turn, name_golden(kind, turn)) for turn in turns for kind in GOLDENS if kind in self.golden)


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
class CaseRun:
    """A case that was run: the outcome of each turn (one, but of a session), and what holds between turns.

    `reuse`: per turn from the second the share of its tokens, in whole per cent, in which it begins as the turn before did; `changes`:
    how often the tier changed; `flaps`: what came back, each with its turn; `cost`: in per cent of the session without a cache, None where
    no price is known.
    """

    turns: tuple[CaseOutcome, ...]
    reuse: tuple[int, ...] = ()
    changes: int = 0
    flaps: tuple[str, ...] = ()
    cost: int | None = None


@frozen(eq=False)
class Figures:
    """What a prompt came to, for the head of a failure: the one its golden was accepted with, or the one of now.

    `pressure` is (spent, allowed); `variants` the case chosen on each axis (`mood` among them); `items` the ids by section, in order;
    `sections` their tokens. `reuse` is that of a session (least of all turns, in per cent), else None. Where no note and no report tells
    more than a golden's own text does, `tokens` stand alone.
    """

    tokens: int | None = None
    tier: str | None = None
    pressure: tuple[int, int] | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, int] = field(default_factory=dict)
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reuse: int | None = None


class CaseError(PromptcError):
    """The case itself is at fault, not what its pack makes of its state: it is broken, whatever it expects."""


def is_golden(name: str) -> bool:
    """Whether promptc writes a file of that name beside a case: a golden, of a session's turn too, the note beside it, or one pending."""
    plain = name.removesuffix(PENDING)
    return plain == INPUTS or bool(read_golden_name(plain)[0])


def is_pending(name: str) -> bool:
    """Whether a golden of that name is a pending one."""
    return name.endswith(PENDING)


def name_golden(kind: str, turn: int = 0) -> str:
    """The file name of a golden of that kind; of a session's turn, with its number."""
    plain = GOLDENS[kind]
    return plain.replace("golden.", f"golden.{turn}.", 1) if turn else plain


def read_golden_name(name: str) -> tuple[str, int]:
    """The kind and the turn (0 but of a session's) of the golden with that file name; the opposite of `name_golden`. An empty kind where no
    golden is called so.
    """
    turn = _TURN.match(name)
    return _KINDS.get(_TURN.sub("golden.", name, count=1), ""), int(turn[1]) if turn is not None else 0


def read_plain(path: str, shown: str, limit: int, span: Span | None = None) -> bytes:
    """The bytes of the regular file at `path`, which findings call `shown`; `span` is where it is named.

    Raises `CaseError`: PC0902 where there is none, PC0903 where it is there and cannot be read; `PromptcError`: PC0102 where it has more
    than `limit` bytes.
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
    """The error of a file that is there and cannot be read."""
    return fail_case("PC0903", f"cannot read `{shown}`: {wrong.strerror or wrong}", span)


def fail_case(code: str, message: str, span: Span | None = None, *, help: str = "") -> CaseError:
    """The error of a single finding, to be raised by the caller."""
    return CaseError([Diagnostic(code, message, span, help)])
