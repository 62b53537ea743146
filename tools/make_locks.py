"""Write requirements/*.lock: every dependency with its version and hashes, without the address of an index.

pip-compile runs in a separate environment on the oldest Python that promptc supports, so that the locks are valid for it.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
_PROJECT = ("pyproject.toml", "requirements/build.in")
LOCKS: dict[str, tuple[str, ...]] = {
    "run": _PROJECT,
    "dev": ("--extra=dev", *_PROJECT),
    "bench": ("--extra=dev", "--extra=bench", *_PROJECT),
    "docs": ("--extra=dev", "--extra=docs", *_PROJECT),
    "install": ("requirements/install.in",),
}
"""The sources of each lock."""
OPTIONS = (
    "--quiet",
    "--generate-hashes",
    "--allow-unsafe",
    "--strip-extras",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-emit-trusted-host",
    "--no-emit-options",
)


def main() -> int:
    if sys.version_info[:2] != OLDEST:
        print(f"run this with Python {OLDEST[0]}.{OLDEST[1]}: the locks must hold for it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", "pip-tools"], check=True)
        for name, sources in LOCKS.items():
            _write_lock(python, f"requirements/{name}.lock", sources)
    return 0


def _write_lock(python: Path, lock: str, sources: tuple[str, ...]) -> None:
    command: list[str | Path] = [python, "-m", "piptools", "compile", *OPTIONS, "-o", lock, *sources]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "CUSTOM_COMPILE_COMMAND": "make lock"})


if __name__ == "__main__":
    sys.exit(main())
