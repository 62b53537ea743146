"""A loaded pack (`PackModel`): what holds for every render, and the way to the `Plan` of one. `has_reach` tells of which lists no more
need be read than a budget can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from promptc.diag.findings import Diagnostic, Span
from promptc.diag.frozen import field, frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.model.budget import ModelTable, TotalBudget
from promptc.model.section import (
    Continue,
    Drop,
    Evict,
    Fence,
    Items,
    Pool,
    Ratio,
    Redaction,
    Retrieve,
    Role,
    Section,
    Step,
    Tool,
    Use,
    iter_code,
)
from promptc.model.sources import Index, StateIndex, Store
from promptc.model.state import Node
from promptc.template.allow import LIMITS, Limits
from promptc.template.compile import Expression, Template
from promptc.template.place import Definition
from promptc.template.runtime.run import Run
from promptc.text.counters.counter import Counter

MANIFEST = "pack.yaml"
"""The manifest of a folder that is a pack."""

MILLION = 1_000_000
"""The whole of which a calibration states parts."""

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
    """How the emitted sections become text or messages. `models`: provider → the name in its requests. `warn_span`: of `warn_chars`."""

    span: Span
    format: Format = "text"
    models: Mapping[str, str] = field(default_factory=dict)
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
    pools: tuple[Pool, ...] = ()

    def find_pool(self, section: str) -> Pool | None:
        """The pool that holds a section, or None."""
        return next((pool for pool in self.pools if section in pool.sections), None)

    def list_shared_steps(self) -> tuple[Step, ...]:
        """The steps that name their sections: those of the pools, then those of `truncate`."""
        return (*(step for pool in self.pools for step in pool.overflow), *self.truncate)

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

    @property
    def expression(self) -> Expression:
        """What the value is made of: of a band its number, of an assignment its id."""
        return self.value.value if isinstance(self.value, Band | Assign) else self.value


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
    """A strain tier: its threshold, the pressure under which it is left, what it does to the selection, the cases it puts in force."""

    name: str
    at: Ratio
    leave: Ratio
    do: tuple[Step, ...] | None
    span: Span
    cases: tuple[tuple[str, str], ...] = ()


@frozen
class Strain:
    """How pressure is measured and what tiers follow. `count` is None for its default; what `watch` names takes room and brings none."""

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


@frozen
class CalibrationEntry:
    """What a provider reported for the prompts of a model, against the estimates of as many renders: `pairs`, from day `first` to `last`.

    `ratio` is the quantile of reported / estimate, in parts per million: so many of them hold a part of the whole.
    """

    provider: str
    model: str
    pairs: int
    ratio: int
    first: str
    last: str

    def hold_back(self, total: int) -> int:
        """What of `total` a prompt may take by estimate, so that by the ratio the provider counts no more than `total`."""
        return total if self.ratio <= MILLION else total * MILLION // self.ratio


@frozen(eq=False)
class Calibration:
    """How far a provider's own counts lie above the estimates, as `file` says; `quantile` is in parts per million. There is an entry."""

    file: str
    span: Span
    quantile: int
    entries: tuple[CalibrationEntry, ...]

    def choose(self, provider: str | None, model: str | None) -> CalibrationEntry:
        """The entry of the model (whose name may stand behind that of who passes it on) at this provider, or at any where none is known;
        else the one that holds back most.
        """
        names = (model, model.rsplit("/", 1)[-1]) if model else ()
        fitting = [one for one in self.entries if one.model in names and provider in (None, one.provider)]
        return max(fitting, key=lambda one: one.ratio) if fitting else self.largest

    @property
    def largest(self) -> CalibrationEntry:
        """The entry that holds back most; the first of those."""
        return max(self.entries, key=lambda one: one.ratio)


@frozen(eq=False)
class ChatTemplate:
    """The chat template of the model that the tokenizer is from. `names` are what it is given beside messages and tools: special tokens,
    and what the manifest says. `now` is the moment that it may print.
    """

    template: Template
    span: Span
    names: Mapping[str, Any] = field(default_factory=dict)
    now: Expression | None = None


@frozen(eq=False)
class DueCondition:
    """When an operation is due, and the defaults of its arguments: what a render needs of it."""

    operation: str
    args: Mapping[str, Any]
    when: Expression


@frozen(eq=False)
class SentSchema:
    """A schema as a provider takes it: None where it takes nothing of it, `why` then says so. `left_out` are the JSON pointers of the
    keywords of the whole schema that do not stand in it.
    """

    schema: Mapping[str, Any] | None
    left_out: tuple[str, ...] = ()
    why: str = ""


