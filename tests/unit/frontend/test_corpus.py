"""A corpus: its pattern, its files and their front matter, its indexes on disk."""

import pytest

from promptc.diag.findings import DiskError, PromptcError, Span
from promptc.diag.frozen import replace
from promptc.frontend.corpus import build_corpus, list_parts, open_corpus, read_corpus
from promptc.frontend.indexes import fill_path, read_corpus_pattern
from promptc.model.sources import ChunkPlan, CorpusIndex, Engine, Matching, Weights
from promptc.sources.retrieval.postgres import DatabaseStore
from promptc.sources.retrieval.retrieve import ChunkQuery, Retriever
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


def test_parts_and_what_is_wanted_of_them(corpus):
    assert list_parts(corpus(), ("version",)) == ({"version": "1.0"}, {"version": "2.0"})
    assert [one.file for one in read_corpus(corpus(), {"version": "1.0"})] == ["1.0/combat/a.md"]


@pytest.mark.parametrize(
    ("front", "told"),
    [("- a\n", "a mapping"), ("score: 5\n", "`score`"), ("version: 3.0\n", "`1.0` by the file's path")],
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
    assert code_of(open_corpus, index, "c", "9.9") == ("PC0195", "the corpus of `rules` has no version `9.9`")


def test_a_version_that_is_not_there_and_a_pattern_without_files(corpus):
    build(corpus())
    assert code_of(open_corpus, corpus(), "c", "9.9")[1] == "the corpus of `rules` has no version `9.9`"
    assert code_of(open_corpus, corpus(pattern="nothing/{version}/*.md"), "c")[0] == "PC0195"
    assert code_of(open_corpus, corpus(pattern="2.0/*/*.md", path="data"), "c", "1.0")[0] == "PC0195"


def test_a_build_of_one_version_alone(corpus):
    assert [one.part.values for one in build(corpus(), version="2.0")] == [{"version": "2.0"}]
    with pytest.raises(DiskError):
        open_corpus(corpus(), "c", "1.0")


def test_vectors_come_when_the_encoder_does_and_stay_when_it_goes(corpus, tmp_path):
    index = corpus(weights=Weights(1, 1), encoder="minilm-int8")
    encoder = WordEncoder()
    encoder.id, encoder.digest = "minilm-int8", "sha256:8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
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
