"""Running what was compiled."""

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

from jinja2 import Undefined

from promptc.template.compile_source import Program
from promptc.template.context import NameContext
from promptc.template.explain_error import RUN_ERRORS, explain_error
from promptc.template.fault import Fault, refuse
from promptc.template.limits import MAX_TEXT
from promptc.template.own_filters import plain
from promptc.template.place import Place
from promptc.template.run import COUNTER, Run
from promptc.template.undefined import Missing

Names = Mapping[str, Any]


def build_render(program: Program, place: Place) -> Callable[[Names], str]:
    """The function behind `Template.render`."""
    root, sandbox = program.root, program.sandbox
    start, blocks = root.root_render_func, root.blocks

    def render(names: Names) -> str:
        run = Run(names.get(COUNTER))
        try:
            parts = list(start(NameContext(sandbox, names, "", blocks, run)))
            if sum(map(len, parts)) > MAX_TEXT:
                _find_excess(start(NameContext(sandbox, names, "", blocks, Run(run.counter))))
        except RUN_ERRORS as error:
            raise explain_error(error, place, root, names) from None
        return "".join(parts)

    return render


def _find_excess(parts: Generator[str, None, None]) -> None:
    """Run again, and raise where the output grows too long: the sum at the end knows no line."""
    size = 0
    for part in parts:
        size += len(part)
        if size > MAX_TEXT:
            message = f"the template prints more than {MAX_TEXT} characters"
            parts.throw(Fault("PC0430", message, "print less: limit the list, or the text of each element"))


def build_evaluate(program: Program, place: Place) -> Callable[[Names], object]:
    """The function behind `Expression.evaluate`."""
    root, sandbox = program.root, program.sandbox
    start = root.root_render_func
    settle = _list if program.settled else _settle

    def evaluate(names: Names) -> object:
        run = Run(names.get(COUNTER))
        try:
            value = next(start(NameContext(sandbox, names, "", {}, run)))
            return value if value.__class__ in _SCALARS else settle(value, run)
        except RUN_ERRORS as error:
            raise explain_error(error, place, root, names) from None

    return evaluate


_SCALARS = frozenset({str, int, float, bool, type(None)})


def _list(value: Any, run: Run) -> object:
    """The value of an expression that only passes data on."""
    if value.__class__ is list or isinstance(value, Mapping):
        return value
    return list(value) if isinstance(value, Iterator) else _settle(value, run)


def _settle(value: Any, run: Run) -> object:
    """Plain data from whatever an expression gave."""
    if isinstance(value, Missing):
        str(value)
    if isinstance(value, Undefined):
        refuse("PC0421", "an `if` without `else` gave nothing", "say what it is otherwise: `... else none`")
    return plain(run, value)
