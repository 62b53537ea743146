"""A corpus: its pattern, its files and their front matter, its indexes on disk; and what is asked of it."""

import pytest

from promptc.diag.findings import DiskError, PromptcError, Span
from promptc.diag.frozen import replace
from promptc.frontend.corpus import build_corpus, digest_outside, list_parts, open_corpus, read_corpus, read_queries
from promptc.frontend.indexes import fill_path, read_corpus_pattern
from promptc.model.sources import ChunkPlan, CorpusIndex, Engine, Matching, Weights
from promptc.sources.retrieval.encoder import KNOWN, SIZE
from promptc.sources.retrieval.postgres import DatabaseStore
from promptc.sources.retrieval.retrieve import Answer, ChunkQuery, KnownAnswer, Retriever
from tests.retrieval_drawing import WordEncoder

SPAN = Span("pack.yaml", 5, 9)


def code_of(function, *args, **named):
    with pytest.raises(PromptcError) as caught:
        function(*args, **named)
    return caught.value.diagnostics[0].code, caught.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("pattern", "path", "values"),
    [
        ("rules/*.md", "rules/a.md", {}),
        ("rules/*.md", "rules/deep/a.md", None),
        ("rules/*.md", "rules/a.txt", None),
        ("**/*.md", "a.md", {}),
        ("**/*.md", "x/y/a.md", {}),
        ("rules/**/*.md", "rules/x/a.md", {}),
        ("{version}/{domain}/*.md", "1.2/combat/a.md", {"version": "1.2", "domain": "combat"}),
        ("r-{version}/{name}.md", "r-1.2/a b.md", {"version": "1.2", "name": "a b"}),
        ("r.md", "rxmd", None),
        ("chapter?.md", "chapter1.md", {}),
        ("chapter?.md", "chapter10.md", None),
        ("a+b (c)/*.md", "a+b (c)/x.md", {}),
    ],
)
def test_what_a_pattern_matches(pattern, path, values):
    assert read_corpus_pattern(pattern, SPAN).match(path) == values


def test_known_names_stand_for_just_that():
    pattern = read_corpus_pattern("rules/{version}/{domain}/*.md", SPAN, {"version": "1.0"})
    assert pattern.folder == "rules/1.0"
    assert pattern.match("rules/1.0/x/a.md") == {"version": "1.0", "domain": "x"}
    assert pattern.match("rules/1x0/x/a.md") is None


@pytest.mark.parametrize(
    "pattern", ["{v", "v}", "{V}.md", "{}.md", "{a}/{a}.md", "{id}.md", "../*.md", "/etc/*.md", "a\\*.md", "", "a//*.md", "{a{b}}"]
)
def test_what_is_no_pattern(pattern):
    assert code_of(read_corpus_pattern, pattern, SPAN)[0] == "PC0271"


def test_fill_path():
    assert fill_path("data/{version}/x", {"version": "1"}) == "data/1/x"


