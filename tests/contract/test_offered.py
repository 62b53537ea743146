"""What `import promptc` offers: one list, whoever reads it."""

import ast
import subprocess
import sys

import promptc
from promptc import api
from tests.contract.sources import PACKAGE, ROOT


def _list_typed() -> list[str]:
    """The names that a type checker sees."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    names = [alias.asname or "" for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    return sorted(names + [node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)])


def test_what_is_typed_is_what_is_loaded():
    assert _list_typed() == sorted(promptc.__all__)
    assert sorted({*api.__all__, "__version__"} - {"FORMATS"}) == sorted(promptc.__all__)


def test_every_name_is_there_and_is_listed():
    assert all(getattr(promptc, name) is not None for name in promptc.__all__)
    assert {*promptc.__all__} <= {*dir(promptc)}
    assert not [name for name in dir(promptc) if not hasattr(promptc, name)]


def test_importing_it_loads_nothing():
    probe = "import sys; bare = set(sys.modules); import promptc; dir(promptc); print(*sorted(set(sys.modules) - bare))"
    done = subprocess.run([sys.executable, "-S", "-c", probe], env={"PYTHONPATH": str(ROOT / "compiler")}, capture_output=True, check=True)
    assert done.stdout.decode().split() == ["promptc", "promptc.version"]
