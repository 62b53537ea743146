"""Tool uses and results: a half whose other half was left out goes, and whatever loses its own half by that."""

from promptc.model.stages import Item
from promptc.passes.join_units import join_units


def _item(place: int, *, uses: tuple[str, ...] = (), results: tuple[str, ...] = ()) -> Item:
    parts = [{"type": "tool_use", "id": name} for name in uses] + [{"type": "tool_result", "tool_use_id": name} for name in results]
    return Item(str(place), place, None, "x", "x", unit=place, content=tuple(parts) or None)


def _chain(length: int) -> list[Item]:
    return [_item(place, uses=(f"t{place + 1}",), results=(f"t{place}",)) for place in range(length)]


def test_a_chain_without_its_beginning_goes_whole_however_long_it_is() -> None:
    items = _chain(20_000)
    assert join_units(items[1:], lambda: items) == []


def test_a_chain_from_its_first_use_is_one_unit() -> None:
    items = [_item(-1, uses=("t0",)), *_chain(20_000)]
    assert {item.unit for item in join_units(items, lambda: items)} == {-1}


def test_a_use_that_has_no_result_anywhere_stays() -> None:
    items = [_item(0), _item(1, uses=("a",))]
    assert [item.id for item in join_units(items, lambda: items)] == ["0", "1"]


def test_a_use_goes_whose_result_was_left_out() -> None:
    items = [_item(0), _item(1, uses=("a",)), _item(2, results=("a",))]
    assert [item.id for item in join_units(items[:2], lambda: items)] == ["0"]


def test_units_that_meet_late_are_the_first_ones() -> None:
    items = [_item(0, uses=("a",)), _item(1, uses=("b",)), _item(2, results=("b", "a")), _item(3)]
    assert [item.unit for item in join_units(items, lambda: items)] == [0, 0, 0, 3]
