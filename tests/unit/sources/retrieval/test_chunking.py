"""A document is split into sections and chunks."""

from itertools import pairwise

import pytest

from promptc.model.sources import ChunkPlan, Document
from promptc.sources.retrieval.building import render_indexed, split_document, split_sections

WORDS = " ".join(f"word{number}." for number in range(200))


def count(text):
    return len(text.split())


def split(text, least=5, most=40, overlap=0, **metadata):
    return split_document(Document("rules/combat.md", text, metadata, ""), ChunkPlan(least, most, overlap), count)


def test_small_sections_are_put_together_up_to_the_target():
    chunks = split("# A\n\n## B\n\none two\n\n## C\n\nthree four\n\n## D\n\nfive six seven\n", least=9)
    assert [(one.heading, one.covers) for one in chunks] == [(("A",), ("A", "B", "C")), (("A", "D"), ("D",))]
    assert chunks[0].text == "## B\n\none two\n\n## C\n\nthree four"
    assert chunks[1].text == "five six seven"


@pytest.mark.parametrize("least", [100, 1_000, 100_000])
def test_a_chunk_of_many_sections_is_counted_few_times(least):
    """Each section that joined one of 4 000 counted them all again: a page of 45 KB took minutes."""
    text = "# A\n\n" + "".join(f"## H{number}\n\none two\n\n" for number in range(4_000))
    counted = []

    def spy(piece):
        counted.append(len(piece))
        return count(piece)

    chunks = split_document(Document("a.md", text, {}, ""), ChunkPlan(least, 100_000), spy)
    assert sum(counted) < 60 * len(text)
    assert [name for one in chunks for name in one.covers] == ["A", *(f"H{number}" for number in range(4_000))]
    sizes = [len(one.covers) for one in chunks]
    assert len({*sizes[1:-1]}) <= 1 and all(one.tokens >= least for one in chunks[:-1]), "each is as short as it may be"


def test_a_section_of_its_own_has_its_heading_in_the_path_alone():
    (chunk,) = split("# A\n\n## B\n\none two three\n")
    assert (chunk.heading, chunk.covers, chunk.text) == (("A", "B"), ("A", "B"), "one two three")


def test_sections_of_two_first_headings_stay_apart():
    assert [one.heading for one in split("# A\n\none\n\n# B\n\ntwo\n", least=30)] == [("A",), ("B",)]


@pytest.mark.parametrize("most", [7, 20, 40, 150])
def test_no_chunk_is_over_the_limit_and_nothing_is_lost(most):
    chunks = split(f"# Heading of it\n\n{WORDS}\n", most=most)
    assert all(one.tokens == count(render_indexed(one.heading, one.text)) <= most for one in chunks)
    assert " ".join(one.text for one in chunks).split() == WORDS.split()
    sizes = [one.tokens for one in chunks]
    assert max(sizes) - min(sizes) <= max(most // 3, 3), "parts of one section are about equal"


def test_overlap_repeats_the_end_of_a_part_only_inside_a_split_section():
    plain, over = split(f"# A\n\n{WORDS}\n\n# B\n\nend\n"), split(f"# A\n\n{WORDS}\n\n# B\n\nend\n", overlap=200_000)
    assert sum(one.tokens for one in over) > sum(one.tokens for one in plain)
    for before, own in pairwise(over[:-1]):
        first = own.text.split()[0]
        assert first in before.text.split() and own.tokens <= 40
    assert over[-1].text == "end"


def test_a_file_without_headings_stands_under_its_name_or_title():
    assert split("just text")[0].heading == ("combat",)
    assert split("just text", title="Fighting")[0].heading == ("Fighting",)


def test_a_heading_that_is_too_long_is_clipped():
    (chunk,) = split(f"# {'very ' * 60}long\n\nshort text\n")
    assert chunk.tokens <= 40 and chunk.text == "short text"


def test_headings_without_text_make_no_chunk():
    assert split("# A\n\n## B\n") == ()


def test_ids_tell_apart_version_file_place_and_text():
    ids = {one.id for text in ("# A\n\none", "# A\n\ntwo") for version in ("1", "2") for one in split(text, version=version)}
    assert len(ids) == 4 and all(len(one) == 16 for one in ids)


def test_text_without_spaces_is_cut_too():
    chunks = split_document(Document("a.md", "字" * 50, {}, ""), ChunkPlan(1, 12, 0), len)
    assert "".join(one.text for one in chunks) == "字" * 50
    assert all(one.tokens <= 12 for one in chunks)


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
