"""What the tests of templates share: render, evaluate, or the findings instead."""

from collections.abc import Mapping

from promptc.diag.findings import Diagnostic, PromptcError, Span, fail
from promptc.template.lower.module import load_expression, load_template
from promptc.template.place import Place

FILE = Place(Span("folder/t.j2", 1, 1), inline=False, folder="folder/")
INLINE = Place(Span("pack.yaml", 12, 9, "    text: ..."), inline=True)


def render(text: str, names: Mapping[str, object] | None = None, files: Mapping[str, str] | None = None, place: Place = FILE) -> str:
    def load_file(name: str) -> str:
        if name not in (files or {}):
            raise fail("PC0101", f"there is no file `{name}`")
        return (files or {})[name]

    return load_template(text, place, load_file=load_file).render(names or {})


def evaluate(text: str, names: Mapping[str, object] | None = None) -> object:
    return load_expression(text, INLINE).evaluate(names or {})


def find_errors(
    text: str, names: Mapping[str, object] | None = None, files: Mapping[str, str] | None = None, place: Place = FILE
) -> list[Diagnostic]:
    try:
        shown = render(text, names, files, place)
    except PromptcError as error:
        return list(error.diagnostics)
    raise AssertionError(f"printed {shown[:100]!r}")


def find_expression_errors(text: str, names: Mapping[str, object] | None = None) -> list[Diagnostic]:
    try:
        value = evaluate(text, names)
    except PromptcError as error:
        return list(error.diagnostics)
    raise AssertionError(f"gave {value!r}")


class WordCounter:
    """A token is a word or a run of white space between two."""

    unit = 1

    def measure(self, text):
        return len(text.split())

    def token_ends(self, text):
        return [end for end in range(1, len(text) + 1) if not text[end - 1].isspace() and (end == len(text) or text[end].isspace())]
