"""`sentences_about`: the sentences of a text that share the rarest words with others, held against a plain account of it."""

from math import floor

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.size import count_examples
from tests.unit.template.run import evaluate

WORDS = "the a key gate Mara lamp bell Öl ınn water".split()
sentences = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=6)


def choose(said: list[str], texts: list[str], most: int) -> str:
    """As the reference page tells it, word by word."""
    known = [set(text.casefold().split()) for text in texts]

    def weigh(sentence: str) -> int:
        met = [word for word in dict.fromkeys(sentence.casefold().split()) if any(word in text for text in known)]
        return sum(floor(len(known) / sum(1 for text in known if word in text)) for word in met)

    best: list[int] = []
    while len(best) < min(most, len(said)):
        left = [place for place in range(len(said)) if place not in best]
        best.append(next(place for place in left if weigh(said[place]) == max(weigh(said[other]) for other in left)))
    shared = [place for place in sorted(best) if weigh(said[place])]
    return " ".join(said[place] + "." for place in shared or [0])


@settings(max_examples=count_examples(400), deadline=None)
@given(said=sentences, texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), max_size=5), most=st.integers(1, 7))
def test_it_chooses_as_the_page_tells(said, texts, most):
    names = {"state": {"text": ". ".join(said) + ".", "texts": texts, "most": most}}
    assert evaluate("state.text | sentences_about(state.texts, state.most)", names) == choose(said, texts, most)


def test_a_text_stands_for_a_list_of_one():
    names = {"state": {"text": "It rained. Mara had the key.\nNobody slept."}}
    assert evaluate("state.text | sentences_about('MARA!')", names) == "Mara had the key."
    assert evaluate("state.text | sentences_about(['key', 'slept'], 2)", names) == "Mara had the key.\nNobody slept."
    assert evaluate("state.text | sentences_about(['rained', 'slept'], 2)", names) == "It rained. Nobody slept."


def test_where_nothing_is_shared_the_first_stands():
    names = {"state": {"text": "  It rained. Mara had the key. ", "blank": " \n", "none": []}}
    assert evaluate("state.text | sentences_about(state.none, 3)", names) == "It rained."
    assert evaluate("state.text | sentences_about('door', 3)", names) == "It rained."
    assert evaluate("state.blank | sentences_about('door')", names) == ""


def test_sentences_that_no_space_parts():
    names = {"state": {"text": "雨だ。門。鍵。"}}
    assert evaluate("state.text | sentences_about(['雨だ', '門'], 2)", names) == "雨だ。門。"
    assert evaluate("state.text | sentences_about(['雨だ', '鍵'], 2)", names) == "雨だ。 鍵。"
