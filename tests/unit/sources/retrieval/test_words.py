import pytest

from promptc.sources.retrieval.scoring import list_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Goblins & Ogres!", ["goblin", "ogre"]),
        ("the parties' abilities", ["the", "party", "ability"]),
        ("Straße café", ["strasse", "café"]),
        ("armor class bonus", ["armor", "class", "bonus"]),
        ("two-weapon fighting", ["two", "weapon", "fighting"]),
        ("2d6+3", ["2d6", "3"]),
        ("回復の呪文", ["回復", "復の", "の呪", "呪文"]),
        ("級 a", ["級", "a"]),
        ("... — !", []),
        ("a" * 100, ["a" * 64]),
    ],
)
def test_find_words(text, words):
    assert list_words(text) == words
