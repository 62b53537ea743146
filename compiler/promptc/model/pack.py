"""A loaded pack: what holds for every render, and the way to the plan of one."""

from collections.abc import Callable, Mapping

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.model.budget import TotalBudget
from promptc.model.node import Node
from promptc.model.ratio import Ratio
from promptc.model.section import Fence, Role, Section
from promptc.model.sources import Index
from promptc.model.step import Step
from promptc.model.store import Store
from promptc.model.tool import Offers, Response, Tool
from promptc.template.limits import LIMITS, Limits
from promptc.template.load_expression import Expression
from promptc.template.load_template import Template
from promptc.template.runtime.run import Run
from promptc.text.counters.counter import Counter

Policy = Literal["escape", "reject", "keep"]
InvisiblePolicy = Literal["replace_hidden", "escape", "reject", "keep"]
Format = Literal["text", "messages"]

_RENDERS = 6
"""How many renders' worth of steps and memory one operation may use up."""


@frozen
class Guarding:
    """What is done with forged fences, special tokens and invisible characters in rendered content."""

    fences: Policy = "escape"
    special_tokens: Policy = "escape"
    invisible: InvisiblePolicy = "replace_hidden"


@frozen
class MessagePlan:
    """One message of the output: its role and the sections it may hold. `each` marks a section whose items are messages."""

    role: Role
    sections: tuple[str, ...]
    each: bool = False


@frozen
class Output:
    """How the emitted sections become text or messages. `warn_span` is where `warn_chars` stands."""

    span: Span
    format: Format = "text"
    messages: tuple[MessagePlan, ...] = ()
    fence: Fence | None = None
    separator: str = "\n"
    guarding: Guarding = Guarding()
    warn_chars: int | None = None
    warn_span: Span | None = None

    @property
    def repeats_roles(self) -> bool:
        """Whether one role may have several messages, which services may join. To most of them a `developer` is `system`."""
        roles = ["system" if one.role == "developer" else one.role for one in self.messages]
        return any(one.each for one in self.messages) or len({*roles}) < len(roles)


@frozen
class Plan:
    """The effective pack of one choice: variants, patches and strain tiers merged and compiled."""

    sections: tuple[Section, ...]
    truncate: tuple[Step, ...]
    output: Output
    budget: TotalBudget
    tools: tuple[Tool, ...] = ()
    response: Response | None = None

    def find_section(self, name: str) -> Section | None:
        """The section of that id, or None."""
        return next((section for section in self.sections if section.id == name), None)


@frozen
class Choice:
    """What selects a plan: a case for each axis (None: no case applies), patches, how many strain tiers hold, patches they use."""

    cases: tuple[tuple[str, str | None], ...] = ()
    patches: tuple[str, ...] = ()
    tiers: int = 0
    uses: tuple[str, ...] = ()


@frozen
class Band:
    """A number's label by ascending lower bounds; below the lowest, the lowest."""

    value: Expression
    bounds: tuple[tuple[Ratio, str], ...]


@frozen
class Assign:
    """A label drawn by weight as a pure function of an id."""

    value: Expression
    weights: tuple[tuple[str, int], ...]


@frozen
class Let:
    """A named value."""

    name: str
    span: Span
    value: Expression | Band | Assign


@frozen
class Assert:
    """A condition the state must meet, and what to say when it does not."""

    that: Expression
    otherwise: Template
    level: Literal["warn", "error"]
    span: Span


@frozen
class Axis:
    """A variant axis: the expression that names a case, the default, and the cases' names."""

    name: str
    select: Expression
    default: str | None
    cases: tuple[str, ...]
    span: Span


@frozen
class Tier:
    """A strain tier: its threshold, the pressure under which it is left, and what it does to the selection."""

    name: str
    at: Ratio
    leave: Ratio
    do: tuple[Step, ...] | None
    span: Span


@frozen
class Strain:
    """How pressure is measured and what tiers follow from it. `count` is None for its default."""

    tiers: tuple[Tier, ...]
    span: Span
    previous: Expression | None = None
    count: tuple[str, ...] | None = None
    watch: tuple[tuple[str, Template], ...] = ()


@frozen
class Counting:
    """The counter in force, per cent of the total held back, and why it is not the first choice (empty when it is)."""

    counter: Counter
    span: Span
    margin: int = 0
    wanted: str = ""
    reason: str = ""


@frozen(eq=False)
class DueCondition:
    """When an operation is due, and the defaults of its arguments: what a render needs of it."""

    operation: str
    args: Mapping[str, Any]
    when: Expression


@frozen(eq=False)
class PackModel:
    """A pack: read, checked in shape, its bases merged.

    `file` is its manifest as its author knows it, `sections` are the ids of all of them. `find_plan` gives the compiled plan of a choice,
    the same object for the same choice; `find_schema_place` tells where a JSON pointer leads in the schema's file. `given` are names that
    whoever renders it must give a value besides the state; `conditions` are those of its operations that have one. `find_offers` tells
    which tools are named, and which are not.
    """

    name: str
    version: str
    file: str
    digest: str
    counting: Counting
    lets: tuple[Let, ...]
    asserts: tuple[Assert, ...]
    axes: tuple[Axis, ...]
    sections: tuple[str, ...]
    patch_names: tuple[str, ...]
    strain: Strain | None
    stores: tuple[Store, ...]
    indexes: tuple[Index, ...]
    schema: Mapping[str, Any] | None
    find_plan: Callable[[Choice], Plan]
    read_manifest: Callable[[], Node]
    warnings: tuple[Diagnostic, ...] = ()
    find_schema_place: Callable[[str], Span] | None = None
    given: tuple[str, ...] = ()
    conditions: tuple[DueCondition, ...] = ()
    list_operations: Callable[[], tuple[Any, ...]] = tuple
    find_offers: Callable[[], Offers] = Offers
    limits: Limits = LIMITS

    def open_account(self) -> Run:
        """What one render of this pack may use up."""
        return Run(self.counting.counter, self.limits)

    def open_operation_account(self) -> Run:
        """What one operation of this pack may use up: as much as six renders, since it is rare and looks at all of a state."""
        limits = replace(self.limits, steps=_RENDERS * self.limits.steps, memory=_RENDERS * self.limits.memory)
        return Run(self.counting.counter, limits)

    @property
    def manifest(self) -> Node:
        """The manifest, for rules that look at what its author wrote. No render needs it."""
        return self.read_manifest()

    @property
    def operations(self) -> tuple[Any, ...]:
        """What it can do to a state: each a `model.operation.Operation`. No render needs them."""
        return self.list_operations()

    @property
    def patches(self) -> Mapping[str, Node]:
        """The manifest's patches, as written."""
        patches = self.manifest.get("patches")
        return dict(patches.items()) if patches is not None else {}
