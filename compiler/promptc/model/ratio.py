"""Exact ratios: shares and thresholds as an author wrote them.

Not `fractions.Fraction`, which brings `decimal` with it and costs a warm render a twentieth of its time. Where ratios are added and
divided (`passes.grant`) they are made into fractions.
"""

from __future__ import annotations

from math import gcd, isfinite


class Ratio:
    """A rational number in lowest terms, its denominator at least 1. Compares exactly with numbers of any kind; times an integer it is
    exact, too.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: int, denominator: int = 1) -> None:
        """Raises ZeroDivisionError for a denominator of 0."""
        if denominator == 0:
            raise ZeroDivisionError(f"Ratio({numerator}, 0)")
        shared = gcd(numerator, denominator) * (1 if denominator > 0 else -1)
        self.numerator = numerator // shared
        self.denominator = denominator // shared

    def __mul__(self, factor: int) -> Ratio:
        return Ratio(self.numerator * factor, self.denominator)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return self._compare(other) == 0 if isinstance(other, (Ratio, int, float)) else NotImplemented

    def __lt__(self, other: Ratio | float) -> bool:
        return self._compare(other) < 0

    def __le__(self, other: Ratio | float) -> bool:
        return self._compare(other) <= 0

    def __gt__(self, other: Ratio | float) -> bool:
        return self._compare(other) > 0

    def __ge__(self, other: Ratio | float) -> bool:
        return self._compare(other) >= 0

    def __hash__(self) -> int:
        return hash(self.numerator) if self.denominator == 1 else hash((self.numerator, self.denominator))

    def __bool__(self) -> bool:
        return self.numerator != 0

    def __int__(self) -> int:
        """Rounded towards zero."""
        whole = abs(self.numerator) // self.denominator
        return whole if self.numerator >= 0 else -whole

    def __float__(self) -> float:
        return self.numerator / self.denominator

    def __repr__(self) -> str:
        return f"Ratio({self.numerator}, {self.denominator})"

    def __reduce__(self) -> tuple[type[Ratio], tuple[int, int]]:
        return Ratio, (self.numerator, self.denominator)

    def _compare(self, other: Ratio | float) -> float:
        """Less than, equal to or more than 0 as this is less than, equal to or more than the other; nan for nan."""
        if isinstance(other, Ratio):
            return self.numerator * other.denominator - other.numerator * self.denominator
        if isinstance(other, int):
            return self.numerator - other * self.denominator
        return self._compare(Ratio(*other.as_integer_ratio())) if isfinite(other) else -other
