"""The names an expression sees, and reading typed values out of it."""

from collections.abc import Mapping
from itertools import takewhile

from promptc.diag.findings import Span, fail
from promptc.diag.typed import Any
from promptc.diag.value import show_value
from promptc.model.section import Section
from promptc.model.stages import Selection
from promptc.template.compile import Expression
from promptc.template.runtime.run import find_run, price_count

_TEXT = 100


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
    find_run(names).pay(_TEXT + price_count(text), span, what)


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
