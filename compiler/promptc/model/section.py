"""A section as the effective manifest declares it, compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd, isfinite

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen, replace
from promptc.diag.typed import Any, Literal
from promptc.model.media import MEDIA_KINDS, MediaForm
from promptc.template.compile import Expression, Template
from promptc.text.cutting import Boundary
from promptc.text.json import render_canonical_json

Role = Literal["system", "developer", "user", "assistant"]
PART_KINDS = ("text", *MEDIA_KINDS, "tool_use", "tool_result", "thinking", "redacted_thinking")
"""The kinds of parts of a message that a request can hold."""

SYSTEM_ROLES = ("system", "developer")
"""The roles that a manifest gives, and no state."""

TOOLS = "tools"
"""The id of the section that the tools of a pack are, where they are items."""

DEFERRED = "deferred"
TOOL_FORMS = ("full", "brief", "name", DEFERRED)
"""The forms of a tool, the longest first. What is deferred is sent, and the model reads it once a search of the provider has found it."""

Shown = Literal["all", "described", "nothing"]
"""What of a tool stands in the prompt: all of it, its name with its description, or nothing."""

HALVES = frozenset(("tool_use", "tool_result"))
"""Of a turn of tools."""

_ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("input_text", "output_text"), "text"),
    **dict.fromkeys(("image_url", "input_image"), "image"),
    **dict.fromkeys(("file", "input_file"), "document"),
    "input_audio": "audio",
}
"""What OpenAI calls them."""

MICRO = 1_000_000
"""Scores are whole millionths: 250_000 is 0.25."""

DEFAULT = ".overflow (default)"
"""How the address of a step ends that no manifest writes: there is no line to point at but the section's own."""


_LEAST_WORDS = 8
"""Tokens that a proposed trim by words leaves of each text."""


@frozen
class Fence:
    """The lines that enclose a section or an item."""

    open: Template
    close: Template
    span: Span


@frozen
class Window:
    """How far back a section looks. An expression for `last` is clamped to `min + step - 1` .. `max`."""

    span: Span
    last: int | Expression
    min: int = 0
    max: int | None = None
    step: int = 1
    whole: Literal["item", "group"] = "item"


@frozen
class Matches:
    """The newest `last` items among `within` places that `where` holds for (`anchors`, `keep`)."""

    where: Expression
    last: Expression | None
    within: int = 1000


@frozen
class Freeze:
    """What was shown once stays where it stood. `shown` gives the ids of what the turn before showed, in order. All that is new stands
    behind that. `late` says of what comes late (its place in the source is before one that stands) whether it does so, too, or stays out;
    with it, the list has an order in time.
    """

    span: Span
    shown: Expression
    late: Expression | None = None


@frozen
class Dedupe:
    """Removal of items whose text `by` was met before. `places` are those of the names in `against`."""

    span: Span
    by: Expression
    against: tuple[str, ...] = ()
    places: tuple[Span, ...] = ()
    keep: Literal["first", "last"] = "first"
    exact: bool = False


@frozen
class SortKey:
    """One key of a sort."""

    by: Expression
    desc: bool = False


@frozen
class LimitPer:
    """How many items of each value of `by` pass. `places` are those of the keys of `caps`."""

    by: Expression
    caps: tuple[tuple[str, int], ...]
    places: tuple[Span, ...]


def spell_key(key: object) -> str:
    """A value of `limit_per.by` as its cap is named, which is how YAML writes it: `true`, `null`, `3`."""
    if key is None:
        return "null"
    return str(key).lower() if isinstance(key, bool) else str(key)


@frozen
class Limit:
    """How many items remain: the first or the last so many."""

    span: Span
    count: int
    side: Literal["first", "last"] = "first"


@frozen
class Grouping:
    """Items of equal key, gathered at the first one's place."""

    by: Expression
    header: Template | None = None


def read_part_kind(type: str) -> str:
    """The kind of a part of that `type`: the type itself, or what it is called in another service."""
    return _ALIASES.get(type, type)


