"""What indexes retrieve, as items: requests, conditions, scores, and what is told of them."""

import pytest

from promptc.diag.findings import PromptcError
from tests.unit.passes.small_sources import SmallSources, compile_small, load_small, render_small

NOTES = [
    {"id": "n1", "text": "Ada would not look at the bell.", "kind": "person"},
    {"id": "n2", "text": "The bell of Sele is cracked.", "kind": "place"},
    {"id": "n3", "text": "Bread was dear.", "kind": "place"},
    {"id": "n4", "text": " "},
]
STATE = {"notes": NOTES, "query": "cracked bell", "kind": None}
INDEX = "indexes: {notes: {from: state.notes, id: item.id, text: '{{ item.text }}'}}\n"
STRAIN = (
    "strain:\n  count: [log]\n  tiers: [{name: low, at: 0}, "
    "{name: high, at: 0.5, sections: {found: {items: {from: {retrieve: {top: 1}}}}}}]\n"
)


@pytest.fixture
def load(tmp_path):
    def call(source="index: notes, query: state.query, floor: 0.01", more="", rest=""):
        items = f"from: {{retrieve: {{{source}}}}}\n      text: '{{{{ item.text }}}}'\n"
        return load_small(tmp_path, f"{INDEX}{rest}sections:\n  - id: found\n    items:\n      {items}{more}")

    return call


def test_the_best_come_first_and_are_called_by_their_ids(load):
    outcome = compile_small(load(), STATE, SmallSources())
    (section,) = outcome.report["sections"]
    assert [item["id"] for item in section["items"]] == ["n2", "n1"]
    scores = [chunk["score"] for chunk in section["source"]["chunks"]]
    assert scores == sorted(scores, reverse=True) and section["source"]["queries"] == ["cracked bell"]
    assert outcome.report["flags"] == {} and list(outcome.report["digests"]["indexes"]) == ["notes"]


# contract 4.34
def test_an_item_has_the_keys_of_what_it_was_made_of(load):
    pack = load("index: notes, query: state.query, floor: 0.01, where: item.kind == 'person'")
    assert render_small(pack, STATE, SmallSources()) == "Ada would not look at the bell.\n"


def test_a_boost_is_added_after_the_floor(load):
    source = "index: notes, query: state.query, floor: 0.01, boost: [{add: 0.5, where: item.kind == state.kind}]"
    outcome = compile_small(load(source), {**STATE, "kind": "person"}, SmallSources())
    chunks = outcome.report["sections"][0]["source"]["chunks"]
    assert [(one["id"], one["boost"]) for one in chunks] == [("n1", 0.5), ("n2", 0)]


# contract 4.33
@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("", "its query is empty"),
        ("  ", "its query is empty"),
        (" \u3000\n", "its query is empty"),
        (None, "its query is empty"),
        ("?!", "there is no word in its query `?!`"),
        ("\u200b", 'there is no word in its query `"\u200b"`'),
        ("🐉 …", "there is no word in its query `🐉 …`"),
    ],
)
def test_a_query_without_words_opens_no_index_and_retrieves_nothing(load, query, why):
    sources = SmallSources()
    outcome = compile_small(load(), {**STATE, "query": query}, sources)
    assert sources.asked == [] and outcome.report["sections"][0]["state"] == "empty"
    assert outcome.report["flags"] == {"retrieval_sparse": ["found"]}
    (found,) = outcome.warnings
    assert (found.code, found.message) == ("PC0592", f"`found` retrieves nothing: {why}")
    assert "`when`" in found.help and "`sparse_below: 0`" in found.help and found.span.line == 10


# contract 4.33, 13.13 and 13.14
@pytest.mark.parametrize(
    "source", ["[state.other, state.query]", "state.both", "'[state.other, state.query]'", "[state.none, state.both, state.none]"]
)
def test_several_queries_are_asked_and_the_report_tells_which_found_what(load, source):
    both = ["bread", " cracked  bell"]
    state = {**STATE, "query": both[1], "other": "bread", "none": None, "both": both}
    outcome = compile_small(load(f"index: notes, query: {source}, floor: 0.01"), state, SmallSources())
    asked = outcome.report["sections"][0]["source"]
    assert asked["queries"] == ["bread", "cracked bell"]
    assert {one["id"]: one["query"] for one in asked["chunks"]} == {"n3": 0, "n2": 1, "n1": 1}


def test_queries_of_which_none_has_a_word_retrieve_nothing(load):
    pack = load("index: notes, query: [state.query, state.kind, state.query]")
    told = [compile_small(pack, {**STATE, "query": query}, SmallSources()).warnings[0].message for query in ("", "?!")]
    assert told == [
        f"`found` retrieves nothing: {why}" for why in ("all its queries are empty", "there is no word in its queries `?!`, `?!`")
    ]


@pytest.mark.parametrize(
    ("source", "help"),
    [
        ("floor: 0.99", "lower `floor` to 0."),
        ("floor: 0.01, top: 1, sparse_below: 2", "raise `top`, or lower `sparse_below`"),
    ],
)
def test_what_retrieves_too_little_is_told_what_to_change(load, source, help):
    (found,) = compile_small(load(f"index: notes, query: state.query, {source}"), STATE, SmallSources()).warnings
    assert found.code == "PC0592" and found.help is not None and found.help.startswith(help)


