"""Caps that never bind: more items, characters or tokens than that never come."""

from collections.abc import Iterator, Sequence

from promptc.check.bounds import Texts, bound_section, find_texts, make_cost
from promptc.check.fold import merge_configurations
from promptc.check.idle_stages import Idle, iter_idle_stages
from promptc.check.registry import Configuration
from promptc.check.rules.budgets import PROVABLE, count, list_fences
from promptc.check.scopes import Scopes
from promptc.check.settled import SettledTexts
from promptc.check.texts import iter_texts
from promptc.diag.findings import Diagnostic, Span, count_noun
from promptc.diag.frozen import replace
from promptc.model.pack import PackModel, Plan, find_caps
from promptc.model.section import Section
from promptc.template.types.bounds import Amount, find_largest


def check_idle_caps(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """`window`, `limit_per`, `limit`, `trim_each` and budgets that no valid state reaches. A cap that is just what comes at most says so in
    a note, as does one in tokens, whose bound is far from tight; one that is larger is a warning. What the guard escapes is not counted in
    characters."""
    if pack.schema is None:
        return
    finder = _CapFinder(pack)
    yield from merge_configurations(looks, finder.iter_look)


class _CapFinder:
    """Keeps the scopes of each set of fences."""

    def __init__(self, pack: PackModel) -> None:
        self._pack = pack
        self._settled = SettledTexts(pack)
        self._scopes: dict[tuple[str, ...], Scopes] = {}

    def iter_look(self, look: Configuration) -> Iterator[Diagnostic]:
        """The findings of one look."""
        fences = list_fences(look.plan, self._settled)
        if fences not in self._scopes:
            self._scopes[fences] = Scopes(self._pack, make_cost(self._pack.counting.counter, fences))
        measured = find_caps(look.base, self._pack.strain, look.plan.budget.total) if self._pack.strain is not None else {}
        found = list(iter_texts(self._pack, look.plan, look.combination.tier + 1))
        for section in look.plan.sections:
            if self._settled.is_off(section):
                continue
            texts = find_texts(iter(found), section, self._scopes[fences])
            for idle in (*_iter_stages(section, texts), *_iter_lengths(section, texts)):
                yield _describe(idle, section)
            if section.id not in measured:
                yield from self._iter_budget(section, texts, look.plan, fences)

    def _iter_budget(self, section: Section, texts: Texts, plan: Plan, fences: tuple[str, ...]) -> Iterator[Diagnostic]:
        """A cap in tokens of what the state decides. Of a pinned section it is a promise, and of one that pressure counts a measure."""
        cap = section.budget.cap if section.budget is not None else None
        is_constant = section.text is not None and not section.text.reads
        if cap is None or section.budget is None or section.budget.is_share or cap.unit == "chars" or section.pinned or is_constant:
            return
        made = bound_section(replace(section, pinned=True), texts, plan.output, fences)
        if self._pack.counting.counter.name in PROVABLE and made.size is not None and count(self._pack, made) <= cap.tokens(0):
            held, most = count_noun(cap.tokens(0), "token"), count(self._pack, made)
            message = f"the budget of `{section.id}`, {held}, never binds: by the schema it needs at most {most}"
            yield Diagnostic("PC0672", message, section.budget.span, "lower it, or leave it out", "note")


def _iter_stages(section: Section, texts: Texts) -> Iterator[Idle]:
    if section.items is not None:
        yield from iter_idle_stages(section.items, texts)


def _iter_lengths(section: Section, texts: Texts) -> Iterator[Idle]:
    """Caps in characters: of each item, or of a text."""
    items, budget = section.items, section.budget
    if items is not None and items.trim_each is not None and items.trim_each.to.unit == "chars" and items.forms:
        made = find_largest(texts.amount(form) for form in items.forms)
        yield from _judge_length("`trim_each`", int(items.trim_each.to.amount), made, "an item has", items.trim_each.span)
    if section.text is not None and section.text.reads and budget is not None and budget.cap is not None and budget.cap.unit == "chars":
        yield from _judge_length("the budget", int(budget.cap.amount), texts.amount(section.text), "it has", budget.span)


def _judge_length(what: str, cap: int, made: Amount, subject: str, span: Span) -> Iterator[Idle]:
    if made.characters is not None and made.characters <= cap:
        yield Idle(what, count_noun(cap, "character"), f"by the schema {subject} at most {made.characters}", made.characters == cap, span)


def _describe(idle: Idle, section: Section) -> Diagnostic:
    message = f"{idle.what} of `{section.id}`, {idle.cap}, never binds: {idle.why}"
    help = "it says what holds in any case: leave it, or take it out" if idle.is_exact else "lower it, or take it out"
    return Diagnostic("PC0672", message, idle.span, help, "note" if idle.is_exact else "warn")
