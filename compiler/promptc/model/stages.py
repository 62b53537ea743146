"""What the passes hand on. Each stage holds the one before it, so that `explain` can show any of them.

Counts are in the counter's *units*: tokens for a tokenizer, characters for `chars/4` (four units a token).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from promptc.diag.findings import Diagnostic
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any, Literal, Protocol
from promptc.model.budget import TotalBudget
from promptc.model.media import CountedMedia
from promptc.model.messages import Provider
from promptc.model.pack import CalibrationEntry, Choice, Format, PackModel, Plan
from promptc.model.section import Ratio, Section, Step, Tool
from promptc.model.state import State
from promptc.template.runtime.run import Run, read_run
from promptc.text.counters.counter import Meter
from promptc.text.guard import Finding, Guard

SectionState = Literal["present", "empty", "off", "dropped"]


@frozen(eq=False)
class Bound:
    """A pack bound to a state: the values of `let`, the choice of variants and patches, the budget in tokens, sections left out.

    `budget` is that of the manifest for the model of this render, `total` what the prompt may hold. `model` is the one that was asked for.
    `provider` is the one whose overheads messages are counted with (None: those of contract.md §8), `due` the operations whose
    `when` holds. `calibrated` is the entry of a calibration that holds a part of `whole` back: `total` is what is left.
    """

    pack: PackModel
    state: State
    meter: Meter
    names: Mapping[str, Any]
    choice: Choice
    format: Format
    total: int
    budget: TotalBudget
    without: frozenset[str] = frozenset()
    warnings: tuple[Diagnostic, ...] = ()
    provider: Provider | None = None
    due: tuple[str, ...] = ()
    model: str | None = None
    whole: int = 0
    calibrated: CalibrationEntry | None = None

    @property
    def run(self) -> Run:
        """The account that everything of the render charges."""
        return read_run(self.names)

    def find_shows(self) -> Callable[[Any], bool] | None:
        """What tells whether the pack's `visible` holds for an item, whichever section or index asks; None where it shows all."""
        visible = self.pack.visible
        return None if visible is None else lambda item: bool(visible.evaluate({**self.names, "item": item}))


@frozen(eq=False)
class Item:
    """The smallest thing kept or cut whole.

    `value` is the author's data, untouched, `element` the one of `each` that it belongs to. `raw` is its rendered text without final line
    ends, `text` the same guarded. `unit` is shared by items that live and die together. `content` is a message item's list of parts, None
    for plain text; `media` are those that are no text, as they were counted, and `beyond` the units that they count beyond the lines that
    stand for them in the text. `tool` is the tool that an item of `tools` is, in the form that it has. `speaker`
    is the name of who speaks a message, where it has one. `held` is the stage that would leave it out, where it stands because it stood
    before.
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
    media: tuple[CountedMedia, ...] = ()
    beyond: int = 0
    tool: Tool | None = None
    speaker: str = ""
    held: str = ""


@frozen(eq=False)
class GroupHeader:
    """A group's key and its guarded header line (empty: none)."""

    key: Any
    header: str


@frozen(eq=False)
class Selected:
    """One section after selection: its items in order, before any budget. `left_out` counts items by stage; `gathered` is what its source
    gave it where that is not the state. Of a list with `freeze`, `standing` are the ids of what stands where it stood, in order, and `gone`
    those that the source does not have any more.
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
    standing: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


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

    `steps` are the tier's `do`, `raises` the watched sections that raise it, each with the tier without it and with it.
    """

    selection: Selection
    tier: int
    pressure: Pressure
    steps: tuple[Step, ...]
    raises: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()


@frozen
class SourceDigest:
    """What was read, by its content: of a `store` or an `index`, by name."""

    kind: str
    name: str
    digest: str


@frozen(eq=False)
class Gathered:
    """The values that are a section's items, in order, and for each the element of `each` it belongs to (empty without `each`).

    `left_out` counts by stage what the source had and did not give, `account` is what a report tells of it: plain JSON data. `refused` are
    the best of what was scored and not given, each as a chunk of the account with `why`; `unwanted` counts what `retrieve.where` refused.
    The last `held` of the values are there only because they were shown before.
    """

    values: tuple[Any, ...]
    elements: tuple[Any, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    account: Mapping[str, Any] = field(default_factory=dict)
    digests: tuple[SourceDigest, ...] = ()
    is_sparse: bool = False
    refused: tuple[Mapping[str, Any], ...] = ()
    unwanted: int = 0
    warnings: tuple[Diagnostic, ...] = ()
    held: int = 0


class Gathering(Protocol):
    """Asks sources for sections. The same question in one render is asked once, and has one answer."""

    def gather(self, section: Section, bound: Bound, names: Mapping[str, Any]) -> Gathered:
        """What the section's source gives under these names; `bound` has the cases in force, which a strain tier may change. Raises
        `PromptcError`; `DiskError` where a source cannot be read.
        """
        ...


@frozen(eq=False)
class RenderOptions:
    """`budget` (tokens), `model`, `variants` (a case by axis), `patches` and `format` take the place of what the pack and the state say.
    `without` leaves sections out as if their `when` were false.

    `given` are the values of the names that the pack is given, `provider` is the one whose overheads messages are counted with.
    """

    budget: int | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    patches: Sequence[str] = ()
    format: Format | None = None
    without: Sequence[str] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    provider: Provider | None = None
    model: str | None = None