@frozen
class MessageForm:
    """Each item a message of its own. `parts` are the kinds that the manifest names. `span` is that of `parts`, where it is given. `media`
    tells how parts that are no text are counted; it is there where `parts` names such kinds, or the manifest names it. `written` has the
    roles of the system that `role` gives as a literal, each with the same expression in which that literal is in capitals. `name` gives
    the name of who speaks, or none.
    """

    role: Expression
    content: Expression
    parts: tuple[str, ...]
    roles: tuple[str, ...]
    span: Span
    media: MediaForm | None = None
    written: tuple[tuple[str, Expression], ...] = ()
    name: Expression | None = None

    def admits(self, role: object, names: Mapping[str, Any]) -> bool:
        """Whether an item may have the role: one of the system only where the manifest itself wrote it, and no state gave it."""
        if role not in self.roles:
            return False
        marked = next((one for name, one in self.written if name == role), None)
        return marked is None or marked.evaluate(names) == str(role).upper()

    @property
    def passing(self) -> tuple[str, ...]:
        """The kinds that pass: uses and results of tools only together, since no request holds one without the other."""
        kinds = tuple(dict.fromkeys(read_part_kind(kind) for kind in self.parts))
        return kinds if len(HALVES.intersection(kinds)) != 1 else tuple(kind for kind in kinds if kind not in HALVES)


@frozen(eq=False)
class Tool:
    """A tool: its name ([a-zA-Z0-9_-]{1,64}), what it is for, the JSON Schema (2020-12) of its arguments, an object. `span` is its file, or
    where the list is declared that it is from. An empty description is not sent. Of one that is deferred not all is `shown`.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    span: Span
    shown: Shown = "all"

    @property
    def is_deferred(self) -> bool:
        """Whether the model reads it only when a search has found it."""
        return self.shown != "all"

    @property
    def definition(self) -> dict[str, Any]:
        """All of it, as Anthropic writes it."""
        marked = {"defer_loading": True} if self.is_deferred else {}
        return {"name": self.name, **self.said, "input_schema": self.input_schema, **marked}

    @property
    def counted(self) -> str:
        """What is counted: canonical JSON of what the model is shown."""
        if self.shown == "nothing":
            return ""
        return render_canonical_json(self.definition if self.shown == "all" else {"name": self.name, **self.said})

    @property
    def said(self) -> dict[str, str]:
        """Its description under its key; nothing where it has none."""
        return {"description": self.description} if self.description else {}


@frozen
class ToolForms:
    """Each item a tool of the request. `names` are its forms, in the order in which `shorten` takes them; `span` is that of the tools.
    `listed` are those of the files, where the manifest lists files. What is deferred is `shown` so far. `is_cut` tells that the provider
    can defer no tool, and that `names` lost this form.
    """

    names: tuple[str, ...]
    span: Span
    listed: tuple[Tool, ...] | None = None
    shown: Shown = "nothing"
    is_cut: bool = False

    @property
    def defers(self) -> bool:
        """Whether a step may defer a tool."""
        return DEFERRED in self.names


@frozen
class TrimEach:
    """A cut of every item's text to a size. `span` is that of the size."""

    span: Span
    to: Size
    at: tuple[Boundary, ...]
    marker: Template | None


@frozen
class Items:
    """The item pipeline of a section, in its fixed order (contract.md §4). `source` is an expression, or what another source is asked."""

    span: Span
    source: Expression | Segments | Retrieve
    forms: tuple[Template, ...] = ()
    message: MessageForm | None = None
    id: Expression | None = None
    number: Expression | None = None
    where: Expression | None = None
    window: Window | None = None
    anchors: Matches | None = None
    keep: tuple[Matches, ...] = ()
    freeze: Freeze | None = None
    dedupe: Dedupe | None = None
    sort: tuple[SortKey, ...] = ()
    limit_per: LimitPer | None = None
    limit: Limit | None = None
    group: Grouping | None = None
    tally: Expression | None = None
    trim_each: TrimEach | None = None
    fence: Fence | None = None
    tool: ToolForms | None = None


_SHORTEST = {"email": 6, "phone": 9, "card": 13, "key": 15}
"""Characters of the shortest text of a kind."""

_NUMBER = 7
"""Digits of a placeholder, at most: a state holds fewer texts."""


@frozen
class Redaction:
    """What a section may not see: what is of a `kind` (`email`, `phone`, `card`, `key`), or, where `pattern` is not empty, what that finds.
    `label` stands in the placeholder.
    """

    label: str
    kind: str = ""
    pattern: str = ""

    def bound_growth(self, characters: int) -> int:
        """How many characters placeholders add at most to a text of so many."""
        shortest = _SHORTEST.get(self.kind, 1)
        return characters // shortest * max(0, len(f"[{self.label}_]") + _NUMBER - shortest)