@frozen(eq=False)
class Response:
    """The JSON Schema (2020-12) of a model's answer, and the name providers ask of one: its file's, made of [a-zA-Z0-9_-]{1,64}.

    `sent` is what providers that do not take it whole are sent, by their names.
    """

    schema: Mapping[str, Any]
    name: str
    span: Span
    sent: Mapping[str, SentSchema] = field(default_factory=dict)

    def choose_sent(self, provider: str | None) -> SentSchema:
        """Choose what a provider is sent: the whole where it takes it whole, or none is asked for."""
        return self.sent.get(provider or "") or SentSchema(self.schema)

    def fit(self, provider: str | None) -> Response | None:
        """As that provider takes it; None where it takes nothing of it."""
        schema = self.choose_sent(provider).schema
        return replace(self, schema=schema) if schema is not None else None


@frozen(eq=False)
class Offers:
    """For lints: every tool that some list of the manifest names, with its place there; and the files in the folders of tools that look
    like tools and that no list names, each with the place of a list that names its neighbours.
    """

    listed: tuple[tuple[Tool, Span], ...] = ()
    loose: tuple[tuple[str, Span], ...] = ()


@frozen(eq=False)
class PackModel:
    """A pack: read, checked in shape, its bases merged.

    `file` is its manifest as its author knows it, `sections` are the ids of all of them. `load_plan` gives the compiled plan of a choice,
    the same object for the same choice; `find_schema_place` tells where a JSON pointer leads in the schema's file. `given` are names that
    whoever renders it must give a value besides the state; `conditions` are those of its operations that have one. `load_offers` tells
    which tools are named, and which are not. `visible` is the condition that an item must meet to be read by any section (None: all are).
    `models` are those for which `check` proves it, each with its place. `redact` are the rules of the pack and of all its sections, in the
    order in which they are written. `list_named` tells which definitions the texts name that were compiled so far; `load_models` gives the
    models that a budget may name. `chat` is the chat template of its model. `calibration` was measured with the first choice of a counter,
    and holds where that one counts.
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
    load_plan: Callable[[Choice], Plan]
    read_manifest: Callable[[], Node]
    warnings: tuple[Diagnostic, ...] = ()
    find_schema_place: Callable[[str], Span] | None = None
    given: tuple[str, ...] = ()
    conditions: tuple[DueCondition, ...] = ()
    definitions: tuple[Definition, ...] = ()
    list_operations: Callable[[], tuple[Any, ...]] = tuple
    load_offers: Callable[[], Offers] = Offers
    limits: Limits = LIMITS
    visible: Expression | None = None
    models: tuple[tuple[str, Span], ...] = ()
    redact: tuple[Redaction, ...] = ()
    list_named: Callable[[], frozenset[str]] = frozenset
    load_models: Callable[[], ModelTable] = ModelTable
    chat: ChatTemplate | None = None
    calibration: Calibration | None = None
    tries: tuple[str, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()

    def hold_back(self, total: int, entry: CalibrationEntry | None) -> int:
        """What of `total` a prompt may take: less the margin of a fallback where that counts, less that of the calibration."""
        if self.counting.reason:
            return total * (100 - self.counting.margin) // 100
        return total if entry is None else entry.hold_back(total)

    def open_account(self) -> Run:
        """Open an account of what one render may use up."""
        return Run(self.counting.counter, self.limits)

    def open_operation_account(self) -> Run:
        """Open an account for one operation: as much as six renders may use up, since it is rare and looks at all of a state."""
        limits = replace(self.limits, steps=_RENDERS * self.limits.steps, memory=_RENDERS * self.limits.memory)
        return Run(self.counting.counter, limits)

    def change_plans(self, change: Callable[[Plan], Plan]) -> PackModel:
        """The same pack with other plans. `change` is called once for each."""
        changed: dict[Choice, Plan] = {}

        def load_plan(choice: Choice) -> Plan:
            if choice not in changed:
                changed[choice] = change(self.load_plan(choice))
            return changed[choice]

        return replace(self, load_plan=load_plan)

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


def list_caps(plan: Plan, rules: Strain, total: int) -> dict[str, int]:
    """Caps in tokens of the sections that count, of a plan without tiers; a percentage counts as its tokens."""
    watched = {name for name, _ in rules.watch}
    names = rules.count if rules.count is not None else tuple(section.id for section in plan.sections if section.id not in watched)
    found = {name: _find_cap(plan, name, total) for name in names}
    return {name: cap for name, cap in found.items() if cap is not None}


def list_watched(plan: Plan, rules: Strain, total: int) -> dict[str, int | None]:
    """Caps in tokens of the watched sections, of a plan without tiers; None where one has none."""
    return {name: _find_cap(plan, name, total) for name, _ in rules.watch}


def _find_cap(plan: Plan, name: str, total: int) -> int | None:
    section = plan.find_section(name)
    cap = section.budget.cap if section is not None and section.budget is not None else None
    return cap.tokens(total) if cap is not None and cap.unit != "chars" else None


def list_steps(tiers: tuple[Tier, ...]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """The tiers' `do` one after the other; an empty one runs none of the earlier. `use` selects again, so it comes before all others."""
    steps: list[Step] = []
    for tier in tiers:
        if tier.do is not None:
            steps = [*steps, *tier.do] if tier.do else []
    uses = tuple(step.patch for step in steps if isinstance(step, Use))
    return tuple(step for step in steps if not isinstance(step, Use)), uses


