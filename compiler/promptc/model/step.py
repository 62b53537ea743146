"""The step vocabulary (language.md §5), as data. `label` is a step's address: `recent.overflow[0]`, `recent.overflow (default)`."""

from collections.abc import Iterator

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.diag.typed import Literal
from promptc.model.budget import Size
from promptc.model.ratio import Ratio
from promptc.template.load_expression import Expression
from promptc.template.load_template import Template


@frozen
class Step:
    """What every step has: its section, its address and its place."""

    section: str
    label: str
    span: Span

    @property
    def is_default(self) -> bool:
        """Whether the pack does not write it: a section without `overflow` has one of its kind."""
        return self.label.endswith(DEFAULT)


DEFAULT = ".overflow (default)"
"""How the address of a step ends that no manifest writes: there is no line to point at but the section's own."""


@frozen
class Ranked(Step):
    """A step that goes through items by predicate classes (`order`) or by a value (`by`), oldest first within one."""

    order: tuple[Expression, ...] = ()
    by: Expression | None = None


@frozen
class Trim(Ranked):
    """Shortens text at a boundary."""

    at: Literal["paragraph", "sentence", "line", "word", "token"] = "sentence"
    side: Literal["end", "start", "middle"] = "end"
    to: Size | None = None
    floor: Size | None = None
    marker: Template | None = None
    warn: bool = False


@frozen
class Evict(Ranked):
    """Removes whole items, or whole groups."""

    whole: Literal["item", "group"] = "item"
    step: int = 1
    floor: int = 0
    marker: Template | None = None
    warn: bool = False


@frozen
class Shorten(Ranked):
    """Takes items to their next form."""


@frozen
class Lower(Step):
    """Removes all items with the greatest value of `by`, one level a notch; values up to `floor` stay."""

    by: Expression
    floor: int = 0


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
