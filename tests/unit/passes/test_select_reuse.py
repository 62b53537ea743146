"""What a tier moves behind a section that is compared with it is found, whether or not that section is selected again."""

import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.passes.select import CostlyWork

_PACK = """
promptc: 1
name: x
version: 1.0.0
tokenizer: chars/4
budget: 1000
sections:
  - {id: a, items: {from: state.l, text: "{{ item }}"}, budget: 4}
  - {id: b, items: {from: state.l, text: "{{ item }}", dedupe: {by: item, against: [a]}}}
strain:
  tiers:
    - {name: calm, at: 0}
    - {name: full, at: 0.5, sections: {a: {after: b}}}
"""


def test_a_section_moved_behind_the_one_compared_with_it(tmp_path):
    (tmp_path / "pack.yaml").write_text(_PACK)
    pack = promptc.load(tmp_path)
    with pytest.raises(PromptcError) as caught:
        pack.render({"l": ["one lantern", "two ropes"]})
    assert [found.code for found in caught.value.diagnostics] == ["PC0519"]
    assert pack.render({"l": []}).text == ""


_LONG = """
promptc: 1
name: x
version: 1.0.0
tokenizer: chars/4
budget: 100
sections:
  - {{id: log, items: {{from: state.log, text: "{{{{ item.text }}}}"}}, overflow: [evict: {{}}]}}
  - {{id: note, budget: 10, text: "{{{{ state.note }}}}"}}
pools:
  memory: {{sections: [log], max: 80, overflow: [log]}}
truncate: [log]
strain:
  count: [note]
  tiers:
    - {{name: calm, at: 0}}
    - {{name: full, at: 0.5, {change}}}
"""
_BY_RANK = "[{evict: {section: log, by: item.rank}}]"


# contract 5.36
@pytest.mark.parametrize(
    ("change", "first"),
    [
        (f"pools: {{memory: {{max: 400}}}}, truncate: {_BY_RANK}", "x000"),
        (f"pools: {{memory: {{overflow: {_BY_RANK}}}}}", "x000"),
        ("pools: {memory: {max: 60}}", "x153"),
    ],
)
def test_a_list_read_in_part_is_read_again_where_a_tier_cuts_it_otherwise(tmp_path, change, first):
    """The oldest have the highest rank, and were not read for a `truncate` or a pool that takes the oldest first."""
    (tmp_path / "pack.yaml").write_text(_LONG.format(change=change))
    log = [{"text": f"x{place:03d}", "rank": -place} for place in range(200)]
    assert promptc.load(tmp_path).render({"log": log, "note": "n" * 36}).text.split()[0] == first


_TOLD = """
promptc: 1
name: x
version: 1.0.0
tokenizer: chars/4
budget: 100
sections:
  - {id: note, budget: 10, text: "{{ state.note }}"}
  - {id: tier, text: "{{ strain.tier }} {{ strain['index'] }}"}
  - {id: percent, text: "{{ strain.percent }}"}
  - {id: whole, text: "{{ strain | tojson }}"}
strain:
  count: [note]
  tiers:
    - {name: calm, at: 0}
    - {name: full, at: 0.5}
"""


@pytest.mark.parametrize(
    ("note", "text", "again"),
    [
        ("", 'calm 0\n\n0\n\n{"index": 0, "percent": 0, "tier": "calm"}\n', []),
        ("four of ten", 'calm 0\n\n40\n\n{"index": 0, "percent": 40, "tier": "calm"}\n', ["percent", "whole"]),
        ("seven of ten tokens or so, no", 'full 1\n\n80\n\n{"index": 1, "percent": 80, "tier": "full"}\n', ["tier", "percent", "whole"]),
    ],
)
def test_a_section_is_selected_again_where_it_reads_what_changed_of_strain(note, text, again, tmp_path, monkeypatch):
    selected = []
    select = CostlyWork.select_section
    monkeypatch.setattr(
        CostlyWork,
        "select_section",
        lambda self, selector, section, fences: selected.append(section.id) or select(self, selector, section, fences),
    )
    (tmp_path / "pack.yaml").write_text(_TOLD)
    assert promptc.load(tmp_path).render({"note": note}).text.endswith(text)
    assert selected == ["note", "tier", "percent", "whole", *again]
