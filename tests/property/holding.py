"""What a render holds, so that two renders can be compared: items by place, in which form and how much of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from promptc.pipeline import Outcome

Key = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Holding:
    """`items`: (section, place in the source, id) of everything emitted that stands in the state, with its form and how many characters a
    trim left of it (None: all)."""

    items: Mapping[Key, tuple[int, int | None]]

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


def find_holding(outcome: Outcome) -> Holding | None:
    """What an outcome emitted; None where it failed. What a step made of other items (a recap) is no content of the state."""
    if outcome.emitted is None:
        return None
    items = {}
    for name, fit in outcome.fitted.sections.items():
        for entry in fit.alive:
            if not entry.is_made:
                # an id may get a `#2` from an older item of the same name that a larger budget brings back
                items[name, entry.item.unit, entry.item.id.split("#")[0]] = (entry.form, entry.kept)
    return Holding(items)
