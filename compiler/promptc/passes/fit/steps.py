"""In which order a step goes through entries: predicate classes (`order`), or a value (`by`), oldest first within one."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from promptc.diag.findings import fail
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.section import Ranked, has_each
from promptc.passes.act import Entry
from promptc.passes.layout.section import SectionLayout
from promptc.template.compile import Expression
from promptc.template.runtime.run import price_count

_MEASURED = (("this", "tokens"), ("this",))


class StepScope:
    """The names a step's expressions see, entry by entry."""

    def __init__(self, fit: SectionLayout) -> None:
        self._fit = fit
        self._names = dict(fit.names)
        items = fit.section.items
        self._has_each = items is not None and has_each(items.source)

    @property
    def names(self) -> Mapping[str, Any]:
        """The names without an item."""
        return self._fit.names

    def evaluate(self, expression: Expression, entry: Entry) -> Any:
        """The expression's value for an entry."""
        is_measured = any(path in expression.reads for path in _MEASURED)
        return expression.evaluate(self.bind(entry, is_measured=is_measured))

    def bind(self, entry: Entry, *, is_measured: bool = True) -> Mapping[str, Any]:
        """The names at an entry, until the next one is bound: `this.{chars,form}` are of its text as it stands.

        So is `this.tokens`, which is there only where `is_measured`: counting has its price.
        """
        item = entry.item
        this = {
            "id": item.id,
            "number": item.number,
            "anchor": item.anchor,
            "kept": item.kept,
            "chars": len(entry.text),
            "form": entry.form,
        }
        if is_measured:
            self._fit.pay(price_count(entry.text))
            meter = self._fit.frame.meter
            this["tokens"] = meter.tokens(meter.count(entry.text))
        self._names["item"] = item.value
        if self._has_each:
            self._names["each"] = item.element
        self._names["this"] = this
        self._names["group"] = item.key
        return self._names


Block = Sequence[Entry]


def sort_by_age(blocks: Sequence[list[Entry]], fit: SectionLayout) -> list[list[Entry]]:
    """Blocks by the place of their first entry in the source, which is another order than the section's where that sorts or groups."""
    items = fit.section.items
    if items is None or not (items.sort or items.group):
        return list(blocks)
    return sorted(blocks, key=lambda block: block[0].item.unit)


def iter_classes(step: Ranked, blocks: Sequence[Block], scope: StepScope) -> Iterator[tuple[str, list[Block]]]:
    """Why, and the blocks of one class in the order given. A block is judged by its first entry; one that no class matches is left out."""
    if step.order:
        yield from _iter_matching(step.order, blocks, scope)
    elif step.by is not None:
        yield from _iter_smallest(step.by, blocks, scope)
    else:
        yield "oldest first", list(blocks)


def _iter_matching(order: Sequence[Expression], blocks: Sequence[Block], scope: StepScope) -> Iterator[tuple[str, list[Block]]]:
    left = list(blocks)
    for predicate in order:
        matching: list[Block] = []
        other: list[Block] = []
        for block in left:
            (matching if scope.evaluate(predicate, block[0]) else other).append(block)
        left = other
        if matching:
            yield _describe(predicate), matching


def _describe(predicate: Expression) -> str:
    return "oldest first" if predicate.text.strip() in ("true", "True") else f"{predicate.text.strip()}, oldest first"


def _iter_smallest(by: Expression, blocks: Sequence[Block], scope: StepScope) -> Iterator[tuple[str, list[Block]]]:
    ranked: dict[Any, list[Block]] = {}
    for block in blocks:
        ranked.setdefault(find_rank(by, scope.evaluate(by, block[0])), []).append(block)
    for value in sorted(ranked):
        yield f"{by.text.strip()} = {value}, smallest first", ranked[value]


def find_rank(by: Expression, value: Any) -> int | float:
    """The number a step goes by."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fail(
            "PC0520",
            f"`by: {by.text.strip()}` gives {show_value(value)}, not a number",
            by.span,
            help="give every item a number, such as with `| default(0)`",
        )
    return value


def list_units(fit: SectionLayout) -> list[list[Entry]]:
    """What stands, oldest first: entries one by one, but a tool's use and its result together, and none of those with a kept one."""
    blocks = sort_by_age(make_blocks(list(fit.alive), lambda entry: entry.item.unit), fit)
    return [block for block in blocks if not any(entry.item.kept for entry in block)]


def make_blocks(entries: Sequence[Entry], key: Callable[[Entry], Any]) -> list[list[Entry]]:
    """Entries of equal key together, at the place of the first."""
    blocks: dict[Any, list[Entry]] = {}
    for entry in entries:
        blocks.setdefault(key(entry), []).append(entry)
    return list(blocks.values())
