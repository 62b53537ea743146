"""A/B: the drawn label is a pure function of the id and the weights, and another label takes ids from the others without moving any."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import promptc

WEIGHTS = st.dictionaries(st.sampled_from(["1.0.0", "1.1.0", "2.0.0", "a", "b"]), st.integers(0, 60), min_size=1, max_size=4).filter(
    lambda drawn: sum(drawn.values()) > 0
)
IDS = [f"game {number}" for number in range(60)]


def _draw(weights, folder, ids=IDS):
    shown = ", ".join(f'"{label}": {weight}' for label, weight in weights.items())
    (folder / "pack.yaml").write_text(
        "promptc: 1\nname: ab\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 100\n"
        f"let: {{tone: {{assign: state.id, of: {{{shown}}}}}}}\nsections: [{{id: tone, text: '{{{{ tone }}}}'}}]\n"
    )
    pack = promptc.load(folder / "pack.yaml")
    return [pack.render({"id": id}).text.strip() for id in ids]


@pytest.mark.dear
@given(weights=WEIGHTS, added=st.integers(1, 60), data=st.data())
def test_another_label_moves_nobody_between_the_others(weights, added, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ab")
    before = _draw(weights, folder)
    assert before == _draw(dict(data.draw(st.permutations(list(weights.items())))), folder)
    assert all(weights[label] for label in before)
    after = _draw({**weights, "new": added}, folder)
    assert all(now in (was, "new") for was, now in zip(before, after, strict=True))
    raised = _draw({**weights, "new": min(added + 20, 400)}, folder)
    assert all(now == "new" for now, was in zip(raised, after, strict=True) if was == "new")


def test_shares_are_near_their_weights(tmp_path):
    ids = [f"game {number}" for number in range(2000)]
    drawn = Counter(_draw({"1.0.0": 80, "1.1.0": 20}, tmp_path, ids))
    assert 330 <= drawn["1.1.0"] <= 470
