"""What a render holds, so that two renders can be compared: items by place, in which form and how much of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from promptc.pipeline import Outcome

Key = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Holding:
    """`items`: (section, place in the source, id) of everything emitted that stands in the state, with its form and how many characters a
    trim left of it (None: all). `texts` are the texts of those that were trimmed, as they are emitted."""

    items: Mapping[Key, tuple[int, int | None]]
    texts: Mapping[Key, str]

    def find_losses(self, larger: "Holding") -> list[str]:
        """One line for everything that `larger` holds less of than this."""
        losses = []
        for key, (form, kept) in self.items.items():
            other = larger.items.get(key)
            if other is None:
                losses.append(f"{key} is gone")
            elif other[0] > form:
                losses.append(f"{key} is in form {other[0]}, not {form}")
            elif other[0] == form and other[1] is not None and (kept is None or other[1] < kept):
                losses.append(f"{key} has {other[1]} characters, not {kept}")
        return losses

    def find_swaps(self, larger: "Holding", markers: Sequence[str]) -> list[str]:
        """One line for every trimmed text that has characters which a longer cut of it in `larger` does not have, or not in this order."""
        swaps = []
        for key, text in self.texts.items():
            if key in larger.texts and self.items[key][0] == larger.items[key][0]:
                own, other = (_strip(one, markers) for one in (text, larger.texts[key]))
                left = iter(other)
                if not all(one in left for one in own):
                    swaps.append(f"{key} is {other!r}, which {own!r} is no part of")
        return swaps


def _strip(text: str, markers: Sequence[str]) -> str:
    """The characters of the item: without a marker, the backslashes of the guard, and white space."""
    for marker in sorted(markers, key=len, reverse=True):
        text = text.replace(marker.strip(), "") if marker.strip() else text
    return "".join(text.replace("\\", "").split())


def find_holding(outcome: Outcome) -> Holding | None:
    """What an outcome emitted; None where it failed. What a step made of other items (a recap) is no content of the state."""
    if outcome.emitted is None:
        return None
    items, texts = {}, {}
    for name, fit in outcome.fitted.sections.items():
        for entry in fit.alive:
            if not entry.is_made:
                # an id may get a `#2` from an older item of the same name that a larger budget brings back
                key = (name, entry.item.unit, entry.item.id.split("#")[0])
                items[key] = (entry.form, entry.kept)
                if entry.kept is not None:
                    texts[key] = entry.text
    return Holding(items, texts)
