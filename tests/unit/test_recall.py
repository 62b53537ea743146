"""Known queries, rendered: what counts as found, where an answer was lost, and where the columns of a file of queries go."""

import os

import pytest

from promptc.api import Pack
from promptc.diag.findings import UsageError
from promptc.frontend.corpus import build_corpus, open_corpus, read_queries
from promptc.recall import RenderedQuery, RenderedRecall, RenderedVerdict, choose_verdicts
from promptc.sources.retrieval.encoder import KNOWN, SIZE
from promptc.sources.retrieval.retrieve import NO_LEAD, Answer, KnownAnswer, Retriever
from promptc.text.counters.counter import Meter
from tests.retrieval_drawing import WordEncoder

PACK = """promptc: 1
name: small
version: 1.0.0
tokenizer: chars/4
budget: 1000
let: {said: "state.scene.topic | trim"}
indexes: {rules: {corpus: "{version}/*.md", floor: 0.2}}
sections:
  - id: found
    budget: 60
    items:
      from:
        retrieve:
          index: rules
          query: [state.input, said]
          version: state.edition
          where: item.mode is none
          top: 2
      text: "{{ item.text }}"
    overflow: [{evict: {by: item.score}}]
  - {id: other, text: "{{ state.input }}"}
"""
PAGES = {
    "one/bell.md": "# Bell\n\nThe bell of Sele is cracked.",
    "one/bread.md": "# Bread\n\nBread is dear in winter, and salt is dearer.",
    "one/bread-two.md": "# Loaf\n\nBread bread bread.",
    "one/bread-three.md": "# Crumb\n\nBread bread.",
    "one/long.md": "# Keel\n\nA keel sails the fog." + " It sails on." * 30,
    "one/secret.md": "---\nmode: dm\n---\n# Secret\n\nThe treasure lies under the oak.",
    "two/ship.md": "# Ship\n\nA galleon.",
}
QUERIES = """query\texpected\ttopic\tkind
cracked bell of sele\tbell.md#Bell\t\tneedle
bread in winter\tbread.md#Bread\t\tneedle
bread\tbread.md#Bread\t\tneedle
keel fog\tlong.md#Keel\t\tneedle
treasure under oak\tsecret.md#Secret\t\tneedle
galleon\tship.md#Ship\t\tneedle
what a winter this was and how very cold\tbread.md#Bread\t\tlong
ok\tbell.md#Bell\tcracked bell\ttopic
pizza\t\t\tjunk
ok\t\tcracked bell\tjunk
"""


@pytest.fixture
def small(tmp_path):
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    for name, text in PAGES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    pack = Pack.load(tmp_path)
    (index,) = pack.model.indexes
    meter = Meter(pack.counter)
    list(build_corpus(index, count=lambda text: meter.tokens(meter.count(text)), counter=pack.counter.digest, load_encoder=lambda: None))
    return pack, open_corpus(index, pack.counter.digest, None, os.environ)


def judge(small, text=QUERIES, floor=None, **given):
    pack, opened = small
    rendered = RenderedRecall(pack, "rules", **({"version": "one"} | given))
    return rendered.judge(read_queries(text.encode(), "q.tsv"), opened, floor)


# contract 14.13
def test_of_each_query_it_is_told_whether_its_answer_is_in_the_prompt_or_where_it_was_lost(small):
    verdict = judge(small)
    lost = [None, None, "beyond top", "over the cap", "refused", "refused", "under the floor", None, None, None]
    assert [one.lost for one in verdict.judged] == lost
    assert [one.held for one in verdict.judged][-3:] == [1, 0, 1]
    assert verdict.recall == 3 * 1000 // 8 and verdict.rejected == 500, "junk with a topic that a page answers is not rejected"


def test_another_floor_is_that_of_the_same_render(small):
    low, high = judge(small, floor=10_000), judge(small, floor=900_000)
    assert low.judged[6].lost is None and low.judged[6].score == high.judged[6].score > 10_000
    assert high.recall == 0 and high.rejected == 1000
    assert {one.lost for one in high.judged if one.known.answers} == {"under the floor", "refused"}


SHIPS = "indexes: {ships: {from: \"[{'id': 'a', 'text': 'A pizza ship'}]\", id: item.id, text: '{{ item.text }}'}, rules:"


def change(small, tmp_path, *changes):
    text = PACK
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "pack.yaml").write_text(text, encoding="utf-8")
    return Pack.load(tmp_path), small[1]


def test_another_floor_is_not_that_of_another_index_which_the_section_asks_too(small, tmp_path):
    both = change(small, tmp_path, ("indexes: {rules:", SHIPS), ("index: rules", "index: [rules, ships]"))
    pizza = judge(both, floor=1_000_000).judged[8]
    assert (pizza.known.query, pizza.held) == ("pizza", 1)


def test_the_floor_that_a_section_has_of_its_own_is_changed_where_it_is_the_one_measured(small, tmp_path):
    request = "{index: rules, query: state.input, version: state.edition, floor: 0.99, top: 1}"
    first = f"  - {{id: first, items: {{from: {{retrieve: {request}}}, text: '{{{{ item.text }}}}'}}}}\n"
    where = ("      text:", "      dedupe: {by: item.id, against: [first]}\n      text:")
    alone = judge(small, floor=10_000).judged
    assert judge(change(small, tmp_path, ("sections:\n", f"sections:\n{first}"), where), section="found", floor=10_000).judged == alone
    own = change(small, tmp_path, ("index: rules", "index: rules\n          floor: 0.99"))
    assert judge(own).recall == 0 and judge(own, floor=10_000).judged == alone


