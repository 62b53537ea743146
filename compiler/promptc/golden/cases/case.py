"""A case as it was read from its `case.yaml` (language.md §14)."""

from collections.abc import Mapping

from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.model.state import Node

Kind = Literal["render", "session", "apply", "recall", "check", "run"]
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
"""What ends the name of a golden that is pending: `golden.txt.new`, beside `golden.txt`."""

INPUTS = "golden.inputs.json"
"""The file that tells from which inputs a case's goldens were made, and what they came to (decision 19). Never compared."""


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
    kind: Kind
    title: str
    golden: tuple[str, ...]
    node: Node = field(repr=False)
    states: tuple[GivenState, ...] = ()
    carry: str | None = None
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


def is_golden(name: str) -> bool:
    """Whether promptc writes a file of that name beside a case: a golden, of a session's turn too, the note beside it, or one pending."""
    plain = name.removesuffix(PENDING)
    first, _, rest = plain.partition(".")
    turn, _, after = rest.partition(".")
    return plain == INPUTS or (f"{first}.{after}" if turn.isdigit() else plain) in GOLDENS.values()


def name_golden(kind: str, turn: int = 0) -> str:
    """The file name of a golden of that kind; of a session's turn, with its number."""
    plain = GOLDENS[kind]
    return plain.replace("golden.", f"golden.{turn}.", 1) if turn else plain
