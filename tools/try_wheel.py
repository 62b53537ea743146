"""Build the wheel, install it with the locked dependencies into a fresh environment, and use it from `/`.

What is tried: the version, a new pack rendered and checked, every shipped pack found beside the modules, and one golden of each.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LIST_PACKS = """
from promptc.frontend.paths import find_shipped
for manifest in sorted(find_shipped("packs").glob("*/pack.yaml")):
    print(manifest.parent)
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        wheel = _build_wheel(Path(folder, "wheel"))
        binaries = _install_wheel(wheel, Path(folder, "environment"))
        _try_command_line(binaries, Path(folder, "pack"))
        _try_shipped_packs(binaries)
    print(f"{wheel.name}: built, installed and used from /")
    return 0


def _build_wheel(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], check=True, cwd=ROOT, stdout=subprocess.DEVNULL
    )
    return next(folder.glob("*.whl"))


def _install_wheel(wheel: Path, environment: Path) -> Path:
    venv.create(environment, with_pip=True)
    binaries = environment / "bin"
    _run(binaries / "pip", "install", "-q", "--require-hashes", "-r", str(ROOT / "requirements" / "run.lock"))
    _run(binaries / "pip", "install", "-q", "--no-deps", str(wheel))
    return binaries


def _try_command_line(binaries: Path, pack: Path) -> None:
    promptc = binaries / "promptc"
    _expect("promptc 0.", _run(promptc, "--version"))
    _run(promptc, "init", str(pack))
    _run(promptc, "check", str(pack))
    if not _run(promptc, "render", str(pack), str(pack / "state.json")):
        raise SystemExit("the new pack renders to nothing")


def _try_shipped_packs(binaries: Path) -> None:
    shipped = _run(binaries / "python", "-c", _LIST_PACKS).split()
    expected = sorted(path.parent.name for path in (ROOT / "packs").glob("*/pack.yaml"))
    if [Path(path).name for path in shipped] != expected:
        raise SystemExit(f"the wheel ships the packs {shipped}, the checkout has {expected}")
    for path in shipped:
        _run(binaries / "promptc", "check", path)
        _try_golden(binaries, path, ROOT / "fixtures" / Path(path).name / "calm")


def _try_golden(binaries: Path, pack: str, case: Path) -> None:
    golden = case / "golden.txt"
    if golden.is_file() and _run(binaries / "promptc", "render", pack, str(case / "state.json")) != golden.read_text(encoding="utf-8"):
        raise SystemExit(f"{pack} does not render to {golden.relative_to(ROOT)}")


def _run(command: Path, *arguments: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([command, *arguments], cwd="/", env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command.name} {' '.join(arguments[:2])} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _expect(start: str, text: str) -> None:
    if not text.startswith(start):
        raise SystemExit(f"expected {start!r}, got {text!r}")


if __name__ == "__main__":
    sys.exit(main())
