"""A loaded pack (`PackModel`): what is the same for every render, and the way to the `Plan` of one render.

`has_reach` says which lists need only be read as far as a budget reaches.
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
"""The name of the manifest in the folder of a pack."""

MOST_APPLIED = 500
"""The most patches that a variation applies, with those that they use in turn. A patch that is used twice is applied twice."""

MILLION = 1_000_000
"""The whole, of which the numbers of a calibration are parts."""

Policy = Literal["escape", "reject", "keep"]
InvisiblePolicy = Literal["replace_hidden", "escape", "reject", "keep"]
Format = Literal["text", "messages"]
_RENDERS = 6
"""How many times the steps and memory of a render one operation may use up."""


@frozen
class Guarding:
    """How forged fences, special tokens and invisible characters in rendered content are treated."""

    fences: Policy = "escape"
    special_tokens: Policy = "escape"
    invisible: InvisiblePolicy = "replace_hidden"


@frozen
class MessagePlan:
    """One message of the output: its role and the sections that it may contain. `each` marks a section whose items are messages."""

    role: Role
    sections: tuple[str, ...]
    each: bool = False


@frozen
class Output:
    """How the emitted sections become text or messages.

    `models` maps a provider to the model's name in its requests. `warn_span` is the place of `warn_chars`.
    """

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
        """Whether one role may have several messages, which services may join. To most services, `developer` is `system`."""
        roles = ["system" if one.role == "developer" else one.role for one in self.messages]
        return any(one.each for one in self.messages) or len({*roles}) < len(roles)


@frozen
class Plan:
    """The effective pack of one choice: variants, patches and strain tiers, merged and compiled."""

    sections: tuple[Section, ...]
    truncate: tuple[Step, ...]
    output: Output
    budget: TotalBudget
    tools: tuple[Tool, ...] = ()
    response: Response | None = None
    pools: tuple[Pool, ...] = ()

    def find_pool(self, section: str) -> Pool | None:
        """Return the pool of a section, or None."""
        return next((pool for pool in self.pools if section in pool.sections), None)

    def list_shared_steps(self) -> tuple[Step, ...]:
        """Return the steps that name their sections: those of the pools, then those of `truncate`."""
        return (*(step for pool in self.pools for step in pool.overflow), *self.truncate)

    @property
    def has_growing_least(self) -> bool:
        """Whether a minimum or a cut is a share of the total. Then more of a larger total is spoken for before `truncate`.

        A share that is a cap never is: it gets what the other sections leave.
        """
        items = [section.items for section in self.sections if section.items is not None]
        sizes = [section.budget.min for section in self.sections if section.budget is not None]
        sizes += [one.trim_each.to for one in items if one.trim_each is not None]
        steps = [*self.list_shared_steps(), *(step for section in self.sections for step in section.overflow)]
        return any(size is not None and size.unit == "share" for size in sizes) or any(step.has_share for step in steps)

    def find_section(self, name: str) -> Section | None:
        """Return the section of that id, or None."""
        return next((section for section in self.sections if section.id == name), None)


@frozen
class Choice:
    """The key of a plan: a case for each axis (None: no case applies), patches, how many strain tiers apply, and the patches they use."""

    cases: tuple[tuple[str, str | None], ...] = ()
    patches: tuple[str, ...] = ()
    tiers: int = 0
    uses: tuple[str, ...] = ()


@frozen
class Band:
    """The label of a number, by ascending lower bounds. A number below the lowest bound has the lowest label."""

    value: Expression
    bounds: tuple[tuple[Ratio, str], ...]


@frozen
class Assign:
    """A label that is drawn by weight, as a pure function of an id."""

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
        """The expression that the value is made of: the number of a band, or the id of an assignment."""
        return self.value.value if isinstance(self.value, Band | Assign) else self.value


@frozen
class Assert:
    """A condition that the state must meet, and what to say if it does not."""

    that: Expression
    otherwise: Template
    level: Literal["warn", "error"]
    span: Span


@frozen
class Axis:
    """A variant axis: the expression that names a case, the default, and the names of the cases."""

    name: str
    select: Expression
    default: str | None
    cases: tuple[str, ...]
    span: Span


@frozen
class Tier:
    """A strain tier: its threshold, the pressure below which it ends, what it does to the selection, and the cases it puts in force."""

    name: str
    at: Ratio
    leave: Ratio
    do: tuple[Step, ...] | None
    span: Span
    cases: tuple[tuple[str, str], ...] = ()


@frozen
class Strain:
    """How pressure is measured, and which tiers follow.

    `count` is None for its default. The sections in `watch` use tokens, and do not add to what is allowed.
    """

    tiers: tuple[Tier, ...]
    span: Span
    previous: Expression | None = None
    count: tuple[str, ...] | None = None
    watch: tuple[tuple[str, Template], ...] = ()


@frozen
class Counting:
    """The counter in force, the percentage of the total that is held back, and why the counter is not the first choice.

    `reason` is empty if it is the first choice.
    """

    counter: Counter
    span: Span
    margin: int = 0
    wanted: str = ""
    reason: str = ""


@frozen
class CalibrationEntry:
    """The counts that a provider reported for prompts of a model, compared to their estimates, in `pairs` renders from day `first` to
    `last`.

    `ratio` is the quantile of reported / estimate, in parts per million. A ratio above one million holds back a part of the whole.
    """

    provider: str
    model: str
    pairs: int
    ratio: int
    first: str
    last: str

    def hold_back(self, total: int) -> int:
        """Return how many tokens of `total` a prompt may have by estimate, so that by the ratio the provider counts at most `total`."""
        return total if self.ratio <= MILLION else total * MILLION // self.ratio


@frozen(eq=False)
class Calibration:
    """How far a provider's own counts exceed the estimates, as `file` says.

    There is at least one entry. `quantile` is in parts per million.
    """

    file: str
    span: Span
    quantile: int
    entries: tuple[CalibrationEntry, ...]

    def choose(self, provider: str | None, model: str | None) -> CalibrationEntry:
        """Return the entry of the model at this provider, or at any provider if that is None.

        The model's name may follow that of a gateway. Of several entries, and if there is none, the result is the one that holds back most.
        """
        names = (model, model.rsplit("/", 1)[-1]) if model else ()
        fitting = [one for one in self.entries if one.model in names and provider in (None, one.provider)]
        return max(fitting, key=lambda one: one.ratio) if fitting else self.largest

    @property
    def largest(self) -> CalibrationEntry:
        """The entry that holds back most, and the first of several such entries."""
        return max(self.entries, key=lambda one: one.ratio)


@frozen(eq=False)
class ChatTemplate:
    """The chat template of the model that the tokenizer is from.

    `names` are its variables in addition to messages and tools: special tokens, and what the manifest sets. `now` is the moment that it may
    print.
    """

    template: Template
    span: Span
    names: Mapping[str, Any] = field(default_factory=dict)
    now: Expression | None = None


@frozen(eq=False)
class DueCondition:
    """The parts of an operation that a render needs: when it is due, and the defaults of its arguments."""

    operation: str
    args: Mapping[str, Any]
    when: Expression


@frozen(eq=False)
class SentSchema:
    """A schema as a provider accepts it. `schema` is None if the provider accepts nothing of it, and `why` then says why.

    `left_out` are the JSON pointers of those keywords of the whole schema that were removed.
    """

    schema: Mapping[str, Any] | None
    left_out: tuple[str, ...] = ()
    why: str = ""


@frozen(eq=False)
class Response:
    """The JSON Schema (2020-12) of a model's answer, and the name that providers require, which is that of its file ([a-zA-Z0-9_-]{1,64}).

    `sent` maps providers that do not accept the whole schema to what they are sent.
    """

    schema: Mapping[str, Any]
    name: str
    span: Span
    sent: Mapping[str, SentSchema] = field(default_factory=dict)

    def choose_sent(self, provider: str | None) -> SentSchema:
        """Return what a provider is sent: the whole schema if the provider accepts it, or if `provider` is None."""
        return self.sent.get(provider or "") or SentSchema(self.schema)

    def fit(self, provider: str | None) -> Response | None:
        """Return the response as a provider accepts it, or None if the provider accepts nothing of it."""
        schema = self.choose_sent(provider).schema
        return replace(self, schema=schema) if schema is not None else None


@frozen(eq=False)
class Offers:
    """The tools that the manifest names, and those that it does not. For lints.

    `listed` are all tools in lists of the manifest, with their places there. `loose` are the files in the folders of tools that look like
    tools and that no list names, each with the place of a list that names its neighbours.
    """

    listed: tuple[tuple[Tool, Span], ...] = ()
    loose: tuple[tuple[str, Span], ...] = ()


@frozen(eq=False)
class PackModel:
    """A pack that was read, checked in shape, and merged with its bases.

    `file` is its manifest, as its author knows it, and `sections` are the ids of all sections. `load_plan` returns the compiled plan of a
    choice, the same object for the same choice. `find_schema_place` returns the place of a JSON pointer in the file of the schema.
    `read_manifest` returns the manifest, and `list_operations` the operations.

    `given` are the names for which a render needs a value besides the state. `conditions` are those of the operations that have one.
    `visible` is the condition that an item must meet to be read by any section (None: all are). `redact` are the rules
    by which a section redacts, for each section of any variation, without repeats.

    `load_offers` returns which tools are named, and which are not. `list_named` returns the definitions that the texts compiled so far
    name. `models` are the models for which `check` proves the pack, each with its place. `load_models` returns the models that a budget may
    name.

    `chat` is the chat template of the pack's model. `calibration` was measured with the first choice of a counter, and applies while that
    counter counts.
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
    redact: tuple[tuple[Redaction, ...], ...] = ()
    list_named: Callable[[], frozenset[str]] = frozenset
    load_models: Callable[[], ModelTable] = ModelTable
    chat: ChatTemplate | None = None
    calibration: Calibration | None = None
    tries: tuple[str, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()

    def hold_back(self, total: int, entry: CalibrationEntry | None) -> int:
        """Return how many tokens of `total` a prompt may have.

        That is less the margin of a fallback if a fallback counts, or else less the part that the calibration holds back.
        """
        if self.counting.reason:
            return total * (100 - self.counting.margin) // 100
        return total if entry is None else entry.hold_back(total)

    def count_total(self, rest: int, entry: CalibrationEntry | None) -> int:
        """Return the least total of which `hold_back` leaves `rest` tokens."""
        if self.counting.reason:
            return -(-rest * 100 // (100 - self.counting.margin))
        return rest if entry is None else max(rest, -(-rest * entry.ratio // MILLION))

    def open_account(self) -> Run:
        """Return a new account for one render."""
        return Run(self.counting.counter, self.limits)

    def open_operation_account(self) -> Run:
        """Return a new account for one operation: six times that of a render, since an operation is rare and looks at the whole state."""
        limits = replace(self.limits, steps=_RENDERS * self.limits.steps, memory=_RENDERS * self.limits.memory)
        return Run(self.counting.counter, limits)

    def change_plans(self, change: Callable[[Plan], Plan]) -> PackModel:
        """Return the same pack with other plans. `change` is called once for each plan."""
        changed: dict[Choice, Plan] = {}

        def load_plan(choice: Choice) -> Plan:
            if choice not in changed:
                changed[choice] = change(self.load_plan(choice))
            return changed[choice]

        return replace(self, load_plan=load_plan)

    @property
    def manifest(self) -> Node:
        """The manifest, for rules about what its author wrote. No render needs it."""
        return self.read_manifest()

    @property
    def operations(self) -> tuple[Any, ...]:
        """The operations on a state, each a `promptc.model.messages.Operation`. No render needs them."""
        return self.list_operations()

    @property
    def patches(self) -> Mapping[str, Node]:
        """The manifest's patches, as written."""
        patches = self.manifest.get("patches")
        return dict(patches.items()) if patches is not None else {}


def list_caps(plan: Plan, rules: Strain, total: int) -> dict[str, int]:
    """Return the caps, in tokens, of the sections that count toward strain. `plan` is without tiers. A percentage counts as its tokens."""
    watched = {name for name, _ in rules.watch}
    names = rules.count if rules.count is not None else tuple(section.id for section in plan.sections if section.id not in watched)
    found = {name: _find_cap(plan, name, total) for name in names}
    return {name: cap for name, cap in found.items() if cap is not None}


def list_watched(plan: Plan, rules: Strain, total: int) -> dict[str, int | None]:
    """Return the caps, in tokens, of the watched sections, or None for a section without one. `plan` is without tiers."""
    return {name: _find_cap(plan, name, total) for name, _ in rules.watch}


def _find_cap(plan: Plan, name: str, total: int) -> int | None:
    section = plan.find_section(name)
    return section.find_cap(total) if section is not None else None


def list_steps(tiers: tuple[Tier, ...]) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the steps of the tiers' `do`, in order, and the patches that their `use` steps name.

    An empty `do` cancels those of earlier tiers. `use` steps select again, so they come before all others.
    """
    steps: list[Step] = []
    for tier in tiers:
        if tier.do is not None:
            steps = [*steps, *tier.do] if tier.do else []
    uses = tuple(step.patch for step in steps if isinstance(step, Use))
    return tuple(step for step in steps if not isinstance(step, Use)), uses


def choose_tiers(choice: Choice, tiers: tuple[Tier, ...]) -> Choice:
    """Return the choice under these tiers: with the patches that their steps use, and their cases in place of those chosen."""
    named = {axis: case for tier in tiers for axis, case in tier.cases}
    cases = tuple((axis, named.get(axis, case)) for axis, case in choice.cases)
    return replace(choice, cases=cases, tiers=len(tiers), uses=list_steps(tiers)[1])


def list_reads(section: Section, pack: PackModel) -> frozenset[tuple[str, ...]]:
    """Return the paths that selecting the section reads: its own, those of `visible`, and those of the state's indexes that it queries."""
    if section.items is None:
        return section.reads
    source = section.items.source
    named = source.indexes if isinstance(source, Retrieve) else ()
    indexes = [one for one in pack.indexes if isinstance(one, StateIndex) and one.name in named]
    asked = (pack.visible, *(code for one in indexes for code in (one.source, one.id, one.text)))
    return section.reads.union(*(code.reads for code in asked if code is not None))


def list_state_reads(reads: Iterable[tuple[str, ...]], pack: PackModel) -> set[tuple[str, ...]]:
    """Return those of the paths that begin with `state`. The name of a `let` stands for the paths that its expression reads."""
    found = {tuple(path) for path in reads}
    for let in reversed(pack.lets):  # each reads only those before it
        if any(path[0] == let.name for path in found):
            found |= let.expression.reads
    return {path for path in found if path[0] == "state"}


def has_reach(section: Section, plan: Plan, pack: PackModel) -> bool:
    """Return whether reading only from the newest end, as far as the budget reaches, cannot change the prompt."""
    items = section.items
    if items is None or section.pinned or not section.overflow or not _is_plain_evict(section.overflow[0]):
        return False
    if items.sort or items.dedupe or items.limit_per or items.limit or items.group or items.message or items.tool or items.freeze:
        return False
    if _reads_ids(section, items):
        return False
    others = [step for step in _iter_shared_steps(plan, pack) if section.id in step.sections]
    if not all(map(_is_harmless, others)) or any(isinstance(step, Evict) and step.marker is not None for step in section.overflow):
        return False
    if pack.strain is not None and section.id in (name for name, _ in pack.strain.watch):
        return False
    against = (name for other in plan.sections if other.items and other.items.dedupe for name in other.items.dedupe.against)
    return section.id not in against and not _is_counted(section.id, plan, pack)


def _is_plain_evict(step: Step) -> bool:
    return isinstance(step, Evict) and not step.order and step.by is None and step.whole == "item" and step.marker is None


def _is_harmless(step: Step) -> bool:
    return isinstance(step, Continue | Drop) or _is_plain_evict(step)


def _reads_ids(section: Section, items: Items) -> bool:
    """Return whether an item's text, or a step, reads the item's id, which may end in `#2` because of an older item."""
    if items.id is None and items.number is None:
        return False
    texts = (*items.forms, *((items.fence.open, items.fence.close) if items.fence else ()))
    steps = (code for step in section.overflow for code in iter_code(step))
    return any({("this",), ("this", "id")} & text.reads for text in (*texts, *steps))


def _iter_shared_steps(plan: Plan, pack: PackModel) -> Iterator[Step]:
    yield from plan.list_shared_steps()
    for tier in pack.strain.tiers if pack.strain else ():
        yield from tier.do or ()


def _is_counted(name: str, plan: Plan, pack: PackModel) -> bool:
    """Return whether anything reads how many items the section selected."""
    steps = (*_iter_shared_steps(plan, pack), *(step for section in plan.sections for step in section.overflow))
    reads: Iterable[frozenset[tuple[str, ...]]] = (
        *(section.reads for section in plan.sections),
        *(code.reads for step in steps for code in iter_code(step)),
    )
    return any(path == ("selected",) or path[:2] == ("selected", name) for paths in reads for path in paths)
