"""A pack may raise the bounds of its templates, up to a ceiling."""

import json
from pathlib import Path

import pytest

import promptc
from promptc.diag.findings import PromptcError
from promptc.template.allow import CEILINGS, LIMITS

SCHEMA = json.loads((Path(__file__).parents[3] / "schemas" / "pack.schema.json").read_text(encoding="utf-8"))
LOOP = "{% for a in range(1220) %}{% for b in range(1220) %}{% endfor %}{% endfor %}done"
PACK = """promptc: 1
name: small
version: 1.0.0
tokenizer: chars/4
budget: 1000000
{limits}
sections:
  - {{id: main, text: {text}}}
"""


def _render(folder, text, limits=""):
    (folder / "pack.yaml").write_text(PACK.format(limits=limits, text=json.dumps(text)), encoding="utf-8")
    return promptc.load(folder / "pack.yaml").render({}).text


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (LOOP, "steps: 10000000"),
        ("{{ range(150000) | length }}", "range: 150000"),
        ("{{ 'a' | center(3000) | length }}", "width: 3000"),
        ("{{ ('a' * 20000000) | length }}", "text: 20000000"),
        ("{{ 1 }}" * 4_100, "parts: 13000"),
        ("{{ 1 }}{#" + "-" * 70_000 + "#}", "source: 80000"),
    ],
)
def test_a_limit_that_stops_a_template_names_the_key_that_raises_it(tmp_path, text, limit):
    with pytest.raises(PromptcError) as wrong:
        _render(tmp_path, text)
    (found,) = wrong.value.diagnostics
    assert found.code in ("PC0430", "PC0402", "PC0403") and f"`limits.{limit.split(':')[0]}`" in found.help
    assert found.span is not None and found.span.line == 8
    assert _render(tmp_path, text, f"limits: {{{limit}}}")


def test_a_limit_may_be_narrower(tmp_path):
    with pytest.raises(PromptcError, match="more than 50 steps"):
        _render(tmp_path, "{% for a in range(60) %}{% endfor %}", "limits: {steps: 50}")


def test_no_limit_goes_over_its_ceiling(tmp_path):
    with pytest.raises(PromptcError, match="PC02"):
        _render(tmp_path, "a", f"limits: {{steps: {CEILINGS.steps + 1}}}")


def test_the_schema_tells_the_defaults_and_ceilings_of_the_code():
    told = SCHEMA["$defs"]["limits"]["properties"]
    assert {name: (one["default"], one["maximum"]) for name, one in told.items()} == {
        name: (getattr(LIMITS, name), getattr(CEILINGS, name)) for name in ("source", "parts", "steps", "memory", "text", "range", "width")
    }
