"""Tight: undoing the last applied notch exceeds the ladder's target, and `needs` is how much larger that would have to be."""

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from promptc.passes.fit.result import Applied, LadderResult
from promptc.pipeline import Outcome
from tests.property.drawing.draws import draw_any, draw_long, draw_monotone, draw_pooled
from tests.property.drawing.packs import is_share
from tests.property.load_drawn import Library, Loaded
from tests.property.proof import Proof, Tally


# contract 11.3
def test_the_last_notch_was_needed(proof: Proof) -> None:
    proof.hold("tight", judge_tight, draw_any, 2000)


def judge_tight(loaded: Loaded, tally: Tally) -> str | None:
    rng = Random(repr(loaded.drawn.manifest))
    for total in (4000, rng.randint(1, 150), rng.randint(1, 60)):
        outcome = loaded.compile(total)
        tally["renders"] += 1
        wrong = find_loose(outcome, tally)
        if wrong is not None:
            return f"at {total}: {wrong}"
    return None


def find_loose(outcome: Outcome, tally: Tally) -> str | None:
    """A ladder that went further than it needed to, or says wrongly what it needed."""
    for name, run in iter_ladders(outcome):
        if not run.applied or outcome.fitted.counts_chars(name):
            continue  # of a cap in characters the next properties tell
        tally["ladders"] += 1
        if run.is_met and not run.applied[-1].before > run.target >= run.applied[-1].after:
            return f"the last notch of {name} goes from {run.applied[-1].before} to {run.applied[-1].after} of {run.target}"
        low = run.start
        for cut in run.applied:
            if cut.needs != low - run.target:
                return f"{name} says it needs {cut.needs}, not {low - run.target}"
            low = min(low, cut.after)
    return None


def iter_ladders(outcome: Outcome) -> list[tuple[str, LadderResult]]:
    """The ladders that have a target."""
    fitted = outcome.fitted
    return [(name, run) for name, run in fitted.iter_runs() if name != "do"]


# contract 11.3
def test_needs_of_the_total(proof: Proof) -> None:
    """With number caps: a total larger by what the last notch needs does without it, one token less does not."""
    proof.hold("needs of the total", judge_total_needs, draw_monotone, 400)


def judge_total_needs(loaded: Loaded, tally: Tally) -> str | None:
    manifest = loaded.drawn.manifest
    if any(is_share(section.get("budget")) for section in _name_sections(manifest).values()) or has_share(manifest):
        return None
    for total in range(1, 120, 7):
        outcome = loaded.compile(total)
        cuts = _list_cuts(outcome, "truncate")
        if not cuts or any(one.is_partial for one in outcome.fitted.strained.selection.sections):
            continue  # where a list was read in part only, `needs` is a lower bound as its demand is
        tally["cuts"] += 1
        more = total + cuts[-1]["needs"]
        with_it, without = (_list_cuts(loaded.compile(one), "truncate") for one in (more - 1, more))
        if with_it is not None and _is_less(with_it, cuts):
            return f"the last cut at {total} needs {cuts[-1]['needs']}, but at {more - 1} it is not made"
        if without is not None and not _is_less(without, cuts):
            return f"the last cut at {total} needs {cuts[-1]['needs']}, but at {more} it is made"
    return None


# contract 11.3
def test_needs_of_a_cap(proof: Proof) -> None:
    """A section's cap larger by what its last notch needs does without it, one token less does not."""
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_cap_needs(loaded, tally, library)

    proof.hold("needs of a cap", judge, draw_monotone, 400)


