"""Build the wheel (or take the one that is named), install it with the locked dependencies into a new environment, and use it from `/`.

The tool tries the wheel's contents, its version, a new pack of each template (checked and tested), every pack that the wheel ships, one
golden of each, a program that imports promptc in two type checkers, and the lines of the README that install it: pip, pipx and uvx.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LIST_PACKS = """
from promptc.files.paths import name_shipped
for manifest in sorted(name_shipped("packs").glob("*/pack.yaml")):
    print(manifest.parent)
"""
_PROGRAM = """
import promptc

pack: promptc.Pack = promptc.load("pack")
state: promptc.State = pack.load_state({})
prompt: promptc.Prompt = pack.render(state, budget=3, variants={"a": "b"})
tokens: int = prompt.tokens
found: tuple[promptc.Diagnostic, ...] = prompt.warnings + pack.check()
listed: tuple[promptc.Listed, ...] = pack.list_operations(state)
asked: tuple[promptc.Request, ...] = pack.ask(state, "tidy", {"keep": 2})
done: promptc.OperationResult = pack.apply({}, "tidy", answers={one.name: one.prompt.provider or "" for one in asked})
gone: tuple[promptc.Archive, ...] = done.archives
errors: list[type[promptc.PromptcError]] = [promptc.UsageError, promptc.FitError, promptc.DiskError]
version: str = promptc.__version__
pack.render({}, budgett=3)  # wrong
pack.render({}, budget="3")  # wrong
pack.apply({})  # wrong
promptc.render  # wrong
tokens = prompt.text  # wrong
done.said = ""  # wrong
tokens = gone[0].name  # wrong
"""


_FROM = {"compiler/promptc/": "promptc/", "schemas/": "promptc/schemas/", "packs/": "promptc/packs/", "starters/": "promptc/starters/"}
"""Folders of the repository, and where the wheel has them."""

_NAME = "promptc-compiler"


def main(given: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(given[0]).resolve() if given else _build_wheel(Path(folder, "wheel"))
        _check_contents(wheel)
        binaries = _install_wheel(wheel, Path(folder, "environment"))
        _expect("promptc 0.", _run(binaries / "promptc", "--version"))
        _try_templates(binaries / "promptc", Path(folder))
        _try_shipped_packs(binaries)
        _try_types(binaries, Path(folder))
        if is_whole := os.environ.get("PROMPTC_TESTS") == "ci" or bool(os.environ.get("CI")):
            _try_install_lines(wheel, Path(folder))
    print(f"{wheel.name}: built, installed by {'pip, pipx and uvx' if is_whole else 'pip'}, and used from /")
    if not is_whole:
        print("LEFT OUT, CI runs it (PROMPTC_TESTS=ci): the lines of the README for pip, pipx and uvx")
    return 0


def _check_contents(wheel: Path) -> None:
    """Check that the wheel has all that git has of those folders, byte for byte, and nothing else but its own metadata."""
    tracked = subprocess.run(["git", "ls-files", "-z", *_FROM], check=True, cwd=ROOT, capture_output=True, text=True).stdout
    due = {_name_inside(path): path for path in tracked.split("\0") if path}
    with zipfile.ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if ".dist-info/" not in name}
        other = sorted(name for name in held & due.keys() if opened.read(name) != (ROOT / due[name]).read_bytes())
        told = [name for name in opened.namelist() if name.endswith((".dist-info/METADATA", ".dist-info/entry_points.txt"))]
        about = "".join(opened.read(name).decode() for name in told)
    if held != due.keys() or other:
        missing, more = sorted(due.keys() - held), sorted(held - due.keys())
        raise SystemExit(f"the wheel lacks {missing[:9]}, has {more[:9]} besides, and holds others of {other[:9]}")
    if f"\nName: {_NAME}\n" not in about or "promptc = promptc.cli.main:main" not in about or "is another project" not in about:
        raise SystemExit(f"the wheel does not describe itself:\n{about[:2000]}")


def _name_inside(path: str) -> str:
    folder = next(one for one in _FROM if path.startswith(one))
    return _FROM[folder] + path.removeprefix(folder)


def _try_install_lines(wheel: Path, folder: Path) -> None:
    """Run each line of the README, with the wheel in place of the name, which the package index may give to another package."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(rf"^(?:pip|pipx|uvx) [^#\n]*{_NAME}[^#\n]*", readme, re.MULTILINE)
    if [line.split()[0] for line in lines] != ["pip", "pipx", "uvx"]:
        raise SystemExit(f"the README has other lines than one of pip, one of pipx and one of uvx: {lines}")
    venv.create(folder / "tools", with_pip=True)
    binaries = folder / "tools" / "bin"
    _run(binaries / "pip", "install", "-q", "--require-hashes", "--no-deps", "-r", str(ROOT / "requirements" / "install.lock"))
    home = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin"), "UV_CACHE_DIR": str(folder / "uv")}
    for line in lines:
        command, *arguments = [str(wheel) if one == _NAME else one for one in line.split()]
        _run(binaries / command, *arguments, **home)
    for installed in (binaries / "promptc", folder / "bin" / "promptc"):
        _expect("promptc 0.", _run(installed, "--version"))


def _build_wheel(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], check=True, cwd=ROOT, stdout=subprocess.DEVNULL
    )
    return next(folder.glob("*.whl"))


