"""Run a command and fail if it adds, removes or changes a file of the given folders: `run_untouched.py FOLDER... -- COMMAND...`.

A test run that writes a golden instead of comparing with it therefore fails.
"""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    folders, command = arguments[:split], arguments[split + 1 :]
    before = _digest_files(folders)
    code = subprocess.run(command, check=False).returncode
    after = _digest_files(folders)
    touched = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    for name in touched:
        print(f"touched by the run: {name}", file=sys.stderr)
    return code or (1 if touched else 0)


def _digest_files(folders: list[str]) -> dict[str, str]:
    files = (path for folder in folders for path in Path(folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
