"""The command line, run in this process or in one of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from promptc.cli.main import main
from promptc.files.atomic import replace_file

ROOT = Path(__file__).resolve().parents[2]
KEEP = Path(__file__).parent / "keep"
START = "import sys; from promptc.cli.main import main; sys.argv[0] = 'promptc'; sys.exit(main())"

PACK = """\
promptc: 1
name: tavern
version: 1.0.0
tokenizer: cl100k_base
budget: 400
sections:
  - {id: place, text: "You stand in {{ state.place }}.", pinned: true}
  - id: seen
    header: "You see:"
    budget: 40
    items: {from: state.seen, id: item, text: "- {{ item }}"}
    overflow: [evict: {}]
"""
"""The pack of tests that make a repository with a few cases."""

STATE = {"place": "the harbour", "seen": ["gulls", "a ladder", "fog"]}


@dataclass(frozen=True, slots=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture(autouse=True)
def _at_a_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in CI, whatever runs the tests: there, `promptc test` writes nothing."""
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line in this process: `run("render", "pack.yaml", "-", stdin=b"{}")`."""

    def call(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        code = main(arguments)
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return call


@pytest.fixture
def start() -> Run:
    """The same in a process of its own, as an installed `promptc` would be."""

    def call(*arguments: str | bytes, stdin: bytes = b"", cwd: Path = ROOT) -> Done:
        done = subprocess.run(command(arguments), input=stdin, capture_output=True, cwd=cwd, env=environment(), check=False)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


def command(arguments: Sequence[str | bytes]) -> list[str | bytes]:
    """The arguments of a process that runs promptc."""
    return [sys.executable, "-c", START, *arguments]


def environment(**more: str) -> dict[str, str]:
    """Where the process finds promptc, and nothing else."""
    own = {name: os.environ.get(name, "") for name in ("PATH", "PROMPTC_CACHE", "XDG_STATE_HOME")}
    return {"PYTHONPATH": str(ROOT / "compiler"), **own, **more}


@pytest.fixture
def keep(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder above the tests' own pack, which is called `keep` there; its state is `keep/state.json`."""
    monkeypatch.chdir(KEEP.parent)
    return KEEP


@pytest.fixture
def golden(accepting: bool) -> Callable[[str, str], None]:
    """Compares a text with the golden of that name, or writes it."""

    def check(name: str, text: str) -> None:
        path = Path(__file__).parent / "goldens" / name
        if accepting:
            replace_file(path, text.encode())
        assert path.is_file(), f"no golden {name}: run `make accept` and read it"
        assert text == path.read_text(encoding="utf-8"), "run `make accept` and read the difference"

    return check
