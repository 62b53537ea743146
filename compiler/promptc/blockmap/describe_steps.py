"""What a ladder does, in a few words."""

from promptc.blockmap.describe_caps import show_size
from promptc.blockmap.describe_source import name_template
from promptc.blockmap.phrase import Phrase, join_phrases, say
from promptc.model.pack import PackModel
from promptc.model.section import Continue, Drop, Evict, Fail, Lower, Ranked, Recap, Replace, Shorten, Step, Trim, Use


def describe_step(step: Step, pack: PackModel) -> Phrase:
    """One step, such as `evict 2, oldest first`."""
    if isinstance(step, Trim):
        size = f" to {show_size(step.to)}" if step.to is not None else ""
        size += f" down to {show_size(step.floor)}" if step.floor is not None and step.floor.amount else ""
        return (*say(f"trim at {step.at}{size}"), *_describe_rank(step, ""))
    if isinstance(step, Evict):
        return _describe_evict(step)
    if isinstance(step, Shorten):
        return (*say("shorten to the next form"), *_describe_rank(step, ""))
    if isinstance(step, Lower):
        return say("lower by {}, the greatest first", step.by.text)
    if isinstance(step, Recap):
        share = f"the oldest {_show_percent(step)}" if step.older < 1 else "all"
        where = say(" where {}", step.where.text) if step.where is not None else ()
        return (*say(f"recap {share}"), *where, *say(" by "), *name_template(step.template, pack))
    if isinstance(step, Replace):
        return (*say("replace by "), *name_template(step.template, pack))
    return _describe_plain(step)


def describe_ladder(steps: tuple[Step, ...], pack: PackModel) -> Phrase:
    """All of them, in order."""
    return join_phrases([describe_step(step, pack) for step in steps], ", then ")


def _describe_plain(step: Step) -> Phrase:
    if isinstance(step, Use):
        return say("use the patch {}", step.patch)
    if isinstance(step, Continue):
        return say("its own ladder goes on")
    return say("drop it") if isinstance(step, Drop) else say("fail") if isinstance(step, Fail) else say(type(step).__name__.lower())


def _describe_evict(step: Evict) -> Phrase:
    noun = "groups" if step.whole == "group" else "items"
    steps = f", {step.step} at a time" if step.step > 1 else ""
    floor = f", {step.floor} stay{'s' if step.floor == 1 else ''}" if step.floor else ""
    return (*say(f"evict {noun}"), *_describe_rank(step, ", oldest first"), *say(f"{steps}{floor}"))


def _describe_rank(step: Ranked, otherwise: str) -> Phrase:
    if step.by is not None:
        return say(", least {} first", step.by.text)
    if step.order:
        count = len(step.order)
        return say(" where {}", step.order[0].text) if count == 1 else say(f" in {count} classes, {{}} first", step.order[0].text)
    return say(otherwise)


def _show_percent(step: Recap) -> str:
    return f"{float(step.older * 100):g}%"
