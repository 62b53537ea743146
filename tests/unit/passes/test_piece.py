"""Pieces keep together what made them: when they are sliced, and when the guard escapes what they say."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from promptc.diag.findings import Span
from promptc.explain.output import TracedText, guard_pieces, join_pieces, make_pieces, slice_pieces
from promptc.template.place import OutputSpan, Place
from promptc.text.guard import Guard
from tests.property.drawing.words import draw_hostile_text

TAG, SELECTOR, FLAG = "\U000e0041", "\U000e0148", "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"
PLACE = Place(Span("f.j2", 1, 1), inline=False)
GUARDS = [
    Guard(["<a>", "</a>", "=== END ==="], invisible_policy=policy, guards_ends=ends)
    for policy in ("keep", "escape", "replace_hidden")
    for ends in (False, True)
]  # fmt: skip
ESCAPED = ["<a>", "\n", "\\", "<|", "x|>", "<|im|>", "\u200b", "u{200b}", "\\u{", "word", " ", "=== END ===", "\x1b", "é"]
BITS = st.lists(st.sampled_from([*ESCAPED, "\ufffd", TAG, SELECTOR, "字", FLAG, "\ufe00", "\ufe07", "\ufe0f", "\U000e0100"]))


def _pieces(texts):
    return make_pieces(OutputSpan(text, PLACE, "", "".join(texts), 0, "{{ x }}") for text in texts)


@given(BITS, st.sampled_from(GUARDS), st.integers(0, 99))
def test_a_guarded_text_is_made_of_what_it_was_and_of_escapes(bits, guard, seed):
    for texts in (bits, [draw_hostile_text(Random(seed))]):
        pieces = _pieces(texts)
        guarded = guard.guard(join_pieces(pieces))[0]
        found = guard_pieces(pieces, guarded)
        assert found is not None and join_pieces(found) == guarded
        hidden = "".join(piece.text for piece in found if piece.what == "guard")
        assert set(hidden) <= set("\\u{}0123456789abcdef\ufffd")
        kept = [piece for piece in found if piece.what == "template"]
        assert all(piece.made.text == piece.text for piece in kept)


def test_what_is_no_guarded_form_is_not_aligned():
    pieces = _pieces(["one", "two"])
    assert guard_pieces(pieces, "one two") is None and guard_pieces(pieces, "one") is None and guard_pieces(pieces, "onetwo!") is None
    assert guard_pieces((), "") == ()


@given(st.lists(st.text(max_size=4)), st.integers(0, 20), st.integers(0, 20))
def test_a_slice_is_that_of_the_text(texts, start, stop):
    pieces = _pieces(texts)
    assert join_pieces(slice_pieces(pieces, start, stop)) == "".join(texts)[start:stop]


def test_a_cut_of_no_length_stays_at_either_end():
    pieces = (*_pieces(["one"]), TracedText("cut", ""), *_pieces(["two"]))
    assert [piece.what for piece in slice_pieces(pieces, 0, 3)] == ["template", "cut"]
    assert [piece.what for piece in slice_pieces(pieces, 3, 6)] == ["cut", "template"]
    assert [piece.what for piece in slice_pieces(pieces, 0, 2)] == ["template"]
