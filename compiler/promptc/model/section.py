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
"""The kinds of parts that a message of a request can contain."""

SYSTEM_ROLES = ("system", "developer")
"""The roles that a manifest may assign, but no state."""

TOOLS = "tools"
"""The id of the section of a pack's tools, if these are items."""

TOOL_NAME = "item.function.name if item.function is defined and item.function is mapping else item.name"
"""The default `id` of a tool: its name, which OpenAI has inside `function`."""

DEFERRED = "deferred"
TOOL_FORMS = ("full", "brief", "name", DEFERRED)
"""The forms of a tool, the longest first. A deferred tool is sent, and the model reads it once the provider's search has found it."""

Shown = Literal["all", "described", "nothing"]
"""How much of a tool is in the prompt: all of it, its name with its description, or nothing."""

HALVES = frozenset(("tool_use", "tool_result"))
"""The two kinds of parts of a tool call, which a request only contains together."""

_ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("input_text", "output_text"), "text"),
    **dict.fromkeys(("image_url", "input_image"), "image"),
    **dict.fromkeys(("file", "input_file"), "document"),
    "input_audio": "audio",
}
"""OpenAI's names for kinds of parts."""

MICRO = 1_000_000
"""The unit of scores, which are whole millionths: 250_000 is 0.25."""

DEFAULT = ".overflow (default)"
"""The end of the address of a step that no manifest writes. The place of such a step is that of its section."""


_LEAST_WORDS = 8
"""The tokens of each text that a proposed trim by words leaves."""


@frozen
class Fence:
    """The lines that enclose a section or an item."""

    open: Template
    close: Template
    span: Span


@frozen
class Window:
    """How far back a section looks. A `last` that is an expression is clamped to `least` .. `max`."""

    span: Span
    last: int | Expression
    min: int = 0
    max: int | None = None
    step: int = 1
    whole: Literal["item", "group"] = "item"

    @property
    def least(self) -> int:
        """The least `last` with which the window always holds `min` items, and is not empty if it moves by several."""
        return max(self.min, 1 if self.step > 1 else 0) + self.step - 1


@frozen
class Matches:
    """The newest `last` items (None: all) that meet `where`, among `within` places (`anchors`, `keep`)."""

    where: Expression
    last: Expression | None
    within: int = 1000


@frozen
class Freeze:
    """The rule that what was shown once stays in place, and all that is new comes after it.

    `shown` evaluates to the ids of what the turn before showed, in order. `late` decides whether a late item, whose place in the source is
    before one that stays, comes after it too or is left out. A list with `late` is in order of time.
    """

    span: Span
    shown: Expression
    late: Expression | None = None


@frozen
class Dedupe:
    """The removal of items whose text `by` occurred before. `places` are the places of the names in `against`."""

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
    """How many items of each value of `by` may stay. `places` are the places of the keys of `caps`."""

    by: Expression
    caps: tuple[tuple[str, int], ...]
    places: tuple[Span, ...]


def spell_key(key: object) -> str:
    """Return a value of `limit_per.by` as its cap is named, which is how YAML writes it: `true`, `null`, `3`."""
    if key is None:
        return "null"
    return str(key).lower() if isinstance(key, bool) else str(key)


@frozen
class Limit:
    """How many items stay, from the first or the last."""

    span: Span
    count: int
    side: Literal["first", "last"] = "first"


@frozen
class Grouping:
    """Items with equal keys, gathered at the place of the first one."""

    by: Expression
    header: Template | None = None


def read_part_kind(type: str) -> str:
    """Return the kind of a part of that `type`: the type itself, or the kind that another service calls so."""
    return _ALIASES.get(type, type)


