"""Which keys of a manifest are templates, which name files, and which stand as they are."""

from promptc.operations.run import run_operation
from tests.unit.passes.small_sources import load_small


# contract 3.3
def test_inline_templates(tmp_path):
    pack = load_small(
        tmp_path,
        """
asserts: [{that: state.log, else: "{{ state.who }} says nothing"}]
sections:
  - id: log
    title: "{{ title }}"
    header: "{{ section.title }} of {{ state.who }}"
    separator: "{{ | }}"
    fence: {open: "<{{ state.who }}>", close: "</{{ state.who }}>"}
    budget: {chars: 10}
    items: {from: state.log, text: "{{ item }}"}
    overflow: [evict: {marker: "{{ removed }} left {{ state.who }}"}]
  - {id: notes, text: "{{ state.notes }}", budget: 3}
strain:
  count: [notes]
  watch: {log: "{{ state.who }}: {{ before }} to {{ after }}"}
  tiers: [{name: calm, at: 0}, {name: high, at: 0.5}]
operations:
  note: {edits: [{set: /notes, to: "'b'"}], say: "{{ state.who }} noted."}
""",
    )
    prompt = pack.render({"who": "Ada", "log": ["a", "b", "c"], "notes": ""})
    assert prompt.text == "<Ada>\n{{ title }} of Ada\n1 left Ada\nb{{ | }}c\n</Ada>\n"
    assert "Ada: calm to high" in [one.message for one in prompt.warnings]
    silent = pack.render({"who": "Ada", "log": [], "notes": ""})
    assert "Ada says nothing" in [one.message for one in silent.warnings]
    assert run_operation(pack, {"who": "Ada", "log": [], "notes": ""}, "note").said == "Ada noted."


# contract 3.4
def test_a_file_that_ends_in_j2_is_a_template_and_any_other_stands_as_it_is(tmp_path):
    for name in ("a.md", "a.md.j2"):
        (tmp_path / name).write_text("{{ state.who }} {# said #}\n", encoding="utf-8")
    body = "sections:\n  - {id: one, template: %s}\n  - {id: two, items: {from: '[1]', forms: [%s]}}\n"
    plain, template = (load_small(tmp_path, body % (name, name)).render({"who": "Ada"}).text for name in ("a.md", "a.md.j2"))
    assert plain == "{{ state.who }} {# said #}\n\n{{ state.who }} {# said #}\n"
    assert template == "Ada \n\nAda \n"
