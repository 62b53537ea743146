"""What a single case of worldarchitect cannot show: all known queries, a rollback, every budget, answers and their contract."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import promptc
from promptc.diag.findings import DiskError, FitError
from promptc.frontend.corpus import open_corpus, read_queries
from promptc.golden.running.environment import list_lacking
from promptc.model.sources import CorpusIndex, Document
from promptc.recall import RenderedRecall
from promptc.sources.retrieval.building import split_document
from promptc.text.characters import normalize
from promptc.text.counters.counter import Meter
from tests.cases.case import FIXTURES, ROOT
from tests.packs import load_pack
from tests.size import read_size, take_part

FOLDER = ROOT / "packs" / "worldarchitect"
PACK = "packs/worldarchitect"
SHARED = FIXTURES / "worldarchitect" / "base"
RESPONSES = FIXTURES / "worldarchitect" / "responses"
PLAY = ("play.tsv", "play_held.tsv", "play_unseen.tsv", "play_later.tsv", "play_new.tsv", "play_fresh.tsv", "play_last.tsv")
QUERIES = [line.split("\t") for line in (FIXTURES / "worldarchitect" / "queries.tsv").read_text(encoding="utf-8").splitlines()[1:]]
REAL = [columns for columns in QUERIES if columns[1]]
INSIDE = re.compile(r"\b(MBTI|Myers|alignment|Big Five|lawful|chaotic|neutral|extraversion|neuroticism|[EI][NS][FT][JP])\b", re.IGNORECASE)
CONTRACT = json.loads((FOLDER / "schemas" / "response.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(CONTRACT)


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _ask(query: str, mode: str = "story", version: str = "1.1") -> promptc.Prompt:
    """An ordinary turn with that input and no help from the scene."""
    state = _read(SHARED / "table.json")
    return load_pack(PACK).render(dict(state, input=query, mode=mode, rules_version=version, scene={"topic": "", "domains": []}))


def _holds(text: str, answer: str, version: str) -> bool:
    """Whether one of the pages in `text` is of the answer's file and holds the first words under its heading."""
    name, _, heading = answer.partition("#")
    path = f"prompt_archive/{version}/{name}"
    page = (FOLDER / path).read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1]
    first = next(line for line in page.splitlines() if line)
    return any(first in rule for rule in text.split("<rule ") if rule.startswith(path))


def _rows(name: str) -> list[list[str]]:
    """The rows of a table of fixtures without its first line; all have as many columns as that."""
    head, *rows = [line.split("\t") for line in (FIXTURES / "worldarchitect" / name).read_text(encoding="utf-8").splitlines()]
    assert {len(row) for row in rows} == {len(head)}, name
    return rows


def _split(first: int, second: int) -> list[int]:
    """The tokens of the chunks of a page with two sections that count so many, their heading paths included."""
    count = Meter(load_pack(PACK).counter).count
    (index,) = (one for one in load_pack(PACK).model.indexes if isinstance(one, CorpusIndex))
    sections = []
    for title, size in (("One", first), ("Two", second)):
        words = "word" + " word" * (size - count(f"Page > {title}\n\nword"))
        assert count(f"Page > {title}\n\n{words}") == size
        sections.append(f"## {title}\n\n{words}\n\n")
    document = Document("combat/page.md", f"# Page\n\n{''.join(sections)}", {}, "")
    return [chunk.tokens for chunk in split_document(document, index.chunk, count)]


def test_a_section_of_120_tokens_is_a_chunk_and_one_of_119_takes_its_neighbour() -> None:
    assert _split(120, 60) == [120, 60]
    assert len(_split(119, 60)) == 1


def test_a_section_of_350_tokens_is_a_chunk_and_one_of_351_is_cut() -> None:
    assert _split(350, 350) == [350, 350]
    pieces = _split(351, 350)
    assert len(pieces) == 3 and 351 * 110 < 100 * (sum(pieces[:2]) - 5) < 351 * 115, "a tenth to 15 % stands in both"


@pytest.mark.dear
@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_nine_of_ten_known_queries_have_their_page_in_the_prompt(version: str) -> None:
    """After the floor and the cap of the section; pages of other modes are asked for in their own."""
    modes = {"worldgen": "dm", "god": "god"}
    missed = []
    for query, answers, *_ in REAL:
        text = _ask(query, modes.get(answers.split("/")[0], "story"), version).text
        if not any(_holds(text, answer, version) for answer in answers.split("||")):
            missed.append(query)
    assert len(missed) < len(REAL) / 10, missed


