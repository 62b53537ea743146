"""The verdict on a case: the one thing all reports are made of."""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Literal

Status = Literal["passed", "failed", "new", "obsolete", "broken", "skipped"]
"""`passed`: all that is expected holds and every golden is equal. `failed`: something expected does not hold, or a golden differs.
`new`: all holds and nothing differs, but a golden is not there yet. `obsolete`: a golden that no case asks for. `broken`: the case cannot
be run, or not be judged: its file is wrong, its state or pack is not there, a golden is a link. `skipped`: it was not run, as an extra that
it requires is not installed."""


@frozen(eq=False)
class Figures:
    """What a prompt came to, for the head of a failure: the one its golden was accepted with, or the one of now.

    `pressure` is (spent, allowed); `variants` the case chosen on each axis (`mood` among them); `items` the ids by section, in order;
    `sections` their tokens. `reuse` is that of a session (least of all turns, in per cent), else None.
    """

    tokens: int | None = None
    tier: str | None = None
    pressure: tuple[int, int] | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, int] = field(default_factory=dict)
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reuse: int | None = None


@frozen(eq=False)
class GoldenDifference:
    """A golden that is not what came out. `path` and `pending` are from the root; `pending` is empty where nothing was written (in CI, or
    where it could not be). `old` is None for a golden that is not there. `ranges` are, of a text, the byte ranges of each section in `new`;
    `turn` is that of a session, else 0."""

    kind: str
    path: str
    old: bytes | None = field(repr=False)
    new: bytes = field(repr=False)
    pending: str = ""
    turn: int = 0
    ranges: tuple[tuple[str, int, int], ...] = ()


@frozen(eq=False)
class Verdict:
    """What came of one case, or of one golden that no case asks for (`obsolete`; its `name` is that of the folder it lies in).

    `root` and `folder` are absolute, `file` is the case's `case.yaml` from the root (of an obsolete golden: that golden). `findings` say
    all that is wrong, in order, each with its place where it has one: PC0920 to PC0924 for what differs, and whatever made a case broken.
    `found` are the findings of the render itself, where it was not to have any that it had. `before` is None where no golden tells.
    `is_known` tells that nothing was run: all inputs are those of a run that passed; `is_unwritten` that a pending golden could not be
    written. `lacking` are the extras for want of which it is not run. `made` is what came out, by the names of the goldens asked for; no
    worker hands it over. `cause` tells in lines what brought a difference about, where that was looked for and found;
    `moved_by` is equal for verdicts that have the same cause, and empty for those without. Pickles.
    """

    name: str
    status: Status
    root: str
    folder: str
    file: str
    title: str = ""
    pack: str = ""
    findings: tuple[Diagnostic, ...] = ()
    differences: tuple[GoldenDifference, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    before: Figures | None = None
    after: Figures | None = None
    cause: tuple[str, ...] = ()
    moved_by: str = ""
    is_known: bool = False
    is_unwritten: bool = False
    lacking: tuple[str, ...] = ()
    microseconds: int = 0
    made: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def fails(self) -> bool:
        """Whether a run with this verdict in it ends with exit code 1, wherever it runs. What is new or obsolete fails in CI only."""
        return self.status in ("failed", "broken")