@pytest.fixture
def corpus(tmp_path):
    files = {
        "1.0/combat/a.md": "---\nmode: dm\nauthor: me\n---\n# Combat\n\nWho is quickest acts first.\n",
        "1.0/rest.md": "# Rest\n",
        "2.0/combat/a.md": "# Combat\n\nWho rolls highest acts first.\n",
        "2.0/magic/b.md": "# Magic\n\nWords of power.\n",
        "2.0/.hidden/c.md": "# No\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    def make(pattern="{version}/{domain}/*.md", path="data/{version}", **matching):
        given = Matching(**matching) if matching else Matching()
        return CorpusIndex("rules", SPAN, str(tmp_path), pattern, path, ChunkPlan(), given, {"mode": "general"})

    return make


def test_files_with_their_metadata(corpus):
    found = read_corpus(corpus())
    assert [(one.file, dict(one.metadata)) for one in found] == [
        ("1.0/combat/a.md", {"mode": "dm", "author": "me", "version": "1.0", "domain": "combat"}),
        ("2.0/combat/a.md", {"mode": "general", "version": "2.0", "domain": "combat"}),
        ("2.0/magic/b.md", {"mode": "general", "version": "2.0", "domain": "magic"}),
    ]
    assert found[0].text.startswith("# Combat")


@pytest.mark.parametrize(("text", "body"), [("---\nmode: dm\n---", ""), ("---\nmode: dm\n---\n", ""), ("---\nmode: dm\n---\n\nx", "\nx")])
def test_front_matter_may_end_the_file(text, body, corpus, tmp_path):
    (tmp_path / "1.0/combat/a.md").write_text(text, encoding="utf-8")
    found = read_corpus(corpus())[0]
    assert (found.metadata["mode"], found.text) == ("dm", body)


def test_parts_and_what_is_wanted_of_them(corpus):
    assert list_parts(corpus(), ("version",)) == ({"version": "1.0"}, {"version": "2.0"})
    assert [one.file for one in read_corpus(corpus(), {"version": "1.0"})] == ["1.0/combat/a.md"]


@pytest.mark.parametrize(
    ("front", "told"),
    [("- a\n", "a mapping"), ("score: 5\n", "`score`"), ("version: 3.0\n", "`1.0` in the file's path")],
)
def test_front_matter_that_cannot_be(front, told, corpus, tmp_path):
    (tmp_path / "1.0/combat/a.md").write_text(f"---\n{front}---\ntext\n", encoding="utf-8")
    code, message = code_of(read_corpus, corpus())
    assert code == "PC0276" and told in message


@pytest.mark.parametrize("text", ["---\n---\ntext", "---\nno end", "--- \ntext", "text\n---\na: b\n---\n"])
def test_what_is_no_front_matter(text, corpus, tmp_path):
    (tmp_path / "1.0/combat/a.md").write_text(text, encoding="utf-8")
    assert set(read_corpus(corpus())[0].metadata) == {"mode", "version", "domain"}


def test_a_text_that_no_prompt_can_hold(corpus, tmp_path):
    (tmp_path / "1.0/combat/a.md").write_bytes(b"# A\n\nhi\x00there\n")
    with pytest.raises(PromptcError) as caught:
        read_corpus(corpus())
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.span)) == ("PC0133", "1.0/combat/a.md:3:3")


def test_two_names_that_are_one_in_another_form_are_refused(corpus, tmp_path):
    """A disk that keeps names in one form would have one of them. The index named both alike, and missed a change of the first."""
    for name in ("e\u0301", "\u00e9"):
        (tmp_path / "1.0/combat" / f"{name}.md").write_text("# A\n\nx\n", encoding="utf-8")
    code, message = code_of(read_corpus, corpus())
    assert code == "PC0271" and "1.0/combat/\u00e9.md" in message


def test_links_are_not_followed(corpus, tmp_path):
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (tmp_path / "linked").symlink_to(tmp_path / "1.0")
    assert len(read_corpus(corpus())) == 3, "a folder that is a link is not entered"
    (tmp_path / "1.0/combat/link.md").symlink_to(tmp_path / "secret.md")
    assert code_of(read_corpus, corpus())[0] == "PC0152"


def build(index, encoder=None, **named):
    return list(build_corpus(index, count=lambda text: len(text.split()), counter="c", load_encoder=lambda: encoder, **named))


def ask(opened, query):
    return [(one.chunk.version, one.chunk.heading[0]) for one in Retriever().ask(opened, ChunkQuery((query,), floor=0)).found]


def test_each_version_is_an_index_of_its_own(corpus, tmp_path):
    done = build(corpus())
    assert [(one.outcome, one.part.values) for one in done] == [("built", {"version": "1.0"}), ("built", {"version": "2.0"})]
    assert ask(open_corpus(corpus(), "c", "1.0"), "acts first") == [("1.0", "Combat")]
    assert len(ask(open_corpus(corpus(), "c"), "acts first")) == 2
    (tmp_path / "2.0/combat/a.md").write_text("# Combat\n\nchanged\n", encoding="utf-8")
    assert ask(open_corpus(corpus(), "c", "1.0"), "acts first"), "the other version is not touched by it"
    assert code_of(open_corpus, corpus(), "c", "2.0")[0] == "PC0192"
    assert [one.outcome for one in build(corpus())] == ["kept", "built"]


def test_one_index_of_all_versions(corpus):
    index = corpus(path="data/all")
    build(index)
    assert len(ask(open_corpus(index, "c", "1.0"), "acts first")) == 2, "the version is the request's to filter"
    assert code_of(open_corpus, index, "c", "9.9") == ("PC0195", "the corpus of the index `rules` has no version `9.9`")


def test_a_version_that_is_not_there_and_a_pattern_without_files(corpus):
    build(corpus())
    assert code_of(open_corpus, corpus(), "c", "9.9")[1] == "the corpus of the index `rules` has no version `9.9`"
    assert code_of(open_corpus, corpus(pattern="nothing/{version}/*.md"), "c")[0] == "PC0195"
    assert code_of(open_corpus, corpus(pattern="2.0/*/*.md", path="data"), "c", "1.0")[0] == "PC0195"


def test_a_build_of_one_version_alone(corpus):
    assert [one.part.values for one in build(corpus(), version="2.0")] == [{"version": "2.0"}]
    with pytest.raises(DiskError):
        open_corpus(corpus(), "c", "1.0")


def test_vectors_come_when_the_encoder_does_and_stay_when_it_goes(corpus, tmp_path):
    index = corpus(weights=Weights(1, 1), encoder="minilm-int8")
    encoder = WordEncoder()
    encoder.id, encoder.digest, encoder.size = "minilm-int8", KNOWN["minilm-int8"], SIZE
    assert [one.built.vectors for one in build(index)] == [None, None]
    assert [one.note for one in open_corpus(index, "c", "1.0")] == [
        "the index `rules` has no vectors: it was built without the extra `[retrieval]`"
    ]
    assert [one.outcome for one in build(index)] == ["kept", "kept"]
    assert [one.outcome for one in build(index, encoder)] == ["built", "built"]
    assert [one.note for one in open_corpus(index, "c", "1.0")] == [""]
    assert [one.outcome for one in build(index)] == ["kept", "kept"], "without the extra nothing is thrown away that is up to date"


def test_a_folder_that_is_no_plain_path(corpus, tmp_path):
    (tmp_path / "aux").mkdir()
    (tmp_path / "aux/a.md").write_text("# A\n\ntext\n", encoding="utf-8")
    assert code_of(build, corpus(pattern="{version}/*.md"))[0] == "PC0272"


def test_an_engine_holds_the_chunks_and_answers_the_same(corpus, postgres):
    plain = corpus()
    build(plain)
    index = replace(plain, engine=Engine(SPAN, url_env="PROMPTC_INDEX"))
    with pytest.raises(DiskError) as caught:
        open_corpus(index, "c", "1.0", {"PROMPTC_INDEX": postgres})
    assert caught.value.diagnostics[0].code == "PC0192" and "promptc index build pack.yaml rules" in caught.value.diagnostics[0].help
    assert [one.outcome for one in build(index, environment={"PROMPTC_INDEX": postgres})] == ["kept", "kept"]
    for version in ("1.0", "2.0", None):
        opened = open_corpus(index, "c", version, {"PROMPTC_INDEX": postgres})
        assert all(isinstance(one.store, DatabaseStore) for one in opened)
        assert ask(opened, "acts first power") == ask(open_corpus(plain, "c", version), "acts first power") != []


def test_an_engine_that_nothing_names_or_that_is_none(corpus):
    index = replace(corpus(), engine=Engine(SPAN, url_env="PROMPTC_INDEX"))
    assert code_of(open_corpus, index, "c")[0] == "PC0169"
    assert code_of(open_corpus, index, "c", None, {"PROMPTC_INDEX": "sqlite:x.db"})[0] == "PC0278"
    assert code_of(open_corpus, replace(index, engine=Engine(SPAN, "PROMPTC_X")), "c", None, {"PROMPTC_X": "http://x"})[0] == "PC0167"


# --- What is asked of it ---


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


ASKED = "query\texpected\nhit first\ta.md#Combat\nwho is first, who is quickest\ta.md#Combat\nquickest recipe for soup\n"


@pytest.fixture
def asked(corpus, tmp_path):
    index = replace(corpus(weights=Weights(1, 1), encoder="minilm-int8", lead=50_000), asked="{version}/asked.tsv")
    (tmp_path / "1.0" / "asked.tsv").write_text(ASKED, encoding="utf-8")
    return index


def make_encoder():
    """By words, under the name of the one that packs know."""
    encoder = WordEncoder()
    encoder.id, encoder.digest, encoder.size = "minilm-int8", KNOWN["minilm-int8"], SIZE
    return encoder


# contract 4.38
def test_a_part_has_the_lines_of_its_file_and_one_without_a_file_none(asked):
    built = {one.part.values["version"]: one.built for one in build(asked, make_encoder())}
    assert [one.asked for one in built["1.0"].chunks if one.heading == ("Combat",)] == [("hit first", "who is first, who is quickest")]
    assert built["1.0"].idle == ("quickest recipe for soup",)
    assert built["2.0"].idle == () and not any(one.asked for one in built["2.0"].chunks)


def test_the_file_is_no_document_whatever_the_pattern(asked):
    wide = replace(asked, pattern="{version}/**/*")
    assert [one.file for one in read_corpus(wide)] == ["1.0/combat/a.md", "1.0/rest.md", "2.0/combat/a.md", "2.0/magic/b.md"]


@pytest.mark.parametrize("change", ["changed", "new", "gone"])
def test_an_index_is_stale_when_its_asked_file_is_another_comes_or_goes(asked, change, tmp_path):
    path = tmp_path / "1.0" / "asked.tsv"
    if change == "new":
        path.rename(tmp_path / "kept.tsv")
        (tmp_path / "2.0" / "asked.tsv").write_text("words\tb.md#Magic\nhello\n", encoding="utf-8")
    build(asked, make_encoder())
    before = digest_outside([asked])
    assert open_corpus(asked, "c", "1.0")
    if change == "changed":
        path.write_text(ASKED.replace("hit first", "strike first"), encoding="utf-8")
    elif change == "new":
        (tmp_path / "kept.tsv").rename(path)
    else:
        path.unlink()
        (tmp_path / "2.0" / "asked.tsv").write_text("words\tb.md#Magic\nhello\n", encoding="utf-8")
    code, message = code_of(open_corpus, asked, "c", "1.0")
    assert code == "PC0192" and f"`1.0/asked.tsv` {change}" in message
    assert digest_outside([asked]) != before, "a case that was kept is run again"


# contract 4.38
def test_no_part_has_its_file(asked, tmp_path):
    (tmp_path / "1.0" / "asked.tsv").unlink()
    code, message = code_of(build, asked, make_encoder())
    assert code == "PC0279" and "no part of the index `rules` has its file `asked: {version}/asked.tsv`" in message
    assert code_of(build, replace(asked, asked="asked.tsv"), make_encoder())[0] == "PC0151"


# contract 4.38
def test_a_lead_over_no_idle_line(asked, tmp_path):
    build(asked, make_encoder())
    (tmp_path / "1.0" / "asked.tsv").write_text("hit first\ta.md#Combat\n", encoding="utf-8")
    code, message = code_of(build, asked, make_encoder())
    assert code == "PC0279" and "`1.0/asked.tsv` has no query without an answer" in message
    no_lead = replace(asked, matching=replace(asked.matching, lead=0))
    build(no_lead, make_encoder())
    assert open_corpus(no_lead, "c", "1.0")
    assert code_of(open_corpus, asked, "c", "1.0")[0] == "PC0279"


# contract 4.38
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x\ta.md#Combta", "no chunk contains the answer to `x`: `a.md` has no heading `Combta` with text under it"),
        ("x\tb.md#Combat", "the corpus has no file `b.md`"),
        ("x\tb.md#Combat\ny\tb.md#Combat", "no chunk contains the answer to `x` and 1 line more: the corpus has no file `b.md`"),
        ("hit first", "`hit first` has no answer in this line, but has one in another line"),
    ],
)
def test_a_line_that_says_what_cannot_be(asked, line, told, tmp_path):
    (tmp_path / "1.0" / "asked.tsv").write_text(f"{ASKED}{line}\n", encoding="utf-8")
    with pytest.raises(PromptcError) as caught:
        build(asked, make_encoder())
    (found,) = caught.value.diagnostics
    assert found.code == "PC0196" and told in found.message and str(found.span) == "1.0/asked.tsv:5:1" and found.help


def test_one_line_end_is_as_another(asked, tmp_path):
    first = build(asked, make_encoder())[0].built.fingerprint
    (tmp_path / "1.0" / "asked.tsv").write_bytes(ASKED.replace("\n", "\r\n").encode())
    (again, _) = build(asked, make_encoder())
    assert (again.outcome, again.built.fingerprint) == ("kept", first)


# contract 4.36
def test_an_idle_query_finds_nothing_and_its_line_is_told(asked):
    build(asked, make_encoder())
    encoder = make_encoder()
    retriever = Retriever(lambda name: encoder)
    idle = retriever.ask(open_corpus(asked, "c", "1.0"), ChunkQuery(("recipe for soup", "combat")))
    assert idle.idle == (("rules", "quickest recipe for soup"),) and idle.found == () and idle.considered == 0
    (found,) = retriever.ask(open_corpus(asked, "c", "1.0"), ChunkQuery(("hit first", "soup recipe"))).found[:1]
    assert found.asked == "hit first" and found.chunk.heading == ("Combat",)
