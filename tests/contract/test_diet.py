"""What a render imports must be cheap: no module of the compiler imports what costs a process much and can be had for less."""

import subprocess
import sys

from promptc.golden.running.environment import EXTRAS
from tests.contract.sources import ROOT, iter_imports, load_modules

COSTLY = ("dataclasses", "enum", "inspect", "logging", "typing")
COMPILES = ("promptc.template.types.", "promptc.template.lower.")
"""Modules that only run beside Jinja, which imports all of that itself."""


def test_values_and_types_come_from_diag():
    """`promptc.diag.frozen` in place of `dataclasses` (14 ms, and 0.5 ms a class), `promptc.diag.typed` in place of `typing` (8 ms)."""
    found = [
        f"{module.path}:{line}: {name}"
        for module in load_modules()
        if not module.name.startswith(COMPILES)
        for name, line in iter_imports(module.tree)
        if name.split(".")[0] in COSTLY
    ]
    assert not found, "\n".join(found)


def test_a_render_imports_no_library_of_an_extra():
    """Also where nothing is cached, so that all of it is compiled."""
    probe = "import sys; from promptc.cli.main import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    line = [sys.executable, "-c", probe, "render", "fixtures/demo", "fixtures/demo/state.json", "--no-cache"]
    done = subprocess.run(line, cwd=ROOT, env={"PYTHONPATH": "compiler"}, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert "jinja2" in loaded and not loaded & {"lsprotocol", *(package for packages in EXTRAS.values() for package in packages)}
