"""Typed reads: every expression and template against the kinds of what it reads, by the state's schema (language.md §12)."""

from collections.abc import Iterator, Sequence

from promptc.check.fold import merge_configurations
from promptc.check.registry import Configuration
from promptc.check.rules.reads import Describer
from promptc.check.scopes import Scopes
from promptc.check.takes import SORTED
from promptc.check.texts import UsedText, iter_texts
from promptc.diag.findings import Diagnostic, Span
from promptc.model.pack import PackModel
from promptc.template.compile import Template
from promptc.template.types.algebra import find_place
from promptc.template.types.infer import InferredTypes
from promptc.template.types.types import Problem
from promptc.template.types.walk import find_time


def check_kinds(pack: PackModel, looks: Sequence[Configuration], scopes: Scopes) -> Iterator[Diagnostic]:
    """Names that nothing has, paths that no valid state has or that one may lack, and uses that do not suit a value's kind. What a text
    asks for first is left alone."""
    describer = Describer(pack, pack.find_schema_place or (lambda pointer: None))
    return merge_configurations(looks, lambda look: _iter_look(pack, look, scopes, describer))


def _iter_look(pack: PackModel, look: Configuration, scopes: Scopes, describer: Describer) -> Iterator[Diagnostic]:
    order = [section.id for section in look.plan.sections]
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        yield from iter_wrong(text, scopes, describer, order)


def iter_wrong(text: UsedText, scopes: Scopes, describer: Describer, order: Sequence[str]) -> Iterator[Diagnostic]:
    """All that is wrong with one text by kind: inside it, and with what it gives to its key. `order`: the ids of the sections."""
    found = scopes.find(text)
    for problem in (*found.problems, *_iter_given(text, found)):
        yield describer.describe(problem, text, order, _find_span(text, problem))


def _iter_given(text: UsedText, found: InferredTypes) -> Iterator[Problem]:
    """A value that the key never takes, and a time that a section's `sort` puts in order as a text."""
    if found.kind is None:
        return
    code, time = text.code.text.strip(), find_time(found.kind) if text.takes is SORTED else None
    if text.takes.refuses(found.kind):
        told = text.takes.describe(text.what, code, found.kind, is_constant=not text.code.reads)
        yield Problem("given", "", 1, code, found.kind, told=("PC0651", *told))
    elif time is not None:
        yield Problem("as_text", "", 1, code, time)


def _find_span(text: UsedText, problem: Problem) -> Span:
    code = text.code
    shown = code.files[problem.file] if problem.file and isinstance(code, Template) else code.text
    return find_place(code).find_span(problem.file, shown, problem.position)