def choose_tiers(choice: Choice, tiers: tuple[Tier, ...]) -> Choice:
    """The choice under these tiers: the patches that their steps use, and the cases that they put in the place of those chosen."""
    named = {axis: case for tier in tiers for axis, case in tier.cases}
    cases = tuple((axis, named.get(axis, case)) for axis, case in choice.cases)
    return replace(choice, cases=cases, tiers=len(tiers), uses=list_steps(tiers)[1])


def list_reads(section: Section, pack: PackModel) -> frozenset[tuple[str, ...]]:
    """What selecting the section reads: its own paths, those of `visible`, and those of the indexes over the state that it asks."""
    if section.items is None:
        return section.reads
    source = section.items.source
    named = source.indexes if isinstance(source, Retrieve) else ()
    indexes = [one for one in pack.indexes if isinstance(one, StateIndex) and one.name in named]
    asked = (pack.visible, *(code for one in indexes for code in (one.source, one.id, one.text)))
    return section.reads.union(*(code.reads for code in asked if code is not None))


def has_reach(section: Section, plan: Plan, pack: PackModel) -> bool:
    """True when reading from the newest end up to the budget cannot change the prompt."""
    items = section.items
    if items is None or section.pinned or not section.overflow or not _is_plain_evict(section.overflow[0]):
        return False
    if items.sort or items.dedupe or items.limit_per or items.limit or items.group or items.message or items.tool or items.freeze:
        return False
    if _shows_ids(items):
        return False
    others = [step for step in _iter_shared_steps(plan, pack) if section.id in step.sections]
    if not all(map(_is_harmless, others)) or any(_counts_removed(step) for step in section.overflow):
        return False
    if pack.strain is not None and section.id in (name for name, _ in pack.strain.watch):
        return False
    against = (name for other in plan.sections if other.items and other.items.dedupe for name in other.items.dedupe.against)
    return section.id not in against and not _is_counted(section.id, plan, pack)


def _is_plain_evict(step: Step) -> bool:
    return isinstance(step, Evict) and not step.order and step.by is None and step.whole == "item" and step.marker is None


def _is_harmless(step: Step) -> bool:
    return isinstance(step, Continue | Drop) or _is_plain_evict(step)


def _counts_removed(step: Step) -> bool:
    return isinstance(step, Evict) and step.marker is not None


def _shows_ids(items: Items) -> bool:
    """True when an item's text holds its id, which may end in `#2` because of an older item."""
    texts = (*items.forms, *((items.fence.open, items.fence.close) if items.fence else ()))
    return (items.id is not None or items.number is not None) and any({("this",), ("this", "id")} & text.reads for text in texts)


def _iter_shared_steps(plan: Plan, pack: PackModel) -> Iterator[Step]:
    yield from plan.list_shared_steps()
    for tier in pack.strain.tiers if pack.strain else ():
        yield from tier.do or ()


def _is_counted(name: str, plan: Plan, pack: PackModel) -> bool:
    """True when anything reads how many items the section selected."""
    steps = (*_iter_shared_steps(plan, pack), *(step for section in plan.sections for step in section.overflow))
    reads: Iterable[frozenset[tuple[str, ...]]] = (
        *(section.reads for section in plan.sections),
        *(code.reads for step in steps for code in iter_code(step)),
    )
    return any(path == ("selected",) or path[:2] == ("selected", name) for paths in reads for path in paths)
