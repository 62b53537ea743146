"""Print measures of the code base: `python tools/measure_house.py [FOLDER]` measures the checkout in FOLDER (by default this one).

`tests/contract/test_house.py` limits those that must not grow again. The files whose code runs are counted in separate processes: a file
counts if one of its functions is called, not if it is only imported.
"""

import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_RENDER = ("render", "packs/sentinel", "fixtures/sentinel/base/table.json")
_CHECK = ("check", "packs/sentinel")

_PROBE = """\
import sys
seen = set()
def note(frame, event, arg):
    code = frame.f_code
    if event == "call" and code.co_flags & 1:
        seen.add(code.co_filename)
out = open(sys.argv[1], "w")
arguments = sys.argv[2:]
sys.argv = ["promptc", *arguments]
from promptc.cli import main
sys.setprofile(note)
try:
    main._render(arguments) if arguments[0] == "render" else main.main(arguments)
finally:
    sys.setprofile(None)
    print(*sorted(name for name in seen if "/promptc/" in name.replace("\\\\", "/")), sep="\\n", file=out)
    out.close()
"""


class House:
    """The modules of a checkout by dotted name, parsed, and their imports."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        package = root / "compiler" / "promptc"
        self.paths = {_name_module(path, package.parent): path for path in sorted(package.rglob("*.py"))}
        self.texts = {name: path.read_text(encoding="utf-8") for name, path in self.paths.items()}
        self.trees = {name: ast.parse(text) for name, text in self.texts.items()}

    def list_imports(self, *, nested: bool) -> dict[str, set[str]]:
        """Return the promptc modules that each module imports at its top, and with `nested` also inside functions."""
        return {name: set(self._iter_imports(name, tree, nested)) for name, tree in self.trees.items()}

    def _iter_imports(self, own: str, tree: ast.Module, nested: bool) -> Iterator[str]:
        for node in ast.walk(tree) if nested else tree.body:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    found = whole if whole in self.paths else node.module
                    if found in self.paths and found != own:
                        yield found
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.paths and alias.name != own)

    def list_lonely(self) -> list[str]:
        """Return the modules with a single importer, which is in the same folder; except the rules of `check`."""
        users = defaultdict(set)
        for name, imported in self.list_imports(nested=True).items():
            for one in imported:
                users[one].add(name)
        return sorted(
            name
            for name, by in users.items()
            if len(by) == 1 and _folder(name) == _folder(next(iter(by))) and not name.startswith("promptc.check.rules.")
        )

    def list_doubles(self) -> list[str]:
        """Return the names of classes that more than one module defines."""
        names = Counter(node.name for tree in self.trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
        return sorted(name for name, count in names.items() if count > 1)

    def list_finders(self) -> tuple[int, list[str]]:
        """Return how many functions are called `find_...`, and those of them that never return None."""
        found = [
            (f"{name}.{node.name}", node)
            for name, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith("find_") and node.name != "find_spec"
        ]
        return len(found), [name for name, node in found if node.returns is not None and "None" not in ast.unparse(node.returns)]

    def measure_imports(self) -> float:
        """Return the lines of imports, in per cent of the lines of code (neither blank, comment nor docstring)."""
        code = imports = 0
        for name, tree in self.trees.items():
            lines = {number for number, line in enumerate(self.texts[name].splitlines(), 1) if line.strip() and line.strip()[0] != "#"}
            for node in ast.walk(tree):
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                    lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
                elif isinstance(node, ast.Import | ast.ImportFrom):
                    imports += (node.end_lineno or node.lineno) - node.lineno + 1
            code += len(lines)
        return 100 * imports / code


def list_cycles(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other, each sorted (Tarjan's strongly connected components of more than one module)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    cycles = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for one in sorted(imports.get(name, ())):
            if one not in index:
                visit(one)
            if one in stack:
                low[name] = min(low[name], low[one])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                cycles.append(sorted(group))

    for name in sorted(imports):
        if name not in index:
            visit(name)
    return sorted(cycles)


def count_running(root: Path, arguments: Iterable[str], *, runs: int = 1) -> int:
    """Count the files of promptc of which a function runs in the last of `runs` processes that share a cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(root / "compiler"), "PROMPTC_CACHE": f"{folder}/cache", "XDG_STATE_HOME": folder}
        told = Path(folder, "told")
        for _ in range(runs):
            command = [sys.executable, "-c", _PROBE, str(told), *arguments]
            subprocess.run(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, check=False)
        return len(told.read_text(encoding="utf-8").split("\n")) - 1


def main(root: Path) -> None:
    """Print the table."""
    house = House(root)
    finders, wrong = house.list_finders()
    plain, all_imports = house.list_imports(nested=False), house.list_imports(nested=True)
    rows = [
        ("Python modules", str(len(house.paths))),
        ("lines of Python", str(sum(text.count("\n") for text in house.texts.values()))),
        (
            "files whose code runs: warm render / cold render / check",
            " / ".join(
                str(count)
                for count in (
                    count_running(root, _RENDER, runs=3),
                    count_running(root, _RENDER),
                    count_running(root, _CHECK),
                )
            ),
        ),
        ("modules with one importer in their own folder", str(len(house.list_lonely()))),
        ("class names defined more than once", str(len(house.list_doubles()))),
        ("imports, % of code", f"{house.measure_imports():.1f}"),
        ("circles of imports: at the top / inside functions too", f"{len(list_cycles(plain))} / {len(list_cycles(all_imports))}"),
        ("functions called find_... / that never give None", f"{finders} / {len(wrong)}"),
        ("longest module, lines", str(max(text.count("\n") for text in house.texts.values()))),
    ]
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label:{width}}  {value}")


def _name_module(path: Path, above: Path) -> str:
    parts = path.relative_to(above).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _folder(name: str) -> str:
    return name.rpartition(".")[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT)
