"""What `import promptc` offers: one list, whoever reads it."""

import ast
import subprocess
import sys
from importlib import import_module

import promptc
from tests.contract.sources import PACKAGE, ROOT
from tools.make_api_page import PAGE, fill, list_members, list_parts


def _find_typed() -> dict[str, str | None]:
    """The names that a type checker sees, each with the module that it is taken from."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    taken = {alias.asname or "": node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    own = {node.target.id: None for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    return taken | own


def test_what_is_typed_is_what_is_loaded():
    typed = _find_typed()
    assert sorted(typed) == sorted(promptc.__all__), "compiler/promptc/__init__.pyi must import or declare the names of `__all__`"
    for name, home in typed.items():
        assert getattr(promptc, name) is getattr(import_module(home or "promptc"), name)


def test_every_name_is_there_and_is_listed():
    assert all(getattr(promptc, name) is not None for name in promptc.__all__)
    assert {*promptc.__all__} <= {*dir(promptc)}
    assert not [name for name in dir(promptc) if not hasattr(promptc, name)]


def test_importing_it_loads_nothing():
    probe = "import sys; bare = set(sys.modules); import promptc; dir(promptc); print(*sorted(set(sys.modules) - bare))"
    done = subprocess.run([sys.executable, "-S", "-c", probe], env={"PYTHONPATH": str(ROOT / "compiler")}, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["promptc", "promptc.version"], "import it when one of its names is first used"


def test_the_page_of_the_api_has_every_name():
    """One part of the page has the members that no other part lists, so none is left out."""
    parts = list_parts(PAGE.read_text(encoding="utf-8"))
    shown = sorted(name for name, listed in parts if not listed)
    assert shown == sorted({*promptc.__all__} - {"__version__"}), "docs/reference/python.md: one part for each name, then `make api`"
    for name, listed in parts:
        assert not {*listed.split()} - {*list_members(getattr(promptc, name))} if listed else True


def test_the_page_of_the_api_is_as_the_code_says():
    text = PAGE.read_text(encoding="utf-8")
    assert fill(text) == text, "run `make api`"
