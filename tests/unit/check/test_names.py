"""Names that nothing defines where they are read."""

import pytest

from tests.unit.check.lint import codes, excerpts, lint

_SCHEMA = {
    "properties": {"player": {"type": "object"}, "log": {"type": "array", "maxItems": 9}, "a": {}, "b": {}},
    "required": ["player", "log", "a", "b"],
}


def _section(key: str, value: str) -> str:
    return f'sections: [{{id: lore, text: x, {key}: "{value}"}}]'


# contract 3.17 and 3.18
@pytest.mark.parametrize(
    ("body", "code", "help"),
    [
        (_section("when", "sttae.on"), "PC0630", "did you mean `state`?"),
        (_section("when", "player.alive"), "PC0630", "did you mean `state.player`?"),
        (_section("when", "zebra"), "PC0630", "choose one of `state`, `variant`, `strain`, `selected`, `section`"),
        (_section("header", "{{ item.name }}"), "PC0631", "use it under `items` and in steps"),
        (_section("header", "{{ section.name }}"), "PC0632", "choose one of `id`, `role`, `title`"),
        (_section("when", "strain.tir == 'a'"), "PC0632", "did you mean `tier`?"),
        (_section("when", "selected.lroe > 0"), "PC0633", "did you mean `lore`?"),
        (_section("when", "selected.lore > 0"), "PC0633", "move it below that section"),
        ("let: {deep: strain.index}\nsections: [{id: lore, text: '{{ deep }}'}]", "PC0631", "`let`"),
        ("let: {mood: variant.mood}\nsections: [{id: lore, text: '{{ mood }}'}]", "PC0631", "after `let` and `asserts`"),
        ("let: {a: b, b: state.b}\nsections: [{id: lore, text: '{{ a ~ b }}'}]", "PC0631", "a `let` can use only those above it"),
        ("let: {a: state.a}\nasserts: [{that: a, else: x}]\nsections: [{id: a, text: '{{ a }}'}]", "PC0631", "asserts are checked before"),
        (_section("when", "variant.mood == 'calm'"), "PC0632", "no axis is chosen before it"),
    ],
)
def test_a_name_that_is_not_there(tmp_path, body, code, help):
    found = lint(tmp_path, body, schema=_SCHEMA)
    assert codes(found) == [code]
    assert help in found[0].help


@pytest.mark.parametrize(
    ("element", "items", "help"),
    [
        ({"properties": {"weight": {"type": "integer"}}}, "sort: weight", "did you mean `item.weight`?"),
        ({"properties": {"weight": {"type": "integer"}}}, "where: lore.weight", "`item`"),
        (
            {"properties": {"weight": {"type": "integer"}}},
            "sort: newest",
            "such as `item.weight`; or turn the list round with `from: state.lores",
        ),
        (True, "sort: newest", "such as `item.at`"),
        ({}, "sort: oldest", "or leave `sort` out to keep the order"),
    ],
)
def test_a_name_that_the_elements_of_the_list_explain(tmp_path, element, items, help):
    schema = {"properties": {"lores": {"type": "array", "maxItems": 9, "items": element}}, "required": ["lores"]}
    found = lint(tmp_path, f"sections: [{{id: a, items: {{from: state.lores, {items}, text: x}}}}]", schema=schema)
    assert codes(found)[:1] == ["PC0630"] and help in found[0].help


# contract 3.19
def test_names_in_items_and_steps(tmp_path):
    body = """
        sections:
          - id: log
            budget: 20
            items:
              from: state.log
              where: this.id == 3 and group
              text: "{{ item.text }} {{ text }} {{ this.tokens }} {{ group }}"
            overflow:
              - evict: {order: [this.tokens > 9, this.chrs > 9], marker: "{{ removed }} gone, {{ item.text }}"}
              - recap: {template: recap.md.j2}
        """
    found = lint(tmp_path, body, schema=_SCHEMA, files={"recap.md.j2": "{{ items | length }}\n{{ text }}\n{{ item.text }}\n"})
    assert sorted((one.code, one.message.split(" reads ")[1].split(",")[0].split(";")[0]) for one in found) == [
        ("PC0631", "`group`"),
        ("PC0631", "`item`"),
        ("PC0631", "`item`"),
        ("PC0631", "`text`"),
        ("PC0632", "`this.chrs`"),
        ("PC0632", "`this.id`"),
        ("PC0632", "`this.tokens`"),
    ]
    recap = next(one for one in found if one.span.file.endswith("recap.md.j2"))
    assert (recap.span.line, recap.span.excerpt) == (3, "{{ item.text }}")


