"""Runs commands over mutated inputs, in processes that are ended where one hangs, and counts how each ends.

`python -m tests.attacks.run_mutants [SEED] [COUNT] [SCENE ...]`: COUNT mutants (100 000) shared out among the scenes, from SEED (0). Prints
a line for each scene, and each mutant that was a bug: exit 70, a traceback, a hang, or the end of the process. Linux.
"""

import contextlib
import io
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.attacks.mutants import SCENES, Scene, draw_mutant
from tests.contract.sources import ROOT

SECONDS = 2.0
"""Seconds of the processor that one command may take."""
MEMORY = 512 * 1024 * 1024
"""Bytes that the commands may take over what the interpreter has when it begins."""
_HANGS = 30


@dataclass(frozen=True, slots=True)
class Finding:
    """A mutant that did more than cause a prompt or a diagnostic."""

    scene: str
    seed: int
    number: int
    command: str
    outcome: str


def run_scene(name: str, seed: int, numbers: range, found: list[Finding]) -> Counter[str]:
    """Runs the mutants `numbers` of a scene, and gives how often each exit code was met; bugs are added to `found`."""
    endings: Counter[str] = Counter()
    first = numbers.start
    while first < numbers.stop:
        for line in _iter_child(name, seed, range(first, numbers.stop)):
            if "number" in line:
                first = line["number"] + 1
            if "ending" in line:
                endings[line["ending"]] += 1
            if "outcome" in line:
                found.append(Finding(name, seed, first - 1, line["command"], line["outcome"]))
    return endings


def _iter_child(name: str, seed: int, numbers: range) -> Iterator[dict[str, Any]]:
    """What a child of this process tells, a line for each mutant it begins and each command that ends. Should it die, that is told last."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_child(name, seed, numbers, os.fdopen(writing, "w", buffering=1))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        for line in told:
            yield json.loads(line)
    _, status = os.waitpid(child, 0)
    if status:
        yield {"outcome": f"died of {status}", "command": "?"}


def _run_child(name: str, seed: int, numbers: range, out: io.TextIOBase) -> None:
    scene = SCENES[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lay_out(scene, folder)
        _limit_memory()
        for number in numbers:
            out.write(json.dumps({"number": number}) + "\n")
            resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + _HANGS, -1))
            for command, ending, outcome in run_mutant(scene, folder, seed, number):
                told = {"ending": ending} | ({"outcome": outcome, "command": command} if outcome else {})
                out.write(json.dumps(told) + "\n")


def lay_out(scene: Scene, folder: Path) -> None:
    """Copies what the scene needs into `folder`, makes that the working folder, and runs what prepares it."""
    for path in scene.lay:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(ROOT / path, folder / path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.new"))
    (folder / ".git").mkdir()
    os.chdir(folder)
    for command in scene.prepare:
        code, text = _run(command.split())
        assert code == 0, f"{command}: {text}"


def run_mutant(scene: Scene, folder: Path, seed: int, number: int) -> Iterator[tuple[str, str, str]]:
    """Runs one of the scene's commands on a mutant: the command, its exit code, and what was wrong with how it ended, if anything."""
    mutant = draw_mutant(folder, scene, Random(f"{seed}/{scene}/{number}"))
    kept = mutant.path.read_bytes()
    try:
        mutant.path.write_bytes(mutant.content)
        path = mutant.path.relative_to(folder)
        command = scene.commands[number % len(scene.commands)].format(mutant=path, folder=path.parent)
        begun = time.process_time()
        code, text = _run(command.split())
        yield command, str(code), _judge(code, text, time.process_time() - begun)
    finally:
        mutant.path.write_bytes(kept)


def _judge(code: int, text: str, seconds: float) -> str:
    if code == 70 or "Traceback" in text:
        return f"exit {code}: {text[-1500:]}"
    if seconds > SECONDS:
        return f"took {seconds:.1f} s: {text[:300]}"
    return ""


def _run(words: Sequence[str]) -> tuple[int, str]:
    """A command in this process: its exit code, and all it printed."""
    from promptc.cli.main import main

    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", write_through=True)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = main(["--traceback", *words])
    return code, printed.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]


def _limit_memory() -> None:
    mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, -1))


def share_out(count: int, names: Sequence[str]) -> dict[str, range]:
    """`count` mutants, shared out among the scenes by their weights."""
    shares = [SCENES[name].weight for name in names]
    ends = [count * sum(shares[: place + 1]) // sum(shares) for place in range(len(names))]
    return {name: range(end - start) for name, start, end in zip(names, [0, *ends], ends, strict=False)}


def main() -> int:
    """Runs all that was asked for, prints what came of it, and gives 1 if there was a bug."""
    seed, count = (int(word) for word in (*sys.argv[1:3], *("0", "100000")[len(sys.argv[1:3]) :]))
    names = sys.argv[3:] or list(SCENES)
    found: list[Finding] = []
    total: Counter[str] = Counter()
    for name, numbers in share_out(count, names).items():
        met = len(found)
        endings = run_scene(name, seed, numbers, found)
        total += endings
        told = ", ".join(f"{code}: {times}" for code, times in sorted(endings.items()))
        print(f"{name}: {len(numbers)} mutants, exit {told}", flush=True)
        for finding in found[met:]:
            print(f"  {finding.scene!r} {finding.number}: {finding.command}\n    {finding.outcome}", flush=True)
    print(f"seed {seed}: {total.total()} mutated inputs, {len(found)} bugs")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
