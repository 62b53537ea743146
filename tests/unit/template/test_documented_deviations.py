"""docs/reference/templates.md names every difference to Jinja, with examples that are run by both."""

import json
import re

import pytest

import promptc
from tests.unit.template.deviations import BY_NAME
from tests.unit.template.oracle import ask_jinja, ask_promptc
from tests.unit.template.test_documentation import BLOCKS, FILES, PAGE, STATE

NAMES = {"state": STATE}
UNSORTED, *ORDERED = next(text for kind, text in BLOCKS if kind == "order").splitlines()
SECTION = PAGE[PAGE.index("## Where it differs from Jinja") : PAGE.index("## Limits")]
_PARTS = re.findall(r"^\*\*(.+?)\.?\*\*.*?^```differs\n(.*?)^```$", SECTION, re.M | re.S)
EXAMPLES = [(name, *re.split(r"  →  |  \|  ", line)) for name, lines in _PARTS for line in lines.splitlines()]


def test_the_list_is_the_closed_one():
    assert sorted(name for name, _ in _PARTS) == sorted(BY_NAME)


@pytest.mark.parametrize(("name", "template", "theirs", "own"), EXAMPLES)
def test_both_do_as_the_page_says(name, template, theirs, own):
    jinja, ours = ask_jinja(template, NAMES, FILES), ask_promptc(template, NAMES, FILES)
    expected = re.escape(theirs).replace("…", ".*")
    assert re.fullmatch(expected, jinja.text if jinja.text is not None else "fails")
    assert own == (ours.text if ours.text is not None else ours.code)
    assert BY_NAME[name].recognises(template, NAMES, FILES, jinja, ours)


# contract 3.13
@pytest.mark.parametrize("line", ORDERED)
def test_a_state_is_held_in_the_order_of_its_keys(line, tmp_path):
    template, theirs, own = re.split(r"  →  |  \|  ", line)
    head = {"promptc": 1, "name": "order", "version": "1.0.0", "tokenizer": "chars/4", "budget": 1000}
    (tmp_path / "pack.yaml").write_text(json.dumps({**head, "sections": [{"id": "main", "text": template}]}))
    state = json.loads(UNSORTED)
    assert ask_jinja(template, {"state": state}, {}).text == theirs
    assert promptc.load(tmp_path).render(state).text == f"{own}\n"