@frozen
class MessageForm:
    """The form of items that are messages of their own.

    `parts` are the kinds that the manifest names, at `span`. `media` says how parts that are not text are counted. It is set if `parts`
    names such kinds, or if the manifest has it. `written` has the system roles that `role` contains as literals, each with the same
    expression in which that literal is in capitals. `name` evaluates to the name of the speaker, or to none.
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
        """Return whether an item may have the role. A system role must be written in the manifest, and must not come from a state."""
        if role not in self.roles:
            return False
        marked = next((one for name, one in self.written if name == role), None)
        return marked is None or marked.evaluate(names) == str(role).upper()

    @property
    def passing(self) -> tuple[str, ...]:
        """The kinds that pass. Tool uses and tool results only pass together, since no request contains one without the other."""
        kinds = tuple(dict.fromkeys(read_part_kind(kind) for kind in self.parts))
        return kinds if len(HALVES.intersection(kinds)) != 1 else tuple(kind for kind in kinds if kind not in HALVES)

    @property
    def passes_media(self) -> bool:
        """True if a picture, a document or a sound passes. If none does, `media` is never evaluated."""
        return not set(MEDIA_KINDS).isdisjoint(self.passing)


@frozen(eq=False)
class Tool:
    """A tool: its name ([a-zA-Z0-9_-]{1,64}), what it is for, and the JSON Schema (2020-12) of its arguments, which are an object.

    `span` is its file, or the place of the list that declares it. An empty description is not sent. A deferred tool is not `shown` whole.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    span: Span
    shown: Shown = "all"

    @property
    def is_deferred(self) -> bool:
        """Whether the model only reads the tool when a search has found it."""
        return self.shown != "all"

    @property
    def definition(self) -> dict[str, Any]:
        """The whole tool, as Anthropic writes it."""
        marked = {"defer_loading": True} if self.is_deferred else {}
        return {"name": self.name, **self.said, "input_schema": self.input_schema, **marked}

    @property
    def counted(self) -> str:
        """The text that is counted: canonical JSON of what the model is shown."""
        if self.shown == "nothing":
            return ""
        return render_canonical_json(self.definition if self.shown == "all" else {"name": self.name, **self.said})

    @property
    def said(self) -> dict[str, str]:
        """The description under its key; empty if the tool has none."""
        return {"description": self.description} if self.description else {}


@frozen
class ToolForms:
    """The form of items that are tools of the request.

    `names` are their forms, in the order in which `shorten` uses them, and `span` is the place of the tools. `listed` are the tools of the
    files, if the manifest lists files. `shown` is how much of a deferred tool is in the prompt. With `is_cut`, the provider cannot defer
    tools, and that form was removed from `names`.
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
    """A cut of the text of every item to a size. `span` is the place of the size."""

    span: Span
    to: Size
    at: tuple[Boundary, ...]
    marker: Template | None


@frozen
class Items:
    """The item pipeline of a section, in its fixed order (contract.md §4). `source` is an expression, or the query of another source."""

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
"""The characters of the shortest text of a kind."""

_NUMBER = 7
"""The most digits of a placeholder. A state contains fewer texts."""


@frozen
class Redaction:
    """A rule for what a section must not see: texts of a `kind` (`email`, `phone`, `card`, `key`), or the matches of a `pattern`.

    A `pattern` that is not empty takes precedence. The placeholder contains `label`.
    """

    label: str
    kind: str = ""
    pattern: str = ""

    def bound_growth(self, characters: int) -> int:
        """Return how many characters placeholders add at most to a text of so many characters."""
        shortest = _SHORTEST.get(self.kind, 1)
        return characters // shortest * max(0, len(f"[{self.label}_]") + _NUMBER - shortest)


@frozen
class Section:
    """One section. Its source is either `text` (a template or constant text) or `items`.

    `cache` sets a cache breakpoint after the section. `note` is a remark of its author, for the map. `role_span` is the place at which its
    author names a role, or None. `redact` are the rules of the pack and of the section, which hide what they match. `reads` are the static
    paths of every expression and template that its selection evaluates.
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
    def cap(self) -> Size | None:
        """The cap of its budget, or None."""
        return self.budget.cap if self.budget is not None else None

    @property
    def source(self) -> Expression | Segments | Retrieve | None:
        """What its items come from, or None for a section of text."""
        return self.items.source if self.items is not None else None

    @property
    def message(self) -> MessageForm | None:
        """The form of its items as messages, or None if they are none."""
        return self.items.message if self.items is not None else None

    def find_cap(self, total: int) -> int | None:
        """Return its cap in tokens, given the `total`; None without a cap, and for a cap in characters."""
        cap = self.cap
        return cap.tokens(total) if cap is not None and cap.unit != "chars" else None

    @property
    def is_tools(self) -> bool:
        """Whether its items are the tools of the request. These are in no message."""
        return self.items is not None and self.items.tool is not None

    @property
    def is_frozen(self) -> bool:
        """Whether what was shown once stays in place."""
        return self.items is not None and self.items.freeze is not None

    @property
    def is_ageless(self) -> bool:
        """Whether its items have no age. Of equal items the last goes first, so that the beginning stays."""
        return self.is_tools or (self.items is not None and self.items.freeze is not None and self.items.freeze.late is None)