def judge_cap_needs(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    if "strain" in loaded.drawn.manifest:
        return None
    for name, section in _name_sections(loaded.drawn.manifest).items():
        cap = _find_cap(section)
        if cap is None:
            continue
        cuts = _list_cuts(loaded.compile(4000), name)
        if not cuts:
            continue
        tally["cuts"] += 1
        is_chars = isinstance(section["budget"], dict) and "chars" in section["budget"]  # its cuts count the charge
        wrong = _find_edge(partial(_cap, loaded, name, library=library), cuts, name) if not is_chars else None
        if wrong is not None:
            return f"{name}: {wrong}"
        more = cap + cuts[-1]["needs"]
        with_it, without = (_list_cuts(_cap(loaded, name, one, library), name) for one in (more - 1, more))
        if with_it is not None and _is_less(with_it, cuts):
            return f"the last cut of {name} needs {cuts[-1]['needs']}, but with a cap of {more - 1} it is not made"
        if without is not None and not _is_less(without, cuts):
            return f"the last cut of {name} needs {cuts[-1]['needs']}, but with a cap of {more} it is made"
    return None


def _find_edge(render: Callable[[int], Outcome], cuts: list[dict[str, Any]], ladder: str) -> str | None:
    """A cap that what is left fills to the token is kept to by the same cuts. One token less needs more of them, or fails."""
    after = cuts[-1]["count"][1]
    exact, less = (_list_cuts(render(most), ladder) if most >= 0 else None for most in (after, after - 1))
    if exact is not None and _count_notches(exact) != _count_notches(cuts):
        return f"{after} are left, and a cap of {after} makes other cuts"
    return f"{after} are left, also of a cap of {after - 1}" if less is not None and not _is_less(cuts, less) else None


def _is_less(cuts: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    """True when a ladder was walked less far; a trim of one text is one cut of many notches."""
    return _count_notches(cuts) < _count_notches(others)


def _count_notches(cuts: list[dict[str, Any]]) -> int:
    return sum(cut.get("notches", 1) for cut in cuts)


def has_share(manifest: dict[str, Any]) -> bool:
    """True where a pool, or what a tier makes of it, is a share of the total."""
    tiers = manifest.get("strain", {}).get("tiers", [])
    return any(isinstance(pool.get("max"), str) for one in (manifest, *tiers) for pool in one.get("pools", {}).values())


# contract 11.3
def test_needs_of_a_pool(proof: Proof) -> None:
    """A pool's cap larger by what its last notch needs does without it, one token less does not."""
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_pool_needs(loaded, tally, library)

    tally = proof.hold("needs of a pool", judge, draw_pooled, 1000)
    assert tally["cuts"] or tally["packs"] < 50


def judge_pool_needs(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    for name, pool in loaded.drawn.manifest["pools"].items():
        cuts = _list_cuts(loaded.compile(4000), f"pools.{name}") if isinstance(pool["max"], int) else None
        if not cuts:
            continue
        tally["cuts"] += 1
        wrong = _find_edge(partial(_cap, loaded, f"pools.{name}", library=library), cuts, f"pools.{name}")
        if wrong is not None:
            return f"{name}: {wrong}"
        more = pool["max"] + cuts[-1]["needs"]
        with_it, without = (_list_cuts(_cap(loaded, f"pools.{name}", one, library), f"pools.{name}") for one in (more - 1, more))
        if with_it is not None and _is_less(with_it, cuts):
            return f"the last cut of {name} needs {cuts[-1]['needs']}, but with a cap of {more - 1} it is not made"
        if without is not None and not _is_less(without, cuts):
            return f"the last cut of {name} needs {cuts[-1]['needs']}, but with a cap of {more} it is made"
    return None


# contract 11.3
def test_advice_is_true(proof: Proof) -> None:
    """What a ladder advises for its last notch spares it, and one token less does not; where it says "at least", only the latter."""
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_advice(loaded, tally, library)

    for draw in (draw_monotone, draw_pooled, draw_long):
        proof.hold("advice", judge, draw, 500)


_RAISE = re.compile(r"raise the budget to (at least )?(\d+)")


def judge_advice(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    rng = Random(repr(loaded.drawn.manifest))
    for total in (4000, rng.randint(20, 300), rng.randint(1, 150), rng.randint(1, 60)):
        outcome = loaded.compile(total)
        wrong = find_vain_advice(loaded, outcome, tally)
        if wrong is not None:
            return f"at {total} {wrong}"
        for ladder, run in iter_ladders(outcome) if outcome.emitted is not None else ():
            cap = None if ladder == "truncate" else _find_cap_of(loaded.drawn.manifest, ladder)
            if not run.applied or run.applied[-1].needs <= 0 or (cap is None and ladder != "truncate"):
                continue
            more, is_least = (
                outcome.fitted.count_more(ladder, run.applied[-1].needs),
                outcome.fitted.make_least_test(ladder)(run.applied[-1]),
            )
            tally["at least" if is_least else "exactly"] += 1
            renders = [
                loaded.compile(total + one) if cap is None else _raise(loaded, ladder, cap + one, library).compile(total)
                for one in (more - 1, more)
            ]
            less, enough = (_is_spared(one, run.applied[-1]) for one in renders)
            if less or not (enough or is_least):
                told = "at least " * is_least
                return f"{ladder} at {total} advises {told}{more} more: {'one less is enough' if less else 'that is too few'}"
    return None


def find_vain_advice(loaded: Loaded, outcome: Outcome, tally: Tally) -> str | None:
    """A budget that the help of an outcome names, and that is not enough or more than enough."""
    for found in outcome.fitted.errors if len(outcome.fitted.errors) == 1 else ():
        raised = _RAISE.match(found.help) if found.code == "PC0532" else None
        if raised is not None:
            tally["raised"] += 1
            fits = [loaded.compile(one).emitted is not None for one in (int(raised[2]) - 1, int(raised[2]))]
            if fits != [False, True] and not (raised[1] and not fits[0]):
                return f"the help says: {found.help}. One token less {'fits' if fits[0] else 'does not fit, nor does that'}"
    return None


def _is_spared(outcome: Outcome, cut: Applied) -> bool:
    """Whether the items of a cut are in a prompt as they were before that cut, or longer."""
    if outcome.emitted is None:
        return False
    left = {one.item.id: one for one in outcome.fitted.sections[cut.section].alive}
    wanted = [(one.id, one.before.chars) for one in cut.changes if one.before is not None]
    return all(id in left and len(left[id].text) >= chars for id, chars in wanted)


def _find_cap_of(manifest: dict[str, Any], ladder: str) -> int | None:
    """The number that the ladder of a section or a pool goes down to; None if it is not a number."""
    pool = manifest.get("pools", {}).get(ladder.removeprefix("pools."))
    if pool is not None:
        return pool["max"] if isinstance(pool["max"], int) else None
    return _find_cap(_name_sections(manifest)[ladder])


def _find_cap(section: dict[str, Any]) -> int | None:
    """The number a section is capped at, in tokens or characters."""
    budget = section.get("budget")
    if section.get("pinned") or budget is None or is_share(budget):
        return None
    return budget if isinstance(budget, int) else budget.get("tokens", budget.get("chars"))


def _cap(loaded: Loaded, ladder: str, cap: int, library: Library) -> Outcome:
    """The pack with another number as the cap of a section or a pool, rendered."""
    return _raise(loaded, ladder, cap, library).compile(4000)


def _raise(loaded: Loaded, ladder: str, cap: int, library: Library) -> Loaded:
    manifest = deepcopy(loaded.drawn.manifest)
    if ladder.startswith("pools."):
        manifest["pools"][ladder.removeprefix("pools.")]["max"] = cap
    else:
        section = _name_sections(manifest)[ladder]
        section["budget"] = {"chars": cap} if isinstance(section["budget"], dict) and "chars" in section["budget"] else cap
    return library.load(replace(loaded.drawn, manifest=manifest))


def _name_sections(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The sections by their ids, with the tools where these are items."""
    tools = manifest.get("tools")
    named = {"tools": tools} if isinstance(tools, dict) else {}
    return named | {section["id"]: section for section in manifest["sections"]}


def _list_cuts(outcome: Outcome, ladder: str) -> list[dict[str, Any]] | None:
    """The cuts of one ladder; None for a render that failed."""
    return [cut for cut in outcome.report["cuts"] if cut["ladder"] == ladder] if outcome.emitted is not None else None
