from promptc.sources.retrieval.scoring import Term, list_terms, read_synonyms

SYNONYMS = read_synonyms([("CR", ["challenge rating"]), ("hit points", ["HP", "health"]), ("hit", ["strike"]), ("...", ["nothing"])])


def test_each_word_once_and_in_order():
    assert list_terms("Goblins fight goblin", {}) == (Term((("goblin",),)), Term((("fight",),)))


def test_synonyms_stand_beside_the_word():
    assert list_terms("cr 5", SYNONYMS) == (Term((("cr",), ("challenge", "rating"))), Term((("5",),)))


def test_the_longest_synonym_holds():
    assert list_terms("hit points", SYNONYMS) == (Term((("hit", "point"), ("hp",), ("health",))),)
    assert list_terms("hit hard", SYNONYMS)[0] == Term((("hit",), ("strike",)))


def test_a_synonym_is_read_one_way_and_without_words_not_at_all():
    assert list_terms("health", SYNONYMS) == (Term((("health",),)),)
    assert () not in SYNONYMS