def show_score(micro: int, places: int = 3) -> str:
    """Return a score as a decimal with one to six places, cut off towards zero. As a floor, that decimal admits the score itself."""
    whole, part = divmod(abs(micro), MICRO)
    return f"{'-' if micro < 0 else ''}{whole}.{part // 10 ** (6 - places):0{places}}"


def read_micro(score: float) -> int:
    """Return the exact millionths that a score in a report was made of."""
    return round(score * MICRO)


@frozen
class Segments:
    """The segments of a store: those of a scope, for some references (a `ref` of None: for all), once for every element of `each`.

    `missing` says what a reference without a segment is. `missing_span` is the place at which its author says so, or None.
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
    """The millionths that are added to a chunk's score if a condition holds."""

    add: int
    where: Expression


@frozen
class Retrieve:
    """The best chunks of indexes for one or more queries (contract.md §4). `floor` is in millionths (None: that of each index)."""

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
    """Return whether every item belongs to an element of `each`."""
    return isinstance(source, Segments) and source.each is not None


def iter_expressions(source: Expression | Segments | Retrieve) -> Iterator[tuple[str, Expression]]:
    """Yield every expression of a source, with its key."""
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
    """The fields of every step: its section, its address and its place."""

    section: str
    label: str
    span: Span

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections that the step works on."""
        return (self.section,)

    @property
    def rule(self) -> str:
        """The kind of the step, as a manifest writes it: `evict`, `trim`."""
        return type(self).__name__.lower()

    @property
    def has_share(self) -> bool:
        """Whether the step depends on a share of the total."""
        return False

    @property
    def is_default(self) -> bool:
        """Whether the pack does not write the step. A section without `overflow` has a default one of its kind."""
        return self.label.endswith(DEFAULT)

    @property
    def is_own(self) -> bool:
        """Whether the step is in the `overflow` of its section, so it need not name the section."""
        return self.is_default or self.label.startswith(f"{self.section}.overflow[")


@frozen
class Ranked(Step):
    """A step that visits items by predicate classes (`order`) or by a value (`by`), the oldest first within a class."""

    order: tuple[Expression, ...] = ()
    by: Expression | None = None


@frozen
class Trim(Ranked):
    """A step that cuts text at the first boundary of `at`, then what is left at the next boundary, down to `finest`."""

    at: tuple[Boundary, ...] = ("sentence",)
    finest: Boundary | None = None
    side: Literal["end", "start", "middle"] = "end"
    to: Size | None = None
    floor: Size | None = None
    marker: Template | None = None
    warn: bool = False

    @property
    def has_share(self) -> bool:
        """Whether it cuts to a share of the total, or leaves one."""
        return any(size is not None and size.unit == "share" for size in (self.to, self.floor))

    @property
    def is_limited(self) -> bool:
        """Whether the step may leave more than one token of a text only because it cuts at nothing finer."""
        return self.finest not in (None, "token")


def propose_trims(before: Step, section: str) -> tuple[Trim, Trim]:
    """Return two trims of a section, by sentences and by words, to put before a step.

    They go through items in the order of the step, and use the tokens that the step would leave unused.
    """
    ranked = before if isinstance(before, Ranked) else Ranked(section, "", before.span)
    plain = Trim(section, "", before.span, ranked.order, ranked.by, finest="sentence")
    return plain, replace(plain, at=("word",), finest=None, floor=Size(Ratio(_LEAST_WORDS), "tokens"))


def spell_trim(trim: Trim, before: Step) -> str:
    """Return a proposed trim as a manifest has it right before that step: `trim: {by: item.score, finest: sentence}`."""
    keys = {} if before.is_own else {"section": trim.section}
    keys |= {"order": f"[{', '.join(_quote(one.text) for one in trim.order)}]"} if trim.order else {}
    keys |= {"by": _quote(trim.by.text)} if trim.by is not None else {}
    keys |= {"finest": trim.finest} if trim.finest is not None else {"at": trim.at[0], "floor": str(_LEAST_WORDS)}
    return f"trim: {{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}"


def _quote(text: str) -> str:
    """Return an expression as YAML reads it inside braces."""
    from json import dumps

    text = text.strip()
    return text if text.isascii() and text.replace(".", "_").isidentifier() else dumps(text, ensure_ascii=False)


@frozen
class Evict(Ranked):
    """A step that removes whole items, whole groups or, from messages, one tool call after the other.

    It works on its section and, in one order with it, on the sections `beside` it.
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
        """The sections that the step works on, in the order in which equal items of them are removed."""
        return (self.section, *self.beside)