def test_another_lead_is_that_of_the_index_alone(small, tmp_path):
    pack, (rules,) = change(small, tmp_path, ("indexes: {rules:", SHIPS), ("index: rules", "index: [rules, ships]"))
    heard = []

    class Ears(Retriever):
        def ask(self, indexes, request):
            heard.append(({one.name: one.lead for one in indexes}, request.lead))
            return super().ask(indexes, request)

    rendered = RenderedRecall(pack, "rules", version="one", retriever=Ears())
    rendered.judge(read_queries(b"query\texpected\ttopic\npizza\t\t\n", "q.tsv"), [rules], 70_000, "lead")
    assert heard[0] == ({"ships": 0, "rules": 70_000}, None)


def test_a_column_goes_where_the_request_reads_a_key_of_its_name_or_where_it_is_told_to(small):
    told = judge(small, columns={"query": "/scene/topic", "topic": "/input"})
    assert [one.lost for one in told.judged] == [one.lost for one in judge(small).judged]
    plain = judge(small, "query\texpected\ttopic\tedition\nA galleon\tship.md#Ship\t\ttwo\n", version=None)
    assert plain.recall == 1000


def test_another_section_that_asks_the_index_first_decides_nothing(small, tmp_path):
    alone = judge(small).judged
    source = "{retrieve: {index: rules, query: \"'sele'\", version: state.edition, top: 1}}"
    first = f"  - {{id: first, items: {{from: {source}, text: '{{{{ item.text }}}}'}}}}\n"
    (tmp_path / "pack.yaml").write_text(PACK.replace("sections:\n", f"sections:\n{first}"), encoding="utf-8")
    assert judge((Pack.load(tmp_path), small[1]), section="found").judged == alone


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"section": "other"}, "the section `other` does not retrieve from the index `rules`"),
        ({"columns": {"tpoic": "/scene/topic"}}, "the queries have no column `tpoic`"),
    ],
)
def test_what_cannot_be_rendered_is_refused(small, given, why):
    with pytest.raises(UsageError) as raised:
        judge(small, **given)
    assert [(one.code, one.message) for one in raised.value.diagnostics] == [("PC0732", why)]


def verdict(value, recall, rejected):
    def make(answers, right, count=10):
        lost = [None if place < right else "not found" for place in range(count)]
        return [RenderedQuery(KnownAnswer("q", answers), one, 0, 0 if one is None else 1) for one in lost]

    return RenderedVerdict(value, (*make((Answer("a.md", "A"),), recall), *make((), rejected)))


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ([(1, 9, 5), (2, 8, 9), (3, 8, 10), (4, 6, 10)], ([3], 3)),
        ([(1, 9, 5), (2, 8, 8), (3, 8, 8), (4, 9, 7)], ([2, 3], 2)),
        ([(1, 2, 10)], ([1], 1)),
        ([(1, 8, 8), (2, 8, 9), (3, 8, 9), (4, 8, 9), (5, 8, 9), (6, 8, 9), (7, 7, 9)], ([2, 3, 4, 5, 6], 4)),
        ([(1, 8, 9), (2, 7, 9), (3, 8, 9), (4, 8, 9), (5, 8, 9), (6, 6, 9)], ([3, 4, 5], 4)),
        ([(0, 8, 9), (1, 8, 9), (2, 8, 9), (3, 6, 9)], ([0, 1, 2], 0)),
    ],
)
def test_the_middle_of_the_values_that_find_most_of_those_that_reject_enough(given, chosen):
    one, alike = choose_verdicts([verdict(*one) for one in given], 900)
    assert ([other.value for other in alike], one.value) == chosen


def test_what_is_lost_to_an_idle_line_is_told_with_it(small, tmp_path):
    """With vectors of words: `idle` is where an answer is lost that a lead of nothing finds."""
    encoder = WordEncoder()
    text = PACK.replace("floor: 0.2", "floor: 0.2, vectors: {encoder: minilm-int8}, asked: asked.tsv, lead: 0.3")
    (tmp_path / "pack.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "asked.tsv").write_text("who cracked it\tone/bell.md#Bell\nbread in winter, please\n", encoding="utf-8")
    pack = Pack.load(tmp_path)
    (index,) = pack.model.indexes
    meter = Meter(pack.counter)
    encoder.id, encoder.digest, encoder.size = "minilm-int8", KNOWN["minilm-int8"], SIZE
    list(build_corpus(index, count=lambda text: meter.tokens(meter.count(text)), counter=pack.counter.digest, load_encoder=lambda: encoder))
    opened = open_corpus(index, pack.counter.digest, None, os.environ)
    rendered = RenderedRecall(pack, "rules", version="one", retriever=Retriever(lambda name: encoder))
    known = read_queries(
        b"query\texpected\ttopic\nbread in winter\tbread.md#Bread\t\ncracked bell\tbell.md#Bell\t\nbread, please\t\t\n", "q"
    )
    told = rendered.judge(known, opened)
    assert [(one.lost, one.idle, one.held) for one in told.judged] == [
        ("idle", "bread in winter, please", 0),
        (None, None, 1),
        (None, "bread in winter, please", 0),
    ]
    assert told.judged[0].score > 200_000 and (told.recall, told.rejected) == (500, 1000)
    less = rendered.judge(known, opened, NO_LEAD, "lead")
    assert (less.recall, less.rejected) == (1000, 0) and less.judged[0].score == told.judged[0].score
    assert rendered.judge(known, opened, 900_000, "lead").recall == 0
