"""Shares, found by trying every way in which the claims can lie: at the floor, between, at the top."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

Claim = tuple[Fraction, Fraction, Fraction]
"""Floor, top, weight."""


# contract 5.4 and 5.5
def share_out(percents: Mapping[str, Claim], grows: Mapping[str, Claim], room: Fraction) -> dict[str, int]:
    """Tokens for each claim: `room` above the floors, percentages first."""
    room = max(room, Fraction(0))
    first = _fill(percents, room)
    left = room - sum((first[name] - percents[name][0] for name in first), Fraction(0))
    return {name: int(share) for name, share in {**first, **_fill(grows, left)}.items()}


def _fill(claims: Mapping[str, Claim], room: Fraction) -> dict[str, Fraction]:
    """Max-min fair: everyone has weight x level, or its floor where that is more, or its top where that is less."""
    names = list(claims)
    tops = {name: max(floor, top) for name, (floor, top, _) in claims.items()}
    if sum((tops[name] - claims[name][0] for name in names), Fraction(0)) <= room:
        return tops
    if room == 0:
        return {name: claims[name][0] for name in names}
    for kinds in product(("floor", "between", "top"), repeat=len(names)):
        level = _find_level(claims, tops, dict(zip(names, kinds, strict=True)), room)
        if level is not None:
            return {name: min(max(claims[name][0], claims[name][2] * level), tops[name]) for name in names}
    raise AssertionError("no level fills the room")


def _find_level(claims: Mapping[str, Claim], tops: Mapping[str, Fraction], kinds: Mapping[str, str], room: Fraction) -> Fraction | None:
    between = [name for name, kind in kinds.items() if kind == "between"]
    if not between:
        return None  # the level of a room that is filled to the edge is also one at which somebody just begins or ends to rise
    spent = sum((tops[name] - claims[name][0] for name, kind in kinds.items() if kind == "top"), Fraction(0))
    level = (room - spent + sum(claims[name][0] for name in between)) / sum(claims[name][2] for name in between)
    for name, kind in kinds.items():
        floor, _, weight = claims[name]
        wanted = weight * level
        fits = {"floor": wanted <= floor, "between": floor <= wanted <= tops[name], "top": wanted >= tops[name]}
        if not fits[kind]:
            return None
    return level
