"""Segments and the queries of an index, as files hold them."""

import pytest

from promptc.diag.findings import PromptcError
from promptc.frontend.segments import load_segments, read_queries
from promptc.sources.retrieval.retrieve import Answer, KnownAnswer


def test_queries_and_answers():
    text = "query\texpected\tkind\r\nCR XP\tMonsters/# Stats.md#XP||b.md#Two: 2\tneedle\n\nwifi\t\njunk\n"
    assert read_queries(text.encode(), "q.tsv") == (
        KnownAnswer("CR XP", (Answer("Monsters/# Stats.md", "XP"), Answer("b.md", "Two: 2")), {"kind": "needle"}),
        KnownAnswer("wifi", ()),
        KnownAnswer("junk", ()),
    )


def test_a_file_that_does_not_end_in_md():
    assert read_queries(b"x\t/notes.txt#A\n", "q.tsv")[0].answers == (Answer("notes.txt", "A"),)


@pytest.mark.parametrize("text", ["", "query\texpected\n", "who\ta.md", "who\ta.md#", "who\t#A", "\ta.md#A", "who\ta.md#A||"])
def test_what_cannot_be_read(text):
    with pytest.raises(PromptcError) as caught:
        read_queries(text.encode(), "q.tsv")
    assert {one.code for one in caught.value.diagnostics} == {"PC0196"}


def test_all_lines_that_are_wrong_are_told():
    with pytest.raises(PromptcError) as caught:
        read_queries(b"query\tx\na\tb\nc\td#e\nf\tg\n", "q.tsv")
    assert [str(one.span) for one in caught.value.diagnostics] == ["q.tsv:2:1", "q.tsv:4:1"]


# --- Folders of segments, as a stranger may hand them over ---
def test_a_link_out_of_the_folder_is_refused_and_not_read(tmp_path):
    (tmp_path / "secret").write_text("nobody's business", encoding="utf-8")
    folder = tmp_path / "segments"
    folder.mkdir()
    (folder / "x.md").symlink_to(tmp_path / "secret")
    with pytest.raises(PromptcError, match="PC0174") as wrong:
        load_segments(folder)
    assert "is a link" in str(wrong.value) and "business" not in str(wrong.value)
