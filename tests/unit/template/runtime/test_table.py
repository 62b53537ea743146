"""Every name that is allowed leads to a function; asking for one imports only what it needs."""

import inspect
import subprocess
import sys

import pytest

from promptc.template import allow
from promptc.template.runtime.callables import FUNCTIONS
from promptc.template.runtime.filters.table import load_filter, load_test
from promptc.template.runtime.methods import METHODS
from promptc.template.runtime.objects import Fault

HEAVY = "jinja2 markupsafe typing dataclasses inspect pathlib json textwrap hashlib html urllib datetime pprint contextlib logging".split()


@pytest.mark.parametrize("name", sorted(allow.FILTERS))
def test_every_allowed_filter_is_there(name):
    assert next(iter(inspect.signature(load_filter(name)).parameters)) == "run"


@pytest.mark.parametrize("name", sorted(allow.TESTS))
def test_every_allowed_test_is_there(name):
    assert next(iter(inspect.signature(load_test(name)).parameters)) == "run"


def test_every_allowed_method_and_function_is_there():
    assert set(METHODS[str]) == allow.TEXT_METHODS
    assert set(METHODS[dict]) == allow.MAPPING_METHODS
    assert set(METHODS[list]) == set(METHODS[tuple]) == allow.LIST_METHODS
    assert set(FUNCTIONS) == allow.GLOBALS


@pytest.mark.parametrize(("find", "code"), [(load_filter, "PC0406"), (load_test, "PC0407")])
def test_a_name_that_is_none_is_refused(find, code):
    with pytest.raises(Fault) as refused:
        find("uper")
    assert refused.value.code == code


def test_two_names_of_one_filter_are_one():
    assert load_filter("e") is load_filter("escape") is load_filter("forceescape")
    assert load_filter("escape").__qualname__ == "escape" and load_filter("d").__qualname__ == "default"


def _list_imported(code):
    shown = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(shown.stdout.split())


def test_the_table_imports_nothing_heavy():
    before = _list_imported("")
    imported = _list_imported(
        "from promptc.template.runtime.filters import table\nimport promptc.template.runtime.methods, promptc.template.runtime.values"
    )
    assert not (imported - before).intersection(HEAVY)
    assert not [name for name in imported if name.startswith("promptc.template.runtime.filters.") and name[-6:] != ".table"]


def test_common_filters_import_nothing_heavy():
    before = _list_imported("")
    names = "upper join default length list first map select selectattr sort groupby batch int round escape urlencode".split()
    imported = _list_imported(
        f"from promptc.template.runtime.filters.table import load_filter, load_test\nfor name in {names!r}: load_filter(name)\n"
        "load_test('odd')"
    )
    assert not (imported - before).intersection(HEAVY)
