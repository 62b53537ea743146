"""Reach: a list that is read only as far as the budget can hold gives the prompt of the whole list."""

from copy import deepcopy
from dataclasses import replace
from random import Random

from tests.property.drawing.draws import draw_long
from tests.property.load_drawn import Library, Loaded
from tests.property.proof import Proof, Tally

_MANY = 1_000_000


# contract 5.35 and 5.36
def test_no_prompt_changes_by_reach(proof: Proof) -> None:
    library = proof.library

    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_reach(loaded, tally, library)

    tally = proof.hold("reach", judge, draw_long, 1000)
    assert tally["partly read"] > tally["packs"] // 4


def judge_reach(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    """A limit of a million leaves everything as it is, but makes that every list is read whole."""
    manifest = deepcopy(loaded.drawn.manifest)
    for section in manifest["sections"]:
        if "items" in section:
            section["items"].setdefault("limit", _MANY)
    whole = library.load(replace(loaded.drawn, manifest=manifest))
    rng = Random(repr(loaded.drawn.manifest))
    for total in sorted({rng.randint(1, 60), rng.randint(5, 150), rng.randint(1, 20)}):
        reached, read = loaded.compile(total), whole.compile(total)
        tally["renders"] += 1
        tally["partly read"] += any(one.is_partial for one in reached.fitted.strained.selection.sections)
        texts = [[part.text for part in one.emitted.parts] if one.emitted is not None else None for one in (reached, read)]
        if texts[0] != texts[1]:
            return f"at {total} {texts[0]} is emitted; of the list read whole {texts[1]}"
        if reached.report["flags"] != read.report["flags"] or reached.report["strain"] != read.report["strain"]:
            return f"at {total} the strain differs"
    return None
