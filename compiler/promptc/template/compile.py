"""Compiled templates and expressions of a pack: pure functions from names to a text or a value.

`lower/module` makes a `Template` and an `Expression` from their texts, with a `Program` of lowered code, which is turned into functions on
first use. `constant_template` and `constant_expression` need no compilation.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping

from promptc.diag.findings import Span
from promptc.diag.frozen import field, frozen
from promptc.diag.typed import Any
from promptc.template.allow import LIMITS, Limits
from promptc.template.place import Place, Site
from promptc.template.runtime.callables import Macro, Names, Render, TemplateBlocks, unfilled
from promptc.template.runtime.filters.table import call_filter, call_test, lack_filter, load_filter, load_test
from promptc.template.runtime.objects import BLANK, Fault, Loop, missing, read_export
from promptc.template.runtime.run import SCALARS, Excess, MeasuringRun, Run, check_key, each, read_run
from promptc.template.runtime.values import (
    add,
    call_part,
    call_value,
    compare,
    concat,
    cut_slice,
    divide,
    floor_divide,
    modulo,
    multiply,
    need_namespace,
    need_plain,
    need_text,
    negate,
    plain,
    positive,
    power,
    read_attribute,
    read_attribute_loosely,
    read_item,
    read_item_loosely,
    show,
    soften,
    spread,
    spread_named,
    subtract,
    undefined,
)

_SHOWN = {"None": "none", "True": "true", "False": "false"}


@frozen
class Template:
    """A checked template. Rendering is a pure function of the names: it never changes them, and many threads may render at once.

    `reads`: the paths that the template reads from its names, e.g. `("state", "player", "name")`.
    `files`: the texts of the files that the template includes, imports or extends, keyed by the names it uses for them; `check` walks them.
    """

    text: str
    place: Place
    reads: frozenset[tuple[str, ...]]
    program: Program | Constant = field(repr=False, compare=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def render(self, names: Mapping[str, object]) -> str:
        """Return the rendered text.

        `names` contains plain data, and the pack's counter under `__counter__`. Raises `PromptcError` with the place of each error.
        """
        text: str = self.program.render(names)
        return text


@frozen
class Expression:
    """A checked expression. Evaluating is a pure function of the names: it never changes them, and many threads may evaluate at once.

    `reads`: the paths that the expression reads from its names, e.g. `("item", "type")`.
    """

    text: str
    span: Span
    reads: frozenset[tuple[str, ...]]
    program: Program | Constant = field(repr=False, compare=False)

    def evaluate(self, names: Mapping[str, object]) -> object:
        """Return the value as plain data, with sequences as lists.

        The value may be a part of `names`, so callers must not change it. Raises `PromptcError`.
        """
        return self.program.evaluate(names)


@frozen
class Constant:
    """The program of a template or an expression that reads nothing and never fails."""

    value: Any

    def render(self, names: Mapping[str, object]) -> Any:
        """Return the constant."""
        return self.value

    evaluate = render


def constant_template(text: str, name: str = "") -> Template:
    """Return a template that renders `text`, reads nothing and never fails."""
    return Template(text, Place(Span(name, 1, 1), inline=False), frozenset(), Constant(text))


def constant_list(values: list[dict[str, Any]], place: Place) -> Expression:
    """Return an expression that evaluates to these values. The values have no source text: the expression's `text` is `none`."""
    return Expression("none", place.span, frozenset(), Constant(values))


def constant_expression(value: bool | int | float | None, place: Place) -> Expression:
    """Return an expression that evaluates to `value` and reads nothing."""
    return Expression(_SHOWN.get(str(value), str(value)), place.span, frozenset(), Constant(value))


