"""What a ladder's target is compared with. Each gives its exact value, and what a trim would make of it without carrying it out."""

from promptc.diag.typed import Protocol
from promptc.passes.act import EntryEdit
from promptc.passes.layout.section import SectionLayout
from promptc.passes.layout.tape import TokenLedger


class Measure(Protocol):
    """A count in units that notches bring down."""

    def count(self) -> int:
        """The count now."""

    def weigh(self, fit: SectionLayout, edit: EntryEdit) -> int | None:
        """The count if the edit's cut were made; None where only doing it tells."""

    def book(self, count: int, edit: EntryEdit | None) -> int:
        """What a report says of a `count`: the section's charge, or the whole's. `edit` is a cut that was weighed and not made."""


class ChargeMeasure:
    """A section's charge."""

    def __init__(self, fit: SectionLayout) -> None:
        self._fit = fit

    def count(self) -> int:
        """The charge in units."""
        return self._fit.count_charge()

    def weigh(self, fit: SectionLayout, edit: EntryEdit) -> int | None:
        """The charge with the cut made."""
        return fit.weigh_charge(edit)

    def book(self, count: int, edit: EntryEdit | None) -> int:
        """The charge itself."""
        return count


class CharsMeasure:
    """The characters of a section's content."""

    def __init__(self, fit: SectionLayout) -> None:
        self._fit = fit

    def count(self) -> int:
        """The characters."""
        return self._fit.count_chars()

    def weigh(self, fit: SectionLayout, edit: EntryEdit) -> int | None:
        """The characters with the cut made."""
        if edit.cut is None or fit.weigh_charge(edit) is None:
            return None
        return fit.count_chars() - len(edit.entry.text) + edit.cut.chars

    def book(self, count: int, edit: EntryEdit | None) -> int:
        """The charge: a cap in characters is one of the content, but its cuts are told in what the section adds."""
        weighed = self._fit.weigh_charge(edit) if edit is not None else None
        return self._fit.count_charge() if weighed is None else weighed


class WholeMeasure:
    """The whole output, with the units that belong to no section."""

    def __init__(self, tape: TokenLedger, fixed: int) -> None:
        self._tape = tape
        self._fixed = fixed

    def count(self) -> int:
        """The output's units."""
        return self._tape.units + self._fixed

    def weigh(self, fit: SectionLayout, edit: EntryEdit) -> int | None:
        """The output's units with the cut made."""
        units = fit.weigh(edit, self._tape)
        return units + self._fixed if units is not None else None

    def book(self, count: int, edit: EntryEdit | None) -> int:
        """The whole itself."""
        return count
