"""What the passes hand on. Each stage holds the one before it, so that `explain` can show any of them.

Counts are in the counter's *units*: tokens for a tokenizer, characters for `chars/4` (four units a token).
"""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal
from promptc.model.gathered import Gathered
from promptc.model.memory import Memory
from promptc.model.pack import Choice, Format, PackModel, Plan
from promptc.model.provider import Provider
from promptc.model.ratio import Ratio
from promptc.model.section import Section
from promptc.model.state import State
from promptc.model.step import Step
from promptc.template.runtime.run import Run, find_run
from promptc.text.guard import Finding, Guard
from promptc.text.meter import Meter

SectionState = Literal["present", "empty", "off", "dropped"]


@frozen(eq=False)
class Bound:
    """A pack bound to a state: the values of `let`, the choice of variants and patches, the budget in tokens, sections left out.

    `provider` is the one whose overheads messages are counted with (None: those of language.md §8), `due` the operations whose
    `when` holds, `memory` what earlier renders selected.
    """

    pack: PackModel
    state: State
    meter: Meter
    names: Mapping[str, Any]
    choice: Choice
    format: Format
    total: int
    without: frozenset[str] = frozenset()
    warnings: tuple[Diagnostic, ...] = ()
    provider: Provider | None = None
    due: tuple[str, ...] = ()
    memory: Memory | None = None

    @property
    def run(self) -> Run:
        """The account that everything of the render charges."""
        return find_run(self.names)


@frozen(eq=False)
class Item:
    """The smallest thing kept or cut whole.

    `value` is the author's data, untouched, `element` the one of `each` that it belongs to. `raw` is its rendered text without final line
    ends, `text` the same guarded. `unit` is shared by items that live and die together. `content` is a message item's list of parts, None
    for plain text.
    """

    id: str
    number: int
    value: Any
    raw: str
    text: str
    anchor: bool = False
    kept: bool = False
    windowed: bool = True
    key: Any = None
    unit: int = 0
    role: str = ""
    content: tuple[Mapping[str, Any], ...] | None = None
    open: str = ""
    close: str = ""
    found: tuple[Finding, ...] = ()
    element: Any = None


@frozen(eq=False)
class GroupHeader:
    """A group's key and its guarded header line (empty: none)."""

    key: Any
    header: str


@frozen(eq=False)
class Selected:
    """One section after selection: its items in order, before any budget. `left_out` counts items by stage; `gathered` is what its source
    gave it where that is not the state.
    """

    section: Section
    state: SectionState
    items: tuple[Item, ...] = ()
    groups: tuple[GroupHeader, ...] = ()
    open: str = ""
    close: str = ""
    header: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    tally: Mapping[str, int] = field(default_factory=dict)
    is_partial: bool = False
    found: tuple[Finding, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    gathered: Gathered | None = None


@frozen(eq=False)
class Selection:
    """All sections selected under one plan, the guard they were rendered with, the fences it guards by section, and what expressions see
    as `strain`.
    """

    bound: Bound
    plan: Plan
    choice: Choice
    guard: Guard
    fences: Mapping[str, tuple[str, str]]
    sections: tuple[Selected, ...]
    strain: Mapping[str, Any]

    def find_selected(self, name: str) -> Selected | None:
        """The section of that id, or None."""
        return next((one for one in self.sections if one.section.id == name), None)


@frozen
class Pressure:
    """Spent over allowed, in tokens; compared by cross-multiplication."""

    spent: int
    allowed: int

    def reaches(self, threshold: Ratio) -> bool:
        """True when spent / allowed >= threshold; 0 / 0 is 0."""
        if not self.allowed:
            return threshold <= 0
        return self.spent * threshold.denominator >= threshold.numerator * self.allowed

    @property
    def percent(self) -> int:
        """The floor of 100 times the pressure."""
        return 100 * self.spent // self.allowed if self.allowed else 0


@frozen(eq=False)
class Strained:
    """The selection under the strain tier that was found.

    `steps` are the tier's `do`, `raises` the watched sections that would raise it.
    """

    selection: Selection
    tier: int
    pressure: Pressure
    steps: tuple[Step, ...]
    raises: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()
