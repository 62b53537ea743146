"""Required: what says `required: true` is in the prompt, or there is no prompt."""

from dataclasses import replace
from random import Random

from tests.property.drawing.draws import draw_monotone
from tests.property.load_drawn import Library, Loaded
from tests.property.proof import Proof, Tally
from tests.property.test_monotone import find_natural
from tests.property.test_tight import find_vain_advice


# contract 5.33
def test_a_required_section_is_in_the_prompt_or_there_is_none(proof: Proof) -> None:
    def judge(loaded: Loaded, tally: Tally) -> str | None:
        return judge_required(loaded, tally, proof.library)

    tally = proof.hold("required", judge, draw_monotone, 600)
    assert tally["refused"] and tally["prompts"]


def judge_required(loaded: Loaded, tally: Tally, library: Library) -> str | None:
    """At some totals: the same prompt as without `required`, where it holds every section that says so."""
    rng = Random(repr(loaded.drawn.state))
    whole = loaded.compile(4000)
    names = sorted(name for name in whole.fitted.sections if name != "tools")
    if not names:
        return None
    required = rng.sample(names, rng.randint(1, len(names)))
    sections = [one | ({"required": True} if one["id"] in required else {}) for one in loaded.drawn.manifest["sections"]]
    strict = library.load(replace(loaded.drawn, manifest={**loaded.drawn.manifest, "sections": sections}))
    for total in sorted(rng.sample(range(1, find_natural(whole) + 9), 8)):
        plain, found = loaded.compile(total), strict.compile(total)
        vain = find_vain_advice(strict, found, tally)
        if vain is not None:
            return f"at {total} {vain}"
        lost = [name for name in required if plain.emitted is not None and plain.fitted.sections[name].is_empty]
        if lost:
            tally["refused"] += 1
            told = [(one.code, one.message.split("`")[1]) for one in found.errors]
            if found.emitted is not None or told != [("PC0518", name) for name in plain.fitted.sections if name in lost]:
                return f"at {total} nothing is left of {lost}, and {told} is told"
        elif (plain.emitted is None) != (found.emitted is None):
            return f"at {total} every required section is there, and there is no prompt: {found.errors}"
        elif plain.emitted is not None and found.emitted is not None:
            tally["prompts"] += 1
            if plain.emitted.text != found.emitted.text:
                return f"at {total} `required` changes the prompt"
    return None