@pytest.mark.parametrize("name", ["queries.tsv", "unseen.tsv", *PLAY, "recall/queries.tsv"])
def test_every_page_and_heading_that_a_table_expects_is_in_the_archive(name: str) -> None:
    """Written off the page and the front matter, so that it needs no index. A story may read an answer of every input of play,
    but of six: nobody changed the list after it was measured.
    """
    unreadable = []
    rows = [expected.split("||") for _, expected, *_ in _rows(name) if expected]
    assert rows
    for answers in rows:
        pages = {answer: (FOLDER / "prompt_archive" / "1.1" / answer.partition("#")[0]).read_text(encoding="utf-8") for answer in answers}
        for answer, page in pages.items():
            assert re.search(rf"^##? {re.escape(answer.partition('#')[2])}$", page, re.MULTILINE), answer
        if name.startswith("play") and all(re.match(r"---\nmode: (dm|god)\n", page) for page in pages.values()):
            unreadable.append(answers[0])
    assert len(unreadable) == (6 if name == "play_unseen.tsv" else 0), unreadable


def test_the_lists_of_play_share_no_input_with_each_other_nor_with_what_is_asked_and_every_input_has_a_scene() -> None:
    lists = [_rows(name) for name in PLAY]
    assert [(len(one), sum(not row[1] for row in one)) for one in lists] == [(80, 20)] * 3 + [(160, 40), (58, 20), (81, 25), (96, 26)]
    inputs = [normalize(columns[0]) for one in lists for columns in one]
    assert {one for one in inputs if inputs.count(one) > 1} <= {"i nod", "ok", "search the body", "brb pizza is here"}, (
        "two hands wrote the same few words"
    )
    assert all(2 <= len(row[2].split()) <= 5 for one in lists[:5] for row in one)
    asked = {normalize(line.split("\t")[0]) for line in (FOLDER / "prompt_archive/1.1/asked.tsv").read_text(encoding="utf-8").splitlines()}
    both = asked & {*inputs, *(normalize(columns[0]) for columns in QUERIES)}
    assert len(asked) > 5000 and both <= {"ok", "hm", "bribe the guard"}, (
        "what is measured with is not what is asked, but for what anybody types"
    )


@pytest.mark.dear
@pytest.mark.skipif(bool(list_lacking(("retrieval",))), reason="needs the extra")
@pytest.mark.parametrize(
    ("name", "whole", "sampled"),
    [("play.tsv", (945, 850), (850, 800)), ("play_unseen.tsv", (810, 950), (700, 800)), ("play_later.tsv", (985, 900), (850, 800))],
)
def test_most_of_play_has_its_page_in_the_prompt_and_table_talk_has_none(
    name: str, whole: tuple[int, int], sampled: tuple[int, int]
) -> None:
    """As `promptc index eval` renders them; of a commit every fourth. The bounds are just below what is measured."""
    known = read_queries((FIXTURES / "worldarchitect" / name).read_bytes(), name)
    least, known = (sampled, known[::4]) if read_size() == "commit" else (whole, known)
    (index,) = (one for one in load_pack(PACK).model.indexes if isinstance(one, CorpusIndex))
    opened = open_corpus(index, load_pack(PACK).counter.digest, "1.1")
    found = RenderedRecall(load_pack(PACK), index.name, version="1.1").judge(known, opened)
    assert found.recall >= least[0] and found.rejected >= least[1], (found.recall, found.rejected)


def test_what_the_archive_knows_nothing_of_is_sparse() -> None:
    junk = [columns[0] for columns in QUERIES if not columns[1]]
    told = [query for query in junk if _ask(query).report["flags"].get("retrieval_sparse") == ["rules"]]
    assert len(junk) == 20 and len(told) >= 18


def test_no_narrative_prompt_speaks_of_what_people_are_inside() -> None:
    """Whatever is asked: outside the core's rule and the player's own words there is none of it. In the game master's mode there is."""
    for query in [
        *take_part([columns[0] for columns in QUERIES]),
        "MBTI",
        "alignment",
        "inner profile of companions",
        "is she lawful or chaotic",
    ]:
        prompt = _ask(query)
        for section in prompt.report["sections"]:
            if section["range"] and section["id"] not in ("core", "input"):
                start, end = section["range"]
                assert not INSIDE.search(prompt.text.encode()[start:end].decode()), (query, section["id"])
    assert INSIDE.search(_ask("MBTI", "dm").text.split("</core>")[1])


