"""The facts of a block map."""

import json
from html.parser import HTMLParser
from textwrap import dedent

import pytest

import promptc
from promptc.blockmap import draw_map, show_plain
from promptc.cli.views.blockmap import render_html, render_json, render_markdown
from promptc.diag.findings import UsageError
from tests.contract.sources import ROOT
from tests.packs import load_pack

HEAD = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\n"


def _draw(folder, body, *, cases=None, patches=(), budget="budget: 1000\n", files=None):
    (folder / "pack.yaml").write_text(HEAD + budget + dedent(body).lstrip("\n"), encoding="utf-8")
    for name, text in (files or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return draw_map(promptc.load(folder).model, cases or {}, patches)


def _plain(phrases):
    return [show_plain(one) for one in phrases]


def _block(drawn, name):
    return next(block for block in drawn.blocks if block.id == name)


# --- system E: the map says what the document's table says ---

COMPANION = {
    # block: source, data, caps, dedupe, each a part that must be there (None: nothing at all)
    "realtime": ("realtime.md.j2", "`state.weather", None, None),
    "session_state": ("session_state.md.j2", "`state.session_state.", None, None),
    "persona": ("templates/personas/", None, "pinned", None),
    "foundation": ("`state.memories`", "item.pinned and memory", "limit 20", None),
    "relevant": ("`state.candidates", "where `memory`", "limit 8", "by `item.content`, normalised"),
    "commitments": ("`todos`", "loop_of(item, 'COMMITMENT', 'PENDING')", "limit 5", "by `item.content`, normalised"),
    "threads": ("`todos`", "loop_of(item, 'THREAD', 'PENDING')", "limit 3", "by `item.content`, normalised"),
    "frictions": ("`todos`", "loop_of(item, 'FRICTION', 'PENDING')", "limit 3", "by `item.content`, normalised"),
    "wins": ("`state.todos", "loop_of(item, 'COMMITMENT', 'COMPLETED')", "limit 3", None),
    "user_seed": ("text", "`state.user_seed`", "800 characters", None),
    "summary_spine": ("text", "`state.summary_spine`", "1200 characters", None),
    "rolling_summary": ("text", "`state.session_state.rolling_summary`", "600 characters", None),
    "session_summary": ("text", "`state.session_summary`", "600 characters", None),
    "recent": ("`messages`", "item.persona == state.persona", "the last 6 items", None),
    "input": ("text", "`state.transcript`", None, None),
}


def test_the_map_of_the_companion_says_what_its_document_says():
    drawn = draw_map(load_pack("packs/companion").model, {})
    assert [block.id for block in drawn.blocks] == list(COMPANION)
    for block in drawn.blocks:
        cells = (show_plain(block.source), *(" ".join(_plain(cell)) for cell in (block.data, block.caps, block.dedupe)))
        for cell, wanted in zip(cells, COMPANION[block.id], strict=True):
            assert (wanted in cell) if wanted is not None else not cell, (block.id, cell, wanted)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("foundation", ["item.pinned and memory", "`state.persona`"]),
        ("relevant", ["where `memory`", "the last 12 items", "PROFILE 2, PEOPLE 3, PROJECT 3", "against `foundation`"]),
        ("commitments", ["loop_of(item, 'COMMITMENT', 'PENDING')"]),
        ("threads", ["loop_of(item, 'THREAD', 'PENDING')"]),
        ("frictions", ["loop_of(item, 'FRICTION', 'PENDING')"]),
        ("wins", ["loop_of(item, 'COMMITMENT', 'COMPLETED')", "48"]),
        ("recent", ["each item 800 characters", "oldest first"]),
        ("summary_spine", ["`state.features.summary_spine`"]),
    ],
)
def test_more_of_it(name, facts):
    block = _block(draw_map(load_pack("packs/companion").model, {}), name)
    said = " ".join(_plain((*block.data, *block.caps, *block.dedupe, *block.notes)))
    assert [fact for fact in facts if fact not in said] == []


# --- each column ---


def test_a_text_and_a_file(tmp_path):
    drawn = _draw(tmp_path, "sections: [{id: a, text: 'x'}, {id: b, template: b.md.j2}]", files={"b.md.j2": "{{ state.name }}"})
    assert [show_plain(block.source) for block in drawn.blocks] == ["inline text", "`b.md.j2`"]
    assert _plain(_block(drawn, "b").data) == ["`state.name`"] and _block(drawn, "a").data == ()


