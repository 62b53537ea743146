"""What a tier moves behind a section that is compared with it is found, whether or not that section is selected again."""

import pytest

import promptc
from promptc.diag.findings import PromptcError

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
