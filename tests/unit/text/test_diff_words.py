"""Word by word: both texts can be read off the runs, and a reader sees words, not letters."""

import time
from difflib import SequenceMatcher, unified_diff
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from promptc.text.diff import Stretch, TextRun, align, diff_lines, diff_words, list_near

_WORDS = st.lists(
    st.sampled_from(["the", "gate", "is", "shut", ".", " ", "\n", "\r\n", "  ", "é", "e\u0301", "\x85", "\u2028", "12"]), max_size=40
)
_TEXTS = _WORDS.map("".join) | st.text(max_size=40)


@given(_TEXTS, _TEXTS)
@example("", "")
@example("a\n", "a")
@example("gate \n", "gate\r\n\n")
def test_both_texts_are_in_the_runs(old: str, new: str) -> None:
    runs = diff_words(old, new)
    assert "".join(run.text for run in runs if run.kind != "come") == old
    assert "".join(run.text for run in runs if run.kind != "gone") == new
    assert all(run.text for run in runs)
    assert all(one.kind != other.kind for one, other in pairwise(runs))


@given(_TEXTS, _TEXTS)
def test_equal_texts_have_no_change(old: str, new: str) -> None:
    assert (old == new) == all(run.kind == "same" for run in diff_words(old, new))


def test_a_changed_word_is_a_word() -> None:
    assert diff_words("The Gilded Tavern burned in 1432.\n", "The Gilded Tavern burned in 1433.\n") == (
        TextRun("same", "The Gilded Tavern burned in "),
        TextRun("gone", "1432"),
        TextRun("come", "1433"),
        TextRun("same", ".\n"),
    )


def test_a_rewritten_clause_is_one_change() -> None:
    runs = diff_words("she owes a debt to them\n", "he pays a fine to us\n")
    assert [run.kind for run in runs] == ["gone", "come", "same"]


def test_a_line_that_goes_leaves_the_others_alone() -> None:
    assert diff_words("one\ntwo\nthree\n", "one\nthree\n") == (
        TextRun("same", "one\n"),
        TextRun("gone", "two\n"),
        TextRun("same", "three\n"),
    )


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12), st.sampled_from([0, 4, 1000]))
def test_stretches_cover_both_lists_in_turn(old: list[str], new: list[str], most: int) -> None:
    found = list(align(old, new, most))
    assert [one for part in found for one in old[part.start : part.stop]] == old
    assert [one for part in found for one in new[part.first : part.last]] == new
    assert all(not part.is_same or old[part.start : part.stop] == new[part.first : part.last] for part in found)
    assert all(one.is_same != other.is_same for one, other in pairwise(found))


def test_elements_of_one_hash_are_told_apart() -> None:
    assert hash((-1,)) == hash((-2,))
    assert not any(part.is_same for part in align(["a", (-1,), "b"], ["c", (-2,), "d"]))


def test_too_many_pairs_are_one_difference_between_the_common_ends() -> None:
    whole = [Stretch(True, 0, 1, 0, 1), Stretch(False, 1, 4, 1, 4), Stretch(True, 4, 5, 4, 5)]
    assert list(align("abcde", "axcye", 8)) == whole
    assert len(list(align("abcde", "axcye", 9))) == 5


def test_two_long_texts_without_a_common_line_are_one_change() -> None:
    """A table of all their words would have 5 GB."""
    old, new = " ".join(["a", "b"] * 100_000) + "\n", " ".join(["c", "b"] * 100_000) + "\n"
    assert [run.kind for run in diff_words(old, new)] == ["gone", "come", "same"]


_SOME_LINES = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(_SOME_LINES, st.data(), st.sampled_from([0, 1, 2]))
def test_lines_are_shown_as_difflib_shows_them(old: list[str], data: st.DataObject, context: int) -> None:
    """Where only one alignment is best, that is: lines are taken out, and others put in."""
    new = [one for line in old for one in data.draw(st.sampled_from([[line], [], [line, "+"], ["-"]]))]
    shown = list(diff_lines(old, new, context))
    assert _take_side(shown, "-") == [line for line in old if line in _take_side(shown, "-")]
    if [one.is_same for one in align(old, new)] == [tag == "equal" for tag, *_ in SequenceMatcher(None, old, new, False).get_opcodes()]:
        assert shown == list(unified_diff(old, new, n=context, lineterm=""))[2:]


def _take_side(shown: list[str], sign: str) -> list[str]:
    return [line[1:] for line in shown if line[0] in (" ", sign)]


def test_many_lines_of_which_each_is_there_often_are_compared_at_once() -> None:
    """difflib takes minutes."""
    old = ["a:  1", *(f"#{at % 104}" for at in range(100_000)), "b:  1"]
    new = ["a: 1", *old[1:-1], "b: 1"]
    begun = time.process_time()
    shown = list(diff_lines(old, new))
    assert time.process_time() - begun < 5 and [line for line in shown if line[0] == "+" and ":" in line] == ["+a: 1", "+b: 1"]


def test_near_names_stand_nearest_first_and_equals_by_code_point() -> None:
    known = ["npc.innkeeper", "npc.gleaner", "npc.inkeepers", "npc.warden", "npc.Inkeeper", "world.inkeeper"]
    assert list_near("npc.inkeeper", known, 9) == ["npc.Inkeeper", "npc.inkeepers", "npc.innkeeper"]
    assert list_near("npc.inkeeper", reversed(known), 2) == ["npc.Inkeeper", "npc.inkeepers"]
    assert list_near("dragon", known, 9) == [] and list_near("", ["a"], 9) == []


@given(st.text(max_size=12), st.lists(st.text(min_size=1, max_size=12), max_size=6))
def test_a_name_itself_is_the_nearest(name: str, others: list[str]) -> None:
    assert not name or list_near(name, [*others, name], 9)[0].casefold() == name.casefold()