@frozen
class LoweredFile:
    """One file of a template as bytes of `marshal`, for one version of the interpreter. The `name` of the template itself is empty.

    `weight` is the number of steps of executing the file once. `filters` and `tests` pair each variable of the code with the filter or test
    that it refers to. The line number of an instruction is a place in `text`: the number of characters before it, plus 1. A place beyond
    the text is in a definition (`sites`).
    """

    name: str
    text: str
    weight: int
    code: bytes
    blocks: tuple[str, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    tests: tuple[tuple[str, str], ...] = ()
    sites: tuple[Site, ...] = ()


_KNOWN = (
    TemplateBlocks, Loop, Macro, add, call_filter, call_part, call_test, call_value, check_key, compare, concat, cut_slice, divide, each,
    read_attribute, read_attribute_loosely, read_item_loosely, read_export, read_item, floor_divide, lack_filter, modulo, multiply,
    need_namespace, need_plain, need_text, negate, positive, power, show, soften, spread, spread_named, subtract, undefined, unfilled,
    dict, str,
)  # fmt: skip

GLOBALS: dict[str, Any] = {"__builtins__": {}, "missing": missing, "BLANK": BLANK, **{known.__name__: known for known in _KNOWN}}
"""Everything that generated code can name. Nothing else exists for it."""

RUN_ERRORS = (
    Fault,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    NameError,
    RuntimeError,
    MemoryError,
    StopIteration,
)
"""Everything that evaluating a template can raise, unless the interpreter has a bug."""


class Program:
    """A template and the files that it uses, by name (`""`: the template itself).

    Many threads may run it at the same time. It is pickled as its arguments.
    """

    __slots__ = ("_loaded", "files", "lenient", "limits", "place", "settled")

    def __init__(
        self, files: tuple[LoweredFile, ...], place: Place, settled: bool = False, limits: Limits = LIMITS, lenient: bool = False
    ) -> None:
        self.files = files
        self.place = place
        self.settled = settled
        self.limits = limits
        self.lenient = lenient
        self._loaded: dict[str, _File] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.files, self.place, self.settled, self.limits, self.lenient)

    def load(self, name: str) -> _File:
        """Return the functions of a file."""
        found = self._loaded.get(name)
        if found is None:
            found = self._loaded[name] = _File(next(file for file in self.files if file.name == name))
        return found

    def render(self, names: Mapping[str, Any]) -> Any:
        """Return the text of the template. Raises `PromptcError` with file, line and column."""
        run = read_run(names, self.limits)
        try:
            return self._run(names, run)
        except Excess:
            return self._run(names, MeasuringRun(run.counter, run.limits))

    def evaluate(self, names: Mapping[str, Any]) -> Any:
        """Return the value of the expression as plain data. Raises as `render` does."""
        run = read_run(names, self.limits)
        try:
            value = self._run(names, run)
            return value if value.__class__ in SCALARS else self._settle(value, run, names)
        except Excess:
            return self._run(names, MeasuringRun(run.counter, run.limits))

    def _run(self, names: Mapping[str, Any], run: Run) -> Any:
        root = self._loaded.get("") or self.load("")
        try:
            run.begin_program(self.lenient)
            return root.root(run, Names(self.load, run, names, root.blocks))
        except RUN_ERRORS as error:
            raise self._explain(error, names) from None

    def _settle(self, value: Any, run: Run, names: Mapping[str, Any]) -> Any:
        """Return the value of an expression as plain data."""
        try:
            if self.settled and (value.__class__ is list or value.__class__ is dict):
                return value
            if self.settled and hasattr(value, "__next__"):
                return list(value)
            return plain(run, value)
        except RUN_ERRORS as error:
            raise self._explain(error, names) from None

    def _explain(self, error: Exception, names: Mapping[str, Any]) -> Exception:
        from promptc.template.runtime.errors import explain_error  # late: no render that succeeds needs its words

        return explain_error(error, self.place, {file.name: (file.text, file.sites) for file in self.files}, names)


class _File:
    """The functions of one file."""

    __slots__ = ("blocks", "root", "weight")

    def __init__(self, lowered: LoweredFile) -> None:
        module = dict(GLOBALS)
        module.update([(variable, load_filter(name)) for variable, name in lowered.filters])
        module.update([(variable, load_test(name)) for variable, name in lowered.tests])
        exec(marshal.loads(lowered.code), module)
        self.weight = lowered.weight
        self.root: Any = module["root"]
        self.blocks: dict[str, Render] = {name: module[f"block_{name}"] for name in lowered.blocks}
