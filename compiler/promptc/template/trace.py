"""Which place of a template, and which keys of the state, made what it prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.typed import Any
from promptc.template.load_expression import Expression
from promptc.template.load_template import Template
from promptc.template.made import Known, Made, Pointers
from promptc.template.place import Place
from promptc.template.runtime.program import Program
from promptc.template.tracing.find_codes import find_codes
from promptc.template.tracing.log import Log, Printed
from promptc.template.tracing.run_logged import run_logged


def trace_template(template: Template, names: Mapping[str, Any], known: Known) -> tuple[Made, ...]:
    """What the template prints, in order: joined, it is what `render` gives. Errors: as `render`.

    The template is lowered once more and run slowly. Text that a filter changed as a whole, as `{% filter %}` does, is one piece.
    """
    text = template.render(names)
    program = template.program
    if not isinstance(program, Program):
        return (Made(text, template.place, "", template.text, 0),) if text else ()
    log = Log(known, names)
    printed = run_logged(program, names, log)
    assert printed == text, "a logged run prints what another does"
    files = {file.name: (file.text, find_codes(file.text, file.name)) for file in program.files}
    return tuple(_iter_made(log.find_parts(printed), template.place, files))


def trace_expression(expression: Expression, names: Mapping[str, Any], known: Known) -> Pointers:
    """The parts of the state that the expression reads. Errors: as `evaluate`."""
    program = expression.program
    if not isinstance(program, Program):
        return ()
    expression.evaluate(names)
    log = Log(known, names)
    run_logged(program, names, log, expression=True)
    return log.find_pointers()


def _iter_made(parts: Sequence[Printed], place: Place, files: Mapping[str, tuple[str, Sequence[tuple[int, int]]]]) -> Iterator[Made]:
    for part in parts:
        if part.inner is not None:
            yield from _iter_made(part.inner, place, files)
        elif part.text:
            text, codes = files[part.name]
            start, stop = next(((start, stop) for start, stop in codes if start < part.at <= stop), (part.at - 1, part.at - 1))
            yield Made(part.text, place, part.name, text, start, text[start:stop], part.pointers)
