"""`promptc index`: what it builds, finds, measures and tells."""

import json

import pytest

from tests.cli.conftest import ROOT

PACK = """promptc: 1
name: archive
version: 1.0.0
tokenizer: cl100k_base
budget: 1000
indexes:
  rules:
    corpus: "rules/{version}/*.md"
    path: "data/{version}"
    chunk: {tokens: [10, 60]}
    synonyms: synonyms.yaml
  memory: {from: state.memory, text: "{{ item }}"}
sections:
  - {id: main, text: hello}
"""
COMBAT = """---
mode: dm
---
# Combat

## Initiative

Every side rolls. Who rolls highest acts first, and ties go to the players.

## Grappling

To seize a creature, make a check of strength against its strength or its agility.

## Falling

A creature that falls takes one die of damage for every ten feet, and lies prone.
"""
REST = "# Rest\n\nA long rest of eight hours restores all hit points.\n\n## Short rest\n\nAn hour, and hit dice may be spent.\n"
QUERIES = """query\texpected
who acts first\tcombat.md#Initiative
hp after sleeping\trest.md#Rest||rest.md#Short rest
swimming under water\tcombat.md#Falling
router password\t
"""


@pytest.fixture
def archive(tmp_path, monkeypatch):
    files = {
        "pack.yaml": PACK,
        "synonyms.yaml": "hp: hit points\nsleeping: [rest, long rest]\n",
        "queries.tsv": QUERIES,
        "rules/1.0/combat.md": COMBAT,
        "rules/2.0/combat.md": COMBAT.replace("highest", "lowest"),
        "rules/2.0/rest.md": REST,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def built(archive, run):
    run("index", "build", ".")
    return archive


def test_build(archive, run, golden):
    done = run("index", "build", ".")
    assert (done.code, done.err) == (0, "")
    golden("index_build.txt", done.out + run("index", "build", ".").out)


def test_build_one_version(archive, run):
    assert run("index", "build", ".", "rules", "--version", "2.0").code == 0
    assert sorted(path.name for path in (archive / "data").iterdir()) == ["2.0"]


def test_query(built, run, golden):
    done = run("index", "query", ".", "rules", "who acts first")
    assert (done.code, done.err) == (0, "")
    golden("index_query.txt", done.out)


def test_query_as_json(built, run):
    done = run("index", "query", ".", "rules", "hp", "--version", "2.0", "--floor", "0", "--top", "1", "--json")
    told = json.loads(done.out)
    (found,) = told["found"]
    assert (found["file"], found["version"], found["index"], found["mode"]) == ("rules/2.0/rest.md", "2.0", "rules", None)
    assert found["score"] == found["scores"]["words"] / 1_000_000 == found["scores"]["fused"] / 1_000_000
    assert (told["sparse"], told["considered"], told["notes"]) == (False, 2, [])


def test_an_index_over_the_state_is_asked_with_a_state(archive, run, tmp_path):
    (tmp_path / "s.json").write_text(json.dumps({"memory": ["Mira keeps the key", "the ferry sails"]}), encoding="utf-8")
    done = run("index", "query", str(archive), "memory", "the key", "--state", str(tmp_path / "s.json"))
    assert done.code == 0 and "Mira keeps the key" in done.out
    refused = run("index", "query", str(archive), "memory", "who might have some key to the old mill", "--state", str(tmp_path / "s.json"))
    assert refused.code == 1 and ": under the floor (words 0." in refused.out
    missing = run("index", "query", str(archive), "memory", "the key")
    assert missing.code == 2 and "PC0731" in missing.err and "--state" in missing.err
    files = run("index", "query", str(archive), "rules", "the key", "--state", str(tmp_path / "s.json"))
    assert files.code == 2 and "PC0731" in files.err


BAD = ROOT / "fixtures/bad/PC0592"


LONG = [
    "who had left a key by our mill door",
    "the ferry was never where I had left it",
    "the mill and the ferry and the road and the hill",
]


@pytest.mark.parametrize("query", LONG)
def test_a_score_is_the_same_wherever_it_is_told(run, query):
    """In the warning, its advice, the stages, the story of the section and the answer to a query; rounded, each would be another."""
    asked = (str(BAD), str(BAD / "state.json"))
    changed = ("--set", f"/input={json.dumps(query)}")
    look = ("index", "query", str(BAD), "notes", query, "--state", asked[1])
    best = json.loads(run(*look, "--json").out)["refused"][0]
    micro = round(best["score"] * 1_000_000)
    cut = f"0.{micro // 1000:03}"
    assert micro % 1000 >= 500
    warned = run("render", *asked, *changed).err
    assert f"`{best['id']}` with {cut} (words {cut}, " in warned and f"lower `floor` to {cut}, or" in warned
    assert f"{cut}  {best['id']}: under the floor (words {cut}, " in run(*look).out
    for how in ("--stages", "--why"):
        assert f"{cut} `{best['id']}` (words {cut}, " in run("explain", *asked, *changed, how, "found", "--width", "200").out


def test_a_query_that_finds_nothing(built, run):
    done = run("index", "query", ".", "rules", "router password")
    assert (done.code, done.out) == (1, "0 candidates, 0 of the best under the floor\n")


@pytest.mark.parametrize("floor", ["-1", "1.5", "x", "", ".", "0.1234567", "2"])
def test_a_floor_that_is_none(floor, built, run):
    done = run("index", "query", ".", "rules", "rest", "--floor", floor)
    assert done.code == 2 and "PC0721" in done.err


def test_eval(built, run, golden):
    done = run("index", "eval", ".", "rules", "queries.tsv", "--version", "2.0")
    assert (done.code, done.err) == (0, "")
    golden("index_eval.txt", done.out)


def test_eval_puts_every_query_into_a_state(built, run):
    """A pack whose schema asks for more than a query is measured on a state that has it."""
    found = '  - {id: found, items: {from: {retrieve: {index: rules, query: state.input}}, text: "{{ item.text }}"}}\n'
    schema = {"type": "object", "required": ["input", "now"], "properties": {"input": {"type": "string"}, "now": {"type": "string"}}}
    (built / "pack.yaml").write_text(PACK.replace("budget:", "state: {schema: s.json}\nbudget:") + found, encoding="utf-8")
    (built / "s.json").write_text(json.dumps(schema), encoding="utf-8")
    (built / "state.json").write_text('{"now": "noon"}', encoding="utf-8")
    refused = run("index", "eval", ".", "rules", "queries.tsv")
    assert "each query goes into an empty state" in refused.err and "add `--state FILE`" in refused.err
    assert refused.code == 3 and "PC0303 the state is missing the key `now`" in refused.err
    done = run("index", "eval", ".", "rules", "queries.tsv", "--state", "state.json")
    assert (done.code, done.err) == (0, "") and "recall as rendered by `found`" in done.out
    for pointer, place in (("/now", "column /now:1:1: PC0302 "), ("/now/x", "PC0722 `column /now/x` leads nowhere")):
        (built / "kinds.tsv").write_text("query\texpected\tkind\ncellar\t\ttall\n", encoding="utf-8")
        (built / "s.json").write_text(json.dumps(schema | {"properties": {"input": {"type": "string"}, "now": {"const": "noon"}}}), "utf-8")
        wrong = run("index", "eval", ".", "rules", "kinds.tsv", "--state", "state.json", "--column", f"kind={pointer}")
        assert place in wrong.err and "--set" not in wrong.err, wrong.err
    missing = run("index", "eval", ".", "rules", "queries.tsv", "--state", "none.json")
    assert missing.code == 4 and "cannot read the state none.json" in missing.err


@pytest.mark.parametrize(("least", "code"), [("0.666", 0), ("0.666666", 0), ("0.666667", 1), ("0.667", 1), ("1", 1)])
@pytest.mark.parametrize("sections", [False, True])
def test_eval_as_a_gate(least, code, sections, built, run):
    """Two of three are found: the share is compared as it is, not as it is shown."""
    if sections:
        source = """{retrieve: {index: rules, query: state.query, version: "'2.0'"}}"""
        found = f"  - {{id: found, items: {{from: {source}, text: '{{{{ item.text }}}}'}}}}\n"
        (built / "pack.yaml").write_text(PACK + found, encoding="utf-8")
    version = () if sections else ("--version", "2.0")
    assert run("index", "eval", ".", "rules", "queries.tsv", *version, "--min-recall", least).code == code


def test_eval_as_json(built, run):
    told = json.loads(run("index", "eval", ".", "rules", "queries.tsv", "--version", "2.0", "--json").out)
    assert told["queries"] == 4 and told["judged"][0]["rank"] == 1
    assert told["judged"][3] == {"query": "router password", "rank": None, "in_cap": False, "best": 0, "flagged": True, "idle": None}


@pytest.mark.parametrize(("floor", "place"), [("", "the index"), (", floor: 0.3", "`retrieve` of `found`, which has a floor of its own")])
def test_where_the_chosen_floor_is_to_be_written(floor, place, built, run):
    source = f"{{retrieve: {{index: rules, query: state.input, version: state.edition{floor}}}}}"
    found = f'  - {{id: found, items: {{from: {source}, text: "{{{{ item.text }}}}"}}}}\n'
    (built / "pack.yaml").write_text(PACK + found, encoding="utf-8")
    asked = ("index", "eval", ".", "rules", "queries.tsv", "--version", "2.0", "--floors")
    told = json.loads(run(*asked, "--json").out)
    assert run(*asked).out.splitlines()[-1].endswith(f"Write it into {place}: `floor: {told['chosen']:.3f}`")
    assert [*told["floors"][0]] == ["floor", "recall", "pages", "rejected"] and told["section"] == "found"
    assert told["chosen"] in [one["floor"] for one in told["floors"] if one["rejected"] >= told["rejects"]]


@pytest.mark.parametrize("tries", ["--floors", "--leads"])
@pytest.mark.parametrize("other", [("--floor", "0.2"), ("--min-recall", "0.2"), ("--cap", "100")])
def test_floors_and_leads_are_tried_alone(other, tries, built, run):
    done = run("index", "eval", ".", "rules", "queries.tsv", tries, *other)
    assert done.code == 2 and f"`{tries}` cannot be combined with `{other[0]}`" in done.err


def test_no_floor_is_chosen_where_no_query_has_an_answer(built, run):
    found = '  - {id: found, items: {from: {retrieve: {index: rules, query: state.input}}, text: "{{ item.text }}"}}\n'
    (built / "pack.yaml").write_text(PACK + found, encoding="utf-8")
    (built / "junk.tsv").write_text("router password\t\n", encoding="utf-8")
    done = run("index", "eval", ".", "rules", "junk.tsv", "--floors")
    assert done.code == 2 and "no query has an answer, so no floor finds more than another" in done.err


def test_an_answer_that_no_chunk_holds(built, run):
    (built / "queries.tsv").write_text("who acts first\tcombat.md#Initiatives\n", encoding="utf-8")
    done = run("index", "eval", ".", "rules", "queries.tsv")
    assert done.code == 2 and "no chunk holds `combat.md#Initiatives`, the answer to `who acts first`" in done.err


def test_queries_that_are_not_there(built, run):
    assert run("index", "eval", ".", "rules", "none.tsv").code == 4


def test_status(built, run, golden):
    ready = run("index", "status", ".")
    assert (ready.code, ready.err) == (0, "")
    (built / "rules/1.0/combat.md").write_text("# Combat\n\nother\n", encoding="utf-8")
    (next((built / "data/2.0").glob("*/words.json"))).write_text("", encoding="utf-8")
    done = run("index", "status", ".", "rules")
    assert done.code == 1
    golden("index_status.txt", ready.out + done.out + done.err)


def test_an_index_over_the_state_is_not_built(archive, run):
    done = run("index", "build", ".", "memory")
    assert done.code == 2 and "PC0731" in done.err


def test_a_pack_without_indexes(run):
    done = run("index", "build", "starters/chat")
    assert done.code == 2 and "the pack has no index over files" in done.err


def test_a_stale_index_is_not_asked(built, run):
    (built / "rules/1.0/combat.md").write_text("# Combat\n\nother\n", encoding="utf-8")
    done = run("index", "query", ".", "rules", "first")
    assert (done.code, done.out) == (4, "") and "promptc index build pack.yaml rules" in done.err


def test_an_unknown_command(run):
    done = run("index", "bild")
    assert done.code == 2 and "there is no command `index bild`" in done.err and "did you mean `build`" in done.err


# --- What is asked of an index ---

LINES = """query	expected
my turn now, or hers?	combat.md#Initiative
I want to go before them	combat.md#Initiative
I sleep till noon	rest.md#Rest
brb
how was your week?
"""
ASKING = PACK.replace(
    "    synonyms: synonyms.yaml\n", '    vectors: {encoder: minilm-int8}\n    asked: "rules/{version}/asked.tsv"\n    lead: 0.05\n'
).replace(
    "  - {id: main, text: hello}",
    "  - {id: found, items: {from: {retrieve: {index: rules, query: state.input, version: state.edition}}, text: '{{ item.text }}'}}",
)


@pytest.fixture
def asking(archive, run):
    (archive / "pack.yaml").write_text(ASKING, encoding="utf-8")
    (archive / "rules/2.0/asked.tsv").write_text(LINES, encoding="utf-8")
    return archive, run("index", "build", ".")


def test_a_build_and_the_status_count_what_is_asked(asking, run, golden):
    _, done = asking
    assert done.code == 0 and all(line.startswith("encoding rules ") for line in done.err.splitlines()), "progress, where it takes long"
    golden("index_asked.txt", done.out + run("index", "status", ".").out)


def test_a_query_shows_the_line_by_which_a_chunk_was_found_or_it_is_idle(asking, run, golden):
    found = run("index", "query", ".", "rules", "is it my turn now?", "--version", "2.0")
    idle = run("index", "query", ".", "rules", "brb guys", "--version", "2.0")
    assert (found.code, idle.code) == (0, 1)
    golden("index_idle.txt", found.out + idle.out)
    told = json.loads(run("index", "query", ".", "rules", "brb guys", "--version", "2.0", "--json").out)
    assert told["idle"] == [{"index": "rules", "line": "brb"}] and told["found"] == []


@pytest.mark.dear
def test_eval_tells_what_is_lost_to_an_idle_line(asking, run, golden):
    folder, _ = asking
    (folder / "known.tsv").write_text(
        "query	expected\nis it my turn now	combat.md#Initiative\nhow was your long rest this week?	rest.md#Rest\nhow was the week	\n",
        encoding="utf-8",
    )
    done = run("index", "eval", ".", "rules", "known.tsv", "--version", "2.0")
    leads = run("index", "eval", ".", "rules", "known.tsv", "--version", "2.0", "--leads")
    golden("index_leads.txt", done.out + leads.out)
    assert "(idle, near `how was your week?`)" in done.out
    told = json.loads(run("index", "eval", ".", "rules", "known.tsv", "--version", "2.0", "--json").out)
    assert [(one["lost"], one["idle"]) for one in told["rendered"]["judged"]] == [
        (None, None),
        ("idle", "how was your week?"),
        (None, "how was your week?"),
    ]


@pytest.mark.usefixtures("asking")
def test_leads_need_idle_lines_and_one_table_is_drawn_at_a_time(run):
    both = run("index", "eval", ".", "rules", "queries.tsv", "--version", "2.0", "--floors", "--leads")
    assert both.code == 2 and "`--floors` and `--leads` cannot be combined" in both.err
    without = run("index", "eval", ".", "rules", "queries.tsv", "--version", "1.0", "--leads")
    assert without.code != 0 and "PC0" in without.err
