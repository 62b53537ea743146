"""What a watched section does to the tier is told truly: the tier with it is the render's, that without it is of a render without it."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases.case import FIXTURES
from tests.packs import load_pack
from tests.property.drawing.draws import draw_any
from tests.property.load_drawn import Library, Loaded
from tests.property.proof import Proof, Tally
from tests.size import count_examples

SENTINEL = "packs/sentinel"
LOADED = json.loads((FIXTURES / "sentinel" / "base" / "loaded.json").read_text(encoding="utf-8"))
WATCHED = 1000
"""The cap of the injected results."""


# contract 7.4 and 7.5
def test_the_tier_without_it_is_that_of_a_render_without_it(proof: Proof) -> None:
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_watched(loaded, tally, library)

    proof.hold("watched", judge, draw_any, 2000)


def judge_watched(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    manifest = loaded.drawn.manifest
    watched = list(manifest.get("strain", {}).get("watch", {}))
    if not watched:
        return None
    names = [tier["name"] for tier in manifest["strain"]["tiers"]]
    outcome = loaded.compile(4000)
    for name in watched:
        sections = [one | {"when": False} if one["id"] == name else one for one in manifest["sections"]]
        changed = {"tools": manifest["tools"] | {"when": False}} if name == "tools" else {"sections": sections}
        other = library.load(replace(loaded.drawn, manifest=manifest | changed)).compile(4000)
        if _list_demands(outcome, manifest) != _list_demands(other, manifest):
            continue  # another section reads this one, so that its demand is another
        tally["compared"] += 1
        tiers = [names[one.fitted.strained.tier] for one in (other, outcome)]
        tally["raised"] += tiers[0] != tiers[1]
        told = outcome.fitted.strained.raises.get(name)
        if (list(told) if told else [tiers[1]] * 2) != tiers:
            return f"`{name}` is said to raise the tier as {told}, and renders without it and with it are in {tiers}"
    return None


def _list_demands(outcome: Any, manifest: dict[str, Any]) -> list[int]:
    """What the counted sections add to the pressure: measured under the first tier, it is the pressure less what is watched."""
    asked = {one["id"]: one.get("demand", one.get("demand_at_least")) for one in outcome.report["sections"]}
    return [asked[name] for name in manifest["strain"]["count"]]


# --- sentinel ---

notes = st.lists(st.integers(1, 160), max_size=9)


@st.composite
def loads(draw: st.DrawFn) -> dict[str, Any]:
    """A campaign of some pressure: parts of one that is in strain III."""
    digest = {name: entries[: draw(st.integers(0, len(entries)))] for name, entries in LOADED["digest"].items()}
    state = LOADED | {"digest": digest, "strain": draw(st.sampled_from(["normal", "strain_1", "strain_2", "strain_3"]))}
    return state | {name: LOADED[name][draw(st.integers(0, len(LOADED[name]))) :] for name in ("npcs", "factions", "threads", "transcript")}


@pytest.mark.dear
def test_sentinel_tells_the_tier_after_injecting() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=count_examples(400), deadline=None, suppress_health_check=list(HealthCheck))
    @given(loads(), notes)
    def hold(state: dict[str, Any], lengths: list[int]) -> None:
        results = [{"id": f"s{at}", "source": "search", "text": "It is written so. " * size} for at, size in enumerate(lengths)]
        before, after = (load_pack(SENTINEL).render(state | {"injected": some}) for some in ([], results))
        tiers = [one.report["strain"] for one in (before, after)]
        (spent, allowed), (more, same) = (one.report["pressure"]["before"] for one in (before, after))
        demand = next(one["demand"] for one in after.report["sections"] if one["id"] == "injected")
        assert (more - spent, same) == (min(demand, WATCHED), allowed)
        assert "would_raise" not in before.report["flags"]
        raised = after.report["flags"].get("would_raise", {"injected": tiers})["injected"]
        assert raised == tiers
        told = [one.message for one in after.warnings if one.code == "PC0522"]
        assert len(told) == (tiers[0] != tiers[1])
        assert all(f"from {tiers[0]} to {tiers[1]}" in one and "/checkpoint" in one for one in told)
        seen[" → ".join(tiers) if told else "none"] += 1

    hold()
    assert seen["none"] and len(seen) > 2, seen
