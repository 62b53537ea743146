"""Calls that no state makes right: an error of `check`, wherever a text of the pack may stand, and nothing is proved of that pack."""

import pytest

import promptc
from promptc.check.registry import check_pack

HEAD = "promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: chars/4\nbudget: 1000\nstate: {schema: state.schema.json}\nsections:\n"
SCHEMA = '{"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string"}, "maxItems": 9}}, "required": ["l"]}'
WRONG = "round(1, 'up')"


def _check(tmp_path, section):
    (tmp_path / "state.schema.json").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "pack.yaml").write_text(f"{HEAD}  - {section}\n", encoding="utf-8")
    return check_pack(promptc.load(tmp_path).model)


@pytest.mark.parametrize(
    "section",
    [
        f'{{id: a, pinned: true, text: "x{{{{ 1 | {WRONG} }}}}"}}',
        f'{{id: a, when: "1 | {WRONG}", text: x}}',
        f'{{id: a, header: "{{{{ 1 | {WRONG} }}}}", text: x}}',
        f"{{id: a, items: {{from: state.l, where: \"1 | {WRONG}\", text: '{{{{ item }}}}'}}}}",
        f"{{id: a, items: {{from: \"[1 | {WRONG}]\", text: '{{{{ item }}}}'}}}}",
        f'{{id: a, items: {{from: state.l, text: "{{{{ item }}}}{{{{ 1 | {WRONG} }}}}"}}}}',
        f"{{id: a, items: {{from: state.l, text: '{{{{ item }}}}'}}, overflow: [{{evict: {{by: \"1 | {WRONG}\"}}}}]}}",
        f"{{id: a, items: {{from: state.l, dedupe: {{by: \"1 | {WRONG}\"}}, text: '{{{{ item }}}}'}}}}",
    ],
)
def test_it_is_an_error_with_its_place_and_nothing_is_proved(tmp_path, section):
    found = _check(tmp_path, section)
    (wrong,) = [one for one in found if one.level == "error"]
    assert (wrong.code, wrong.message) == ("PC0424", "`method` of `round` cannot be `up`")
    assert wrong.span is not None and wrong.span.line == 8 and wrong.span.column == len("  - ") + section.index("'up'") + 1
    assert "PC0656" not in [one.code for one in found]


def test_without_an_error_it_is_proved(tmp_path):
    assert "PC0656" in [one.code for one in _check(tmp_path, "{id: a, pinned: true, text: \"{{ 'a' | center(9) }}\"}")]
