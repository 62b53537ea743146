"""Runs one command line in this process, and writes down what Python is asked to do outside of it.

`python -m tests.attacks.trace LOG COMMAND ...`: a line of JSON for each file that is opened, process that is started, and use of a socket.
Processes that promptc starts of itself (`spawn`) install the same hook, since they run this module's parent again.
"""

import json
import os
import sys
from typing import Any

WATCHED = (
    "open",
    "socket.",
    "subprocess.Popen",
    "os.exec",
    "os.posix_spawn",
    "os.system",
    "os.startfile",
    "sqlite3.connect",
    "ctypes.",
    "shutil.",
)


def watch(log: str) -> None:
    """From now on, each watched event of this process is a line of `log`."""
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(event: str, values: tuple[Any, ...]) -> None:
        if event.startswith(WATCHED):
            told = [value if isinstance(value, int | str) else repr(value) for value in values]
            os.write(out, json.dumps([event, *told], default=repr).encode() + b"\n")

    sys.addaudithook(note)


if __name__ == "__main__":
    watch(sys.argv[1])
    from promptc.cli.main import main

    sys.exit(main(sys.argv[2:]))
