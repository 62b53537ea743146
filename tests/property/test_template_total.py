"""Whatever stands in a template: a text, or findings with a place and a way out. Never a traceback, an address, or a changed state."""

import copy
import json
import re
from collections.abc import Callable, Mapping

import pytest

from promptc.diag.findings import PromptcError, fail
from promptc.template.lower.module import load_expression, load_template
from promptc.template.runtime.run import Run
from tests.property.template_wild import Wild
from tests.unit.template.run import FILE, INLINE, WordCounter
from tests.unit.template.test_documentation import EXAMPLES, FILES, STATE

INSIDE = re.compile(r"0x[0-9a-f]{5}|<function|<built|<generator| object>|Undefined|NoneType|Markup\(|Traceback|jinja|<locals>")
TEXTS = [template.replace("⏎", "\n") for template, _ in EXAMPLES]


def test_damaged_templates(draws, prove_seed):
    for seed in range(draws(40_000)):
        text = Wild(prove_seed * 1_000_003 + seed).damage(TEXTS)
        _try(lambda names, text=text: load_template(text, FILE, load_file=_load_file).render(names), text)


@pytest.mark.dear
def test_wild_templates(draws, prove_seed):
    for seed in range(draws(20_000)):
        text = Wild(prove_seed * 1_000_003 + seed).template()
        _try(lambda names, text=text: load_template(text, FILE, load_file=_load_file).render(names), text)


def test_wild_expressions(draws, prove_seed):
    for seed in range(draws(20_000)):
        text = Wild(prove_seed * 1_000_003 + seed).expression(0)
        _try(lambda names, text=text: load_expression(text, INLINE).evaluate(names), text)


def _try(run: Callable[[Mapping[str, object]], object], text: str) -> None:
    names = {"state": copy.deepcopy(STATE), "x": 5, "__run__": Run(WordCounter())}
    try:
        shown = json.dumps(run(names), ensure_ascii=False)
        assert not INSIDE.search(shown), (text, shown)
        shown.encode()
    except PromptcError as error:
        for found in error.diagnostics:
            assert found.span and found.span.line >= 1 and found.help, (text, found)
            assert not INSIDE.search(found.message + found.help), (text, found)
    assert names["state"] == STATE, text


def _load_file(name: str) -> str:
    if name not in FILES:
        raise fail("PC0153", f"there is no file `{name}`")
    return FILES[name]
