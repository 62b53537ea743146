"""Typed reads: every expression and template against the kinds of what it reads, by the state's schema (language.md §12)."""

from collections.abc import Iterator, Sequence

from promptc.check.describe_problem import Describer
from promptc.check.fold import fold_looks
from promptc.check.looks import Look
from promptc.check.scopes import Scopes
from promptc.check.texts import Text, iter_texts
from promptc.diag.diagnostic import Diagnostic
from promptc.diag.span import Span
from promptc.model.pack import Pack
from promptc.template.kinds.find_kinds import Found
from promptc.template.kinds.problem import Problem
from promptc.template.kinds.trees import find_place
from promptc.template.kinds.walk import find_time
from promptc.template.load_template import Template


def check_kinds(pack: Pack, looks: Sequence[Look], scopes: Scopes) -> Iterator[Diagnostic]:
    """Names that nothing has, paths that no valid state has or that one may lack, and uses that do not suit a value's kind. What a text
    asks for first is left alone."""
    describer = Describer(pack, pack.find_schema_place or (lambda pointer: None))
    return fold_looks(looks, lambda look: _iter_look(pack, look, scopes, describer))


def _iter_look(pack: Pack, look: Look, scopes: Scopes, describer: Describer) -> Iterator[Diagnostic]:
    order = [section.id for section in look.plan.sections]
    for text in iter_texts(pack, look.plan, look.combination.tier + 1):
        found = scopes.find(text)
        for problem in (*found.problems, *_iter_ranked(text, found)):
            yield describer.describe(problem, text, order, _find_span(text, problem))


def _iter_ranked(text: Text, found: Found) -> Iterator[Problem]:
    """A time that a section's `sort` or a step's `by` puts in order as a text."""
    time = find_time(found.kind) if text.ranks and found.kind is not None else None
    if time is not None:
        yield Problem("as_text", "", 1, text.code.text.strip(), time)


def _find_span(text: Text, problem: Problem) -> Span:
    code = text.code
    shown = code.files[problem.file] if problem.file and isinstance(code, Template) else code.text
    return find_place(code).find_span(problem.file, shown, problem.position)
