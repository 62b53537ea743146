"""No mutated template is a bug of promptc: it is refused with findings, or its kinds are found and it runs, to a text or a finding."""

from collections import Counter
from random import Random

import pytest

from promptc.diag.findings import PromptcError
from promptc.template.allow import Limits
from promptc.template.lower.module import load_expression, load_template
from promptc.template.runtime.run import RUN, Run
from promptc.template.types.infer import add_name, infer_types, read_code, weigh_bytes
from promptc.template.types.types import UNKNOWN_TYPE
from promptc.template.types.walk import Scope
from tests.property.template_mutants import list_templates, mutate
from tests.property.template_rules import NAMES
from tests.unit.template.run import FILE, INLINE, WordCounter

SEED = 20_261_122
LIMITS = Limits(steps=20_000)
SCOPE = add_name(Scope({}), "state", UNKNOWN_TYPE)
GIVEN = {**NAMES, "item": NAMES["state"]["people"][0], "this": {"number": 1}}
FILES = {"a.j2": "{% macro m(a) %}{{ a }}{% endmacro %}{% block b %}x{% endblock %}"}


def _load_file(name: str) -> str:
    return FILES["a.j2"]


def _try(text: str, random: Random) -> str:
    """How far it came. Anything but a `PromptcError` is a bug."""
    is_expression = random.random() < 0.2
    try:
        code = (
            load_expression(text.replace("{{", "").replace("}}", ""), INLINE, limits=LIMITS)
            if is_expression
            else load_template(text, FILE, load_file=_load_file, limits=LIMITS)
        )
    except PromptcError as error:
        return (
            "refused"
            if all(found.span is not None and found.help for found in error.diagnostics)
            else f"without a place or a way out: {error}"
        )
    infer_types(read_code(code), SCOPE, weigh_bytes)
    try:
        given = {**GIVEN, RUN: Run(WordCounter(), LIMITS)}
        code.evaluate(given) if is_expression else code.render(given)
    except PromptcError:
        return "fails"
    return "runs"


@pytest.mark.dear
def test_mutated_templates_are_no_bugs(draws):
    random, outcomes = Random(SEED), Counter()
    templates = list_templates()
    for _ in range(draws(20_000)):
        text = mutate(random, templates)
        try:
            outcomes[_try(text, random)] += 1
        except Exception as bug:
            raise AssertionError(f"{type(bug).__name__}: {bug}, by {text!r}") from bug
    assert set(outcomes) == {"refused", "fails", "runs"}, outcomes
    assert min(outcomes["refused"], outcomes["fails"], outcomes["runs"]) > 0, outcomes
