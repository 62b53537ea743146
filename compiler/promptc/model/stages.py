"""The results that the passes hand on. Each stage contains the one before it, so that `explain` can show any of them.

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
    """A pack bound to a state: the values of `let`, the choice of variants and patches, the budget in tokens, the sections left out.

    `budget` is that of the manifest for the model of this render, and `total` is what the prompt may contain. `model` is the requested one.
    `provider` is the one whose overheads are counted for messages (None: those of contract.md §8). `due` are the operations whose `when` is
    true. `calibrated` is the entry of a calibration that holds back a part of `whole`; `total` is the rest.
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
        """The account that everything in the render charges."""
        return read_run(self.names)

    def count_more(self, tokens: int) -> int:
        """Return how much larger the budget must be for a prompt to have so many more tokens, as a part of the budget may be held back."""
        return self.pack.count_total(self.total + tokens, self.calibrated) - self.whole

    @property
    def held_back(self) -> str:
        """How much of the budget is held back, in brackets; empty if nothing is."""
        held = self.whole - self.total
        return f" ({held} of {self.whole} {'is' if held == 1 else 'are'} held back)" if held else ""

    def find_shows(self) -> Callable[[Any], bool] | None:
        """Return a function that says whether an item meets the pack's `visible`, or None if the pack shows all items.

        The function is for items of any section or index.
        """
        visible = self.pack.visible
        return None if visible is None else lambda item: bool(visible.evaluate({**self.names, "item": item}))


@frozen(eq=False)
class Item:
    """The smallest thing that is kept or cut whole.

    `value` is the author's data, untouched. `element` is the element of `each` that the item belongs to. `raw` is its rendered text without
    final line ends, and `text` is the same text, guarded. Items with the same `unit` are kept or cut together.

    `content` is the list of parts of a message item, or None for plain text. `media` are the parts that are not text, as they were counted,
    and `beyond` is how many units these count in addition to the lines that replace them in the text. `speaker` is the name of the speaker
    of a message, if it has one.

    `tool` is the tool of an item of `tools`, in its current form. `held` is the stage that would have left the item out, if it stays only
    because it was shown before.
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
    """The key of a group, and its guarded header line (empty: none)."""

    key: Any
    header: str


@frozen(eq=False)
class Selected:
    """One section after selection: its items in order, before any budget.

    `left_out` counts items by stage. `gathered` is what the source returned, unless the source is the state. For a list with `freeze`,
    `standing` are the ids of the items that stay in place, in order, and `gone` are the ids that the source no longer has.
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
    """All sections selected under one plan.

    It includes the guard that they were rendered with, the fences that the guard protects, by section, and the value of `strain` in
    expressions.
    """

    bound: Bound
    plan: Plan
    choice: Choice
    guard: Guard
    fences: Mapping[str, tuple[str, str]]
    sections: tuple[Selected, ...]
    strain: Mapping[str, Any]

    def find_selected(self, name: str) -> Selected | None:
        """Return the section of that id, or None."""
        return next((one for one in self.sections if one.section.id == name), None)


@frozen
class Pressure:
    """Tokens spent over tokens allowed, compared by cross-multiplication."""

    spent: int
    allowed: int

    def reaches(self, threshold: Ratio) -> bool:
        """Return whether spent / allowed >= threshold, where 0 / 0 is 0."""
        if not self.allowed:
            return threshold <= 0
        return self.spent * threshold.denominator >= threshold.numerator * self.allowed

    @property
    def percent(self) -> int:
        """The pressure in percent, rounded down."""
        return 100 * self.spent // self.allowed if self.allowed else 0


@frozen(eq=False)
class Strained:
    """The selection under the strain tier in force.

    `steps` are the tier's `do`. `raises` has the watched sections that raise the tier, each with the tier without the section and the tier
    with it.
    """

    selection: Selection
    tier: int
    pressure: Pressure
    steps: tuple[Step, ...]
    raises: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()

    def may_change(self, tokens: int) -> bool:
        """Return whether a cap larger by so many tokens may change the tier, if all of them are spent."""
        rules = self.selection.bound.pack.strain
        larger = Pressure(self.pressure.spent + tokens, self.pressure.allowed + tokens)
        thresholds = [one for tier in rules.tiers for one in (tier.at, tier.leave)] if rules is not None else []
        return any(self.pressure.reaches(one) != larger.reaches(one) for one in thresholds)


@frozen
class SourceDigest:
    """The digest of the content that was read from a `store` or an `index`, with its name."""

    kind: str
    name: str
    digest: str


@frozen(eq=False)
class Gathered:
    """The values that become a section's items, in order, and the element of `each` that each belongs to (empty without `each`).

    `left_out` counts, by stage, what the source had and did not return. `account` is the part of a report about it, as plain JSON data.
    `refused` are the best of the scored chunks that were not returned, each as a chunk of the account with `why`. `unwanted` counts what
    `retrieve.where` refused. The last `held` values are only included because they were shown before.
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
    """The interface to the sources of sections. The same question is asked once in a render, and has one answer."""

    def gather(self, section: Section, bound: Bound, names: Mapping[str, Any]) -> Gathered:
        """Return what the section's source returns under these names.

        `bound` has the cases in force, which a strain tier may change. Raises `PromptcError`, and `DiskError` if a source cannot be read.
        """
        ...


@frozen(eq=False)
class RenderOptions:
    """The options of a render.

    `budget` (tokens), `model`, `variants` (a case by axis), `patches` and `format` override what the pack and the state say. `without`
    leaves sections out as if their `when` were false. `given` are the values of the names that the pack must be given. `provider` is the
    one whose overheads are counted for messages.
    """

    budget: int | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    patches: Sequence[str] = ()
    format: Format | None = None
    without: Sequence[str] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    provider: Provider | None = None
    model: str | None = None
