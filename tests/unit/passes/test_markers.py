"""Where the marker of a trim stands."""

import pytest

from tests.unit.passes.small_sources import load_small

TEXT = "One two. Three four.\nFive six seven\n\nEight nine."


# contract 5.16
@pytest.mark.parametrize(
    ("at", "size", "marker", "cut"),
    [
        ("paragraph", 45, "…", "One two. Three four.\nFive six seven\n…\n"),
        ("line", 30, "…", "One two. Three four.\n…\n"),
        ("sentence", 15, "…", "One two. …\n"),
        ("word", 8, "…", "One …\n"),
        ("sentence", 15, "\\n…", "One two.\n…\n"),
        ("sentence", 15, "\\t…", "One two.\t…\n"),
    ],
)
def test_a_marker_stands_by_the_boundary_of_the_cut(tmp_path, at, size, marker, cut):
    step = f'trim: {{at: {at}, to: {{chars: {size}}}, marker: "{marker}"}}'
    body = f"sections: [{{id: a, text: '{{{{ state.text }}}}', budget: {{chars: {size}}}, overflow: [{step}]}}]\n"
    assert load_small(tmp_path, body).render({"text": TEXT}).text == cut


# contract 5.16
def test_inside_a_word_it_is_joined(tmp_path):
    body = "sections: [{id: a, text: unbelievable, budget: {chars: 7}, overflow: [trim: {marker: …}]}]\n"
    assert load_small(tmp_path, body).render({}).text == "unbe…\n"


# contract 5.16
def test_a_later_trim_cuts_the_untrimmed_text_and_leaves_one_marker(tmp_path):
    steps = '[trim: {at: line, to: {chars: 30}, marker: "(more)"}, trim: {at: word, to: {chars: 14}, marker: "…"}]'
    body = f"sections: [{{id: a, text: '{{{{ state.text }}}}', budget: {{chars: 14}}, overflow: {steps}}}]\n"
    assert load_small(tmp_path, body).render({"text": TEXT}).text == "One two. …\n"