# contract 13.15
@pytest.mark.parametrize("query", ["", "?!", "zeppelin", "cracked bell"])
@pytest.mark.parametrize("notes", [NOTES, [], None])
@pytest.mark.parametrize("source", ["", ", where: item.kind == 'ship'", ", floor: 0.99", ", top: 1, sparse_below: 2", ", sparse_below: 0"])
def test_what_is_flagged_is_warned_of_and_nothing_else(load, query, notes, source):
    outcome = compile_small(load(f"index: notes, query: state.query{source}"), {**STATE, "notes": notes, "query": query}, SmallSources())
    flagged = outcome.report["flags"].get("retrieval_sparse", [])
    assert [one.code for one in outcome.warnings] == ["PC0592"] * len(flagged)
    assert bool(flagged) == (source != ", sparse_below: 0" and not (query == "cracked bell" and notes and source == ""))


def test_the_default_ladder_removes_the_lowest_score_first(load):
    outcome = compile_small(load(more="    budget: {chars: 30}\n"), STATE, SmallSources())
    assert [item["id"] for item in outcome.report["sections"][0]["items"]] == ["n2"]
    assert [cut["items"] for cut in outcome.report["cuts"]] == [["n1"]]


def test_a_tier_asks_again(load):
    log = "  - {id: log, budget: 10, text: '{{ state.log }}'}\n"
    pack = load(more=log, rest=STRAIN)
    low = compile_small(pack, {**STATE, "log": "x"}, SmallSources()).report
    high = compile_small(pack, {**STATE, "log": "x" * 30}, SmallSources()).report
    assert [len(one["sections"][0]["items"]) for one in (low, high)] == [2, 1] and high["strain"] == "high"


def test_a_pack_asked_twice_answers_by_the_state_it_is_given(load):
    """One retriever for both: what it remembers must not be taken for another state's answer."""
    pack = load("index: notes, query: state.query, floor: 0.01, where: item.kind == state.kind")
    sources = SmallSources()
    texts = [render_small(pack, {**STATE, "kind": kind}, sources) for kind in ("person", "place", "person")]
    assert texts[0] == texts[2] != texts[1]
    whole = load("index: notes, query: state.query, floor: 0.01, where: item.id in state.values()")
    first, second = (render_small(whole, {**STATE, "wanted": wanted}, sources) for wanted in ("n1", "n2"))
    assert first != second


def test_a_key_that_is_missing_is_not_one_whose_value_is_that_of_the_key_above(load):
    """`{}` and `{"all": {}}` both lead to `{}`, and the answer of one must not be given to the other: `visible` has the same keys."""
    pack = load("index: notes, query: state.query, floor: 0.01, where: item.kind == 'person' or state.shown.all is mapping")
    sources = SmallSources()
    shown = [render_small(pack, {**STATE, "shown": one}, sources) for one in ({}, {"all": {}}, {})]
    assert shown[0] == shown[2] and "Sele" in shown[1] and "Sele" not in shown[0]


@pytest.mark.parametrize(
    ("source", "value", "code"),
    [
        ("index: notes, query: state.x", 7, "PC0554"),
        ("index: notes, query: [state.query, state.x]", {}, "PC0554"),
        ("index: notes, query: state.x", ["bell", 7], "PC0554"),
        ("index: notes, query: state.query, version: state.x", 2, "PC0555"),
    ],
)
def test_what_is_no_text_is_said(load, source, value, code):
    with pytest.raises(PromptcError) as raised:
        render_small(load(source), {**STATE, "x": value}, SmallSources())
    assert [one.code for one in raised.value.diagnostics] == [code]


def test_an_index_is_over_a_list(load):
    with pytest.raises(PromptcError) as raised:
        render_small(load(), {**STATE, "notes": {"n1": "x"}}, SmallSources())
    assert [one.code for one in raised.value.diagnostics] == ["PC0556"]
    assert compile_small(load(), {**STATE, "notes": None}, SmallSources()).report["flags"] == {"retrieval_sparse": ["found"]}


# contract 4.34
def test_items_without_text_are_no_entries(load):
    sources = SmallSources()
    render_small(load(), STATE, sources)
    assert sources.asked == [("notes", ("n1", "n2", "n3"))]


@pytest.mark.parametrize("queries", [[f"bell {number}" for number in range(10_000)], ["bell " * 500_000]], ids=["many", "long"])
def test_queries_are_paid_for(load, queries):
    """Each is scored, so a state may not have any number of them. What is kept of an answer changes nothing."""
    pack, sources = load(), SmallSources()
    assert render_small(pack, STATE, sources)
    for _ in range(2):
        with pytest.raises(PromptcError) as raised:
            compile_small(pack, {**STATE, "query": queries}, sources)
        assert [one.code for one in raised.value.diagnostics] == ["PC0590"]
