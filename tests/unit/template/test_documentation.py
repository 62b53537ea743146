"""Every example of docs/reference/templates.md is run, and everything that is allowed has one."""

import json
import re
from pathlib import Path

import pytest

from promptc.template import allow
from promptc.template.allow import CEILINGS, LIMITS
from promptc.template.runtime.run import Run
from tests.unit.template.run import WordCounter, render

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "templates.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)
STATE = json.loads(next(text for kind, text in BLOCKS if kind == "json"))
FILES = dict(line.split(": ", 1) for line in next(text for kind, text in BLOCKS if kind == "files").splitlines())
EXAMPLES = [line.split("  →  ") for kind, text in BLOCKS if kind == "jinja" for line in text.splitlines()]
WRITTEN = "\n".join(template for template, _ in EXAMPLES)


@pytest.mark.parametrize(("template", "shown"), EXAMPLES)
def test_an_example_prints_what_it_says(template, shown):
    names = {"state": STATE, "__run__": Run(WordCounter())}
    assert render(template.replace("⏎", "\n"), names, FILES) == shown.replace("⏎", "\n")


@pytest.mark.parametrize("name", sorted(allow.FILTERS))
def test_every_filter_has_an_example(name):
    found = re.search(rf"\| {name}\b", WRITTEN) or re.search(rf"map\('{name}'", WRITTEN)
    assert found, f"docs/reference/templates.md, under Filters: add a line with `| {name}` to a block of examples, and what it prints"


@pytest.mark.parametrize("name", sorted(allow.TESTS))
def test_every_test_has_an_example(name):
    assert re.search(rf" is {re.escape(name)}\b|\('{re.escape(name)}'", WRITTEN)


@pytest.mark.parametrize("name", sorted(allow.METHODS))
def test_every_method_has_an_example(name):
    assert re.search(rf"\.{name}\(", WRITTEN)


@pytest.mark.parametrize("name", sorted(allow.GLOBALS | allow.LOOP_NAMES))
def test_every_function_and_every_part_of_loop_has_an_example(name):
    assert re.search(rf"\b{name}\(|loop\.{name}\b", WRITTEN)


def test_the_limits_are_those_of_the_code():
    told = PAGE[PAGE.index("## Limits") :].replace("\n", " ")
    for name in LIMITS.__match_args__:
        assert f" {getattr(LIMITS, name):,} ".replace(",", " ") in told, name
        if getattr(CEILINGS, name) != getattr(LIMITS, name):
            assert f" {getattr(CEILINGS, name):,} ".replace(",", " ") in told, name
