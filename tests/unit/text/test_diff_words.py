"""Word by word: both texts can be read off the runs, and a reader sees words, not letters."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from promptc.text.diff import Stretch, TextRun, align, diff_words, list_near

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


def test_too_many_pairs_are_one_difference_between_the_common_ends() -> None:
    whole = [Stretch(True, 0, 1, 0, 1), Stretch(False, 1, 4, 1, 4), Stretch(True, 4, 5, 4, 5)]
    assert list(align("abcde", "axcye", 8)) == whole
    assert len(list(align("abcde", "axcye", 9))) == 5


def test_two_long_texts_without_a_common_line_are_one_change() -> None:
    """A table of all their words would have 5 GB."""
    old, new = " ".join(["a", "b"] * 100_000) + "\n", " ".join(["c", "b"] * 100_000) + "\n"
    assert [run.kind for run in diff_words(old, new)] == ["gone", "come", "same"]


def test_near_names_stand_nearest_first_and_equals_by_code_point() -> None:
    known = ["npc.innkeeper", "npc.gleaner", "npc.inkeepers", "npc.warden", "npc.Inkeeper", "world.inkeeper"]
    assert list_near("npc.inkeeper", known, 9) == ["npc.Inkeeper", "npc.inkeepers", "npc.innkeeper"]
    assert list_near("npc.inkeeper", reversed(known), 2) == ["npc.Inkeeper", "npc.inkeepers"]
    assert list_near("dragon", known, 9) == [] and list_near("", ["a"], 9) == []


@given(st.text(max_size=12), st.lists(st.text(min_size=1, max_size=12), max_size=6))
def test_a_name_itself_is_the_nearest(name: str, others: list[str]) -> None:
    assert not name or list_near(name, [*others, name], 9)[0].casefold() == name.casefold()