def test_no_page_but_those_for_the_game_master_speaks_of_it() -> None:
    told = [path for path in sorted(FOLDER.glob("prompt_archive/*/*/*.md")) if INSIDE.search(path.read_text(encoding="utf-8"))]
    assert {path.relative_to(FOLDER).parts[2:] for path in told} == {
        ("examples", "companion.md"),
        ("safety", "inner-profiles.md"),
        ("worldgen", "companions.md"),
    }
    assert all(path.read_text(encoding="utf-8").startswith("---\nmode: dm\n") for path in told)


def test_a_rollback_is_the_earlier_version_to_the_byte() -> None:
    for query in ("CR 3 XP", "fare of a keel passage", "putting out a public lamp penalty"):
        before, after, back = (_ask(query, version=version) for version in ("1.0", "1.1", "1.0"))
        assert before.text == back.text and before.report == back.report
        assert before.text != after.text
        assert "prompt_archive/1.1/" not in before.text and "prompt_archive/1.0/" not in after.text


# contract 4.39
def test_a_larger_budget_keeps_what_a_smaller_one_kept_and_the_core_is_always_whole() -> None:
    state = load_pack(PACK).load_state(_read(SHARED / "vesper.json"))
    core = (FOLDER / "templates" / "core.md").read_text(encoding="utf-8")
    kept: set[tuple[str, str]] | None = None
    for budget in (*range(1500, 3300, 29), 8000):
        try:
            prompt = load_pack(PACK).render(state, budget=budget)
        except FitError:
            assert kept is None, f"an error at {budget}, and none at a smaller budget"
            continue
        items = {(section["id"], item["id"]) for section in prompt.report["sections"] for item in section["items"]}
        assert prompt.tokens <= budget and core in prompt.text
        assert kept is None or kept <= items, f"lost at {budget}: {kept - items}"
        kept = items
    assert kept


@pytest.mark.parametrize("path", sorted((RESPONSES / "valid").iterdir()), ids=lambda path: path.stem)
def test_an_answer_as_the_core_asks_for_it_keeps_the_contract(path: Path) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(_read(path))] == []


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_the_answer_that_the_archive_gives_as_an_example_keeps_the_contract(version: str) -> None:
    page = (FOLDER / "prompt_archive" / version / "examples" / "story-answer.md").read_text(encoding="utf-8")
    mode, answer = page.split("```\n")[1].strip().split("\n", 1)
    assert mode == "[MODE: STORY]"
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(answer))] == []
    rules = _ask("A story answer worked through, the whole answer", version=version).text.split("<rule ")[1:]
    assert any(answer in rule for rule in rules), "it is whole in one chunk"


@pytest.mark.parametrize("path", sorted((RESPONSES / "invalid").iterdir()), ids=lambda path: path.stem)
def test_an_answer_that_the_core_forbids_breaks_the_contract(path: Path) -> None:
    assert not VALIDATOR.is_valid(_read(path))


def test_the_core_names_the_fields_of_the_contract_and_no_other() -> None:
    core = (FOLDER / "templates" / "core.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([a-z_]+)` \|", core, re.MULTILINE)
    assert sorted(named) == sorted(CONTRACT["properties"])
    example = next(line for line in core.splitlines() if line.startswith('{"purpose"'))
    answer = dict(_read(RESPONSES / "valid" / "story.json"), dice_rolls=[json.loads(example)])
    header = re.search(r"`(\[Day [^`]+)`", core)
    assert header and VALIDATOR.is_valid(dict(answer, session_header=header[1]))


def test_a_page_that_was_changed_after_the_build_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "pack")
    page = tmp_path / "pack" / "prompt_archive" / "1.1" / "travel" / "keels.md"
    page.write_text(page.read_text(encoding="utf-8").replace("4 marks", "5 marks"), encoding="utf-8")
    pack, state = promptc.load(tmp_path / "pack"), _read(SHARED / "table.json")
    with pytest.raises(DiskError) as raised:
        pack.render(state)
    (found,) = raised.value.diagnostics
    assert found.code == "PC0192" and "keels.md" in found.message and "promptc index build" in (found.help or "")
    assert "3 marks for every ten miles" in pack.render(dict(state, rules_version="1.0")).text