def _install_wheel(wheel: Path, environment: Path) -> Path:
    """Install with the pip that runs here: installing a new pip would take the longest time."""
    venv.create(environment)
    binaries = environment / "bin"
    install = ("-m", "pip", "--python", str(binaries / "python"), "install", "-q", "--no-deps")
    _run(Path(sys.executable), *install, "--require-hashes", "-r", str(ROOT / "requirements" / "run.lock"))
    _run(Path(sys.executable), *install, str(wheel))
    return binaries


def _try_templates(promptc: Path, folder: Path) -> None:
    """Check that a new pack has every file of its template, including hidden ones, and passes."""
    starters = ROOT / "starters"
    for template in sorted(path.parent.name for path in starters.glob("*/pack.yaml")):
        pack = folder / template
        _run(promptc, "init", str(pack), "--template", template)
        homes = (starters / "common", starters / template)
        missing = [path for home in homes for path in home.rglob("*") if path.is_file() and not (pack / path.relative_to(home)).is_file()]
        if missing:
            raise SystemExit(f"the wheel lacks {', '.join(str(path.relative_to(ROOT)) for path in missing)}")
        _run(promptc, "check", str(pack), "--strict")
        _run(promptc, "test", str(pack), "--ci", "--no-cache")


def _try_shipped_packs(binaries: Path) -> None:
    shipped = _run(binaries / "python", "-c", _LIST_PACKS).split()
    expected = sorted(path.parent.name for path in (ROOT / "packs").glob("*/pack.yaml"))
    if [Path(path).name for path in shipped] != expected:
        raise SystemExit(f"the wheel ships the packs {shipped}, the checkout has {expected}")
    for path in shipped:
        _run(binaries / "promptc", "map", path)  # this loads all its files; the tests check the packs
        _try_golden(binaries, path, ROOT / "fixtures" / Path(path).name / "calm")


def _try_golden(binaries: Path, pack: str, case: Path) -> None:
    golden = case / "golden.txt"
    if golden.is_file() and _run(binaries / "promptc", "render", pack, str(case / "state.json")) != golden.read_text(encoding="utf-8"):
        raise SystemExit(f"{pack} does not render to {golden.relative_to(ROOT)}")


def _try_types(binaries: Path, folder: Path) -> None:
    """Check that each type checker sees every name, and finds exactly the errors of the program."""
    program = folder / "program.py"
    program.write_text(_PROGRAM, encoding="utf-8")
    expected = [number for number, line in enumerate(_PROGRAM.split("\n"), 1) if line.endswith("# wrong")]
    python = str(binaries / "python")
    strict = ["mypy", "--strict", "--no-incremental", "--config-file=", "--python-executable", python, str(program)]
    found = {"mypy": [int(line) for line in re.findall(r"program\.py:(\d+): error", _check(*strict))]}
    told = json.loads(_check("basedpyright", "--outputjson", "--level", "error", "--pythonpath", python, str(program)))
    found["pyright"] = [one["range"]["start"]["line"] + 1 for one in told["generalDiagnostics"] if one["severity"] == "error"]
    for checker, lines in found.items():
        if lines != expected:
            raise SystemExit(f"{checker} finds errors in the lines {lines}, not {expected}, of:\n{_PROGRAM}")


def _check(checker: str, *arguments: str) -> str:
    return subprocess.run([sys.executable, "-m", checker, *arguments], cwd="/", check=False, capture_output=True, text=True).stdout


def _run(command: Path, *arguments: str, **more: str) -> str:
    environment = {**{key: value for key, value in os.environ.items() if key != "PYTHONPATH"}, **more}
    done = subprocess.run([command, *arguments], cwd="/", env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command.name} {' '.join(arguments[:2])} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _expect(start: str, text: str) -> None:
    if not text.startswith(start):
        raise SystemExit(f"expected {start!r}, got {text!r}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
