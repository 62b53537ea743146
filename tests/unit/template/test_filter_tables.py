"""The tables of filters hold the same names: one that is added to some of them is told where it is missing."""

import re
from importlib import import_module
from pathlib import Path

from promptc.diag.findings import load_codes
from promptc.template import allow, signatures
from promptc.template.lower.expressions import _LENIENT_FILTERS
from promptc.template.runtime.filters import table
from promptc.template.types.filters import _RULES, _SAME

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "templates.md").read_text(encoding="utf-8")
WITHOUT_RULE = {"forceescape", "pprint", "safe", "urlize", "xmlattr"}
"""Filters of which `check` knows neither what they take nor what they give."""

HOME = "compiler/promptc/template"


def test_the_rule_of_an_unknown_name_lists_every_name():
    for code, names in (("PC0406", allow.FILTERS), ("PC0407", {name for name in allow.TESTS if name.isalpha()})):
        listed, place = set(re.findall("`([a-z_]+)`", load_codes()[code].why)), f"compiler/promptc/diag/codes.toml, `why` of {code}"
        _demand(names, listed, lambda name, place=place: f"{place}: add `{name}`, then run `make codes`")
        _demand(listed, names, lambda name, place=place: f"{place}: take `{name}` out, which no template can use, then run `make codes`")


def test_the_module_that_the_table_names_has_the_filter():
    held = {name: module for module in table._MODULES for name in import_module(f"{table.__package__}.{module}").FILTERS}
    _demand(held, table._HOLDERS, lambda name: f"{HOME}/runtime/filters/table.py: add `{name}` to `{held[name]}` in `_MODULES`")
    _demand(
        table._HOLDERS, held, lambda name: f"{HOME}/runtime/filters/{table._HOLDERS[name]}.py: add `{name}` and its function to `FILTERS`"
    )
    elsewhere = [
        f"{HOME}/runtime/filters/table.py: move `{name}` to `{held[name]}` in `_MODULES`, which has its function"
        for name in held
        if table._HOLDERS[name] != held[name]
    ]
    assert not elsewhere, "\n" + "\n".join(elsewhere)


def test_what_runs_is_allowed_and_what_is_allowed_runs():
    lists = "`OWN_FILTERS` (`JINJA_FILTERS`, if it is one of Jinja's)"
    _demand(table._HOLDERS, allow.FILTERS | {*_LENIENT_FILTERS.values()}, lambda name: f"{HOME}/allow.py: add `{name}` to {lists}")
    _demand(
        allow.FILTERS,
        table._HOLDERS,
        lambda name: f"{HOME}/runtime/filters/table.py: add `{name}` to `_MODULES`, and its function to that module's `FILTERS`",
    )


def test_every_filter_has_a_signature():
    _demand(
        allow.FILTERS, signatures.FILTERS, lambda name: f"{HOME}/signatures.py: add `{name}` and its parameters to `_FILTERS` or `FILTERS`"
    )
    _demand(signatures.FILTERS, allow.FILTERS, lambda name: f"{HOME}/signatures.py: take out `{name}`: `allow.FILTERS` has no such filter")


def test_every_filter_has_a_rule_or_none_on_purpose():
    ruled, here = {*_RULES, *_SAME}, Path(__file__).name
    _demand(
        allow.FILTERS,
        ruled | WITHOUT_RULE,
        lambda name: f"{HOME}/types/filters.py: add `{name}` to `_RULES`: what it takes, and the type that it gives",
    )
    _demand(ruled, allow.FILTERS, lambda name: f"{HOME}/types/filters.py: take `{name}` out of `_RULES`: it is not in `allow.FILTERS`")
    _demand(WITHOUT_RULE, allow.FILTERS - ruled, lambda name: f"{here}: take `{name}` out of `WITHOUT_RULE`: it has a rule or is gone")


def test_the_page_tells_what_filters_of_promptc_give():
    rows = PAGE[PAGE.index("### Of promptc") :].split("\n\n")[1].splitlines()[2:]
    told = {name for row in rows for name in re.findall(r"`(\w+)[(`]", row.split(" | ")[0])}
    table = 'docs/reference/templates.md, the table under "Of promptc"'
    _demand(allow.OWN_FILTERS, told, lambda name: f"{table}: add a row on `{name}`")
    _demand(told, allow.OWN_FILTERS, lambda name: f"{table}: `{name}` is none of `allow.OWN_FILTERS`")


def _demand(names, there, say):
    assert not set(names) - set(there), "\n" + "\n".join(say(name) for name in sorted(set(names) - set(there)))