def test_names_of_let_are_told_by_what_they_read(tmp_path):
    body = """
        let: {rows: state.log, few: "rows | sort(attribute='at')", band: {band: state.hp, of: {low: 0, high: 5}}}
        sections: [{id: a, items: {from: few, where: band == 'low', text: "{{ item.text }}"}}]
    """
    block = _block(_draw(tmp_path, body), "a")
    assert show_plain(block.source) == "`few`; each as inline text"
    assert _plain(block.data) == ["`state.hp`, `state.log`", "of each item: `text`", "where `band == 'low'`"]


def test_caps_in_the_order_of_the_stages(tmp_path):
    body = """
        sections:
          - id: log
            budget: {min: 20, max: 300}
            items:
              from: state.log
              text: "{{ item.text }}"
              window: {last: 12, min: 2, max: 14, step: 3}
              anchors: {where: item.hinge, last: 3, within: 200}
              keep: [{where: item.type == 'CHOICE', last: 1}]
              limit_per: {by: item.type, caps: {a: 2, b: 3}}
              limit: {last: 4}
              trim_each: {to: {chars: 80}, at: word}
          - {id: share, text: "{{ state.x }}", budget: "15%"}
          - {id: rest, text: "{{ state.y }}", budget: {grow: 2, over: warn}}
          - {id: rules, text: Be kind., pinned: true}
    """
    drawn = _draw(tmp_path, body)
    assert _plain(_block(drawn, "log").caps) == [
        "window: the last 12 items, at least 2, at most 14, in steps of 3",
        "anchors 3 of the 200 before the window where `item.hinge`",
        "keeps 1 of the last 1000 where `item.type == 'CHOICE'`",
        "for each `item.type`: a 2, b 3",
        "limit 4 (the last)",
        "each item 80 characters, at word",
        "budget 300 tokens, at least 20 tokens",
    ]
    assert _plain(_block(drawn, "share").caps) == ["budget 15% of the total"]
    assert _plain(_block(drawn, "rest").caps) == ["budget a share of what is left, weight 2, a warning over it"]
    assert _plain(_block(drawn, "rules").caps) == ["pinned"]


def test_what_stays_where_it_stood(tmp_path):
    body = """
        sections:
          - {id: lore, budget: 90, items: {from: state.lore, freeze: {shown: state.shown}, text: "{{ item.text }}"}}
          - {id: log, budget: 90, items: {from: state.log, freeze: {shown: state.told, late: false}, text: "{{ item.text }}"}}
    """
    drawn = _draw(tmp_path, body)
    assert _plain(_block(drawn, "lore").caps) == ["what `state.shown` names stays in place", "budget 90 tokens"]
    assert "over its budget: evict items, held ones first, then last first" in _plain(_block(drawn, "lore").notes)
    assert _plain(_block(drawn, "log").caps)[0] == "what `state.told` names stays in place; late comes what is `false`"
    assert "over its budget: evict items, oldest first" in _plain(_block(drawn, "log").notes)


def test_dedupe(tmp_path):
    body = """
        sections:
          - {id: a, items: {from: state.log, text: "{{ item }}"}}
          - {id: b, items: {from: state.notes, text: "{{ item }}", dedupe: {by: item, against: [a], keep: last, exact: true}}}
    """
    assert _plain(_block(_draw(tmp_path, body), "b").dedupe) == ["by `item`, to the letter", "against `a`", "the last one stays"]


def test_notes_when_and_ladders(tmp_path):
    body = """
        sections:
          - id: log
            note: "what `state.log` holds"
            when: state.on
            required: true
            budget: 90
            items: {from: state.log, text: "{{ item.text }}", tally: item.kind}
            overflow:
              - trim: {at: sentence, to: 20}
              - evict: {order: [item.old, true], floor: 2}
              - evict: {by: item.score, whole: call}
        truncate: [log, {drop: {section: log}}]
    """
    assert _plain(_block(_draw(tmp_path, body), "log").notes) == [
        "what `state.log` holds",
        "when `state.on`",
        "required: absent, it is an error",
        "counted by `item.kind` in the report",
        "over its budget: trim at sentence to 20 tokens, then evict items in 2 classes, `item.old` first, 2 stay,"
        " then evict items, tool call by tool call, least `item.score` first",
        "over the total: step 1, its own ladder continues; step 2, drop it",
    ]


