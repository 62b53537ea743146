"""Which place of a template, and which keys of the state, made what it prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from promptc.diag.typed import Any
from promptc.template.compile import Template
from promptc.template.load_expression import Expression
from promptc.template.made import OutputSpan, Pointers, TraceContext
from promptc.template.place import Place
from promptc.template.runtime.program import RUN_ERRORS, Program
from promptc.template.trace_log import Log, Printed
from promptc.template.tracing.find_codes import find_codes
from promptc.template.tracing.run_logged import run_logged

Files = Mapping[str, tuple[str, Sequence[tuple[int, int]]]]
"""By name, the text of a file, and where it holds code."""


def trace_template(template: Template, names: Mapping[str, Any], known: TraceContext) -> tuple[OutputSpan, ...]:
    """What the template prints, in order: joined, it is what `render` gives. Errors: as `render`.

    The template is lowered once more and run slowly. Text that a filter changed as a whole, as `{% filter %}` does, is one piece.
    """
    text = template.render(names)
    if not isinstance(template.program, Program):
        return (OutputSpan(text, template.place, "", template.text, 0),) if text else ()
    try:
        made = trace_program(template.program, names, known)
    except RUN_ERRORS:
        made = ()
    # what explains a render does not fail where that did not, nor tells what is not so
    return made if "".join(one.text for one in made) == text else (OutputSpan(text, template.place, "", template.text, 0, template.text),)


def trace_program(program: Program, names: Mapping[str, Any], known: TraceContext) -> tuple[OutputSpan, ...]:
    """The same of what is behind a template that is known to run without an error."""
    log = Log(known, names)
    printed = run_logged(program, names, log)
    files = {file.name: (file.text, find_codes(file.text, file.name)) for file in program.files}
    return tuple(_iter_made(log.find_parts(printed), program.place, files))


def trace_expression(expression: Expression, names: Mapping[str, Any], known: TraceContext) -> Pointers:
    """The parts of the state that the expression reads. Errors: as `evaluate`."""
    expression.evaluate(names)
    log = Log(known, names)
    if isinstance(expression.program, Program):
        try:
            run_logged(expression.program, names, log, expression=True)
        except RUN_ERRORS:
            return ()
    return log.find_pointers()


def _iter_made(parts: Sequence[Printed], place: Place, files: Files, calls: tuple[tuple[str, str, int], ...] = ()) -> Iterator[OutputSpan]:
    for part in parts:
        text, codes = files[part.name]
        start, stop = next(((start, stop) for start, stop in codes if start < part.at <= stop), (part.at - 1, part.at - 1))
        if part.inner is not None:
            yield from _iter_made(part.inner, place, files, (*calls, (part.name, text, start)) if stop > start else calls)
        elif part.text:
            yield OutputSpan(part.text, place, part.name, text, start, text[start:stop], part.pointers, calls)