@frozen
class Section:
    """One section. Exactly one of `text` (a template or constant text) and `items` is its source. `cache` puts a cache
    breakpoint behind it. `note` is its author's remark, for the map. `role_span` is where its author names a role, if that is so.
    `redact` are the pack's rules and its own: it sees nothing that they find.

    `reads` are the static paths of every expression and template that its selection evaluates.
    """

    id: str
    title: str
    role: Role
    span: Span
    when: Expression | None = None
    pinned: bool = False
    required: bool = False
    cache: bool = False
    header: Template | None = None
    budget: Budget | None = None
    fence: Fence | None = None
    separator: str | None = None
    text: Template | None = None
    items: Items | None = None
    overflow: tuple[Step, ...] = ()
    reads: frozenset[tuple[str, ...]] = frozenset()
    note: str = ""
    role_span: Span | None = None
    redact: tuple[Redaction, ...] = ()

    @property
    def is_tools(self) -> bool:
        """Whether its items are the tools of the request. They stand in no message."""
        return self.items is not None and self.items.tool is not None

    @property
    def is_frozen(self) -> bool:
        """Whether what was shown once stays where it stood."""
        return self.items is not None and self.items.freeze is not None

    @property
    def is_ageless(self) -> bool:
        """Whether none of its items is older than another: of equal ones the last goes first, so that the beginning stays."""
        return self.is_tools or (self.items is not None and self.items.freeze is not None and self.items.freeze.late is None)


def show_score(micro: int, places: int = 3) -> str:
    """A score in decimals, of one place to six, cut off towards nothing: shown as a floor, it lets the score itself pass."""
    whole, part = divmod(abs(micro), MICRO)
    return f"{'-' if micro < 0 else ''}{whole}.{part // 10 ** (6 - places):0{places}}"


def read_micro(score: float) -> int:
    """The millionths that a report tells as a score: exactly those it was made of."""
    return round(score * MICRO)


@frozen
class Segments:
    """Segments of a store: those of a scope, of some references (`ref` None: of all), once for every element of `each`. `missing` says
    what a reference is that nothing answers, and `missing_span` where its author does, if that is so.
    """

    span: Span
    store: str
    scope: str
    ref: Expression | None = None
    each: Expression | None = None
    where: Expression | None = None
    locale: Expression | None = None
    version: Expression | None = None
    missing: Literal["warn", "error", "ignore"] = "warn"
    missing_span: Span | None = None


@frozen
class Boosting:
    """What is added to a chunk's score, in millionths, where something holds."""

    add: int
    where: Expression


@frozen
class Retrieve:
    """The best chunks of indexes for one query or several (contract.md §4). `floor` is in millionths; None: that of each index."""

    span: Span
    indexes: tuple[str, ...]
    queries: tuple[Expression, ...]
    version: Expression | None = None
    where: Expression | None = None
    boosts: tuple[Boosting, ...] = ()
    window: int = 50
    candidates: int = 12
    floor: int | None = None
    top: int = 6
    sparse_below: int = 1


def has_each(source: Expression | Segments | Retrieve) -> bool:
    """True where every item belongs to an element of `each`."""
    return isinstance(source, Segments) and source.each is not None


def iter_expressions(source: Expression | Segments | Retrieve) -> Iterator[tuple[str, Expression]]:
    """Every expression of a source, with the key it stands under."""
    if isinstance(source, Expression):
        yield "items.from", source
        return
    if isinstance(source, Segments):
        keys = {"each": source.each, "ref": source.ref, "locale": source.locale, "version": source.version, "where": source.where}
        yield from ((f"segments.{key}", one) for key, one in keys.items() if one is not None)
        return
    yield from (("retrieve.query", query) for query in source.queries)
    keys = {"version": source.version, "where": source.where}
    yield from ((f"retrieve.{key}", one) for key, one in keys.items() if one is not None)
    yield from (("retrieve.boost", boost.where) for boost in source.boosts)


