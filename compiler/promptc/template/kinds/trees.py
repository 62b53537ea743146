"""The trees of a checked text and of the files it brings in."""

from functools import lru_cache

from jinja2 import nodes

from promptc.diag.findings import Span
from promptc.diag.frozen import frozen
from promptc.template.compile import Template
from promptc.template.limits import LIMITS, Limits
from promptc.template.load_expression import Expression
from promptc.template.parse import parse
from promptc.template.place import Place
from promptc.template.runtime.program import Program

_HERE = Place(Span("", 1, 1), inline=True)


@frozen
class CompiledText:
    """A text that was checked when it was loaded, with the texts of its files by name; `verbatim`: it stands as it is."""

    text: str
    files: tuple[tuple[str, str], ...] = ()
    is_expression: bool = False
    verbatim: bool = False
    limits: Limits = LIMITS


def read_code(code: Expression | Template) -> CompiledText:
    """What there is to walk of an expression or a template."""
    text = code.text.replace("\r\n", "\n").replace("\r", "\n")
    limits = code.program.limits if isinstance(code.program, Program) else LIMITS
    if isinstance(code, Expression):
        return CompiledText(text, (), True, False, limits)
    return CompiledText(text, tuple(sorted(code.files.items())), False, not isinstance(code.program, Program), limits)


def find_place(code: Expression | Template) -> Place:
    """Where a text stands."""
    if isinstance(code, Template):
        return code.place
    return code.program.place if isinstance(code.program, Program) else Place(code.span, inline=True)


@lru_cache(maxsize=512)
def load_trees(code: CompiledText) -> dict[str, nodes.Template]:
    """The trees by name; the text itself has the empty one."""
    own = _leave(code.text) if code.verbatim else parse(code.text, "", _HERE, code.limits, expression=code.is_expression)
    files = {name: parse(text, name, _HERE, code.limits) if name.endswith(".j2") else _leave(text) for name, text in code.files}
    return {"": own, **files}


def _leave(text: str) -> nodes.Template:
    return nodes.Template([nodes.Output([nodes.TemplateData(text, lineno=1)], lineno=1)], lineno=1)
