"""A section as the effective manifest declares it, compiled."""

from collections.abc import Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal
from promptc.model.budget import Budget, Size
from promptc.model.source import Retrieve, Segments
from promptc.model.step import Step
from promptc.template.load_expression import Expression
from promptc.template.load_template import Template

Role = Literal["system", "developer", "user", "assistant"]


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


PART_KINDS = ("text", "tool_use", "tool_result", "thinking", "redacted_thinking")
"""The kinds of parts of a message that a request can hold."""

HALVES = frozenset(("tool_use", "tool_result"))
"""Of a turn of tools."""

_ALIASES: Mapping[str, str] = {"input_text": "text", "output_text": "text"}
"""What OpenAI's responses call a text."""


def find_part_kind(type: str) -> str:
    """The kind of a part of that `type`: the type itself, `text` for all that are texts."""
    return _ALIASES.get(type, type)


@frozen
class MessageForm:
    """Each item a message of its own. `parts` are the kinds that the manifest names. `span` is that of `parts`, where it is given."""

    role: Expression
    content: Expression
    parts: tuple[str, ...]
    roles: tuple[str, ...]
    span: Span

    @property
    def passing(self) -> tuple[str, ...]:
        """The kinds that pass: uses and results of tools only together, since no request holds one without the other."""
        kinds = tuple(dict.fromkeys(find_part_kind(kind) for kind in self.parts))
        return kinds if len(HALVES.intersection(kinds)) != 1 else tuple(kind for kind in kinds if kind not in HALVES)


@frozen
class TrimEach:
    """A cut of every item's text to a size. `span` is that of the size."""

    span: Span
    to: Size
    at: Literal["paragraph", "sentence", "line", "word", "token"]
    marker: Template | None


@frozen
class Items:
    """The item pipeline of a section, in its fixed order (language.md §4). `source` is an expression, or what another source is asked."""

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
    dedupe: Dedupe | None = None
    sort: tuple[SortKey, ...] = ()
    limit_per: LimitPer | None = None
    limit: Limit | None = None
    group: Grouping | None = None
    tally: Expression | None = None
    trim_each: TrimEach | None = None
    fence: Fence | None = None


@frozen
class Section:
    """One section. Exactly one of `text` (a template or constant text) and `items` is its source. `cache` puts a cache
    breakpoint behind it. `note` is its author's remark, for the map.

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