@frozen
class Step:
    """What every step has: its section, its address and its place."""

    section: str
    label: str
    span: Span

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections it works on."""
        return (self.section,)

    @property
    def rule(self) -> str:
        """The kind of step, as a manifest writes it: `evict`, `trim`."""
        return type(self).__name__.lower()

    @property
    def is_default(self) -> bool:
        """Whether the pack does not write it: a section without `overflow` has one of its kind."""
        return self.label.endswith(DEFAULT)

    @property
    def is_own(self) -> bool:
        """Whether it stands in the `overflow` of its section, and so need not name it."""
        return self.is_default or self.label.startswith(f"{self.section}.overflow[")


@frozen
class Ranked(Step):
    """A step that goes through items by predicate classes (`order`) or by a value (`by`), oldest first within one."""

    order: tuple[Expression, ...] = ()
    by: Expression | None = None


@frozen
class Trim(Ranked):
    """Shortens text: at the first boundary of `at`, then inside what that leaves at the next, down to `finest`."""

    at: tuple[Boundary, ...] = ("sentence",)
    finest: Boundary | None = None
    side: Literal["end", "start", "middle"] = "end"
    to: Size | None = None
    floor: Size | None = None
    marker: Template | None = None
    warn: bool = False

    @property
    def is_limited(self) -> bool:
        """Whether it may leave more than one token of a text for the only reason that it cuts at nothing finer."""
        return self.finest not in (None, "token")


def propose_trims(before: Step, section: str) -> tuple[Trim, Trim]:
    """The trims that would use what `before` leaves of a section, put before it and in its order: by sentences, and by words."""
    ranked = before if isinstance(before, Ranked) else Ranked(section, "", before.span)
    plain = Trim(section, "", before.span, ranked.order, ranked.by, finest="sentence")
    return plain, replace(plain, at=("word",), finest=None, floor=Size(Ratio(_LEAST_WORDS), "tokens"))


def spell_trim(trim: Trim, before: Step) -> str:
    """A proposed trim as a manifest has it right before that step: `trim: {by: item.score, finest: sentence}`."""
    keys = {} if before.is_own else {"section": trim.section}
    keys |= {"order": f"[{', '.join(_quote(one.text) for one in trim.order)}]"} if trim.order else {}
    keys |= {"by": _quote(trim.by.text)} if trim.by is not None else {}
    keys |= {"finest": trim.finest} if trim.finest is not None else {"at": trim.at[0], "floor": str(_LEAST_WORDS)}
    return f"trim: {{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}"


def _quote(text: str) -> str:
    """An expression as YAML takes it inside braces."""
    from json import dumps

    text = text.strip()
    return text if text.isascii() and text.replace(".", "_").isidentifier() else dumps(text, ensure_ascii=False)


@frozen
class Evict(Ranked):
    """Removes whole items, whole groups, or of messages one tool call after the other: of its section, and of those `beside` it in one
    order with it.
    """

    beside: tuple[str, ...] = ()
    whole: Literal["item", "group", "call"] = "item"
    step: int = 1
    floor: int = 0
    marker: Template | None = None
    marker_at: Literal["above", "below"] = "above"
    warn: bool = False

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections it works on, in the order in which they give way where items are equal."""
        return (self.section, *self.beside)


@frozen
class Shorten(Ranked):
    """Takes items to their next form."""


@frozen
class Lower(Step):
    """Removes all items with the greatest value of `by`, one level a notch; values up to `floor` stay."""

    by: Expression
    floor: int = 0


