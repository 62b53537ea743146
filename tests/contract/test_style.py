"""House style that no linter knows: sizes, words, catch-alls, and nothing of one machine in the project's files."""

import ast
import re

from tests.contract.sources import ROOT, list_tracked, load_modules

MAX_FILE = 800
"""Lines. A longer module says at its top why it is one."""
MAX_FUNCTION = 60
AVOIDED = re.compile(r"(^|_)(utils?|helpers?|manager|handler?|process)(_|$)|^_?get_|^_?(base|info|data)$")
BINARY = (".png", ".tiktoken", ".tokens", ".classes", ".gz", ".ico")
# Each is written in two halves, so that this file passes its own test.
MACHINE = re.compile("|".join((r"(?<![\w.])/" + r"(?:work|root|Users|opt)/", r"[A-Z]:" + r"\\\\Users", "127" + r"\.0\.0\.1")))
REGISTRY = re.compile(r"(?:pypi|pythonhosted|registry\.npmjs|debian)" + r"\.org")
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|NotImplemented" + r"Error)\b")


def _functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_files_are_short():
    lengths = {module.path: module.text.count("\n") for module in load_modules()}
    long = {path: length for path, length in lengths.items() if length > MAX_FILE}
    assert not long, f"more than {MAX_FILE} lines: move one of the ideas to a module of its own: {long}"


def test_functions_are_short():
    sizes = {f"{module.path}:{node.lineno}": _size(node) for module in load_modules() for node in _functions(module.tree)}
    long = {place: size for place, size in sizes.items() if size > MAX_FUNCTION}
    assert not long, f"more than {MAX_FUNCTION} lines: take a step out as a function with a name: {long}"


def test_most_functions_are_very_short():
    """Nine in ten under 25 lines."""
    sizes = sorted(_size(node) for module in load_modules() for node in _functions(module.tree))
    assert sizes[len(sizes) * 9 // 10] < 25, "split the functions of 25 lines and more that you added"


def test_no_vague_words_in_names():
    named = [(module, node.name, node.lineno) for module in load_modules() for node in _own_functions(module.tree)]
    named += [(module, module.name.rsplit(".", 1)[-1], 1) for module in load_modules()]
    vague = [f"{module.path}:{line}: {name}" for module, name, line in named if AVOIDED.search(name.lower())]
    assert not vague, "say what it does, without util, helper, manager, handle, process, base, get, data, info\n" + "\n".join(vague)


def test_catch_alls():
    """The command line catches every exception, once, to report it as a bug. A process that works for another sends on what went wrong:
    there it is raised again, and so reported.
    """
    found = [
        module.path
        for module in load_modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and _is_catch_all(node)
    ]
    assert sorted(found) == ["compiler/promptc/cli/run.py", "compiler/promptc/workers.py"], "name the exceptions that you expect"


def test_every_module_says_what_it_is():
    silent = [module.path for module in load_modules() if module.text.strip() and not ast.get_docstring(module.tree)]
    assert not silent, f"begin the module with a docstring that says what it is for: {silent}"


def test_values_are_frozen_and_slotted():
    """But for what is private or accumulates (`...Run`), and for slots where a property is cached."""
    loose = []
    for module in load_modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                wanted = {"slots"} if node.name.endswith("Run") else {"frozen", "slots"}
                wanted -= {"slots"} if "cached_property" in ast.unparse(node) else set()
                loose += [
                    f"{module.path}:{node.lineno}: {node.name}" for mark in node.decorator_list if not wanted <= _dataclass_flags(mark)
                ]
    assert not loose, "use `@frozen` of promptc.diag.frozen; what accumulates ends in `Run` and has slots\n" + "\n".join(loose)


def test_nothing_of_one_machine_and_nothing_unfinished():
    found = []
    for name in list_tracked():
        if name.endswith(BINARY):
            continue
        for number, line in enumerate((ROOT / name).read_bytes().decode("utf-8", "replace").splitlines(), 1):
            found += [f"{name}:{number}: {pattern.search(line)[0]}" for pattern in (MACHINE, REGISTRY) if pattern.search(line)]
            if name.startswith(("compiler/", "tools/", "tests/", "benchmarks/", "packs/")) and UNFINISHED.search(line):
                found.append(f"{name}:{number}: unfinished")
    assert not found, "\n".join(found)


def _own_functions(tree):
    """Functions that the project named: not the methods of a class with bases, which may be another library's."""
    inherited = {id(method) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.bases for method in node.body}
    return [node for node in _functions(tree) if id(node) not in inherited]


def _size(node) -> int:
    return node.end_lineno - node.lineno + 1


def _is_catch_all(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException")) for kind in kinds)


def _dataclass_flags(mark: ast.expr) -> set[str]:
    """The flags that are on; all of them for another decorator."""
    name = mark.func if isinstance(mark, ast.Call) else mark
    if not (isinstance(name, ast.Name) and name.id == "dataclass"):
        return {"frozen", "slots"}
    words = mark.keywords if isinstance(mark, ast.Call) else []
    return {word.arg for word in words if word.arg and isinstance(word.value, ast.Constant) and word.value.value is True}
