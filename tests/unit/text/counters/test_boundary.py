import pytest

from promptc.text.counters import splitting

SAFE = [
    ("a\n", "b"),
    ("a\r\n", "  - b"),
    ("\n\n", "\tb"),
    ("a.", " b"),
    ("a", " b"),
    ("a", ", b"),
    ("a", "1"),
    ("1", "a"),
    ("好", "。"),
    ("", "\n"),
    ("\n", ""),
]
UNSAFE = [
    ("a\n", "\nb"),
    ("a\n", "  \nb"),
    ("a\n", "  "),
    ("a", "b"),
    ("a ", "b"),
    ("a ", " b"),
    ("a", "  b"),
    ("a", " "),
    (".", "a"),
    ("1", "2"),
    ("a\u2028", "b"),
    ("a\x85", "b"),
    ("a\v", "b"),
]


@pytest.mark.parametrize(("left", "right"), SAFE)
def test_counts_add_up_at_a_safe_boundary(left, right, exact):
    assert exact.is_safe(left, right)
    assert exact.measure(left + right) == exact.measure(left) + exact.measure(right)


@pytest.mark.parametrize(("left", "right"), UNSAFE)
def test_elsewhere_nothing_is_claimed(left, right, exact):
    assert not exact.is_safe(left, right)


def test_vocabularies_differ(exact):
    is_older = exact.name == "cl100k_base"
    assert exact.is_safe("!\n", "/a") is is_older
    assert exact.is_safe("it", "'s") is is_older
    assert exact.is_safe("camel", "Case") is not is_older
    assert exact.is_safe("e", "\u0301") is is_older


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("abc", None),
        ("a b", (1, 1)),
        ("one\n  two three.\n", (4, 15)),
        ("\n\n", None),
        (" " * 500 + "a" + " " * 500, None),
        ("a b" + " " * 5000, (1, 1)),
    ],
)
def test_find_inner(text, places, exact):
    assert exact.find_inner(text) == places


def test_characters_of_ascii_have_the_classes_of_the_pattern():
    for character in map(chr, range(128)):
        found = splitting._CLASS.match(character)
        assert splitting._NAMES[character] == (found.lastgroup if found else "?")
