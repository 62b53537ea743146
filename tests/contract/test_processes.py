"""Every place that starts a process, or could: docs/explanation/trust.md names them all, and there is no other."""

import ast

from tests.contract.sources import ROOT, iter_imports, load_modules

# Module → what of it is used to start something.
PLACES = {
    "promptc.golden.git": {"subprocess.Popen"},  # git
    "promptc.workers": {"multiprocessing.get_context"},  # itself, to work in parallel
    "promptc.cli.commands.pending": {"subprocess.run"},  # the user's editor
}
_MODULES = {
    "subprocess",
    "multiprocessing",
    "pty",
    "ctypes",
    "cffi",
    "webbrowser",
    "runpy",
    "_posixsubprocess",
    "_winapi",
}
_NAMES = {
    "system",
    "popen",
    "fork",
    "forkpty",
    "startfile",
    "posix_spawn",
    "posix_spawnp",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "ProcessPoolExecutor",
}
_SYSTEM = {"os", "asyncio", "concurrent", "futures", "posix"}
_CONSTANTS = {"DEVNULL", "PIPE", "CalledProcessError"}
_OF_CLICK = {"edit", "launch", "echo_via_pager"}


def _find_uses(tree: ast.Module) -> set[str]:
    uses = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        is_os = owner in _SYSTEM and (node.attr in _NAMES or node.attr.startswith(("exec", "spawn")))
        is_library = owner in _MODULES and node.attr not in _CONSTANTS
        if is_os or is_library or (owner == "click" and node.attr in _OF_CLICK):
            uses.add(f"{owner}.{node.attr}")
    return uses


def test_processes_are_started_in_three_places():
    found = {module.name: uses for module in load_modules() if (uses := _find_uses(module.tree))}
    assert found == PLACES, "start processes only in the modules of `PLACES`; a new one goes there and on docs/explanation/trust.md"


def test_what_starts_processes_is_imported_there_alone():
    found = {
        module.name
        for module in load_modules()
        for name, _ in iter_imports(module.tree)
        if name.split(".")[0] in _MODULES
        or name in ("os.system", "os.popen", "click.launch", "click.edit")
        or name.startswith(("os.exec", "os.spawn"))
    }
    assert found == set(PLACES), "import what starts processes only in the modules of `PLACES`"


def test_every_program_is_on_the_page_of_trust():
    said = (ROOT / "docs" / "explanation" / "trust.md").read_text(encoding="utf-8")
    processes = said.partition("## Processes")[2].partition("\n## ")[0]
    assert processes.count("\n- ") == len(PLACES) and all(one in processes for one in ("`git`", "itself", "`$EDITOR`"))
