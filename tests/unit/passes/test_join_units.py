"""Tool uses and results: a half whose other half was left out goes, and whatever loses its own half by that."""

from promptc.model.stages import Item
from promptc.passes.items.arrange import join_units


def _item(place: int, *, uses: tuple[str, ...] = (), results: tuple[str, ...] = ()) -> Item:
    parts = [{"type": "tool_use", "id": name} for name in uses] + [{"type": "tool_result", "tool_use_id": name} for name in results]
    return Item(str(place), place, None, "x", "x", unit=place, content=tuple(parts) or None)


def _chain(length: int) -> list[Item]:
    return [_item(place, uses=(f"t{place + 1}",), results=(f"t{place}",)) for place in range(length)]


def test_a_chain_without_its_beginning_goes_whole_however_long_it_is() -> None:
    items = _chain(20_000)
    assert join_units(items[1:], lambda: items, is_whole=True) == []


def test_a_chain_from_its_first_use_is_one_unit() -> None:
    items = [_item(-1, uses=("t0",)), *_chain(20_000)]
    assert {item.unit for item in join_units(items, lambda: items, is_whole=True)} == {-1}


# contract 8.5
def test_a_use_that_has_no_result_anywhere_stays() -> None:
    items = [_item(0), _item(1, uses=("a",))]
    assert [item.id for item in join_units(items, lambda: items, is_whole=True)] == ["0", "1"]


# contract 8.5
def test_a_use_goes_whose_result_was_left_out() -> None:
    items = [_item(0), _item(1, uses=("a",)), _item(2, results=("a",))]
    assert [item.id for item in join_units(items[:2], lambda: items, is_whole=True)] == ["0"]


# contract 8.5
def test_a_result_that_has_no_use_anywhere_stays_where_all_was_looked_at() -> None:
    items = [_item(0, uses=("a",)), _item(1, results=("a", "lost")), _item(2, results=("lost",))]
    assert [item.id for item in join_units(items, lambda: items, is_whole=True)] == ["0", "1", "2"]
    assert join_units(items, lambda: items, is_whole=False) == []


def test_units_that_meet_late_are_the_first_ones() -> None:
    items = [_item(0, uses=("a",)), _item(1, uses=("b",)), _item(2, results=("b", "a")), _item(3)]
    assert [item.unit for item in join_units(items, lambda: items, is_whole=True)] == [0, 0, 0, 3]


def _pairs(names: list[str]) -> list[Item]:
    """A use and its result for each."""
    return [_item(2 * at + half, **{("uses", "results")[half]: (name,)}) for at, name in enumerate(names) for half in (0, 1)]


# contract 8.5
def test_an_id_that_begins_anew_is_another_call() -> None:
    items = _pairs(["a", "b", "a", "a"])
    assert [item.unit for item in join_units(items, lambda: items, is_whole=True)] == [0, 0, 2, 2, 4, 4, 6, 6]


def test_of_an_id_that_begins_anew_each_half_needs_its_own() -> None:
    items = _pairs(["a"] * 4)
    assert [item.id for item in join_units(items[5:], lambda: items, is_whole=True)] == ["6", "7"]
    assert [item.id for item in join_units(items[3:], lambda: items, is_whole=True)] == ["4", "5", "6", "7"]
    some = [items[0], items[1], items[2], items[6], items[7]]
    assert [item.id for item in join_units(some, lambda: items, is_whole=True)] == [
        "0",
        "1",
        "6",
        "7",
    ]
    assert [item.id for item in join_units(items[:3], lambda: items, is_whole=True)] == ["0", "1"]


def test_a_turn_in_progress_stays_though_its_id_was_answered_before() -> None:
    items = _pairs(["a", "a"])[:3]
    assert [item.id for item in join_units(items, lambda: items, is_whole=True)] == ["0", "1", "2"]
    assert [item.id for item in join_units(items[1:], lambda: items, is_whole=True)] == ["2"]


def test_an_id_of_one_use_is_one_call_in_whatever_order() -> None:
    items = [_item(0, results=("a",)), _item(1), _item(2, uses=("a",))]
    assert [item.unit for item in join_units(items, lambda: items, is_whole=True)] == [0, 1, 0]
    assert [item.id for item in join_units(items[:2], lambda: items, is_whole=True)] == ["1"]


def test_two_uses_of_an_id_before_its_result_are_one_call() -> None:
    items = [_item(0, uses=("a",)), _item(1, uses=("a",)), _item(2, results=("a",)), _item(3, results=("a",))]
    assert [item.unit for item in join_units(items, lambda: items, is_whole=True)] == [0, 0, 0, 0]


def test_a_result_whose_use_nobody_looked_at_is_not_of_the_next_one() -> None:
    """A window ends the list in front of it."""
    items = _pairs(["a"] * 3)[3:]
    assert [item.id for item in join_units(items, lambda: items, is_whole=True)] == ["4", "5"]
