"""The house stays as it is planned: few deep modules, no circles, doors that hold, one name for one thing.

`python tools/measure_house.py` prints the figures that the bounds here are made of. A bound that is met again by a wide margin is lowered.
"""

import ast
import re
from collections import defaultdict

import pytest

from tests.contract.sources import ROOT
from tools.measure_house import House, list_cycles

MOST_MODULES = 244
LEAST_DEPTH = 335
"""Lines of a module, on average."""
MOST_LONELY = 13
MOST_IMPORTS = 7.1
"""Percent of the lines that are code."""
MOST_IN_FOLDER = 15
"""Modules of one folder besides its `__init__`."""
MOST_SAID = 4
"""Lines of a package's docstring, blank ones and its doors aside."""

PATH = re.compile(r"`((?:compiler|tests|tools|schemas|docs)/[\w/.]+)`")
NAME = re.compile(r"`(_[a-z][a-z_]+|_?[A-Z]{4}[A-Z_]+)`")
"""Private functions and constants, as the documents write them."""

BOUNDS = "make room: merge what is one idea, take out what says nothing; where the new code is worth it, raise the bound in this file"


@pytest.fixture(scope="module")
def house():
    return House()


def test_modules_are_few(house):
    assert len(house.paths) <= MOST_MODULES, f"{len(house.paths)} modules, at most {MOST_MODULES}: {BOUNDS}"


def test_modules_are_deep(house):
    lines = sum(text.count("\n") for text in house.texts.values()) // len(house.paths)
    assert lines >= LEAST_DEPTH, f"{lines} lines a module, at least {LEAST_DEPTH}: merge modules that are one idea"


def test_lines_of_imports_are_few(house):
    share = house.measure_imports()
    assert share <= MOST_IMPORTS, (
        f"{share:.2f} % of the code are imports, at most {MOST_IMPORTS}: merge modules that need each other's names"
    )


def test_a_helper_of_one_user_lives_with_it(house):
    lonely = house.list_lonely()
    assert len(lonely) <= MOST_LONELY, (
        f"{len(lonely)} modules have one importer beside them, at most {MOST_LONELY}: merge one\n" + "\n".join(lonely)
    )


def test_no_folder_is_a_street(house):
    folders = defaultdict(list)
    for name, path in house.paths.items():
        if path.name != "__init__.py":
            folders[path.parent].append(name)
    found = [f"{_show(folder)}: {len(names)}" for folder, names in folders.items() if len(names) > MOST_IN_FOLDER]
    assert not found, f"more than {MOST_IN_FOLDER} modules: give the folder rooms, or merge two that are one idea\n" + "\n".join(found)


def test_modules_do_not_import_each_other_in_a_circle(house):
    """Not through an import inside a function either."""
    found = [" <-> ".join(cycle) for cycle in list_cycles(house.list_imports(nested=True))]
    assert not found, "move what two share below both, or pass it in\n" + "\n".join(found)


def test_a_class_has_a_name_of_its_own(house):
    assert not house.list_doubles(), f"more than one module defines each of these classes, rename one: {', '.join(house.list_doubles())}"


def test_what_is_found_may_be_missing(house):
    wrong = house.list_finders()[1]
    advice = "`find_...` is for what may give None: write `load_`, `list_`, `make_`, `count_`, `read_` or a noun, or say `| None`"
    assert not wrong, f"{advice}\n" + "\n".join(wrong)


def test_a_package_says_what_it_is_for(house):
    found = []
    for name in _list_packages(house):
        said = [line for line in _read_docstring(house, name).partition("Public: ")[0].splitlines() if line.strip()]
        if not 0 < len(said) <= MOST_SAID:
            found.append(f"{_show(house.paths[name])}: {len(said)}")
    assert not found, f"a package's docstring says in one to {MOST_SAID} lines what it is for\n" + "\n".join(found)


def test_a_package_is_entered_by_its_doors(house):
    """A package's docstring ends in the modules and rooms that code outside of it imports: no others are, and each of them is."""
    users = _find_users(house)
    found = []
    for name in _list_packages(house):
        used, path = users[name], _show(house.paths[name])
        line = _write_doors(used)
        stated = re.search(r"^Public: .*", _read_docstring(house, name), re.MULTILINE | re.DOTALL)
        listed = set(re.findall(r"`(\w+)`", stated[0])) if stated else set()
        found += [f"{path}: no door leads to `{one}`, which {used[one][0]} imports" for one in sorted({*used} - listed)]
        found += [f"{path}: nobody outside imports `{one}`: take it off the list" for one in sorted(listed - {*used})]
        if listed == {*used} and (" ".join(stated[0].split()) if stated else "") != line:
            found.append(f"{path}: the docstring ends in this line and nothing after it: {line}")
    advice = "import what a door offers, or move the code to where it is used; if it is meant for others, list it in `Public: ...`"
    assert not found, f"{advice}\n" + "\n".join(found)


def test_the_documents_name_what_is_there():
    pages = (ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md")
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    found = [f"{page}: {path}" for page, text in texts.items() for path in PATH.findall(text) if not (ROOT / path).exists()]
    assert not found, "gone: name the file that has it now\n" + "\n".join(found)
    known = {word for folder in ("compiler/promptc", "tests", "tools") for word in _list_words(ROOT / folder)}
    found = [f"{page}: {name}" for page, text in texts.items() for name in NAME.findall(text) if name not in known]
    assert not found, "no module has this name: write the name that it has now\n" + "\n".join(found)


def _list_words(folder):
    return {word for path in folder.rglob("*.py") for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


def _list_packages(house):
    return [name for name, path in house.paths.items() if path.name == "__init__.py" and name != "promptc"]


def _find_users(house):
    """Package → the modules and rooms in it that code outside of it imports, each with who does."""
    users = {name: defaultdict(list) for name in _list_packages(house)}
    for user, imported in house.list_imports(nested=True).items():
        for one in sorted(imported):
            for name in users:
                if one.startswith(f"{name}.") and not f"{user}.".startswith(f"{name}."):
                    users[name][one.removeprefix(f"{name}.").split(".")[0]].append(user)
    return users


def _write_doors(names):
    """A package that nobody enters has no such line: its modules are loaded by their names."""
    return f"Public: {', '.join(f'`{name}`' for name in sorted(names))}." if names else ""


def _read_docstring(house, name):
    return ast.get_docstring(house.trees[name]) or ""


def _show(path):
    return path.relative_to(ROOT).as_posix()


def test_a_module_that_a_decision_names_is_there():
    named = re.compile(r"`((?:[a-z_]+/)+[a-z_0-9]+|[a-z_]+(?=\.py))(?:\.[a-z_]+)?/?`")
    files = {path.with_suffix("").as_posix() for room in (ROOT / "compiler", ROOT / "tests", ROOT / "tools") for path in room.rglob("*")}
    files |= {path.as_posix() for path in (ROOT / "packs").rglob("*")}
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    told = {name for page in pages for name in named.findall(page.read_text(encoding="utf-8"))}
    assert {name for name in told if not any(file.endswith(f"/{name}") for file in files)} == {"chars/4"}  # a tokenizer
