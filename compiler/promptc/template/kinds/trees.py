"""The trees of a checked text and of the files it brings in."""

from dataclasses import dataclass
from functools import lru_cache

from jinja2 import nodes

from promptc.template.compile_source import _parse, _verbatim
from promptc.template.load_expression import Expression
from promptc.template.load_template import Template
from promptc.template.place import Place
from promptc.template.sandbox import find_sandbox


@dataclass(frozen=True, slots=True)
class Code:
    """A text that was checked when it was loaded, with the texts of its files by name; `verbatim`: it stands as it is."""

    text: str
    files: tuple[tuple[str, str], ...]
    is_expression: bool
    verbatim: bool = False


def read_code(code: Expression | Template) -> Code:
    """What there is to walk of an expression or a template."""
    if isinstance(code, Expression):
        return Code(code.text, (), True)
    verbatim = not code.place.inline and not code.place.span.file.endswith(".j2")
    return Code(code.text, tuple(sorted(code.files.items())), False, verbatim)


@lru_cache(maxsize=512)
def load_trees(code: Code) -> dict[str, nodes.Template]:
    """The trees by name; the text itself has the empty one."""
    sandbox, place = find_sandbox().overlay(), Place(None, inline=True)  # type: ignore[arg-type]
    own = _verbatim(code.text) if code.verbatim else _parse(code.text, "", place, sandbox, expression=code.is_expression)
    files = {
        name: _parse(text, name, place, sandbox) if name.endswith(".j2") else _verbatim(text) for name, text in code.files
    }
    return {"": own, **files}