def test_segments_and_chunks():
    whispercross = draw_map(load_pack("packs/whispercross").model, {})
    assert (
        show_plain(_block(whispercross, "ruleset").source) == "store `main`, scope `ruleset`, ref `state.ruleset_id`; each as inline text"
    )
    assert "of the source where `tier is number and tier <= each.tier`" in _plain(_block(whispercross, "npc").data)
    world = draw_map(load_pack("packs/worldarchitect").model, {})
    assert show_plain(_block(world, "rules").source).startswith("index `archive`, query `query`, version `state.rules_version`")
    assert "top 6 of 12 candidates out of 50" in _plain(_block(world, "rules").caps)
    assert "index `campaign` over `state.campaign_memory`" in _plain(_block(world, "memory").data)


# --- plans ---

VARIED = """
    variants: {mode: {select: state.mode, cases: {calm: {}, tense: {sections: {log: {items: {limit: 2}}}}}}}
    strain:
      tiers:
        - {name: low, at: 0}
        - {name: high, at: 0.5, do: [{recap: {section: log, template: r.md.j2, older: 0.5}}], sections: {rules: {when: false}}}
        - {name: top, at: 0.9, do: [], sections: {log: {before: rules}}}
    sections:
      - {id: rules, text: "Be kind to {{ state.who }}."}
      - {id: log, budget: 90, items: {from: state.log, text: "{{ item }}", limit: 5}}
    patches: {short: {sections: {log: {items: {limit: 1}}}}, none: {}}
"""
FILES = {"r.md.j2": "Before: {{ text }}"}


def _changes(drawn):
    return {(one.kind, one.name): {change.block: _plain(change.says) for change in one.changes} for one in drawn.variations}


def test_what_changes_it(tmp_path):
    drawn = _draw(tmp_path, VARIED, files=FILES)
    assert _plain(_block(drawn, "log").caps) == ["limit 5", "budget 90 tokens"]
    assert _changes(drawn) == {
        ("case", "mode=tense"): {"log": ["limit 2"]},
        ("tier", "high"): {"rules": ["when: off"], "log": ["at once: recap the oldest 50% by `r.md.j2`"]},
        ("tier", "top"): {"log": ["the first", "no more: recap the oldest 50% by `r.md.j2`"]},
        ("patch", "short"): {"log": ["limit 1"]},
        ("patch", "none"): {},
    }


def test_a_plan_that_is_asked_for(tmp_path):
    drawn = _draw(tmp_path, VARIED, files=FILES, cases={"mode": "tense"}, patches=["short"])
    assert _plain(_block(drawn, "log").caps) == ["limit 1", "budget 90 tokens"]
    assert _plain(drawn.plan)[-2:] == ["cases `mode=tense`", "patches `short`"]
    assert ("case", "mode=calm") not in _changes(drawn) and ("patch", "short") not in _changes(drawn)


@pytest.mark.parametrize(
    ("cases", "patches", "code"), [({"mood": "calm"}, [], "PC0701"), ({"mode": "clam"}, [], "PC0702"), ({}, ["shrot"], "PC0703")]
)
def test_what_is_not_there(tmp_path, cases, patches, code):
    with pytest.raises(UsageError) as raised:
        _draw(tmp_path, VARIED, files=FILES, cases=cases, patches=patches)
    assert [one.code for one in raised.value.diagnostics] == [code] and raised.value.diagnostics[0].help


# --- renderings ---

HOSTILE = """
    sections:
      - id: a
        title: "<b>| *a* _b_ `c` [d](e) # \\\\ &amp;"
        note: "<script>alert(1)</script> | `x|y` and ``` `"
        items: {from: "state.log | select('ne', '`|<')", where: "item != '<i>' | string", text: "{{ item }}"}
"""


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.rows, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_markdown_keeps_every_row_whole(tmp_path):
    text = render_markdown(_draw(tmp_path, HOSTILE))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(_split_row(row)) == 7 for row in rows) and len(rows) == 3
    outside = "".join(part for at, part in enumerate(rows[-1].split("`")) if at % 2 == 0)
    assert "<script" not in outside and "<b>" not in rows[-1] and "\\*a\\*" in rows[-1] and "\\[d\\](e)" in rows[-1]


