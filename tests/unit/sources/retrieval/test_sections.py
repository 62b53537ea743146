from promptc.sources.retrieval.building import split_sections

TEXT = """before any heading

# Combat

Rounds and turns.

## Initiative ##

Who acts first.

```
# no heading in here
```

### `Ties`

The dice decide.

# Rest
"""


def test_each_heading_has_its_own_text_and_its_path():
    found = {part.path: part.text for part in split_sections(TEXT, "Rules")}
    assert found == {
        ("Rules",): "before any heading",
        ("Combat",): "Rounds and turns.",
        ("Combat", "Initiative"): "Who acts first.\n\n```\n# no heading in here\n```",
        ("Combat", "Initiative", "Ties"): "The dice decide.",
        ("Rest",): "",
    }


def test_a_skipped_level_and_one_that_comes_back():
    paths = [part.path for part in split_sections("# A\n#### B\n## C\n### D\n# E\n", "")]
    assert paths == [("A",), ("A", "B"), ("A", "C"), ("A", "C", "D"), ("E",)]


def test_what_is_no_heading():
    (part,) = split_sections("#hash\n####### seven\n    # code\n> # quoted\n", "title")
    assert part.path == ("title",) and "#hash" in part.text


def test_a_fence_is_closed_by_its_own_mark_only():
    parts = split_sections("~~~\n```\n# inside\n~~~\n# outside\n", "t")
    assert [part.path for part in parts] == [("t",), ("outside",)]


def test_a_text_of_white_space_has_no_sections():
    assert split_sections("\n  \n", "t") == ()
