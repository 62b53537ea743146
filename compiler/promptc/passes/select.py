"""How far a list that has reach is read; `promptc.model.pack` tells which lists have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from promptc.diag.findings import Span, fail, show_value
from promptc.diag.typed import Any
from promptc.model.section import Evict, Section, Step
from promptc.model.stages import Item, Selection
from promptc.template.compile import Expression
from promptc.template.runtime.run import price_count, read_run
from promptc.text.counters.counter import Meter

_TEXT = 100


class Reach:
    """Follows a list from its newest item on and tells when what was read so far is enough.

    It is enough when the items read count more than `most` units wherever they stand together, whatever older ones stand before them;
    when no eviction may take the first item after them before all that is older; and when they are more than any floor keeps.
    `steps` are all that may take items of the section.
    """

    def __init__(self, section: Section, steps: Sequence[Step], meter: Meter, most: int) -> None:
        self._meter = meter
        self._most = most
        self._suffix = section.separator if section.separator is not None else "\n"
        evictions = [step for step in (*section.overflow, *steps) if isinstance(step, Evict)]
        window = section.items.window if section.items is not None else None
        self._least = max([0, *(step.floor for step in evictions), window.min if window is not None else 0])
        self._blocks = {step.step for step in evictions}
        self._units = 0
        self._open: list[str] = []
        self._number: int | None = None

    def is_enough(self, number: int) -> bool:
        """True when the next older item, of that number, need not be read: it also begins a block of every `step`."""
        if self._units <= self._most or self._least >= 0 or self._number is None:
            return False
        return all(number // block != self._number // block for block in self._blocks if block > 1)

    def add(self, item: Item) -> None:
        """Take the next older item into account."""
        text = (f"{item.open}\n{item.text}\n{item.close}" if item.open else item.text) + self._suffix
        if self._number is not None:
            self._count(text)
        self._number = item.number
        self._least -= not item.kept

    def _count(self, text: str) -> None:
        """Count up to the first place in `text` that parts it from whatever stands before, with all behind it that is not counted yet."""
        is_apart = bool(self._suffix) and self._meter.is_safe("x" + self._suffix, text)
        inner = (0, 0) if is_apart else self._meter.counter.find_inner(text)
        self._open.append(text)
        if inner is not None:
            whole = "".join(reversed(self._open))
            self._units += self._meter.count(whole[inner[0] :])
            self._open = [whole[: inner[0]]]


def section_names(names: Mapping[str, Any], section: Section, strain: Mapping[str, Any], selected: Mapping[str, int]) -> dict[str, Any]:
    """The names visible in a section: the bound ones, `strain`, `selected` and `section`."""
    shown = {"id": section.id, "title": section.title, "role": section.role}
    return {**names, "strain": strain, "selected": selected, "section": shown}


def find_names(selection: Selection, section: Section) -> dict[str, Any]:
    """The same of a section that was selected: it saw how many items the sections before it have."""
    before = takewhile(lambda one: one.section.id != section.id, selection.sections)
    return section_names(selection.bound.names, section, selection.strain, {one.section.id: len(one.items) for one in before})


def pay_text(names: Mapping[str, Any], text: str, span: Span | None, what: str) -> None:
    """Pay for a rendered text: it is guarded, laid out and counted, and its tokens take the most of that."""
    read_run(names).pay(_TEXT + price_count(text), span, what)


def find_whole(value: Any) -> int | None:
    """The whole number that a value is: 12.0 is one, as it is to a schema; `true` is none."""
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def evaluate_count(expression: Expression, names: Mapping[str, Any], what: str) -> int:
    """A whole number of at least 0."""
    value = expression.evaluate(names)
    count = find_whole(value)
    if count is None or count < 0:
        raise fail("PC0507", f"{what} must be a whole number from 0, not {show_value(value)}", expression.span)
    return count


def evaluate_key(expression: Expression, names: Mapping[str, Any], what: str) -> Any:
    """A value to compare or group by: text, number, boolean or none."""
    value = expression.evaluate(names)
    if value is not None and not isinstance(value, str | int | float | bool):
        raise fail("PC0508", f"{what} must be text, a number, true, false or null, not {show_value(value)}", expression.span)
    return value


def type_key(key: Any) -> tuple[str, Any]:
    """A key with its kind, which tells `true` from 1 and 1 from 1.0: Python holds them equal."""
    return type(key).__name__, key
