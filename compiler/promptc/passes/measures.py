"""What a ladder's target is compared with. Each gives its exact value, and what a trim would make of it without carrying it out."""

from collections.abc import Mapping
from typing import Protocol

from promptc.passes.section_fit import Edit, SectionFit
from promptc.passes.tape import Tape


class Measure(Protocol):
    """A count in units that notches bring down."""

    def count(self) -> int:
        """The count now."""

    def weigh(self, fit: SectionFit, edit: Edit) -> int | None:
        """The count if the edit's cut were made; None where only doing it tells."""


class ChargeMeasure:
    """A section's charge."""

    def __init__(self, fit: SectionFit) -> None:
        self._fit = fit

    def count(self) -> int:
        """The charge in units."""
        return self._fit.count_charge()

    def weigh(self, fit: SectionFit, edit: Edit) -> int | None:
        """The charge with the cut made."""
        return fit.weigh_charge(edit)


class CharsMeasure:
    """The characters of a section's content."""

    def __init__(self, fit: SectionFit) -> None:
        self._fit = fit

    def count(self) -> int:
        """The characters."""
        return self._fit.count_chars()

    def weigh(self, fit: SectionFit, edit: Edit) -> int | None:
        """The characters with the cut made."""
        return fit.count_chars() - len(edit.entry.text) + edit.cut.chars if edit.cut is not None else None


class SumMeasure:
    """The sum of all charges."""

    def __init__(self, fits: Mapping[str, SectionFit]) -> None:
        self._fits = fits

    def count(self) -> int:
        """The sum in units."""
        return sum(fit.count_charge() for fit in self._fits.values())

    def weigh(self, fit: SectionFit, edit: Edit) -> int | None:
        """The sum with the cut made."""
        charge = fit.weigh_charge(edit)
        return self.count() - fit.count_charge() + charge if charge is not None else None


class WholeMeasure:
    """The whole output, with the units that belong to no section."""

    def __init__(self, tape: Tape, fixed: int) -> None:
        self._tape = tape
        self._fixed = fixed

    def count(self) -> int:
        """The output's units."""
        return self._tape.units + self._fixed

    def weigh(self, fit: SectionFit, edit: Edit) -> int | None:
        """The output's units with the cut made."""
        units = fit.weigh(edit, self._tape)
        return units + self._fixed if units is not None else None
