"""Grants: what each section's budget gives it in this render (contract.md §5), by shares that are monotone in the total.

Fixed content is taken from the total first; the rest goes to percentages, then to `grow`, max-min fair, in exact fractions that are
rounded down at the end. (Largest remainder would let a grant fall as the total grows.)
"""

from collections.abc import Mapping
from fractions import Fraction

from promptc.diag.frozen import frozen
from promptc.model.section import Ratio


@frozen
class Claim:
    """A share section's claim in tokens: its floor, its ceiling and its weight."""

    floor: int
    ceiling: Fraction
    weight: Fraction


Share = tuple[int, Ratio, Ratio]
"""A claim as it comes from the pack: floor, ceiling, weight."""


def make_claims(shares: Mapping[str, Share]) -> dict[str, Claim]:
    """Make claims of shares as the pack states them."""
    return {
        name: Claim(floor, Fraction(ceiling.numerator, ceiling.denominator), Fraction(weight.numerator, weight.denominator))
        for name, (floor, ceiling, weight) in shares.items()
    }


def count_shares(percents: Mapping[str, Claim], grows: Mapping[str, Claim], room: int) -> dict[str, int]:
    """Tokens granted to each share section out of `room` tokens above the floors: percentages first, `grow` from what they leave.

    Each grant lies between its floor and its ceiling (a floor above its ceiling stands) and never falls when `room` rises by itself.
    """
    left = Fraction(max(0, room))
    given = _fill(percents, left)
    left -= sum((share - percents[name].floor for name, share in given.items()), Fraction(0))
    given |= _fill(grows, left)
    return {name: int(share) for name, share in given.items()}


def _fill(claims: Mapping[str, Claim], room: Fraction) -> dict[str, Fraction]:
    """Max-min fair filling: the highest level at which what stands above the floors sums to at most `room`."""
    rising = [claim for claim in claims.values() if claim.weight]  # 0 % is a share that stays at its floor
    if room <= 0 or not rising:
        return {name: Fraction(claim.floor) for name, claim in claims.items()}
    level = _find_level(rising, room)
    return {name: _share(claim, level) if claim.weight else Fraction(claim.floor) for name, claim in claims.items()}


def _share(claim: Claim, level: Fraction | None) -> Fraction:
    top = max(Fraction(claim.floor), claim.ceiling)
    return top if level is None else min(max(Fraction(claim.floor), claim.weight * level), top)


def _find_level(claims: list[Claim], room: Fraction) -> Fraction | None:
    """The level on the breakpoints floor/weight and ceiling/weight (linear between); None when every claim can have its ceiling."""
    points = sorted(
        {Fraction(claim.floor) / claim.weight for claim in claims}
        | {max(claim.ceiling, Fraction(claim.floor)) / claim.weight for claim in claims}
    )
    low, spent = Fraction(0), Fraction(0)
    for point in points:
        wanted = sum((_share(claim, point) - claim.floor for claim in claims), Fraction(0))
        if wanted > room:
            slope = sum((claim.weight for claim in claims if _rises(claim, low, point)), Fraction(0))
            return low + (room - spent) / slope
        low, spent = point, wanted
    return None


def _rises(claim: Claim, low: Fraction, high: Fraction) -> bool:
    return _share(claim, high) > _share(claim, low)
