"""Rules on steps: those on content that no step may touch, and those that never do anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptc.check.bounds import SettledTexts, bound_item, infer_texts
from promptc.check.configurations import Configuration, Configurations, for_each
from promptc.diag.findings import Diagnostic, Span, count_noun
from promptc.diag.frozen import frozen
from promptc.model.pack import PackModel, Plan
from promptc.model.section import (
    Continue,
    Drop,
    Evict,
    Fail,
    Ratio,
    Recap,
    Replace,
    Retrieve,
    Section,
    Shorten,
    Size,
    Step,
    Trim,
    propose_trims,
    spell_trim,
)
from promptc.model.sources import CorpusIndex
from promptc.template.types.conditions import Cases, Demand, list_cases
from promptc.template.types.infer import read_code
from promptc.text.cutting import list_boundaries

_Place = tuple[Span, str]

_PROSE = 4
"""Characters in a token of prose."""


@for_each
def check_fixed_steps(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report every step on a pinned section, and `drop` and `replace` on a section with `keep` or a minimum."""
    for section in configuration.plan.sections:
        for step in configuration.list_steps_on(section):
            found = _judge_fixed(section, step)
            if found is not None:
                yield found


def _judge_fixed(section: Section, step: Step) -> Diagnostic | None:
    name = _name(step)
    if section.pinned:
        return Diagnostic(
            "PC0603",
            f"`{name}` of `{step.label}` would shorten `{section.id}`, which is pinned: no step can change it",
            step.span,
            f"remove the step, or remove `pinned: true` from `{section.id}`",
        )
    kept = _name_kept(section) if isinstance(step, Drop | Replace) else ""
    if not kept:
        return None
    return Diagnostic(
        "PC0604",
        f"`{name}` of `{step.label}` would take all of `{section.id}`, which has {kept}",
        step.span,
        "use `evict` or `trim`, which leave that in place",
    )


def _name(step: Step) -> str:
    return step.section if isinstance(step, Continue) else step.rule


def _name_kept(section: Section) -> str:
    items, budget = section.items, section.budget
    if items is not None and items.keep:
        return "items to `keep`"
    if items is not None and items.window is not None and items.window.min:
        return f"a `window.min` of {items.window.min}"
    return "a `budget.min`" if budget is not None and budget.min is not None and budget.min.amount else ""


