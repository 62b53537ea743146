"""Steps that can never do anything: behind a step that leaves nothing, or on content they cannot change."""

from collections.abc import Iterator, Sequence

from promptc.check.registry import Configuration
from promptc.check.settled import SettledTexts
from promptc.diag.findings import Diagnostic, Span
from promptc.model.pack import PackModel, Plan, list_steps
from promptc.model.section import Continue, Drop, Evict, Fail, Section, Shorten, Step

_Place = tuple[Span, str]


class _StepWalk:
    """What became of every step of a plan: alive in some list, or dead and why."""

    def __init__(self, settled: SettledTexts) -> None:
        self.settled = settled
        self.alive: set[_Place] = set()
        self.dead: dict[_Place, tuple[Step, str]] = {}

    def judge(self, step: Step, why: str) -> bool:
        """Notes the step; True when it is alive (`why` is empty)."""
        place = (step.span, step.label)
        if why:
            self.dead.setdefault(place, (step, why))
        else:
            self.alive.add(place)
        return not why


def check_dead_steps(pack: PackModel, looks: Sequence[Configuration]) -> Iterator[Diagnostic]:
    """Steps that are dead in every combination they stand in. Steps on pinned sections are another rule's."""
    walk = _StepWalk(SettledTexts(pack))
    for look in looks:
        ladders = {one.id: _walk_ladder(one, walk) for one in look.plan.sections if not one.pinned}
        _walk_list(look.plan.truncate, look.plan, ladders, walk)
        if pack.strain is not None:
            _walk_list(list_steps(pack.strain.tiers[: look.combination.tier + 1])[0], look.plan, ladders, walk)
    for place, (step, why) in walk.dead.items():
        if place not in walk.alive:
            yield Diagnostic(
                "PC0611",
                f"`{_name(step)}` of `{step.label}` never does anything: {why}",
                step.span,
                "take it out, or put it before what leaves it nothing",
                "warn",
            )


def _name(step: Step) -> str:
    return step.section if isinstance(step, Continue) else type(step).__name__.lower()


def _walk_ladder(section: Section, walk: _StepWalk) -> tuple[bool, str]:
    """Whether any step of the section's own ladder is alive, and why nothing is left to do behind it (empty: something may be)."""
    ended, is_alive = "", False
    for step in section.overflow:
        is_alive |= walk.judge(step, ended or _find_idle(step, section))
        ended = ended or _find_end(step, section, walk.settled)
    return is_alive, ended


def _walk_list(steps: Sequence[Step], plan: Plan, ladders: dict[str, tuple[bool, str]], walk: _StepWalk) -> None:
    """`truncate`, or what the tiers do: steps that name their sections."""
    ended: dict[str, str] = {}
    continued: dict[str, int] = {}
    for step in steps:
        section = plan.find_section(step.section)
        if section is None or section.pinned:
            continue
        is_alive, end = ladders[section.id]
        why = ended.get(section.id, "")
        if isinstance(step, Continue):
            if section.id in continued:
                why = f"line {continued[section.id]} goes on with that ladder already, and to its end"
            walk.judge(step, why or ("" if is_alive else f"the ladder of `{section.id}` has no step that acts"))
            continued.setdefault(section.id, step.span.line)
        else:
            walk.judge(step, why or _find_idle(step, section))
            end = _find_end(step, section, walk.settled)
        if end:
            ended.setdefault(section.id, end)


def _find_idle(step: Step, section: Section) -> str:
    """Why the step cannot change anything of this section, or nothing."""
    if isinstance(step, Shorten) and (section.items is None or len(section.items.forms) < 2):
        return f"`{section.id}` has no second form to go on to"
    return ""


def _find_end(step: Step, section: Section, settled: SettledTexts) -> str:
    """Why no step on the section can act behind this one, or nothing."""
    line = f"line {step.span.line}"
    if isinstance(step, Fail):
        return f"the `fail` of {line} stops before it"
    if _keeps(section):
        return ""
    if isinstance(step, Drop):
        return f"the `drop` of {line} has taken the whole section"
    takes_all = isinstance(step, Evict) and not step.floor and (not step.order or any(settled.is_always(one, True) for one in step.order))
    return f"the `evict` of {line} takes every item first" if takes_all else ""


def _keeps(section: Section) -> bool:
    """True when something of the section is safe from steps."""
    items, budget = section.items, section.budget
    if budget is not None and budget.min is not None and budget.min.amount:
        return True
    return items is not None and (bool(items.keep) or (items.window is not None and items.window.min > 0))