class Ratio:
    """A rational number in lowest terms, its denominator at least 1. Compares exactly with numbers of any kind, and is added to,
    multiplied and divided by whole numbers and its like. `fractions` can do that, too, and takes long to import.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: int, denominator: int = 1) -> None:
        """Raises ZeroDivisionError for a denominator of 0."""
        if denominator == 0:
            raise ZeroDivisionError(f"Ratio({numerator}, 0)")
        shared = gcd(numerator, denominator) * (1 if denominator > 0 else -1)
        self.numerator = numerator // shared
        self.denominator = denominator // shared

    def __add__(self, other: Ratio | int) -> Ratio:
        return Ratio(self.numerator * other.denominator + other.numerator * self.denominator, self.denominator * other.denominator)

    def __sub__(self, other: Ratio | int) -> Ratio:
        return self + other * -1

    def __mul__(self, factor: Ratio | int) -> Ratio:
        return Ratio(self.numerator * factor.numerator, self.denominator * factor.denominator)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Ratio | int) -> Ratio:
        """Raises ZeroDivisionError for a divisor of 0."""
        return Ratio(self.numerator * divisor.denominator, self.denominator * divisor.numerator)

    def __eq__(self, other: object) -> bool:
        return self._compare(other) == 0 if isinstance(other, (Ratio, int, float)) else NotImplemented

    def __lt__(self, other: Ratio | float) -> bool:
        return self._compare(other) < 0

    def __le__(self, other: Ratio | float) -> bool:
        return self._compare(other) <= 0

    def __gt__(self, other: Ratio | float) -> bool:
        return self._compare(other) > 0

    def __ge__(self, other: Ratio | float) -> bool:
        return self._compare(other) >= 0

    def __hash__(self) -> int:
        return hash(self.numerator) if self.denominator == 1 else hash((self.numerator, self.denominator))

    def __bool__(self) -> bool:
        return self.numerator != 0

    def __int__(self) -> int:
        """Rounded towards zero."""
        whole = abs(self.numerator) // self.denominator
        return whole if self.numerator >= 0 else -whole

    def __float__(self) -> float:
        return self.numerator / self.denominator

    def __repr__(self) -> str:
        return f"Ratio({self.numerator}, {self.denominator})"

    def __reduce__(self) -> tuple[type[Ratio], tuple[int, int]]:
        return Ratio, (self.numerator, self.denominator)

    def _compare(self, other: Ratio | float) -> float:
        """Less than, equal to or more than 0 as this is less than, equal to or more than the other; nan for nan."""
        if isinstance(other, Ratio):
            return self.numerator * other.denominator - other.numerator * self.denominator
        if isinstance(other, int):
            return self.numerator - other * self.denominator
        return self._compare(Ratio(*other.as_integer_ratio())) if isfinite(other) else -other


@frozen
class Recap(Step):
    """Replaces the oldest part of the items that pass `where` by one new item."""

    template: Template
    older: Ratio = Ratio(1)
    where: Expression | None = None


@frozen
class Replace(Step):
    """Replaces all items by one new item."""

    template: Template


@frozen
class Drop(Step):
    """Removes the section."""


@frozen
class Fail(Step):
    """Stops with an error that names the section and the tokens missing."""


@frozen
class Continue(Step):
    """Goes on with the section's own ladder; only in `truncate`."""


@frozen
class Use(Step):
    """Applies a named patch; only in a tier's `do`."""

    patch: str


def iter_code(step: Step) -> Iterator[Expression | Template]:
    """The expressions and templates that carrying out a step evaluates."""
    if isinstance(step, Ranked):
        yield from step.order
    for name in ("by", "where", "marker", "template"):
        code = getattr(step, name, None)
        if code is not None:
            yield code


@frozen
class Size:
    """So many tokens or characters, or a share (0..1) of the total in tokens, read from the decimal text."""

    amount: Ratio
    unit: Literal["tokens", "chars", "share"]

    def tokens(self, total: int) -> int:
        """The size in tokens of a total of `total` tokens: the floor of a share. Not for characters."""
        return int(self.amount * total) if self.unit == "share" else int(self.amount)


@frozen
class Budget:
    """A section's cap: `cap` (a number, share or characters), or shares with `min`, `max` and `grow`. Where a state may choose the cap,
    `source` gives it, and `cap` is the most that it may be.
    """

    span: Span
    cap: Size | None = None
    source: Expression | None = None
    min: Size | None = None
    grow: Ratio = Ratio(0)
    over: Literal["error", "warn"] = "error"

    @property
    def is_share(self) -> bool:
        """True when the grant depends on what others leave: a percentage, or `grow`."""
        return self.grow > 0 or (self.cap is not None and self.cap.unit == "share")

    @property
    def is_percent(self) -> bool:
        """True for a percentage without `grow`."""
        return self.grow == 0 and self.cap is not None and self.cap.unit == "share"


def settle_cap(section: Section, cap: int | None) -> Section:
    """The section with a number as its cap where a state chooses one; any other as it is, and all where `cap` is None."""
    budget = section.budget
    if budget is None or budget.source is None or budget.cap is None or cap is None:
        return section
    return replace(section, budget=replace(budget, cap=replace(budget.cap, amount=Ratio(cap)), source=None))


@frozen
class Pool:
    """A cap that several sections share, with a ladder of its own: it is walked after theirs, and before `truncate`."""

    name: str
    sections: tuple[str, ...]
    max: Size
    overflow: tuple[Step, ...]
    span: Span

    @property
    def ladder(self) -> str:
        """The name of its ladder, which no section can have."""
        return f"pools.{self.name}"

    @property
    def is_share(self) -> bool:
        """Whether its cap is a percentage of the total."""
        return self.max.unit == "share"
