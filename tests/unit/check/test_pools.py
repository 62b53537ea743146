"""What `check` says of pools, and of steps on several sections."""

import pytest

from tests.unit.check.lint import codes, lint

SCHEMA = {
    "type": "object",
    "properties": {
        name: {
            "type": "array",
            "maxItems": 9,
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string", "maxLength": 40}, key: {"type": "string"}, "rank": {"type": "integer"}},
                "required": ["text", key, "rank"],
            },
        }
        for name, key in (("facts", "source"), ("lore", "title"))
    },
    "required": ["facts", "lore"],
}
FACTS = '  - {id: facts, items: {from: state.facts, text: "{{ item.text }}"}}\n'
LORE = '  - {id: lore, items: {from: state.lore, text: "{{ item.title }} {{ item.text }}"}}\n'


def _lint(folder, pool, *, facts=FACTS, lore=LORE, more="", budget="1000"):
    body = f"sections:\n{facts}{lore}pools:\n  memory: {pool}\n{more}"
    return [one for one in lint(folder, body, schema=SCHEMA, tokenizer="cl100k_base", budget=budget) if one.code != "PC0675"]


def test_a_sound_pool_has_no_findings(tmp_path):
    steps = "[{evict: {sections: [facts, lore], by: item.rank}}]"
    assert _lint(tmp_path, f"{{sections: [facts, lore], max: 40, overflow: {steps}}}") == []


def test_a_section_may_be_told_by_its_name_in_a_joint_order(tmp_path):
    steps = """[{evict: {sections: [facts, lore], order: ["section.id == 'lore' and item.rank < 3", "true"]}}]"""
    assert _lint(tmp_path, f"{{sections: [facts, lore], max: 40, overflow: {steps}}}") == []


def test_a_joint_order_is_asked_of_every_section(tmp_path):
    found = _lint(
        tmp_path, "{sections: [facts, lore], max: 40, overflow: [{evict: {sections: [facts, lore], order: [item.title == 'x']}}]}"
    )
    assert "item.title" in found[0].message and "asked of the items of `facts`" in found[0].message


def test_a_pool_with_a_percentage_is_a_share(tmp_path):
    other = "  - {id: rest, text: \"{{ state.lore[0].text if state.lore else '' }}\"}\n"
    found = _lint(tmp_path, "{sections: [facts], max: 40%, overflow: [facts]}", lore=LORE + other, more="truncate: [lore, rest, facts]\n")
    assert [one.code for one in found if one.code == "PC0620"] == ["PC0620", "PC0620"]
    assert not any("`facts` has no cap" in one.message for one in found)
    assert all("`pools.memory`" in one.message for one in found if one.code == "PC0620")


def test_a_size_in_percent_in_a_pool_depends_on_the_total(tmp_path):
    found = _lint(tmp_path, "{sections: [facts, lore], max: 40, overflow: [{trim: {section: lore, floor: 2%}}, facts, lore]}")
    assert codes(found) == ["PC0618"]


@pytest.mark.parametrize(("most", "wanted"), [(4000, []), (200, ["PC0657"])])
def test_what_is_pinned_in_a_pool_is_bounded_by_the_schema(tmp_path, most, wanted):
    facts = FACTS.replace("{id: facts,", "{id: facts, pinned: true,")
    found = _lint(tmp_path, f"{{sections: [facts, lore], max: {most}, overflow: [lore]}}", facts=facts, budget="5000")
    assert codes(found) == wanted


def test_a_step_that_another_leaves_nothing(tmp_path):
    steps = "[{drop: {section: lore}}, {evict: {sections: [facts, lore], by: item.rank}}]"
    assert codes(_lint(tmp_path, f"{{sections: [facts, lore], max: 40, overflow: {steps}}}")) == []
    assert codes(_lint(tmp_path, "{sections: [facts, lore], max: 40, overflow: [facts, {drop: {section: lore}}, lore]}")) == ["PC0611"]


def test_what_one_list_never_has_another_may(tmp_path):
    keys = {"facts": ("rule", 5), "lore": ("rumour", 9)}
    lists = {
        name: {
            "type": "array",
            "maxItems": 9,
            "items": {
                "type": "object",
                "properties": {"kind": {"enum": [kind, "note"]}, "level": {"type": "integer", "maximum": most}},
                "required": ["kind", "level"],
            },
        }
        for name, (kind, most) in keys.items()
    }
    sections = "".join(f'  - {{id: {name}, items: {{from: state.{name}, text: "{{{{ item.kind }}}}"}}}}\n' for name in lists)

    def find(condition):
        steps = f"""[{{evict: {{sections: [facts, lore], order: ["{condition}", "true"]}}}}]"""
        body = f"sections:\n{sections}pools:\n  memory: {{sections: [facts, lore], max: 40, overflow: {steps}}}\n"
        schema = {"type": "object", "properties": lists, "required": ["facts", "lore"]}
        return codes(one for one in lint(tmp_path, body, schema=schema, tokenizer="cl100k_base") if one.code != "PC0675")

    assert find("item.kind == 'rumour'") == []
    assert find("item.kind == 'song'") == ["PC0652", "PC0652"]
    assert find("item.level > 6") == []
    assert find("item.level > 9") == ["PC0673", "PC0673"]