def test_a_file_that_is_included(tmp_path):
    """The finding stands in that file."""
    files = {"lore.md.j2": "{% include 'part.md.j2' %}", "part.md.j2": "{{ plyer }}\n"}
    found = lint(tmp_path, "sections: [{id: lore, template: lore.md.j2}]", files=files)
    assert [(one.code, one.level) for one in found] == [("PC0630", "error")]
    assert found[0].span.file.endswith("part.md.j2")


def test_axes_of_variants(tmp_path):
    body = """
        sections: [{id: lore, text: "{{ variant.mood }} {{ variant.modle }}"}]
        variants:
          mood: {select: variant.model, cases: {calm: {}}}
          model: {select: variant.mood, cases: {calm: {}}}
        """
    found = lint(tmp_path, body)
    assert [(one.code, one.help) for one in found] == [("PC0632", "did you mean `model`?"), ("PC0632", "no axis is chosen before it")]
    assert excerpts(found, "PC0632")[1].startswith("model,")


def test_an_order_that_a_case_turns_around(tmp_path):
    body = """
        sections: [{id: a, text: x}, {id: b, text: y, when: selected.a > 0}]
        variants: {order: {select: state.order, default: usual, cases: {usual: {}, turned: {sections: {b: {before: a}}}}}}
        """
    found = lint(tmp_path, body)
    assert codes(found) == ["PC0633"]
    assert found[0].message.endswith("and `a` is selected later (with `order=turned`)")


def test_texts_that_are_right(tmp_path):
    body = """
        let: {hot: state.log, shown: hot | length, word: {band: state.n, of: {few: 0, many: 9}}}
        asserts: [{that: state.n > 0, else: "{{ state.n }} is too few"}]
        sections:
          - id: a
            text: "{% set x = state.n %}{{ x }} {{ word }} {% for y in hot %}{{ y }}{{ loop.index }}{% endfor %}"
            fence: {open: "<{{ section.id }}>", close: "</>"}
          - id: log
            when: selected.a > 0 and strain.index < 2 and variant.mood != 'few'
            header: "{{ strain.tier }} {{ section.title }} {% if item is defined %}{{ item }}{% endif %}"
            budget: 20
            items:
              from: hot
              number: item.seq
              where: this.number > 1
              window: {last: shown, min: 1, max: 5}
              anchors: {where: item.hinge, last: 2}
              group: {by: this.number // 2, header: "{{ group }}"}
              text: "{{ group }} {{ this.id }} {{ item.text }}"
              tally: item.kind
            overflow: [{evict: {by: "this.tokens + this.chars + this.form", marker: "{{ removed }}"}}]
        variants: {mood: {select: word, cases: {few: {}, many: {}}}}
        strain: {previous: state.strain, watch: {a: "{{ before }} {{ after }}"}, tiers: [{name: low, at: 0}]}
        """
    assert codes(lint(tmp_path, body)) == []


def test_what_a_list_is_compared_with(tmp_path):
    body = """
        sections:
          - {id: a, items: {from: state.log, text: "{{ item }}", dedupe: {by: item, against: [%s]}}}
          - {id: b, text: x}
          - {id: c, items: {from: state.log, text: "{{ item }}", dedupe: {by: item, against: [a]}}}
        """
    for against, says in (
        ("c", "selected later, and `c` names `a`: a circle"),
        ("a", "the section itself"),
        ("x", "which is not a section"),
    ):
        found = lint(tmp_path, body % against, schema=_SCHEMA)
        assert codes(found) == ["PC0634"]
        assert says in found[0].message


def test_a_text_is_no_list_to_compare_with(tmp_path):
    body = """
        sections:
          - {id: b, text: x}
          - {id: c, items: {from: state.log, text: "{{ item }}", dedupe: {by: item, against: [b]}}}
        """
    assert [one.message for one in lint(tmp_path, body, schema=_SCHEMA)] == ["`dedupe.against` of `c` names `b`, which is not a list"]
