"""Run the scripts of docs/guides/scale.md and compare their rows with `promptc batch`. Each engine has a separate environment.

An engine that cannot be installed is reported as left out. Arguments are the names of the engines to try; the default is all.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guides" / "scale.md"
ENGINES = {"ray": ("ray[data]",), "daft": ("daft",), "spark": ("pyspark", "pandas")}
"""The packages that each engine's environment needs, in addition to promptc and pyarrow."""

ROWS = 3000
_BLOCK = re.compile(r'```\w+ title="([\w.]+)"\n(.*?)```', re.DOTALL)


def main() -> int:
    """Try the engines; return 1 if one of them makes different rows or fails."""
    names = sys.argv[1:] or list(ENGINES)
    with tempfile.TemporaryDirectory(prefix="promptc-engines-") as made:
        folder = Path(made)
        expected = _make_rows(folder)
        return max([_try_engine(name, folder, expected) for name in names])


def _make_rows(folder: Path) -> dict[str, dict[str, Any]]:
    """Write the files of the guide and many states, one in a hundred of them wrong. Return the rows of `promptc batch` by id."""
    for name, text in _BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")
    talk = [f"Bo: The fog of the day {day} hid the rocks, and the boat came late." for day in range(4)]
    states: list[dict[str, Any]] = [{"input": f"Is it {number}?", "talk": talk[: number % 5]} for number in range(ROWS)]
    for state in states[::100]:
        state["input"] = 7
    table = pa.table({"id": [f"row {number}" for number in range(ROWS)], "state": [json.dumps(state) for state in states]})
    parquet.write_table(table, folder / "states.parquet", row_group_size=ROWS // 6)
    command = [sys.executable, "-m", "promptc", "batch", ".", "states.parquet", "-o", "prompts.parquet", "--quiet"]
    subprocess.run(command, cwd=folder, check=False, capture_output=True)
    rows = _read_rows(folder / "prompts.parquet")
    aside = [json.loads(line) for line in (folder / "prompts.quarantine.jsonl").read_bytes().splitlines()]
    failed = {one["id"]: {"id": one["id"], "prompt": None, "diagnostics": one["diagnostics"]} for one in aside}
    print(f"promptc batch: {len(rows):,} rows, {len(failed):,} states without a prompt")
    return rows | failed


def _read_rows(path: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in parquet.read_table(path).to_pylist()}


def _try_engine(name: str, folder: Path, expected: dict[str, dict[str, Any]]) -> int:
    python = _install(name, folder)
    if python is None:
        print(f"{name}: left out, it cannot be installed here")
        return 0
    begun = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PYSPARK_PYTHON": str(python), "RAY_USAGE_STATS_ENABLED": "0"}
    environment |= {"DO_NOT_TRACK": "true", "DAFT_ANALYTICS_ENABLED": "0"}
    done = subprocess.run([python, f"with_{name}.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name}: failed\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return 1
    rows = _read_rows(folder / "rows")
    (folder / "rows").rename(folder / f"rows of {name}")
    wrong = [id for id, row in expected.items() if {key: rows.get(id, {}).get(key) for key in row} != row]
    print(f"{name}: {len(rows):,} rows in {time.perf_counter() - begun:.0f} s, {len(wrong)} unlike those of promptc batch {wrong[:3]}")
    return int(bool(wrong) or rows.keys() != expected.keys())


def _install(name: str, folder: Path) -> Path | None:
    """Return the Python of an environment with the engine and promptc's dependencies; None if they cannot be installed."""
    kept = os.environ.get("PROMPTC_ENGINES", "")
    home = Path(kept or folder) / f"engine-{name}"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        version, lock = f"pyarrow=={pa.__version__}", str(ROOT / "requirements" / "run.lock")
        install = [str(python), "-m", "pip", "install", "-q"]
        wanted = (["--no-deps", "--require-hashes", "-r", lock], [version, *ENGINES[name]])
        if any(subprocess.run([*install, *one], check=False).returncode for one in wanted):
            return None
    return python


if __name__ == "__main__":
    sys.exit(main())
