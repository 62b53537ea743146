"""The project's own files, as the contract tests read them."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "compiler" / "promptc"


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the compiler: its path in the repository, its dotted name, its text and its tree."""

    path: str
    name: str
    text: str
    tree: ast.Module

    @property
    def layer(self) -> str:
        """The first part below `promptc`: a folder or a module."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else ""


@cache
def load_modules() -> tuple[Module, ...]:
    """Every module of the compiler, by path."""
    return tuple(_load_module(path) for path in sorted(PACKAGE.rglob("*.py")))


def iter_imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The dotted names a module imports anywhere, functions included, with their lines; `from a import b` gives `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            yield from ((f"{prefix}.{alias.name}", node.lineno) for alias in node.names)


@cache
def list_tracked() -> tuple[str, ...]:
    """The files that belong to the project: those git would track, or outside a git checkout all that are there."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split("\0")
    except (FileNotFoundError, subprocess.CalledProcessError):
        listed = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if not _is_made(path)]
    return tuple(sorted(name for name in listed if name and (ROOT / name).is_file()))


def _load_module(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(path.relative_to(ROOT).as_posix(), name, text, ast.parse(text))


def _is_made(path: Path) -> bool:
    made = {".venv", ".git", "build", "dist", "__pycache__", ".hypothesis", ".mypy_cache", ".ruff_cache"}
    return bool(made & set(path.relative_to(ROOT).parts))
