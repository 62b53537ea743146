"""Imports go downhill, from the first of `RANKS` to the last."""

from tests.contract.sources import iter_imports, load_modules

# A layer imports itself and what stands below it. Layers of one rank do not import each other.
RANKS = (
    ("pytest_plugin",),
    ("cli",),
    ("workshop",),
    ("golden", "blockmap"),
    ("batch", "compare", "economy", "recall"),
    ("api",),
    ("operations", "session"),
    ("pipeline",),
    ("explain",),
    ("frontend", "check", "passes"),
    ("sources",),
    ("model",),
    ("template",),
    ("text",),
    ("cache", "workers"),
    ("files",),
    ("diag",),
    ("version",),
)
# `__init__`, `__main__` and `py.typed` of the package itself: the first offers the library, the second starts the command line.
ABOVE_API = {"promptc": "api", "promptc.__main__": "cli"}


def _rank(layer: str) -> int:
    return next(rank for rank, layers in enumerate(RANKS) if layer in layers)


def test_every_module_belongs_to_a_layer():
    known = {layer for layers in RANKS for layer in layers}
    strange = [module.path for module in load_modules() if module.name not in ABOVE_API and module.layer not in known]
    assert not strange, "not in a layer of tests/contract/test_layers.py: " + ", ".join(strange)


def test_imports_go_downhill():
    uphill = []
    for module in load_modules():
        own = ABOVE_API.get(module.name, module.layer)
        for name, line in iter_imports(module.tree):
            parts = name.split(".")
            if parts[0] != "promptc" or len(parts) == 1:
                continue
            if parts[1] not in {layer for layers in RANKS for layer in layers}:
                uphill.append(f"{module.path}:{line}: imports the package itself")
            elif parts[1] != own and _rank(parts[1]) <= _rank(own):
                uphill.append(f"{module.path}:{line}: {own} imports {name}")
    assert not uphill, "\n".join(uphill)


def test_imports_are_absolute_and_unconditional():
    """No `TYPE_CHECKING`: an import that only a type checker sees would still tie a layer to one above it."""
    found = [f"{module.path}: TYPE_CHECKING" for module in load_modules() if "TYPE_CHECKING" in module.text]
    found += [
        f"{module.path}:{line}: relative import"
        for module in load_modules()
        for name, line in iter_imports(module.tree)
        if name.startswith(".")
    ]
    assert not found, "\n".join(found)
