from promptc.text.counters.counter import CharacterCounter
from promptc.text.json import render_digest

COUNTER = CharacterCounter()


# contract 10.5
def test_it_measures_characters():
    assert COUNTER.measure("é\U0001f600\n") == 3
    assert (COUNTER.exact, COUNTER.unit, COUNTER.role_tokens("system")) == (False, 4, 0)
    assert COUNTER.digest == render_digest(b"chars/4")


# contract 10.5
def test_parts_add_up_everywhere():
    assert COUNTER.is_safe("\n", "\n")
    assert COUNTER.find_inner("abc") == (1, 2)
    assert COUNTER.find_inner("a") is None
    assert COUNTER.list_runs("a" * 1000) == []


def test_a_token_begins_at_every_fourth_character():
    assert COUNTER.iter_starts("abcdéfghi") == [0, 4, 9]
    assert COUNTER.iter_starts("") == []
    assert COUNTER.token_ends("abcdefghi") == [4, 8, 9]
    assert COUNTER.token_ends("abc\r\nfgh") == [8]
    assert COUNTER.token_ends("") == []
