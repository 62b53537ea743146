"""Holds a property against many drawn packs, and shows the smallest that breaks it."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from promptc.diag.findings import PromptcError
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import Library, Loaded
from tests.property.shrink import shrink

Tally = Counter[str]
Judge = Callable[[Loaded, Tally], str | None]
"""Says what is wrong with a pack, and counts what it looked at."""
Draw = Callable[[Random], Drawn]


_EACH = 1000


def count_packs(proof: "Proof", part: int) -> int:
    """Packs of a property that is held for each kind of counter: 1 000 to prove; in a quick run such a part of what others have."""
    return _EACH if proof.share(_EACH) == _EACH else _EACH // part


class BrokenPropertyError(AssertionError):
    """A property does not hold."""


@dataclass
class Proof:
    """Runs properties. `share` tells how many of a property's packs this run draws."""

    library: Library
    seed: int
    share: Callable[[int], int]
    figures: dict[str, Tally] = field(default_factory=dict)

    def hold(self, name: str, judge: Judge, draw: Draw, packs: int) -> Tally:
        """Judges `packs` packs (a twentieth of them in a quick run). Raises for the first that breaks the property, made small."""
        tally = self.figures.setdefault(name, Counter())
        for index in range(self.share(packs)):
            seed = f"{self.seed}/{index}"
            try:
                loaded = self.library.draw(draw, seed)
                tally["packs"] += 1
                wrong = judge(loaded, tally)
            except Exception as error:
                error.add_note(f"{name}: pack {seed} of {draw.__name__}\n{self._describe(self._shrink_raising(judge, draw, seed, error))}")
                raise
            if wrong is not None:
                tally["violations"] += 1
                smaller = shrink(loaded.drawn, lambda drawn: self._find_wrong(judge, drawn) is not None)
                told = self._find_wrong(judge, smaller)
                raise BrokenPropertyError(f"{name}: pack {seed} of {draw.__name__}: {wrong}\nsmaller: {told}\n{self._describe(smaller)}")
        return tally

    def _find_wrong(self, judge: Judge, drawn: Drawn) -> str | None:
        try:
            return judge(self.library.load(drawn), Counter())
        except Exception:  # noqa: BLE001 - a smaller pack may break for another reason, such as not to load
            return None

    def _shrink_raising(self, judge: Judge, draw: Draw, seed: str, error: Exception) -> Drawn:
        def raises(drawn: Drawn) -> bool:
            try:
                judge(self.library.load(drawn), Counter())
            except PromptcError as other:
                return isinstance(error, PromptcError) and other.diagnostics[0].code == error.diagnostics[0].code
            except Exception as other:  # noqa: BLE001 - any error of the kind that was met
                return type(other) is type(error)
            return False

        return shrink(draw(Random(seed)), raises)

    def _describe(self, drawn: Drawn) -> str:
        return f"pack:  {json.dumps(drawn.manifest, ensure_ascii=False)}\nstate: {json.dumps(drawn.state, ensure_ascii=False)}"