def _split_row(row):
    """As GitHub does it: a bar ends a cell unless a backslash stands before it."""
    return row.replace("\\|", "").strip("|").split("|")


def test_html_is_escaped_and_stands_alone(tmp_path):
    text = render_html(_draw(tmp_path, HOSTILE))
    reader = _Reader()
    reader.feed(text)
    tags = [tag for tag, _ in reader.tags]
    assert not {"script", "b", "i", "link", "img"} & set(tags) and not any({"src", "onclick"} & attrs.keys() for _, attrs in reader.tags)
    assert all(attrs["href"].startswith("#") for tag, attrs in reader.tags if tag == "a")
    assert "<b>| *a* _b_ `c` [d](e) # \\ &amp;" in reader.text and "http" not in text and "url(" not in text


def test_json_has_every_fact(tmp_path):
    drawn = _draw(tmp_path, VARIED, files=FILES)
    shown = json.loads(render_json(drawn))
    assert [one["id"] for one in shown["blocks"]] == ["rules", "log"] and shown["blocks"][1]["caps"] == ["limit 5", "budget 90 tokens"]
    assert {one["name"]: one["changes"] for one in shown["variations"]}["short"] == {"log": ["limit 1"]}


@pytest.mark.parametrize("render", [render_markdown, render_html, render_json])
def test_a_rendering_holds_all_blocks_and_is_the_same_twice(render):
    for name in ("sentinel", "worldarchitect"):
        first, second = (draw_map(promptc.load(ROOT / "packs" / name).model, {}) for _ in range(2))
        assert render(first) == render(second) and all(block.id in render(first) for block in first.blocks)


def test_a_note_that_a_case_changes_is_shown(tmp_path):
    body = """
        sections:
          - {id: log, note: twelve is plenty, text: Log.}
          - {id: rules, text: Rules.}
        variants:
          size:
            select: state.size
            default: small
            cases: {small: {}, large: {sections: {log: {note: "as many as `fit`"}, rules: {note: new here}}}}
    """
    drawn = _draw(tmp_path, body)
    assert _plain(_block(drawn, "log").notes)[0] == "twelve is plenty"
    said = {change.block: _plain(change.says) for change in drawn.variations[0].changes}
    assert said == {"log": ["as many as `fit`", "without twelve is plenty"], "rules": ["new here"]}
    assert _plain(_block(_draw(tmp_path, body, cases={"size": "large"}), "log").notes)[0] == "as many as `fit`"


def test_a_pool_is_told_at_each_of_its_sections(tmp_path):
    drawn = _draw(
        tmp_path,
        """
        sections:
          - {id: facts, items: {from: state.facts, text: "{{ item }}"}}
          - {id: lore, budget: 90, items: {from: state.lore, text: "{{ item }}"}}
          - {id: rest, text: x}
        pools:
          memory:
            sections: [facts, lore]
            max: 30%
            overflow: [lore, {evict: {sections: [facts, lore], by: item.rank}}]
        truncate: [{evict: {sections: [lore, facts], order: ["true"]}}]
        """,
    )
    assert _plain(_block(drawn, "facts").caps) == ["pool `memory`, 30% of the total with `lore`"]
    assert _plain(_block(drawn, "lore").caps) == ["budget 90 tokens", "pool `memory`, 30% of the total with `facts`"]
    assert _plain(_block(drawn, "rest").caps) == []
    assert _plain(_block(drawn, "facts").notes) == [
        "over the pool `memory`: step 2, evict items of `facts`, `lore`, least `item.rank` first",
        "over the total: step 1, evict items of `lore`, `facts` where `true`",
    ]
    assert "over the pool `memory`: step 1, its own ladder continues; step 2" in _plain(_block(drawn, "lore").notes)[1]


def test_tools_are_told_by_their_forms(tmp_path):
    body = """
    tools: {from: state.tools, sort: item.name, forms: [full, brief, deferred]}
    patches: {few: {tools: {forms: [full, deferred]}}}
    sections: [{id: a, text: "x"}]
    output: {format: messages}
    """
    drawn = _draw(tmp_path, body)
    assert show_plain(_block(drawn, "tools").source) == "`state.tools`; each a tool: `full`, then `brief`, then `deferred`"
    assert _changes(drawn) == {("patch", "few"): {"tools": ["from `state.tools`; each a tool: `full`, then `deferred`"]}}
