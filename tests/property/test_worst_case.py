"""The worst case is one: no valid state has more pinned tokens than `check` says."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

import promptc
from promptc.check.configurations import list_configurations
from promptc.check.rules.budgets import check_worst_case
from promptc.diag.findings import PromptcError

_DRAWS = 120
_STATES = 12
_NASTY = (
    "a", "Z", " ", "\n", "\t", "ß", "İ", "ŉ", "ΐ", "é", "世", "界", "🙂", "\U0001f468\u200d\U0001f469", "'", '"', "<", "&", "\\", "|", "=",
    "<|x|>", "<rules>", "</rules>", "\n<rules>", "\\<rules>", "0", "9", ".", "\r", "\x01", "\u2028", "word ", "The lamp is out. ",
)  # fmt: skip
_TEXTS = (
    "{{ state.name }}", "You are {{ state.name }}, {{ state.mood }}.\nBe brief.", "{{ state.name | upper }}", "{{ state.name | title }}",
    "{{ state.name | truncate(9) }}", "{{ state.name | truncate(9, true, '') }}", "{{ state.name | truncate_at('word', chars=7) }}",
    "{{ state.name | truncate_at('word', tokens=2) }}", "{{ state.name | center(20) }}", "{{ state.name | indent(2, true) }}",
    "{{ state.name | replace('a', 'bcd') }}", "{{ state.name | escape }}", "{{ state.name | urlencode }}", "{{ state.name | json }}",
    "{{ state.name | tojson }}", "{{ state.name | wordwrap(3) }}", "{{ state.name[:3] }}", "{{ state.name ~ state.hp ~ state.ratio }}",
    "{{ state.hp }} {{ state.hp + 1 }} {{ state.ratio }} {{ state.on }}", "{{ state.tags }}", "{{ state.tags | join(', ') }}",
    "{% for t in state.tags %}- {{ t }}\n{% endfor %}",
    "{% for t in state.tags %}{{ loop.index }}. {{ t | upper }}{% else %}none{% endfor %}",
    "{{ state.tags | map('upper') | join('\n') }}", "{{ state.owner }}", "{{ state.owner.name }}: {{ state.owner.age }}",
    "{% if state.on %}{{ state.name }}{% else %}nobody at all{% endif %}", "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(state.name) * 3 }}",
    "{% set x %}{{ state.name }}!{% endset %}{{ x }}{{ x }}", "{% filter upper %}{{ state.name }} ß{% endfilter %}",
    "{{ state.name.strip() }}{{ state.name.swapcase() }}", "{{ state.name.split() | join('-') }}", "{{ 'ab' * state.count }}",
    "{% for i in range(state.count) %}{{ i }},{% endfor %}", "{{ state.name | one_line }}|{{ state.name | trim }}",
    "{{ state.name | reverse }}",
    "{% for t in state.tags | sort | unique | reverse %}{{ t }}{% endfor %}", "{{ state.tags | first | default('x') }}",
    "{{ state.name | striptags }}", "{{ state.code }}", "{{ state.code }}{{ state.code | upper }}",
    "Since {{ state.since }}", "{{ state.at }}.",
    "{% for p in state.people %}{{ p.name }} ({{ p.age }})\n{% endfor %}", "{{ state.people | map(attribute='name') | join }}",
)  # fmt: skip


_CODES = {
    "^[<|x>/a-z]{0,9}$": ("<|x|>", "<rules>", "</rules>", "<|<|<|x|>", "zzzzzzzzz"),
    "^(?:<rules>\n?){2}$": ("<rules>\n<rules>\n", "<rules><rules>"),
    "^(🙂|世{3})$|^é?$": ("🙂", "世世世", "é", ""), "^[^a-z]{4}$": ("🙂" * 4, "\n\n\n\n", "<|<|", "İŉ世界"),
}  # fmt: skip
_MOMENTS = {"date": ("2026-11-24",), "date-time": ("2026-11-24T03:29:32.1234+01:00", "2026-11-24t03:29:32.98765432Z")}


def _draw_schema(rng: Random) -> dict[str, Any]:
    def text() -> dict[str, Any]:
        return {"type": "string", "maxLength": rng.choice((0, 1, 5, 20))}

    person = {
        "type": "object", "properties": {"name": text(), "age": {"type": "integer", "minimum": -9, "maximum": 150}},
        "required": ["name", "age"], "additionalProperties": False,
    }  # fmt: skip
    properties = {
        "name": text(), "mood": {"enum": ["calm", "very 世界"]}, "hp": {"type": "integer", "minimum": -5, "maximum": 1000},
        "ratio": {"type": "number", "minimum": 0, "maximum": 1}, "on": {"type": "boolean"}, "count": {"type": "integer",
        "minimum": 0, "maximum": 4},
        "code": {"type": "string", "pattern": rng.choice(tuple(_CODES))}, "since": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time", "maxLength": 30},
        "tags": {"type": "array", "items": text(), "maxItems": rng.choice((0, 1, 3))}, "owner": person,
        "people": {"type": "array", "items": person, "maxItems": 2},
    }  # fmt: skip
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _draw_text(rng: Random, most: int) -> str:
    letters = rng.sample(_NASTY, 3)
    return "".join(rng.choice(letters) for _ in range(most))[:most]


def _draw(rng: Random, schema: Any) -> Any:
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema["type"]
    if "pattern" in schema or "format" in schema:
        return rng.choice(_CODES[schema["pattern"]] if "pattern" in schema else _MOMENTS[schema["format"]])
    if kind == "string":
        return _draw_text(rng, schema["maxLength"])
    if kind == "array":
        return [_draw(rng, schema["items"]) for _ in range(schema["maxItems"])]
    if kind == "object":
        return {name: _draw(rng, inner) for name, inner in schema["properties"].items()}
    if kind == "boolean":
        return rng.random() < 0.5
    return rng.choice((schema["minimum"], schema["maximum"])) if kind == "integer" else rng.choice((0, 1, 0.1 + 0.2, 1e-300, 1.0))


def _draw_pack(rng: Random) -> str:
    fence = "output: {fence: {open: '<{{ section.id }}>', close: '</{{ section.id }}>'}}\n" if rng.random() < 0.6 else ""
    quoted = [json.dumps(text) for text in rng.sample(_TEXTS, rng.randint(1, 3))]
    sections = [f"  - {{id: s{place}, pinned: true, header: 'What holds:', text: {text}}}\n" for place, text in enumerate(quoted)]
    if rng.random() < 0.5:
        trim = rng.choice(("", ", trim_each: {to: {chars: 40}, at: word, marker: ' …'}", ", trim_each: {to: 40, at: token}"))
        sections.append(f"  - {{id: rules, pinned: true, items: {{from: state.people, text: '- {{{{ item.name }}}}'{trim}}}}}\n")
    return f"sections:\n{''.join(sections)}{fence}"


@pytest.mark.parametrize("tokenizer", ["cl100k_base", "o200k_base", "chars/4"])
def test_no_state_has_more(tmp_path: Path, prove_seed, draws, tokenizer):
    proved = 0
    for place in range(draws(_DRAWS)):
        rng = Random(f"worst {prove_seed} {place}")
        schema = _draw_schema(rng)
        head = f"promptc: 1\nname: tiny\nversion: 1.0.0\ntokenizer: {tokenizer}\nbudget: 100000\nstate: {{schema: s.json}}\n"
        (tmp_path / "s.json").write_text(json.dumps(schema), encoding="utf-8")
        (tmp_path / "pack.yaml").write_text(head + _draw_pack(rng), encoding="utf-8")
        pack = promptc.load(tmp_path)
        (found,) = [one for one in check_worst_case(pack.model, list_configurations(pack.model)) if one.code != "PC0655"] or [None]
        if found is None:
            continue
        proved += 1
        most = int(re.search(r"(?:at most|up to) (\d+)", found.message)[1])
        for _ in range(_STATES):
            state = _draw(rng, schema)
            for format in ("text", "messages"):
                try:
                    tokens = pack.render(state, format=format).tokens
                except PromptcError:
                    continue
                assert tokens <= most, (tmp_path / "pack.yaml").read_text(encoding="utf-8") + json.dumps(state)
    assert proved
