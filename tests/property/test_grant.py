"""Grants of shares: within what there is, fair, and never falling as there is more."""

from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from promptc.model.section import Ratio
from promptc.passes.fit.fit import Claim, count_shares
from tests.property.drawing.packs import Drawn
from tests.property.load_drawn import load_drawn
from tests.property.oracle.granting import share_out

_AMOUNTS = st.integers(0, 60)
_WEIGHTS = st.sampled_from([Ratio(1), Ratio(2), Ratio(3), Ratio(1, 2), Ratio(333, 1000), Ratio(3, 20)])


def _exact(ratio: Ratio) -> Fraction:
    return Fraction(ratio.numerator, ratio.denominator)


@st.composite
def claims(draw: st.DrawFn, letter: str) -> dict[str, Claim]:
    """Up to three claims, with ceilings that may lie under the floor, between tokens, or far up."""
    count = draw(st.integers(0, 3))
    return {
        f"{letter}{place}": Claim(draw(_AMOUNTS), Ratio(draw(st.integers(0, 900)), draw(st.sampled_from([1, 3, 7, 10]))), draw(_WEIGHTS))
        for place in range(count)
    }


@given(claims("p"), claims("g"), st.integers(-20, 300))
def test_shares_stay_within_the_room_and_their_ceilings(percents: dict[str, Claim], grows: dict[str, Claim], room: int) -> None:
    every = {**percents, **grows}
    shares = count_shares(percents, grows, room)
    assert shares.keys() == every.keys()
    assert sum(shares[name] - every[name].floor for name in every) <= max(0, room)
    assert all(every[name].floor <= shares[name] <= max(every[name].floor, every[name].ceiling) for name in every)


@given(claims("p"), claims("g"), st.integers(-20, 300))
def test_no_share_falls_as_the_room_grows(percents: dict[str, Claim], grows: dict[str, Claim], room: int) -> None:
    less, more = count_shares(percents, grows, room), count_shares(percents, grows, room + 1)
    assert all(less[name] <= more[name] for name in less)


# contract 5.5
@given(st.lists(st.tuples(_AMOUNTS, st.integers(1, 100), _AMOUNTS), min_size=1, max_size=3), claims("g"), st.integers(1, 400))
def test_no_share_falls_as_the_total_grows(parts: list[tuple[int, int, int]], grows: dict[str, Claim], total: int) -> None:
    """With percentages of the total as ceilings, of percent sections and of `grow` alike."""

    def share(total: int) -> dict[str, int]:
        percents = {
            f"p{place}": Claim(floor, min(Ratio(demand + 100), Ratio(part, 100) * total), Ratio(part, 100))
            for place, (floor, part, demand) in enumerate(parts)
        }
        capped = {name: Claim(one.floor, Ratio(parts[0][1], 100) * total, one.weight) for name, one in list(grows.items())[:2]}
        every = {**percents, **grows, **capped}
        return count_shares(percents, {**grows, **capped}, total - sum(one.floor for one in every.values()))

    less, more = share(total), share(total + 1)
    assert all(less[name] <= more[name] for name in less)


# contract 5.4 and 5.5
@given(claims("p"), claims("g"), st.integers(-20, 300))
def test_shares_are_those_of_the_definition(percents: dict[str, Claim], grows: dict[str, Claim], room: int) -> None:
    """Max-min fair filling, found by trying every way in which the claims can lie."""
    plain = [
        {name: (Fraction(one.floor), _exact(one.ceiling), _exact(one.weight)) for name, one in group.items()} for group in (percents, grows)
    ]
    assert count_shares(percents, grows, room) == share_out(plain[0], plain[1], Fraction(room))


@given(claims("g"), st.integers(0, 300))
def test_what_is_left_over_is_less_than_a_token_each(grows: dict[str, Claim], room: int) -> None:
    """The spare stays unused: rounding down loses less than a token a section, unless all have what they can take."""
    shares = count_shares({}, grows, room)
    spent = sum(shares[name] - grows[name].floor for name in grows)
    wanted = sum((max(Ratio(0), one.ceiling - one.floor) for one in grows.values()), Ratio(0))
    assert spent > min(room, wanted) - len(grows) if grows else spent == 0


# contract 5.44
@given(st.lists(st.tuples(_AMOUNTS, st.integers(1, 100), _AMOUNTS), min_size=1, max_size=3), st.integers(0, 60), st.integers(1, 400))
def test_what_percentages_do_not_claim_goes_on_to_grow(parts: list[tuple[int, int, int]], floor: int, total: int) -> None:
    """All of it, and to no other percentage: each of those stays within its part of the total."""
    percents = {
        f"p{place}": Claim(least, min(Ratio(least + demand), Ratio(part, 100) * total), Ratio(part, 100))
        for place, (least, part, demand) in enumerate(parts)
    }
    grows = {"rest": Claim(floor, Ratio(10_000), Ratio(1))}
    room = max(0, total - floor - sum(one.floor for one in percents.values()))
    shares = count_shares(percents, grows, room)
    taken = sum(shares[name] - one.floor for name, one in percents.items())
    assert all(shares[name] <= max(one.floor, one.ceiling) for name, one in percents.items())
    assert room - taken - len(percents) - 1 < shares["rest"] - floor <= room - taken


# contract 5.44
def test_what_a_notch_leaves_of_a_grant_may_not_be_handed_on(tmp_path: Path) -> None:
    """The counterexample: one item of 36 tokens has half of the total, and items of nine tokens share what it leaves. Handing on its free
    half, as soon as the item does not fit into that, would lose three of them where the total grows.
    """
    lists: dict[str, Any] = {"report": "50%", "notes": {"grow": 1}}
    sections = [
        {"id": name, "budget": budget, "items": {"from": f"state.{name}", "text": "{{ item }}"}, "overflow": [{"evict": {}}]}
        for name, budget in lists.items()
    ]
    manifest = {"promptc": 1, "name": "halves", "version": "1.0.0", "tokenizer": "chars/4", "budget": 400, "sections": sections}
    state = {"report": ["r" * 142], "notes": ["n" * 35] * 12}
    pack = load_drawn(Drawn({**manifest, "output": {"separator": ""}}, state), tmp_path)
    held = {}
    for total in range(60, 120):
        fitted = pack.compile(pack.load_state(state), budget=total).fitted
        charge = fitted.layout.meter.tokens(fitted.charges["report"])
        held[total] = len(fitted.sections["notes"].alive), (total - charge) // 9
    notes, handed = zip(*held.values(), strict=True)
    assert list(notes) == sorted(notes)
    assert list(handed) != sorted(handed)
    assert held[71][1] - held[72][1] == 3