@frozen
class Shorten(Ranked):
    """A step that changes items to their next form."""


@frozen
class Lower(Step):
    """A step that removes all items with the greatest value of `by`, one level a notch. Values up to `floor` stay."""

    by: Expression
    floor: int = 0


class Ratio:
    """A rational number in lowest terms, with a denominator of at least 1.

    It compares exactly with numbers of any kind. It can be added to, multiplied by and divided by whole numbers and other ratios.
    `fractions` can do that too, and takes long to import.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: int, denominator: int = 1) -> None:
        """Reduce the numerator and denominator. Raises `ZeroDivisionError` for a denominator of 0."""
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
        """Return the quotient. Raises `ZeroDivisionError` for a divisor of 0."""
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
        """Return the number, rounded towards zero."""
        whole = abs(self.numerator) // self.denominator
        return whole if self.numerator >= 0 else -whole

    def __float__(self) -> float:
        return self.numerator / self.denominator

    def __repr__(self) -> str:
        return f"Ratio({self.numerator}, {self.denominator})"

    def __reduce__(self) -> tuple[type[Ratio], tuple[int, int]]:
        return Ratio, (self.numerator, self.denominator)

    def _compare(self, other: Ratio | float) -> float:
        """Return a number below, equal to or above 0, as this one is less than, equal to or more than the other; nan for nan."""
        if isinstance(other, Ratio):
            return self.numerator * other.denominator - other.numerator * self.denominator
        if isinstance(other, int):
            return self.numerator - other * self.denominator
        return self._compare(Ratio(*other.as_integer_ratio())) if isfinite(other) else -other


@frozen
class Recap(Step):
    """A step that replaces the oldest part of the items that meet `where` with one new item."""

    template: Template
    older: Ratio = Ratio(1)
    where: Expression | None = None


@frozen
class Replace(Step):
    """A step that replaces all items with one new item."""

    template: Template


@frozen
class Drop(Step):
    """A step that removes the section."""


@frozen
class Fail(Step):
    """A step that stops with an error, which names the section and the missing tokens."""


@frozen
class Continue(Step):
    """A step that goes on with the section's own ladder; only in `truncate`."""


@frozen
class Use(Step):
    """A step that applies a named patch; only in a tier's `do`."""

    patch: str


def iter_code(step: Step) -> Iterator[Expression | Template]:
    """Yield the expressions and templates that the step evaluates."""
    if isinstance(step, Ranked):
        yield from step.order
    for name in ("by", "where", "marker", "template"):
        code = getattr(step, name, None)
        if code is not None:
            yield code


@frozen
class Size:
    """A number of tokens or characters, or a share (0..1) of the total in tokens. It is read exactly from the decimal text."""

    amount: Ratio
    unit: Literal["tokens", "chars", "share"]

    def tokens(self, total: int) -> int:
        """Return the size in tokens, given the `total` in tokens. A share is rounded down. Not for characters."""
        return int(self.amount * total) if self.unit == "share" else int(self.amount)


@frozen
class Budget:
    """A section's cap: `cap` (a number, a share or characters), or a share with `min`, `max` and `grow`.

    If a state may choose the cap, `source` evaluates to it, and `cap` is its maximum.
    """

    span: Span
    cap: Size | None = None
    source: Expression | None = None
    min: Size | None = None
    grow: Ratio = Ratio(0)
    over: Literal["error", "warn"] = "error"

    @property
    def is_share(self) -> bool:
        """Whether the grant depends on what other sections leave: a percentage, or `grow`."""
        return self.grow > 0 or (self.cap is not None and self.cap.unit == "share")

    @property
    def is_percent(self) -> bool:
        """Whether the cap is a percentage without `grow`."""
        return self.grow == 0 and self.cap is not None and self.cap.unit == "share"


def settle_cap(section: Section, cap: int | None) -> Section:
    """Return the section with `cap` as its cap, if a state chooses the cap and `cap` is not None; or else the section unchanged."""
    budget = section.budget
    if budget is None or budget.source is None or budget.cap is None or cap is None:
        return section
    return replace(section, budget=replace(budget, cap=replace(budget.cap, amount=Ratio(cap)), source=None))


@frozen
class Pool:
    """A cap that several sections share, with a ladder of its own, which runs after their ladders and before `truncate`."""

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