def check_idle_trims(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report every `trim` whose `to` or `floor` is over its section's cap in each combination, or leaves no room for a line end there.

    A text of that size alone is over the cap. A size in tokens is not compared with one in characters.
    """
    found: dict[_Place, Diagnostic | None] = {}
    for configuration in configurations:
        for section, step in _iter_trims(configuration):
            place = (step.span, step.label)
            judged = _judge_trim(section, step, configuration.plan)
            known = found.get(place, judged)
            found[place] = known if judged is not None else None
    yield from (one for one in found.values() if one is not None)


def _iter_trims(configuration: Configuration) -> Iterator[tuple[Section, Trim]]:
    for section in configuration.plan.sections:
        steps = () if section.pinned else configuration.list_steps_on(section)
        yield from ((section, step) for step in steps if isinstance(step, Trim))


def _judge_trim(section: Section, step: Trim, plan: Plan) -> Diagnostic | None:
    total, cap = plan.budget.total, section.cap
    size = step.to or step.floor
    if size is None or (cap is not None and cap.unit == "chars") != (size.unit == "chars"):
        return None
    least, most = _measure(size, total), _measure(cap, total) if cap is not None else total
    key, noun = "to" if step.to is not None else "floor", "character" if size.unit == "chars" else "token"
    cut = f"`{key}` of `{step.label}`, {count_noun(least, noun)},"
    whose = f"`{section.id}` is capped at {most}" if cap is not None else f"the budget is {most}"
    if least > most and cap is not None:
        advice = f"lower it to {most} or less, or raise the budget of `{section.id}`"
        return Diagnostic("PC0672", f"{cut} is more than the section may hold: {whose}", step.span, advice, "warn")
    if least == most > 1 and noun == "token" and plan.output.format == "text":
        message = f"{cut} leaves no room for the line end after the text, which may take a token: {whose}"
        return Diagnostic("PC0672", message, step.span, f"write `{key}: {most - 1}`", "warn")
    return None


def _measure(size: Size, total: int) -> int:
    return int(size.amount) if size.unit == "chars" else size.tokens(total)


def check_dead_steps(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report steps that are dead in every combination. Steps on pinned sections are left to another rule."""
    walk = _StepWalk(configurations.facts.settled)
    for configuration in configurations:
        ladders = {one.id: _walk_ladder(one, walk) for one in configuration.plan.sections if not one.pinned}
        for steps in (*(pool.overflow for pool in configuration.plan.pools), configuration.plan.truncate):
            _walk_list(steps, configuration.plan, ladders, walk)
        _walk_list(configuration.list_tier_steps(), configuration.plan, ladders, walk)
    moving = {span for span, _ in walk.alive}
    for place, (step, why) in walk.dead.items():
        if place not in walk.alive:
            is_certain = step.span not in moving and configurations.facts.covers(*step.sections)
            yield Diagnostic(
                "PC0611",
                f"`{_name(step)}` of `{step.label}` never has an effect: {why}",
                step.span,
                "remove it, or move it before the step that leaves it nothing",
                "warn",
                step.span if is_certain else None,
            )


class _StepWalk:
    """Whether each step of a plan is alive in some list, or dead, and why."""

    def __init__(self, settled: SettledTexts) -> None:
        self.settled = settled
        self.alive: set[_Place] = set()
        self.dead: dict[_Place, tuple[Step, str]] = {}

    def judge(self, step: Step, why: str) -> bool:
        """Record a step, and return whether it is alive (`why` is empty)."""
        place = (step.span, step.label)
        if why:
            self.dead.setdefault(place, (step, why))
        else:
            self.alive.add(place)
        return not why


@frozen
class _End:
    """Why nothing of a section is left for later steps.

    A later `fail` still acts, as it says that there is no prompt if others would have to give way; but not after a `fail` that `stops`.
    """

    why: str
    stops: bool

    def explain(self, step: Step, section: Section) -> str:
        """Return why a later step never acts on the section, or an empty text."""
        done = section.overflow if isinstance(step, Continue) else (step,)
        return "" if any(isinstance(one, Fail) for one in done) and not self.stops else self.why


def _walk_ladder(section: Section, walk: _StepWalk) -> tuple[bool, _End | None]:
    """Return whether any step of the section's own ladder is alive, and why nothing is left to do after it (None if something may be)."""
    ended: _End | None = None
    is_alive = False
    for step in section.overflow:
        is_alive |= walk.judge(step, ended.explain(step, section) if ended is not None else _explain_idle(step, section))
        ended = _choose_end(ended, _find_end(step, section, walk.settled))
    return is_alive, ended


def _choose_end(before: _End | None, after: _End | None) -> _End | None:
    """Return the first end, unless the second is a `fail` and the first is not."""
    return after if before is None or (after is not None and after.stops and not before.stops) else before


def _explain_idle(step: Step, section: Section) -> str:
    """Return why the step cannot change anything of this section, or an empty text."""
    if isinstance(step, Shorten) and (section.items is None or len(section.items.forms) < 2):
        return f"`{section.id}` has no second form to move on to"
    return ""


def _find_end(step: Step, section: Section, settled: SettledTexts) -> _End | None:
    """Return why no later step on the section can act, or None."""
    line = f"line {step.span.line}"
    if isinstance(step, Fail):
        return _End(f"the `fail` of {line} stops before it", True)
    if _name_kept(section):
        return None
    if isinstance(step, Drop):
        return _End(f"the `drop` of {line} has taken the whole section", False)
    return _End(f"the `evict` of {line} takes every item first", False) if isinstance(step, Evict) and _goes_on(step, settled) else None


def _walk_list(steps: Sequence[Step], plan: Plan, ladders: dict[str, tuple[bool, _End | None]], walk: _StepWalk) -> None:
    """Walk the steps of a pool, of `truncate` or of the tiers, which name their sections."""
    ended: dict[str, _End | None] = {}
    continued: dict[str, int] = {}
    for step, section in [(one, plan.find_section(name)) for one in steps for name in one.sections]:
        if section is None or section.pinned:
            continue
        is_alive, end = ladders[section.id]
        before = ended.get(section.id)
        why = before.explain(step, section) if before is not None else ""
        if isinstance(step, Continue):
            if section.id in continued:
                why = f"line {continued[section.id]} continues that ladder already, and to its end"
            walk.judge(step, why or ("" if is_alive else f"the ladder of `{section.id}` has no step that acts"))
            continued.setdefault(section.id, step.span.line)
        else:
            walk.judge(step, why or _explain_idle(step, section))
            end = _find_end(step, section, walk.settled)
        ended[section.id] = _choose_end(before, end)


@for_each
def check_void_recaps(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report each `recap` of texts over a number of characters whose template may write more than that.

    A text whose recap would not be shorter stays as it is.
    """
    texts, scopes = {id(text.code): text for text in configuration.iter_texts()}, configuration.facts.scopes
    for section in configuration.plan.sections:
        for step in configuration.list_steps_on(section):
            if not isinstance(step, Recap) or step.where is None or not {id(step.where), id(step.template)} <= texts.keys():
                continue
            over = _find_over(list_cases(read_code(step.where), scopes.make_scope(texts[id(step.where)])))
            most = scopes.infer(texts[id(step.template)]).amount.characters
            if over is not None and most is not None and most - 1 > over:
                message = f"`{step.label}` shortens texts of more than {over} characters, but its template may write {most - 1}"
                enough = "a `trim` with `to` and a `marker` needs the number only once"
                help = f"shorten only texts of more than {most - 1} characters, or let the template write less; {enough}"
                yield Diagnostic(
                    "PC0623", f"{message}: a text with a length between the two does not become shorter", step.where.span, help, "warn"
                )


def _find_over(cases: Cases) -> int | None:
    """Return the number of characters that `this` exceeds whenever the condition holds, or None if no such number is known."""
    found = [max((_read_over(one) for one in case), default=-1) for case in cases]
    least = min(found, default=-1)
    return least if least >= 0 else None


def _read_over(demand: Demand) -> int:
    if demand.spelled != "this.chars" or isinstance(demand.value, bool) or not isinstance(demand.value, int):
        return -1
    return {"gt": demand.value, "gteq": demand.value - 1}.get(demand.operator, -1)


@for_each
def check_least_caps(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report sections whose cap a state chooses, and whose ladder may be unable to meet the least cap."""
    settled = configuration.facts.settled
    for section in configuration.plan.sections:
        budget, least = section.budget, configuration.make_least_test_cap(section)
        if budget is None or budget.source is None or least is None or section.pinned or settled.is_off(section):
            continue
        if not any(_find_end(step, section, settled) for step in section.overflow if not isinstance(step, Fail)):
            asked = f"`{budget.source.text.strip()}` may give `{section.id}` as little as {least}"
            message = f"{asked}, but its steps never remove all of it: if more is left, nothing is rendered"
            help = "end `overflow` with `drop: {}`, or give what it reads a `minimum` in the schema"
            yield Diagnostic("PC0622", message, budget.span, help, "note" if least else "warn")


@for_each
def check_limited_trims(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report trims with a `finest` in ladders that must meet a number, if no later step surely removes what they leave."""
    settled = configuration.facts.settled
    for section in configuration.plan.sections:
        budget = section.budget
        if section.pinned or settled.is_off(section) or budget is None or budget.cap is None or budget.is_share:
            continue
        for place, step in enumerate(section.overflow):
            if isinstance(step, Trim) and step.is_limited and not any(_goes_on(one, settled) for one in section.overflow[place + 1 :]):
                size = count_noun(
                    _measure(budget.cap, configuration.plan.budget.total), "character" if budget.cap.unit == "chars" else "token"
                )
                message = f"`{step.label}` cuts at nothing finer than a {step.finest}, and no later step cuts further"
                why = f"if what it leaves is over the {size} of `{section.id}`, nothing is rendered"
                help = "add `trim: {at: token}` or `drop: {}` after it, or `fail: {}` if there should be no prompt then"
                yield Diagnostic("PC0684", f"{message}: {why}", step.span, help, "warn")


@for_each
def check_unlike_trims(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report a trim whose cuts do not nest in those of an earlier trim of the same section: a larger budget may then remove content."""
    settled = configuration.facts.settled
    for section in configuration.plan.sections:
        if section.pinned or settled.is_off(section):
            continue
        trims = [step for step in configuration.list_steps_on(section) if isinstance(step, Trim)]
        for place, step in enumerate(trims):
            first = next((one for one in trims[:place] if not _nests(one, step)), None)
            if first is not None:
                sides = f"`{step.label}` cuts `{section.id}` from the {step.side}, and `{first.label}` from the {first.side}"
                if first.side == step.side:
                    sides = f"`{step.label}` and `{first.label}` cut `{section.id}` from the middle at different boundaries"
                message = f"{sides}: a larger budget may remove text"
                help = "cut from the same side; or write one trim with all boundaries, such as `trim: {from: middle, at: [sentence, word]}`"
                yield Diagnostic("PC0696", message, step.span, help, "warn")
                break


def _nests(first: Trim, second: Trim) -> bool:
    """Return whether every cut of the second trim keeps a part of what the first one left, whatever the text.

    Beginnings of a text nest, and so do ends. Cuts from the middle keep both, and nest only if they go by
    the same units, as far as each goes.
    """
    units = [list_boundaries(one.at, one.finest) for one in (first, second)]
    is_alike = all(one == other for one, other in zip(*units, strict=False))
    return first.side == second.side and (first.side != "middle" or is_alike)


@for_each
def check_coarse_evictions(pack: PackModel, configuration: Configuration) -> Iterator[Diagnostic]:
    """Report evictions by a value without a step that shortens items, if one item alone may be over the cap of the ladder: then all go."""
    plan = configuration.plan
    ladders = [(section.overflow, section.budget.cap) for section in plan.sections if section.budget is not None]
    ladders += [(pool.overflow, pool.max) for pool in plan.pools]
    for steps, size in (*ladders, (plan.truncate, Size(Ratio(plan.budget.total), "tokens"))):
        for step in steps if size is not None else ():
            for section in filter(None, map(plan.find_section, step.sections)):
                most = _bound_characters(section, configuration) if isinstance(step, Evict) and step.by is not None else None
                found = _judge_coarse(step, section, most, size, plan) if size is not None and most is not None else None
                if found is not None:
                    yield found


def _judge_coarse(step: Step, section: Section, most: int, size: Size, plan: Plan) -> Diagnostic | None:
    room, is_chars = _measure(size, plan.budget.total), size.unit == "chars"
    if most <= room * (1 if is_chars else _PROSE):
        return None
    single = f"a single one may be larger than {count_noun(room, 'character' if is_chars else 'token')}, with {most} characters"
    message = f"`{step.label}` removes whole items of `{section.id}`, and {single}: then it removes all of them, and the room stays unused"
    trim = spell_trim(propose_trims(step, section.id)[0], step)
    help = f"to use that room, cut items to sentences before you remove whole ones: put `{trim}` before it"
    return Diagnostic("PC0545", message, step.span, help, "note")


def _bound_characters(section: Section, configuration: Configuration) -> int | None:
    """Return the most characters of an item that a trim could cut. For a chunk, estimate it from its size in tokens.

    Return None if there is no bound, or if another step shortens the items.
    """
    items, facts = section.items, configuration.facts
    if items is None or items.tool is not None or items.message is not None or section.pinned:
        return None
    if any(isinstance(one, Trim | Shorten) for one in configuration.list_steps_on(section)):
        return None
    if not isinstance(items.source, Retrieve):
        return bound_item(items, infer_texts(configuration.iter_texts(), section, facts.scopes)).characters
    if not any(path[:2] in (("item",), ("item", "text")) for form in items.forms for path in form.reads):
        return None
    sizes = [one.chunk.most for one in facts.pack.indexes if one.name in items.source.indexes and isinstance(one, CorpusIndex)]
    return _PROSE * max(sizes) if sizes else None


def _goes_on(step: Step, settled: SettledTexts) -> bool:
    """Return whether the step goes on to the end: it removes everything or all but the first token, or says that there is no prompt."""
    if isinstance(step, Trim):
        return not (step.is_limited or step.order or step.to or step.floor)
    if isinstance(step, Evict):
        return not step.floor and (not step.order or any(settled.is_always(one, True) for one in step.order))
    return isinstance(step, Drop | Replace | Fail)


def check_unwalked(pack: PackModel, configurations: Configurations) -> Iterator[Diagnostic]:
    """Report sections whose own `overflow` is used in no combination.

    Default ladders are not reported, as the author did not write them.
    """
    found: dict[str, Section] = {}
    walked: set[str] = set()
    for configuration in configurations:
        for section in configuration.plan.sections:
            if _is_walked(section, configuration.plan):
                walked.add(section.id)
            elif not section.pinned and section.overflow and not section.overflow[0].is_default:
                found.setdefault(section.id, section)
    for name, section in found.items():
        if name not in walked:
            message = f"`overflow` of `{name}` is never used: `{name}` has no budget of its own, and neither `truncate` nor a pool names it"
            help = f"add it where the whole prompt is cut, `truncate: [{name}]`; or give it a budget of its own, such as `budget: 400`"
            yield Diagnostic("PC0612", message, section.overflow[0].span, help, "note")


def _is_walked(section: Section, plan: Plan) -> bool:
    budget = section.budget
    if budget is not None and (budget.cap is not None or budget.grow > 0):
        return True
    return any(isinstance(step, Continue) and step.section == section.id for step in plan.list_shared_steps())
